// SPDX-License-Identifier: Apache-2.0
//
// Reads numbers from a FlexBuffers map, the format of custom operators' options. The bytes come
// from a model: every position is checked, and invalid entries are treated as missing.
#ifndef DEPUTY_KERNELS_COMMON_FLEX_MAP_H_
#define DEPUTY_KERNELS_COMMON_FLEX_MAP_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace deputy {

class FlexMap {
 public:
  // The map does not own the bytes, which must outlive it.
  explicit FlexMap(std::span<const uint8_t> bytes);

  // Returns true if the root of the FlexBuffers bytes is a map.
  bool is_map() const { return is_map_; }

  // Returns the number with that name, with bools as 0 or 1; reals are truncated, and integers wrap
  // to 32 bits. Returns `otherwise` if the entry is missing, is not a number or is a real out of
  // range.
  int32_t Int(std::string_view name, int32_t otherwise = 0) const;
  // Returns the number with that name, or 0 if the entry is missing or is not a number.
  float Float(std::string_view name) const;
  bool Bool(std::string_view name) const { return Float(name) != 0.0f; }

  // Returns the integers of the typed vector with that name; empty if there is no such vector.
  std::vector<int32_t> Ints(std::string_view name) const;

 private:
  struct Number {
    bool found = false, is_real = false;
    int64_t integer = 0;
    double real = 0;
  };

  bool Read(uint64_t at, uint64_t width, uint64_t* out) const;
  // Computes the position to which the backward offset stored at `at` points; returns false if the
  // offset is invalid.
  bool ResolveOffset(uint64_t at, uint64_t width, uint64_t* out) const;
  bool IsKey(uint64_t at, std::string_view name) const;
  // Finds the position and type of the value with that name; returns false if it is missing.
  bool FindValue(std::string_view name, uint64_t* out_at, uint8_t* out_packed_type) const;
  Number Find(std::string_view name) const;
  Number NumberAt(uint64_t at, uint64_t width, uint8_t packed_type) const;

  std::span<const uint8_t> bytes_;
  bool is_map_ = false;
  // Position of the map's values, bytes per value, and number of values.
  uint64_t map_ = 0, width_ = 1, count_ = 0;
  uint64_t keys_ = 0, key_width_ = 1;
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_FLEX_MAP_H_
