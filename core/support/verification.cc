// SPDX-License-Identifier: Apache-2.0
#include "core/support/verification.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/support/half.h"

namespace deputy {
namespace {

constexpr double kMinTolerance = 1e-5;
// Upper bound on `spread`, in tolerances, so that one outlier does not excuse all other elements.
constexpr double kMaxSpread = 100;

template <typename T>
double Load(const char* data, size_t index) {
  T value;
  std::memcpy(&value, data + index * sizeof(T), sizeof(T));
  if constexpr (std::is_same_v<T, uint16_t>) return HalfToFloat(value);  // uint16_t holds float16
  return static_cast<double>(value);
}

bool AreClose(double expected, double found, double tolerance) {
  if (std::isnan(expected) || std::isnan(found)) return std::isnan(expected) == std::isnan(found);
  if (std::isinf(expected) || std::isinf(found)) return expected == found;
  return std::abs(expected - found) <= tolerance;
}

template <typename T>
std::optional<WrongElement> Compare(const TfLiteTensor& expected, const char* found,
                                    double relative, double absolute, double spread) {
  const size_t count = expected.bytes / sizeof(T);
  double maximum = 0;
  for (size_t i = 0; relative > 0 && i < count; ++i) {
    const double magnitude = std::abs(Load<T>(expected.data.raw, i));
    if (std::isfinite(magnitude)) maximum = std::max(maximum, magnitude);
  }
  const double own = relative * maximum + absolute;
  const double tolerance = own + std::min(spread, kMaxSpread * own);
  for (size_t i = 0; i < count; ++i) {
    const double a = Load<T>(expected.data.raw, i), b = Load<T>(found, i);
    if (!AreClose(a, b, tolerance)) return WrongElement{static_cast<int64_t>(i), a, b};
  }
  return std::nullopt;
}

}  // namespace

bool Verification::IsDue(int64_t runs) const {
  switch (mode) {
    case Mode::kFirst:
      return runs == 0;
    case Mode::kEveryNth:
      return runs % interval == 0;
    case Mode::kAlways:
      return true;
    case Mode::kNever:
      break;
  }
  return false;
}

std::optional<WrongElement> FindWrongElement(const TfLiteTensor& expected, const char* found,
                                             size_t nodes, double spread,
                                             const Verification& verification) {
  const double steps = verification.quantized_steps >= 0 ? verification.quantized_steps
                                                         : 3 + static_cast<double>(nodes) / 2;
  const bool is_quantized = expected.quantization.type != kTfLiteNoQuantization;
  switch (expected.type) {
    case kTfLiteFloat32:
      return Compare<float>(expected, found, verification.float32_tolerance, kMinTolerance, spread);
    case kTfLiteFloat64:
      return Compare<double>(expected, found, verification.float32_tolerance, kMinTolerance,
                             spread);
    case kTfLiteFloat16:
      return Compare<uint16_t>(expected, found, verification.float16_tolerance, kMinTolerance,
                               spread);
    case kTfLiteInt8:
      return Compare<int8_t>(expected, found, 0, is_quantized ? steps : 0, 0);
    case kTfLiteUInt8:
      return Compare<uint8_t>(expected, found, 0, is_quantized ? steps : 0, 0);
    case kTfLiteInt16:
      return Compare<int16_t>(expected, found, 0, is_quantized ? steps : 0, 0);
    case kTfLiteInt32:
      return Compare<int32_t>(expected, found, 0, 0, 0);
    default:
      return Compare<unsigned char>(expected, found, 0, 0, 0);
  }
}

double MaxDifference(const TfLiteTensor& tensor, const char* other) {
  if (tensor.type != kTfLiteFloat32) return 0;
  double maximum = 0;
  for (size_t i = 0; i < tensor.bytes / sizeof(float); ++i) {
    const double difference = std::abs(Load<float>(tensor.data.raw, i) - Load<float>(other, i));
    if (std::isfinite(difference)) maximum = std::max(maximum, difference);
  }
  return maximum;
}

}  // namespace deputy
