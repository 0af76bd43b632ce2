// SPDX-License-Identifier: Apache-2.0
//
// SVDF: a convolution over time whose filters are products of a feature vector and a time vector
// ("rank 1"). Each filter keeps its newest `memory` features in the state; a unit is the sum of
// `rank` filters. The operator row is in kernels/rnn.cc.
#ifndef DEPUTY_KERNELS_RNN_SVDF_H_
#define DEPUTY_KERNELS_RNN_SVDF_H_

#include "kernels/common/kernel.h"

namespace deputy {

// OpDef::init, free, prepare and invoke of SVDF, for float32, hybrid, and int8 with an int16 state.
void* NewSvdf(TfLiteContext* context, const char* buffer, size_t length);
void DeleteSvdf(TfLiteContext* context, void* user_data);
TfLiteStatus PrepareSvdf(TfLiteContext* context, TfLiteNode* node);
TfLiteStatus EvalSvdf(TfLiteContext* context, TfLiteNode* node);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_RNN_SVDF_H_
