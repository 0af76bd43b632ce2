// SPDX-License-Identifier: Apache-2.0
//
// MediaPipe's custom operators, in the versions of MediaPipe's own resolver; float32 only.
// Convolution2DTransposeBias is in custom.cc. Where MediaPipe would access memory outside its
// tensors, or would leave a part of its output unwritten, these operators fail.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/common/activation_range.h"
#include "kernels/common/custom_op.h"
#include "kernels/common/families.h"
#include "kernels/common/flex_map.h"
#include "kernels/common/kernel.h"
#include "kernels/common/padding.h"
#include "kernels/common/shape_input.h"

namespace deputy {
namespace {

TfLiteStatus CheckFloats(TfLiteContext* context, const TfLiteTensor* tensor, int rank) {
  DEPUTY_TRY(CheckType(context, tensor, kFloat32Bit));
  return CheckRank(context, tensor, rank);
}

// ---- MaxPoolingWithArgmax2D and MaxUnpooling2D ------------------------------------------------

// Number of bytes of the options: the first bytes of a TfLitePoolParams in C layout.
constexpr size_t kPoolOptionsSize = offsetof(TfLitePoolParams, computed);

struct PoolingData {
  size_t options_size = 0;
  TfLitePoolParams params = {};
  WindowAxis y, x;
};

void* InitPooling(TfLiteContext*, const char* options, size_t length) {
  auto* data = new PoolingData();
  const std::span<const uint8_t> bytes = OptionBytes(options, length);
  data->options_size = bytes.size();
  if (bytes.size() < kPoolOptionsSize) return data;
  std::memcpy(&data->params, bytes.data(), kPoolOptionsSize);
  // Enums as ints: the model's bytes may have any value, which would be undefined in an enum.
  int padding = 0, activation = 0;
  std::memcpy(&padding, &data->params.padding, sizeof padding);
  std::memcpy(&activation, &data->params.activation, sizeof activation);
  if (padding != kTfLitePaddingSame && padding != kTfLitePaddingValid) {
    data->params.padding = kTfLitePaddingUnknown;
  }
  if (activation < kTfLiteActNone || activation > kTfLiteActSigmoid) {
    data->params.activation = kTfLiteActNone;
  }
  return data;
}

TfLiteStatus CheckPoolOptions(TfLiteContext* context, const PoolingData& data) {
  if (data.options_size >= kPoolOptionsSize) return kTfLiteOk;
  return KernelError(context, "options: expected %zu bytes or more, found %zu", kPoolOptionsSize,
                     data.options_size);
}

TfLiteStatus PreparePooling(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 2));
  PoolingData& data = DataOf<PoolingData>(node);
  DEPUTY_TRY(CheckPoolOptions(context, data));
  const TfLiteTensor* input = Input(context, node, 0);
  DEPUTY_TRY(CheckFloats(context, input, 4));
  const TfLitePoolParams& params = data.params;
  data.y = {Dim(input, 1), params.filter_height, params.stride_height};
  data.x = {Dim(input, 2), params.filter_width, params.stride_width};
  DEPUTY_TRY(ComputeWindows(context, params.padding, "height", TooSmall::kRefuse, &data.y));
  DEPUTY_TRY(ComputeWindows(context, params.padding, "width", TooSmall::kRefuse, &data.x));
  const int dims[] = {Dim(input, 0), data.y.output, data.x.output, Dim(input, 3)};
  for (int i = 0; i < 2; ++i) {
    DEPUTY_TRY(CheckType(context, Output(context, node, i), kFloat32Bit));
    DEPUTY_TRY(ResizeTo(context, Output(context, node, i), dims));
  }
  return kTfLiteOk;
}

// Maximum of one window and channel, and its index in the window. As in MediaPipe, 0.1 is added to
// the index, so that truncation to an integer is safe. The first of several equal maxima is used.
struct WindowMaximum {
  float value = std::numeric_limits<float>::lowest();
  int64_t tap = 0;
};
WindowMaximum MaximumOfWindow(const PoolingData& data, const float* image, int64_t channels, int oy,
                              int ox) {
  WindowMaximum found;
  for (int ky = data.y.FirstTap(oy); ky < data.y.LastTap(oy); ++ky) {
    for (int kx = data.x.FirstTap(ox); kx < data.x.LastTap(ox); ++kx) {
      const int64_t pixel = (data.y.Start(oy) + ky) * data.x.input + data.x.Start(ox) + kx;
      const float value = image[pixel * channels];
      if (value > found.value) found = {value, int64_t{ky} * data.x.filter + kx};
    }
  }
  return found;
}

TfLiteStatus EvalPooling(TfLiteContext* context, TfLiteNode* node) {
  if (ElementCount(Output(context, node, 0)) == 0) return kTfLiteOk;
  const PoolingData& data = DataOf<PoolingData>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  const FloatRange range = ActivationRange(data.params.activation);
  const int64_t channels = Dim(input, 3), image = int64_t{data.y.input} * data.x.input * channels;
  const float* in = Data<float>(input);
  float* out = Data<float>(Output(context, node, 0));
  float* indices = Data<float>(Output(context, node, 1));
  for (int64_t batch = 0; batch < Dim(input, 0); ++batch) {
    for (int oy = 0; oy < data.y.output; ++oy) {
      for (int ox = 0; ox < data.x.output; ++ox) {
        for (int64_t channel = 0; channel < channels; ++channel) {
          const WindowMaximum found =
              MaximumOfWindow(data, in + batch * image + channel, channels, oy, ox);
          *out++ = Clamp(found.value, range);
          *indices++ = static_cast<float>(found.tap) + 0.1f;
        }
      }
    }
  }
  return kTfLiteOk;
}

// Positions of unpooled values along one axis: window `i` begins at i * stride - before.
WindowAxis UnpooledAxis(int input, int filter, int stride) {
  WindowAxis axis{input, filter, stride};
  const int64_t output = int64_t{input} * filter;
  const int64_t total = (int64_t{input} - 1) * stride + filter - output;
  axis.before = static_cast<int>(std::min<int64_t>(std::max<int64_t>(total / 2, 0), INT32_MAX));
  return axis;
}

TfLiteStatus PrepareUnpooling(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  PoolingData& data = DataOf<PoolingData>(node);
  DEPUTY_TRY(CheckPoolOptions(context, data));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* indices = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckFloats(context, input, 4));
  DEPUTY_TRY(CheckFloats(context, indices, 4));
  DEPUTY_TRY(CheckType(context, output, kFloat32Bit));
  for (int i = 0; i < 4; ++i) DEPUTY_TRY(CheckDim(context, indices, i, Dim(input, i)));
  const TfLitePoolParams& params = data.params;
  if (params.filter_height < 1 || params.filter_width < 1 || params.stride_height < 1 ||
      params.stride_width < 1) {
    return KernelError(
        context, "expected filters and strides of 1 or more, found %d x %d and %d x %d",
        params.filter_height, params.filter_width, params.stride_height, params.stride_width);
  }
  data.y = UnpooledAxis(Dim(input, 1), params.filter_height, params.stride_height);
  data.x = UnpooledAxis(Dim(input, 2), params.filter_width, params.stride_width);
  int dims[] = {Dim(input, 0), 0, 0, Dim(input, 3)};
  DEPUTY_TRY(SetExtent(context, output, 1, int64_t{data.y.input} * data.y.filter, &dims[1]));
  DEPUTY_TRY(SetExtent(context, output, 2, int64_t{data.x.input} * data.x.filter, &dims[2]));
  data.y.output = dims[1];
  data.x.output = dims[2];
  return ResizeTo(context, output, dims);
}

TfLiteStatus EvalUnpooling(TfLiteContext* context, TfLiteNode* node) {
  if (ElementCount(Output(context, node, 0)) == 0) return kTfLiteOk;
  const PoolingData& data = DataOf<PoolingData>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* indices = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  const int64_t channels = Dim(input, 3);
  const int64_t taps = int64_t{data.y.filter} * data.x.filter;
  const float* in = Data<float>(input);
  const float* index = Data<float>(indices);
  float* out = Data<float>(output);
  std::fill_n(out, ElementCount(output), 0.0f);
  for (int64_t batch = 0; batch < Dim(input, 0); ++batch) {
    for (int iy = 0; iy < data.y.input; ++iy) {
      for (int ix = 0; ix < data.x.input; ++ix) {
        for (int64_t channel = 0; channel < channels; ++channel, ++in, ++index) {
          // Indices between -1 and 0 are accepted, because they are truncated to 0.
          if (!(*index > -1.0f && *index < static_cast<float>(taps))) {
            return TensorError(context, indices, "expected indices from 0 to %lld, found %g",
                               static_cast<long long>(taps - 1), static_cast<double>(*index));
          }
          const auto tap = static_cast<int64_t>(*index);
          const int64_t y = data.y.Start(iy) + tap / data.x.filter;
          const int64_t x = data.x.Start(ix) + tap % data.x.filter;
          if (y < 0 || y >= data.y.output || x < 0 || x >= data.x.output) {
            return TensorError(context, output,
                               "expected a position inside it for window %d, %d, found %lld, %lld",
                               iy, ix, static_cast<long long>(y), static_cast<long long>(x));
          }
          out[((batch * data.y.output + y) * data.x.output + x) * channels + channel] = *in;
        }
      }
    }
  }
  return kTfLiteOk;
}

// ---- Points and matrices ----------------------------------------------------------------------

// Multiplies one row of a 4x4 matrix by the point (x, y, 0, 1), summed in MediaPipe's order.
float Transform(const float* row, float x, float y) {
  return row[0] * x + row[1] * y + row[2] * 0.0f + row[3] * 1.0f;
}

// Checks that the first two rows of a matrix exist; only these are read.
TfLiteStatus CheckMatrix(TfLiteContext* context, const TfLiteTensor* matrix) {
  DEPUTY_TRY(CheckType(context, matrix, kFloat32Bit));
  if (ElementCount(matrix) >= 8) return kTfLiteOk;
  return TensorError(context, matrix, "expected 8 elements or more, found %lld",
                     static_cast<long long>(ElementCount(matrix)));
}

// ---- TransformLandmarks -----------------------------------------------------------------------

TfLiteStatus PrepareTransformLandmarks(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* landmarks = Input(context, node, 0);
  DEPUTY_TRY(CheckFloats(context, landmarks, 3));
  DEPUTY_TRY(CheckMatrix(context, Input(context, node, 1)));
  DEPUTY_TRY(CheckType(context, Output(context, node, 0), kFloat32Bit));
  DEPUTY_TRY(CheckDim(context, landmarks, 0, 1));
  if (Dim(landmarks, 2) != 2 && Dim(landmarks, 2) != 3) {
    return TensorError(context, landmarks, "expected dimension 2 to be 2 or 3, found %d",
                       Dim(landmarks, 2));
  }
  return ResizeLike(context, Output(context, node, 0), landmarks);
}

// Transforms the x and y of each landmark; a third coordinate is unchanged.
TfLiteStatus EvalTransformLandmarks(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* landmarks = Input(context, node, 0);
  const float* matrix = Data<float>(Input(context, node, 1));
  const int size = Dim(landmarks, 2);
  const float* in = Data<float>(landmarks);
  float* out = Data<float>(Output(context, node, 0));
  for (int i = 0; i < Dim(landmarks, 1); ++i, in += size, out += size) {
    out[0] = Transform(matrix, in[0], in[1]);
    out[1] = Transform(matrix + 4, in[0], in[1]);
    if (size == 3) out[2] = in[2];
  }
  return kTfLiteOk;
}

// ---- TransformTensorBilinear ------------------------------------------------------------------

// Checks the tensors. The output's extents are those in the model: MediaPipe's CPU kernel does not
// read the options, which repeat them for its GPU kernel.
TfLiteStatus PrepareTransformTensor(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckFloats(context, input, 4));
  DEPUTY_TRY(CheckMatrix(context, Input(context, node, 1)));
  DEPUTY_TRY(CheckFloats(context, output, 4));
  DEPUTY_TRY(CheckDim(context, input, 0, 1));
  DEPUTY_TRY(CheckDim(context, output, 0, 1));
  DEPUTY_TRY(CheckDim(context, output, 3, Dim(input, 3)));
  return ResizeLike(context, output, output);
}

// Access to the pixels of an image, with interpolation between four of them.
class Image {
 public:
  // The object refers to the first image of the batch until MoveToNext is called.
  explicit Image(const TfLiteTensor* tensor)
      : pixels_(Data<float>(tensor)),
        height_(Dim(tensor, 1)),
        width_(Dim(tensor, 2)),
        channels_(Dim(tensor, 3)) {}

  void MoveToNext() { pixels_ += int64_t{height_} * width_ * channels_; }

  // Returns true if the position lies within the image; false for NaN.
  bool Contains(float y, float x) const {
    return x >= 0.0f && x <= static_cast<float>(width_ - 1) && y >= 0.0f &&
           y <= static_cast<float>(height_ - 1);
  }

  // Interpolates between four pixels, with MediaPipe's roundings.
  float Between(float y, float x, int channel) const {
    const int top = static_cast<int>(y), left = static_cast<int>(x);
    const float right = x - static_cast<float>(left), below = y - static_cast<float>(top);
    const float upper = Mix(At(top, left, channel), At(top, left + 1, channel), right);
    const float lower = Mix(At(top + 1, left, channel), At(top + 1, left + 1, channel), right);
    return static_cast<float>(static_cast<double>(below * lower) +
                              (1.0 - static_cast<double>(below)) * static_cast<double>(upper));
  }

  // Returns the value of a pixel, or 0 beyond the image's borders.
  float At(int y, int x, int channel) const {
    if (y < 0 || x < 0 || y >= height_ || x >= width_) return 0.0f;
    return pixels_[(int64_t{y} * width_ + x) * channels_ + channel];
  }

 private:
  static float Mix(float a, float b, float part_of_b) {
    return static_cast<float>((1.0 - static_cast<double>(part_of_b)) * static_cast<double>(a) +
                              static_cast<double>(part_of_b * b));
  }

  const float* pixels_;
  int height_, width_, channels_;
};

TfLiteStatus EvalTransformTensor(TfLiteContext* context, TfLiteNode* node) {
  const Image image(Input(context, node, 0));
  const float* matrix = Data<float>(Input(context, node, 1));
  TfLiteTensor* output = Output(context, node, 0);
  if (ElementCount(output) == 0) return kTfLiteOk;
  // First two rows of the matrix, changed to refer to pixel centres: half a pixel is added before
  // the transformation and subtracted after it.
  float rows[2][4];
  for (int i = 0; i < 2; ++i) {
    std::copy_n(matrix + 4 * i, 4, rows[i]);
    rows[i][3] = static_cast<float>(
        static_cast<double>(rows[i][3]) +
        (static_cast<double>(rows[i][0]) * 0.5 + static_cast<double>(rows[i][1]) * 0.5 - 0.5));
  }
  float* out = Data<float>(output);
  for (int oy = 0; oy < Dim(output, 1); ++oy) {
    for (int ox = 0; ox < Dim(output, 2); ++ox) {
      const float x = Transform(rows[0], static_cast<float>(ox), static_cast<float>(oy));
      const float y = Transform(rows[1], static_cast<float>(ox), static_cast<float>(oy));
      const bool inside = image.Contains(y, x);
      for (int channel = 0; channel < Dim(output, 3); ++channel) {
        *out++ = inside ? image.Between(y, x, channel) : 0.0f;
      }
    }
  }
  return kTfLiteOk;
}

// ---- Landmarks2TransformMatrix ----------------------------------------------------------------

struct MatrixData {
  bool is_map = false;
  std::vector<int32_t> subset;
  int left = 0, right = 0, output_height = 0, output_width = 0;
  float target_radians = 0, scale_x = 0, scale_y = 0;
};

void* InitMatrix(TfLiteContext*, const char* options, size_t length) {
  auto* data = new MatrixData();
  const FlexMap map(OptionBytes(options, length));
  data->is_map = map.is_map();
  data->subset = map.Ints("subset_idxs");
  data->left = map.Int("left_rotation_idx");
  data->right = map.Int("right_rotation_idx");
  data->output_height = map.Int("output_height");
  data->output_width = map.Int("output_width");
  data->target_radians = map.Float("target_rotation_radians");
  data->scale_x = map.Float("scale_x");
  data->scale_y = map.Float("scale_y");
  return data;
}

TfLiteStatus CheckMatrixOptions(TfLiteContext* context, const MatrixData& data) {
  if (!data.is_map) return KernelError(context, "options: expected a FlexBuffers map");
  if (data.output_height <= 0 || data.output_width <= 0) {
    return KernelError(context, "options: expected an output of 1 x 1 or more, found %d x %d",
                       data.output_height, data.output_width);
  }
  if (!(data.scale_x > 0 && data.scale_y > 0)) {
    return KernelError(context, "options: expected positive scales, found %g and %g",
                       static_cast<double>(data.scale_x), static_cast<double>(data.scale_y));
  }
  if (data.subset.empty()) return KernelError(context, "options: subset_idxs: found none");
  return kTfLiteOk;
}

TfLiteStatus PrepareMatrix(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  const MatrixData& data = DataOf<MatrixData>(node);
  const TfLiteTensor* landmarks = Input(context, node, 0);
  DEPUTY_TRY(CheckFloats(context, landmarks, 3));
  DEPUTY_TRY(CheckType(context, Output(context, node, 0), kFloat32Bit));
  DEPUTY_TRY(CheckMatrixOptions(context, data));
  // Number of landmarks. MediaPipe reads elements in groups of three, whatever the extents.
  const int64_t count = ElementCount(landmarks) / 3;
  std::vector<int32_t> used = data.subset;
  used.push_back(data.left);
  used.push_back(data.right);
  for (const int32_t index : used) {
    if (index >= 0 && index < count) continue;
    return TensorError(context, landmarks, "expected landmark %d among its %lld", index,
                       static_cast<long long>(count));
  }
  const int dims[] = {1, 4, 4};
  return ResizeTo(context, Output(context, node, 0), dims);
}

template <size_t n>
using Matrix = std::array<std::array<float, n>, n>;

template <size_t n>
Matrix<n> Multiply(const Matrix<n>& a, const Matrix<n>& b) {
  Matrix<n> product;
  for (size_t row = 0; row < n; ++row) {
    for (size_t column = 0; column < n; ++column) {
      float sum = 0.0f;
      for (size_t k = 0; k < n; ++k) sum += a[row][k] * b[k][column];
      product[row][column] = sum;
    }
  }
  return product;
}

struct Point {
  float x, y;
};

// Rotates a point about the origin.
Point Rotate(Point point, float radians) {
  const float cosine = std::cos(radians), sine = std::sin(radians);
  return {cosine * point.x + -sine * point.y, sine * point.x + cosine * point.y};
}

// Bounding box of the landmarks along rotated axes.
struct Box {
  Point center;
  float width, height;
};
Box BoxAround(const float* landmarks, const std::vector<int32_t>& subset, float radians) {
  Point low = {}, high = {};
  for (size_t i = 0; i < subset.size(); ++i) {
    const float* landmark = landmarks + int64_t{3} * subset[i];
    const Point point = Rotate({landmark[0], landmark[1]}, radians);
    if (i == 0) low = high = point;
    low = {std::min(low.x, point.x), std::min(low.y, point.y)};
    high = {std::max(high.x, point.x), std::max(high.y, point.y)};
  }
  return {Rotate({(low.x + high.x) / 2, (low.y + high.y) / 2}, -radians), high.x - low.x,
          high.y - low.y};
}

TfLiteStatus EvalMatrix(TfLiteContext* context, TfLiteNode* node) {
  const MatrixData& data = DataOf<MatrixData>(node);
  const float* landmarks = Data<float>(Input(context, node, 0));
  const float* left = landmarks + int64_t{3} * data.left;
  const float* right = landmarks + int64_t{3} * data.right;
  const float radians = data.target_radians - std::atan2(right[1] - left[1], right[0] - left[0]);
  const Box box = BoxAround(landmarks, data.subset, radians);
  const auto width = static_cast<float>(data.output_width);
  const auto height = static_cast<float>(data.output_height);
  const float cosine = std::cos(-radians), sine = std::sin(-radians);
  const Matrix<4> move_to_box = {
      {{1, 0, 0, box.center.x}, {0, 1, 0, box.center.y}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
  const Matrix<4> turn = {
      {{cosine, -sine, 0, 0}, {sine, cosine, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
  const Matrix<4> scale = {{{data.scale_x * box.width / width, 0, 0, 0},
                            {0, data.scale_y * box.height / height, 0, 0},
                            {0, 0, 1, 0},
                            {0, 0, 0, 1}}};
  const Matrix<4> move_to_middle = {
      {{1, 0, 0, -width / 2}, {0, 1, 0, -height / 2}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
  const Matrix<4> all = Multiply(Multiply(Multiply(move_to_box, turn), scale), move_to_middle);
  std::memcpy(Data<float>(Output(context, node, 0)), &all, sizeof all);
  return kTfLiteOk;
}

// ---- Resampler --------------------------------------------------------------------------------

TfLiteStatus PrepareResampler(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* source = Input(context, node, 0);
  const TfLiteTensor* warp = Input(context, node, 1);
  DEPUTY_TRY(CheckFloats(context, source, 4));
  DEPUTY_TRY(CheckFloats(context, warp, 4));
  DEPUTY_TRY(CheckType(context, Output(context, node, 0), kFloat32Bit));
  for (int i = 0; i < 3; ++i) DEPUTY_TRY(CheckDim(context, warp, i, Dim(source, i)));
  DEPUTY_TRY(CheckDim(context, warp, 3, 2));
  return ResizeLike(context, Output(context, node, 0), source);
}

// Each output pixel is sampled at the coordinates in `warp`, x first; pixels beyond the borders are
// zero.
TfLiteStatus EvalResampler(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* source = Input(context, node, 0);
  const int height = Dim(source, 1), width = Dim(source, 2), channels = Dim(source, 3);
  const float* warp = Data<float>(Input(context, node, 1));
  float* out = Data<float>(Output(context, node, 0));
  Image image(source);
  for (int batch = 0; batch < Dim(source, 0); ++batch, image.MoveToNext()) {
    for (int64_t pixel = 0; pixel < int64_t{height} * width; ++pixel, warp += 2) {
      const float x = warp[0], y = warp[1];
      const bool inside =
          x > -1.0f && y > -1.0f && x < static_cast<float>(width) && y < static_cast<float>(height);
      const int left = inside ? static_cast<int>(std::floor(x)) : 0;
      const int top = inside ? static_cast<int>(std::floor(y)) : 0;
      const float dx = static_cast<float>(left + 1) - x, dy = static_cast<float>(top + 1) - y;
      for (int channel = 0; channel < channels; ++channel) {
        *out++ = !inside ? 0.0f
                         : dx * dy * image.At(top, left, channel) +
                               (1.0f - dx) * (1.0f - dy) * image.At(top + 1, left + 1, channel) +
                               dx * (1.0f - dy) * image.At(top + 1, left, channel) +
                               (1.0f - dx) * dy * image.At(top, left + 1, channel);
      }
    }
  }
  return kTfLiteOk;
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    CustomRow<&PreparePooling, &EvalPooling>("MaxPoolingWithArgmax2D", kFloat32Bit,
                                             &GuardedInit<&InitPooling>, &DeleteData<PoolingData>),
    CustomRow<&PrepareUnpooling, &EvalUnpooling>(
        "MaxUnpooling2D", kFloat32Bit, &GuardedInit<&InitPooling>, &DeleteData<PoolingData>),
    CustomRow<&PrepareTransformLandmarks, &EvalTransformLandmarks>(
        "TransformLandmarks", kFloat32Bit, nullptr, nullptr, 2),
    CustomRow<&PrepareTransformTensor, &EvalTransformTensor>("TransformTensorBilinear", kFloat32Bit,
                                                             nullptr, nullptr, 2),
    CustomRow<&PrepareMatrix, &EvalMatrix>("Landmarks2TransformMatrix", kFloat32Bit,
                                           &GuardedInit<&InitMatrix>, &DeleteData<MatrixData>, 2),
    CustomRow<&PrepareResampler, &EvalResampler>("Resampler", kFloat32Bit),
};

}  // namespace

constexpr std::span<const OpDef> kMediapipeOps = kTable;

}  // namespace deputy
