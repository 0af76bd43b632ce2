// SPDX-License-Identifier: Apache-2.0
//
// The list of families, and nothing else. A new operator does not touch this file; a new family
// adds a line here and one in registry.h.
#include "kernels/registry.h"

namespace deputy {

std::span<const std::span<const OpDef>> AllFamilies() {
  // Inside the function, because the tables of other files may not be initialised before it.
  static const std::span<const OpDef> families[] = {
      kArithmeticOps, kConvOps, kMatmulOps, kPoolOps, kQuantizeOps, kShapeOps, kSoftmaxOps,
  };
  return families;
}

const OpDef* FindBuiltinAnyVersion(TfLiteBuiltinOperator code) {
  for (std::span<const OpDef> family : AllFamilies()) {
    for (const OpDef& op : family) {
      if (op.code == code) return &op;
    }
  }
  return nullptr;
}

const OpDef* FindBuiltin(TfLiteBuiltinOperator code, int version) {
  const OpDef* op = FindBuiltinAnyVersion(code);
  return op != nullptr && op->min_version <= version && version <= op->max_version ? op : nullptr;
}

}  // namespace deputy
