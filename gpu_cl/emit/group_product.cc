// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/emit/group_product.h"

namespace deputy::gpu_cl {

using compiler::Shape;
using compiler::Window;

namespace {

bool Fits(const KernelBuilder& info, const StepWriter& steps, int64_t channels, int64_t columns) {
  constexpr int kWidth = 4;  // width of stored vectors
  const auto is_constant = [&](size_t input) {
    return !info.has_input(input) || info.value(info.operation().inputs[input]).constant();
  };
  const auto is_float = [&](size_t input) {
    return LoadsAsFloat(info.value(info.operation().inputs[input]).type);
  };
  const KernelChoice* const chosen = steps.choice();
  return (chosen == nullptr || chosen->rows == 0) && is_float(0) && is_float(1) && is_constant(1) &&
         is_constant(2) && columns % kWidth == 0 && channels > 0 && columns > 0 &&
         info.StoresVectors();
}

bool IsOnePixel(const Window& window) {
  return window.height == 1 && window.width == 1 && window.stride_y == 1 && window.stride_x == 1 &&
         window.top == 0 && window.left == 0 && window.bottom == 0 && window.right == 0;
}

}  // namespace

std::optional<GroupProduct> FindGroupProduct(const compiler::Conv2d& kind,
                                             const StepWriter& steps) {
  const KernelBuilder info = steps.NewKernel();
  const Shape& filter = info.shape(info.operation().inputs[1]);
  const Shape& out = info.shape(info.operation().output());
  if (kind.groups != 1 || !Fits(info, steps, filter[3], filter[0])) return std::nullopt;
  GroupProduct product;
  product.rows = int64_t{out[0]} * out[1] * out[2];
  product.columns = filter[0];
  product.channels = filter[3];
  product.window = kind.window;
  product.image = info.shape(info.operation().inputs[0]);
  product.out = out;
  product.has_window = !IsOnePixel(kind.window);
  const int64_t depth = product.depth();
  if (product.rows == 0 || depth == 0) return std::nullopt;
  product.packing = {.filter = info.operation().inputs[1],
                     .bias = info.bias(),
                     .depth = depth,
                     .columns = product.columns,
                     .group_stride = product.columns * depth,
                     .depth_stride = 1,
                     .column_stride = depth};
  return product;
}

std::optional<GroupProduct> FindGroupProduct(const compiler::MatMul& kind,
                                             const StepWriter& steps) {
  const KernelBuilder info = steps.NewKernel();
  const Shape& b = info.shape(info.operation().inputs[1]);
  const Shape& out = info.shape(info.operation().output());
  const int64_t columns = out.back();
  const int64_t depth = kind.transpose_b ? b.back() : b[b.size() - 2];
  if (kind.transpose_a || compiler::ElementCount(b) != depth * columns ||
      !Fits(info, steps, depth, columns)) {
    return std::nullopt;
  }
  GroupProduct product;
  product.rows = compiler::ElementCount(out) / columns;
  // The left side must not be broadcast, so that its batches are rows of a single product.
  const Shape& a = info.shape(info.operation().inputs[0]);
  if (product.rows == 0 || compiler::ElementCount(a) != product.rows * depth) return std::nullopt;
  product.columns = columns;
  product.channels = depth;
  product.packing = {.filter = info.operation().inputs[1],
                     .bias = info.bias(),
                     .depth = depth,
                     .columns = columns,
                     .depth_stride = kind.transpose_b ? 1 : columns,
                     .column_stride = kind.transpose_b ? depth : 1};
  return product;
}

void LeftSide::Declare() {
  in_ = k_.Input(0);
  rows_ = k_.Int(product_.rows);
  columns_ = k_.Int(product_.columns);
  channels_ = k_.Int(product_.channels);
  depth_ = k_.Int(product_.depth());
  if (!product_.has_window) return;
  const Window& window = product_.window;
  height_ = k_.Int(product_.image[1]);
  width_ = k_.Int(product_.image[2]);
  out_height_ = k_.Int(product_.out[1]);
  out_width_ = k_.Int(product_.out[2]);
  stride_y_ = k_.Int(window.stride_y);
  stride_x_ = k_.Int(window.stride_x);
  top_ = k_.Int(window.top);
  left_ = k_.Int(window.left);
  step_y_ = k_.Int(window.dilation_y);
  step_x_ = k_.Int(window.dilation_x);
  window_width_ = k_.Int(window.width);
}

void LeftSide::DeclareRow(int j, const std::string& expression) {
  const std::string n = Decimal(j), row = "row" + n, x = "x" + n, y = "y" + n;
  k_.Line("const int " + row + " = min(" + expression + ", " + rows_ + " - 1);");
  if (!product_.has_window) {
    return k_.Line("const int o" + n + " = " + row + " * " + channels_ + ";");
  }
  k_.Line("const int " + x + " = " + row + " % " + out_width_ + " * " + stride_x_ + " - " + left_ +
          ";");
  k_.Line("const int " + y + " = " + row + " / " + out_width_ + " % " + out_height_ + " * " +
          stride_y_ + " - " + top_ + ";");
  k_.Line("const int o" + n + " = ((" + row + " / (" + out_width_ + " * " + out_height_ + ") * " +
          height_ + " + " + y + ") * " + width_ + " + " + x + ") * " + channels_ + ";");
}

void LeftSide::DeclarePosition(const std::string& n, const std::string& position) {
  const std::string d = "d" + n, pixel = "pixel" + n, wy = "wy" + n, dy = "dy" + n, dx = "dx" + n;
  k_.Line("const int " + d + " = " + position + ";");
  if (!product_.has_window) return k_.Line("const int step" + n + " = " + d + ";");
  k_.Line("const int " + pixel + " = " + d + " / " + channels_ + ", " + wy + " = " + pixel + " / " +
          window_width_ + ";");
  k_.Line("const int " + dy + " = " + wy + " * " + step_y_ + ", " + dx + " = (" + pixel + " - " +
          wy + " * " + window_width_ + ") * " + step_x_ + ";");
  k_.Line("const int step" + n + " = (" + dy + " * " + width_ + " + " + dx + " - " + pixel +
          ") * " + channels_ + " + " + d + ";");
}

std::string LeftSide::IsInside(int row, const std::string& n) const {
  std::string inside = "d" + n + " < " + depth_;
  if (!product_.has_window) return inside;
  const std::string j = Decimal(row);
  return inside + " && (uint)(y" + j + " + dy" + n + ") < (uint)" + height_ + " && (uint)(x" + j +
         " + dx" + n + ") < (uint)" + width_;
}

std::string LeftSide::At(int j, const std::string& n) { return "o" + Decimal(j) + " + step" + n; }

}  // namespace deputy::gpu_cl
