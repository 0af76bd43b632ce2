// SPDX-License-Identifier: Apache-2.0
//
// List of operator families. A new operator does not change this file; a new family adds a line
// here and one in common/families.h.
#include "kernels/registry.h"

#include <cstring>

#include "kernels/common/families.h"

namespace deputy {

std::span<const std::span<const OpDef>> AllFamilies() {
  // The list is local to the function, because tables of other files may be initialised later than
  // a global.
  static const std::span<const OpDef> families[] = {
      kActivationOps, kArithmeticOps, kAudioOps,    kBinaryOps,        kCompareOps,   kConcatOps,
      kControlOps,    kConv3dOps,     kConvOps,     kConvTransposeOps, kCustomOps,    kDetectionOps,
      kFillOps,       kGatherOps,     kLstmOps,     kMatmulOps,        kMediapipeOps, kNormalizeOps,
      kPadOps,        kPoolOps,       kQuantizeOps, kRandomOps,        kRearrangeOps, kReduceOps,
      kResizeOps,     kResourceOps,   kRnnOps,      kSearchOps,        kSegmentOps,   kShapeOps,
      kSignalOps,     kSliceOps,      kSoftmaxOps,  kStablehloOps,     kTextOps,      kUnaryOps,
      kWindowOps,
  };
  return families;
}

const OpDef* FindBuiltinAnyVersion(TfLiteBuiltinOperator code) {
  for (std::span<const OpDef> family : AllFamilies()) {
    for (const OpDef& op : family) {
      if (op.code == code && code != kTfLiteBuiltinCustom) return &op;
    }
  }
  return nullptr;
}

const OpDef* FindBuiltin(TfLiteBuiltinOperator code, int version) {
  const OpDef* op = FindBuiltinAnyVersion(code);
  return op != nullptr && op->min_version <= version && version <= op->max_version ? op : nullptr;
}

const OpDef* FindCustomOp(const char* name, int version) {
  for (std::span<const OpDef> family : AllFamilies()) {
    for (const OpDef& op : family) {
      if (op.code == kTfLiteBuiltinCustom && std::strcmp(op.name, name) == 0 &&
          op.min_version <= version && version <= op.max_version) {
        return &op;
      }
    }
  }
  return nullptr;
}

}  // namespace deputy
