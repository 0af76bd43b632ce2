// SPDX-License-Identifier: Apache-2.0
//
// A float32 or hybrid LSTM cell over a sequence. One step, where * is the elementwise product:
//   gate = activation(W_input x + W_aux a + W_recurrent h + W_peephole * c + bias)
//   c = clip(forget * c + input * cell), h = clip(W_projection (output * activation(c)) + bias)
// With layer normalisation a gate's sums are normalised and multiplied by coefficients before the
// bias is added.
#ifndef DEPUTY_KERNELS_RNN_LSTM_LAYER_H_
#define DEPUTY_KERNELS_RNN_LSTM_LAYER_H_

#include "kernels/rnn/lstm_cell.h"
#include "kernels/rnn/recurrent_matrix.h"
#include "kernels/rnn/sequence.h"

namespace deputy {

struct LstmSequence {
  int steps = 0;
  bool backward = false;
  // Input vectors; auxiliary.first is null if there is no auxiliary input.
  SequenceOf<const float> input, auxiliary;
  SequenceOf<float> output;
};

struct LstmOptions {
  TfLiteFusedActivation activation = kTfLiteActNone;
  float cell_clip = 0.0f, projection_clip = 0.0f;  // maximum magnitudes; 0 disables clipping
  // Hybrid cells quantise their vectors with zero points.
  bool asymmetric = false;
};

class LstmLayer {
 public:
  // Prepares a cell that CheckLstmCell has accepted.
  TfLiteStatus Prepare(TfLiteContext* context, const LstmCell& cell, const LstmSizes& sizes,
                       const LstmOptions& options);
  TfLiteStatus Pack(TfLiteContext* context, const LstmCell& cell);
  // Returns the bytes of scratch memory that Run uses at once.
  size_t ScratchBytes(int workers) const;

  TfLiteStatus Run(TfLiteContext* context, const LstmCell& cell, const LstmSequence& sequence);

 private:
  // Weights of one gate; `gates_` has one entry per LstmGateNumber.
  struct GateMatrices {
    RecurrentMatrix input, auxiliary, recurrent;
  };
  struct Buffers;
  struct Step;
  struct QuantizedStep;

  size_t ValuesOfScratch() const;
  Buffers CutScratch(float* scratch) const;
  TfLiteStatus MakeStep(TfLiteContext* context, const LstmCell& cell, const LstmSequence& sequence,
                        int step, const Buffers& buffers, QuantizedStep* quantized,
                        Step* out) const;
  TfLiteStatus RunStep(TfLiteContext* context, const LstmCell& cell, const LstmSequence& sequence,
                       int step, const Buffers& buffers);
  TfLiteStatus ComputeGate(TfLiteContext* context, const LstmCell& cell, int gate, const Step& step,
                           const Buffers& buffers);
  void Normalize(const LstmGate& gate, float* values) const;
  void UpdateCell(const LstmCell& cell, const Buffers& buffers) const;
  TfLiteStatus UpdateOutput(TfLiteContext* context, const LstmCell& cell, const Buffers& buffers);

  LstmSizes sizes_;
  LstmOptions options_;
  bool hybrid_ = false;
  GateMatrices gates_[kLstmGates];
  RecurrentMatrix projection_;
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_RNN_LSTM_LAYER_H_
