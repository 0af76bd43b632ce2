// SPDX-License-Identifier: Apache-2.0
//
// Convolutions, pooling and fully connected layers.
#include <algorithm>

#include "bridges/xnnpack/operators.h"
#include "deputy/builtin_ops.h"
#include "deputy/deputy_plugin.h"

namespace deputy::xnnpack {
namespace {

// Parameters of a window; index 0 is the height, 1 the width.
struct Window {
  uint32_t kernel[2], stride[2], dilation[2];
  uint32_t pads[4];  // top, bottom, left, right
};

// Reads a window from the attributes and checks it against the shapes.
bool ReadWindow(const Operation& operation, const char* stride_name, const char* pad_name,
                bool has_dilation, Window* window) {
  std::vector<uint32_t> kernel, stride, dilation = {1, 1}, pads;
  if (has_dilation) dilation.clear();
  if (!operation.ReadNumbers("kernel_size", 2, 1, &kernel) ||
      !operation.ReadNumbers(stride_name, 2, 1, &stride) ||
      (has_dilation && !operation.ReadNumbers("dilation", 2, 1, &dilation)) ||
      !operation.ReadNumbers(pad_name, 4, 0, &pads)) {
    return false;
  }
  std::copy(pads.begin(), pads.end(), window->pads);
  for (size_t i = 0; i < 2; ++i) {
    window->kernel[i] = kernel[i];
    window->stride[i] = stride[i];
    window->dilation[i] = dilation[i];
    const uint64_t reach = uint64_t{kernel[i] - 1} * dilation[i] + 1;
    const uint64_t padded = operation.in[0][1 + i] + pads[2 * i] + pads[2 * i + 1];
    const uint64_t expected = padded < reach ? 0 : (padded - reach) / stride[i] + 1;
    if (pads[2 * i] >= reach || pads[2 * i + 1] >= reach) {
      return operation.definition->Refuse(kDeputyReasonParameter, "a window covers padding only");
    }
    if (operation.out[0][1 + i] == expected) continue;
    return operation.definition->Refuse(kDeputyReasonShape, "%s: expected %llu, found %zu",
                                        i == 0 ? "output height" : "output width",
                                        static_cast<unsigned long long>(expected),
                                        operation.out[0][1 + i]);
  }
  // Maximum number of window elements, and of pointers: XNNPACK stores a pointer per window
  // element, for one row of the output or for the whole output.
  constexpr uint64_t kMaxTaps = 1 << 16, kMaxPointers = 1 << 28;
  const uint64_t taps = uint64_t{kernel[0]} * kernel[1];
  if (taps <= kMaxTaps && taps * (operation.out[0][1] * operation.out[0][2]) <= kMaxPointers) {
    return true;
  }
  return operation.definition->Refuse(kDeputyReasonShape, "a window of %llu elements is too large",
                                      static_cast<unsigned long long>(taps));
}

bool ExpectImages(const Operation& operation) {
  if (!operation.ExpectRank(operation.in[0], 4) || !operation.ExpectRank(operation.out[0], 4)) {
    return false;
  }
  return operation.in[0][0] == operation.out[0][0] ||
         operation.definition->Refuse(kDeputyReasonShape,
                                      "expected the same batch size in input and output");
}

// XNNPACK's value ids of an operation with a filter.
struct FilterValues {
  uint32_t in = 0, filter = 0, bias = XNN_INVALID_VALUE_ID, out = 0;
};

bool ReadFilter(const Operation& operation, const MSTensor& image, const MSTensor& filter,
                const MSTensor* bias, size_t channels, Role role, FilterValues* values) {
  Definition* definition = operation.definition;
  if (image.DataType() != operation.outputs[0].DataType() ||
      filter.DataType() != image.DataType()) {
    return definition->Refuse(kDeputyReasonType, "expected data, filter and output of one type");
  }
  if (bias != nullptr) {
    const auto type = operation.is_float(image) ? mindspore::DataType::kNumberTypeFloat32
                                                : mindspore::DataType::kNumberTypeInt32;
    Shape shape;
    if (!ShapeOf(definition, *bias, &shape)) return false;
    if (bias->DataType() != type || CountOf(shape) != channels) {
      return definition->Refuse(kDeputyReasonType, "bias: expected %zu numbers of %s", channels,
                                operation.is_float(image) ? "FLOAT32" : "INT32");
    }
    if (!definition->ValueOf(*bias, Role::kBias, &values->bias)) return false;
  }
  return definition->ValueOf(image, Role::kData, &values->in) &&
         definition->ValueOf(filter, role, &values->filter) &&
         definition->ValueOf(operation.outputs[0], Role::kData, &values->out);
}

const MSTensor* BiasOf(const Operation& operation, size_t index) {
  return operation.inputs.size() > index ? &operation.inputs[index] : nullptr;
}

}  // namespace

bool DefineConv(const Operation& operation) {
  Window w = {};
  FilterValues v;
  float low = 0, high = 0;
  if (!operation.ExpectInputs(2, 3) || !operation.ExpectOneType(2) || !ExpectImages(operation) ||
      !operation.ExpectRank(operation.in[1], 4) || !operation.Bounds(&low, &high) ||
      !ReadWindow(operation, "stride", "pad_list", true, &w)) {
    return false;
  }
  const Shape& filter = operation.in[1];
  const size_t channels = operation.in[0][3], out_channels = filter[0];
  const size_t groups = channels / filter[3];
  if (filter[1] != w.kernel[0] || filter[2] != w.kernel[1] || groups * filter[3] != channels ||
      out_channels % groups != 0 || operation.out[0][3] != out_channels) {
    return operation.definition->Refuse(
        kDeputyReasonShape,
        "a filter with %zu channels does not match %zu input and %zu output channels", filter[3],
        channels, operation.out[0][3]);
  }
  return ReadFilter(operation, operation.inputs[0], operation.inputs[1], BiasOf(operation, 2),
                    out_channels, Role::kFilter, &v) &&
         operation.definition->Accept(xnn_define_convolution_2d(
             operation.definition->subgraph(), w.pads[0], w.pads[3], w.pads[1], w.pads[2],
             w.kernel[0], w.kernel[1], w.stride[0], w.stride[1], w.dilation[0], w.dilation[1],
             static_cast<uint32_t>(groups), filter[3], out_channels / groups, low, high, v.in,
             v.filter, v.bias, v.out, 0));
}

bool DefineDepthwise(const Operation& operation) {
  Window w = {};
  FilterValues v;
  float low = 0, high = 0;
  if (!operation.ExpectInputs(2, 3) || !operation.ExpectOneType(2) || !ExpectImages(operation) ||
      !operation.ExpectRank(operation.in[1], 4) || !operation.Bounds(&low, &high) ||
      !ReadWindow(operation, "stride", "pad_list", true, &w)) {
    return false;
  }
  const Shape& filter = operation.in[1];
  const size_t channels = operation.in[0][3];
  if (filter[0] != 1 || filter[1] != w.kernel[0] || filter[2] != w.kernel[1] ||
      filter[3] % channels != 0 || operation.out[0][3] != filter[3]) {
    return operation.definition->Refuse(
        kDeputyReasonShape,
        "a filter with %zu channels does not match %zu input and %zu output channels", filter[3],
        channels, operation.out[0][3]);
  }
  return ReadFilter(operation, operation.inputs[0], operation.inputs[1], BiasOf(operation, 2),
                    filter[3], Role::kDepthFilter, &v) &&
         operation.definition->Accept(xnn_define_depthwise_convolution_2d(
             operation.definition->subgraph(), w.pads[0], w.pads[3], w.pads[1], w.pads[2],
             w.kernel[0], w.kernel[1], w.stride[0], w.stride[1], w.dilation[0], w.dilation[1],
             static_cast<uint32_t>(filter[3] / channels), channels, low, high, v.in, v.filter,
             v.bias, v.out, 0));
}

namespace {

// Padding of a transposed convolution along one axis.
struct TransposePadding {
  uint32_t before = 0, after = 0, adjustment = 0;
};

// Computes TensorFlow Lite's padding, which is that of the convolution from the output to the
// input.
bool ComputePadding(const Operation& operation, int64_t in, int64_t out, int64_t kernel,
                    int64_t stride, bool same, TransposePadding* padding) {
  const int64_t expected_in = same ? (out + stride - 1) / stride : (out - kernel + stride) / stride;
  const int64_t full_extent = (in - 1) * stride + kernel;
  const int64_t surplus = full_extent - out;
  if (expected_in != in || surplus < -(stride - 1) || (!same && surplus > 0)) {
    return operation.definition->Refuse(
        kDeputyReasonShape, "an output extent of %lld does not match an input extent of %lld",
        static_cast<long long>(out), static_cast<long long>(in));
  }
  if (surplus >= 0) {
    padding->before = static_cast<uint32_t>(surplus / 2);
    padding->after = static_cast<uint32_t>(surplus - surplus / 2);
  } else {
    padding->adjustment = static_cast<uint32_t>(-surplus);
  }
  return true;
}

}  // namespace

// Defines TRANSPOSE_CONV. Inputs: shape of the output, filter, image, optional bias.
bool DefineTransposeConv(const Operation& operation) {
  Definition* definition = operation.definition;
  if (!operation.ExpectInputs(3, 4) || !operation.ExpectConstant(0) ||
      !operation.ExpectRank(operation.in[1], 4) || !operation.ExpectRank(operation.in[2], 4) ||
      !operation.ExpectRank(operation.out[0], 4)) {
    return false;
  }
  const Shape &filter = operation.in[1], &image = operation.in[2], &out = operation.out[0];
  constexpr int64_t kSame = 1, kValid = 2;
  const int64_t mode = operation.attributes->GetInt("pad_mode");
  std::vector<uint32_t> stride;
  float low = 0, high = 0;
  if (!operation.Bounds(&low, &high) || !operation.ReadNumbers("stride", 2, 1, &stride)) {
    return false;
  }
  if ((mode != kSame && mode != kValid) || image[0] != out[0] || filter[3] != image[3] ||
      filter[0] != out[3] || filter[1] * filter[2] > size_t{1} << 16) {
    return definition->Refuse(
        kDeputyReasonShape,
        "a filter with %zu channels does not match %zu input and %zu output channels", filter[3],
        image[3], out[3]);
  }
  TransposePadding rows, columns;
  FilterValues v;
  const auto place = [&](size_t i, TransposePadding* padding) {
    return ComputePadding(operation, static_cast<int64_t>(image[i]), static_cast<int64_t>(out[i]),
                          static_cast<int64_t>(filter[i]), stride[i - 1], mode == kSame, padding);
  };
  return place(1, &rows) && place(2, &columns) &&
         ReadFilter(operation, operation.inputs[2], operation.inputs[1], BiasOf(operation, 3),
                    filter[0], Role::kFilter, &v) &&
         definition->Accept(xnn_define_deconvolution_2d(
             definition->subgraph(), rows.before, columns.after, rows.after, columns.before,
             rows.adjustment, columns.adjustment, static_cast<uint32_t>(filter[1]),
             static_cast<uint32_t>(filter[2]), stride[0], stride[1], 1, 1, 1, filter[3], filter[0],
             low, high, v.in, v.filter, v.bias, v.out, 0));
}

bool DefineFullyConnected(const Operation& operation) {
  FilterValues v;
  float low = 0, high = 0;
  if (!operation.ExpectInputs(2, 3) || !operation.ExpectOneType(2) ||
      !operation.ExpectRank(operation.in[1], 2) || !operation.Bounds(&low, &high)) {
    return false;
  }
  if (operation.inputs[1].QuantParams().size() > 1) {
    return operation.definition->Refuse(kDeputyReasonQuantization,
                                        "weights: expected one scale, found %zu",
                                        operation.inputs[1].QuantParams().size());
  }
  const size_t inner = operation.in[1][1], outer = operation.in[1][0];
  const size_t count = CountOf(operation.in[0]);
  if (operation.in[0].empty() || operation.out[0].empty() || count % inner != 0 ||
      operation.out[0].back() != outer || CountOf(operation.out[0]) != count / inner * outer) {
    return operation.definition->Refuse(
        kDeputyReasonShape, "weights [%zu, %zu] do not match %zu input and %zu output elements",
        outer, inner, count, CountOf(operation.out[0]));
  }
  return ReadFilter(operation, operation.inputs[0], operation.inputs[1], BiasOf(operation, 2),
                    outer, Role::kFilter, &v) &&
         operation.definition->Accept(
             xnn_define_fully_connected(operation.definition->subgraph(), low, high, v.in, v.filter,
                                        v.bias, v.out, XNN_FLAG_TENSORFLOW_RESHAPE_2D));
}

bool DefinePool(const Operation& operation) {
  const bool is_max = operation.argument == kTfLiteBuiltinMaxPool2d;
  Window w = {};
  float low = 0, high = 0;
  uint32_t in = 0, out = 0;
  if (!operation.ExpectInputs(1, 1) || !operation.ExpectOneType(1) ||
      (!is_max && !operation.ExpectFloat(1)) || !operation.ExpectSameQuantization() ||
      !ExpectImages(operation) || !operation.Bounds(&low, &high) ||
      !ReadWindow(operation, "strides", "pad", false, &w)) {
    return false;
  }
  if (operation.in[0][3] != operation.out[0][3] || w.kernel[0] * uint64_t{w.kernel[1]} == 1) {
    return operation.definition->Refuse(kDeputyReasonShape,
                                        "expected a window of several elements and equal channels");
  }
  if (!operation.Values(1, &in, &out)) return false;
  const xnn_subgraph_t subgraph = operation.definition->subgraph();
  if (is_max) {
    return operation.definition->Accept(xnn_define_max_pooling_2d(
        subgraph, w.pads[0], w.pads[3], w.pads[1], w.pads[2], w.kernel[0], w.kernel[1], w.stride[0],
        w.stride[1], 1, 1, low, high, in, out, 0));
  }
  return operation.definition->Accept(xnn_define_average_pooling_2d(
      subgraph, w.pads[0], w.pads[3], w.pads[1], w.pads[2], w.kernel[0], w.kernel[1], w.stride[0],
      w.stride[1], low, high, in, out, 0));
}

}  // namespace deputy::xnnpack
