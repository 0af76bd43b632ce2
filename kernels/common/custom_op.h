// SPDX-License-Identifier: Apache-2.0
//
// OpDef rows of the library's custom operators. The loader allows custom operators to work in
// place; these do not support it and report an error.
#ifndef DEPUTY_KERNELS_COMMON_CUSTOM_OP_H_
#define DEPUTY_KERNELS_COMMON_CUSTOM_OP_H_

#include <span>

#include "kernels/common/kernel.h"

namespace deputy {

// Checks that no output is an input; the loader checks this for builtin operators only.
inline TfLiteStatus CheckNotInPlace(TfLiteContext* context, const TfLiteNode* node) {
  if (node->inputs == nullptr || node->outputs == nullptr) return kTfLiteOk;
  for (int i = 0; i < node->outputs->size; ++i) {
    const int output = node->outputs->data[i];
    for (int k = 0; k < node->inputs->size; ++k) {
      if (output < 0 || node->inputs->data[k] != output) continue;
      return KernelError(context, "expected outputs that are no inputs, found tensor %d in both",
                         output);
    }
  }
  return kTfLiteOk;
}

template <TfLiteStatus (*prepare)(TfLiteContext*, TfLiteNode*)>
TfLiteStatus PrepareNotInPlace(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNotInPlace(context, node));
  return prepare(context, node);
}

// Returns the options passed to OpDef::init as bytes.
inline std::span<const uint8_t> OptionBytes(const char* options, size_t length) {
  return {reinterpret_cast<const uint8_t*>(options), options == nullptr ? 0 : length};
}

// Row of a custom operator with one version; `init` may be null.
template <TfLiteStatus (*prepare)(TfLiteContext*, TfLiteNode*),
          TfLiteStatus (*invoke)(TfLiteContext*, TfLiteNode*)>
constexpr OpDef CustomRow(const char* name, uint32_t types,
                          void* (*init)(TfLiteContext*, const char*, size_t) = nullptr,
                          void (*free)(TfLiteContext*, void*) = nullptr, int version = 1) {
  OpDef op = KernelRow<void>(name, kTfLiteBuiltinCustom, version, types,
                             &Guarded<&PrepareNotInPlace<prepare>>, &Guarded<invoke>);
  op.min_version = version;
  op.init = init;
  op.free = free;
  return op;
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_CUSTOM_OP_H_
