// SPDX-License-Identifier: Apache-2.0
//
// Tables of the operator families, one per family file, listed in kernels/registry.cc. Constant
// data: any thread may read it.
#ifndef DEPUTY_KERNELS_COMMON_FAMILIES_H_
#define DEPUTY_KERNELS_COMMON_FAMILIES_H_

#include <span>

#include "core/kernel_api/op_def.h"

namespace deputy {

extern const std::span<const OpDef> kActivationOps;
extern const std::span<const OpDef> kArithmeticOps;
extern const std::span<const OpDef> kAudioOps;
extern const std::span<const OpDef> kBinaryOps;
extern const std::span<const OpDef> kCompareOps;
extern const std::span<const OpDef> kConcatOps;
extern const std::span<const OpDef> kControlOps;
extern const std::span<const OpDef> kConv3dOps;
extern const std::span<const OpDef> kConvOps;
extern const std::span<const OpDef> kConvTransposeOps;
extern const std::span<const OpDef> kCustomOps;
extern const std::span<const OpDef> kDetectionOps;
extern const std::span<const OpDef> kFillOps;
extern const std::span<const OpDef> kGatherOps;
extern const std::span<const OpDef> kLstmOps;
extern const std::span<const OpDef> kMatmulOps;
extern const std::span<const OpDef> kMediapipeOps;
extern const std::span<const OpDef> kNormalizeOps;
extern const std::span<const OpDef> kPadOps;
extern const std::span<const OpDef> kPoolOps;
extern const std::span<const OpDef> kQuantizeOps;
extern const std::span<const OpDef> kRandomOps;
extern const std::span<const OpDef> kRearrangeOps;
extern const std::span<const OpDef> kReduceOps;
extern const std::span<const OpDef> kResizeOps;
extern const std::span<const OpDef> kResourceOps;
extern const std::span<const OpDef> kRnnOps;
extern const std::span<const OpDef> kSearchOps;
extern const std::span<const OpDef> kSegmentOps;
extern const std::span<const OpDef> kShapeOps;
extern const std::span<const OpDef> kSignalOps;
extern const std::span<const OpDef> kSliceOps;
extern const std::span<const OpDef> kSoftmaxOps;
extern const std::span<const OpDef> kStablehloOps;
extern const std::span<const OpDef> kTextOps;
extern const std::span<const OpDef> kUnaryOps;
extern const std::span<const OpDef> kWindowOps;

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_FAMILIES_H_
