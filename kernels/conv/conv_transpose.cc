// SPDX-License-Identifier: Apache-2.0
//
// TRANSPOSE_CONV for all forms of weights_form.h, NHWC. The fast path multiplies every input pixel
// by all weights (a matrix product that uses the weights in the model's layout) and then sums, for
// every output, the products that contribute to it. If only one product contributes, float results
// are written directly to the output. int16 uses the plain code.
//
// The output's size is an input of the operator and may be known only at run time. Products outside
// of it are dropped; an output without products is the bias.
#include "kernels/conv/conv_transpose.h"

#include <cstring>

#include "kernels/common/families.h"
#include "kernels/common/shape_input.h"
#include "kernels/cpu/cpu.h"
#include "kernels/linalg/dot.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

bool FillTransposeConv(const OpOptions& options, TfLiteTransposeConvParams* params) {
  params->padding = options.Padding(0);
  params->stride_width = options.Int(1);
  params->stride_height = options.Int(2);
  params->activation = options.Activation(3);
  params->quantized_bias_type = options.Type(4);
  return true;
}

// ---- Prepare ----------------------------------------------------------------------------------

TfLiteStatus CheckExtents(TfLiteContext* context, const TfLiteTensor* tensor, int first_axis) {
  DEPUTY_TRY(CheckRank(context, tensor, 4));
  for (int axis = first_axis; axis < 4; ++axis) {
    if (Dim(tensor, axis) < 1 || Dim(tensor, axis) > (1 << 30)) {
      return TensorError(context, tensor, "expected dimension %d to be from 1 to 2^30, found %d",
                         axis, Dim(tensor, axis));
    }
  }
  return kTfLiteOk;
}

// Computes the padding along one axis: that of the convolution from the output to the input, whose
// transpose is computed here. Fails if that convolution's output size is not the input's size.
TfLiteStatus ComputeAxis(TfLiteContext* context, TfLitePadding padding, const char* what,
                         TransposeShape::Axis* axis) {
  if (padding != kTfLitePaddingSame && padding != kTfLitePaddingValid) {
    return KernelError(context, "padding: expected SAME or VALID, found %d",
                       static_cast<int>(padding));
  }
  const int64_t windows =
      padding == kTfLitePaddingSame
          ? (int64_t{axis->output} + axis->stride - 1) / axis->stride
          : (int64_t{axis->output} + axis->stride - axis->filter) / axis->stride;
  if (windows != axis->input) {
    return KernelError(context, "%s: an output of %d requires an input of %lld, found %d", what,
                       axis->output, static_cast<long long>(windows), axis->input);
  }
  const int64_t total = (windows - 1) * axis->stride + axis->filter - axis->output;
  axis->before = static_cast<int>(std::max<int64_t>(total, 0) / 2);
  return kTfLiteOk;
}

}  // namespace

namespace {

// Returns the number of multiples of `stride` from 0 to `position`, at most `max_count`. `position`
// fits in 32 bits.
int PositionsUpTo(int64_t position, int stride, int max_count) {
  if (position < 0) return 0;
  const uint32_t before = static_cast<uint32_t>(position) / static_cast<uint32_t>(stride);
  return static_cast<int>(std::min<int64_t>(int64_t{before} + 1, max_count));
}

}  // namespace

int TransposeShape::Axis::First(int o) const {
  // The result is the number of input positions whose last tap is before output position o.
  return PositionsUpTo(int64_t{o} + before - filter, stride, input);
}

int TransposeShape::Axis::Last(int o) const {
  return PositionsUpTo(int64_t{o} + before, stride, input);
}

TfLiteStatus TransposeConv::Prepare(TfLiteContext* context, const Tensors& tensors,
                                    const TfLiteTransposeConvParams& params) {
  const auto [input, weights, bias, output] = tensors;
  DEPUTY_TRY(FindWeightsForm(context, input, weights, output, 0, &form_));
  DEPUTY_TRY(CheckExtents(context, input, 1));
  DEPUTY_TRY(CheckExtents(context, weights, 0));
  DEPUTY_TRY(CheckDim(context, weights, 3, Dim(input, 3)));
  shape_.batches = Dim(input, 0);
  shape_.input_channels = Dim(input, 3);
  shape_.output_channels = Dim(weights, 0);
  shape_.y = {Dim(input, 1), 0, Dim(weights, 1), params.stride_height, 0};
  shape_.x = {Dim(input, 2), 0, Dim(weights, 2), params.stride_width, 0};
  if (shape_.y.stride < 1 || shape_.x.stride < 1) {
    return KernelError(context, "strides: expected 1 or more, found %d and %d", shape_.y.stride,
                       shape_.x.stride);
  }
  if (shape_.taps() > INT32_MAX / shape_.output_channels) {
    return TensorError(context, weights, "expected fewer than 2^31 weights per input channel");
  }
  DEPUTY_TRY(CheckBias(context, form_, bias, params.quantized_bias_type, shape_.output_channels));
  wide_sums_ = HasWideSums(bias, params.quantized_bias_type);
  range_ = ActivationRange(params.activation);
  matrix_.Reset();
  tap_weights_.Invalidate();
  if (form_ == WeightsForm::kFloat) return kTfLiteOk;
  if (form_ == WeightsForm::kHybrid) return weight_scales_.Prepare(context, weights, 0);
  DEPUTY_TRY(scaling_.Prepare(context, input, weights, 0, output, params.activation,
                              ExactRounding::kTwice));
  if (form_ == WeightsForm::kInt16) {
    DEPUTY_TRY(CheckNoZeroPoint(context, input));
    return CheckNoZeroPoint(context, output);
  }
  if (form_ == WeightsForm::kInt8) return kTfLiteOk;
  if (scaling_.per_channel()) {
    return TensorError(context, weights, "expected one scale for uint8, found several");
  }
  DEPUTY_TRY(CheckQuantized(context, weights));
  return bias == nullptr ? kTfLiteOk : CheckBiasScale(context, input, weights, bias, output);
}

TfLiteStatus TransposeConv::SetOutput(TfLiteContext* context, const Tensors& tensors,
                                      const TfLiteTransposeConvParams& params,
                                      std::span<const int> dims) {
  if (dims.size() != 4) {
    return TensorError(context, tensors.output, "expected 4 dimensions, found %zu", dims.size());
  }
  if (dims[0] != shape_.batches || dims[3] != shape_.output_channels) {
    return TensorError(context, tensors.output,
                       "expected %d batches of %d channels, found %d of %d", shape_.batches,
                       shape_.output_channels, dims[0], dims[3]);
  }
  for (int extent : dims) {
    if (extent < 0 || extent > (1 << 30)) {
      return TensorError(context, tensors.output, "expected dimensions from 0 to 2^30, found %d",
                         extent);
    }
  }
  if (int64_t{dims[0]} * dims[1] > INT32_MAX) {
    return TensorError(context, tensors.output, "expected fewer than 2^31 rows in all");
  }
  shape_.y.output = dims[1];
  shape_.x.output = dims[2];
  DEPUTY_TRY(ComputeAxis(context, params.padding, "height", &shape_.y));
  DEPUTY_TRY(ComputeAxis(context, params.padding, "width", &shape_.x));
  DEPUTY_TRY(ResizeTo(context, tensors.output, dims));
  static constexpr const TransposeImplementation* kImplementations[] = {
      &kSeparateFloat, &kGemmFloat, &kGemmInt8, &kReference};
  choice_.Make(context, CpuOf(context), kImplementations, *this, tensors);
  return kTfLiteOk;
}

TfLiteStatus TransposeConv::QuantizeInput(TfLiteContext* context, const Tensors& tensors,
                                          HybridRows* out) const {
  const int64_t values = int64_t{shape_.y.input} * shape_.x.input * shape_.input_channels;
  return out->Quantize(context, tensors.input, Data<float>(tensors.input), shape_.batches, values,
                       true);
}

// ---- Reference --------------------------------------------------------------------------------

// Computes the sums of every output with plain loops and calls finish(sum, position in the output,
// channel, batch).
template <typename In, typename Weight, typename Zero, typename Finish>
void TransposeConv::Plain(TfLiteContext* context, const In* input, const Zero* zeros,
                          int zero_stride, const Weight* weights, Zero weights_zero,
                          const Finish& finish) const {
  // The references are separate variables because clang 14 cannot capture structured bindings.
  const TransposeShape::Axis &y = shape_.y, &x = shape_.x;
  const int batches = shape_.batches, depth = shape_.input_channels;
  const int channels = shape_.output_channels;
  ParallelFor(context, batches * y.output, [&](int row, int) {
    const int oy = row % y.output, b = row / y.output;
    const In* image = input + int64_t{b} * y.input * x.input * depth;
    int64_t out = int64_t{row} * x.output * channels;
    const int first_y = y.First(oy), last_y = y.Last(oy);
    for (int ox = 0; ox < x.output; ++ox) {
      const int first_x = x.First(ox), last_x = x.Last(ox);
      for (int o = 0; o < channels; ++o, ++out) {
        DotSum<In, Weight> sum = 0;
        for (int iy = first_y; iy < last_y; ++iy) {
          for (int ix = first_x; ix < last_x; ++ix) {
            const int64_t tap = (int64_t{o} * y.filter + y.Tap(oy, iy)) * x.filter + x.Tap(ox, ix);
            Accumulate(&sum,
                       Dot(image + (int64_t{iy} * x.input + ix) * depth, weights + tap * depth,
                           depth, zeros[b * zero_stride], weights_zero));
          }
        }
        finish(sum, out, o, b);
      }
    }
  });
}

template <typename T>
void TransposeConv::PlainQuantized(TfLiteContext* context, const Tensors& tensors) const {
  const Arithmetic arithmetic = ArithmeticOf(context);
  const int32_t zero = scaling_.input_zero_point();
  const int32_t weights_zero =
      form_ == WeightsForm::kUInt8 ? tensors.weights->params.zero_point : 0;
  T* out = Data<T>(tensors.output);
  Plain(context, Data<T>(tensors.input), &zero, 0, Data<T>(tensors.weights), weights_zero,
        [&](int32_t sum, int64_t at, int channel, int) {
          if (tensors.bias != nullptr) Accumulate(&sum, Data<int32_t>(tensors.bias)[channel]);
          out[at] = static_cast<T>(scaling_.Requantize(arithmetic, sum, channel));
        });
}

TfLiteStatus TransposeConv::PlainHybrid(TfLiteContext* context, const Tensors& tensors) const {
  HybridRows hybrid;
  DEPUTY_TRY(QuantizeInput(context, tensors, &hybrid));
  float* out = Data<float>(tensors.output);
  Plain(context, hybrid.values(), hybrid.zero_points(), 1, Data<int8_t>(tensors.weights), 0,
        [&](int32_t sum, int64_t at, int channel, int batch) {
          const float scale = weight_scales_[channel] * hybrid.scales()[batch];
          const float bias = tensors.bias == nullptr ? 0.0f : Data<float>(tensors.bias)[channel];
          out[at] = Clamp(static_cast<float>(sum) * scale + bias, range_);
        });
  return kTfLiteOk;
}

TfLiteStatus TransposeConv::RunPlain(TfLiteContext* context, const Tensors& tensors) const {
  const auto [input, weights, bias, output] = tensors;
  const auto float_bias = [bias = tensors.bias](int channel) {
    return bias == nullptr ? 0.0f : Data<float>(bias)[channel];
  };
  if (form_ == WeightsForm::kFloat) {
    const float zero = 0.0f;
    float* out = Data<float>(output);
    Plain(context, Data<float>(input), &zero, 0, Data<float>(weights), 0.0f,
          [&](float sum, int64_t at, int channel, int) {
            out[at] = Clamp(sum + float_bias(channel), range_);
          });
  } else if (form_ == WeightsForm::kHybrid) {
    return PlainHybrid(context, tensors);
  } else if (form_ == WeightsForm::kInt16) {
    const int32_t zero = 0;
    const TfLiteTensor* int_bias = tensors.bias;
    int16_t* out = Data<int16_t>(output);
    Plain(context, Data<int16_t>(input), &zero, 0, Data<int8_t>(weights), 0,
          [&](int64_t sum, int64_t at, int channel, int) {
            out[at] =
                scaling_.RequantizeInt16(AddInt16Bias(sum, int_bias, channel), wide_sums_, channel);
          });
  } else if (form_ == WeightsForm::kInt8) {
    PlainQuantized<int8_t>(context, tensors);
  } else {
    PlainQuantized<uint8_t>(context, tensors);
  }
  return kTfLiteOk;
}

// ---- Fast path --------------------------------------------------------------------------------

MatrixShape TransposeConv::ProductShape() const {
  return {int64_t{shape_.y.input} * shape_.x.input, 1,
          static_cast<int>(shape_.taps() * shape_.output_channels), shape_.input_channels,
          static_cast<int>(shape_.taps())};
}

// Returns the bytes of the product matrix, or 0 if the size overflows.
size_t TransposeConv::ProductBytes() const {
  const MatrixShape matrix = ProductShape();
  size_t bytes = 0;
  return MultiplySizes(static_cast<size_t>(matrix.rows),
                       static_cast<size_t>(matrix.columns) * sizeof(int32_t), &bytes)
             ? bytes
             : 0;
}

MatrixLayer::IntWeights TransposeConv::WeightsOf(const Tensors& tensors) const {
  const bool is_unsigned = form_ == WeightsForm::kUInt8;
  return {tensors.weights, is_unsigned, is_unsigned ? tensors.weights->params.zero_point - 128 : 0};
}

// Sums the products of each output of one batch element and calls finish(sums of a range of
// channels, first channel, number of channels, output position of the first).
template <typename Sum, typename Finish>
void TransposeConv::GatherBatch(TfLiteContext* context, int batch, const Sum* products,
                                const Finish& finish) const {
  const auto& y = shape_.y;
  const auto& x = shape_.x;
  const int channels = shape_.output_channels;
  const int64_t row_values = shape_.taps() * channels;
  ParallelFor(context, y.output, [&](int oy, int) {
    constexpr int kChunk = 64;
    int64_t out = (int64_t{batch} * y.output + oy) * x.output * channels;
    const int first_y = y.First(oy), last_y = y.Last(oy);
    for (int ox = 0; ox < x.output; ++ox, out += channels) {
      const int first_x = x.First(ox), last_x = x.Last(ox);
      for (int first = 0; first < channels; first += kChunk) {
        const int count = std::min(kChunk, channels - first);
        Sum sums[kChunk];
        std::fill_n(sums, count, Sum{0});
        for (int iy = first_y; iy < last_y; ++iy) {
          for (int ix = first_x; ix < last_x; ++ix) {
            const int64_t tap = int64_t{y.Tap(oy, iy)} * x.filter + x.Tap(ox, ix);
            const Sum* from =
                products + (int64_t{iy} * x.input + ix) * row_values + tap * channels + first;
            for (int o = 0; o < count; ++o) Accumulate(&sums[o], from[o]);
          }
        }
        finish(sums, first, count, out + first);
      }
    }
  });
}

namespace {

size_t PaddedBiasBytes(int channels) {
  return (static_cast<size_t>(channels) + kMaxTileColumns) * sizeof(float);
}

}  // namespace

bool TransposeConv::IsSeparate() const {
  const auto separate = [](const TransposeShape::Axis& axis) {
    return axis.filter == axis.stride && axis.before == 0 &&
           axis.output == int64_t{axis.input} * axis.stride;
  };
  return separate(shape_.y) && separate(shape_.x);
}

bool TransposeConv::PackTaps(TfLiteContext* context, const CpuKernels& cpu,
                             const Tensors& tensors) {
  const int depth = shape_.input_channels;
  return tap_weights_.Pack(context, cpu, Data<float>(tensors.weights), IsConstant(tensors.weights),
                           {.groups = static_cast<int>(shape_.taps()),
                            .columns = shape_.output_channels,
                            .depth = depth,
                            .group_stride = depth,
                            .column_stride = shape_.taps() * depth,
                            .depth_stride = 1});
}

// Computes float outputs to which a single product contributes, with one matrix product per input
// row and tap; the rows of its result are `stride` output pixels apart.
TfLiteStatus TransposeConv::SeparateFloat(TfLiteContext* context, const CpuKernels& cpu,
                                          const Tensors& tensors) {
  const TransposeShape::Axis &y = shape_.y, &x = shape_.x;
  const int depth = shape_.input_channels, channels = shape_.output_channels;
  const GemmF32Kernels& gemm = cpu.gemm_f32;
  const bool few_columns = HasFewColumns({.columns = channels});
  Scratch padded;
  if ((!few_columns && !PackTaps(context, cpu, tensors)) ||
      !padded.Acquire(context, PaddedBiasBytes(channels))) {
    return TensorError(context, tensors.weights, "out of memory for its packed copy");
  }
  float* const bias = padded.as<float>();
  std::fill_n(bias, PaddedBiasBytes(channels) / sizeof(float), 0.0f);
  if (tensors.bias != nullptr) std::copy_n(Data<float>(tensors.bias), channels, bias);
  ParallelFor(context, shape_.batches * y.input, [&](int row, int) {
    const float* in = Data<float>(tensors.input) + int64_t{row} * x.input * depth;
    for (int tap = 0; tap < shape_.taps(); ++tap) {
      const int64_t oy = int64_t{row} * y.stride + tap / x.filter;
      float* const out = Data<float>(tensors.output) + (oy * x.output + tap % x.filter) * channels;
      const size_t out_stride = static_cast<size_t>(x.stride) * static_cast<size_t>(channels);
      if (few_columns) {
        gemm.dots({.rows = x.input,
                   .columns = channels,
                   .parts = 1,
                   .depth = depth,
                   .a = &in,
                   .a_stride = static_cast<size_t>(depth),
                   .b = Data<float>(tensors.weights) + int64_t{tap} * depth,
                   .b_stride = static_cast<size_t>(shape_.taps() * depth),
                   .bias = bias,
                   .low = range_.low,
                   .high = range_.high,
                   .out = out,
                   .out_stride = out_stride});
        continue;
      }
      for (int column = 0; column < channels; column += gemm.columns) {
        for (int ix = 0; ix < x.input; ix += gemm.rows) {
          const float* const a = in + int64_t{ix} * depth;
          gemm.tile({.rows = std::min(gemm.rows, x.input - ix),
                     .columns = std::min(gemm.columns, channels - column),
                     .parts = 1,
                     .depth = depth,
                     .a = &a,
                     .a_stride = static_cast<size_t>(depth),
                     .b = tap_weights_.Panel(tap, column / gemm.columns),
                     .bias = bias + column,
                     .low = range_.low,
                     .high = range_.high,
                     .out = out + static_cast<size_t>(ix) * out_stride + column,
                     .out_stride = out_stride});
        }
      }
    }
  });
  return kTfLiteOk;
}

TfLiteStatus TransposeConv::FastFloat(TfLiteContext* context, const CpuKernels& cpu,
                                      const Tensors& tensors) {
  const MatrixShape matrix = ProductShape();
  Scratch products;
  if (ProductBytes() == 0 || !products.Acquire(context, ProductBytes())) {
    return TensorError(context, tensors.weights, "out of memory for its products");
  }
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  float* out = Data<float>(tensors.output);
  const float* bias = tensors.bias == nullptr ? nullptr : Data<float>(tensors.bias);
  for (int b = 0; b < shape_.batches; ++b) {
    MatrixLayer::Rows<float> rows;
    rows.direct = Data<float>(tensors.input) + b * matrix.rows * matrix.depth;
    rows.stride = static_cast<size_t>(matrix.depth);
    DEPUTY_TRY(matrix_.RunFloat(context, cpu, matrix, rows, tensors.weights, nullptr,
                                {-kInfinity, kInfinity}, products.as<float>()));
    GatherBatch(
        context, b, products.as<float>(), [&](const float* sums, int first, int count, int64_t at) {
          for (int o = 0; o < count; ++o) {
            out[at + o] = Clamp(bias == nullptr ? sums[o] : sums[o] + bias[first + o], range_);
          }
        });
  }
  return kTfLiteOk;
}

namespace {

struct PixelRows {
  const void* input;
  int64_t depth;
  bool is_unsigned;
  const CpuKernels* cpu;
};

void FillPixel(const void* source, int64_t row, int, uint8_t* out) {
  const PixelRows& rows = *static_cast<const PixelRows*>(source);
  const auto depth = static_cast<size_t>(rows.depth);
  if (rows.is_unsigned) {
    rows.cpu->gemm_s8.left_from_u8(static_cast<const uint8_t*>(rows.input) + row * rows.depth,
                                   depth, out);
  } else {
    rows.cpu->gemm_s8.left_from_s8(static_cast<const int8_t*>(rows.input) + row * rows.depth, depth,
                                   out);
  }
}

// Returns a function for RunSums that stores tiles in a matrix of sums with `columns` columns.
auto StoreSums(int32_t* products, int64_t columns) {
  return
      [=](int, int64_t row, int count, int column, int width, const int32_t* sums, size_t stride) {
        for (int r = 0; r < count; ++r, sums += stride) {
          std::copy_n(sums, width, products + (row + r) * columns + column);
        }
      };
}

}  // namespace

// Computes int8, uint8 and hybrid nodes with one matrix product per batch element.
TfLiteStatus TransposeConv::FastSums(TfLiteContext* context, const CpuKernels& cpu,
                                     const Tensors& tensors) {
  const MatrixShape matrix = ProductShape();
  Scratch products;
  if (ProductBytes() == 0 || !products.Acquire(context, ProductBytes())) {
    return TensorError(context, tensors.weights, "out of memory for its products");
  }
  const bool hybrid = form_ == WeightsForm::kHybrid, is_unsigned = form_ == WeightsForm::kUInt8;
  const int32_t offset = is_unsigned ? 128 : 0;
  HybridRows rows_of_input;
  if (hybrid) DEPUTY_TRY(QuantizeInput(context, tensors, &rows_of_input));
  const char* input = hybrid ? reinterpret_cast<const char*>(rows_of_input.values())
                             : static_cast<const char*>(tensors.input->data.data);
  const auto requantize = hybrid ? nullptr : scaling_.TileFunctionOf(cpu, ArithmeticOf(context));
  for (int b = 0; b < shape_.batches; ++b) {
    const PixelRows source = {input + b * matrix.rows * matrix.depth, matrix.depth, is_unsigned,
                              &cpu};
    MatrixLayer::Rows<uint8_t> rows;
    rows.fill = &FillPixel;
    rows.source = &source;
    const int32_t zero =
        hybrid ? rows_of_input.zero_points()[b] : scaling_.input_zero_point() - offset;
    DEPUTY_TRY(matrix_.RunSums(context, cpu, matrix, rows, zero, WeightsOf(tensors), nullptr,
                               StoreSums(products.as<int32_t>(), matrix.columns)));
    GatherBatch(context, b, products.as<int32_t>(),
                [&](int32_t* sums, int first, int count, int64_t at) {
                  if (hybrid) {
                    for (int o = 0; o < count; ++o) {
                      const int channel = first + o;
                      const float bias =
                          tensors.bias == nullptr ? 0.0f : Data<float>(tensors.bias)[channel];
                      const float scale = weight_scales_[channel] * rows_of_input.scales()[b];
                      Data<float>(tensors.output)[at + o] =
                          Clamp(static_cast<float>(sums[o]) * scale + bias, range_);
                    }
                    return;
                  }
                  if (tensors.bias != nullptr) {
                    const int32_t* const bias = Data<int32_t>(tensors.bias) + first;
                    for (int o = 0; o < count; ++o) Accumulate(&sums[o], bias[o]);
                  }
                  RequantizeTile tile = scaling_.Tile(first);
                  tile.rows = 1;
                  tile.columns = count;
                  tile.sums = sums;
                  tile.sums_stride = 0;
                  tile.out = Data<int8_t>(tensors.output) + at;
                  tile.out_stride = 0;
                  requantize(tile);
                  if (is_unsigned) FlipSigns(tile);
                });
  }
  return kTfLiteOk;
}

// ---- Implementations --------------------------------------------------------------------------

constexpr TransposeConv::TransposeImplementation TransposeConv::kSeparateFloat = {
    .name = "separate_float",
    .accepts =
        [](const TransposeConv& conv, const Tensors&, const CpuKernels& cpu) {
          return conv.form_ == WeightsForm::kFloat && cpu.gemm_f32.tile != nullptr &&
                 conv.IsSeparate();
        },
    .pack =
        [](TfLiteContext* context, TransposeConv* conv, const Tensors& tensors,
           const CpuKernels& cpu) {
          const bool packed = HasFewColumns({.columns = conv->shape_.output_channels}) ||
                              !IsReadableConstant(tensors.weights) ||
                              conv->PackTaps(context, cpu, tensors);
          return packed
                     ? kTfLiteOk
                     : TensorError(context, tensors.weights, "out of memory for its packed copy");
        },
    .scratch = [](const TransposeConv& conv, const Tensors&, const CpuKernels&,
                  int) { return PaddedBiasBytes(conv.shape_.output_channels); },
    .run = [](TfLiteContext* context, TransposeConv* conv, const Tensors& tensors,
              const CpuKernels& cpu) { return conv->SeparateFloat(context, cpu, tensors); }};

constexpr TransposeConv::TransposeImplementation TransposeConv::kGemmFloat = {
    .name = "gemm_float",
    .accepts =
        [](const TransposeConv& conv, const Tensors&, const CpuKernels& cpu) {
          return conv.form_ == WeightsForm::kFloat && cpu.gemm_f32.tile != nullptr;
        },
    .pack =
        [](TfLiteContext* context, TransposeConv* conv, const Tensors& tensors,
           const CpuKernels& cpu) {
          return conv->matrix_.PackFloat(context, cpu, conv->ProductShape(), tensors.weights);
        },
    .scratch =
        [](const TransposeConv& conv, const Tensors&, const CpuKernels& cpu, int workers) {
          return conv.ProductBytes() + kTensorAlignment +
                 MatrixLayer::FloatScratch(cpu, conv.ProductShape(), false, workers);
        },
    .run = [](TfLiteContext* context, TransposeConv* conv, const Tensors& tensors,
              const CpuKernels& cpu) { return conv->FastFloat(context, cpu, tensors); }};

constexpr TransposeConv::TransposeImplementation TransposeConv::kGemmInt8 = {
    .name = "gemm_int8",
    .accepts =
        [](const TransposeConv& conv, const Tensors&, const CpuKernels& cpu) {
          return conv.form_ != WeightsForm::kFloat && conv.form_ != WeightsForm::kInt16 &&
                 cpu.gemm_s8.tile != nullptr;
        },
    .pack =
        [](TfLiteContext* context, TransposeConv* conv, const Tensors& tensors,
           const CpuKernels& cpu) {
          return conv->matrix_.PackInt8(context, cpu, conv->ProductShape(),
                                        conv->WeightsOf(tensors));
        },
    .scratch =
        [](const TransposeConv& conv, const Tensors&, const CpuKernels& cpu, int workers) {
          return conv.ProductBytes() + kTensorAlignment +
                 MatrixLayer::Int8Scratch(cpu, conv.ProductShape(), workers);
        },
    .run = [](TfLiteContext* context, TransposeConv* conv, const Tensors& tensors,
              const CpuKernels& cpu) { return conv->FastSums(context, cpu, tensors); }};

constexpr TransposeConv::TransposeImplementation TransposeConv::kReference = {
    .name = "reference",
    .accepts = &AcceptsAll<TransposeConv, Tensors>,
    .pack = nullptr,
    .scratch = nullptr,
    .run = [](TfLiteContext* context, TransposeConv* conv, const Tensors& tensors,
              const CpuKernels&) { return conv->RunPlain(context, tensors); }};

TfLiteStatus TransposeConv::Run(TfLiteContext* context, const Tensors& tensors) {
  return ElementCount(tensors.output) == 0 ? kTfLiteOk : choice_.Run(context, this, tensors);
}

// ---- The operator -----------------------------------------------------------------------------

namespace {

TransposeConv::Tensors TensorsOf(TfLiteContext* context, const TfLiteNode* node) {
  return {Input(context, node, 2), Input(context, node, 1), Input(context, node, 3),
          Output(context, node, 0)};
}

TfLiteStatus SetOutputFrom(TfLiteContext* context, TfLiteNode* node, const TfLiteTensor* shape) {
  int dims[4];
  std::memcpy(dims, shape->data.data, sizeof dims);
  return DataOf<TransposeConv>(node).SetOutput(context, TensorsOf(context, node),
                                               ParamsOf<TfLiteTransposeConvParams>(node), dims);
}

TfLiteStatus PackTransposeConv(TfLiteContext* context, TfLiteNode* node) {
  return DataOf<TransposeConv>(node).Pack(context, TensorsOf(context, node));
}

TfLiteStatus EvalTransposeConv(TfLiteContext* context, TfLiteNode* node) {
  if (IsDynamic(Output(context, node, 0))) {
    DEPUTY_TRY(SetOutputFrom(context, node, Input(context, node, 0)));
  }
  return DataOf<TransposeConv>(node).Run(context, TensorsOf(context, node));
}

TfLiteStatus PrepareTransposeConv(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 3, 4, 1));
  const TfLiteTensor* shape = Input(context, node, 0);
  DEPUTY_TRY(CheckType(context, shape, kInt32Bit));
  DEPUTY_TRY(CheckRank(context, shape, 1));
  DEPUTY_TRY(CheckDim(context, shape, 0, 4));
  DEPUTY_TRY(DataOf<TransposeConv>(node).Prepare(context, TensorsOf(context, node),
                                                 ParamsOf<TfLiteTransposeConvParams>(node)));
  if (IsKnown(shape)) {
    RequestPacking(context, node, &Guarded<&PackTransposeConv>);
    return SetOutputFrom(context, node, shape);
  }
  MakeDynamic(Output(context, node, 0));
  return kTfLiteOk;
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    WithOptions<49, TfLiteTransposeConvParams, &FillTransposeConv>(KernelRow<TransposeConv>(
        "TRANSPOSE_CONV", kTfLiteBuiltinTransposeConv, 5, kWeightsFormInputs,
        &Guarded<&PrepareTransposeConv>, &Guarded<&EvalTransposeConv>)),
};

}  // namespace

constexpr std::span<const OpDef> kConvTransposeOps = kTable;

}  // namespace deputy
