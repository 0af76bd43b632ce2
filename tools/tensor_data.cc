// SPDX-License-Identifier: Apache-2.0
//
// Conversions between tensors and real numbers. Speed does not matter here; one table of element
// types serves reading and writing.
#include "tensor_data.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>

#include "core/support/half.h"
#include "core/support/type_size.h"
#include "text.h"

namespace deputy::tools {
namespace {

template <typename T>
double ReadAs(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return static_cast<double>(value);
}

template <typename T>
void WriteAs(double value, char* at) {
  T converted;
  if constexpr (std::is_floating_point_v<T>) {
    converted = static_cast<T>(value);
  } else {
    // The limits of 64-bit integers are not exact doubles, so that values are compared before
    // converting: an out-of-range conversion is undefined.
    const double rounded = std::isnan(value) ? 0 : std::round(value);
    if (rounded <= static_cast<double>(std::numeric_limits<T>::min())) {
      converted = std::numeric_limits<T>::min();
    } else if (rounded >= static_cast<double>(std::numeric_limits<T>::max())) {
      converted = std::numeric_limits<T>::max();
    } else {
      converted = static_cast<T>(rounded);
    }
  }
  std::memcpy(at, &converted, sizeof(converted));
}

struct ElementType {
  TfLiteType type;
  double (*read)(const char* at);  // null if the type has no real values
  void (*write)(double value, char* at);
};

constexpr ElementType kElementTypes[] = {
    {kTfLiteFloat32, ReadAs<float>, WriteAs<float>},
    {kTfLiteFloat64, ReadAs<double>, WriteAs<double>},
    {kTfLiteInt8, ReadAs<int8_t>, WriteAs<int8_t>},
    {kTfLiteUInt8, ReadAs<uint8_t>, WriteAs<uint8_t>},
    {kTfLiteInt16, ReadAs<int16_t>, WriteAs<int16_t>},
    {kTfLiteUInt16, ReadAs<uint16_t>, WriteAs<uint16_t>},
    {kTfLiteInt32, ReadAs<int32_t>, WriteAs<int32_t>},
    {kTfLiteUInt32, ReadAs<uint32_t>, WriteAs<uint32_t>},
    {kTfLiteInt64, ReadAs<int64_t>, WriteAs<int64_t>},
    {kTfLiteUInt64, ReadAs<uint64_t>, WriteAs<uint64_t>},
    {kTfLiteBool, [](const char* at) { return *at != 0 ? 1.0 : 0.0; },
     [](double value, char* at) { *at = value != 0 ? 1 : 0; }},
    {kTfLiteFloat16,
     [](const char* at) {
       uint16_t bits;
       std::memcpy(&bits, at, 2);
       return static_cast<double>(HalfToFloat(bits));
     },
     [](double value, char* at) {
       const uint16_t bits = FloatToHalf(static_cast<float>(value));
       std::memcpy(at, &bits, 2);
     }},
    {kTfLiteBFloat16,
     [](const char* at) {
       uint16_t bits;
       std::memcpy(&bits, at, 2);
       return static_cast<double>(BFloat16ToFloat(bits));
     },
     [](double value, char* at) {
       const uint16_t bits = FloatToBFloat16(static_cast<float>(value));
       std::memcpy(at, &bits, 2);
     }},
    {kTfLiteComplex64, nullptr, nullptr},
    {kTfLiteComplex128, nullptr, nullptr},
};

const ElementType* Find(TfLiteType type) {
  for (const ElementType& row : kElementTypes) {
    if (row.type == type) return &row;
  }
  return nullptr;
}

// Returns the memory for the tensor's values. An input of a model may be a constant or have no
// memory.
char* DataToFill(TfLiteTensor* tensor) {
  if (tensor->allocation_type == kTfLiteMmapRo) {
    FailWork("input '%s': expected a tensor to fill, found a constant of the model",
             NameOf(tensor).c_str());
  }
  char* const data = static_cast<char*>(TfLiteTensorData(tensor));
  if (data == nullptr && TfLiteTensorByteSize(tensor) != 0) {
    FailWork("input '%s': expected memory to fill, found none", NameOf(tensor).c_str());
  }
  return data;
}

// Reads strings from TFLite's layout: [count, offset 0..count] as int32, then the characters.
std::vector<std::string> ReadStrings(const TfLiteTensor* tensor) {
  const char* data = static_cast<const char*>(TfLiteTensorData(tensor));
  const size_t bytes = TfLiteTensorByteSize(tensor);
  std::vector<std::string> strings;
  int32_t count = 0;
  if (data == nullptr || bytes < 4) return strings;
  std::memcpy(&count, data, 4);
  if (count < 0 || static_cast<size_t>(count) > bytes / 4) return strings;
  for (int32_t i = 0; i < count; ++i) {
    uint32_t ends[2] = {0, 0};
    const size_t at = 4 + 4 * static_cast<size_t>(i);
    if (at + 8 > bytes) break;
    std::memcpy(ends, data + at, 8);
    if (ends[0] > ends[1] || ends[1] > bytes) break;
    strings.emplace_back(data + ends[0], ends[1] - ends[0]);
  }
  return strings;
}

std::string NumberText(double value, bool is_float) {
  char buffer[32];
  const auto end = is_float
                       ? std::to_chars(buffer, buffer + sizeof(buffer), static_cast<float>(value))
                       : std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, end.ptr);
}

}  // namespace

std::string NameOf(const TfLiteTensor* tensor) {
  const char* name = TfLiteTensorName(tensor);
  return name == nullptr ? "" : name;
}

size_t ElementBytes(TfLiteType type) {
  const ElementType* row = Find(type);
  return row == nullptr ? 0 : TypeBytes(type);
}

bool IsNumeric(TfLiteType type) {
  const ElementType* row = Find(type);
  return row != nullptr && row->read != nullptr;
}

std::vector<int> ShapeOf(const TfLiteTensor* tensor) {
  std::vector<int> shape(static_cast<size_t>(TfLiteTensorNumDims(tensor)));
  for (size_t i = 0; i < shape.size(); ++i) {
    shape[i] = TfLiteTensorDim(tensor, static_cast<int32_t>(i));
  }
  return shape;
}

size_t ElementCount(const std::vector<int>& shape) {
  size_t count = 1;
  for (const int dim : shape) count *= static_cast<size_t>(std::max(dim, 0));
  return count;
}

std::vector<double> ReadReals(TfLiteType type, std::span<const char> bytes,
                              TfLiteQuantizationParams quantization) {
  const ElementType* row = Find(type);
  std::vector<double> values;
  if (row == nullptr || row->read == nullptr) return values;
  const size_t size = TypeBytes(type);
  values.reserve(bytes.size() / size);
  for (size_t at = 0; at + size <= bytes.size(); at += size) {
    const double stored = row->read(bytes.data() + at);
    values.push_back(quantization.scale == 0 ? stored
                                             : (stored - quantization.zero_point) *
                                                   static_cast<double>(quantization.scale));
  }
  return values;
}

std::vector<double> ReadReals(const TfLiteTensor* tensor) {
  const TfLiteType type = TfLiteTensorType(tensor);
  if (!IsNumeric(type)) {
    FailWork("tensor '%s': type %s has no real values", NameOf(tensor).c_str(),
             TfLiteTypeGetName(type));
  }
  const char* data = static_cast<const char*>(TfLiteTensorData(tensor));
  const size_t bytes = data == nullptr ? 0 : TfLiteTensorByteSize(tensor);
  return ReadReals(type, {data, bytes}, TfLiteTensorQuantizationParams(tensor));
}

void WriteReals(std::span<const float> values, TfLiteTensor* tensor) {
  const TfLiteType type = TfLiteTensorType(tensor);
  const ElementType* row = Find(type);
  if (row == nullptr || row->write == nullptr) {
    FailUsage("input '%s': cannot fill type %s with numbers", NameOf(tensor).c_str(),
              TfLiteTypeGetName(type));
  }
  const TfLiteQuantizationParams quantization = TfLiteTensorQuantizationParams(tensor);
  char* at = DataToFill(tensor);
  if (values.size() * TypeBytes(type) != TfLiteTensorByteSize(tensor)) {
    FailUsage("input '%s': expected %zu bytes, found %zu values of %s", NameOf(tensor).c_str(),
              TfLiteTensorByteSize(tensor), values.size(), TfLiteTypeGetName(type));
  }
  for (const float value : values) {
    // The stored value is computed in float and rounded half away from zero, like TFLite's
    // QUANTIZE.
    const float stored = quantization.scale == 0 ? value
                                                 : std::round(value / quantization.scale) +
                                                       static_cast<float>(quantization.zero_point);
    row->write(static_cast<double>(stored), at);
    at += TypeBytes(type);
  }
}

void WriteBytes(std::span<const char> bytes, TfLiteTensor* tensor) {
  DataToFill(tensor);
  if (TfLiteTensorCopyFromBuffer(tensor, bytes.data(), bytes.size()) == kTfLiteOk) return;
  FailUsage("input '%s': expected %zu bytes, found %zu", NameOf(tensor).c_str(),
            TfLiteTensorByteSize(tensor), bytes.size());
}

void WriteRandom(uint32_t seed, TfLiteTensor* tensor) {
  std::mt19937 random(seed);
  const TfLiteQuantizationParams quantization = TfLiteTensorQuantizationParams(tensor);
  std::vector<float> values(ElementCount(ShapeOf(tensor)));
  const bool is_integer = [&] {
    const TfLiteType type = TfLiteTensorType(tensor);
    return type != kTfLiteFloat32 && type != kTfLiteFloat16 && type != kTfLiteFloat64 &&
           type != kTfLiteBFloat16;
  }();
  for (float& value : values) {
    const float unit = static_cast<float>(random() >> 8) / 16777216.0f;
    if (quantization.scale != 0) {
      value = (std::floor(unit * 256) - 128 - static_cast<float>(quantization.zero_point)) *
              quantization.scale;
    } else {
      // Unquantised integers are mostly indices; 0 and 1 are valid in almost every model.
      value = is_integer ? std::floor(unit * 2) : unit;
    }
  }
  if (TfLiteTensorByteSize(tensor) != 0) WriteReals(values, tensor);
}

void PrintTensor(const TfLiteTensor* tensor, size_t limit) {
  const TfLiteType type = TfLiteTensorType(tensor);
  const std::vector<int> shape = ShapeOf(tensor);
  std::vector<std::string> cells;
  if (type == kTfLiteString) {
    for (const std::string& text : ReadStrings(tensor)) cells.push_back('"' + OneLine(text) + '"');
  } else if (IsNumeric(type)) {
    const bool wide = type == kTfLiteFloat64 || type == kTfLiteInt64 || type == kTfLiteUInt64 ||
                      type == kTfLiteInt32 || type == kTfLiteUInt32;
    for (const double value : ReadReals(tensor)) cells.push_back(NumberText(value, !wide));
  } else {
    std::printf("  (type %s has no text form)\n", TfLiteTypeGetName(type));
    return;
  }
  const size_t row = shape.empty() ? 1 : std::max<size_t>(1, static_cast<size_t>(shape.back()));
  for (size_t i = 0; i < std::min(cells.size(), limit); ++i) {
    const bool row_ends = (i + 1) % row == 0 || i + 1 == std::min(cells.size(), limit);
    std::printf("%s%s%s", i % row == 0 ? "  " : " ", cells[i].c_str(), row_ends ? "\n" : "");
  }
  if (cells.size() > limit) std::printf("  ... %zu more\n", cells.size() - limit);
}

}  // namespace deputy::tools
