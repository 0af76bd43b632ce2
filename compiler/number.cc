// SPDX-License-Identifier: Apache-2.0
#include "compiler/number.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

#include "core/support/half.h"
#include "core/support/type_size.h"

namespace deputy::compiler {
namespace {

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
  // Names of the types, in the order of TfLiteType.
  constexpr const char* kNames[] = {"NOTYPE",  "FLOAT32", "INT32",      "UINT8",     "INT64",
                                    "STRING",  "BOOL",    "INT16",      "COMPLEX64", "INT8",
                                    "FLOAT16", "FLOAT64", "COMPLEX128", "UINT64",    "RESOURCE",
                                    "VARIANT", "UINT32",  "UINT16",     "INT4"};
  const auto index = static_cast<size_t>(type);
  return index < std::size(kNames) ? kNames[index] : "unknown type";
}

size_t ElementBytes(TfLiteType type) {
  constexpr uint32_t kSupported = 1u << kTfLiteInt8 | 1u << kTfLiteUInt8 | 1u << kTfLiteBool |
                                  1u << kTfLiteInt16 | 1u << kTfLiteUInt16 | 1u << kTfLiteFloat16 |
                                  1u << kTfLiteFloat32 | 1u << kTfLiteInt32 | 1u << kTfLiteUInt32 |
                                  1u << kTfLiteFloat64 | 1u << kTfLiteInt64 | 1u << kTfLiteUInt64;
  return TypeBytesIfIn(kSupported, type);
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
      return {HalfToFloat(Load<uint16_t>(contents, index)), 0};
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
        return Store(FloatToHalf(static_cast<float>(number.real)), contents, index);
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
