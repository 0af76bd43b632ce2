// SPDX-License-Identifier: Apache-2.0
//
// The combinations of types in which operators with weights come (convolutions, fully connected
// layers), and what their weights and biases must be.
#ifndef DEPUTY_KERNELS_LINALG_WEIGHTS_FORM_H_
#define DEPUTY_KERNELS_LINALG_WEIGHTS_FORM_H_

#include "kernels/common/kernel.h"

namespace deputy {

enum class WeightsForm {
  kFloat,   // all float32
  kInt8,    // all int8, bias int32
  kUInt8,   // all uint8, bias int32
  kInt16,   // int16 with int8 weights, bias int32 (sums of 32 bits) or int64 (sums of 64 bits)
  kHybrid,  // float32 with int8 weights, bias float32
};
// Where an operator takes weights of 4 or 2 bits, these stand for int8 (kernels/linalg/
// dense_weights.h).

// The types of inputs with which the forms come.
inline constexpr uint32_t kWeightsFormInputs = kFloat32Bit | kInt8Bit | kUInt8Bit | kInt16Bit;

inline bool IsQuantizedForm(WeightsForm form) {
  return form != WeightsForm::kFloat && form != WeightsForm::kHybrid;
}

// Which form it is; refuses other types and another type of output. `packed`: the types of weights
// that the operator takes in place of int8.
inline TfLiteStatus FindWeightsForm(TfLiteContext* context, const TfLiteTensor* input,
                                    const TfLiteTensor* weights, const TfLiteTensor* output,
                                    uint32_t packed, WeightsForm* out_form) {
  DEPUTY_TRY(CheckType(context, input, kWeightsFormInputs));
  DEPUTY_TRY(CheckSameType(context, output, input));
  switch (input->type) {
    case kTfLiteFloat32:
      DEPUTY_TRY(CheckType(context, weights, kFloat32Bit | kInt8Bit | packed));
      *out_form = weights->type == kTfLiteFloat32 ? WeightsForm::kFloat : WeightsForm::kHybrid;
      return kTfLiteOk;
    case kTfLiteInt16:
      *out_form = WeightsForm::kInt16;
      return CheckType(context, weights, kInt8Bit | packed);
    case kTfLiteInt8:
      *out_form = WeightsForm::kInt8;
      return CheckType(context, weights, kInt8Bit | packed);
    default:
      *out_form = WeightsForm::kUInt8;
      return CheckSameType(context, weights, input);
  }
}

// Checks a bias that may be absent (null). `said` is the operator's quantized_bias_type, float32
// where nothing is said; it binds int16 only.
inline TfLiteStatus CheckBias(TfLiteContext* context, WeightsForm form, const TfLiteTensor* bias,
                              TfLiteType said, int channels) {
  const bool says = form == WeightsForm::kInt16 && said != kTfLiteFloat32;
  if (says && said != kTfLiteInt32 && said != kTfLiteInt64) {
    return KernelError(context, "quantized_bias_type: expected INT32 or INT64, found %s",
                       TfLiteTypeGetName(said));
  }
  if (bias == nullptr) return kTfLiteOk;
  uint32_t types = IsQuantizedForm(form) ? kInt32Bit : kFloat32Bit;
  if (form == WeightsForm::kInt16) types = says ? TypeBit(said) : kInt32Bit | kInt64Bit;
  DEPUTY_TRY(CheckType(context, bias, types));
  return CheckElementCount(context, bias, channels);
}

// int16 only: whether sums are of 64 bits.
inline bool HasWideSums(const TfLiteTensor* bias, TfLiteType said) {
  return bias == nullptr ? said != kTfLiteInt32 : bias->type == kTfLiteInt64;
}

// Adds channel `channel` of an int32 or int64 bias, if there is one, to an int16 operator's sum.
inline int64_t AddInt16Bias(int64_t sum, const TfLiteTensor* bias, int channel) {
  if (bias == nullptr) return sum;
  const int64_t value = bias->type == kTfLiteInt64 ? Data<int64_t>(bias)[channel]
                                                   : int64_t{Data<int32_t>(bias)[channel]};
  return static_cast<int64_t>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(value));
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_LINALG_WEIGHTS_FORM_H_
