// SPDX-License-Identifier: Apache-2.0
//
// Convolutions, fully connected layers, matrix products, pooling and image operators.
#include <algorithm>
#include <cmath>

#include "bridges/onnxruntime/operators.h"

namespace deputy::onnxruntime {
namespace {

const Dims kOhwiToOihw = {0, 3, 1, 2}, kHwToOihw = {3, 0, 1, 2};

// A window along height and width.
struct Window {
  Dims kernel, stride, dilation;
  Dims pads;  // top, left, bottom, right

  std::vector<Attribute> Attributes() const {
    return {{"kernel_shape", kernel}, {"strides", stride}, {"pads", pads}};
  }
};

// Computes the paddings from the shapes of input 0 and output 0, as TensorFlow Lite does.
bool FindPads(const Operation& op, TfLitePadding padding, Window* window) {
  Definition& d = *op.definition;
  const auto is_positive = [](const Dims& values) {
    return std::all_of(values.begin(), values.end(), [](int64_t value) { return value > 0; });
  };
  if (!is_positive(window->kernel) || !is_positive(window->stride) ||
      !is_positive(window->dilation)) {
    return d.Refuse(kDeputyReasonParameter,
                    "window, stride and dilation: expected positive numbers");
  }
  if (padding != kTfLitePaddingSame && padding != kTfLitePaddingValid) {
    return d.Refuse(kDeputyReasonParameter, "padding: expected SAME or VALID");
  }
  window->pads.assign(4, 0);
  for (size_t i = 0; i < 2; ++i) {
    const int64_t in = op.in(0).dims->data[1 + i], out = op.out(0).dims->data[1 + i];
    const int64_t reach = (window->kernel[i] - 1) * window->dilation[i] + 1;
    const int64_t needed = std::max<int64_t>((out - 1) * window->stride[i] + reach - in, 0);
    const bool is_same = padding == kTfLitePaddingSame;
    window->pads[i] = is_same ? needed / 2 : 0;
    window->pads[2 + i] = is_same ? needed - needed / 2 : 0;
    const int64_t starts = is_same ? in : in - reach + 1;  // positions where a window may begin
    if (starts < 1 || (starts + window->stride[i] - 1) / window->stride[i] != out) {
      return d.Refuse(kDeputyReasonShape,
                      NameOf(op.out(0)) + ": its extents do not match those of the input");
    }
  }
  return true;
}

// Defines a convolution of input 0 with input 1, whose dimensions are brought into `order`, and the
// bias input 2. The filter has its output channels in dimension `channel`.
template <typename Params>
void DefineConvolution(const Operation& op, const Params& params, const Dims& order, int channel,
                       int64_t groups) {
  Definition& d = *op.definition;
  const TfLiteTensor& filter = op.in(1);
  Window window = {{filter.dims->data[1], filter.dims->data[2]},
                   {params.stride_height, params.stride_width},
                   {params.dilation_height_factor, params.dilation_width_factor},
                   {}};
  if (!FindPads(op, params.padding, &window)) return;
  std::vector<std::string> inputs = {d.Real(op.In(0), Layout::kNchw),
                                     d.Weights(op.In(1), order, channel)};
  const std::string bias = d.Bias(op.In(2), op.in(0), filter, filter.dims->data[channel]);
  if (!bias.empty()) inputs.push_back(bias);
  std::vector<Attribute> attributes = window.Attributes();
  attributes.emplace_back("dilations", window.dilation);
  attributes.emplace_back("group", groups);
  if (!d.ok()) return;
  std::string result = d.Add(op.onnx, inputs, attributes);
  if (op.Activate(params.activation, &result)) d.SetReal(op.Out(0), result, Layout::kNchw);
}

bool ExpectLayer(const Operation& op, int image, int max_inputs) {
  return op.ExpectInputs(image == 0 ? 2 : 3, max_inputs) && op.ExpectRank(op.in(image), 4) &&
         op.ExpectRank(op.in(1), 4) && op.ExpectRank(op.out(0), 4) &&
         op.ExpectType(op.in(1), op.in(image).type) && op.ExpectType(op.out(0), op.in(image).type);
}

bool RefuseChannels(const Operation& op) {
  return op.definition->Refuse(kDeputyReasonShape,
                               NameOf(op.in(1)) + ": its channels do not match the input's");
}

}  // namespace

void DefineConv(const Operation& op) {
  if (!ExpectLayer(op, 0, 3)) return;
  const int64_t channels = op.in(0).dims->data[3], per_group = op.in(1).dims->data[3];
  if (channels % per_group != 0 || op.in(1).dims->data[0] % (channels / per_group) != 0) {
    RefuseChannels(op);
    return;
  }
  DefineConvolution(op, op.params<TfLiteConvParams>(), kOhwiToOihw, 0, channels / per_group);
}

void DefineDepthwiseConv(const Operation& op) {
  if (!ExpectLayer(op, 0, 3)) return;
  const int64_t channels = op.in(0).dims->data[3];
  if (op.in(1).dims->data[0] != 1 || op.in(1).dims->data[3] % channels != 0) {
    RefuseChannels(op);
    return;
  }
  DefineConvolution(op, op.params<TfLiteDepthwiseConvParams>(), kHwToOihw, 3, channels);
}

// Defines TRANSPOSE_CONV. Inputs: shape of the result, filter, data, optional bias. The padding is
// that of the convolution from the output to the input.
void DefineTransposeConv(const Operation& op) {
  Definition& d = *op.definition;
  const auto& params = op.params<TfLiteTransposeConvParams>();
  if (!ExpectLayer(op, 2, 4)) return;
  const TfLiteTensor &filter = op.in(1), &image = op.in(2);
  if (filter.dims->data[3] != image.dims->data[3] ||
      filter.dims->data[0] != op.out(0).dims->data[3]) {
    RefuseChannels(op);
    return;
  }
  const Dims stride = {params.stride_height, params.stride_width};
  Dims pads(4, 0), output_padding(2, 0);
  for (size_t i = 0; i < 2; ++i) {
    const int64_t in = image.dims->data[1 + i], out = op.out(0).dims->data[1 + i];
    const int64_t surplus = (in - 1) * stride[i] + filter.dims->data[1 + i] - out;
    const bool is_same = params.padding == kTfLitePaddingSame;
    if (stride[i] <= 0 || surplus <= -stride[i] || (surplus > 0 && !is_same)) {
      d.Refuse(kDeputyReasonShape,
               NameOf(op.out(0)) + ": its extents do not match those of the input");
      return;
    }
    pads[i] = std::max<int64_t>(surplus, 0) / 2;
    pads[2 + i] = std::max<int64_t>(surplus, 0) - pads[i];
    output_padding[i] = std::max<int64_t>(-surplus, 0);
  }
  std::vector<std::string> inputs = {d.Real(op.In(2), Layout::kNchw),
                                     d.Weights(op.In(1), {3, 0, 1, 2}, 0)};
  const std::string bias = d.Bias(op.In(3), image, filter, filter.dims->data[0]);
  if (!bias.empty()) inputs.push_back(bias);
  if (!d.ok()) return;
  std::string result = d.Add(
      op.onnx, inputs, {{"strides", stride}, {"pads", pads}, {"output_padding", output_padding}});
  if (op.Activate(params.activation, &result)) d.SetReal(op.Out(0), result, Layout::kNchw);
}

void DefineFullyConnected(const Operation& op) {
  Definition& d = *op.definition;
  const auto& params = op.params<TfLiteFullyConnectedParams>();
  if (!op.ExpectInputs(2, 3) || !op.ExpectRank(op.in(1), 2) ||
      !op.ExpectType(op.in(1), op.in(0).type) || !op.ExpectType(op.out(0), op.in(0).type)) {
    return;
  }
  if (params.weights_format != kTfLiteFullyConnectedWeightsFormatDefault) {
    d.Refuse(kDeputyReasonParameter, "shuffled weights");
    return;
  }
  const int64_t units = op.in(1).dims->data[0], depth = op.in(1).dims->data[1];
  const int64_t count = CountOf(DimsOf(op.in(0)));
  const Dims out = DimsOf(op.out(0));
  if (count % depth != 0 || CountOf(out) != count / depth * units) {
    d.Refuse(kDeputyReasonShape, NameOf(op.in(1)) + ": its shape does not match the input's");
    return;
  }
  std::string input = d.Real(op.In(0));
  if (op.in(0).dims->size != 2 || op.in(0).dims->data[1] != depth) {
    input = d.Add("Reshape", {input, d.Ints({count / depth, depth})});
  }
  std::vector<std::string> inputs = {input, d.Weights(op.In(1), {0, 1}, 0)};
  const std::string bias = d.Bias(op.In(2), op.in(0), op.in(1), units);
  if (!bias.empty()) inputs.push_back(bias);
  if (!d.ok()) return;
  std::string result = d.Add(op.onnx, inputs, {{"transB", int64_t{1}}});
  if (!op.Activate(params.activation, &result)) return;
  if (out != Dims{count / depth, units}) result = d.Add("Reshape", {result, d.Ints(out)});
  d.SetReal(op.Out(0), result);
}

void DefineBatchMatMul(const Operation& op) {
  Definition& d = *op.definition;
  const auto& params = op.params<TfLiteBatchMatMulParams>();
  if (!op.ExpectInputs(2, 2) || !op.ExpectType(op.in(1), op.in(0).type) ||
      !op.ExpectType(op.out(0), op.in(0).type)) {
    return;
  }
  const bool is_transposed[] = {params.adj_x, params.adj_y};
  std::vector<std::string> values;
  for (int i = 0; i < 2; ++i) {
    const int rank = op.in(i).dims->size;
    if (rank < 2) {
      d.Refuse(kDeputyReasonShape, NameOf(op.in(i)) + ": expected at least 2 dimensions");
      return;
    }
    Dims order;
    for (int k = 0; k < rank; ++k) order.push_back(k);
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    values.push_back(d.Real(op.In(i)));
    if (is_transposed[i]) values.back() = d.Add("Transpose", {values.back()}, {{"perm", order}});
  }
  d.SetReal(op.Out(0), d.Add(op.onnx, values));
}

void DefinePool(const Operation& op) {
  Definition& d = *op.definition;
  const auto& params = op.params<TfLitePoolParams>();
  if (!op.ExpectInputs(1, 1) || !op.ExpectRank(op.in(0), 4) || !op.ExpectRank(op.out(0), 4) ||
      !op.ExpectSameQuantization(op.in(0), op.out(0))) {
    return;
  }
  Window window = {{params.filter_height, params.filter_width},
                   {params.stride_height, params.stride_width},
                   {1, 1},
                   {}};
  if (!FindPads(op, params.padding, &window)) return;
  const bool has_squares = op.builtin == kTfLiteBuiltinL2Pool2d;
  std::string value = d.Real(op.In(0), Layout::kNchw);
  if (has_squares) value = d.Add("Mul", {value, value});
  value = d.Add(op.onnx, {value}, window.Attributes());
  if (has_squares) value = d.Add("Sqrt", {value});
  if (op.Activate(params.activation, &value)) d.SetReal(op.Out(0), value, Layout::kNchw);
}

namespace {

// Checks both kinds of RESIZE.
bool ExpectResize(const Operation& op, bool align_corners, bool half_pixel_centers) {
  if (!op.ExpectInputs(2, 2) || !op.ExpectRank(op.in(0), 4) || !op.ExpectRank(op.out(0), 4) ||
      !op.ExpectSameQuantization(op.in(0), op.out(0)) || !op.ExpectConstant(op.in(1))) {
    return false;
  }
  return !(align_corners && half_pixel_centers) ||
         op.definition->Refuse(kDeputyReasonParameter,
                               "expected align_corners or half_pixel_centers, found both");
}

}  // namespace

void DefineResizeBilinear(const Operation& op) {
  Definition& d = *op.definition;
  const auto& params = op.params<TfLiteResizeBilinearParams>();
  if (!ExpectResize(op, params.align_corners, params.half_pixel_centers)) return;
  const Dims out = DimsOf(op.out(0));
  std::string_view mode = "asymmetric";
  if (params.align_corners) mode = "align_corners";
  if (params.half_pixel_centers) mode = "half_pixel";
  const std::string value = d.Add(
      op.onnx, {d.Real(op.In(0), Layout::kNchw), "", "", d.Ints({out[0], out[3], out[1], out[2]})},
      {{"mode", std::string_view("linear")}, {"coordinate_transformation_mode", mode}});
  d.SetReal(op.Out(0), value, Layout::kNchw);
}

// Defines RESIZE_NEAREST_NEIGHBOR by the indices of the rows and columns, because ONNX's Resize
// rounds other coordinates.
void DefineResizeNearest(const Operation& op) {
  Definition& d = *op.definition;
  const auto& params = op.params<TfLiteResizeNearestNeighborParams>();
  if (!ExpectResize(op, params.align_corners, params.half_pixel_centers)) return;
  std::string value = d.Stored(op.In(0));
  for (int axis = 1; axis <= 2; ++axis) {
    const int in = op.in(0).dims->data[axis], out = op.out(0).dims->data[axis];
    const float scale = params.align_corners && out > 1
                            ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                            : static_cast<float>(in) / static_cast<float>(out);
    const float offset = params.half_pixel_centers ? 0.5F : 0.0F;
    Dims indices;
    for (int i = 0; i < out; ++i) {
      const float at = (static_cast<float>(i) + offset) * scale;
      const float rounded = params.align_corners ? std::round(at) : std::floor(at);
      indices.push_back(std::clamp(static_cast<int>(rounded), 0, in - 1));
    }
    value = d.Add(op.onnx, {value, d.Ints(indices)}, {{"axis", int64_t{axis}}});
  }
  d.SetStored(op.Out(0), value);
}

void DefineL2Normalization(const Operation& op) {
  Definition& d = *op.definition;
  constexpr float kMinNorm = 1e-6F;
  if (!op.ExpectInputs(1, 1) || !op.ExpectType(op.out(0), op.in(0).type)) return;
  if (op.params<TfLiteL2NormParams>().activation != kTfLiteActNone || op.in(0).dims->size == 0) {
    d.Refuse(kDeputyReasonParameter, "expected a dimension and no fused activation");
    return;
  }
  const std::string value = d.Real(op.In(0));
  const std::string sum =
      d.Add("ReduceSum", {d.Add("Mul", {value, value}), d.Ints({-1})}, {{"keepdims", int64_t{1}}});
  const std::string norm = d.Add("Max", {d.Add("Sqrt", {sum}), d.Float(kMinNorm)});
  d.SetReal(op.Out(0), d.Add("Div", {value, norm}));
}

void DefineLocalResponseNormalization(const Operation& op) {
  Definition& d = *op.definition;
  const auto& params = op.params<TfLiteLocalResponseNormParams>();
  if (!op.ExpectInputs(1, 1) || !op.ExpectRank(op.in(0), 4) ||
      !op.ExpectType(op.out(0), op.in(0).type)) {
    return;
  }
  if (params.radius < 0 || params.radius > 1 << 20 || !(params.alpha > 0) || !(params.beta > 0)) {
    d.Refuse(kDeputyReasonParameter, "expected a radius from 0 to 2^20, positive alpha and beta");
    return;
  }
  // ONNX divides alpha by the size of the window.
  const int64_t size = 2 * int64_t{params.radius} + 1;
  const std::string value = d.Add(op.onnx, {d.Real(op.In(0), Layout::kNchw)},
                                  {{"size", size},
                                   {"alpha", params.alpha * static_cast<float>(size)},
                                   {"beta", params.beta},
                                   {"bias", params.bias}});
  d.SetReal(op.Out(0), value, Layout::kNchw);
}

}  // namespace deputy::onnxruntime
