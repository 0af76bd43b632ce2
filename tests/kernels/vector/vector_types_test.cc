// SPDX-License-Identifier: Apache-2.0
//
// Compares the vector loops over integers and type conversions with independent formulas, on random
// numbers and the limits of each type, for lengths around all vector widths.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "tests/kernels/vector/vector_counts.h"

namespace deputy::vector_types_test {
namespace {

// Returns values of random bits, including special values of T.
template <typename T>
std::vector<T> Numbers(int count, unsigned seed) {
  using Limits = std::numeric_limits<T>;
  std::mt19937_64 random(seed);
  std::vector<T> values(static_cast<size_t>(count));
  for (T& value : values) {
    if constexpr (std::is_floating_point_v<T>) {
      constexpr float kSpecial[] = {
          0.0f, -0.0f, NAN,    INFINITY, -INFINITY, 1e30f, 2147483648.0f, -2147483904.0f, 0.5f,
          2.5f, -0.5f, 127.5f, 255.0f,   1e-40f,    3e9f,  9.3e18f,       -9.3e18f,       65519.9f};
      const uint64_t kind = random() % 4;
      value = kind == 0   ? static_cast<float>(kSpecial[random() % std::size(kSpecial)])
              : kind == 1 ? static_cast<float>(static_cast<int64_t>(random() % 2001) - 1000) * 0.25f
                          : static_cast<float>(static_cast<int64_t>(random() >> 20)) * 1e-10f;
    } else {
      const T special[] = {0, 1, static_cast<T>(-1), Limits::min(), Limits::max()};
      value = random() % 3 == 0 ? special[random() % std::size(special)] : static_cast<T>(random());
    }
  }
  return values;
}

// Compares loop(run) with expected(a, b) for every count, with advanced inputs and with one fixed
// input.
template <typename T, typename Out, typename Loop, typename Expected>
void CheckPairs(const CpuKernels* cpu, const Loop& loop, const Expected& expected) {
  for (int count : kVectorCounts) {
    const std::vector<T> a = Numbers<T>(count + 1, 7), b = Numbers<T>(count + 1, 11);
    for (const auto& [a_moves, b_moves] : {std::pair(true, true), {false, true}, {true, false}}) {
      std::vector<Out> out(a.size(), Out{77});
      loop(BinaryRun<T, Out>{a.data(), b.data(), out.data(), count, a_moves, b_moves});
      for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
        const T left = a[a_moves ? i : 0], right = b[b_moves ? i : 0];
        ASSERT_EQ(out[i], static_cast<Out>(expected(left, right)))
            << cpu->name << " element " << i << " of " << count << ": " << +left << ", " << +right;
      }
      EXPECT_EQ(out.back(), Out{77}) << cpu->name;
    }
  }
}

// A type wide enough for the product of any two integers.
__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

// Returns the low bits of a number as a number of type T.
template <typename T>
T Low(UnsignedWide wide) {
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(wide));
}

template <typename T>
void CheckIntegers(const CpuKernels* cpu) {
  using Limits = std::numeric_limits<T>;
  const VectorKernels& vector = cpu->vector;
  for (const Bounds<T>& bounds : {Bounds<T>{Limits::min(), Limits::max()}, Bounds<T>{0, 6}}) {
    const auto check = [&](BoundedLoop<T> loop, const auto& expected) {
      CheckPairs<T, T>(
          cpu, [&](const auto& run) { loop(run, bounds); },
          [&](T a, T b) {
            return std::clamp(Low<T>(expected(static_cast<Wide>(a), static_cast<Wide>(b))),
                              bounds.low, bounds.high);
          });
    };
    check(vector.plain_product.of<T>(), [](Wide a, Wide b) {
      return static_cast<UnsignedWide>(a) * static_cast<UnsignedWide>(b);
    });
    if constexpr (std::is_signed_v<T>) {
      check(vector.plain_sum.of<T>(), [](Wide a, Wide b) { return a + b; });
      check(vector.plain_difference.of<T>(), [](Wide a, Wide b) { return a - b; });
    }
  }
}

TEST(VectorTypes, integers_wrap_and_are_clamped) {
  for (const CpuKernels* cpu : CpuTables()) {
    CheckIntegers<int16_t>(cpu);
    CheckIntegers<int32_t>(cpu);
    CheckIntegers<uint32_t>(cpu);
    CheckIntegers<int64_t>(cpu);
  }
}

template <typename T>
void CheckComparisons(const CpuKernels* cpu) {
  for (const bool negated : {false, true}) {
    const auto check = [&](const CompareLoops& loops, const auto& expected) {
      CheckPairs<T, uint8_t>(
          cpu, [&](const auto& run) { loops.of<T>()(run, negated); },
          [&](T a, T b) { return expected(a, b) != negated ? 1 : 0; });
    };
    check(cpu->vector.equal, [](T a, T b) { return !(a < b) && !(b < a) && a == a && b == b; });
    check(cpu->vector.less, [](T a, T b) { return b > a; });
    check(cpu->vector.less_or_equal, [](T a, T b) { return b > a || b == a; });
  }
}

TEST(VectorTypes, comparisons_with_nan_are_false) {
  for (const CpuKernels* cpu : CpuTables()) {
    CheckComparisons<float>(cpu);
    CheckComparisons<int32_t>(cpu);
    CheckComparisons<int64_t>(cpu);
  }
}

TEST(VectorTypes, any_nonzero_byte_is_true) {
  for (const CpuKernels* cpu : CpuTables()) {
    const VectorKernels& vector = cpu->vector;
    CheckPairs<uint8_t, uint8_t>(cpu, vector.logical_and,
                                 [](uint8_t a, uint8_t b) { return a * b > 0 ? 1 : 0; });
    CheckPairs<uint8_t, uint8_t>(cpu, vector.logical_or,
                                 [](uint8_t a, uint8_t b) { return a + b > 0 ? 1 : 0; });
  }
}

// Compares loop(in, count, out) with expected(x) bit by bit; any NaN equals any other.
template <typename In, typename Out, typename Loop, typename Expected>
void CheckMap(const CpuKernels* cpu, const Loop& loop, const Expected& expected) {
  for (int count : kVectorCounts) {
    const std::vector<In> in = Numbers<In>(count, 5);
    std::vector<Out> out(in.size() + 1), separate(in.size() + 1);
    std::memset(static_cast<void*>(out.data()), 77, out.size() * sizeof(Out));
    separate = out;
    loop(in.data(), count, out.data());
    for (size_t i = 0; i < in.size(); ++i) {
      separate[i] = expected(in[i]);
      if constexpr (std::is_same_v<Out, float>) {
        if (separate[i] != separate[i] && out[i] != out[i])
          separate[i] = out[i];  // any NaN is accepted
      }
      ASSERT_EQ(std::memcmp(&out[i], &separate[i], sizeof(Out)), 0)
          << cpu->name << " element " << i << " of " << count;
    }
    EXPECT_EQ(std::memcmp(&out.back(), &separate.back(), sizeof(Out)), 0) << cpu->name;
  }
}

// Converts to an integer with saturation; NaN becomes the maximum.
template <typename To>
To Saturated(float x) {
  using Limits = std::numeric_limits<To>;
  const long double exact = x;
  if (x != x || exact >= static_cast<long double>(Limits::max())) return Limits::max();
  if (exact <= static_cast<long double>(Limits::min())) return Limits::min();
  return static_cast<To>(std::trunc(exact));
}

template <typename From, typename To>
void CheckCast(const CpuKernels* cpu) {
  CheckMap<From, To>(cpu, cpu->vector.cast.of<FromTo<From, To>>(), [](From x) {
    if constexpr (std::is_same_v<From, float>) {
      return Saturated<To>(x);
    } else if constexpr (std::is_same_v<To, float>) {
      return static_cast<float>(static_cast<long double>(x));
    } else {
      return Low<To>(static_cast<UnsignedWide>(static_cast<Wide>(x)));
    }
  });
}

TEST(VectorTypes, casts_saturate_from_floats_and_wrap_among_integers) {
  for (const CpuKernels* cpu : CpuTables()) {
    CheckCast<float, int8_t>(cpu);
    CheckCast<float, uint8_t>(cpu);
    CheckCast<float, int32_t>(cpu);
    CheckCast<float, int64_t>(cpu);
    CheckCast<int32_t, float>(cpu);
    CheckCast<int32_t, int64_t>(cpu);
    CheckCast<int64_t, float>(cpu);
    CheckCast<int64_t, int32_t>(cpu);
    CheckCast<int8_t, float>(cpu);
    CheckCast<int8_t, int32_t>(cpu);
    CheckCast<uint8_t, float>(cpu);
    CheckCast<uint8_t, int32_t>(cpu);
    CheckCast<uint8_t, int64_t>(cpu);
    CheckCast<int16_t, float>(cpu);
    CheckCast<int16_t, int32_t>(cpu);
    CheckCast<int32_t, int8_t>(cpu);
    CheckCast<int32_t, int16_t>(cpu);
  }
}

// Converts every float16 number to float and back.
TEST(VectorTypes, halves_round_trip_through_float) {
  std::vector<Half> halves(65536), back(65536);
  for (size_t i = 0; i < halves.size(); ++i) {
    const auto bits = static_cast<uint16_t>(i);
    std::memcpy(static_cast<void*>(&halves[i]), &bits, sizeof bits);
  }
  std::vector<float> floats(65536);
  for (const CpuKernels* cpu : CpuTables()) {
    cpu->vector.cast.of<FromTo<Half, float>>()(halves.data(), 65536, floats.data());
    cpu->vector.cast.of<FromTo<float, Half>>()(floats.data(), 65536, back.data());
    EXPECT_EQ(floats[0x3c00], 1.0f) << cpu->name;
    EXPECT_EQ(floats[0xc001], -2.001953125f) << cpu->name;
    EXPECT_EQ(floats[0x0001], 0x1p-24f) << cpu->name;
    for (size_t i = 0; i < halves.size(); ++i) {
      const bool is_nan = (i & 0x7fff) > 0x7c00;
      ASSERT_EQ(floats[i] != floats[i], is_nan) << cpu->name << " " << i;
      uint16_t bits;
      std::memcpy(&bits, &back[i], sizeof bits);
      ASSERT_TRUE(is_nan ? (bits & 0x7fff) > 0x7c00 : bits == i) << cpu->name << " " << i;
    }
  }
}

template <typename T>
void CheckTruth(const CpuKernels* cpu) {
  CheckMap<T, uint8_t>(cpu, cpu->vector.to_bool.of<T>(),
                       [](T x) { return static_cast<uint8_t>(x == 0 ? 0 : 1); });
}

TEST(VectorTypes, all_nonzero_numbers_are_true) {
  for (const CpuKernels* cpu : CpuTables()) {
    CheckTruth<float>(cpu);
    CheckTruth<int32_t>(cpu);
    CheckTruth<int64_t>(cpu);
    CheckTruth<int8_t>(cpu);
    CheckTruth<int16_t>(cpu);
    CheckMap<uint8_t, uint8_t>(cpu, cpu->vector.logical_not,
                               [](uint8_t x) { return static_cast<uint8_t>(x == 0 ? 1 : 0); });
  }
}

template <typename T>
void CheckSteps(const CpuKernels* cpu) {
  using Limits = std::numeric_limits<T>;
  for (const StepScale& steps : {StepScale{0.25f, 0}, StepScale{0.37f, Limits::max()},
                                 StepScale{3e-5f, Limits::min()}, StepScale{1e-38f, 1}}) {
    CheckMap<float, T>(
        cpu,
        [&](const float* in, int64_t count, T* out) {
          cpu->vector.quantize.of<T>()(in, count, steps, out);
        },
        [&](float x) {
          const double step = std::nearbyint(static_cast<double>(x / steps.scale));
          if (step != step) return Limits::min();
          return static_cast<T>(
              std::fmin(std::fmax(step + steps.zero_point, Limits::min()), Limits::max()));
        });
    CheckMap<T, float>(
        cpu,
        [&](const T* in, int64_t count, float* out) {
          cpu->vector.dequantize.of<T>()(in, count, steps, out);
        },
        [&](T x) { return steps.scale * static_cast<float>(int64_t{x} - steps.zero_point); });
  }
}

TEST(VectorTypes, quantization_rounds_to_nearest_and_dequantization_is_exact) {
  for (const CpuKernels* cpu : CpuTables()) {
    CheckSteps<int8_t>(cpu);
    CheckSteps<uint8_t>(cpu);
    CheckSteps<int16_t>(cpu);
  }
}

template <typename From, typename To>
void CheckRescaling(const CpuKernels* cpu) {
  constexpr float kLow = std::numeric_limits<To>::min(), kHigh = std::numeric_limits<To>::max();
  for (float factor : {1.0f, 0.5f, 0.0078125f, 3.4e38f}) {
    for (int32_t zero_in : {0, -3, 100}) {
      const StepRescaling rescaling = {zero_in, factor, {kLow - 5, kHigh - 5}, 5};
      CheckMap<From, To>(
          cpu,
          [&](const From* in, int64_t count, To* out) {
            cpu->vector.rescale.of<FromTo<From, To>>()(in, count, rescaling, out);
          },
          [&](From x) {
            const auto steps =
                Low<int32_t>(static_cast<UnsignedWide>(static_cast<Wide>(x) - zero_in));
            const double scaled = static_cast<double>(static_cast<float>(steps) * factor);
            return static_cast<To>(
                std::fmin(std::fmax(std::nearbyint(scaled) + 5, static_cast<double>(kLow)),
                          static_cast<double>(kHigh)));
          });
    }
  }
}

TEST(VectorTypes, rescaling_rounds_to_nearest) {
  for (const CpuKernels* cpu : CpuTables()) {
    CheckRescaling<int8_t, int8_t>(cpu);
    CheckRescaling<int8_t, uint8_t>(cpu);
    CheckRescaling<int8_t, int16_t>(cpu);
    CheckRescaling<uint8_t, uint8_t>(cpu);
    CheckRescaling<uint8_t, int8_t>(cpu);
    CheckRescaling<int16_t, int16_t>(cpu);
    CheckRescaling<int16_t, int8_t>(cpu);
    CheckRescaling<int32_t, int8_t>(cpu);
    CheckRescaling<int32_t, int16_t>(cpu);
  }
}

template <typename T>
void CheckSelection(const CpuKernels* cpu) {
  for (int count : kVectorCounts) {
    const std::vector<T> x = Numbers<T>(count + 1, 3), y = Numbers<T>(count + 1, 4);
    const std::vector<uint8_t> condition = Numbers<uint8_t>(count + 1, 6);
    for (int moves = 0; moves < 4; ++moves) {
      const bool x_moves = (moves & 1) != 0, y_moves = (moves & 2) != 0;
      std::vector<T> out(x.size(), T{77});
      cpu->vector.select.of<T>()(
          {condition.data(), x.data(), y.data(), out.data(), count, x_moves, y_moves});
      for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
        ASSERT_EQ(out[i], condition[i] == 0 ? y[y_moves ? i : 0] : x[x_moves ? i : 0])
            << cpu->name << " element " << i << " of " << count;
      }
      EXPECT_EQ(out.back(), T{77}) << cpu->name;
    }
  }
}

TEST(VectorTypes, conditions_select_elements_of_every_size) {
  for (const CpuKernels* cpu : CpuTables()) {
    CheckSelection<uint8_t>(cpu);
    CheckSelection<uint16_t>(cpu);
    CheckSelection<uint32_t>(cpu);
    CheckSelection<uint64_t>(cpu);
  }
}

}  // namespace
}  // namespace deputy::vector_types_test
