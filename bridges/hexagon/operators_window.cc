// SPDX-License-Identifier: Apache-2.0
//
// Convolutions, fully connected layers and pooling.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "bridges/hexagon/operators.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/builtin_op_data.h"

namespace deputy::hexagon {
namespace {

constexpr int kMaxStride = 3;
// Minimum ratio of a channel's scale to the largest one, a limit of the DSP's kernels.
constexpr float kMinRelativeScale = 1.0f / 1024;

const TfLiteAffineQuantization& Affine(const TfLiteTensor& tensor) {
  return *static_cast<const TfLiteAffineQuantization*>(tensor.quantization.params);
}

bool IsPerChannel(const TfLiteTensor& filter) { return Affine(filter).scale->size > 1; }

uint8_t ByteOf(const TfLiteTensor& tensor, size_t at) {
  const uint8_t byte = static_cast<const uint8_t*>(tensor.data.data)[at];
  return tensor.type == kTfLiteInt8 ? static_cast<uint8_t>(byte ^ 0x80) : byte;
}

// ---- Filters and biases -------------------------------------------------------------------------

// Checks that input 1 is a constant filter of input 0's type with one scale, or one per channel,
// all within a factor of 1024.
Refusal CheckFilter(const Node& node, int channel_dimension) {
  const TfLiteTensor* filter = node.input_count() > 1 ? node.input(1) : nullptr;
  if (filter == nullptr || !IsConstant(*filter)) {
    return Refuse(kDeputyReasonNotConstant, "input 1: expected a constant filter");
  }
  if (filter->type != node.input(0)->type) {
    return RefuseType(1, node.input(0)->type, filter->type);
  }
  const auto* affine = static_cast<const TfLiteAffineQuantization*>(filter->quantization.params);
  if (filter->quantization.type != kTfLiteAffineQuantization || affine == nullptr ||
      affine->scale == nullptr || affine->zero_point == nullptr || affine->scale->size < 1) {
    return Refuse(kDeputyReasonQuantization, "input 1: expected a scale and a zero point");
  }
  if (affine->scale->size == 1) return {};
  const TfLiteFloatArray& scales = *affine->scale;
  if (channel_dimension < 0 || affine->quantized_dimension != channel_dimension ||
      filter->dims->data[channel_dimension] != scales.size) {
    return Refuse(kDeputyReasonQuantization, "input 1: expected one scale, or one per channel");
  }
  const auto [min, max] = std::minmax_element(scales.data, scales.data + scales.size);
  if (*min < *max * kMinRelativeScale) {
    return Refuse(kDeputyReasonQuantization,
                  "input 1: expected scales of channels within a factor of 1024");
  }
  return {};
}

Refusal CheckBias(const Node& node, bool is_optional) {
  const TfLiteTensor* bias = node.input_count() > 2 ? node.input(2) : nullptr;
  if (bias == nullptr && is_optional) return {};
  if (bias == nullptr || !IsConstant(*bias)) {
    return Refuse(kDeputyReasonNotConstant, "input 2: expected a constant bias");
  }
  if (bias->type == kTfLiteInt32) return {};
  return RefuseType(2, kTfLiteInt32, bias->type);
}

struct Filter {
  Quantized values;
  std::vector<float> scales;  // scales of the host's filter, one or one per channel
  NnInput relative_scales;    // set if there are several scales
};

// Adds a filter; `bytes` are in the order of the DSP.
Filter AddFilter(const TfLiteTensor& tensor, const Dims& dims, const std::vector<uint8_t>& bytes,
                 GraphBuilder* graph) {
  Filter filter;
  const TfLiteFloatArray& scales = *Affine(tensor).scale;
  filter.scales.assign(scales.data, scales.data + scales.size);
  filter.values.data = graph->AddConstant(dims, bytes.data(), bytes.size());
  Range range;
  if (IsPerChannel(tensor)) {
    const float max = *std::max_element(filter.scales.begin(), filter.scales.end());
    range = {-128 * max, 127 * max};
    std::vector<float> relative;
    for (const float scale : filter.scales) relative.push_back(scale / max);
    filter.relative_scales = graph->AddConstant({1, 1, 1, static_cast<int>(relative.size())},
                                                relative.data(), relative.size() * sizeof(float));
  } else {
    range = RangeOf(tensor);
  }
  filter.values.min = graph->AddFloat(range.min);
  filter.values.max = graph->AddFloat(range.max);
  return filter;
}

// Adds the bias as int32 with one range for all channels. With one scale the host's values are
// used. With several, the values are rescaled to a range of eight times the largest magnitude.
Quantized AddBias(const Node& node, const Filter& filter, GraphBuilder* graph) {
  const TfLiteTensor& bias = *node.input(2);
  const size_t count = bias.bytes / sizeof(int32_t);
  const float input_scale = Affine(*node.input(0)).scale->data[0];
  std::vector<int32_t> values(bias.data.i32, bias.data.i32 + count);
  constexpr double kSteps = 2147483648.0;  // 2^31
  double bound = double{input_scale} * double{filter.scales[0]} * kSteps;
  if (filter.scales.size() > 1) {
    bound = 0;
    for (size_t i = 0; i < count; ++i) {
      bound = std::max(bound, std::abs(values[i] * double{input_scale} * filter.scales[i]));
    }
    bound = bound == 0 ? 1 : static_cast<float>(bound * 8);
    for (size_t i = 0; i < count; ++i) {
      const double real = values[i] * double{input_scale} * filter.scales[i];
      values[i] = static_cast<int32_t>(std::lround(real / bound * kSteps));
    }
  }
  const NnInput data = graph->AddInts({1, 1, 1, static_cast<int>(count)}, values);
  const NnInput min = graph->AddFloat(static_cast<float>(-bound));
  const NnInput max = graph->AddFloat(static_cast<float>(bound));
  return {data, min, max};
}

// ---- Convolutions -------------------------------------------------------------------------------

struct Window {
  TfLitePadding padding;
  int stride_height, stride_width, dilation_height, dilation_width;
  TfLiteFusedActivation activation;
};

Refusal CheckWindow(const Node& node, const Window& window) {
  if (node.input(0)->dims->size != 4) {
    return Refuse(kDeputyReasonShape, "input 0: expected 4 dimensions");
  }
  if (window.padding != kTfLitePaddingSame && window.padding != kTfLitePaddingValid) {
    return Refuse(kDeputyReasonParameter, "expected padding SAME or VALID");
  }
  if (window.stride_height > kMaxStride || window.stride_width > kMaxStride) {
    return Refuse(kDeputyReasonParameter,
                  "expected strides of " + std::to_string(kMaxStride) + " at most, found " +
                      std::to_string(std::max(window.stride_height, window.stride_width)));
  }
  if (window.dilation_height != 1 || window.dilation_width != 1) {
    return Refuse(kDeputyReasonParameter, "expected no dilation");
  }
  switch (window.activation) {
    case kTfLiteActNone:
    case kTfLiteActRelu:
    case kTfLiteActRelu6:
    case kTfLiteActReluN1To1:
      return {};
    default:
      return Refuse(kDeputyReasonParameter,
                    "expected NONE, RELU, RELU6 or RELU_N1_TO_1, found another fused activation");
  }
}

Window WindowOf(const TfLiteConvParams& p) {
  return {p.padding,
          p.stride_height,
          p.stride_width,
          p.dilation_height_factor,
          p.dilation_width_factor,
          p.activation};
}

Window WindowOf(const TfLiteDepthwiseConvParams& p) {
  return {p.padding,
          p.stride_height,
          p.stride_width,
          p.dilation_height_factor,
          p.dilation_width_factor,
          p.activation};
}

Refusal CheckConv(const Node& node) {
  Refusal refusal = CheckWindow(node, WindowOf(node.params<TfLiteConvParams>()));
  if (refusal.reason == 0) refusal = CheckFilter(node, 0);
  if (refusal.reason == 0) refusal = CheckBias(node, false);
  if (refusal.reason == 0 && node.input(1)->dims->data[3] != node.input(0)->dims->data[3]) {
    refusal = Refuse(kDeputyReasonShape, "expected a filter for all channels, found groups");
  }
  return refusal;
}

Refusal CheckDepthwise(const Node& node) {
  Refusal refusal = CheckWindow(node, WindowOf(node.params<TfLiteDepthwiseConvParams>()));
  if (refusal.reason == 0) refusal = CheckFilter(node, 3);
  if (refusal.reason == 0) refusal = CheckBias(node, false);
  const int channels = node.input(0)->dims->data[3];
  if (refusal.reason == 0 && node.input(1)->dims->data[3] != channels && channels != 1) {
    refusal = Refuse(kDeputyReasonParameter,
                     "expected a depth multiplier of 1, or an input of one channel");
  }
  return refusal;
}

NnPadding PaddingOf(TfLitePadding padding) {
  return padding == kTfLitePaddingSame ? kNnPadSame : kNnPadValid;
}

// Returns the range to which the convolution clamps: an activation is applied as a range.
Range ClampedRange(const Range& output, TfLiteFusedActivation activation) {
  switch (activation) {
    case kTfLiteActRelu:
      return {0, output.max};
    case kTfLiteActRelu6:
      return {0, 6};
    case kTfLiteActReluN1To1:
      return {-1, 1};
    default:
      return output;
  }
}

void AddConvolution(const Node& node, NnOperation operation, const Window& window,
                    const Filter& filter, Translation* translation) {
  GraphBuilder& graph = translation->graph();
  const Quantized data = translation->TensorWithRange(node, 0);
  const Quantized bias = AddBias(node, filter, &graph);
  const Range output = RangeOf(node.output());
  const Range clamped = ClampedRange(output, window.activation);
  const NnInput stride = graph.AddShape({1, window.stride_height, window.stride_width, 1});
  const NnInput min = graph.AddFloat(clamped.min), max = graph.AddFloat(clamped.max);
  std::vector<NnInput> inputs = {data.data,         filter.values.data, data.min, data.max,
                                 filter.values.min, filter.values.max,  stride,   bias.data,
                                 bias.min,          bias.max,           min,      max};
  if (filter.scales.size() > 1) inputs.push_back(filter.relative_scales);
  const Dims dims = DimsOf(node.output());
  const Quantized computed =
      graph.AddQuantized(operation, PaddingOf(window.padding), std::move(inputs), dims);
  translation->SetOutput(
      node, clamped == output ? computed.data
                              : graph.AddRequantize(kNnRequantize8to8, computed, output, dims));
}

// Translates CONV_2D, and permutes its filter from [out, height, width, in] to [height, width, in,
// out].
void TranslateConv(const Node& node, Translation* translation) {
  const TfLiteTensor& tensor = *node.input(1);
  const int* dims = tensor.dims->data;
  const auto out = static_cast<size_t>(dims[0]);
  const size_t each = tensor.bytes / out;
  std::vector<uint8_t> bytes(tensor.bytes);
  for (size_t o = 0; o < out; ++o) {
    for (size_t i = 0; i < each; ++i) bytes[i * out + o] = ByteOf(tensor, o * each + i);
  }
  const Filter filter =
      AddFilter(tensor, {dims[1], dims[2], dims[3], dims[0]}, bytes, &translation->graph());
  AddConvolution(node, kNnSupernode8x8p32to8, WindowOf(node.params<TfLiteConvParams>()), filter,
                 translation);
}

// Translates DEPTHWISE_CONV_2D. The filter [1, height, width, in × multiplier] has the layout
// [height, width, in, multiplier] already. One channel with several filters becomes a convolution.
void TranslateDepthwise(const Node& node, Translation* translation) {
  const TfLiteTensor& tensor = *node.input(1);
  const int* dims = tensor.dims->data;
  const int channels = node.input(0)->dims->data[3];
  std::vector<uint8_t> bytes(tensor.bytes);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = ByteOf(tensor, i);
  const Filter filter = AddFilter(tensor, {dims[1], dims[2], channels, dims[3] / channels}, bytes,
                                  &translation->graph());
  const bool multiplies = dims[3] != channels;
  AddConvolution(node, multiplies ? kNnSupernode8x8p32to8 : kNnDepthwiseSupernode8x8p32to8,
                 WindowOf(node.params<TfLiteDepthwiseConvParams>()), filter, translation);
}

// ---- Fully connected layers ---------------------------------------------------------------------

Refusal CheckFullyConnected(const Node& node) {
  const auto& params = node.params<TfLiteFullyConnectedParams>();
  Refusal refusal = CheckFilter(node, -1);
  if (refusal.reason == 0) refusal = CheckBias(node, true);
  if (refusal.reason == 0) refusal = CheckActivation(node, params.activation);
  if (refusal.reason != 0) return refusal;
  if (params.weights_format != kTfLiteFullyConnectedWeightsFormatDefault) {
    return Refuse(kDeputyReasonParameter, "expected weights in their default order");
  }
  const TfLiteTensor& input = *node.input(0);
  const int depth = node.input(1)->dims->data[1];
  const int found = input.dims->size == 0 ? 1 : input.dims->data[input.dims->size - 1];
  if (found == depth) return {};
  return Refuse(kDeputyReasonShape, "input 0: expected rows of " + std::to_string(depth) +
                                        ", found rows of " + std::to_string(found));
}

// Translates FULLY_CONNECTED to two or three operations: product, the bias if there is one, and
// requantisation.
void TranslateFullyConnected(const Node& node, Translation* translation) {
  GraphBuilder& graph = translation->graph();
  const TfLiteTensor& tensor = *node.input(1);
  const auto out = static_cast<size_t>(tensor.dims->data[0]);
  const auto in = static_cast<size_t>(tensor.dims->data[1]);
  std::vector<uint8_t> bytes(tensor.bytes);
  for (size_t o = 0; o < out; ++o) {
    for (size_t i = 0; i < in; ++i) bytes[i * out + o] = ByteOf(tensor, o * in + i);
  }
  const Filter weights =
      AddFilter(tensor, {1, 1, static_cast<int>(in), static_cast<int>(out)}, bytes, &graph);
  const Quantized data = translation->TensorWithRange(node, 0);
  Dims dims = DimsOf(*node.input(0));
  dims[3] = static_cast<int>(out);
  Quantized computed = graph.AddQuantized(
      kNnMatMul8x8to32, kNnPadNone,
      {data.data, weights.values.data, data.min, data.max, weights.values.min, weights.values.max},
      dims, sizeof(int32_t));
  if (node.input_count() > 2 && node.input(2) != nullptr) {
    const Quantized bias = AddBias(node, weights, &graph);
    computed = graph.AddQuantized(
        kNnBiasAdd32p32to32, kNnPadNone,
        {computed.data, bias.data, computed.min, computed.max, bias.min, bias.max}, dims,
        sizeof(int32_t));
  }
  translation->SetOutput(
      node, graph.AddRequantize(kNnRequantize32to8, computed, RangeOf(node.output()), dims));
}

// ---- Pooling ------------------------------------------------------------------------------------

Refusal CheckPool(const Node& node) {
  const auto& params = node.params<TfLitePoolParams>();
  if (node.input(0)->dims->size != 4) {
    return Refuse(kDeputyReasonShape, "input 0: expected 4 dimensions");
  }
  if (params.padding != kTfLitePaddingSame && params.padding != kTfLitePaddingValid) {
    return Refuse(kDeputyReasonParameter, "expected padding SAME or VALID");
  }
  if (params.activation != kTfLiteActNone) {
    return Refuse(kDeputyReasonParameter, "expected no fused activation");
  }
  return CheckSameRange(node, 0);
}

template <NnOperation operation>
void TranslatePool(const Node& node, Translation* translation) {
  GraphBuilder& graph = translation->graph();
  const auto& params = node.params<TfLitePoolParams>();
  const Quantized from = translation->TensorWithRange(node, 0);
  const NnInput window = graph.AddShape({1, params.filter_height, params.filter_width, 1});
  const NnInput stride = graph.AddShape({1, params.stride_height, params.stride_width, 1});
  const Dims dims = DimsOf(node.output());
  const Quantized computed = graph.AddQuantized(
      operation, PaddingOf(params.padding), {from.data, from.min, from.max, window, stride}, dims);
  // The average is requantised, because the DSP chooses its range.
  translation->SetOutput(
      node, operation == kNnMaxPool8
                ? computed.data
                : graph.AddRequantize(kNnRequantize8to8, computed, RangeOf(node.output()), dims));
}

constexpr OperatorRow kRows[] = {
    {kTfLiteBuiltinConv2d, 3, true, CheckConv, TranslateConv},
    {kTfLiteBuiltinDepthwiseConv2d, 3, true, CheckDepthwise, TranslateDepthwise},
    {kTfLiteBuiltinFullyConnected, 4, true, CheckFullyConnected, TranslateFullyConnected},
    {kTfLiteBuiltinMaxPool2d, 2, true, CheckPool, TranslatePool<kNnMaxPool8>},
    {kTfLiteBuiltinAveragePool2d, 2, true, CheckPool, TranslatePool<kNnAvgPool8>},
};

}  // namespace

std::span<const OperatorRow> WindowOperators() { return kRows; }

}  // namespace deputy::hexagon
