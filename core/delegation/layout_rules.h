// SPDX-License-Identifier: Apache-2.0
//
// Conversion of single nodes from NHWC to NCHW (deputy_plugin_layout.h): which operators can be
// converted, and how their inputs and parameters change. Pure functions.
#ifndef DEPUTY_CORE_DELEGATION_LAYOUT_RULES_H_
#define DEPUTY_CORE_DELEGATION_LAYOUT_RULES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "c_api/include/common.h"
#include "core/base/memory.h"

namespace deputy {

class Graph;

inline constexpr int kImageRank = 4;
// Permutations of the dimensions from NHWC to NCHW and back. Dimension i of NHWC is dimension
// kToNhwc[i] of NCHW.
inline constexpr int32_t kToNchw[kImageRank] = {0, 3, 1, 2};
inline constexpr int32_t kToNhwc[kImageRank] = {0, 2, 3, 1};

// Change of an input of a converted node.
enum class InputChange : uint8_t {
  kNone,
  kImage,         // computed image; replaced by the one in NCHW
  kConstant,      // constant that is combined with images; transposed in the same way
  kPerDimension,  // constant with an entry or a group of entries per dimension; permuted
  kAxes,          // constant with indices of dimensions; mapped
};

// The conversion of an operator's nodes.
struct LayoutRule {
  // Parameters that refer to dimensions, or decide whether the outputs are images.
  enum class Params : uint8_t { kNone, kConcatenation, kStridedSlice, kReducer, kRemovesAxis };
  static constexpr uint8_t kAllInputs = 0xff;

  int16_t code;     // of the builtin operator
  bool is_bound;    // the operator depends on the layout
  uint8_t images;   // mask of inputs that are images; kAllInputs
  uint8_t changed;  // mask of inputs with the change `change`
  InputChange change;
  Params params;
  uint8_t params_size;  // size of the parameters in bytes
};

// Returns the operator's rule; null if its nodes stay in NHWC.
const LayoutRule* FindLayoutRule(int builtin_code);

// Returns null if the node can be converted, else the reason. `rule` is the operator's.
const char* WhyNotConvertible(const Graph& graph, int node_index, const LayoutRule& rule);

InputChange ChangeOfInput(const TfLiteTensor& input, int position, const LayoutRule& rule);

// Returns the dimensions of a 4-D NHWC tensor in NCHW.
std::vector<int> NchwDims(const TfLiteIntArray& nhwc);

// Computes the constant that replaces `source` as an input with this change. `*data` remains empty
// if the bytes are those of `source`. Returns false if out of memory or a limit is exceeded.
bool ConvertConstant(const TfLiteTensor& source, InputChange change, const Limits& limits,
                     std::vector<int>* dims, Block* data);

// Returns a copy (malloc) of the node's parameters with corrected dimensions; null if there are
// none. Throws bad_alloc if out of memory.
void* ConvertParams(const TfLiteNode& node, const LayoutRule& rule);

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_LAYOUT_RULES_H_
