// SPDX-License-Identifier: Apache-2.0
//
// Numbers out of a FlexBuffers map, the form in which custom operators have their options. The
// bytes come from a model: every position is checked, and what does not fit is not found.
#ifndef DEPUTY_KERNELS_COMMON_FLEX_MAP_H_
#define DEPUTY_KERNELS_COMMON_FLEX_MAP_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace deputy {

class FlexMap {
 public:
  // Borrows the bytes.
  explicit FlexMap(std::span<const uint8_t> bytes);

  // Whether the bytes are a map at all.
  bool is_map() const { return is_map_; }

  // The number of that name: a bool counts as 0 or 1. `otherwise` where there is none, or something
  // that is no number.
  int32_t Int(std::string_view name, int32_t otherwise = 0) const;
  float Float(std::string_view name) const;
  bool Bool(std::string_view name) const { return Float(name) != 0.0f; }

  // The integers of the typed vector of that name; none where there is no such thing.
  std::vector<int32_t> Ints(std::string_view name) const;

 private:
  struct Number {
    bool found = false, is_real = false;
    int64_t integer = 0;
    double real = 0;
  };

  bool Read(uint64_t at, uint64_t width, uint64_t* out) const;
  // The place that the offset at `at` points back to.
  bool Follow(uint64_t at, uint64_t width, uint64_t* out) const;
  bool IsKey(uint64_t at, std::string_view name) const;
  // Where the value of that name is and what type it has; false where there is none.
  bool FindPlace(std::string_view name, uint64_t* out_at, uint8_t* out_packed_type) const;
  Number Find(std::string_view name) const;
  Number NumberAt(uint64_t at, uint64_t width, uint8_t packed_type) const;

  std::span<const uint8_t> bytes_;
  bool is_map_ = false;
  uint64_t map_ = 0, width_ = 1, count_ = 0;  // the values, bytes of each, and their number
  uint64_t keys_ = 0, key_width_ = 1;
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_FLEX_MAP_H_
