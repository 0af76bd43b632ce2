// SPDX-License-Identifier: Apache-2.0
//
// Implements exact_rows.h. quantized_accuracy_test compares the results of these operators with
// float64.
#include "tests/conformance/exact_rows.h"

#include <algorithm>
#include <iterator>

namespace deputy::conformance {
namespace {

// Operators that do not rescale in TensorFlow Lite, mainly data movement. TensorFlow Lite refuses
// golden rows of these operators in which input and output have different scales, or ignores the
// output's scale.
const char* const kMoves[] = {
    "AVERAGE_POOL_2D",
    "BROADCAST_TO",
    "CONCATENATION",
    "EMBEDDING_LOOKUP",
    "EXPAND_DIMS",
    "FILL",
    "GATHER",
    "GATHER_ND",
    "MAXIMUM",
    "MAX_POOL_2D",
    "MINIMUM",
    "MIRROR_PAD",
    "PACK",
    "PAD",
    "PADV2",
    "REDUCE_MAX",
    "REDUCE_MIN",
    "RESHAPE",
    "RESIZE_BILINEAR",
    "RESIZE_NEAREST_NEIGHBOR",
    "SLICE",
    "SPLIT",
    "SPLIT_V",
    "SQUEEZE",
    "STRIDED_SLICE",
    "TILE",
    "TRANSPOSE",
    "UNPACK",
};

bool Contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

bool HasTwoScales(const std::string& name) {
  return Contains(name, "_other_scale") || Contains(name, "_other_zero") ||
         Contains(name, "_other_output") || Contains(name, "_close_scale") ||
         Contains(name, "_value_scale") || Contains(name, "_value_zero");
}

bool IsQuantized(TfLiteType type) {
  return type == kTfLiteInt8 || type == kTfLiteUInt8 || type == kTfLiteInt16;
}

}  // namespace

std::string ExactReason(const golden::Row& row) {
  if (row.op == "RESIZE_BILINEAR" && row.name == "both_options") {
    return "both options align the corners, as in XNNPACK";
  }
  if (!IsQuantized(row.type)) return "";
  if (row.op == "RESIZE_BILINEAR" && row.type == kTfLiteInt16) {
    return "TensorFlow Lite rounds positions to 10 binary digits";
  }
  if (row.op == "NEG") return "TensorFlow Lite negates steps, whatever the scales";
  const bool moves = std::any_of(std::begin(kMoves), std::end(kMoves),
                                 [&](const char* name) { return row.op == name; });
  return moves && HasTwoScales(row.name) ? "values keep their real numbers between two scales" : "";
}

}  // namespace deputy::conformance
