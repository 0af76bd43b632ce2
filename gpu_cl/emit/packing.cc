// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/emit/packing.h"

#include <algorithm>
#include <cstring>

namespace deputy::gpu_cl {

using compiler::Graph;
using compiler::Value;

namespace {

// Reads elements of a constant, as float or as the bits of float16.
template <typename T>
class Elements {
 public:
  explicit Elements(const Value& value) : value_(value) {}

  T operator[](int64_t index) const {
    constexpr TfLiteType kType = sizeof(T) == sizeof(float) ? kTfLiteFloat32 : kTfLiteFloat16;
    T element;
    if (value_.type == kType) {
      memcpy(&element, value_.data + static_cast<size_t>(index) * sizeof element, sizeof element);
    } else {
      compiler::StoreElement(kType, {value_.At(index).real, 0},
                             reinterpret_cast<std::byte*>(&element), 0);
    }
    return element;
  }

 private:
  const Value& value_;
};

template <typename T>
std::vector<std::byte> PackAs(const Graph& graph, const Packing& packing) {
  std::vector<std::byte> packed(static_cast<size_t>(packing.elements()) * sizeof(T));
  const Elements<T> filter(graph.value(packing.filter));
  // If panels are side by side, a row of one panel is followed by the same row of the next panel.
  const bool side_by_side = packing.storage == Storage::kImage2d;
  const int64_t row_stride =
      side_by_side ? packing.groups * packing.panels() * packing.panel : packing.panel;
  const int64_t panel_stride = side_by_side ? packing.panel : packing.panel_elements();
  T* out = reinterpret_cast<T*>(packed.data());
  for (int64_t group = 0; group < packing.groups; ++group) {
    for (int64_t first = 0; first < packing.columns; first += packing.panel) {
      const int64_t width = std::min(packing.panel, packing.columns - first);
      if (packing.bias != compiler::kNoValue) {
        const Elements<T> bias(graph.value(packing.bias));
        for (int64_t c = 0; c < width; ++c) out[c] = bias[group * packing.columns + first + c];
      }
      const int64_t start = group * packing.group_stride + first * packing.column_stride;
      for (int64_t d = 0; d < packing.depth; ++d) {
        const int64_t in_chunk = d % packing.chunk;
        T* row = out + (d - in_chunk + 1) * row_stride + in_chunk;
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

// Packs a column of a panel in quads, its bias first.
void PackQuads(const Graph& graph, const Packing& packing, int64_t group, int64_t column,
               int32_t* out) {
  const auto* filter = reinterpret_cast<const int8_t*>(graph.value(packing.filter).data) +
                       group * packing.group_stride + column * packing.column_stride;
  int64_t sum = 0;
  for (int64_t d = 0; d < packing.depth; ++d) {
    const int64_t run = d / packing.run, at = d % packing.run;
    const int8_t weight = filter[run * packing.run_stride + at * packing.depth_stride];
    const int64_t row = 1 + run * packing.run_quads() + at / kQuad;
    memcpy(reinterpret_cast<std::byte*>(out + row * packing.panel) + at % kQuad, &weight, 1);
    sum += weight;
  }
  int64_t bias = -packing.offset * sum;
  if (packing.bias != compiler::kNoValue) {
    bias += graph.value(packing.bias).At(group * packing.columns + column).integer;
  }
  *out = static_cast<int32_t>(bias);
}

std::vector<std::byte> PackQuads(const Graph& graph, const Packing& packing) {
  std::vector<std::byte> packed(static_cast<size_t>(packing.elements() * kQuad));
  auto* out = reinterpret_cast<int32_t*>(packed.data());
  for (int64_t group = 0; group < packing.groups; ++group) {
    for (int64_t panel = 0; panel < packing.panels(); ++panel) {
      int64_t first = panel * packing.panel;
      if (packing.overlaps) first = std::min(first, packing.columns - packing.panel);
      const int64_t width = std::min(packing.panel, packing.columns - first);
      for (int64_t c = 0; c < width; ++c) PackQuads(graph, packing, group, first + c, out + c);
      out += packing.panel_elements();
    }
  }
  std::fill(packed.begin() + packing.padding_position() * kQuad, packed.end(),
            std::byte{packing.padding});
  return packed;
}

}  // namespace

int32_t SetImage(TfLiteType image, int zero_point, TfLiteType multiplied, Packing* packing) {
  constexpr int kHalfRange = 128;
  const int added = image == multiplied ? 0 : image == kTfLiteInt8 ? kHalfRange : -kHalfRange;
  packing->type = kTfLiteInt32;
  packing->offset = zero_point + added;
  packing->padding = static_cast<uint8_t>(zero_point);
  return image == multiplied ? 0 : static_cast<int32_t>(0x80808080);
}

std::vector<std::byte> Pack(const Graph& graph, const Packing& packing) {
  if (packing.is_quads()) return PackQuads(graph, packing);
  return packing.type == kTfLiteFloat32 ? PackAs<float>(graph, packing)
                                        : PackAs<uint16_t>(graph, packing);
}

}  // namespace deputy::gpu_cl
