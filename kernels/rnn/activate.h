// SPDX-License-Identifier: Apache-2.0
//
// Activations of recurrent layers on runs of memory: by the vector loops of the CPU table, or by
// plain ones where it has none.
#ifndef DEPUTY_KERNELS_RNN_ACTIVATE_H_
#define DEPUTY_KERNELS_RNN_ACTIVATE_H_

#include "kernels/common/kernel.h"
#include "kernels/cpu/cpu.h"

namespace deputy {

// out[i] = activation(values[i]); the two may be the same memory. Without an activation nothing is
// written, as in TensorFlow Lite: callers that need a copy make it.
void Activate(TfLiteFusedActivation activation, const float* values, int64_t count, float* out);

// None, a RELU, TANH, SIGN_BIT or SIGMOID.
TfLiteStatus CheckRecurrentActivation(TfLiteContext* context, TfLiteFusedActivation activation);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_RNN_ACTIVATE_H_
