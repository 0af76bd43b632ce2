// SPDX-License-Identifier: Apache-2.0
//
// Definition of TfLiteOpaqueTensorBuilder: properties of a tensor to be added. Set in
// opaque_tensor.cc, used in opaque_context.cc.
#ifndef DEPUTY_C_API_SRC_TENSOR_BUILDER_H_
#define DEPUTY_C_API_SRC_TENSOR_BUILDER_H_

#include "c_api/include/common.h"

struct TfLiteOpaqueTensorBuilder {
  TfLiteType type = kTfLiteNoType;
  void* data = nullptr;  // contents: a malloc block that the new tensor will own
  TfLiteAllocationType allocation_type = kTfLiteMemNone;
  TfLiteQuantizationParams params{};
  TfLiteQuantization quantization{};  // quantisation whose params the new tensor will own
};

#endif  // DEPUTY_C_API_SRC_TENSOR_BUILDER_H_
