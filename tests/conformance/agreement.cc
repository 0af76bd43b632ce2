// SPDX-License-Identifier: Apache-2.0
//
// Implements agreement.h. Values are compared as doubles, which represent every float and every
// integer of up to 32 bits exactly. Integers are equal if their bytes are, except under the rule
// kSteps. Strings and packed types are compared as a whole.
#include "tests/conformance/agreement.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

namespace deputy::conformance {
namespace {

double HalfToDouble(uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const double fraction = bits & 0x3ff;
  double value = std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31) value = fraction != 0 ? std::nan("") : INFINITY;
  if (exponent == 0) value = std::ldexp(fraction, -24);
  return (bits & 0x8000) != 0 ? -value : value;
}

template <typename T>
T Load(const uint8_t* data, size_t index) {
  T value;
  std::memcpy(&value, data + index * sizeof(T), sizeof(T));
  return value;
}

bool IsFloat(TfLiteType type) {
  return type == kTfLiteFloat32 || type == kTfLiteFloat16 || type == kTfLiteFloat64;
}

// Returns element `index` as a number, for the types to which a rule other than kEqual applies.
// Integers of 64 bits are rounded; these appear in messages only.
double Number(TfLiteType type, const uint8_t* data, size_t index) {
  switch (type) {
    case kTfLiteFloat32:
      return static_cast<double>(Load<float>(data, index));
    case kTfLiteFloat64:
      return Load<double>(data, index);
    case kTfLiteFloat16:
      return HalfToDouble(Load<uint16_t>(data, index));
    case kTfLiteInt8:
      return Load<int8_t>(data, index);
    case kTfLiteInt16:
      return Load<int16_t>(data, index);
    case kTfLiteUInt16:
      return Load<uint16_t>(data, index);
    case kTfLiteInt32:
      return Load<int32_t>(data, index);
    case kTfLiteUInt32:
      return Load<uint32_t>(data, index);
    case kTfLiteInt64:
      return static_cast<double>(Load<int64_t>(data, index));
    case kTfLiteUInt64:
      return static_cast<double>(Load<uint64_t>(data, index));
    default:
      return Load<uint8_t>(data, index);
  }
}

// Returns the bytes per element; 0 for types whose contents are compared as a whole.
size_t SizeOf(TfLiteType type) {
  switch (type) {
    case kTfLiteBool:
    case kTfLiteInt8:
    case kTfLiteUInt8:
      return 1;
    case kTfLiteFloat16:
    case kTfLiteInt16:
    case kTfLiteUInt16:
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

// Returns the type of the parts in which an element is compared: a complex number is two real
// numbers.
TfLiteType PartType(TfLiteType type) {
  if (type == kTfLiteComplex64) return kTfLiteFloat32;
  return type == kTfLiteComplex128 ? kTfLiteFloat64 : type;
}

double MaxMagnitude(TfLiteType type, const std::vector<uint8_t>& data, size_t count) {
  double greatest = 0;
  for (size_t i = 0; i < count; ++i) {
    const double size = std::abs(Number(type, data.data(), i));
    if (std::isfinite(size)) greatest = std::max(greatest, size);
  }
  return greatest;
}

// Compares the elements of one expected tensor with those found, within its tolerance.
class Bound {
 public:
  Bound(TfLiteType type, const std::vector<uint8_t>& expected, size_t count,
        const Agreement& agreement)
      : type_(type), expected_(expected.data()), agreement_(agreement), size_(SizeOf(type)) {
    if (agreement.rule == Rule::kSum || agreement.rule == Rule::kHalf) {
      max_magnitude_ = MaxMagnitude(type, expected, count);
    }
  }

  bool Accepts(const uint8_t* found, size_t index) const {
    const size_t at = index * size_;
    if (std::memcmp(found + at, expected_ + at, size_) == 0) return true;
    const double a = ValueAt(index);
    const double b = Number(type_, found, index);
    if (!IsFloat(type_)) return agreement_.rule == Rule::kSteps && IsNear(a, b);
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    if (a == b) return true;  // covers infinities and zeros of either sign
    return std::isfinite(a) && std::isfinite(b) && IsNear(a, b);
  }

  double ValueAt(size_t index) const { return Number(type_, expected_, index); }

  double Width(double expected) const {
    if (!IsFloat(type_)) return agreement_.rule == Rule::kSteps ? agreement_.steps : 0;
    switch (agreement_.rule) {
      case Rule::kElement:
        return agreement_.factor * (1e-5 * std::abs(expected) + 1e-6);
      case Rule::kSum:
        return agreement_.factor * (1e-5 * max_magnitude_ + 1e-6);
      case Rule::kHalf:
        return agreement_.factor * (1e-3 * std::abs(expected) + 1e-3 * max_magnitude_);
      default:
        return 0;
    }
  }

 private:
  bool IsNear(double expected, double found) const {
    return std::abs(expected - found) <= Width(expected);
  }

  TfLiteType type_;
  const uint8_t* expected_;
  const Agreement& agreement_;
  size_t size_;  // bytes per element
  double max_magnitude_ = 0;
};

std::optional<Difference> Other(const std::string& text) {
  Difference difference;
  difference.text = text;
  return difference;
}

Difference DifferenceAt(const std::vector<Bound>& bounds, double found, size_t index) {
  Difference difference;
  difference.index = index;
  difference.found = found;
  difference.expected = bounds[0].ValueAt(index);
  difference.tolerance = bounds[0].Width(difference.expected);
  std::ostringstream text;
  text.precision(9);
  text << "element " << index << " is " << difference.found << ", expected ";
  for (const Bound& bound : bounds) {
    text << (&bound == bounds.data() ? "" : " or ") << bound.ValueAt(index);
  }
  text << " (within " << difference.tolerance << ")";
  difference.text = text.str();
  return difference;
}

std::optional<Difference> CompareElements(const std::vector<Bound>& bounds, TfLiteType type,
                                          const std::vector<uint8_t>& found, size_t count) {
  Difference first;
  size_t wrong = 0;
  for (size_t i = 0; i < count; ++i) {
    const bool is_close = std::any_of(bounds.begin(), bounds.end(), [&](const Bound& bound) {
      return bound.Accepts(found.data(), i);
    });
    if (!is_close && wrong++ == 0) {
      first = DifferenceAt(bounds, Number(type, found.data(), i), i);
    }
  }
  if (wrong == 0) return std::nullopt;
  first.text += "; " + std::to_string(wrong) + " of " + std::to_string(count) + " differ";
  return first;
}

}  // namespace

std::optional<Difference> Compare(std::span<const TensorValue> expected, const TensorValue& found,
                                  const Agreement& agreement) {
  if (expected.empty()) return Other("has nothing to be compared with");
  const TensorValue& first = expected.front();
  if (found.type != first.type || found.dims != first.dims) {
    return Other("is " + Describe(found.type, found.dims) + ", expected " +
                 Describe(first.type, first.dims));
  }
  const bool is_equal = std::any_of(expected.begin(), expected.end(),
                                    [&](const TensorValue& one) { return one.data == found.data; });
  if (is_equal) return std::nullopt;
  const TfLiteType type = PartType(found.type);
  const size_t bytes = found.data.size();
  if (SizeOf(type) == 0) return Other("holds other contents");
  const size_t count = bytes / SizeOf(type);
  if (count != ElementCount(found.dims) * (type == found.type ? 1 : 2)) {
    return Other("has another number of bytes");
  }
  std::vector<Bound> bounds;
  for (const TensorValue& one : expected) {
    if (one.data.size() == bytes) bounds.emplace_back(type, one.data, count, agreement);
  }
  if (bounds.empty()) return Other("has nothing to be compared with");
  return CompareElements(bounds, type, found.data, count);
}

std::string Describe(TfLiteType type, const std::vector<int>& dims) {
  std::ostringstream text;
  text << TfLiteTypeGetName(type) << "[";
  for (size_t i = 0; i < dims.size(); ++i) text << (i == 0 ? "" : ",") << dims[i];
  text << "]";
  return text.str();
}

size_t ElementCount(const std::vector<int>& dims) {
  size_t count = 1;
  for (const int dim : dims) count *= static_cast<size_t>(dim);
  return count;
}

}  // namespace deputy::conformance
