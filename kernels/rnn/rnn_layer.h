// SPDX-License-Identifier: Apache-2.0
//
// A float32 or hybrid basic recurrent cell over a sequence:
//   h = activation(W_input x + W_aux a + W_recurrent h + bias)
#ifndef DEPUTY_KERNELS_RNN_RNN_LAYER_H_
#define DEPUTY_KERNELS_RNN_RNN_LAYER_H_

#include "kernels/rnn/recurrent_matrix.h"
#include "kernels/rnn/sequence.h"

namespace deputy {

// Tensors of a cell. Weights are [units][depth], all of one type.
struct RnnCell {
  const TfLiteTensor* input = nullptr;
  const TfLiteTensor* auxiliary = nullptr;  // null if there is no auxiliary input
  const TfLiteTensor* recurrent = nullptr;
  const TfLiteTensor* bias = nullptr;  // shape [units]
  TfLiteTensor* state = nullptr;       // variable of shape [batches][units]
};

struct RnnSequence {
  int steps = 0;
  bool backward = false;
  // Input vectors; auxiliary.first is null if there is no auxiliary input.
  SequenceOf<const float> input, auxiliary;
  SequenceOf<float> output;
};

struct RnnSizes {
  int batches = 0, inputs = 0, auxiliary_inputs = 0;
};

class RnnLayer {
 public:
  // Checks the cell, whose tensors exist, and stores its sizes; called in prepare.
  TfLiteStatus Prepare(TfLiteContext* context, const RnnCell& cell, const RnnSizes& sizes,
                       TfLiteFusedActivation activation, bool asymmetric);
  TfLiteStatus Pack(TfLiteContext* context, const RnnCell& cell);
  // Returns the bytes of scratch memory that Run uses at once.
  size_t ScratchBytes(int workers) const;
  int units() const { return units_; }

  TfLiteStatus Run(TfLiteContext* context, const RnnCell& cell, const RnnSequence& sequence);

 private:
  struct Buffers;

  size_t ValuesOfScratch() const;
  TfLiteStatus AddVectors(TfLiteContext* context, RecurrentMatrix* matrix,
                          const TfLiteTensor* weights, const float* values, int depth,
                          const Buffers& buffers) const;
  TfLiteStatus RunStep(TfLiteContext* context, const RnnCell& cell, const RnnSequence& sequence,
                       int step, const Buffers& buffers);

  RnnSizes sizes_;
  int units_ = 0;
  TfLiteFusedActivation activation_ = kTfLiteActNone;
  bool hybrid_ = false, asymmetric_ = false;
  RecurrentMatrix input_, auxiliary_, recurrent_;
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_RNN_RNN_LAYER_H_
