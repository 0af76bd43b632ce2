// SPDX-License-Identifier: Apache-2.0
//
// Random numbers that are the same on all platforms. C++ specifies the numbers of its engines, but
// not of its distributions.
#ifndef DEPUTY_TESTS_FUZZ_RANDOM_H_
#define DEPUTY_TESTS_FUZZ_RANDOM_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>

namespace deputy::fuzz {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  // Each value of `number` selects an independent stream.
  Random(uint64_t seed, uint64_t number) : state_(seed * 0x9e3779b97f4a7c15 + number) {
    state_ = Next();
  }

  // Returns 64 random bits, by the algorithm splitmix64.
  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  // Returns a number from 0 to count - 1; 0 if `count` is 0.
  size_t Below(size_t count) { return count == 0 ? 0 : static_cast<size_t>(Next() % count); }
  // Returns a number from `low` to `high`, both inclusive.
  int Between(int low, int high) {
    return low + static_cast<int>(Below(static_cast<size_t>(int64_t{high} - low) + 1));
  }
  bool OneIn(size_t count) { return Below(count) == 0; }

  template <typename Container>
  auto& Pick(Container& from) {
    return from[Below(std::size(from))];
  }

  // Returns a number at which code is likely to fail: around 0, around the limits of types, or
  // small.
  int64_t Hostile() {
    constexpr int64_t kInt32Max = std::numeric_limits<int32_t>::max();
    static constexpr int64_t kNumbers[] = {0,
                                           0,
                                           1,
                                           1,
                                           2,
                                           3,
                                           4,
                                           5,
                                           7,
                                           8,
                                           9,
                                           16,
                                           31,
                                           32,
                                           63,
                                           64,
                                           -1,
                                           -1,
                                           -2,
                                           -3,
                                           -4,
                                           -128,
                                           127,
                                           128,
                                           255,
                                           256,
                                           32767,
                                           -32768,
                                           65536,
                                           1 << 24,
                                           1 << 30,
                                           kInt32Max,
                                           kInt32Max - 1,
                                           -kInt32Max,
                                           -kInt32Max - 1,
                                           kInt32Max + 1,
                                           std::numeric_limits<int64_t>::max(),
                                           std::numeric_limits<int64_t>::min()};
    return kNumbers[Below(sizeof kNumbers / sizeof kNumbers[0])];
  }
  // Returns a number that is mostly small, and sometimes hostile.
  int32_t Int() { return OneIn(3) ? static_cast<int32_t>(Hostile()) : Between(-4, 12); }
  float Float() {
    static constexpr float kNumbers[] = {0.0f,
                                         -0.0f,
                                         1.0f,
                                         -1.0f,
                                         0.5f,
                                         255.0f,
                                         1e-6f,
                                         1e30f,
                                         -1e30f,
                                         1e-30f,
                                         1e-45f,
                                         3e38f,
                                         -3e38f,
                                         2147483648.0f,
                                         std::numeric_limits<float>::infinity(),
                                         -std::numeric_limits<float>::infinity(),
                                         std::numeric_limits<float>::quiet_NaN()};
    if (OneIn(3)) return kNumbers[Below(sizeof kNumbers / sizeof kNumbers[0])];
    return static_cast<float>(static_cast<int32_t>(Next())) * 0x1p-29f;
  }

 private:
  uint64_t state_;
};

}  // namespace deputy::fuzz

#endif  // DEPUTY_TESTS_FUZZ_RANDOM_H_
