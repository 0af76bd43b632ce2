// SPDX-License-Identifier: Apache-2.0
//
// NON_MAX_SUPPRESSION_V4 and NON_MAX_SUPPRESSION_V5: no kernels yet, and no options; a client or a
// delegate may bring the kernels.
#include "kernels/common/families.h"
#include "kernels/common/kernel.h"

namespace deputy {
namespace {

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    ParserRow("NON_MAX_SUPPRESSION_V4", kTfLiteBuiltinNonMaxSuppressionV4),
    ParserRow("NON_MAX_SUPPRESSION_V5", kTfLiteBuiltinNonMaxSuppressionV5),
};

}  // namespace

constexpr std::span<const OpDef> kDetectionOps = kTable;

}  // namespace deputy
