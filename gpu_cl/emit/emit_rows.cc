// SPDX-License-Identifier: Apache-2.0
//
// Operations with a window per channel: a work-item computes rows of the output, or one pixel on a
// GPU, in vectors of channels. If the number of channels is not a multiple of the vector width, the
// last vector overlaps the previous one and stores the same numbers again; therefore no output may
// alias an input of the epilogue.
#include <algorithm>

#include "core/support/int_math.h"
#include "gpu_cl/emit/emit.h"
#include "gpu_cl/emit/vector_text.h"

namespace deputy::gpu_cl {

using compiler::Shape;
using compiler::ValueId;
using compiler::Window;

namespace {

// Returns the vector width for a number of channels; 0 if there are too few.
int WidthFor(const PlanOptions& options, int channels) {
  int width = options.vector_width;
  while (width > channels) width /= 2;
  return width >= 4 ? width : 0;
}

// Writes a kernel whose work-items compute vectors of channels of several rows or, depending on the
// options, of one pixel.
class RowWriter {
 public:
  RowWriter(StepWriter* steps, int width)
      : steps_(steps),
        k_(steps->NewKernel()),
        out_(k_.shape(k_.operation().output())),
        width_(width),
        vector_((k_.sums_integers() ? "int" : "float") + Decimal(width)) {
    if (!steps->options().ranges && out_[3] % width == 0) k_.AssumeAligned();
    k_.UseCommonEpilogue();
  }

  KernelBuilder& kernel() { return k_; }
  const std::string& vector() const { return vector_; }
  int width() const { return width_; }
  const std::string& channels() const { return channels_; }

  // Declares `c`, the first channel of the vector.
  void DeclareChannel() {
    channels_ = k_.Int(out_[3]);
    k_.Line("const int c = min((int)get_global_id(0) * " + Decimal(width_) + ", " + channels_ +
            " - " + Decimal(width_) + ");");
  }

  // Opens the loop over rows, with batch element `b` and row `y`.
  void OpenRow() {
    if (!steps_->options().ranges) {
      const std::string height = k_.Int(out_[1]);
      k_.Line("const int row = get_global_id(2), b = row / " + height + ", y = row % " + height +
              ";");
      return;
    }
    const std::string each = k_.Int(RowsOfItem()), rows = k_.Int(int64_t{out_[0]} * out_[1]);
    const std::string height = k_.Int(out_[1]);
    k_.Line("const int end = min(" + rows + ", (int)(get_global_id(1) + 1) * " + each + ");");
    k_.Open("for (int row = get_global_id(1) * " + each + "; row < end; ++row)");
    k_.Line("const int b = row / " + height + ", y = row % " + height + ";");
  }

  // Opens the loop over the pixels of a row, with column `x`.
  void OpenPixel() {
    columns_ = k_.Int(out_[2]);
    if (!steps_->options().ranges) return k_.Line("const int x = get_global_id(1);");
    k_.Open("for (int x = 0; x < " + columns_ + "; ++x)");
  }

  // Stores the pixel's result, closes the loops and adds the step.
  void Store(const std::string& result) {
    k_.Line("const int at = (row * " + columns_ + " + x) * " + channels_ + " + c;");
    k_.StoreResult(result, "at", width_, "c");
    const size_t rows = static_cast<size_t>(int64_t{out_[0]} * out_[1]);
    if (!steps_->options().ranges) {
      const size_t columns = static_cast<size_t>(out_[2]);
      return steps_->AddItems(k_, {static_cast<size_t>(Vectors()), columns, rows});
    }
    k_.Close();
    k_.Close();
    const size_t each = static_cast<size_t>(RowsOfItem());
    const auto ranges = static_cast<size_t>(CeilDiv(rows, each));
    steps_->AddItems(k_, {static_cast<size_t>(Vectors()), ranges, 1});
  }

 private:
  int64_t Vectors() const { return CeilDiv(out_[3], width_); }
  // Returns the number of rows per work-item. Limits the number of items to about four times
  // PlanOptions::items, or to one per vector of channels if that is more, because starting an item
  // takes as long as computing several pixels.
  int64_t RowsOfItem() const {
    const int64_t rows = int64_t{out_[0]} * out_[1];
    const int64_t wanted = std::max<int64_t>(4 * steps_->options().items / Vectors(), 1);
    return CeilDiv(rows, wanted);
  }

  StepWriter* const steps_;
  KernelBuilder k_;
  const Shape& out_;
  const int width_;
  const std::string vector_;
  std::string channels_, columns_;
};

bool IsEmpty(const KernelBuilder& k) {
  return compiler::ElementCount(k.shape(k.operation().output())) == 0;
}

// ---- Depthwise convolution ----------------------------------------------------------------------

// Maximum number of taps with a statement each; larger windows are computed by a loop.
constexpr int kMaxUnrolledTaps = 25;

bool IsUnrolled(const Window& window) { return window.height * window.width <= kMaxUnrolledTaps; }

// Text of the numbers of a window and its image, which are arguments of the kernel.
class WindowNumbers {
 protected:
  WindowNumbers(KernelBuilder* k, const Window& window, const Shape& image)
      : height_(k->Int(image[1])),
        width_(k->Int(image[2])),
        stride_y_(k->Int(window.stride_y)),
        stride_x_(k->Int(window.stride_x)),
        dilation_y_(k->Int(window.dilation_y)),
        dilation_x_(k->Int(window.dilation_x)),
        top_(k->Int(window.top)),
        left_(k->Int(window.left)) {}

  const std::string height_, width_, stride_y_, stride_x_, dilation_y_, dilation_x_, top_, left_;
};

// A window with one statement per tap. Row wy of the window starts at tap<wy>; the distance, in
// elements, is tap<wy>_step between columns of the image and tap<wy>_next between columns of the
// window.
class Taps : WindowNumbers {
 public:
  Taps(RowWriter* writer, const Window& window, const Shape& image)
      : WindowNumbers(&writer->kernel(), window, image),
        writer_(*writer),
        k_(writer->kernel()),
        window_(window) {}

  void LoadFilter(const Buffer& filter) {
    for (int tap = 0; tap < window_.height * window_.width; ++tap) {
      k_.Line(
          "const " + writer_.vector() + " filter" + Decimal(tap) + " = " +
          LoadVector(filter, Decimal(tap) + " * " + writer_.channels() + " + c", writer_.width()) +
          ";");
    }
  }

  // Declares the rows of the image that a window covers; rows outside of the image point to zeros.
  void DeclareRows(const Buffer& in, const std::string& zeros) {
    in_ = in;
    for (int wy = 0; wy < window_.height; ++wy) {
      const std::string row = "tap" + Decimal(wy), iy = "i" + row;
      k_.Line("const int " + iy + " = y * " + stride_y_ + " - " + top_ + " + " + Decimal(wy) +
              " * " + dilation_y_ + ";");
      k_.Line("const bool h" + row + " = (uint)" + iy + " < (uint)" + height_ + ";");
      k_.Line(ConstPointer(in.type) + " " + row + " = h" + row + " ? " + in.name + " + (b * " +
              height_ + " + " + iy + ") * " + width_ + " * " + writer_.channels() +
              " + c : " + zeros + ";");
      k_.Line("const int " + row + "_step = h" + row + " ? " + writer_.channels() + " : 0;");
      k_.Line("const int " + row + "_next = " + row + "_step * " + dilation_x_ + ";");
    }
  }

  void Sum() {
    const std::string last = Decimal(window_.width - 1);
    k_.Line("const int ix = x * " + stride_x_ + " - " + left_ + ";");
    for (int wy = 0; wy < window_.height; ++wy) {
      const std::string row = "tap" + Decimal(wy);
      k_.Line(ConstPointer(in_.type) + " from" + Decimal(wy) + " = " + row + " + ix * " + row +
              "_step;");
    }
    k_.Line(writer_.vector() + " sum = bias;");
    k_.Open("if (ix >= 0 && ix + " + last + " * " + dilation_x_ + " < " + width_ + ")");
    ForEachTap([&](const std::string& product, const std::string&) { k_.Line(product); });
    k_.Close();
    k_.Open("else");
    ForEachTap([&](const std::string& product, const std::string& column) {
      k_.Line("if ((uint)(" + column + ") < (uint)" + width_ + ") " + product);
    });
    k_.Close();
  }

  // Sums the taps in a loop.
  void SumInLoop(const Buffer& in, const Buffer& filter) {
    const std::string rows = k_.Int(window_.height), columns = k_.Int(window_.width);
    k_.Line(writer_.vector() + " sum = bias;");
    k_.Open("for (int wy = 0; wy < " + rows + "; ++wy)");
    k_.Line("const int iy = y * " + stride_y_ + " - " + top_ + " + wy * " + dilation_y_ + ";");
    k_.Line("if ((uint)iy >= (uint)" + height_ + ") continue;");
    k_.Open("for (int wx = 0; wx < " + columns + "; ++wx)");
    k_.Line("const int ix = x * " + stride_x_ + " - " + left_ + " + wx * " + dilation_x_ + ";");
    k_.Line("if ((uint)ix >= (uint)" + width_ + ") continue;");
    const std::string pixel = "((b * " + height_ + " + iy) * " + width_ + " + ix)";
    k_.Line("sum = fma(" +
            LoadVector(in, pixel + " * " + writer_.channels() + " + c", writer_.width()) + ", " +
            LoadVector(filter, "(wy * " + columns + " + wx) * " + writer_.channels() + " + c",
                       writer_.width()) +
            ", sum);");
    k_.Close();
    k_.Close();
  }

 private:
  template <typename Function>
  void ForEachTap(const Function& function) {
    for (int wy = 0; wy < window_.height; ++wy) {
      for (int wx = 0; wx < window_.width; ++wx) {
        const std::string column = wx == 0 ? "ix" : "ix + " + Decimal(wx) + " * " + dilation_x_;
        const std::string pixel =
            LoadVector({"from" + Decimal(wy), in_.type, false, in_.aligned},
                       Decimal(wx) + " * tap" + Decimal(wy) + "_next", writer_.width());
        function("sum = fma(" + pixel + ", filter" + Decimal(wy * window_.width + wx) + ", sum);",
                 column);
      }
    }
  }

  RowWriter& writer_;
  KernelBuilder& k_;
  const Window& window_;
  Buffer in_;  // the image that the windows cover
};

// ---- Depthwise convolution of integers ----------------------------------------------------------

// Windows of integers. A column of the window, up to four rows high, is a vector of quads: lane i
// has the pixels of channel c + i. A higher window has several quads per column.
class QuadColumns : WindowNumbers {
 public:
  QuadColumns(RowWriter* writer, const Window& window, const Shape& image)
      : WindowNumbers(&writer->kernel(), window, image),
        writer_(*writer),
        k_(writer->kernel()),
        window_(window) {}

  // Declares the bias, the filter, and the values of padding: `zeros` in memory, and `outside`.
  void DeclareFilter(const Packing& packing, int32_t flip) {
    const std::string packed = k_.Packed(packing).name;
    k_.Line("global const int* panel = " + packed + " + get_global_id(0) * " +
            k_.Int(packing.panel_elements()) + ";");
    k_.Line("const " + writer_.vector() + " bias = " + OfPanel(0) + ";");
    for (int wx = 0; wx < window_.width; ++wx) {
      for (int q = 0; q < Quads(); ++q) {
        k_.Line("const " + writer_.vector() + " filter" + Name(wx, q) + " = " +
                OfPanel(1 + wx * Quads() + q) + ";");
      }
    }
    k_.Line("global const uchar* zeros = (global const uchar*)(" + packed + " + " +
            k_.Int(packing.padding_position()) + ");");
    flip_ = k_.Int(flip);
    const auto outside = static_cast<uint32_t>(packing.padding) * 0x01010101u;
    k_.Line("const " + writer_.vector() +
            " outside = " + k_.Int(static_cast<int32_t>(outside) ^ flip) + ";");
  }

  // Declares the rows of the image that windows cover; rows outside of the image are padding.
  void DeclareRows(const Buffer& in) {
    for (int wy = 0; wy < window_.height; ++wy) {
      const std::string n = Decimal(wy);
      k_.Line("const int iy" + n + " = y * " + stride_y_ + " - " + top_ + " + " + n + " * " +
              dilation_y_ + ";");
      k_.Line("const bool has" + n + " = (uint)iy" + n + " < (uint)" + height_ + ";");
      k_.Line("global const uchar* row" + n + " = has" + n + " ? (global const uchar*)" + in.name +
              " + (b * " + height_ + " + iy" + n + ") * " + width_ + " * " + writer_.channels() +
              " + c : zeros;");
      k_.Line("const int step" + n + " = has" + n + " ? " + writer_.channels() + " : 0;");
    }
  }

  // Loads the columns that the first window shares with the next one, if a loop computes
  // neighbouring pixels.
  void LoadShared(bool has_loop) {
    shared_ =
        has_loop && window_.dilation_x == 1 ? std::max(window_.width - window_.stride_x, 0) : 0;
    for (int wx = 0; wx < shared_; ++wx) Load(wx, "-" + left_ + " + " + Decimal(wx), "");
  }

  // Declares `sum`, and moves the columns that the next window shares.
  void Sum() {
    k_.Line("const int ix = x * " + stride_x_ + " - " + left_ + ";");
    for (int wx = shared_; wx < window_.width; ++wx) {
      Load(wx, "ix + " + Decimal(wx) + " * " + dilation_x_, "const ");
    }
    k_.Line(writer_.vector() + " sum = bias;");
    for (int wx = 0; wx < window_.width; ++wx) {
      for (int q = 0; q < Quads(); ++q) {
        k_.Line("ADD_DOT" + Decimal(writer_.width()) + "(sum, column" + Name(wx, q) + ", filter" +
                Name(wx, q) + ");");
      }
    }
    for (int wx = 0; wx < shared_; ++wx) {
      for (int q = 0; q < Quads(); ++q) {
        k_.Line("column" + Name(wx, q) + " = column" + Name(wx + window_.stride_x, q) + ";");
      }
    }
  }

 private:
  int Quads() const { return static_cast<int>(CeilDiv(window_.height, kQuad)); }
  static std::string Name(int wx, int q) { return Decimal(wx) + "_" + Decimal(q); }
  std::string OfPanel(int row) const {
    return LoadVector({"panel", kTfLiteInt32}, Decimal(row * writer_.width()), writer_.width());
  }

  // Declares the quads of a column of the image.
  void Load(int wx, const std::string& column, const std::string& qualifier) {
    const std::string at = "at" + Decimal(wx), width = Decimal(writer_.width());
    k_.Line("const int " + at + " = " + column + ";");
    for (int q = 0; q < Quads(); ++q) {
      std::string quads;
      const int end = std::min<int>(window_.height, (q + 1) * kQuad);
      for (int wy = q * static_cast<int>(kQuad); wy < end; ++wy) {
        const std::string n = Decimal(wy);
        const std::string pixels =
            LoadVector({"row" + n, kTfLiteUInt8}, at + " * step" + n, writer_.width());
        quads += (quads.empty() ? "" : " | ") + ("convert_uint" + width + "(" + pixels + ")") +
                 (wy % kQuad == 0 ? "" : " << " + Decimal(8 * (wy % kQuad)));
      }
      k_.Line(qualifier + writer_.vector() + " column" + Name(wx, q) + " = (uint)" + at +
              " < (uint)" + width_ + " ? as_int" + width + "(" + quads + ") ^ " + flip_ +
              " : outside;");
    }
  }

  RowWriter& writer_;
  KernelBuilder& k_;
  const Window& window_;
  int shared_ = 0;  // columns that a window shares with the next one
  std::string flip_;
};

bool EmitQuadColumns(const compiler::DepthwiseConv2d& kind, StepWriter* steps) {
  constexpr int kMaxExtent = 8;
  const KernelBuilder info = steps->NewKernel();
  const compiler::Operation& operation = info.operation();
  const Shape& image = info.shape(operation.inputs[0]);
  const Window& window = kind.window;
  const int channels = image[3], width = WidthFor(steps->options(), channels);
  const auto is_constant = [&](ValueId id) {
    return id == compiler::kNoValue || info.value(id).constant();
  };
  if (width == 0 || kind.multiplier != 1 || IsEmpty(info) || !info.StoresVectors() ||
      window.height > kMaxExtent || window.width > kMaxExtent ||
      !is_constant(operation.inputs[1]) || !is_constant(info.bias())) {
    return false;
  }
  Packing packing{.filter = operation.inputs[1],
                  .bias = info.bias(),
                  .depth = int64_t{window.height} * window.width,
                  .columns = channels,
                  .depth_stride = int64_t{window.width} * channels,
                  .column_stride = 1,
                  .panel = width,
                  .run = window.height,
                  .run_stride = channels,
                  .padding_bytes = width,
                  .overlaps = true};
  const int32_t flip = SetImage(info.value(operation.inputs[0]).type, kind.zero_point,
                                MultipliedType(steps->options()), &packing);
  RowWriter writer(steps, width);
  const Buffer in = writer.kernel().Input(0);
  writer.DeclareChannel();
  QuadColumns columns(&writer, window, image);
  columns.DeclareFilter(packing, flip);
  writer.OpenRow();
  columns.DeclareRows(in);
  columns.LoadShared(steps->options().ranges);
  writer.OpenPixel();
  columns.Sum();
  writer.Store("sum");
  return true;
}

}  // namespace

bool EmitRows(const compiler::DepthwiseConv2d& kind, StepWriter* steps) {
  const KernelBuilder info = steps->NewKernel();
  if (info.sums_integers()) return EmitQuadColumns(kind, steps);
  const Shape& image = info.shape(info.operation().inputs[0]);
  const auto is_float = [&](size_t input) {
    return LoadsAsFloat(info.value(info.operation().inputs[input]).type);
  };
  const int width = WidthFor(steps->options(), image[3]);
  if (width == 0 || kind.multiplier != 1 || IsEmpty(info) || !info.StoresVectors() ||
      !is_float(0) || !is_float(1)) {
    return false;
  }
  RowWriter writer(steps, width);
  KernelBuilder& k = writer.kernel();
  const ValueId image_id = k.operation().inputs[0], filter_id = k.operation().inputs[1];
  const bool texels = steps->ReadsTexels(image_id) && steps->ReadsTexels(filter_id);
  const Buffer in = texels ? k.Texels(image_id) : k.Input(0);
  const Buffer filter = texels ? k.Texels(filter_id) : k.Input(1);
  writer.DeclareChannel();
  const std::string bias =
      k.has_input(2) ? LoadVector(k.Input(2), "c", width) : "(" + writer.vector() + ")(0.0f)";
  k.Line("const " + writer.vector() + " bias = " + bias + ";");
  Taps taps(&writer, kind.window, image);
  if (IsUnrolled(kind.window) && !texels) {
    taps.LoadFilter(filter);
    writer.OpenRow();
    taps.DeclareRows(in, k.Zeros(width, in.type));
    writer.OpenPixel();
    taps.Sum();
  } else {
    writer.OpenRow();
    writer.OpenPixel();
    taps.SumInLoop(in, filter);
  }
  writer.Store("sum");
  return true;
}

// ---- Pooling ------------------------------------------------------------------------------------

namespace {

// Declares `<axis>0` and `<axis>1`, the range of the image that a window covers along an axis.
void DeclareRange(KernelBuilder* k, const std::string& axis, int size, int stride, int before,
                  const std::string& extent) {
  const std::string first = axis + "s";
  k->Line("const int " + first + " = " + axis + " * " + k->Int(stride) + " - " + k->Int(before) +
          ";");
  k->Line("const int " + axis + "0 = max(" + first + ", 0), " + axis + "1 = min(" + first + " + " +
          k->Int(size) + ", " + extent + ");");
}

}  // namespace

bool EmitRows(const compiler::Pool2d& kind, StepWriter* steps) {
  const KernelBuilder info = steps->NewKernel();
  const Shape& image = info.shape(info.operation().inputs[0]);
  const Window& window = kind.window;
  const int width = WidthFor(steps->options(), image[3]);
  if (width == 0 || IsEmpty(info) || !info.StoresVectors() || window.dilation_y != 1 ||
      window.dilation_x != 1) {
    return false;
  }
  RowWriter writer(steps, width);
  KernelBuilder& k = writer.kernel();
  const ValueId source = k.operation().inputs[0];
  const Buffer in = steps->ReadsTexels(source) ? k.Texels(source) : k.Input(0);
  const bool largest = kind.kind == compiler::PoolKind::kMax;
  const bool squares = kind.kind == compiler::PoolKind::kL2;
  writer.DeclareChannel();
  const std::string height = k.Int(image[1]), across = k.Int(image[2]);
  writer.OpenRow();
  DeclareRange(&k, "y", window.height, window.stride_y, window.top, height);
  writer.OpenPixel();
  DeclareRange(&k, "x", window.width, window.stride_x, window.left, across);
  k.Line(writer.vector() + " sum = (" + writer.vector() + ")(" + (largest ? "-INFINITY" : "0.0f") +
         ");");
  k.Open("for (int iy = y0; iy < y1; ++iy)");
  k.Open("for (int ix = x0; ix < x1; ++ix)");
  k.Line("const " + writer.vector() + " value = " +
         LoadVector(
             in,
             "((b * " + height + " + iy) * " + across + " + ix) * " + writer.channels() + " + c",
             width) +
         ";");
  k.Line(largest   ? "sum = sum < value ? value : sum;"
         : squares ? "sum = fma(value, value, sum);"
                   : "sum += value;");
  k.Close();
  k.Close();
  const std::string mean = "sum / (float)max((y1 - y0) * (x1 - x0), 1)";
  writer.Store(largest ? "sum" : squares ? "sqrt(" + mean + ")" : mean);
  return true;
}

}  // namespace deputy::gpu_cl
