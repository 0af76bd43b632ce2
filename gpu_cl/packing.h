// SPDX-License-Identifier: Apache-2.0
//
// Constant filters in the order in which tiles of a product read them: panels of columns, of which
// each row lies in one piece.
#ifndef DEPUTY_GPU_CL_PACKING_H_
#define DEPUTY_GPU_CL_PACKING_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/graph.h"
#include "gpu_cl/storage.h"

namespace deputy::gpu_cl {

// How to read a filter as `groups` matrices of `depth` rows and `columns` columns, and how wide
// panels are. Strides are in elements of the filter.
struct Packing {
  compiler::ValueId filter = compiler::kNoValue;
  compiler::ValueId bias = compiler::kNoValue;  // a constant [groups * columns], or none
  int64_t groups = 1, depth = 0, columns = 0;
  int64_t group_stride = 0, depth_stride = 0, column_stride = 0;
  int64_t panel = 1;
  // How much of the depth of a column lies in one piece, column behind column of the panel; the
  // depth is filled up with zeros to a multiple of it.
  int64_t chunk = 1;
  TfLiteType type = kTfLiteFloat32;  // of the panels; or kTfLiteFloat16
  Storage storage = Storage::kBuffer;

  int64_t panels() const { return (columns + panel - 1) / panel; }
  int64_t chunks() const { return (depth + chunk - 1) / chunk; }
  // A panel is a row of the bias and a row for each of the depth.
  int64_t panel_elements() const { return (chunks() * chunk + 1) * panel; }
  int64_t elements() const { return groups * panels() * panel_elements(); }

  friend bool operator==(const Packing&, const Packing&) = default;
};

// The panels of each group one behind the other, or side by side for an image of two dimensions;
// zeros where there is no column or no bias.
std::vector<std::byte> Pack(const compiler::Graph& graph, const Packing& packing);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_PACKING_H_
