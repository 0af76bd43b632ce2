// SPDX-License-Identifier: Apache-2.0
#include "kernels/rnn/activate.h"

#include <algorithm>
#include <cmath>

namespace deputy {
namespace {

template <typename Function>
void Map(const float* values, int64_t count, const Function& function, float* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = function(values[i]);
}

template <typename Function>
void MapBy(MapF32 loop, const float* values, int64_t count, const Function& plain, float* out) {
  if (loop != nullptr) {
    loop(values, count, 0.0f, out);
  } else {
    Map(values, count, plain, out);
  }
}

}  // namespace

void Activate(const VectorKernels& vector, TfLiteFusedActivation activation, const float* values,
              int64_t count, float* out) {
  switch (activation) {
    case kTfLiteActRelu:
      return Map(
          values, count, [](float x) { return std::max(0.0f, x); }, out);
    case kTfLiteActReluN1To1:
      return Map(
          values, count, [](float x) { return std::clamp(x, -1.0f, 1.0f); }, out);
    case kTfLiteActRelu6:
      return Map(
          values, count, [](float x) { return std::clamp(x, 0.0f, 6.0f); }, out);
    case kTfLiteActTanh:
      return MapBy(
          vector.tanh, values, count, [](float x) { return std::tanh(x); }, out);
    case kTfLiteActSignBit:
      return Map(
          values, count, [](float x) { return std::signbit(x) ? 1.0f : 0.0f; }, out);
    case kTfLiteActSigmoid:
      return MapBy(
          vector.logistic, values, count, [](float x) { return 1.0f / (1.0f + std::exp(-x)); },
          out);
    default:
      return;
  }
}

TfLiteStatus CheckRecurrentActivation(TfLiteContext* context, TfLiteFusedActivation activation) {
  if (activation >= kTfLiteActNone && activation <= kTfLiteActSigmoid) return kTfLiteOk;
  return KernelError(context, "fused activation: expected 0 to 6, found %d",
                     static_cast<int>(activation));
}

}  // namespace deputy
