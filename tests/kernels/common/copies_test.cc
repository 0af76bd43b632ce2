// SPDX-License-Identifier: Apache-2.0
//
// Compares the copies of kernels/common with loops over single elements, for lengths around the 16
// bytes that they move at once. Memory around the output must not change.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/common/copy_runs.h"
#include "kernels/common/strided_copy.h"

namespace deputy {
namespace copies_test {
namespace {

template <typename T>
class CopiesTest : public testing::Test {
 protected:
  static constexpr int64_t kAround = 16;

  static std::vector<T> Numbers(int64_t count) {
    std::vector<T> numbers(static_cast<size_t>(count));
    std::iota(numbers.begin(), numbers.end(), T{1});
    return numbers;
  }
  // Returns `count` elements written by `copy`; checks that no elements around them are written.
  template <typename Copy>
  static std::vector<T> Written(int64_t count, const Copy& copy) {
    const auto kept = static_cast<T>(0x5a);
    std::vector<T> out(static_cast<size_t>(count + 2 * kAround), kept);
    copy(out.data() + kAround);
    EXPECT_EQ(std::count(out.begin(), out.begin() + kAround, kept), kAround);
    EXPECT_EQ(std::count(out.end() - kAround, out.end(), kept), kAround);
    return {out.begin() + kAround, out.end() - kAround};
  }
};

using Elements = testing::Types<uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(CopiesTest, Elements);

TYPED_TEST(CopiesTest, reversed_runs_begin_with_their_last_element) {
  for (const int64_t rows : {1, 3}) {
    for (int64_t count = 1; count <= 40; ++count) {
      const auto in = this->Numbers(rows * count);
      StridedCopy copy;
      copy.Add(rows, count, count);
      copy.Add(count, -1, 1);
      copy.Finish();
      const auto out =
          this->Written(rows * count, [&](TypeParam* to) { copy.Run(in.data() + count - 1, to); });
      for (int64_t i = 0; i < rows * count; ++i) {
        const int64_t from = i / count * count + count - 1 - i % count;
        ASSERT_EQ(out[static_cast<size_t>(i)], in[static_cast<size_t>(from)])
            << i << " of rows of " << count;
      }
    }
  }
}

TYPED_TEST(CopiesTest, rows_and_columns_are_transposed) {
  for (const int64_t rows : {1, 2, 3, 4, 7, 8, 15, 16, 17, 35}) {
    for (const int64_t columns : {1, 2, 3, 5, 8, 15, 16, 19, 32, 37}) {
      const auto in = this->Numbers(2 * rows * columns);
      StridedCopy copy;
      copy.Add(2, rows * columns, rows * columns);
      copy.Add(columns, 1, rows);
      copy.Add(rows, columns, 1);
      copy.Finish();
      const auto out =
          this->Written(2 * rows * columns, [&](TypeParam* to) { copy.Run(in.data(), to); });
      for (int64_t i = 0; i < 2 * rows * columns; ++i) {
        const int64_t image = i / (rows * columns), column = i / rows % columns, row = i % rows;
        ASSERT_EQ(out[static_cast<size_t>(i)],
                  in[static_cast<size_t>((image * rows + row) * columns + column)])
            << i << " of " << rows << " x " << columns;
      }
    }
  }
}

// Copies runs that extend to the end of the input, and runs that end before it.
TYPED_TEST(CopiesTest, selected_runs_are_copied_from_their_positions) {
  for (const int64_t length : {1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 32, 33, 70, 600}) {
    for (const int64_t runs : {1, 2, 5, 23}) {
      for (const int64_t of : {1, 3, 7}) {
        const int64_t count = 7 * length;
        const auto in = this->Numbers(count);
        std::vector<int64_t> positions;
        for (int64_t i = 0; i < runs; ++i) positions.push_back(i * of / runs * length);
        const auto out = this->Written(runs * length, [&](TypeParam* to) {
          PickRuns(in.data(), count, positions, length, to);
        });
        for (int64_t i = 0; i < runs * length; ++i) {
          const int64_t from = positions[static_cast<size_t>(i / length)] + i % length;
          ASSERT_EQ(out[static_cast<size_t>(i)], in[static_cast<size_t>(from)])
              << i << " of " << runs << " runs of " << length;
        }
      }
    }
  }
}

}  // namespace
}  // namespace copies_test
}  // namespace deputy
