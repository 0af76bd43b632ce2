// SPDX-License-Identifier: Apache-2.0
//
// Imports convolutions, pools and resizing: operators on images [batch, height, width, channels].
#include <algorithm>
#include <cstring>

#include "compiler/node_import.h"

namespace deputy::compiler {
namespace {

// ---- Windows ------------------------------------------------------------------------------------

// Upper bound on pixels along an axis, padding included; sums of a few such numbers fit in an int.
constexpr int64_t kMaxReach = 1 << 28;

// Number of window positions along an axis, and padding before and after the image.
struct Positions {
  int64_t count = 0, before = 0, after = 0;
  bool fits = false;
};

Positions PositionsOf(TfLitePadding padding, int64_t in, int64_t size, int64_t stride,
                      int64_t dilation) {
  const int64_t reach = (size - 1) * dilation + 1;
  const int64_t covered = padding == kTfLitePaddingSame ? in : in - reach + 1;
  const int64_t count = (covered + stride - 1) / stride;
  const int64_t needed = padding == kTfLitePaddingSame ? (count - 1) * stride + reach - in : 0;
  const int64_t added = std::max<int64_t>(needed, 0);
  const int64_t farthest = std::max({in, reach, (count - 1) * stride + reach, stride, dilation});
  return {count, added / 2, added - added / 2, farthest <= kMaxReach};
}

// Computes the padding and the number of output rows and columns. Returns false, after a refusal,
// if a parameter is invalid, if the window has no position, or if a number exceeds kMaxReach.
bool SetPadding(NodeImport* node, TfLitePadding padding, int height, int width, Window* window,
                int* out_height, int* out_width) {
  const bool sound = window->height > 0 && window->width > 0 && window->stride_y > 0 &&
                     window->stride_x > 0 && window->dilation_y > 0 && window->dilation_x > 0;
  if (!sound || (padding != kTfLitePaddingSame && padding != kTfLitePaddingValid)) {
    return node->Refuse(kDeputyReasonParameter, "invalid window size, stride, dilation or padding");
  }
  const Positions rows =
      PositionsOf(padding, height, window->height, window->stride_y, window->dilation_y);
  const Positions columns =
      PositionsOf(padding, width, window->width, window->stride_x, window->dilation_x);
  if (rows.count < 1 || columns.count < 1) {
    return node->Refuse(kDeputyReasonShape, "the image is smaller than the window");
  }
  if (!rows.fits || !columns.fits) {
    return node->Refuse(kDeputyReasonShape,
                        "expected image, window, stride and dilation within %lld pixels, found an "
                        "image of %dx%d, a window of %dx%d, stride %dx%d, dilation %dx%d",
                        static_cast<long long>(kMaxReach), height, width, window->height,
                        window->width, window->stride_y, window->stride_x, window->dilation_y,
                        window->dilation_x);
  }
  window->top = static_cast<int>(rows.before);
  window->bottom = static_cast<int>(rows.after);
  window->left = static_cast<int>(columns.before);
  window->right = static_cast<int>(columns.after);
  *out_height = static_cast<int>(rows.count);
  *out_width = static_cast<int>(columns.count);
  return true;
}

// Crops the part of a pool's window that lies outside of the image at every position and so does
// not contribute. A model may declare a window far larger than any image.
void CutWindow(int extent, int positions, int stride, int* size, int* before, int* after) {
  const int unused_before = std::max(*before - (positions - 1) * stride, 0);
  const int unused_after = std::max(*size - *before - extent, 0);
  *size -= unused_before + unused_after;
  *before -= unused_before;
  *after = std::max(*after - unused_after, 0);
}

// ---- Convolutions -------------------------------------------------------------------------------

// Checks the image and filter inputs of any convolution; `image` and `filter` are input numbers.
// The filter's output channels are along `axis`.
bool CheckConvolution(NodeImport* node, int image, int filter, int axis) {
  for (int n : {image, filter}) {
    if (!node->CheckReal(n) || !node->CheckRank(n, 4, 4)) return false;
  }
  if (!node->CheckScaleAxis(image, -1) || !node->CheckScaleAxis(filter, axis)) return false;
  const TfLiteType type = node->input_tensor(image).type;
  if (type == kTfLiteFloat32 && node->input_tensor(filter).type != kTfLiteFloat32 &&
      node->input_tensor(filter).type != kTfLiteFloat16) {
    return node->RefuseInput(
        filter, kDeputyReasonType,
        "a quantised filter for a float image (hybrid operator) is not supported");
  }
  // For an int16 image TensorFlow Lite ignores the zero point of the weights, so it must be 0.
  if (type == kTfLiteInt16 && node->input_tensor(filter).params.zero_point != 0) {
    return node->RefuseInput(filter, kDeputyReasonQuantization,
                             "expected zero point 0 for an INT16 image");
  }
  const Shape shape = node->shape(node->Input(image));
  if (ElementCount(shape) == 0)
    return node->RefuseInput(image, kDeputyReasonShape, "expected a tensor that is not empty");
  return true;
}

bool CheckBias(NodeImport* node, int image, int bias, int channels) {
  return node->CheckBias(bias, !IsFloat(node->input_tensor(image).type), channels);
}

// Returns the bias as float32. The unit of a quantised bias is the image's scale times the
// filter's.
ValueId BiasOf(NodeImport* node, int image, int filter, int bias) {
  int axis;
  std::vector<double> scales = node->Scales(filter, &axis);
  for (double& scale : scales) scale *= node->Scales(image, &axis)[0];
  return node->RealBias(bias, scales);
}

bool FinishConvolution(NodeImport* node, OperationKind kind, std::vector<ValueId> inputs,
                       Shape shape, TfLiteFusedActivation activation) {
  const ValueId sums =
      node->Add(std::move(kind), std::move(inputs), kTfLiteFloat32, std::move(shape));
  return node->SetRealOutput(0, node->AddActivation(sums, activation));
}

// Adds a convolution whose inputs 0 to 2 are image, filter and bias; the filter's output channels
// are along `axis`.
template <typename Kind, typename Params>
bool FinishForward(NodeImport* node, Kind conv, const Params& params, int axis) {
  const Shape image = node->shape(node->Input(0)), filter = node->shape(node->Input(1));
  const int channels = filter[static_cast<size_t>(axis)];
  conv.window = {filter[1],
                 filter[2],
                 params.stride_height,
                 params.stride_width,
                 params.dilation_height_factor,
                 params.dilation_width_factor};
  int height = 0, width = 0;
  if (!CheckBias(node, 0, 2, channels) ||
      !SetPadding(node, params.padding, image[1], image[2], &conv.window, &height, &width)) {
    return false;
  }
  const Shape shape = {image[0], height, width, channels};
  const ProductInputs inputs = {0, 1, 2, axis};
  if (auto integers = node->IntegerInputs(inputs, params.activation); !integers.empty()) {
    conv.zero_point = node->InputQuantization(0).zero_point;
    const ValueId sums = node->Add(conv, std::move(integers), kTfLiteInt32, shape);
    return node->SetOutput(0, node->AddRequantize(sums, inputs, params.activation));
  }
  return FinishConvolution(node, conv, {node->Real(0), node->Real(1), BiasOf(node, 0, 1, 2)}, shape,
                           params.activation);
}

bool ImportConv2d(NodeImport* node) {
  if (!node->CheckInputs(2, 3) || !CheckConvolution(node, 0, 1, 0)) return false;
  const Shape image = node->shape(node->Input(0)), filter = node->shape(node->Input(1));
  if (filter[3] == 0 || image[3] % filter[3] != 0) {
    return node->RefuseInput(1, kDeputyReasonShape,
                             "the filter's %d channels do not divide the image's %d", filter[3],
                             image[3]);
  }
  Conv2d conv;
  conv.groups = image[3] / filter[3];
  if (filter[0] == 0 || filter[0] % conv.groups != 0) {
    return node->RefuseInput(1, kDeputyReasonShape, "%d filters cannot be divided into %d groups",
                             filter[0], conv.groups);
  }
  return FinishForward(node, conv, node->params<TfLiteConvParams>(), 0);
}

bool ImportDepthwise(NodeImport* node) {
  if (!node->CheckInputs(2, 3) || !CheckConvolution(node, 0, 1, 3)) return false;
  const Shape image = node->shape(node->Input(0)), filter = node->shape(node->Input(1));
  if (filter[0] != 1 || filter[3] == 0 || filter[3] % image[3] != 0) {
    return node->RefuseInput(1, kDeputyReasonShape,
                             "the filter's %d channels do not divide the image's %d", filter[3],
                             image[3]);
  }
  DepthwiseConv2d conv;
  conv.multiplier = filter[3] / image[3];
  return FinishForward(node, conv, node->params<TfLiteDepthwiseConvParams>(), 3);
}

// Input numbers of a transposed convolution.
struct TransposedInputs {
  int image, filter, bias;
};

// Adds a transposed convolution. The window has one position per pixel of the image, and covers
// pixels of the output.
bool FinishTransposed(NodeImport* node, TransposedInputs inputs, const Shape& out,
                      const TfLiteTransposeConvParams& params) {
  const Shape filter = node->shape(node->Input(inputs.filter));
  const Shape image = node->shape(node->Input(inputs.image));
  if (out.size() != 4 || out[0] != image[0] || filter[3] != image[3] || filter[0] != out[3]) {
    return node->Refuse(kDeputyReasonShape, "the shapes of image, filter and output do not match");
  }
  TransposedConv2d conv;
  conv.window = {filter[1], filter[2], params.stride_height, params.stride_width, 1, 1};
  int rows = 0, columns = 0;
  if (!CheckBias(node, inputs.image, inputs.bias, out[3]) ||
      !SetPadding(node, params.padding, out[1], out[2], &conv.window, &rows, &columns)) {
    return false;
  }
  if (rows != image[1] || columns != image[2]) {
    return node->Refuse(kDeputyReasonShape,
                        "the output's size does not match the image, filter and stride");
  }
  const ValueId bias = BiasOf(node, inputs.image, inputs.filter, inputs.bias);
  return FinishConvolution(node, conv, {node->Real(inputs.image), node->Real(inputs.filter), bias},
                           out, params.activation);
}

bool ImportTransposeConv(NodeImport* node) {
  std::vector<int> out;
  if (!node->CheckInputs(3, 4) || !node->ReadInts(0, &out) || !CheckConvolution(node, 2, 1, 0)) {
    return false;
  }
  return FinishTransposed(node, {2, 1, 3}, out, node->params<TfLiteTransposeConvParams>());
}

// Imports MediaPipe's custom operator Convolution2DTransposeBias: its options are the leading bytes
// of the parameters of TRANSPOSE_CONV, and the size of its output follows from them.
bool ImportTransposeBias(NodeImport* node) {
  int options[3];  // padding, horizontal stride, vertical stride
  if (!node->CheckInputs(3, 3) || !CheckConvolution(node, 0, 1, 0)) return false;
  if (node->options().size() < sizeof options) {
    return node->Refuse(kDeputyReasonParameter, "options: expected %zu bytes, found %zu",
                        sizeof options, node->options().size());
  }
  for (int n : {0, 1, 2}) {
    if (!node->CheckType(n, {kTfLiteFloat32})) return false;
  }
  memcpy(options, node->options().data(), sizeof options);
  const bool same = options[0] == kTfLitePaddingSame;
  if (!same && options[0] != kTfLitePaddingValid) {
    return node->Refuse(kDeputyReasonParameter, "unsupported padding %d", options[0]);
  }
  const Shape image = node->shape(node->Input(0)), filter = node->shape(node->Input(1));
  const auto covered = [&](size_t axis, int64_t stride) {
    return ClampedExtent(same ? image[axis] * stride : (image[axis] - 1) * stride + filter[axis]);
  };
  TfLiteTransposeConvParams params{};
  params.padding = same ? kTfLitePaddingSame : kTfLitePaddingValid;
  params.stride_width = options[1];
  params.stride_height = options[2];
  return FinishTransposed(node, {0, 1, 2},
                          {image[0], covered(1, options[2]), covered(2, options[1]), filter[0]},
                          params);
}

// ---- Pools and resizing -------------------------------------------------------------------------

template <PoolKind pool_kind>
bool ImportPool(NodeImport* node) {
  if (!node->CheckInputs(1, 1) || !node->CheckReal(0) || !node->CheckRank(0, 4, 4) ||
      !node->CheckSameScale()) {
    return false;
  }
  const auto& params = node->params<TfLitePoolParams>();
  const Shape image = node->shape(node->Input(0));
  if (ElementCount(image) == 0)
    return node->RefuseInput(0, kDeputyReasonShape, "expected a tensor that is not empty");
  Pool2d pool;
  pool.kind = pool_kind;
  pool.window = {
      params.filter_height, params.filter_width, params.stride_height, params.stride_width, 1, 1};
  int height = 0, width = 0;
  Window& window = pool.window;
  if (!SetPadding(node, params.padding, image[1], image[2], &window, &height, &width)) return false;
  CutWindow(image[1], height, window.stride_y, &window.height, &window.top, &window.bottom);
  CutWindow(image[2], width, window.stride_x, &window.width, &window.left, &window.right);
  const ValueId result =
      node->Add(pool, {node->Real(0)}, kTfLiteFloat32, {image[0], height, width, image[3]});
  return node->SetRealOutput(0, node->AddActivation(result, params.activation));
}

bool ReadSize(NodeImport* node, Shape* out_shape) {
  std::vector<int> size;
  if (!node->CheckInputs(2, 2) || !node->CheckRank(0, 4, 4) || !node->ReadInts(1, &size)) {
    return false;
  }
  const Shape image = node->shape(node->Input(0));
  if (size.size() != 2 || size[0] < 1 || size[1] < 1 || ElementCount(image) == 0) {
    return node->Refuse(kDeputyReasonShape,
                        "expected an image that is not empty, and a positive size");
  }
  *out_shape = {image[0], size[0], size[1], image[3]};
  return true;
}

bool ImportResizeBilinear(NodeImport* node) {
  Shape shape;
  if (!ReadSize(node, &shape) || !node->CheckReal(0) || !node->CheckSameScale()) return false;
  if (node->input_tensor(0).type == kTfLiteInt16) {
    return node->RefuseInput(0, kDeputyReasonType,
                             "INT16 is not supported (upstream rounds the weights)");
  }
  const auto& params = node->params<TfLiteResizeBilinearParams>();
  if (params.align_corners && params.half_pixel_centers) {
    return node->Refuse(kDeputyReasonParameter,
                        "align_corners and half_pixel_centers exclude each other");
  }
  const Resize resize = {true, params.align_corners, params.half_pixel_centers};
  return node->SetRealOutput(0, node->Add(resize, {node->Real(0)}, kTfLiteFloat32, shape));
}

// Imports RESIZE_NEAREST_NEIGHBOR, which moves stored values without converting them.
bool ImportResizeNearest(NodeImport* node) {
  Shape shape;
  if (!ReadSize(node, &shape)) return false;
  const auto& params = node->params<TfLiteResizeNearestNeighborParams>();
  const Resize resize = {false, params.align_corners, params.half_pixel_centers};
  const ValueId from = node->Input(0);
  return node->SetOutput(0, node->Add(resize, {from}, node->value(from).type, shape));
}

constexpr ImportRow kConvRows[] = {
    {"AVERAGE_POOL_2D", kTfLiteBuiltinAveragePool2d, 3, &ImportPool<PoolKind::kAverage>},
    {"CONV_2D", kTfLiteBuiltinConv2d, 8, &ImportConv2d},
    {"Convolution2DTransposeBias", kTfLiteBuiltinCustom, 1, &ImportTransposeBias},
    {"DEPTHWISE_CONV_2D", kTfLiteBuiltinDepthwiseConv2d, 7, &ImportDepthwise},
    {"L2_POOL_2D", kTfLiteBuiltinL2Pool2d, 1, &ImportPool<PoolKind::kL2>},
    {"MAX_POOL_2D", kTfLiteBuiltinMaxPool2d, 3, &ImportPool<PoolKind::kMax>},
    {"RESIZE_BILINEAR", kTfLiteBuiltinResizeBilinear, 4, &ImportResizeBilinear},
    {"RESIZE_NEAREST_NEIGHBOR", kTfLiteBuiltinResizeNearestNeighbor, 4, &ImportResizeNearest, true},
    {"TRANSPOSE_CONV", kTfLiteBuiltinTransposeConv, 5, &ImportTransposeConv},
};

}  // namespace

std::span<const ImportRow> ConvRows() { return kConvRows; }

}  // namespace deputy::compiler
