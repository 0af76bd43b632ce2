// SPDX-License-Identifier: Apache-2.0
//
// Tests loops in whole blocks (kernels/vector/blocks.h): every count, in place, and with an input
// whose pointer is not advanced.
#include "kernels/vector/blocks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace deputy {
namespace blocks_test {
namespace {

// Computes out = 3 * a - b, of int16 and int32 to int32, in blocks of 32 elements.
void Combine(const void*, const BlockStream* inputs, char* out_bytes, int64_t blocks) {
  const auto* a = static_cast<const int16_t*>(inputs[0].first);
  const auto* b = static_cast<const int32_t*>(inputs[1].first);
  auto* out = reinterpret_cast<int32_t*>(out_bytes);
  for (int64_t i = 0; i < 32 * blocks; ++i) {
    out[i] = 3 * (inputs[0].moves ? a[i] : *a) - (inputs[1].moves ? b[i] : *b);
  }
}

TEST(Blocks, every_element_is_computed_and_no_other) {
  ASSERT_EQ(BlockShift(sizeof(int16_t)), 5);
  for (int count = 0; count <= 130; ++count) {
    for (int still = 0; still < 3; ++still) {  // fixed input: none, the first, the second
      std::vector<int16_t> a(130);
      std::vector<int32_t> values(132);
      for (int i = 0; i < 132; ++i) values[i] = 1000 - 7 * i;
      for (int i = 0; i < 130; ++i) a[i] = static_cast<int16_t>(i * i - 300);
      const std::vector<int32_t> b = values;
      const BlockInput inputs[] = {{a.data(), 2, still != 1}, {b.data(), 4, still != 2}};
      const BlockInput in_place[] = {{a.data(), 2, still != 1}, {values.data(), 4, true}};
      RunBlocks(still == 2 ? inputs : in_place, values.data(), 4, count, 5, nullptr, &Combine);
      for (int i = 0; i < 132; ++i) {
        const int expected = i >= count ? b[i] : 3 * a[still == 1 ? 0 : i] - b[still == 2 ? 0 : i];
        ASSERT_EQ(values[i], expected) << count << " " << still << " " << i;
      }
    }
  }
}

// Calls Combine with inputs whose pointers are advanced.
void CombineMoving(const void*, const BlockStream* inputs, char* out, int64_t blocks) {
  const BlockStream moving[] = {{inputs[0].first, true}, {inputs[1].first, true}};
  Combine(nullptr, moving, out, blocks);
}

// Tests counts of up to three chunks; in each chunk a fixed input is repeated.
TEST(Blocks, fixed_inputs_are_repeated) {
  for (int count = 0; count <= 600; ++count) {
    for (int still = 0; still < 4; ++still) {  // bits: first, second input fixed
      std::vector<int16_t> a(600);
      std::vector<int32_t> b(602), out(602, 5);
      for (int i = 0; i < 600; ++i) a[i] = static_cast<int16_t>(i * 31 - 300);
      for (int i = 0; i < 602; ++i) b[i] = 1000 - 7 * i;
      const bool a_moves = (still & 1) == 0, b_moves = (still & 2) == 0;
      const BlockInput inputs[] = {{a.data(), 2, a_moves}, {b.data(), 4, b_moves}};
      RunRepeating(inputs, out.data(), 4, count, 5, nullptr, &CombineMoving);
      for (int i = 0; i < 602; ++i) {
        const int expected = i >= count ? 5 : 3 * a[a_moves ? i : 0] - b[b_moves ? i : 0];
        ASSERT_EQ(out[i], expected) << count << " " << still << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace blocks_test
}  // namespace deputy
