// SPDX-License-Identifier: Apache-2.0
//
// The builtin operators this library is linked with, found by code or name. Any thread may read.
#ifndef DEPUTY_KERNELS_REGISTRY_H_
#define DEPUTY_KERNELS_REGISTRY_H_

#include <span>

#include "core/kernel_api/op_def.h"

namespace deputy {

// All families in the order of registry.cc.
std::span<const std::span<const OpDef>> AllFamilies();

// The builtin operator, or null when there is none or it does not take the version.
const OpDef* FindBuiltin(TfLiteBuiltinOperator code, int version);

// The builtin operator whatever the version, for its option parser; null when there is none.
const OpDef* FindBuiltinAnyVersion(TfLiteBuiltinOperator code);

// The custom operator of that name that takes the version, or null when there is none.
const OpDef* FindCustomOp(const char* name, int version);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_REGISTRY_H_
