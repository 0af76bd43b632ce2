// SPDX-License-Identifier: Apache-2.0
//
// Building block of the float32 and hybrid recurrent layers: a matrix of the layer times the
// vectors of one step, added to sums. Matrices are float32, or 8-bit ("hybrid"): then the vectors
// are quantised, once for all matrices. Sparse matrices are expanded to dense ones once.
#ifndef DEPUTY_KERNELS_RNN_RECURRENT_MATRIX_H_
#define DEPUTY_KERNELS_RNN_RECURRENT_MATRIX_H_

#include "kernels/common/kernel.h"
#include "kernels/linalg/dense_weights.h"
#include "kernels/linalg/matrix_layer.h"

namespace deputy {

// The vectors of one step, [rows][depth].
struct StepVectors {
  const float* values = nullptr;
  int rows = 0;
  int depth = 0;
  // The vectors quantised for 8-bit matrices; null for float32 matrices and if all values are zero.
  const HybridRows* quantized = nullptr;
  bool all_zero = false;  // if true, all values are zero, and products can be skipped
};

bool AreZeros(const float* values, int64_t count);

// Fills `out` and, for hybrid layers whose values are not all zero, `quantized`. `what` is the
// tensor named in an out-of-memory error.
TfLiteStatus MakeStepVectors(TfLiteContext* context, const TfLiteTensor* what, const float* values,
                             int rows, int depth, bool hybrid, bool asymmetric,
                             HybridRows* quantized, StepVectors* out);

// Types of the weights of recurrent layers: float32, or 8 bits in hybrid layers. uint8 is an older
// type for the same bytes as int8.
inline constexpr uint32_t kRecurrentWeights = kFloat32Bit | kInt8Bit | kUInt8Bit;
inline bool IsHybridWeight(const TfLiteTensor* weights) { return weights->type != kTfLiteFloat32; }

class RecurrentMatrix {
 public:
  // Prepares products of `weights`, [units][depth] with a shape that the caller has checked, and at
  // most `rows` vectors at a time. Fails for 8-bit weights without exactly one scale. Sparse
  // weights must be constant.
  TfLiteStatus Prepare(TfLiteContext* context, const TfLiteTensor* weights, int rows);
  // Packs constant weights for AddTo.
  TfLiteStatus Pack(TfLiteContext* context, const TfLiteTensor* weights);
  // Returns the bytes of scratch memory that AddTo uses.
  size_t ScratchBytes(int workers) const;

  // Computes sums[r][u] += weights[u] * vectors[r]. `product` has space for as many values as
  // `sums`.
  TfLiteStatus AddTo(TfLiteContext* context, const TfLiteTensor* weights,
                     const StepVectors& vectors, float* product, float* sums);

 private:
  TfLiteStatus Multiply(TfLiteContext* context, const TfLiteTensor* weights,
                        const StepVectors& vectors, float* product);
  void MultiplyPlainly(const TfLiteTensor* weights, const StepVectors& vectors,
                       float* product) const;

  MatrixShape shape_;
  WeightScales scales_;  // scale of 8-bit weights
  bool hybrid_ = false;
  const CpuKernels* cpu_ = nullptr;
  MatrixLayer layer_;
  DenseWeights dense_;
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_RNN_RECURRENT_MATRIX_H_
