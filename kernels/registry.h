// SPDX-License-Identifier: Apache-2.0
//
// The builtin operators this library is linked with: one table per family file, gathered in
// registry.cc. Constant data throughout; any thread may read.
#ifndef DEPUTY_KERNELS_REGISTRY_H_
#define DEPUTY_KERNELS_REGISTRY_H_

#include <span>

#include "core/op_def.h"

namespace deputy {

extern const std::span<const OpDef> kArithmeticOps;
extern const std::span<const OpDef> kConvOps;
extern const std::span<const OpDef> kMatmulOps;
extern const std::span<const OpDef> kPoolOps;
extern const std::span<const OpDef> kQuantizeOps;
extern const std::span<const OpDef> kShapeOps;
extern const std::span<const OpDef> kSoftmaxOps;

// All families in the order of registry.cc.
std::span<const std::span<const OpDef>> AllFamilies();

// The builtin operator, or null when there is none or it does not take the version.
const OpDef* FindBuiltin(TfLiteBuiltinOperator code, int version);

// The builtin operator whatever the version, for its option parser; null when there is none.
const OpDef* FindBuiltinAnyVersion(TfLiteBuiltinOperator code);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_REGISTRY_H_
