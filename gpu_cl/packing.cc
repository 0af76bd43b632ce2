// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/packing.h"

#include <algorithm>
#include <cstring>

namespace deputy::gpu_cl {

using compiler::Graph;
using compiler::Value;

namespace {

// A constant's elements as floats.
class Floats {
 public:
  explicit Floats(const Value& value) : value_(value) {}

  float operator[](int64_t index) const {
    if (value_.type != kTfLiteFloat32) return static_cast<float>(value_.At(index).real);
    float number;
    memcpy(&number, value_.data + static_cast<size_t>(index) * sizeof number, sizeof number);
    return number;
  }

 private:
  const Value& value_;
};

std::vector<float> PackFloats(const Graph& graph, const Packing& packing) {
  std::vector<float> packed(static_cast<size_t>(packing.elements()), 0.0f);
  const Floats filter(graph.value(packing.filter));
  // Side by side a row of one panel is followed by that of the next one.
  const bool beside = packing.storage == Storage::kImage2d;
  const int64_t row_stride =
      beside ? packing.groups * packing.panels() * packing.panel : packing.panel;
  const int64_t panel_stride = beside ? packing.panel : packing.panel_elements();
  float* out = packed.data();
  for (int64_t group = 0; group < packing.groups; ++group) {
    for (int64_t first = 0; first < packing.columns; first += packing.panel) {
      const int64_t width = std::min(packing.panel, packing.columns - first);
      if (packing.bias != compiler::kNoValue) {
        const Floats bias(graph.value(packing.bias));
        for (int64_t c = 0; c < width; ++c) out[c] = bias[group * packing.columns + first + c];
      }
      const int64_t start = group * packing.group_stride + first * packing.column_stride;
      for (int64_t d = 0; d < packing.depth; ++d) {
        const int64_t in_chunk = d % packing.chunk;
        float* row = out + (d - in_chunk + 1) * row_stride + in_chunk;
        const int64_t from = start + d * packing.depth_stride;
        for (int64_t c = 0; c < width; ++c) {
          row[c * packing.chunk] = filter[from + c * packing.column_stride];
        }
      }
      out += panel_stride;
    }
  }
  return packed;
}

}  // namespace

std::vector<std::byte> Pack(const Graph& graph, const Packing& packing) {
  const std::vector<float> floats = PackFloats(graph, packing);
  std::vector<std::byte> bytes(floats.size() * compiler::ElementBytes(packing.type));
  if (packing.type == kTfLiteFloat32) {
    memcpy(bytes.data(), floats.data(), bytes.size());
    return bytes;
  }
  for (size_t i = 0; i < floats.size(); ++i) {
    compiler::StoreElement(packing.type, {floats[i], 0}, bytes.data(), static_cast<int64_t>(i));
  }
  return bytes;
}

}  // namespace deputy::gpu_cl
