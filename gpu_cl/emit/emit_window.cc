// SPDX-License-Identifier: Apache-2.0
//
// Operations on images [batch, height, width, channels].
#include "gpu_cl/emit/emit.h"

namespace deputy::gpu_cl {

using compiler::Shape;
using compiler::Window;

namespace {

// Assigns each element of the output to one work-item: channel c, column x and row y of batch
// element b; i is its index.
void DeclareOutputIndices(KernelBuilder* k) {
  const Shape& out = k->shape(k->operation().output());
  k->Line("const int c = g0, x = g1;");
  k->Line("const int channels = s0, width = s1;");
  const std::string height = k->Int(out[1]);
  k->Line("const int y = g2 % " + height + ", b = g2 / " + height + ";");
  k->Line("const int i = ((b * " + height + " + y) * width + x) * channels + c;");
}

std::array<size_t, 3> OutputExtents(const KernelBuilder& k) {
  const Shape& out = k.shape(k.operation().output());
  return {static_cast<size_t>(out[3]), static_cast<size_t>(out[2]),
          static_cast<size_t>(out[0]) * static_cast<size_t>(out[1])};
}

// Opens loops over the part of the image that the window covers: wy, wx in the window, iy, ix in
// the image; `pixel` is the position of the first channel.
void OpenWindow(KernelBuilder* k, const Window& window, const Shape& image) {
  const auto axis = [&](const char* coordinate, int size, int stride, int dilation, int before,
                        int extent) {
    const std::string p = coordinate;
    k->Open("for (int w" + p + " = 0; w" + p + " < " + k->Int(size) + "; ++w" + p + ")");
    k->Line("const int i" + p + " = " + p + " * " + k->Int(stride) + " - " + k->Int(before) +
            " + w" + p + " * " + k->Int(dilation) + ";");
    k->Line("if (i" + p + " < 0 || i" + p + " >= " + k->Int(extent) + ") continue;");
  };
  const std::string height = k->Int(image[1]), width = k->Int(image[2]), depth = k->Int(image[3]);
  axis("y", window.height, window.stride_y, window.dilation_y, window.top, image[1]);
  axis("x", window.width, window.stride_x, window.dilation_x, window.left, image[2]);
  k->Line("const int pixel = ((b * " + height + " + iy) * " + width + " + ix) * " + depth + ";");
}

void CloseWindow(KernelBuilder* k) {
  k->Close();
  k->Close();
}

void StartSum(KernelBuilder* k) {
  k->Line(std::string(k->sums_integers() ? "int" : "float") +
          " sum = " + (k->has_input(2) ? Load(k->Input(2), "c") : std::string("0")) + ";");
}

}  // namespace

void Emit(const compiler::Conv2d& kind, StepWriter* steps) {
  if (EmitFewRows(kind, steps) || EmitMatrixTiles(kind, steps) || EmitGroupTiles(kind, steps) ||
      EmitTiles(kind, steps))
    return;
  KernelBuilder k = steps->NewKernel();
  const Shape &image = k.shape(k.operation().inputs[0]), &filter = k.shape(k.operation().inputs[1]);
  const Buffer in = k.Input(0), weights = k.Input(1);
  DeclareOutputIndices(&k);
  StartSum(&k);
  const std::string depth = k.Int(filter[3]), group = k.Int(filter[0] / kind.groups);
  const std::string rows = k.Int(filter[1]), columns = k.Int(filter[2]);
  const std::string zero_point = k.ZeroPoint();
  k.Line("const int first = c / " + group + " * " + depth + ";");
  OpenWindow(&k, kind.window, image);
  k.Line("const int at = ((c * " + rows + " + wy) * " + columns + " + wx) * " + depth + ";");
  k.Open("for (int d = 0; d < " + depth + "; ++d)");
  k.AddProduct(Load(in, "pixel + first + d"), Load(weights, "at + d"), zero_point);
  k.Close();
  CloseWindow(&k);
  k.StoreResult("sum", "i");
  steps->Add(&k, OutputExtents(k));
}

void Emit(const compiler::DepthwiseConv2d& kind, StepWriter* steps) {
  if (EmitRows(kind, steps)) return;
  KernelBuilder k = steps->NewKernel();
  const Shape& image = k.shape(k.operation().inputs[0]);
  const Buffer in = k.Input(0), weights = k.Input(1);
  DeclareOutputIndices(&k);
  StartSum(&k);
  const std::string multiplier = k.Int(kind.multiplier), columns = k.Int(kind.window.width);
  const std::string zero_point = k.ZeroPoint();
  OpenWindow(&k, kind.window, image);
  k.AddProduct(Load(in, "pixel + c / " + multiplier),
               Load(weights, "(wy * " + columns + " + wx) * channels + c"), zero_point);
  CloseWindow(&k);
  k.StoreResult("sum", "i");
  steps->Add(&k, OutputExtents(k));
}

// Emits a transposed convolution: an output is the sum over the pixels of the image whose windows
// cover it.
void Emit(const compiler::TransposedConv2d& kind, StepWriter* steps) {
  KernelBuilder k = steps->NewKernel();
  const Shape& image = k.shape(k.operation().inputs[0]);
  const Window& window = kind.window;
  const Buffer in = k.Input(0), weights = k.Input(1);
  DeclareOutputIndices(&k);
  StartSum(&k);
  const std::string height = k.Int(image[1]), across = k.Int(image[2]), depth = k.Int(image[3]);
  const std::string rows = k.Int(window.height), columns = k.Int(window.width);
  const auto axis = [&](const char* coordinate, const std::string& size, int stride, int before,
                        const std::string& extent) {
    const std::string p = coordinate, step = k.Int(stride);
    k.Open("for (int w" + p + " = 0; w" + p + " < " + size + "; ++w" + p + ")");
    k.Line("const int s" + p + " = " + p + " + " + k.Int(before) + " - w" + p + ";");
    k.Line("if (s" + p + " < 0 || s" + p + " % " + step + " != 0) continue;");
    k.Line("const int i" + p + " = s" + p + " / " + step + ";");
    k.Line("if (i" + p + " >= " + extent + ") continue;");
  };
  axis("y", rows, window.stride_y, window.top, height);
  axis("x", columns, window.stride_x, window.left, across);
  k.Line("const int pixel = ((b * " + height + " + iy) * " + across + " + ix) * " + depth + ";");
  k.Line("const int at = ((c * " + rows + " + wy) * " + columns + " + wx) * " + depth + ";");
  k.Open("for (int d = 0; d < " + depth + "; ++d)");
  k.Line("sum = fma(" + Load(in, "pixel + d") + ", " + Load(weights, "at + d") + ", sum);");
  k.Close();
  CloseWindow(&k);
  k.StoreResult("sum", "i");
  steps->Add(&k, OutputExtents(k));
}

void Emit(const compiler::Pool2d& kind, StepWriter* steps) {
  if (EmitRows(kind, steps)) return;
  KernelBuilder k = steps->NewKernel();
  const Shape& image = k.shape(k.operation().inputs[0]);
  const Buffer in = k.Input(0);
  const bool largest = kind.kind == compiler::PoolKind::kMax;
  DeclareOutputIndices(&k);
  k.Line(std::string("float sum = ") + (largest ? "-INFINITY;" : "0.0f;"));
  k.Line("int count = 0;");
  OpenWindow(&k, kind.window, image);
  k.Line("const float value = " + Load(in, "pixel + c") + ";");
  k.Line(largest                                     ? "sum = sum < value ? value : sum;"
         : kind.kind == compiler::PoolKind::kAverage ? "sum += value;"
                                                     : "sum = fma(value, value, sum);");
  k.Line("++count;");
  CloseWindow(&k);
  // In parentheses: the epilogue may divide by it.
  const std::string mean = "(sum / (float)max(count, 1))";
  k.StoreResult(largest                                     ? "sum"
                : kind.kind == compiler::PoolKind::kAverage ? mean
                                                            : "sqrt(" + mean + ")",
                "i");
  steps->Add(&k, OutputExtents(k));
}

namespace {

// Declares `name`, the coordinate in the input of a pixel of the output.
void DeclareSourceCoordinate(KernelBuilder* k, const compiler::Resize& kind, const char* name,
                             const char* coordinate, int in, int out) {
  const bool corners = kind.align_corners && out > 1;
  const float scale = corners ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                              : static_cast<float>(in) / static_cast<float>(out);
  const std::string factor = k->Float(scale), at = coordinate;
  std::string text = "(float)" + at + " * " + factor;
  if (kind.half_pixel_centers) {
    text = "((float)" + at + " + 0.5f) * " + factor + (kind.bilinear ? " - 0.5f" : "");
  }
  k->Line(std::string("const float ") + name + " = " + text + ";");
}

}  // namespace

void Emit(const compiler::Resize& kind, StepWriter* steps) {
  KernelBuilder k = steps->NewKernel();
  const Shape &from = k.shape(k.operation().inputs[0]), &to = k.shape(k.operation().output());
  const Buffer in = k.Input(0);
  DeclareOutputIndices(&k);
  const std::string rows = k.Int(from[1]), columns = k.Int(from[2]);
  DeclareSourceCoordinate(&k, kind, "fy", "y", from[1], to[1]);
  DeclareSourceCoordinate(&k, kind, "fx", "x", from[2], to[2]);
  const auto pixel = [&](const std::string& y, const std::string& x) {
    return Load(in,
                "((b * " + rows + " + " + y + ") * " + columns + " + " + x + ") * channels + c");
  };
  if (!kind.bilinear) {
    const std::string rounded = kind.align_corners ? "round" : "floor";
    k.Line("const int sy = clamp((int)" + rounded + "(fy), 0, " + rows + " - 1);");
    k.Line("const int sx = clamp((int)" + rounded + "(fx), 0, " + columns + " - 1);");
    k.StoreResult(pixel("sy", "sx"), "i");
  } else {
    k.Line("const int by = (int)floor(fy), bx = (int)floor(fx);");
    k.Line("const int y0 = clamp(by, 0, " + rows + " - 1), y1 = clamp(by + 1, 0, " + rows +
           " - 1);");
    k.Line("const int x0 = clamp(bx, 0, " + columns + " - 1), x1 = clamp(bx + 1, 0, " + columns +
           " - 1);");
    k.Line("const float ry = fy - (float)by, rx = fx - (float)bx;");
    k.Line("const float top = " + pixel("y0", "x0") + " * (1 - rx) + " + pixel("y0", "x1") +
           " * rx;");
    k.Line("const float low = " + pixel("y1", "x0") + " * (1 - rx) + " + pixel("y1", "x1") +
           " * rx;");
    k.StoreResult("(top * (1 - ry) + low * ry)", "i");
  }
  steps->Add(&k, OutputExtents(k));
}

}  // namespace deputy::gpu_cl
