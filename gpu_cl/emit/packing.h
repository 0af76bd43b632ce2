// SPDX-License-Identifier: Apache-2.0
//
// Constant filters packed in the order in which product tiles read them: panels of columns whose
// rows are contiguous.
#ifndef DEPUTY_GPU_CL_EMIT_PACKING_H_
#define DEPUTY_GPU_CL_EMIT_PACKING_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/graph.h"
#include "core/support/int_math.h"
#include "gpu_cl/device/storage.h"

namespace deputy::gpu_cl {

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
  TfLiteType type = kTfLiteFloat32;  // element type in panels: kTfLiteFloat32 or kTfLiteFloat16
  Storage storage = Storage::kBuffer;

  int64_t panels() const { return CeilDiv(columns, panel); }
  int64_t chunks() const { return CeilDiv(depth, chunk); }
  // Returns the elements of a panel, which consists of a row with the bias and one row per element
  // of the depth.
  int64_t panel_elements() const { return (chunks() * chunk + 1) * panel; }
  int64_t elements() const { return groups * panels() * panel_elements(); }

  friend bool operator==(const Packing&, const Packing&) = default;
};

// Packs the panels of each group one after the other, or side by side for a two-dimensional image;
// missing columns and a missing bias are zeros.
std::vector<std::byte> Pack(const compiler::Graph& graph, const Packing& packing);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_EMIT_PACKING_H_
