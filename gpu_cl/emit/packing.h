// SPDX-License-Identifier: Apache-2.0
//
// Constant filters packed in the order in which product tiles read them: panels of columns whose
// rows are contiguous. Filters of integer products are packed in quads: an int32 has four int8 of a
// column that follow each other along the depth, the first in the lowest byte.
#ifndef DEPUTY_GPU_CL_EMIT_PACKING_H_
#define DEPUTY_GPU_CL_EMIT_PACKING_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/graph.h"
#include "core/support/int_math.h"
#include "gpu_cl/device/storage.h"

namespace deputy::gpu_cl {

inline constexpr int64_t kQuad = 4;  // number of int8 in an element of quads

// Describes a filter as `groups` matrices of `depth` rows and `columns` columns, and the width of
// panels. Strides are in elements of the filter.
struct Packing {
  compiler::ValueId filter = compiler::kNoValue;
  compiler::ValueId bias = compiler::kNoValue;  // a constant [groups * columns], or kNoValue
  int64_t groups = 1, depth = 0, columns = 0;
  int64_t group_stride = 0, depth_stride = 0, column_stride = 0;
  int64_t panel = 1;
  // Number of elements along the depth of a column that are contiguous; the columns of a panel
  // follow each other. The depth is padded with zeros to a multiple of it.
  int64_t chunk = 1;
  // Element type in panels: kTfLiteFloat32, kTfLiteFloat16, or kTfLiteInt32 for quads.
  TfLiteType type = kTfLiteFloat32;
  Storage storage = Storage::kBuffer;
  // For quads. The depth consists of runs of `run` elements, each padded to whole quads;
  // depth_stride is within a run, run_stride between runs.
  int64_t run = 0, run_stride = 0;
  // The image's elements are multiplied with this number added to them, for which the bias
  // compensates.
  int offset = 0;
  // Byte of the image's padding, and how often it is repeated after the panels.
  uint8_t padding = 0;
  int64_t padding_bytes = 0;
  // True if the last panel overlaps the previous one, so that it is whole.
  bool overlaps = false;

  int64_t panels() const { return CeilDiv(columns, panel); }
  int64_t chunks() const { return CeilDiv(depth, chunk); }
  bool is_quads() const { return type == kTfLiteInt32; }
  int64_t run_quads() const { return CeilDiv(run, kQuad); }
  // Returns the elements of a panel, which consists of a row with the bias and one row per element
  // or quad of the depth.
  int64_t panel_elements() const {
    const int64_t rows = is_quads() ? depth / run * run_quads() : chunks() * chunk;
    return (rows + 1) * panel;
  }
  // Returns the position of the run of padding after quads.
  int64_t padding_position() const { return groups * panels() * panel_elements(); }
  int64_t elements() const { return padding_position() + CeilDiv(padding_bytes, kQuad); }

  friend bool operator==(const Packing&, const Packing&) = default;
};

// Sets offset and padding of quads, and their type, for an image of int8 or uint8 that kernels
// multiply as `multiplied`, one of these types. Returns the bits to invert in a quad of the image:
// the highest bit of each element if it is of the other type.
int32_t SetImage(TfLiteType image, int zero_point, TfLiteType multiplied, Packing* packing);

// Packs the panels of each group one after the other, or side by side for a two-dimensional image;
// missing columns and a missing bias are zeros.
std::vector<std::byte> Pack(const compiler::Graph& graph, const Packing& packing);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_EMIT_PACKING_H_
