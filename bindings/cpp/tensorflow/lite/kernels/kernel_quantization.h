// SPDX-License-Identifier: Apache-2.0
//
// Ranges of activations and factors of quantised convolutions. kernel_util.h includes it.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_KERNEL_QUANTIZATION_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_KERNEL_QUANTIZATION_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tensorflow/lite/core/c/builtin_op_data.h"
#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/kernels/internal/quantization_util.h"

namespace tflite {

// True for float32 activations with weights of 8 bits.
inline bool IsHybridOp(const TfLiteTensor* input, const TfLiteTensor* weight) {
  return input->type == kTfLiteFloat32 &&
         (weight->type == kTfLiteInt8 || weight->type == kTfLiteUInt8);
}

// Range of the results of an activation; the range of T for activations that do not clamp.
template <typename T>
void CalculateActivationRange(TfLiteFusedActivation activation, T* activation_min,
                              T* activation_max) {
  *activation_min = std::numeric_limits<T>::lowest();
  *activation_max = std::numeric_limits<T>::max();
  if (activation == kTfLiteActRelu || activation == kTfLiteActRelu6) *activation_min = 0;
  if (activation == kTfLiteActRelu6) *activation_max = 6;
  if (activation == kTfLiteActReluN1To1) {
    *activation_min = -1;
    *activation_max = 1;
  }
}

namespace kernel_quantization_internal {

// Stores the quantised value of `real`, not clamped to the tensor's type.
inline TfLiteStatus QuantizeValue(TfLiteContext* context, const TfLiteTensor* tensor, float real,
                                  std::int32_t* quantized) {
  const float rounded = std::round(real / tensor->params.scale);
  // TF_LITE_ENSURE reports the name of this variable.
  const bool no_integer_overflow_from_quantization =
      rounded >= static_cast<float>(std::numeric_limits<std::int32_t>::min()) &&
      rounded <= static_cast<float>(std::numeric_limits<std::int32_t>::max());
  TF_LITE_ENSURE(context, no_integer_overflow_from_quantization);
  const std::int64_t value = static_cast<std::int64_t>(rounded) + tensor->params.zero_point;
  *quantized = static_cast<std::int32_t>(std::clamp<std::int64_t>(
      value, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
  return kTfLiteOk;
}

}  // namespace kernel_quantization_internal

// Range of quantised results of an activation; `output` is uint8, int8 or int16.
inline TfLiteStatus CalculateActivationRangeQuantized(TfLiteContext* context,
                                                      TfLiteFusedActivation activation,
                                                      TfLiteTensor* output, std::int32_t* act_min,
                                                      std::int32_t* act_max) {
  TF_LITE_ENSURE(context, output->type == kTfLiteUInt8 || output->type == kTfLiteInt8 ||
                              output->type == kTfLiteInt16);
  std::int32_t min = 0;
  std::int32_t max = 255;
  if (output->type == kTfLiteInt8) {
    min = -128;
    max = 127;
  } else if (output->type == kTfLiteInt16) {
    min = -32768;
    max = 32767;
  }
  float real_min = 0;
  float real_max = 0;
  CalculateActivationRange(activation, &real_min, &real_max);
  std::int32_t bound = 0;
  if (real_min > std::numeric_limits<float>::lowest()) {
    TF_LITE_ENSURE_STATUS(
        kernel_quantization_internal::QuantizeValue(context, output, real_min, &bound));
    min = std::max(min, bound);
  }
  if (real_max < std::numeric_limits<float>::max()) {
    TF_LITE_ENSURE_STATUS(
        kernel_quantization_internal::QuantizeValue(context, output, real_max, &bound));
    max = std::min(max, bound);
  }
  *act_min = min;
  *act_max = max;
  return kTfLiteOk;
}

// Store input scale * filter scale / output scale. With a bias, its scale must be the product of
// the first two, within 2 % of the output's scale.
inline TfLiteStatus GetQuantizedConvolutionMultipler(TfLiteContext* context,
                                                     const TfLiteTensor* input,
                                                     const TfLiteTensor* filter,
                                                     TfLiteTensor* output, double* multiplier) {
  // The product is rounded to float, as in TensorFlow Lite.
  const double input_product_scale =
      static_cast<double>(input->params.scale * filter->params.scale);
  TF_LITE_ENSURE(context, input_product_scale >= 0);
  *multiplier = input_product_scale / static_cast<double>(output->params.scale);
  return kTfLiteOk;
}
inline TfLiteStatus GetQuantizedConvolutionMultipler(TfLiteContext* context,
                                                     const TfLiteTensor* input,
                                                     const TfLiteTensor* filter,
                                                     const TfLiteTensor* bias, TfLiteTensor* output,
                                                     double* multiplier) {
  if (bias != nullptr) {
    const double product =
        static_cast<double>(input->params.scale) * static_cast<double>(filter->params.scale);
    const double scale_diff = std::abs(product - static_cast<double>(bias->params.scale));
    const double output_scale = static_cast<double>(output->params.scale);
    TF_LITE_ENSURE(context, scale_diff / output_scale <= 0.02);
  }
  return GetQuantizedConvolutionMultipler(context, input, filter, output, multiplier);
}

// Stores the factors that scale the accumulators of a quantised convolution, one per channel of the
// filter, and, for int8, uint8 and int16 inputs, the range of the activation. `multiplier` and
// `shift` are set for uint8 only, with `shift` as a shift to the right; the others have
// QuantizeMultiplier's direction. `per_channel_multiplier` and `per_channel_shift` have
// `num_channels` elements.
inline TfLiteStatus PopulateConvolutionQuantizationParams(
    TfLiteContext* context, const TfLiteTensor* input, const TfLiteTensor* filter,
    const TfLiteTensor* bias, TfLiteTensor* output, const TfLiteFusedActivation& activation,
    std::int32_t* multiplier, int* shift, std::int32_t* output_activation_min,
    std::int32_t* output_activation_max, std::int32_t* per_channel_multiplier,
    std::int32_t* per_channel_shift, int num_channels) {
  TF_LITE_ENSURE_EQ(context, input->quantization.type, kTfLiteAffineQuantization);
  TF_LITE_ENSURE_EQ(context, filter->quantization.type, kTfLiteAffineQuantization);
  const auto* affine = static_cast<const TfLiteAffineQuantization*>(filter->quantization.params);
  TF_LITE_ENSURE(context, affine);
  TF_LITE_ENSURE(context, affine->scale);
  const bool is_per_channel = affine->scale->size > 1;
  if (is_per_channel) {
    TF_LITE_ENSURE(context, input->type == kTfLiteInt8 || input->type == kTfLiteInt16);
    TF_LITE_ENSURE(context, filter->type == kTfLiteInt8 || filter->type == kTfLiteInt4);
    TF_LITE_ENSURE_EQ(context, affine->scale->size, num_channels);
    TF_LITE_ENSURE_EQ(context, num_channels, filter->dims->data[affine->quantized_dimension]);
  }
  for (int i = 0; i < num_channels; ++i) {
    const double filter_scale = static_cast<double>(affine->scale->data[is_per_channel ? i : 0]);
    const double scale = static_cast<double>(input->params.scale) * filter_scale /
                         static_cast<double>(output->params.scale);
    int channel_shift = 0;
    QuantizeMultiplier(scale, &per_channel_multiplier[i], &channel_shift);
    per_channel_shift[i] = channel_shift;
  }
  if (input->type == kTfLiteUInt8) {
    double scale = 0;
    TF_LITE_ENSURE_STATUS(
        GetQuantizedConvolutionMultipler(context, input, filter, bias, output, &scale));
    int exponent = 0;
    QuantizeMultiplier(scale, multiplier, &exponent);
    *shift = -exponent;
  }
  if (input->type == kTfLiteInt8 || input->type == kTfLiteUInt8 || input->type == kTfLiteInt16) {
    TF_LITE_ENSURE_STATUS(CalculateActivationRangeQuantized(
        context, activation, output, output_activation_min, output_activation_max));
  }
  return kTfLiteOk;
}

// Takes the number of channels from the filter's quantisation, which must be affine.
inline TfLiteStatus PopulateConvolutionQuantizationParams(
    TfLiteContext* context, const TfLiteTensor* input, const TfLiteTensor* filter,
    const TfLiteTensor* bias, TfLiteTensor* output, const TfLiteFusedActivation& activation,
    std::int32_t* multiplier, int* shift, std::int32_t* output_activation_min,
    std::int32_t* output_activation_max, std::int32_t* per_channel_multiplier,
    std::int32_t* per_channel_shift) {
  const auto* affine = static_cast<const TfLiteAffineQuantization*>(filter->quantization.params);
  TF_LITE_ENSURE(context, affine);
  TF_LITE_ENSURE(context, affine->scale);
  return PopulateConvolutionQuantizationParams(
      context, input, filter, bias, output, activation, multiplier, shift, output_activation_min,
      output_activation_max, per_channel_multiplier, per_channel_shift, affine->scale->size);
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_KERNEL_QUANTIZATION_H_
