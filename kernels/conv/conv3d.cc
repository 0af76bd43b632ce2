// SPDX-License-Identifier: Apache-2.0
//
// CONV_3D and CONV_3D_TRANSPOSE of float32 tensors [batch, depth, height, width, channels], as
// plain loops over the output's rows. Filters are [depth, height, width, in, out] for CONV_3D and
// [depth, height, width, out, in] for CONV_3D_TRANSPOSE, whose first input is the output's shape.
#include <algorithm>

#include "kernels/common/activation_range.h"
#include "kernels/common/families.h"
#include "kernels/common/kernel.h"
#include "kernels/common/padding.h"
#include "kernels/common/shape_input.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

bool FillConv3d(const OpOptions& options, TfLiteConv3DParams* params) {
  params->padding = options.Padding(0);
  params->stride_depth = options.Int(1);
  params->stride_width = options.Int(2);
  params->stride_height = options.Int(3);
  params->activation = options.Activation(4);
  params->dilation_depth_factor = options.Int(5, 1);
  params->dilation_width_factor = options.Int(6, 1);
  params->dilation_height_factor = options.Int(7, 1);
  return true;
}

// ---- Common parts -----------------------------------------------------------------------------

// Data of a node: the windows of a convolution along depth, height and width.
struct Conv3dData {
  WindowAxis axes[3];
};

// Computes the windows. `wide` has the extents over which windows move: the input's or, if
// transposed, the output's.
TfLiteStatus ComputeAxes(TfLiteContext* context, const TfLiteConv3DParams& params, const int* wide,
                         const TfLiteTensor* filter, WindowAxis* axes) {
  const char* const names[] = {"depth", "height", "width"};
  const int strides[] = {params.stride_depth, params.stride_height, params.stride_width};
  const int dilations[] = {params.dilation_depth_factor, params.dilation_height_factor,
                           params.dilation_width_factor};
  for (int d = 0; d < 3; ++d) {
    axes[d] = {
        .input = wide[d], .filter = Dim(filter, d), .stride = strides[d], .dilation = dilations[d]};
    DEPUTY_TRY(ComputeWindows(context, params.padding, names[d], TooSmall::kRefuse, &axes[d]));
  }
  return kTfLiteOk;
}

// Checks the types and the optional bias of both operators.
TfLiteStatus CheckTensors(TfLiteContext* context, const TfLiteTensor* input,
                          const TfLiteTensor* filter, const TfLiteTensor* bias,
                          const TfLiteTensor* output, int channels) {
  DEPUTY_TRY(CheckType(context, input, kFloat32Bit));
  DEPUTY_TRY(CheckType(context, filter, kFloat32Bit));
  DEPUTY_TRY(CheckType(context, output, kFloat32Bit));
  if (bias == nullptr) return kTfLiteOk;
  DEPUTY_TRY(CheckType(context, bias, kFloat32Bit));
  return CheckElementCount(context, bias, channels);
}

// Calls compute(batch, depth, row) for every output row, on all threads.
template <typename Function>
void ForEachRow(TfLiteContext* context, const TfLiteTensor* output, const Function& compute) {
  const int64_t depth = Dim(output, 1), height = Dim(output, 2);
  if (ElementCount(output) == 0) return;
  ParallelRanges(context, Dim(output, 0) * depth * height, 1, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      compute(row / height / depth, static_cast<int>(row / height % depth),
              static_cast<int>(row % height));
    }
  });
}

void FinishPixel(const float* bias, const FloatRange& range, int channels, float* out) {
  for (int c = 0; c < channels; ++c) {
    out[c] = Clamp(out[c] + (bias == nullptr ? 0.0f : bias[c]), range);
  }
}

const float* BiasData(const TfLiteTensor* bias) {
  return bias == nullptr ? nullptr : Data<float>(bias);
}

// ---- CONV_3D ----------------------------------------------------------------------------------

TfLiteStatus PrepareConv3d(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 3, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* filter = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckRank(context, input, 5));
  DEPUTY_TRY(CheckRank(context, filter, 5));
  DEPUTY_TRY(CheckTensors(context, input, filter, Input(context, node, 2), output, Dim(filter, 4)));
  DEPUTY_TRY(CheckDim(context, filter, 3, Dim(input, 4)));
  for (const TfLiteTensor* tensor : {input, filter}) {
    for (int d = tensor == input ? 1 : 0; d < 5; ++d) {
      if (Dim(tensor, d) < 1) {
        return TensorError(context, tensor, "expected dimension %d to be 1 or more, found 0", d);
      }
    }
  }
  WindowAxis* axes = DataOf<Conv3dData>(node).axes;
  DEPUTY_TRY(ComputeAxes(context, ParamsOf<TfLiteConv3DParams>(node), input->dims->data + 1, filter,
                         axes));
  const int dims[] = {Dim(input, 0), axes[0].output, axes[1].output, axes[2].output,
                      Dim(filter, 4)};
  return ResizeTo(context, output, dims);
}

// Computes one output pixel from the taps inside the input; each tap multiplies the channels of an
// input pixel by a matrix [in][out] of the filter.
class Convolution {
 public:
  Convolution(const Conv3dData& data, const TfLiteTensor* input, const TfLiteTensor* filter)
      : data_(data),
        input_(Data<float>(input)),
        filter_(Data<float>(filter)),
        channels_(Dim(filter, 3)),
        outputs_(Dim(filter, 4)) {}

  void AddPixel(int64_t batch, int d, int y, int x, float* out) const {
    const auto& [depth, height, width] = data_.axes;
    for (int i = depth.FirstTap(d); i < depth.LastTap(d); ++i) {
      for (int j = height.FirstTap(y); j < height.LastTap(y); ++j) {
        for (int k = width.FirstTap(x); k < width.LastTap(x); ++k) {
          const int64_t slice = batch * depth.input + At(depth, d, i);
          const int64_t pixel =
              (slice * height.input + At(height, y, j)) * width.input + At(width, x, k);
          const int64_t tap = (int64_t{i} * height.filter + j) * width.filter + k;
          AddTap(input_ + pixel * channels_, filter_ + tap * channels_ * outputs_, out);
        }
      }
    }
  }

 private:
  static int64_t At(const WindowAxis& axis, int window, int tap) {
    return axis.Start(window) + int64_t{tap} * axis.dilation;
  }
  void AddTap(const float* in, const float* filter, float* out) const {
    for (int64_t c = 0; c < channels_; ++c, filter += outputs_) {
      for (int64_t o = 0; o < outputs_; ++o) out[o] += in[c] * filter[o];
    }
  }

  const Conv3dData& data_;
  const float* input_;
  const float* filter_;
  int64_t channels_, outputs_;
};

TfLiteStatus EvalConv3d(TfLiteContext* context, TfLiteNode* node) {
  TfLiteTensor* output = Output(context, node, 0);
  const Convolution convolution(DataOf<Conv3dData>(node), Input(context, node, 0),
                                Input(context, node, 1));
  const float* bias = BiasData(Input(context, node, 2));
  const FloatRange range = ActivationRange(ParamsOf<TfLiteConv3DParams>(node).activation);
  const int channels = Dim(output, 4);
  ForEachRow(context, output, [&](int64_t batch, int d, int y) {
    const int64_t row = (batch * Dim(output, 1) + d) * Dim(output, 2) + y;
    float* out = Data<float>(output) + row * Dim(output, 3) * channels;
    for (int x = 0; x < Dim(output, 3); ++x, out += channels) {
      std::fill_n(out, channels, 0.0f);
      convolution.AddPixel(batch, d, y, x, out);
      FinishPixel(bias, range, channels, out);
    }
  });
  return kTfLiteOk;
}

// ---- CONV_3D_TRANSPOSE ------------------------------------------------------------------------

// Resizes the output to the shape in input 0. A convolution of a tensor of that shape must have the
// shape of input 2.
TfLiteStatus ResizeTransposed(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* shape = Input(context, node, 0);
  const TfLiteTensor* filter = Input(context, node, 1);
  const TfLiteTensor* input = Input(context, node, 2);
  int dims[5];
  for (int d = 0; d < 5; ++d) {
    DEPUTY_TRY(SetExtent(context, Output(context, node, 0), d, IntegerAt(shape, d), &dims[d]));
  }
  if (dims[0] != Dim(input, 0) || dims[4] != Dim(filter, 3)) {
    return TensorError(context, shape, "expected %d batches and %d channels, found %d and %d",
                       Dim(input, 0), Dim(filter, 3), dims[0], dims[4]);
  }
  WindowAxis* axes = DataOf<Conv3dData>(node).axes;
  DEPUTY_TRY(
      ComputeAxes(context, ParamsOf<TfLiteConv3DTransposeParams>(node), dims + 1, filter, axes));
  for (int d = 0; d < 3; ++d) DEPUTY_TRY(CheckDim(context, input, d + 1, axes[d].output));
  return ResizeTo(context, Output(context, node, 0), dims);
}

TfLiteStatus PrepareConv3dTranspose(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 3, 4, 1));
  const TfLiteTensor* shape = Input(context, node, 0);
  const TfLiteTensor* filter = Input(context, node, 1);
  const TfLiteTensor* input = Input(context, node, 2);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, shape, kInt32Bit));
  DEPUTY_TRY(CheckRank(context, shape, 1));
  DEPUTY_TRY(CheckElementCount(context, shape, 5));
  DEPUTY_TRY(CheckRank(context, input, 5));
  DEPUTY_TRY(CheckRank(context, filter, 5));
  DEPUTY_TRY(CheckTensors(context, input, filter, Input(context, node, 3), output, Dim(filter, 3)));
  DEPUTY_TRY(CheckDim(context, filter, 4, Dim(input, 4)));
  if (IsKnown(shape)) return ResizeTransposed(context, node);
  MakeDynamic(output);
  return kTfLiteOk;
}

// Returns the index of the window whose tap `tap` is at position `at`, or a negative value if there
// is none.
int64_t WindowAt(const WindowAxis& axis, int at, int tap) {
  const int64_t start = int64_t{at} + axis.before - int64_t{tap} * axis.dilation;
  if (start < 0 || start % axis.stride != 0) return -1;
  return start / axis.stride < axis.output ? start / axis.stride : -1;
}

// Computes one output pixel from the input pixels whose windows cover it.
class Transposition {
 public:
  Transposition(const Conv3dData& data, const TfLiteTensor* input, const TfLiteTensor* filter)
      : data_(data),
        input_(Data<float>(input)),
        filter_(Data<float>(filter)),
        channels_(Dim(filter, 4)),
        outputs_(Dim(filter, 3)) {}

  void AddPixel(int64_t batch, int d, int y, int x, float* out) const {
    const auto& [depth, height, width] = data_.axes;
    for (int i = 0; i < depth.filter; ++i) {
      const int64_t in_d = WindowAt(depth, d, i);
      for (int j = 0; j < height.filter && in_d >= 0; ++j) {
        const int64_t in_y = WindowAt(height, y, j);
        for (int k = 0; k < width.filter && in_y >= 0; ++k) {
          const int64_t in_x = WindowAt(width, x, k);
          if (in_x < 0) continue;
          const int64_t row = (batch * depth.output + in_d) * height.output + in_y;
          const int64_t tap = (int64_t{i} * height.filter + j) * width.filter + k;
          AddTap(input_ + (row * width.output + in_x) * channels_,
                 filter_ + tap * outputs_ * channels_, out);
        }
      }
    }
  }

 private:
  void AddTap(const float* in, const float* filter, float* out) const {
    for (int64_t o = 0; o < outputs_; ++o, filter += channels_) {
      float sum = 0.0f;
      for (int64_t c = 0; c < channels_; ++c) sum += in[c] * filter[c];
      out[o] += sum;
    }
  }

  const Conv3dData& data_;
  const float* input_;
  const float* filter_;
  int64_t channels_, outputs_;
};

TfLiteStatus EvalConv3dTranspose(TfLiteContext* context, TfLiteNode* node) {
  TfLiteTensor* output = Output(context, node, 0);
  if (IsDynamic(output)) DEPUTY_TRY(ResizeTransposed(context, node));
  const Transposition transposition(DataOf<Conv3dData>(node), Input(context, node, 2),
                                    Input(context, node, 1));
  const float* bias = BiasData(Input(context, node, 3));
  const FloatRange range = ActivationRange(ParamsOf<TfLiteConv3DTransposeParams>(node).activation);
  const int channels = Dim(output, 4);
  ForEachRow(context, output, [&](int64_t batch, int d, int y) {
    const int64_t row = (batch * Dim(output, 1) + d) * Dim(output, 2) + y;
    float* out = Data<float>(output) + row * Dim(output, 3) * channels;
    for (int x = 0; x < Dim(output, 3); ++x, out += channels) {
      std::fill_n(out, channels, 0.0f);
      transposition.AddPixel(batch, d, y, x, out);
      FinishPixel(bias, range, channels, out);
    }
  });
  return kTfLiteOk;
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    WithOptions<106, TfLiteConv3DParams, &FillConv3d>(
        KernelRow<Conv3dData>("CONV_3D", kTfLiteBuiltinConv3d, 1, kFloat32Bit,
                              &Guarded<&PrepareConv3d>, &Guarded<&EvalConv3d>)),
    WithOptions<106, TfLiteConv3DTransposeParams, &FillConv3d>(
        KernelRow<Conv3dData>("CONV_3D_TRANSPOSE", kTfLiteBuiltinConv3dTranspose, 1, kFloat32Bit,
                              &Guarded<&PrepareConv3dTranspose>, &Guarded<&EvalConv3dTranspose>)),
};

}  // namespace

constexpr std::span<const OpDef> kConv3dOps = kTable;

}  // namespace deputy
