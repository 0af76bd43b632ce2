// SPDX-License-Identifier: Apache-2.0
//
// FlexBuffers format: the buffer ends with its root: the root's bytes, its type (type * 4 + log2 of
// the width of its referent) and its width. A map is a vector of values, followed by a type byte
// for each; it is preceded by an offset to the vector of keys, the width of the key offsets, and
// the number of entries.
#include "kernels/common/flex_map.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace deputy {
namespace {

enum FlexType : uint8_t {
  kInt = 1,
  kUInt = 2,
  kReal = 3,
  kIndirectInt = 6,
  kIndirectUInt = 7,
  kIndirectReal = 8,
  kMap = 9,
  kVectorInt = 11,
  kVectorUInt = 12,
  kBool = 26,
};

bool IsWidth(uint64_t width) { return width == 1 || width == 2 || width == 4 || width == 8; }

int64_t SignExtend(uint64_t value, uint64_t width) {
  const auto unused = static_cast<int>(64 - 8 * width);
  return static_cast<int64_t>(value << unused) >> unused;
}

double RealOf(uint64_t bits, uint64_t width) {
  if (width == 8) return std::bit_cast<double>(bits);
  return width == 4 ? static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits))) : 0.0;
}

}  // namespace

FlexMap::FlexMap(std::span<const uint8_t> bytes) : bytes_(bytes) {
  if (bytes.size() < 3) return;
  const uint64_t root_width = bytes[bytes.size() - 1], type = bytes[bytes.size() - 2];
  if (type >> 2 != kMap || !IsWidth(root_width) || root_width + 2 > bytes.size()) return;
  width_ = uint64_t{1} << (type & 3);
  if (!ResolveOffset(bytes.size() - 2 - root_width, root_width, &map_) || map_ < 3 * width_) return;
  if (!Read(map_ - width_, width_, &count_) || !Read(map_ - 2 * width_, width_, &key_width_) ||
      !ResolveOffset(map_ - 3 * width_, width_, &keys_)) {
    return;
  }
  is_map_ = IsWidth(key_width_) && count_ <= bytes.size();
}

bool FlexMap::Read(uint64_t at, uint64_t width, uint64_t* out) const {
  if (at > bytes_.size() || width > bytes_.size() - at) return false;
  *out = 0;
  std::memcpy(out, bytes_.data() + at, width);  // values are little-endian
  return true;
}

bool FlexMap::ResolveOffset(uint64_t at, uint64_t width, uint64_t* out) const {
  uint64_t offset = 0;
  if (!Read(at, width, &offset) || offset > at) return false;
  *out = at - offset;
  return true;
}

bool FlexMap::IsKey(uint64_t at, std::string_view name) const {
  if (at > bytes_.size() || bytes_.size() - at <= name.size()) return false;
  return std::equal(name.begin(), name.end(), bytes_.begin() + static_cast<ptrdiff_t>(at)) &&
         bytes_[at + name.size()] == 0;
}

FlexMap::Number FlexMap::NumberAt(uint64_t at, uint64_t width, uint8_t packed_type) const {
  uint8_t type = packed_type >> 2;
  if (type >= kIndirectInt && type <= kIndirectReal) {
    if (!ResolveOffset(at, width, &at)) return {};
    width = uint64_t{1} << (packed_type & 3);
    type = static_cast<uint8_t>(type - kIndirectInt + kInt);
  }
  uint64_t bits = 0;
  if (!Read(at, width, &bits)) return {};
  switch (type) {
    case kInt:
      return {true, false, SignExtend(bits, width), 0};
    case kUInt:
    case kBool:
      return {true, false, static_cast<int64_t>(bits), 0};
    case kReal:
      return {true, true, 0, RealOf(bits, width)};
    default:
      return {};
  }
}

bool FlexMap::FindValue(std::string_view name, uint64_t* out_at, uint8_t* out_packed_type) const {
  for (uint64_t i = 0; is_map_ && i < count_; ++i) {
    uint64_t key = 0, type = 0;
    if (!ResolveOffset(keys_ + i * key_width_, key_width_, &key)) return false;
    if (!IsKey(key, name)) continue;
    if (!Read(map_ + count_ * width_ + i, 1, &type)) return false;
    *out_at = map_ + i * width_;
    *out_packed_type = static_cast<uint8_t>(type);
    return true;
  }
  return false;
}

FlexMap::Number FlexMap::Find(std::string_view name) const {
  uint64_t at = 0;
  uint8_t type = 0;
  return FindValue(name, &at, &type) ? NumberAt(at, width_, type) : Number();
}

std::vector<int32_t> FlexMap::Ints(std::string_view name) const {
  uint64_t at = 0, first = 0, count = 0;
  uint8_t packed_type = 0;
  if (!FindValue(name, &at, &packed_type) || !ResolveOffset(at, width_, &first)) return {};
  const int type = packed_type >> 2;
  const uint64_t width = uint64_t{1} << (packed_type & 3);
  if ((type != kVectorInt && type != kVectorUInt) || first < width ||
      !Read(first - width, width, &count) || count > (bytes_.size() - first) / width) {
    return {};
  }
  std::vector<int32_t> numbers;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t bits = 0;
    if (!Read(first + i * width, width, &bits)) return {};
    numbers.push_back(static_cast<int32_t>(type == kVectorInt ? SignExtend(bits, width)
                                                              : static_cast<int64_t>(bits)));
  }
  return numbers;
}

int32_t FlexMap::Int(std::string_view name, int32_t otherwise) const {
  const Number number = Find(name);
  if (!number.found) return otherwise;
  if (!number.is_real) return static_cast<int32_t>(number.integer);
  const bool fits = number.real > -2147483649.0 && number.real < 2147483648.0;
  return fits ? static_cast<int32_t>(number.real) : otherwise;
}

float FlexMap::Float(std::string_view name) const {
  const Number number = Find(name);
  return number.is_real ? static_cast<float>(number.real) : static_cast<float>(number.integer);
}

}  // namespace deputy
