// SPDX-License-Identifier: Apache-2.0
//
// int8 DEPTHWISE_CONV_2D with the kernels for several rows at once. Exact rounding, and values that
// these kernels do not support, use the implementation by columns.
#include <cstring>
#include <string>

#include "kernels/conv/depthwise.h"

namespace deputy {
namespace {

// Layout of the packed data: the kernel's packed filter, a flag that states whether packing
// succeeded, and the folded bias.
struct LinesLayout {
  size_t fits, bias, bytes;

  LinesLayout(const ConvShape& shape, const DepthwiseLinesS8Kernels& lines)
      : fits(AlignedBytes(lines.bytes(shape.y.filter, shape.output_channels))),
        bias(fits + kTensorAlignment),
        bytes(bias + static_cast<size_t>(shape.output_channels) * sizeof(int32_t)) {}
};

bool HasLines(const ConvData& data, const ConvTensors& tensors, const CpuKernels& cpu) {
  const ConvShape& shape = tensors.shape;
  const WindowAxis &y = shape.y, &x = shape.x;
  const DepthwiseLinesS8Kernels* const lines = cpu.depthwise_s8.lines;
  return data.form == WeightsForm::kInt8 && IsOneToOne(shape) && lines != nullptr &&
         y.filter == x.filter && y.dilation == 1 && x.dilation == 1 && y.stride == x.stride &&
         lines->accepts(y.filter, y.stride, shape.output_channels);
}

// Serialises the parameters of lines other than the filter and the table: input zero point, scale
// factors and bias.
std::string ParametersOfLines(const ConvData& data, const ConvTensors& tensors) {
  const auto channels = static_cast<size_t>(tensors.shape.output_channels);
  const int32_t zero_point = data.scaling.input_zero_point();
  std::string bytes(reinterpret_cast<const char*>(&zero_point), sizeof zero_point);
  bytes.append(reinterpret_cast<const char*>(data.scaling.Tile(0).factors),
               channels * sizeof(float));
  return bytes.append(tensors.bias->data.raw, channels * sizeof(int32_t));
}

TfLiteStatus EnsureLines(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                         const CpuKernels& cpu) {
  const ConvShape& shape = tensors.shape;
  const DepthwiseLinesS8Kernels& lines = *cpu.depthwise_s8.lines;
  const LinesLayout layout(shape, lines);
  const PackedKey key = {data, nullptr, {}};
  const PackedKey shared_key = {
      Data<int8_t>(tensors.filter), &lines, {shape.y.filter, shape.output_channels}};
  const bool fixed = IsConstant(tensors.filter) && IsConstant(tensors.bias);
  const auto fill = [&](char* out) {
    auto* const bias = reinterpret_cast<int32_t*>(out + layout.bias);
    FoldZeroPoint(*data, cpu, tensors, bias);
    const int32_t fits =
        lines.pack(Data<int8_t>(tensors.filter), shape.y.filter, shape.output_channels, bias,
                   data->scaling.Tile(0).factors, reinterpret_cast<int8_t*>(out))
            ? 1
            : 0;
    std::memcpy(out + layout.fits, &fits, sizeof fits);
  };
  const auto parameters = [&] { return ParametersOfLines(*data, tensors); };
  return data->lines.Ensure(context, key, shared_key, fixed, layout.bytes, parameters, fill)
             ? kTfLiteOk
             : TensorError(context, tensors.filter, "out of memory for its packed copy");
}

bool Fits(const ConvData& data, const CpuKernels& cpu) {
  int32_t fits;
  const LinesLayout layout(data.shape, *cpu.depthwise_s8.lines);
  std::memcpy(&fits, data.lines.data() + layout.fits, sizeof fits);
  return fits != 0;
}

// Computes output rows [first, last) of one batch, few enough for one call.
void RunRows(const ConvData& data, const CpuKernels& cpu, const ConvTensors& tensors, int64_t first,
             int64_t last) {
  const ConvShape& shape = tensors.shape;
  const WindowAxis &y = shape.y, &x = shape.x;
  const int8_t* inputs[DepthwiseLinesS8::kMaxLines * DepthwiseLinesS8::kMaxSize];
  const int8_t** next = inputs;
  for (int64_t row = first; row < last; ++row) {
    const int64_t start = y.Start(static_cast<int>(row % y.output));
    for (int64_t iy = start; iy < start + y.filter; ++iy) {
      const bool inside = iy >= 0 && iy < y.input;
      *next++ = inside ? shape.Pixel(Data<int8_t>(tensors.input), row / y.output, iy, 0) : nullptr;
    }
  }
  const RequantizeTile tile = data.scaling.Tile(0);
  cpu.depthwise_s8.lines->run(
      {.lines = static_cast<int>(last - first),
       .columns = x.output,
       .channels = shape.output_channels,
       .size = y.filter,
       .stride = y.stride,
       .before = x.before,
       .width = x.input,
       .inputs = inputs,
       .input_zero_point = data.scaling.input_zero_point(),
       .packed = reinterpret_cast<const int8_t*>(data.lines.data()),
       .zero_point = tile.zero_point,
       .low = tile.low,
       .high = tile.high,
       .out = Data<int8_t>(tensors.output) + first * DepthwiseRowValues(shape)});
}

TfLiteStatus PackLines(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                       const CpuKernels& cpu) {
  if (!IsReadableConstant(tensors.filter) || !IsReadableConstant(tensors.bias)) return kTfLiteOk;
  if (ArithmeticOf(context) == Arithmetic::kDefault) {
    DEPUTY_TRY(EnsureLines(context, data, tensors, cpu));
    if (Fits(*data, cpu)) return kTfLiteOk;
  }
  return kDepthwiseInt8.pack(context, data, tensors, cpu);
}

TfLiteStatus RunLines(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                      const CpuKernels& cpu) {
  const bool exact = ArithmeticOf(context) != Arithmetic::kDefault;
  if (!exact) DEPUTY_TRY(EnsureLines(context, data, tensors, cpu));
  if (exact || !Fits(*data, cpu)) return kDepthwiseInt8.run(context, data, tensors, cpu);
  constexpr int64_t kLines = DepthwiseLinesS8::kMaxLines;
  const int64_t height = tensors.shape.y.output;
  ForEachOutputRun(context, tensors.shape, kLines, [&](int64_t row, int64_t end, int) {
    while (row < end) {
      const int64_t last = std::min({end, row + kLines, (row / height + 1) * height});
      RunRows(*data, cpu, tensors, row, last);
      row = last;
    }
  });
  return kTfLiteOk;
}

size_t LinesScratch(const ConvData& data, const ConvTensors& tensors, const CpuKernels& cpu,
                    int workers) {
  return kDepthwiseInt8.scratch(data, tensors, cpu, workers);
}

}  // namespace

constexpr ConvImplementation kDepthwiseLinesInt8 = {.name = "lines_int8",
                                                    .accepts = &HasLines,
                                                    .pack = &PackLines,
                                                    .scratch = &LinesScratch,
                                                    .run = &RunLines};

}  // namespace deputy
