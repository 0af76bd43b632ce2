// SPDX-License-Identifier: Apache-2.0
//
// Products with constant filters that work-groups compute cooperatively: extraction from an
// operation, and addressing of the left side.
#ifndef DEPUTY_GPU_CL_EMIT_GROUP_PRODUCT_H_
#define DEPUTY_GPU_CL_EMIT_GROUP_PRODUCT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/graph.h"
#include "core/support/int_math.h"
#include "gpu_cl/emit/emit.h"

namespace deputy::gpu_cl {

// A product with a constant filter. Its left side consists of pixels with `channels` elements each.
struct GroupProduct {
  int64_t rows = 0, columns = 0, channels = 0;
  compiler::Window window;  // a single pixel unless has_window
  bool has_window = false;  // `image` and `out` determine the positions of the windows
  compiler::Shape image, out;
  Packing packing;  // without width and type of the panels

  int64_t depth() const { return int64_t{window.height} * window.width * channels; }
  int64_t Groups(int height, int width) const {
    return CeilDiv(rows, height) * CeilDiv(columns, width);
  }
};

// Returns the operation as a group product: float, columns divisible by four, result storable in
// vectors. Returns nullopt for other operations, and if a tile per work-item was chosen for it.
std::optional<GroupProduct> FindGroupProduct(const compiler::Conv2d& kind, const StepWriter& steps);
std::optional<GroupProduct> FindGroupProduct(const compiler::MatMul& kind, const StepWriter& steps);

// Generates the addressing of the left side. A work-item loads several rows, numbered from 0 on.
class LeftSide {
 public:
  LeftSide(KernelBuilder* k, const GroupProduct& product) : k_(*k), product_(product) {}

  // Declares the parameters. Must be called before the other functions.
  void Declare();
  // Declares o<j>, the position at which row `row` (an expression) begins, and for windows x<j> and
  // y<j>.
  void DeclareRow(int j, const std::string& row);
  // Declares d<n>, the position along the depth (an expression) that the item loads next; step<n>,
  // its position in the image relative to the first pixel of a window; and dy<n>, dx<n>, its pixel
  // in the window.
  void DeclarePosition(const std::string& n, const std::string& position);
  // Return expressions: IsInside is true if position `n` along the depth is within the image for
  // row j; At is its index in the left side.
  std::string IsInside(int j, const std::string& n) const;
  static std::string At(int j, const std::string& n);

  const Buffer& in() const { return in_; }
  const std::string& rows() const { return rows_; }
  const std::string& columns() const { return columns_; }
  const std::string& depth() const { return depth_; }

 private:
  KernelBuilder& k_;
  const GroupProduct& product_;
  Buffer in_;
  std::string rows_, columns_, channels_, depth_, height_, width_, out_height_, out_width_,
      stride_y_, stride_x_, top_, left_, step_y_, step_x_, window_width_;
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_EMIT_GROUP_PRODUCT_H_
