// SPDX-License-Identifier: Apache-2.0
//
// Functions of the operators CAST and FAKE_QUANT, listed in kernels/quantize.cc.
#ifndef DEPUTY_KERNELS_QUANTIZE_H_
#define DEPUTY_KERNELS_QUANTIZE_H_

#include "c_api/include/builtin_op_data.h"
#include "kernels/common/elements.h"
#include "kernels/common/kernel.h"

namespace deputy {

// Types of real numbers; CAST also supports complex types.
inline constexpr uint32_t kRealTypes =
    kNumberBits | kBFloat16Bit | TypeBit(kTfLiteUInt16) | TypeBit(kTfLiteFloat64);
inline constexpr uint32_t kWholeCastTypes = kRealTypes | TypeBit(kTfLiteComplex64);
inline constexpr uint32_t kCastTypes = kWholeCastTypes | kPackedBits;

bool FillCast(const OpOptions& options, TfLiteCastParams* params);
TfLiteStatus PrepareCast(TfLiteContext* context, TfLiteNode* node);
TfLiteStatus EvalCast(TfLiteContext* context, TfLiteNode* node);

bool FillFakeQuant(const OpOptions& options, TfLiteFakeQuantParams* params);
TfLiteStatus PrepareFakeQuant(TfLiteContext* context, TfLiteNode* node);
TfLiteStatus EvalFakeQuant(TfLiteContext* context, TfLiteNode* node);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_QUANTIZE_H_
