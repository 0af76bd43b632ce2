// SPDX-License-Identifier: Apache-2.0
//
// SEGMENT_SUM and the UNSORTED_SEGMENT operators: no kernels yet, and no options; a client or a
// delegate may bring the kernels.
#include "kernels/common/families.h"
#include "kernels/common/kernel.h"

namespace deputy {
namespace {

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    ParserRow("SEGMENT_SUM", kTfLiteBuiltinSegmentSum),
    ParserRow("UNSORTED_SEGMENT_MAX", kTfLiteBuiltinUnsortedSegmentMax),
    ParserRow("UNSORTED_SEGMENT_MIN", kTfLiteBuiltinUnsortedSegmentMin),
    ParserRow("UNSORTED_SEGMENT_PROD", kTfLiteBuiltinUnsortedSegmentProd),
    ParserRow("UNSORTED_SEGMENT_SUM", kTfLiteBuiltinUnsortedSegmentSum),
};

}  // namespace

constexpr std::span<const OpDef> kSegmentOps = kTable;

}  // namespace deputy
