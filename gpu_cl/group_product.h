// SPDX-License-Identifier: Apache-2.0
//
// Products with constant filters that groups of work-items compute: what they are of an operation,
// and where a work-item finds the left side's elements.
#ifndef DEPUTY_GPU_CL_GROUP_PRODUCT_H_
#define DEPUTY_GPU_CL_GROUP_PRODUCT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/graph.h"
#include "gpu_cl/emit.h"

namespace deputy::gpu_cl {

// A product with a constant filter, its left side the pixels of an image of `channels` each.
struct GroupProduct {
  int64_t rows = 0, columns = 0, channels = 0;
  compiler::Window window;  // of one pixel, unless
  bool has_window = false;  // `image` and `out` say where windows lie
  compiler::Shape image, out;
  Packing packing;  // without the panels' width and type

  int64_t depth() const { return int64_t{window.height} * window.width * channels; }
  static int64_t PartsOf(int64_t count, int64_t part) { return (count + part - 1) / part; }
  int64_t Groups(int height, int width) const {
    return PartsOf(rows, height) * PartsOf(columns, width);
  }
};

// The product that the step's operation is, if it is one: of floats, with columns that are a
// multiple of four, whose result can be stored in vectors. None where an item's tile was chosen for
// it.
std::optional<GroupProduct> FindGroupProduct(const compiler::Conv2d& kind, const StepWriter& steps);
std::optional<GroupProduct> FindGroupProduct(const compiler::MatMul& kind, const StepWriter& steps);

// Writes into a kernel where the left side's elements lie. A work-item loads some rows, numbered
// from 0 on.
class LeftSide {
 public:
  LeftSide(KernelBuilder* k, const GroupProduct& product) : k_(*k), product_(product) {}

  // The parameters. To be called first.
  void Declare();
  // Declares o<j>, where the row `row` (an expression) begins, and for windows x<j> and y<j>.
  void DeclareRow(int j, const std::string& row);
  // Declares d<n>, the place along the depth that the item loads next, an expression, with step<n>,
  // where that is in the image from the first pixel of a window on, and the pixel's place dy<n>,
  // dx<n> in it.
  void DeclarePlace(const std::string& n, const std::string& place);
  // Whether there is such a place in the image of row j; and its index.
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

#endif  // DEPUTY_GPU_CL_GROUP_PRODUCT_H_
