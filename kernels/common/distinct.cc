// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/distinct.h"

#include <algorithm>
#include <numeric>

namespace deputy {
namespace {

// Hash table with open addressing from keys to the numbers given to them. At most half of the slots
// are used.
class NumberTable {
 public:
  static constexpr int32_t kNone = -1;

  NumberTable() { slots_.assign(size_t{1} << bits_, kNone); }

  // Returns the slot that holds the key's number, or the empty slot in which to insert it.
  int32_t* Find(int64_t key) {
    constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;  // 2^64 divided by the golden ratio
    size_t at = (static_cast<uint64_t>(key) * kGolden) >> (64 - bits_);
    while (slots_[at] != kNone && keys_[static_cast<size_t>(slots_[at])] != key) {
      at = (at + 1) & (slots_.size() - 1);
      ++steps_;
    }
    return &slots_[at];
  }
  // Assigns the next number to the key, for which Find returned an empty slot. Returns false if all
  // calls together have probed too many slots.
  bool Add(int64_t key, int32_t* slot) {
    *slot = static_cast<int32_t>(keys_.size());
    keys_.push_back(key);
    if (keys_.size() * 2 <= slots_.size()) return !IsSlow(keys_.size());
    slots_.assign(size_t{1} << ++bits_, kNone);
    for (size_t i = 0; i < keys_.size() && !IsSlow(keys_.size()); ++i) {
      *Find(keys_[i]) = static_cast<int32_t>(i);
    }
    return !IsSlow(keys_.size());
  }
  // Returns true if there were more probes than `count` keys should need.
  bool IsSlow(size_t count) const { return steps_ > 16 * count + 1024; }

 private:
  int bits_ = 8;
  std::vector<int32_t> slots_;
  std::vector<int64_t> keys_;
  size_t steps_ = 0;
};

}  // namespace

bool NumberByHash(std::span<const int64_t> keys, int32_t* numbers,
                  std::vector<int32_t>* out_firsts) {
  NumberTable table;
  out_firsts->clear();
  for (size_t i = 0; i < keys.size(); ++i) {
    int32_t* const slot = table.Find(keys[i]);
    if (*slot != NumberTable::kNone) {
      numbers[i] = *slot;
      if (table.IsSlow(i)) return false;
      continue;
    }
    numbers[i] = static_cast<int32_t>(out_firsts->size());
    out_firsts->push_back(static_cast<int32_t>(i));
    if (!table.Add(keys[i], slot)) return false;
  }
  return true;
}

void NumberBySorting(std::span<const int64_t> keys, int32_t* numbers,
                     std::vector<int32_t>* out_firsts) {
  std::vector<int32_t> sorted(keys.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  std::sort(sorted.begin(), sorted.end(), [keys](int32_t a, int32_t b) {
    const int64_t x = keys[static_cast<size_t>(a)], y = keys[static_cast<size_t>(b)];
    return x != y ? x < y : a < b;
  });
  // numbers[i] is first the index of the first occurrence of keys[i]; the loop at the end replaces
  // it by the key's number.
  int32_t first = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const auto at = static_cast<size_t>(sorted[i]);
    if (i == 0 || keys[at] != keys[static_cast<size_t>(first)]) first = sorted[i];
    numbers[at] = first;
  }
  out_firsts->clear();
  for (size_t i = 0; i < keys.size(); ++i) {
    if (numbers[i] == static_cast<int32_t>(i)) {
      numbers[i] = static_cast<int32_t>(out_firsts->size());
      out_firsts->push_back(static_cast<int32_t>(i));
    } else {
      numbers[i] = numbers[static_cast<size_t>(numbers[i])];
    }
  }
}

void NumberDistinct(std::span<const int64_t> keys, int32_t* numbers,
                    std::vector<int32_t>* out_firsts) {
  if (!NumberByHash(keys, numbers, out_firsts)) NumberBySorting(keys, numbers, out_firsts);
}

}  // namespace deputy
