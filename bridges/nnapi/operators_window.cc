// SPDX-License-Identifier: Apache-2.0
//
// Convolutions, fully connected layers, pooling and image operators.
#include "bridges/nnapi/operators.h"

namespace deputy::nnapi {
namespace {

bool ExpectLayerTypes(const Operation& op, const TfLiteTensor& input, const TfLiteTensor& weights) {
  return op.ExpectSameType(input, weights) && op.ExpectSameType(input, op.out(0));
}

bool ExpectStrides(const Operation& op, int width, int height) {
  return (width > 0 && height > 0) ||
         op.definition->Refuse(kDeputyReasonParameter, "stride: expected a positive number");
}

// Adds the inputs for dilation, which follow the fused activation.
bool AddDilation(const Operation& op, int width, int height) {
  if (width == 1 && height == 1) return true;
  if (width < 1 || height < 1) {
    return op.definition->Refuse(kDeputyReasonParameter, "dilation: expected a positive number");
  }
  if (!op.definition->ExpectLevel(kFeatureLevel3, "dilation")) return false;
  op.definition->Bool(false);
  op.definition->Int(width);
  op.definition->Int(height);
  return true;
}

// Checks and defines both kinds of RESIZE. `needs_layout` is true if the layout is a required
// input.
void FinishResize(const Operation& op, bool needs_layout, bool align_corners,
                  bool half_pixel_centers) {
  if (!op.ExpectInputs(2, 2) || !op.ExpectRank(op.in(0), 4) ||
      !op.ExpectSameQuantization(op.in(0), op.out(0))) {
    return;
  }
  if (align_corners && half_pixel_centers) {
    op.definition->Refuse(kDeputyReasonParameter,
                          "expected align_corners or half_pixel_centers, found both");
    return;
  }
  const bool has_options = align_corners || half_pixel_centers;
  if (has_options &&
      !op.definition->ExpectLevel(kFeatureLevel4, "align_corners or half_pixel_centers"))
    return;
  op.definition->Input(op.In(0));
  op.definition->Int(op.out(0).dims->data[2]);
  op.definition->Int(op.out(0).dims->data[1]);
  if (needs_layout || has_options) op.definition->Bool(false);
  if (has_options) {
    op.definition->Bool(align_corners);
    op.definition->Bool(half_pixel_centers);
  }
  op.Finish();
}

}  // namespace

void DefineConv(const Operation& op) {
  const auto& params = op.params<TfLiteConvParams>();
  int32_t fuse = 0, padding = 0;
  if (!op.ExpectInputs(2, 3) || !op.ExpectRank(op.in(0), 4) || !op.ExpectRank(op.in(1), 4) ||
      !ExpectLayerTypes(op, op.in(0), op.in(1)) || !op.ReadFuse(params.activation, &fuse) ||
      !op.ReadPadding(params.padding, &padding) || !op.ExpectProductScale(op.in(0), op.in(1)) ||
      !ExpectStrides(op, params.stride_width, params.stride_height)) {
    return;
  }
  const int* filter = op.in(1).dims->data;
  if (filter[3] != op.in(0).dims->data[3]) {
    op.definition->Refuse(kDeputyReasonShape, "groups of channels are not supported");
    return;
  }
  op.definition->Input(op.In(0));
  op.definition->Weights(op.In(1), 0);
  op.definition->Bias(op.In(2), op.in(0), op.in(1), static_cast<uint32_t>(filter[0]));
  op.definition->Int(padding);
  op.definition->Int(params.stride_width);
  op.definition->Int(params.stride_height);
  op.definition->Int(fuse);
  if (AddDilation(op, params.dilation_width_factor, params.dilation_height_factor)) op.Finish();
}

void DefineDepthwiseConv(const Operation& op) {
  const auto& params = op.params<TfLiteDepthwiseConvParams>();
  int32_t fuse = 0, padding = 0;
  if (!op.ExpectInputs(2, 3) || !op.ExpectRank(op.in(0), 4) || !op.ExpectRank(op.in(1), 4) ||
      !ExpectLayerTypes(op, op.in(0), op.in(1)) || !op.ReadFuse(params.activation, &fuse) ||
      !op.ReadPadding(params.padding, &padding) || !op.ExpectProductScale(op.in(0), op.in(1)) ||
      !ExpectStrides(op, params.stride_width, params.stride_height)) {
    return;
  }
  const int channels = op.in(0).dims->data[3], out_channels = op.in(1).dims->data[3];
  if (out_channels % channels != 0) {
    op.definition->Refuse(kDeputyReasonShape,
                          "expected output channels that are a multiple of the input channels");
    return;
  }
  op.definition->Input(op.In(0));
  op.definition->Weights(op.In(1), 3);
  op.definition->Bias(op.In(2), op.in(0), op.in(1), static_cast<uint32_t>(out_channels));
  op.definition->Int(padding);
  op.definition->Int(params.stride_width);
  op.definition->Int(params.stride_height);
  // The multiplier is derived from the shapes, as in TensorFlow Lite's kernels: the value in the
  // options may be wrong.
  op.definition->Int(out_channels / channels);
  op.definition->Int(fuse);
  if (AddDilation(op, params.dilation_width_factor, params.dilation_height_factor)) op.Finish();
}

// Defines TRANSPOSE_CONV. Inputs: shape of the result, filter, data, optional bias.
void DefineTransposeConv(const Operation& op) {
  const auto& params = op.params<TfLiteTransposeConvParams>();
  int32_t fuse = 0, padding = 0;
  if (!op.ExpectInputs(3, 4) || !op.ExpectRank(op.in(2), 4) || !op.ExpectRank(op.in(1), 4) ||
      !ExpectLayerTypes(op, op.in(2), op.in(1)) || !op.ReadFuse(params.activation, &fuse) ||
      !op.ReadPadding(params.padding, &padding) || !op.ExpectConstant(op.in(0)) ||
      !ExpectStrides(op, params.stride_width, params.stride_height)) {
    return;
  }
  std::vector<int32_t> shape(op.out(0).dims->data, op.out(0).dims->data + op.out(0).dims->size);
  op.definition->Input(op.In(2));
  op.definition->Weights(op.In(1), 0);
  op.definition->Bias(op.In(3), op.in(2), op.in(1), static_cast<uint32_t>(op.in(1).dims->data[0]));
  op.definition->Ints(shape);
  op.definition->Int(padding);
  op.definition->Int(params.stride_width);
  op.definition->Int(params.stride_height);
  op.definition->Int(fuse);
  op.definition->Bool(false);
  op.Finish();
}

void DefineFullyConnected(const Operation& op) {
  const auto& params = op.params<TfLiteFullyConnectedParams>();
  int32_t fuse = 0;
  if (!op.ExpectInputs(2, 3) || !op.ExpectRank(op.in(1), 2) ||
      !ExpectLayerTypes(op, op.in(0), op.in(1)) || !op.ReadFuse(params.activation, &fuse) ||
      !op.ExpectProductScale(op.in(0), op.in(1))) {
    return;
  }
  if (params.weights_format != kTfLiteFullyConnectedWeightsFormatDefault) {
    op.definition->Refuse(kDeputyReasonParameter, "shuffled weights");
    return;
  }
  if (op.in(0).dims->size < 2) {
    op.definition->Refuse(kDeputyReasonShape, "expected at least 2 dimensions");
    return;
  }
  const auto units = static_cast<uint32_t>(op.in(1).dims->data[0]);
  op.definition->Input(op.In(0));
  op.definition->Weights(op.In(1), -1);
  op.definition->Bias(op.In(2), op.in(0), op.in(1), units);
  op.definition->Int(fuse);
  if (op.out(0).dims->size == 2) {
    op.Finish();
    return;
  }
  // NNAPI's result has two dimensions; a RESHAPE restores the dimensions of the output.
  const uint32_t product =
      op.definition->Intermediate(op.out(0), {CountOf(op.out(0)) / units, units});
  op.definition->Finish(op.code);
  op.definition->Operand(product);
  op.definition->Ints({op.out(0).dims->data, op.out(0).dims->data + op.out(0).dims->size});
  op.definition->Output(op.Out(0));
  op.definition->Finish(kReshape);
}

void DefinePool(const Operation& op) {
  const auto& params = op.params<TfLitePoolParams>();
  int32_t fuse = 0, padding = 0;
  if (!op.ExpectInputs(1, 1) || !op.ExpectRank(op.in(0), 4) ||
      !op.ExpectSameQuantization(op.in(0), op.out(0)) || !op.ReadFuse(params.activation, &fuse) ||
      !op.ReadPadding(params.padding, &padding) ||
      !ExpectStrides(op, params.stride_width, params.stride_height) ||
      !ExpectStrides(op, params.filter_width, params.filter_height)) {
    return;
  }
  op.definition->Input(op.In(0));
  op.definition->Int(padding);
  op.definition->Int(params.stride_width);
  op.definition->Int(params.stride_height);
  op.definition->Int(params.filter_width);
  op.definition->Int(params.filter_height);
  op.definition->Int(fuse);
  op.Finish();
}

void DefineResizeBilinear(const Operation& op) {
  const auto& params = op.params<TfLiteResizeBilinearParams>();
  FinishResize(op, false, params.align_corners, params.half_pixel_centers);
}

// RESIZE_NEAREST_NEIGHBOR has at least four inputs in NNAPI, the last one the layout.
void DefineResizeNearest(const Operation& op) {
  const auto& params = op.params<TfLiteResizeNearestNeighborParams>();
  FinishResize(op, true, params.align_corners, params.half_pixel_centers);
}

void DefineL2Normalization(const Operation& op) {
  if (!op.ExpectInputs(1, 1) || !op.ExpectSameType(op.in(0), op.out(0)) ||
      !op.ExpectRankBefore3(op.in(0), 4) || !op.ExpectQuantization(op.out(0), 1.0F / 128, 128)) {
    return;
  }
  if (op.params<TfLiteL2NormParams>().activation != kTfLiteActNone) {
    op.definition->Refuse(kDeputyReasonParameter, "fused activation: expected none");
    return;
  }
  op.FinishWith(1);
}

void DefineLocalResponseNormalization(const Operation& op) {
  const auto& params = op.params<TfLiteLocalResponseNormParams>();
  if (!op.ExpectInputs(1, 1) || !op.ExpectSameType(op.in(0), op.out(0)) ||
      !op.ExpectRankBefore3(op.in(0), 4)) {
    return;
  }
  if (params.bias == 0) {
    op.definition->Refuse(kDeputyReasonParameter, "bias: expected a value other than 0");
    return;
  }
  op.definition->Input(op.In(0));
  op.definition->Int(params.radius);
  op.definition->Float(params.bias);
  op.definition->Float(params.alpha);
  op.definition->Float(params.beta);
  op.Finish();
}

}  // namespace deputy::nnapi
