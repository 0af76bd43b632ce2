// SPDX-License-Identifier: Apache-2.0
//
// Tests work that kernels distribute among threads: every element is computed exactly once, and
// results are identical.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <initializer_list>
#include <utility>
#include <vector>

#include "c_api/include/c_api.h"
#include "kernels/common/broadcast.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"
#include "tests/support/threaded_context.h"

namespace deputy::kernels_threads_test {
namespace {

// The ranges cover every element exactly once; small work stays on one thread.
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

// The second input has the shape of the first, or is a row, a column or a scalar that is broadcast.
// The output is larger than a task.
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

// Broadcasts runs of a few elements of either input, as a whole and in parts that begin and end
// within a run.
template <typename T>
void CheckShortRuns(const std::vector<int>& a, const std::vector<int>& b) {
  SCOPED_TRACE(testing::Message() << sizeof(T) << " bytes, " << testing::PrintToString(a) << " and "
                                  << testing::PrintToString(b));
  ThreadedContext context(2);
  TfLiteTensor tensors[3] = {};
  const auto dims = [](const std::vector<int>& extents) {
    TfLiteIntArray* array = TfLiteIntArrayCreate(static_cast<int>(extents.size()));
    std::copy(extents.begin(), extents.end(), array->data);
    return array;
  };
  tensors[0].dims = dims(a);
  tensors[1].dims = dims(b);
  TfLiteContext* const c = context.get();
  c->tensors = tensors;
  c->ResizeTensor = [](TfLiteContext*, TfLiteTensor* tensor, TfLiteIntArray* shape) {
    tensor->dims = shape;
    return kTfLiteOk;
  };
  BroadcastPlan plan;
  ASSERT_EQ(plan.Prepare(c, &tensors[0], &tensors[1], &tensors[2]), kTfLiteOk);
  std::vector<T> values[2];
  for (int i = 0; i < 2; ++i) {
    for (int64_t k = 0; k < ElementCount(&tensors[i]); ++k) {
      values[i].push_back(static_cast<T>(k * (i == 0 ? 3 : 7) % 251));
    }
  }
  const auto count = static_cast<size_t>(ElementCount(&tensors[2]));
  std::vector<T> expected;
  for (size_t at = 0; at < count; ++at) {
    size_t place[2] = {}, pitch[2] = {1, 1}, remainder = at;
    for (int axis = tensors[2].dims->size - 1; axis >= 0; --axis) {
      const auto extent = static_cast<size_t>(tensors[2].dims->data[axis]);
      for (int i = 0; i < 2; ++i) {
        const auto own = static_cast<size_t>(tensors[i].dims->data[axis]);
        place[i] += own == 1 ? 0 : remainder % extent * pitch[i];
        pitch[i] *= own;
      }
      remainder /= extent;
    }
    expected.push_back(static_cast<T>(values[0][place[0]] - 2 * values[1][place[1]]));
  }
  const auto run = [](const T* x, const T* y, T* out, int64_t many, bool x_moves, bool y_moves) {
    for (int64_t i = 0; i < many; ++i) {
      out[i] = static_cast<T>(x[x_moves ? i : 0] - 2 * y[y_moves ? i : 0]);
    }
  };
  std::vector<T> whole(count), parts(count);
  plan.RunByRuns(c, values[0].data(), values[1].data(), whole.data(), run);
  EXPECT_EQ(whole, expected);
  for (size_t first = 0, last; first < count; first = last) {
    last = std::min(count, first + 1 + first % 157);
    plan.RunPart(static_cast<int64_t>(first), static_cast<int64_t>(last), values[0].data(),
                 values[1].data(), parts.data(), run);
  }
  EXPECT_EQ(parts, expected);
  for (TfLiteTensor& tensor : tensors) TfLiteIntArrayFree(tensor.dims);
}

TEST(ParallelRanges, short_runs_are_merged) {
  const std::pair<std::vector<int>, std::vector<int>> kShapes[] = {
      {{8, 100, 1}, {1, 1, 2}},    {{1, 1, 2}, {8, 100, 1}},  {{40, 3, 1}, {40, 1, 5}},
      {{700, 15}, {700, 1}},       {{700, 1}, {700, 15}},     {{3, 20, 4}, {3, 1, 4}},
      {{5, 1, 7}, {5, 30, 7}},     {{1, 16, 1}, {9, 16, 15}}, {{9, 16, 15}, {1, 16, 1}},
      {{2, 3000, 3}, {2, 3000, 1}}};
  for (const auto& [a, b] : kShapes) {
    CheckShortRuns<uint8_t>(a, b);
    CheckShortRuns<int16_t>(a, b);
    CheckShortRuns<float>(a, b);
    CheckShortRuns<int64_t>(a, b);
  }
}

struct Reduction {
  std::vector<int> shape;
  std::vector<int> axes;
};

// Reductions that are large enough for several tasks, with every partitioning strategy: the
// outermost axis, the columns of a reduced one, pieces of a reduced one, and any of these below a
// short axis.
const Reduction kReductions[] = {
    {{300001}, {0}},           {{3001, 40}, {0}},         {{70, 2049}, {0}},
    {{2, 3, 50001}, {1}},      {{65, 3001}, {1}},         {{3, 200, 11, 31}, {1, 3}},
    {{40, 7, 501, 3}, {0, 2}}, {{33, 5, 400, 3}, {1, 2}}, {{5, 7, 11, 13, 17, 3}, {0, 2, 4}},
};

std::vector<uint8_t> ReductionModel(TfLiteBuiltinOperator code, TfLiteType type,
                                    const Reduction& row) {
  ModelBuilder m;
  TensorExtras scale;
  if (type == kTfLiteInt8) scale = {.scale = {1.0f}, .zero_point = {0}};
  const int input = m.AddTensor(type, row.shape, "input", scale);
  const int axes = m.AddConstant<int>(kTfLiteInt32, {static_cast<int>(row.axes.size())}, row.axes);
  const int output = m.AddTensor(type, {1}, "output", scale);
  m.AddOp(code, {input, axes}, {output}, schema::CreateReducerOptions(m.fbb()));
  m.SetInputs({input});
  m.SetOutputs({output});
  return m.Finish();
}

template <typename T>
std::vector<T> Reduce(const std::vector<uint8_t>& model, const std::vector<T>& values,
                      int threads) {
  TestInterpreter interpreter(model, [=](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetNumThreads(options, threads);
  });
  EXPECT_EQ(interpreter.Allocate(), kTfLiteOk) << interpreter.log();
  interpreter.Set(0, values);
  EXPECT_EQ(interpreter.Invoke(), kTfLiteOk) << interpreter.log();
  return interpreter.Get<T>(0);
}

// Calls fold(out, value) for every element, where `out` is the output to which it belongs.
template <typename T, typename Fold>
std::vector<double> BruteForce(const Reduction& row, const std::vector<T>& values, double start,
                               const Fold& fold) {
  size_t outputs = 1;
  std::vector<size_t> steps(row.shape.size(), 0);
  for (size_t axis = row.shape.size(); axis-- > 0;) {
    if (std::count(row.axes.begin(), row.axes.end(), static_cast<int>(axis)) != 0) continue;
    steps[axis] = outputs;
    outputs *= static_cast<size_t>(row.shape[axis]);
  }
  std::vector<double> out(outputs, start);
  for (size_t i = 0; i < values.size(); ++i) {
    size_t remainder = i, at = 0;
    for (size_t axis = row.shape.size(); axis-- > 0;) {
      at += remainder % static_cast<size_t>(row.shape[axis]) * steps[axis];
      remainder /= static_cast<size_t>(row.shape[axis]);
    }
    out[at] = fold(out[at], static_cast<double>(values[i]));
  }
  return out;
}

size_t CountOf(const Reduction& row) {
  size_t count = 1;
  for (int extent : row.shape) count *= static_cast<size_t>(extent);
  return count;
}

// The sums are rounded, so that a different order would be detected.
TEST(Reductions, float_sums_have_the_same_bits_on_all_threads) {
  for (const Reduction& row : kReductions) {
    std::vector<float> values = Steps(CountOf(row), 7919);
    for (float& value : values) value = (value - 100.0f) * 0.0123f;
    const auto model = ReductionModel(kTfLiteBuiltinSum, kTfLiteFloat32, row);
    const std::vector<float> sums = Reduce(model, values, 1);
    const std::vector<double> exact =
        BruteForce(row, values, 0, [](double sum, double x) { return sum + x; });
    ASSERT_EQ(sums.size(), exact.size());
    for (size_t i = 0; i < sums.size(); ++i) {
      ASSERT_NEAR(sums[i], exact[i], 0.02 + 1e-5 * std::fabs(exact[i])) << i;
    }
    for (int threads : {2, 3, 7}) EXPECT_EQ(Reduce(model, values, threads), sums) << threads;
  }
}

TEST(Reductions, integers_are_exact_on_all_threads) {
  for (const Reduction& row : kReductions) {
    std::vector<int8_t> values(CountOf(row));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int8_t>(i * 7919 % 251);
    const std::vector<double> sums =
        BruteForce(row, values, 0, [](double sum, double x) { return sum + x; });
    const std::vector<double> largest =
        BruteForce(row, values, -128, [](double a, double b) { return std::fmax(a, b); });
    const double per_output = static_cast<double>(values.size()) / static_cast<double>(sums.size());
    for (int threads : {1, 2, 3}) {
      const auto means =
          Reduce(ReductionModel(kTfLiteBuiltinMean, kTfLiteInt8, row), values, threads);
      const auto maxima =
          Reduce(ReductionModel(kTfLiteBuiltinReduceMax, kTfLiteInt8, row), values, threads);
      for (size_t i = 0; i < sums.size(); ++i) {
        // The tolerance is half a step, plus the error of two fixed-point roundings.
        ASSERT_NEAR(means[i], sums[i] / per_output, 0.55) << threads << " " << i;
        ASSERT_EQ(maxima[i], largest[i]) << threads << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace deputy::kernels_threads_test
