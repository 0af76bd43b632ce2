// SPDX-License-Identifier: Apache-2.0
//
// Work that kernels share out among threads: every element once, and the same results.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <initializer_list>
#include <utility>
#include <vector>

#include "kernels/common/broadcast.h"
#include "tests/threaded_context.h"

namespace deputy {
namespace {

// Ranges together are everything, once; small work stays on one thread.
TEST(ParallelRanges, cover_everything_once) {
  ThreadedContext context(3);
  for (int64_t count : {0, 1, 7, 99, 100, 101, 1000, 12345}) {
    std::vector<std::atomic<int>> covered(static_cast<size_t>(count));
    std::atomic<int> tasks = 0;
    ParallelRanges(context.get(), count, 100, [&](int64_t first, int64_t last) {
      ++tasks;
      for (int64_t i = first; i < last; ++i) ++covered[static_cast<size_t>(i)];
    });
    for (const std::atomic<int>& times : covered) ASSERT_EQ(times, 1) << count;
    EXPECT_EQ(tasks, count < 200 ? 1 : count / 100 < 12 ? count / 100 : 12) << count;
  }
}

std::vector<float> Steps(size_t count, size_t factor) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i * factor % 251);
  return values;
}

// Larger than a task, by all of the plan's forms: row by row, a scalar, and both inputs whole.
TEST(ParallelRanges, broadcasts_are_the_same_on_all_threads) {
  constexpr int kRows = 300, kColumns = 700;
  ThreadedContext context(4);
  const std::vector<float> a = Steps(kRows * kColumns, 3);
  const std::vector<float> b = Steps(kRows * kColumns, 7);
  const auto dims = [](std::initializer_list<int> extents) {
    TfLiteIntArray* array = TfLiteIntArrayCreate(static_cast<int>(extents.size()));
    std::copy(extents.begin(), extents.end(), array->data);
    return array;
  };
  for (const auto& [rows, columns] :
       {std::pair(kRows, kColumns), {1, kColumns}, {kRows, 1}, {1, 1}}) {
    TfLiteTensor left{}, right{}, out{};
    left.dims = dims({kRows, kColumns});
    right.dims = dims({rows, columns});
    TfLiteContext* const c = context.get();
    c->tensors = &left;
    c->ResizeTensor = [](TfLiteContext*, TfLiteTensor* tensor, TfLiteIntArray* shape) {
      tensor->dims = shape;
      return kTfLiteOk;
    };
    BroadcastPlan plan;
    ASSERT_EQ(plan.Prepare(c, &left, &right, &out), kTfLiteOk);
    std::vector<float> sums(kRows * kColumns, NAN);
    plan.Run(c, a.data(), b.data(), sums.data(), [](float x, float y) { return x + y; });
    for (int i = 0; i < kRows * kColumns; ++i) {
      const int row = rows == 1 ? 0 : i / kColumns, column = columns == 1 ? 0 : i % kColumns;
      ASSERT_EQ(sums[static_cast<size_t>(i)],
                a[static_cast<size_t>(i)] + b[static_cast<size_t>(row * columns + column)]);
    }
    for (TfLiteTensor* tensor : {&left, &right, &out}) TfLiteIntArrayFree(tensor->dims);
  }
}

}  // namespace
}  // namespace deputy
