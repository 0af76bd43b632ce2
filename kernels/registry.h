// SPDX-License-Identifier: Apache-2.0
//
// Builtin operators linked into this library, found by code or name. All functions may be called
// from any thread.
#ifndef DEPUTY_KERNELS_REGISTRY_H_
#define DEPUTY_KERNELS_REGISTRY_H_

#include <span>

#include "core/kernel_api/op_def.h"

namespace deputy {

// Returns the tables of all families in the order of registry.cc.
std::span<const std::span<const OpDef>> AllFamilies();

// Returns the builtin operator; null if there is none or if it does not support the version.
const OpDef* FindBuiltin(TfLiteBuiltinOperator code, int version);

// Returns the builtin operator for any version, for its option parser; null if there is none.
const OpDef* FindBuiltinAnyVersion(TfLiteBuiltinOperator code);

// Returns the custom operator with that name that supports the version, or null.
const OpDef* FindCustomOp(const char* name, int version);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_REGISTRY_H_
