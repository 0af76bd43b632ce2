// SPDX-License-Identifier: Apache-2.0
//
// Plain loops that inference uses, too: for int16 layers without faster code, and for float32
// depthwise convolutions with int8 weights.
#include "kernels/conv/plain_conv.h"

namespace deputy {

TfLiteStatus PlainInt16(TfLiteContext* context, const PlainLayer& layer) {
  const ConvData& data = layer.data;
  const TfLiteTensor* bias = layer.tensors.bias;
  int16_t* out = Data<int16_t>(layer.tensors.output);
  const int32_t zero = 0;
  const PlainConv<int16_t, int8_t, int64_t> conv = {
      Data<int16_t>(layer.tensors.input), Data<int8_t>(layer.tensors.filter), &zero, 0, 0};
  return RunPlain(context, layer, conv, [&](int64_t sum, int64_t pixel, int channel, int64_t) {
    out[pixel * data.shape.output_channels + channel] =
        data.scaling.RequantizeInt16(AddInt16Bias(sum, bias, channel), data.wide_sums, channel);
  });
}

TfLiteStatus PlainHybrid(TfLiteContext* context, const PlainLayer& layer) {
  const ConvData& data = layer.data;
  HybridRows hybrid;
  DEPUTY_TRY(data.QuantizeInput(context, layer.tensors, &hybrid));
  const float* bias = Data<float>(layer.tensors.bias);
  float* out = Data<float>(layer.tensors.output);
  const PlainConv<int8_t, int8_t, int32_t> conv = {
      hybrid.values(), Data<int8_t>(layer.tensors.filter), hybrid.zero_points(), 1, 0};
  return RunPlain(context, layer, conv,
                  [&](int32_t sum, int64_t pixel, int channel, int64_t batch) {
                    const float scale = data.weight_scales[channel] * hybrid.scales()[batch];
                    out[pixel * data.shape.output_channels + channel] =
                        Clamp(static_cast<float>(sum) * scale + bias[channel], data.float_range);
                  });
}

}  // namespace deputy
