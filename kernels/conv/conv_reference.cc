// SPDX-License-Identifier: Apache-2.0
//
// CONV_2D and DEPTHWISE_CONV_2D as plain loops for all forms of weights: the fallback, and the
// reference for tests of the faster implementations.
#include "kernels/conv/plain_conv.h"

namespace deputy {
namespace {

TfLiteStatus PlainFloat(TfLiteContext* context, const PlainLayer& layer) {
  const ConvData& data = layer.data;
  const float* bias = Data<float>(layer.tensors.bias);
  float* out = Data<float>(layer.tensors.output);
  const float zero = 0.0f;
  const PlainConv<float, float, float> conv = {Data<float>(layer.tensors.input),
                                               Data<float>(layer.tensors.filter), &zero, 0, 0.0f};
  return RunPlain(context, layer, conv, [&](float sum, int64_t pixel, int channel, int64_t) {
    out[pixel * data.shape.output_channels + channel] =
        Clamp(sum + bias[channel], data.float_range);
  });
}

TfLiteStatus Plain(TfLiteContext* context, const PlainLayer& layer) {
  switch (layer.data.form) {
    case WeightsForm::kFloat:
      return PlainFloat(context, layer);
    case WeightsForm::kInt8:
      return PlainQuantized<int8_t>(context, layer);
    case WeightsForm::kUInt8:
      return PlainQuantized<uint8_t>(context, layer);
    case WeightsForm::kInt16:
      return PlainInt16(context, layer);
    case WeightsForm::kHybrid:
      return PlainHybrid(context, layer);
  }
  return kTfLiteError;
}

TfLiteStatus RunConv(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                     const CpuKernels&) {
  return Plain(context, {*data, tensors, false});
}

TfLiteStatus RunDepthwise(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                          const CpuKernels&) {
  return Plain(context, {*data, tensors, true});
}

}  // namespace

constexpr ConvImplementation kReferenceConv = {.name = "reference",
                                               .accepts = &AcceptsAll<ConvData, ConvTensors>,
                                               .pack = nullptr,
                                               .scratch = nullptr,
                                               .run = &RunConv};
constexpr ConvImplementation kReferenceDepthwise = {.name = "reference",
                                                    .accepts = &AcceptsAll<ConvData, ConvTensors>,
                                                    .pack = nullptr,
                                                    .scratch = nullptr,
                                                    .run = &RunDepthwise};

}  // namespace deputy
