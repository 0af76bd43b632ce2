// SPDX-License-Identifier: Apache-2.0
//
// Types and quantisation of operators with weights, in each supported form; shared by the case
// files of convolutions and matrix products.
#ifndef DEPUTY_TESTS_CASES_WEIGHTS_FORM_H_
#define DEPUTY_TESTS_CASES_WEIGHTS_FORM_H_

#include "tests/cases/case.h"

namespace deputy {

enum class CaseForm {
  kFloat,
  kInt8,
  kInt8PerChannel,
  kUInt8,
  kInt16,
  kHybrid,
  // The forms from here on have weights of 4 bits.
  kInt8Packed,
  kInt16Packed,
  kHybridPacked
};

inline constexpr CaseForm kAllForms[] = {CaseForm::kFloat,          CaseForm::kInt8,
                                         CaseForm::kInt8PerChannel, CaseForm::kUInt8,
                                         CaseForm::kInt16,          CaseForm::kHybrid};

inline constexpr CaseForm kPackedForms[] = {CaseForm::kInt8Packed, CaseForm::kInt16Packed,
                                            CaseForm::kHybridPacked};

struct FormTensors {
  const char* name = "FLOAT32";
  TfLiteType data = kTfLiteFloat32, weights = kTfLiteFloat32;
  TensorExtras input_extras, weights_extras, bias_extras, output_extras;
};

// Returns the types and quantisation of an operator's tensors in this form. `depth` is the number
// of products that an output sums. With the output's scale most sums fit and some saturate.
inline FormTensors TensorsOf(CaseForm form, int channels, int channel_axis, size_t depth) {
  constexpr float kInputScale = 0.031f, kWeightsScale = 0.0078f;
  FormTensors t;
  if (form >= CaseForm::kInt8Packed) {
    const bool hybrid = form == CaseForm::kHybridPacked, wide = form == CaseForm::kInt16Packed;
    t = TensorsOf(hybrid ? CaseForm::kHybrid
                  : wide ? CaseForm::kInt16
                         : CaseForm::kInt8PerChannel,
                  channels, channel_axis, depth);
    t.name = hybrid ? "hybrid of INT4" : wide ? "INT16 by INT4" : "INT8 by INT4";
    t.weights = kTfLiteInt4;
    for (float& scale : t.output_extras.scale) scale /= 16.0f;
    return t;
  }
  if (form == CaseForm::kFloat) return t;
  float deviation = 1.0f;
  while (deviation * deviation < static_cast<float>(depth)) deviation += 1.0f;
  const float spread = kInputScale * kWeightsScale * deviation * 70.0f;
  t.weights = kTfLiteInt8;
  t.weights_extras = PerChannel(kWeightsScale, channels, channel_axis);
  switch (form) {
    case CaseForm::kInt8:
      t.weights_extras = PerTensor(kWeightsScale, 0);
      [[fallthrough]];
    case CaseForm::kInt8PerChannel:
      t.name = form == CaseForm::kInt8 ? "INT8" : "INT8 per channel";
      t.data = kTfLiteInt8;
      t.input_extras = PerTensor(kInputScale, -11);
      t.output_extras = PerTensor(spread, 5);
      break;
    case CaseForm::kUInt8:
      t.name = "UINT8";
      t.data = t.weights = kTfLiteUInt8;
      t.input_extras = PerTensor(kInputScale, 117);
      t.weights_extras = PerTensor(kWeightsScale, 131);
      t.output_extras = PerTensor(spread, 133);
      break;
    case CaseForm::kInt16:
      t.name = "INT16";
      t.data = kTfLiteInt16;
      t.input_extras = PerTensor(kInputScale / 256.0f, 0);
      t.output_extras = PerTensor(spread / 256.0f, 0);
      break;
    default:
      t.name = "hybrid";
      return t;
  }
  t.bias_extras = t.weights_extras;
  for (float& scale : t.bias_extras.scale) scale *= t.input_extras.scale[0];
  t.bias_extras.zero_point.assign(t.bias_extras.scale.size(), 0);
  t.bias_extras.quantized_dimension = 0;
  return t;
}

// Adds a bias of the form's type: float32, int32, or int64 for int16.
inline int AddFormBias(ModelBuilder* builder, const FormTensors& t, int count, uint32_t seed) {
  if (t.data != kTfLiteInt16) return AddRandomBias(builder, t.data, count, seed, t.bias_extras);
  std::vector<int64_t> values;
  for (float value : RandomFloats(static_cast<size_t>(count), seed)) {
    values.push_back(static_cast<int64_t>(value * 100000.0f));
  }
  return builder->AddConstant<int64_t>(kTfLiteInt64, {count}, values, "bias", t.bias_extras);
}

}  // namespace deputy

#endif  // DEPUTY_TESTS_CASES_WEIGHTS_FORM_H_
