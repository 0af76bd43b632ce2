// SPDX-License-Identifier: Apache-2.0
//
// The "basic" kernel of LSTM, used by older models: one matrix for all gates, one step, float32 or
// uint8. The new states are outputs and are copied to the inputs that hold the old ones. The
// operator row is in kernels/lstm.cc.
#ifndef DEPUTY_KERNELS_RNN_BASIC_LSTM_H_
#define DEPUTY_KERNELS_RNN_BASIC_LSTM_H_

#include "kernels/common/requantize.h"
#include "kernels/rnn/recurrent_matrix.h"

namespace deputy {

class BasicLstm {
 public:
  TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node);
  TfLiteStatus Pack(TfLiteContext* context, const TfLiteNode* node);
  TfLiteStatus Run(TfLiteContext* context, const TfLiteNode* node);

 private:
  TfLiteStatus CheckTypes(TfLiteContext* context, const TfLiteNode* node);
  TfLiteStatus CheckShapes(TfLiteContext* context, const TfLiteNode* node);
  TfLiteStatus PrepareScales(TfLiteContext* context, const TfLiteNode* node);
  TfLiteStatus KeepStates(TfLiteContext* context, const TfLiteNode* node) const;
  TfLiteStatus RunFloat(TfLiteContext* context, const TfLiteNode* node);
  void RunBytes(TfLiteContext* context, const TfLiteNode* node) const;

  int batches_ = 0, inputs_ = 0, cells_ = 0;
  bool quantized_ = false;
  RecurrentMatrix gates_;    // weights of all gates of a float32 node
  FixedMultiplier to_gate_;  // scale of a uint8 node's sums
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_RNN_BASIC_LSTM_H_
