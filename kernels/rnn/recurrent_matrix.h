// SPDX-License-Identifier: Apache-2.0
//
// What all recurrent layers are made of: a matrix of the layer times the vectors of one step, added
// to sums. Matrices hold float32, or 8 bits ("hybrid"): then the vectors are quantised first, once
// for all the matrices that they meet. Sparse matrices are made dense once.
#ifndef DEPUTY_KERNELS_RNN_RECURRENT_MATRIX_H_
#define DEPUTY_KERNELS_RNN_RECURRENT_MATRIX_H_

#include "kernels/common/kernel.h"
#include "kernels/linalg/dense_weights.h"
#include "kernels/linalg/matrix_layer.h"

namespace deputy {

// The vectors of a step, [rows][depth].
struct StepVectors {
  const float* values = nullptr;
  int rows = 0;
  int depth = 0;
  // Where the matrices hold 8 bits: the vectors quantised.
  const HybridRows* quantized = nullptr;
  bool all_zero = false;  // they add nothing, whatever they meet
};

bool AreZeros(const float* values, int64_t count);

// Fills `out`, and `quantized` where `hybrid` says so and not all values are zero. `what` is the
// tensor that a refusal of memory names.
TfLiteStatus MakeStepVectors(TfLiteContext* context, const TfLiteTensor* what, const float* values,
                             int rows, int depth, bool hybrid, bool asymmetric,
                             HybridRows* quantized, StepVectors* out);

// float32, or 8 bits in hybrid layers. uint8 is an older name for the same bytes.
inline constexpr uint32_t kRecurrentWeights = kFloat32Bit | kInt8Bit | kUInt8Bit;
inline bool IsHybridWeight(const TfLiteTensor* weights) { return weights->type != kTfLiteFloat32; }

class RecurrentMatrix {
 public:
  // For prepare. `weights` [units][depth], whose shape the caller has checked; at most `rows`
  // vectors at a time. Refuses weights of 8 bits without one scale. Sparse ones must be constant.
  TfLiteStatus Prepare(TfLiteContext* context, const TfLiteTensor* weights, int rows);
  // Brings constant weights into the order that AddTo reads.
  TfLiteStatus Pack(TfLiteContext* context, const TfLiteTensor* weights);
  // Bytes of scratch that AddTo takes.
  size_t ScratchBytes(int workers) const;

  // sums[r][u] += weights[u] * vectors[r]. `product` has room for as many values as `sums`.
  TfLiteStatus AddTo(TfLiteContext* context, const TfLiteTensor* weights,
                     const StepVectors& vectors, float* product, float* sums);

 private:
  TfLiteStatus Multiply(TfLiteContext* context, const TfLiteTensor* weights,
                        const StepVectors& vectors, float* product);
  void MultiplyPlainly(const TfLiteTensor* weights, const StepVectors& vectors,
                       float* product) const;

  MatrixShape shape_;
  WeightScales scales_;  // hybrid
  bool hybrid_ = false;
  const CpuKernels* cpu_ = nullptr;
  MatrixLayer layer_;
  DenseWeights dense_;
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_RNN_RECURRENT_MATRIX_H_
