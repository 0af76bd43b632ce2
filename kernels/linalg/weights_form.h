// SPDX-License-Identifier: Apache-2.0
//
// Combinations of types supported by operators with weights (convolutions, fully connected layers),
// and the checks of their weights and biases.
#ifndef DEPUTY_KERNELS_LINALG_WEIGHTS_FORM_H_
#define DEPUTY_KERNELS_LINALG_WEIGHTS_FORM_H_

#include "kernels/common/kernel.h"

namespace deputy {

enum class WeightsForm {
  kFloat,   // input, weights, bias and output are float32
  kInt8,    // int8, with an int32 bias
  kUInt8,   // uint8, with an int32 bias
  kInt16,   // int16 with int8 weights; bias is int32 (32-bit sums) or int64 (64-bit sums)
  kHybrid,  // float32 with int8 weights and a float32 bias
};

// Types of the inputs of all forms of weights. Operators that accept 4-bit or 2-bit weights convert
// them to int8 (kernels/linalg/dense_weights.h).
inline constexpr uint32_t kWeightsFormInputs = kFloat32Bit | kInt8Bit | kUInt8Bit | kInt16Bit;

inline bool IsQuantizedForm(WeightsForm form) {
  return form != WeightsForm::kFloat && form != WeightsForm::kHybrid;
}

// Determines the form of weights from the tensors' types. Fails for any other combination and if
// the output's type is not the input's. `packed` are the types of weights that the operator accepts
// in place of int8.
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

// Checks a bias, which may be null. `declared` is the operator's quantized_bias_type, float32 if
// not set; it applies to int16 only.
inline TfLiteStatus CheckBias(TfLiteContext* context, WeightsForm form, const TfLiteTensor* bias,
                              TfLiteType declared, int channels) {
  const bool is_declared = form == WeightsForm::kInt16 && declared != kTfLiteFloat32;
  if (is_declared && declared != kTfLiteInt32 && declared != kTfLiteInt64) {
    return KernelError(context, "quantized_bias_type: expected INT32 or INT64, found %s",
                       TfLiteTypeGetName(declared));
  }
  if (bias == nullptr) return kTfLiteOk;
  uint32_t types = IsQuantizedForm(form) ? kInt32Bit : kFloat32Bit;
  if (form == WeightsForm::kInt16) types = is_declared ? TypeBit(declared) : kInt32Bit | kInt64Bit;
  DEPUTY_TRY(CheckType(context, bias, types));
  return CheckElementCount(context, bias, channels);
}

// Returns true if the sums of an int16 operator have 64 bits.
inline bool HasWideSums(const TfLiteTensor* bias, TfLiteType declared) {
  return bias == nullptr ? declared != kTfLiteInt32 : bias->type == kTfLiteInt64;
}

// Adds channel `channel` of an optional int32 or int64 bias to the sum of an int16 operator.
inline int64_t AddInt16Bias(int64_t sum, const TfLiteTensor* bias, int channel) {
  if (bias == nullptr) return sum;
  const int64_t value = bias->type == kTfLiteInt64 ? Data<int64_t>(bias)[channel]
                                                   : int64_t{Data<int32_t>(bias)[channel]};
  return static_cast<int64_t>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(value));
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_LINALG_WEIGHTS_FORM_H_
