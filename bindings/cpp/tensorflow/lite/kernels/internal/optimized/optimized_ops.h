// SPDX-License-Identifier: Apache-2.0
//
// The reference kernels under the names of upstream's optimised ones. Deputy's fast kernels are in
// the library; a delegate's own computation is rarely a bottleneck.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_OPTIMIZED_OPTIMIZED_OPS_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_OPTIMIZED_OPTIMIZED_OPS_H_

#include "tensorflow/lite/kernels/internal/reference/reference_ops.h"
#include "tensorflow/lite/kernels/internal/tensor_ctypes.h"

namespace tflite {

namespace optimized_ops {
using namespace reference_ops;  // NOLINT(google-build-using-namespace)
}  // namespace optimized_ops

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_OPTIMIZED_OPTIMIZED_OPS_H_
