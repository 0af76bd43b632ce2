// SPDX-License-Identifier: Apache-2.0
#include "compiler/number.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

namespace deputy::compiler {
namespace {

// IEEE 754 binary16: one sign bit, five exponent bits, ten fraction bits.
float FromHalf(uint16_t half) {
  const int exponent = (half >> 10) & 0x1f, fraction = half & 0x3ff;
  float magnitude;
  if (exponent == 0x1f) {
    magnitude = fraction == 0 ? std::numeric_limits<float>::infinity()
                              : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    magnitude = std::ldexp(static_cast<float>(fraction + 0x400), exponent - 25);
  }
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

// Rounds to nearest, ties to even.
uint16_t ToHalf(float value) {
  const auto sign = static_cast<uint16_t>((std::bit_cast<uint32_t>(value) >> 16) & 0x8000);
  const float magnitude = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7e00;
  if (magnitude >= 65520.0f) return sign | 0x7c00;
  if (magnitude == 0) return sign;
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude < 2^exponent
  const int unit = std::max(exponent - 11, -24);
  const auto units = static_cast<int>(std::nearbyint(std::ldexp(magnitude, -unit)));
  // A carry out of the fraction increments the exponent.
  return static_cast<uint16_t>(sign | (((unit + 24) << 10) + units));
}

template <typename T>
T Load(const std::byte* contents, int64_t index) {
  T value;
  memcpy(&value, contents + index * static_cast<int64_t>(sizeof(T)), sizeof value);
  return value;
}

template <typename T>
void Store(T value, std::byte* contents, int64_t index) {
  memcpy(contents + index * static_cast<int64_t>(sizeof(T)), &value, sizeof value);
}

}  // namespace

bool IsFloat(TfLiteType type) {
  return type == kTfLiteFloat32 || type == kTfLiteFloat16 || type == kTfLiteFloat64;
}

const char* TypeName(TfLiteType type) {
  // In the order of TfLiteType.
  constexpr const char* kNames[] = {"NOTYPE",  "FLOAT32", "INT32",      "UINT8",     "INT64",
                                    "STRING",  "BOOL",    "INT16",      "COMPLEX64", "INT8",
                                    "FLOAT16", "FLOAT64", "COMPLEX128", "UINT64",    "RESOURCE",
                                    "VARIANT", "UINT32",  "UINT16",     "INT4"};
  const auto index = static_cast<size_t>(type);
  return index < std::size(kNames) ? kNames[index] : "unknown type";
}

size_t ElementBytes(TfLiteType type) {
  switch (type) {
    case kTfLiteInt8:
    case kTfLiteUInt8:
    case kTfLiteBool:
      return 1;
    case kTfLiteInt16:
    case kTfLiteUInt16:
    case kTfLiteFloat16:
      return 2;
    case kTfLiteFloat32:
    case kTfLiteInt32:
    case kTfLiteUInt32:
      return 4;
    case kTfLiteFloat64:
    case kTfLiteInt64:
    case kTfLiteUInt64:
      return 8;
    default:
      return 0;
  }
}

int64_t SmallestOf(TfLiteType type) {
  switch (type) {
    case kTfLiteInt8:
      return INT8_MIN;
    case kTfLiteInt16:
      return INT16_MIN;
    case kTfLiteInt32:
      return INT32_MIN;
    case kTfLiteInt64:
      return INT64_MIN;
    default:
      return 0;
  }
}

int64_t LargestOf(TfLiteType type) {
  switch (type) {
    case kTfLiteBool:
      return 1;
    case kTfLiteInt8:
      return INT8_MAX;
    case kTfLiteUInt8:
      return UINT8_MAX;
    case kTfLiteInt16:
      return INT16_MAX;
    case kTfLiteUInt16:
      return UINT16_MAX;
    case kTfLiteInt32:
      return INT32_MAX;
    case kTfLiteUInt32:
      return UINT32_MAX;
    default:
      return INT64_MAX;
  }
}

Number LoadElement(TfLiteType type, const std::byte* contents, int64_t index) {
  switch (type) {
    case kTfLiteFloat32:
      return {Load<float>(contents, index), 0};
    case kTfLiteFloat16:
      return {FromHalf(Load<uint16_t>(contents, index)), 0};
    case kTfLiteFloat64:
      return {Load<double>(contents, index), 0};
    case kTfLiteBool:
      return {0, Load<uint8_t>(contents, index) != 0};
    case kTfLiteInt8:
      return {0, Load<int8_t>(contents, index)};
    case kTfLiteUInt8:
      return {0, Load<uint8_t>(contents, index)};
    case kTfLiteInt16:
      return {0, Load<int16_t>(contents, index)};
    case kTfLiteUInt16:
      return {0, Load<uint16_t>(contents, index)};
    case kTfLiteInt32:
      return {0, Load<int32_t>(contents, index)};
    case kTfLiteUInt32:
      return {0, Load<uint32_t>(contents, index)};
    default:
      return {0, Load<int64_t>(contents, index)};
  }
}

void StoreElement(TfLiteType type, Number number, std::byte* contents, int64_t index) {
  switch (ElementBytes(type)) {
    case 1:
      return Store(static_cast<uint8_t>(number.integer), contents, index);
    case 2:
      if (type == kTfLiteFloat16) {
        return Store(ToHalf(static_cast<float>(number.real)), contents, index);
      }
      return Store(static_cast<uint16_t>(number.integer), contents, index);
    case 4:
      if (type == kTfLiteFloat32) return Store(static_cast<float>(number.real), contents, index);
      return Store(static_cast<uint32_t>(number.integer), contents, index);
    default:
      if (type == kTfLiteFloat64) return Store(number.real, contents, index);
      return Store(number.integer, contents, index);
  }
}

Number Stored(TfLiteType type, Number number) {
  std::byte bytes[8] = {};
  StoreElement(type, number, bytes, 0);
  return LoadElement(type, bytes, 0);
}

Number NumberOf(TfLiteType type, double value) {
  if (IsFloat(type)) return Stored(type, {value, 0});
  if (std::isnan(value)) return {};
  const auto smallest = static_cast<double>(SmallestOf(type));
  const auto largest = static_cast<double>(LargestOf(type));
  if (value <= smallest) return {0, SmallestOf(type)};
  if (value >= largest) return {0, LargestOf(type)};
  return {0, static_cast<int64_t>(value)};
}

}  // namespace deputy::compiler
