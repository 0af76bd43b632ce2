// SPDX-License-Identifier: Apache-2.0
//
// Converts MindSpore Lite models (.ms, identifier MSL2) to TensorFlow Lite models. The result
// passes through the loader and its checks like any other .tflite file:
//
//   std::string error;
//   const std::vector<uint8_t> tflite = deputy::ms::ConvertMsModel(bytes, {}, &error);
//   TfLiteModel* model = tflite.empty() ? nullptr : TfLiteModelCreate(tflite.data(),
//   tflite.size());
//
// ms.fbs is the format; map_*.cc map primitives to operators.
#ifndef DEPUTY_MINDSPORE_MS_CONVERT_H_
#define DEPUTY_MINDSPORE_MS_CONVERT_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "deputy/deputy.h"

namespace deputy::ms {

// Returns true if the bytes begin like a .ms file of any generation that has an identifier. The
// file's name is irrelevant.
bool IsMsModel(std::span<const uint8_t> bytes);

// Treatment of nodes that have no equivalent in TensorFlow Lite.
enum class Unmapped {
  kRefuse,  // the model is refused
  kKeep,    // the node becomes a custom operator, which a delegate or a client may implement
};

// A node of the file that became a custom operator. Its name is "mindspore.LSTM" for LSTM, or the
// type of a Custom, and its options are the primitive as a FlatBuffer (attributes.h).
struct UnmappedNode {
  int op = 0;        // index of the operator
  std::string text;  // node, primitive and the reason why it is not mapped
};

struct ConvertedModel {
  std::vector<uint8_t> tflite;
  std::vector<UnmappedNode> unmapped;
};

// Converts a .ms file to a .tflite file that computes the same, and whose metadata has the file's
// primitives (node_list.h). On failure returns false, and `error` names the node, primitive or
// tensor at fault, if there is one. `bytes` may be arbitrary and need no alignment. A field of
// `limits` that is 0 selects the default of DeputyLimits; struct_size is ignored. Memory use is
// bounded by a multiple of the input's size. Throws only std::bad_alloc.
bool ConvertMsModel(std::span<const uint8_t> bytes, const DeputyLimits& limits, Unmapped unmapped,
                    ConvertedModel* out, std::string* error);

// Returns the .tflite file; empty on failure. Nodes without an equivalent are refused.
std::vector<uint8_t> ConvertMsModel(std::span<const uint8_t> bytes, const DeputyLimits& limits,
                                    std::string* error);

}  // namespace deputy::ms

#endif  // DEPUTY_MINDSPORE_MS_CONVERT_H_
