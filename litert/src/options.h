// SPDX-License-Identifier: Apache-2.0
//
// Compilation options of a compiled model.
#ifndef DEPUTY_LITERT_SRC_OPTIONS_H_
#define DEPUTY_LITERT_SRC_OPTIONS_H_

#include <string>
#include <vector>

#include "litert/c/litert_custom_op_kernel.h"
#include "litert/c/litert_options.h"
#include "litert/src/opaque_options.h"

namespace deputy::litert {

// A kernel of the client for a custom operator.
struct CustomKernel {
  std::string name;
  int version = 1;
  LiteRtCustomOpKernel functions = {};
  void* user_data = nullptr;
};

// Memory of the client that an input uses permanently.
struct TensorBinding {
  std::string signature, tensor;
  void* data = nullptr;
  size_t bytes = 0;
};

}  // namespace deputy::litert

struct LiteRtOptionsT {
  LiteRtHwAcceleratorSet accelerators = kLiteRtHwAcceleratorNone;
  LiteRtOpaqueOptionsT* opaque = nullptr;  // owned list
  std::vector<deputy::litert::CustomKernel> kernels;
  std::vector<deputy::litert::TensorBinding> bindings;
};

#endif  // DEPUTY_LITERT_SRC_OPTIONS_H_
