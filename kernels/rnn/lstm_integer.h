// SPDX-License-Identifier: Apache-2.0
//
// An int8 LSTM cell over a sequence: int8 vectors, weights and output state, int16 gates and cell
// state, whose scale is a power of two. Bit-identical to TensorFlow Lite in both arithmetic modes.
// The scales of the hidden values before projection and, with layer normalisation, of the gates'
// sums come from the node's five intermediate tensors.
#ifndef DEPUTY_KERNELS_RNN_LSTM_INTEGER_H_
#define DEPUTY_KERNELS_RNN_LSTM_INTEGER_H_

#include "kernels/common/requantize.h"
#include "kernels/linalg/matrix_layer.h"
#include "kernels/rnn/lstm_cell.h"
#include "kernels/rnn/sequence.h"

namespace deputy {

struct IntegerLstmSequence {
  int steps = 0;
  SequenceOf<const int8_t> input;
  SequenceOf<int8_t> output;
};

// An int8 matrix, [units][depth], whose products are scaled by a fixed-point factor.
class IntegerMatrix {
 public:
  // Prepares products with at most `rows` vectors at a time, whose zero point is `zero_point`.
  void Prepare(const CpuKernels& cpu, const TfLiteTensor* weights, int rows, int32_t zero_point,
               double factor);
  TfLiteStatus Pack(TfLiteContext* context, const TfLiteTensor* weights);
  size_t ScratchBytes(int workers) const;

  // Computes out[r][u] = saturate(out[r][u] + factor * (weights[u] * (vectors[r] - zero point) +
  // bias[u]) + out_zero). `bias` may be null.
  template <typename Out>
  TfLiteStatus AddTo(TfLiteContext* context, const TfLiteTensor* weights, const TfLiteTensor* bias,
                     const int8_t* vectors, int32_t out_zero, Out* out);

 private:
  MatrixShape shape_;
  int32_t zero_point_ = 0;
  FixedMultiplier factor_;
  const CpuKernels* cpu_ = nullptr;
  MatrixLayer layer_;
};

class IntegerLstm {
 public:
  // Prepares an int8 cell that CheckLstmCell has accepted. Fails for scales that the fixed-point
  // formats cannot represent.
  TfLiteStatus Prepare(TfLiteContext* context, const TfLiteNode* node, const LstmCell& cell,
                       const LstmSizes& sizes, bool time_major, float cell_clip,
                       float projection_clip);
  TfLiteStatus Pack(TfLiteContext* context, const LstmCell& cell);
  // Returns the bytes of scratch memory that Run uses at once.
  size_t ScratchBytes(int workers) const;

  TfLiteStatus Run(TfLiteContext* context, const LstmCell& cell,
                   const IntegerLstmSequence& sequence);

 private:
  struct Gate {
    IntegerMatrix input, recurrent;
    FixedMultiplier peephole, norm;
    int32_t least_variance = 1;
  };
  struct Buffers {
    int16_t* gates[kLstmGates];  // each of shape [batches][cells]
    int8_t* hidden;              // shape [batches][cells]
    int8_t* input;               // contiguous copy of a step's vectors
  };

  TfLiteStatus PrepareGate(TfLiteContext* context, const TfLiteNode* node, const LstmCell& cell,
                           int number);
  TfLiteStatus PrepareHidden(TfLiteContext* context, const TfLiteNode* node, const LstmCell& cell);
  TfLiteStatus ComputeGate(TfLiteContext* context, const LstmCell& cell, int number,
                           const int8_t* input, int16_t* gate);
  void AddPeephole(const LstmGate& gate, const int16_t* state, FixedMultiplier factor,
                   int16_t* sums) const;
  void Normalize(const LstmGate& gate, const Gate& scales, int16_t* values) const;
  void UpdateCell(const LstmCell& cell, const Buffers& buffers) const;
  TfLiteStatus UpdateOutput(TfLiteContext* context, const LstmCell& cell, const Buffers& buffers);
  size_t BytesOfScratch() const;

  LstmSizes sizes_;
  bool time_major_ = false;
  int32_t input_zero_ = 0, output_zero_ = 0, hidden_zero_ = 0;
  float input_scale_ = 1.0f, output_scale_ = 1.0f;
  int cell_exponent_ = 0;  // the cell state's scale is 2^cell_exponent_
  int16_t cell_clip_ = 0;
  int8_t projection_clip_ = 0;
  FixedMultiplier hidden_;
  Gate gates_[kLstmGates];
  IntegerMatrix projection_;
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_RNN_LSTM_INTEGER_H_
