// SPDX-License-Identifier: Apache-2.0
//
// Activations of recurrent layers on contiguous values: TANH and SIGMOID with the vector loops of
// the CPU table if it has them, others with plain loops.
#ifndef DEPUTY_KERNELS_RNN_ACTIVATE_H_
#define DEPUTY_KERNELS_RNN_ACTIVATE_H_

#include "kernels/common/kernel.h"
#include "kernels/cpu/cpu.h"

namespace deputy {

// Computes out[i] = activation(values[i]); `values` and `out` may be the same memory. Without an
// activation nothing is written, as in TensorFlow Lite: callers make a copy if they need one.
void Activate(const VectorKernels& vector, TfLiteFusedActivation activation, const float* values,
              int64_t count, float* out);

// Checks the activation: none, a RELU, TANH, SIGN_BIT and SIGMOID are supported.
TfLiteStatus CheckRecurrentActivation(TfLiteContext* context, TfLiteFusedActivation activation);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_RNN_ACTIVATE_H_
