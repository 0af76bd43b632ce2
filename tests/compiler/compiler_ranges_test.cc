// SPDX-License-Identifier: Apache-2.0
//
// Tests the ranges of storage types: which values stay float32 where others are stored as float16,
// which scales are folded into weights, and that results agree with those of the graph as it was,
// for values near the limits of both types.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "compiler/half_ranges.h"
#include "tests/compiler/pass_support.h"

namespace deputy::compiler::compiler_ranges_test {
namespace {

using enum ScalarOp;

ValueId Reduced(GraphBuilder* m, ReduceKind kind, ValueId from) {
  Shape shape = m->ShapeOf(from);
  shape.back() = 1;
  return m->Add(Reduce{kind, 1U << (shape.size() - 1)}, {from}, shape);
}

ValueId Conv1x1(GraphBuilder* m, ValueId image, const std::vector<float>& weights) {
  const Shape in = m->ShapeOf(image);
  const int outs = static_cast<int>(weights.size()) / in[3];
  return m->Add(Conv2d{}, {image, m->Constant({outs, 1, 1, in[3]}, weights)},
                {in[0], in[1], in[2], outs});
}

ValueId MaxPooled(GraphBuilder* m, ValueId image) {
  return m->Add(Pool2d{PoolKind::kMax, {}}, {image}, m->ShapeOf(image));
}

std::vector<float> RunGraph(const Graph& graph, const std::vector<std::vector<float>>& inputs) {
  std::vector<const std::byte*> pointers;
  for (const auto& input : inputs) {
    pointers.push_back(reinterpret_cast<const std::byte*>(input.data()));
  }
  std::vector<std::vector<std::byte>> outputs;
  std::string error;
  EXPECT_TRUE(ComputeGraph(graph, pointers, &outputs, &error)) << error;
  std::vector<float> numbers(outputs[0].size() / sizeof(float));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = FloatAt(outputs[0], i);
  return numbers;
}

// Returns the graph after all passes, with reals stored as `storage`.
Graph Optimized(Graph graph, TfLiteType storage) {
  graph.real_storage = storage;
  RunPasses(&graph, nullptr);
  if (storage == kTfLiteFloat16) UseHalfStorage(&graph);
  EXPECT_EQ(FindFault(graph), "");
  return graph;
}

void ExpectClose(const std::vector<float>& found, const std::vector<double>& expected,
                 double tolerance, const std::string& text) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], tolerance * std::fabs(expected[i])) << i << ":\n" << text;
  }
}

// Expects literal results of a graph with both storage types, within one per cent for float16.
void ExpectResults(const Graph& graph, const std::vector<std::vector<float>>& inputs,
                   const std::vector<double>& expected) {
  const Graph single = Optimized(graph, kTfLiteFloat32), half = Optimized(graph, kTfLiteFloat16);
  ExpectClose(RunGraph(single, inputs), expected, 1e-5, ToText(single));
  ExpectClose(RunGraph(half, inputs), expected, 1e-2, ToText(half));
}

// ---- Which values stay float32 ------------------------------------------------------------------

// Returns true if the value that `make` computes from two values [1, 2, 2, 4] stays float32. The
// two values are results of convolutions and are stored as float16.
bool StaysWide(const std::function<ValueId(GraphBuilder*, ValueId, ValueId)>& make) {
  GraphBuilder m;
  const ValueId a = m.Conv3x3(m.Input({1, 4, 4, 4}), 4), b = m.Conv3x3(m.Input({1, 4, 4, 4}), 4);
  const ValueId made = make(&m, a, b);
  m.Output(m.Unary(kNeg, made));
  EXPECT_EQ(FindFault(m.graph), "");
  return FindWideValues(m.graph)[static_cast<size_t>(made)];
}

#define DEPUTY_OF(expression)                 \
  [](GraphBuilder* m, ValueId a, ValueId b) { \
    (void)b;                                  \
    return expression;                        \
  }

TEST(HalfRanges, sums_means_and_products_along_axes_stay_float32) {
  EXPECT_TRUE(StaysWide(DEPUTY_OF(Reduced(m, ReduceKind::kSum, a))));
  EXPECT_TRUE(StaysWide(DEPUTY_OF(Reduced(m, ReduceKind::kMean, a))));
  EXPECT_TRUE(StaysWide(DEPUTY_OF(Reduced(m, ReduceKind::kProd, a))));
  EXPECT_FALSE(StaysWide(DEPUTY_OF(Reduced(m, ReduceKind::kMax, a))));
  EXPECT_TRUE(StaysWide(DEPUTY_OF(m->Add(CumulativeSum{1}, {a}, m->ShapeOf(a)))));
}

TEST(HalfRanges, products_powers_exponentials_and_reciprocals_stay_float32) {
  EXPECT_TRUE(StaysWide(DEPUTY_OF(m->Binary(kMul, a, b))));
  EXPECT_TRUE(StaysWide(DEPUTY_OF(m->Binary(kMul, a, a))));
  EXPECT_TRUE(StaysWide(DEPUTY_OF(m->Binary(kPow, a, b))));
  EXPECT_TRUE(StaysWide(DEPUTY_OF(m->WithNumber(kPow, a, 2))));
  EXPECT_TRUE(StaysWide(DEPUTY_OF(m->Unary(kExp, a))));
  EXPECT_TRUE(StaysWide(DEPUTY_OF(m->Unary(kRsqrt, a))));
  EXPECT_TRUE(StaysWide(DEPUTY_OF(m->Binary(kAdd, m->Binary(kMul, a, b), b))));
  EXPECT_TRUE(StaysWide(DEPUTY_OF(MaxPooled(m, m->Binary(kMul, a, b)))));
  EXPECT_TRUE(StaysWide(DEPUTY_OF(m->Transposed(m->Binary(kMul, a, b), {0, 2, 1, 3}))));
}

TEST(HalfRanges, ordinary_operations_become_float16) {
  EXPECT_FALSE(StaysWide(DEPUTY_OF(m->Binary(kAdd, a, b))));
  EXPECT_FALSE(StaysWide(DEPUTY_OF(m->Binary(kDiv, a, b))));
  EXPECT_FALSE(StaysWide(DEPUTY_OF(m->Binary(kMul, a, m->Unary(kLogistic, b)))));
  EXPECT_FALSE(StaysWide(DEPUTY_OF(m->Unary(kSqrt, m->Binary(kMul, a, b)))));
  EXPECT_FALSE(StaysWide(DEPUTY_OF(m->WithNumber(kPow, a, 0.5))));
  EXPECT_FALSE(StaysWide(DEPUTY_OF(m->Unary(kExpm1, a)))) << "of ELU, below 0";
  EXPECT_FALSE(StaysWide(DEPUTY_OF(m->Conv3x3(m->Binary(kMul, a, b), 4, 1))));
  EXPECT_FALSE(StaysWide(DEPUTY_OF(m->Add(Softmax{}, {a}, m->ShapeOf(a)))));
  // A normalisation: x times the reciprocal root of its mean square.
  EXPECT_FALSE(StaysWide(DEPUTY_OF(
      m->Binary(kMul, a, m->Unary(kRsqrt, Reduced(m, ReduceKind::kMean, m->Binary(kMul, a, a)))))));
}

TEST(HalfRanges, magnitude_of_factors_and_addends_decides) {
  for (const double factor : {1e4, -1e4, 1e-4}) {
    EXPECT_TRUE(StaysWide([=](GraphBuilder* m, ValueId a, ValueId) {
      return m->WithNumber(kMul, a, factor);
    })) << factor;
    EXPECT_TRUE(StaysWide([=](GraphBuilder* m, ValueId a, ValueId) {
      return m->WithNumber(kDiv, a, factor);
    })) << factor;
    EXPECT_TRUE(StaysWide([=](GraphBuilder* m, ValueId a, ValueId) {
      const float f = static_cast<float>(factor);
      return m->Binary(kMul, a, m->Constant({4}, {0, f, f / 2, 0}));
    })) << factor;
  }
  EXPECT_TRUE(StaysWide(DEPUTY_OF(m->WithNumber(kAdd, a, -1e9))));
  EXPECT_FALSE(StaysWide(DEPUTY_OF(m->WithNumber(kAdd, a, 1e4))));
  EXPECT_FALSE(StaysWide(DEPUTY_OF(m->WithNumber(kMul, a, 1.0 / 255))));
  EXPECT_FALSE(StaysWide(DEPUTY_OF(m->WithNumber(kMul, m->WithNumber(kMul, a, 1e4), 1e-4))));
}

TEST(HalfRanges, known_bounds_decide) {
  const auto clamped = [](GraphBuilder* m, ValueId a, double most, double factor) {
    const ValueId bounded = m->WithNumber(kMax, m->WithNumber(kMin, a, most), -most);
    return m->Compute(
        [&] {
          Expression e;
          const int x = e.Operand(0, kTfLiteFloat32);
          const int low = e.Apply(kMax, e.Constant(kTfLiteFloat32, -most), x);
          const int high = e.Apply(kMin, e.Constant(kTfLiteFloat32, most), low);
          e.SetResult(e.Apply(kMul, high, e.Constant(kTfLiteFloat32, factor)));
          return e;
        }(),
        {bounded});
  };
  const auto stays = [&](double most, double factor) {
    return StaysWide(
        [&](GraphBuilder* m, ValueId a, ValueId) { return clamped(m, a, most, factor); });
  };
  EXPECT_FALSE(stays(6, 10000));
  EXPECT_TRUE(stays(6, 11000)) << "66000 is beyond float16";
  EXPECT_FALSE(stays(6, 1.1e-5)) << "6.6e-5 is normal";
  EXPECT_TRUE(stays(6, 1e-5)) << "6e-5 is not";
}

// float16 cannot represent all integers beyond 2048, whatever their scale.
TEST(HalfRanges, integers_keep_their_precision) {
  const auto stays = [](TfLiteType type) -> bool {
    GraphBuilder m;
    Expression e;
    const int x = e.Cast(e.Operand(0, type), kTfLiteFloat32);
    e.SetResult(e.Apply(kMul, x, e.Constant(kTfLiteFloat32, 0.01)));
    const ValueId made = m.Compute(e, {m.Input({4}, type)});
    m.Output(m.Unary(kNeg, made));
    return FindWideValues(m.graph)[static_cast<size_t>(made)];
  };
  EXPECT_FALSE(stays(kTfLiteInt8));
  EXPECT_TRUE(stays(kTfLiteInt16));
  EXPECT_TRUE(stays(kTfLiteInt32));
}

// A large factor after a stored value, or in a filter, implies that the value is small; a small
// factor implies that it is large. Such a value stays float32.
TEST(HalfRanges, a_later_scale_indicates_an_unusual_magnitude) {
  for (const float factor : {1e5F, 1e-5F}) {
    GraphBuilder m;
    const ValueId a = m.Conv3x3(m.Input({1, 4, 4, 4}), 4);
    const ValueId pooled = MaxPooled(&m, a);
    m.Output(m.Unary(kNeg, m.WithNumber(kMul, pooled, factor)));
    const std::vector<bool> wide = FindWideValues(m.graph);
    EXPECT_TRUE(wide[static_cast<size_t>(a)] && wide[static_cast<size_t>(pooled)]) << factor;
  }
  for (const float weight : {1.0F, 1e5F, 1e-5F}) {
    GraphBuilder m;
    const ValueId a = m.Conv3x3(m.Input({1, 4, 4, 4}), 4);
    const ValueId pooled = MaxPooled(&m, a);
    m.Output(Conv1x1(&m, pooled, std::vector<float>(4, weight)));
    const std::vector<bool> wide = FindWideValues(m.graph);
    EXPECT_EQ(wide[static_cast<size_t>(a)], weight != 1) << weight;
    EXPECT_EQ(wide[static_cast<size_t>(pooled)], weight != 1) << weight;
  }
}

TEST(HalfRanges, views_have_the_type_of_their_source) {
  GraphBuilder m;
  const ValueId a = m.Conv3x3(m.Input({1, 4, 4, 4}), 4);
  const ValueId view = m.Reshaped(a, {4, 4});
  m.Output(m.Unary(kNeg, m.WithNumber(kMul, a, 1e5)));
  m.Output(m.Unary(kNeg, view));
  const std::vector<bool> wide = FindWideValues(m.graph);
  EXPECT_TRUE(wide[static_cast<size_t>(a)]);
  EXPECT_TRUE(wide[static_cast<size_t>(view)]);
}

// ---- Which scales are folded into weights -------------------------------------------------------

// Returns the number of changes that FoldScales makes in factor * conv(x) + addend, or in
// conv(factor * x + addend) if `before`; all weights equal `weight`.
int Folded(bool before, TfLiteType storage, float factor, float weight, float addend = 0) {
  GraphBuilder m;
  ValueId x = m.Conv3x3(m.Input({1, 3, 3, 4}), 4);  // a value that is stored in memory
  const auto scaled = [&](ValueId id) {
    id = m.Binary(kMul, id, m.Constant({4}, std::vector<float>(4, factor)));
    return addend == 0 ? id : m.Binary(kAdd, id, m.Constant({4}, std::vector<float>(4, addend)));
  };
  x = MaxPooled(&m, x);
  if (before) x = scaled(x);
  x = Conv1x1(&m, x, std::vector<float>(16, weight));
  if (!before) x = scaled(x);
  m.Output(m.Unary(kNeg, x));
  m.graph.real_storage = storage;
  return FoldScales(&m.graph);
}

TEST(FoldScales, keeps_weights_in_the_range_of_float32) {
  for (const bool before : {false, true}) {
    EXPECT_EQ(Folded(before, kTfLiteFloat32, 1e20F, 1e18F), 1);
    EXPECT_EQ(Folded(before, kTfLiteFloat32, 1e20F, 1e19F), 0) << "1e39";
    EXPECT_EQ(Folded(before, kTfLiteFloat32, 1e-20F, 1e-17F), 1);
    EXPECT_EQ(Folded(before, kTfLiteFloat32, 1e-20F, 1e-18F), 0) << "below normal numbers";
    EXPECT_EQ(Folded(before, kTfLiteFloat32, 0, 1), 1);
    EXPECT_EQ(Folded(before, kTfLiteFloat32, 1e-20F, 0), 1);
  }
}

TEST(FoldScales, keeps_biases_in_the_range_of_float32) {
  EXPECT_GE(Folded(true, kTfLiteFloat32, 1, 1e10F, 1e20F), 1);
  EXPECT_EQ(Folded(true, kTfLiteFloat32, 1, 1e19F, 1e20F), 0);
}

TEST(FoldScales, keeps_weights_in_the_range_of_float16) {
  EXPECT_EQ(Folded(false, kTfLiteFloat16, 100, 600), 1);
  EXPECT_EQ(Folded(false, kTfLiteFloat16, 100, 700), 0);
  EXPECT_EQ(Folded(false, kTfLiteFloat16, 1e-3F, 0.1F), 1);
  EXPECT_EQ(Folded(false, kTfLiteFloat16, 1e-3F, 0.01F), 0);
  EXPECT_EQ(Folded(false, kTfLiteFloat16, 0.9F, 1e-6F), 1) << "loses no more than it had lost";
  EXPECT_EQ(Folded(false, kTfLiteFloat16, 1e-3F, 1e-9F), 1) << "float16 has none of both";
}

// Folding `scale` into the weights stores x in place of scale * x; x must not leave the range of
// float16.
TEST(FoldScales, stores_no_unscaled_value_as_float16) {
  EXPECT_EQ(Folded(true, kTfLiteFloat16, 0.1F, 1), 0);
  EXPECT_EQ(Folded(true, kTfLiteFloat16, 10, 1), 0);
  const auto of = [](const std::function<ValueId(GraphBuilder*)>& make, float addend) {
    GraphBuilder m;
    ValueId x = m.Binary(kMul, make(&m), m.Constant({4}, {0.5F, 1, -1, 0.1F}));
    if (addend != 0) x = m.Binary(kAdd, x, m.Constant({4}, std::vector<float>(4, addend)));
    m.Output(Conv1x1(&m, x, {1, 2, 3, 4}));
    m.graph.real_storage = kTfLiteFloat16;
    return FoldScales(&m.graph);
  };
  const auto input = [](GraphBuilder* m) { return m->Input({1, 2, 2, 4}); };
  const auto bounded = [](GraphBuilder* m) { return m->Unary(kLogistic, m->Input({1, 2, 2, 4})); };
  EXPECT_EQ(of(input, 0), 1) << "an input stays float32";
  EXPECT_EQ(of(input, 1), 0);
  EXPECT_EQ(of(bounded, 0), 1);
}

// ---- Results ------------------------------------------------------------------------------------

TEST(RangeResults, a_sum_times_its_reciprocal_count_before_a_convolution) {
  GraphBuilder m;
  const ValueId sum = m.Add(Reduce{ReduceKind::kSum, 6}, {m.Input({1, 100, 100, 2})}, {1, 1, 1, 2});
  m.Output(Conv1x1(&m, m.WithNumber(kMul, sum, 1e-4), {1, 2, 3, -1}));
  std::vector<float> x(20000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? 10 : 20;
  ExpectResults(m.graph, {x}, {50, 10});
}

TEST(RangeResults, root_mean_squares_of_large_values) {
  GraphBuilder m;
  const ValueId x = m.Input({2, 4});
  const ValueId mean = Reduced(&m, ReduceKind::kMean, m.Binary(kMul, x, x));
  m.Output(m.Binary(kMul, x, m.Unary(kRsqrt, m.WithNumber(kAdd, mean, 1e-12))));
  ExpectResults(m.graph, {{300, 300, -300, 300, 1e-4F, 3e-4F, -1e-4F, 1e-4F}},
                {1, 1, -1, 1, 0.57734065, 1.73202194, -0.57734065, 0.57734065});
}

TEST(RangeResults, products_before_a_scale_and_a_convolution) {
  GraphBuilder m;
  const ValueId product = m.Binary(kMul, m.Input({1, 1, 1, 2}), m.Input({1, 1, 1, 2}));
  m.Output(Conv1x1(&m, m.WithNumber(kMul, product, 1e-5), {1, 1}));
  ExpectResults(m.graph, {{1000, 2000}, {1000, 3000}}, {70});
}

TEST(RangeResults, scales_and_weights_that_cancel) {
  struct Case {
    float x, scale, weight;
    bool after;
  };
  for (const Case& c : {Case{1e-15F, 1e20F, 1e25F, false}, Case{1e20F, 1e-20F, 1e-25F, false},
                        Case{1e-20F, 1e-20F, 1e37F, true}, Case{3000, 1e-3F, 1e-3F, false},
                        Case{60000, 1e-4F, 1, false}, Case{30, 1e-4F, 1e-3F, true}}) {
    GraphBuilder m;
    ValueId x = m.Binary(kAdd, m.Input({1, 1, 1, 2}), m.Input({1, 1, 1, 2}));
    x = MaxPooled(&m, x);
    if (!c.after) x = m.WithNumber(kMul, x, c.scale);
    x = Conv1x1(&m, x, {c.weight, 2 * c.weight});
    m.Output(c.after ? m.WithNumber(kMul, x, c.scale) : x);
    const double expected = (2.0 + 2 * 4) * c.x * c.scale * c.weight;
    ExpectResults(m.graph, {{c.x, 2 * c.x}, {c.x, 2 * c.x}}, {expected});
  }
}

// The mask is finite in float32; in float16 every element of a masked row would be -INFINITY.
TEST(RangeResults, softmax_of_a_masked_row) {
  GraphBuilder m;
  const ValueId scores = m.Binary(kAdd, m.Input({1, 4}), m.WithNumber(kMul, m.Input({1, 4}), -1e9));
  m.Output(m.Add(Softmax{}, {scores}, {1, 4}));
  ExpectResults(m.graph, {{0, 0, 0, 0}, {1, 1, 1, 1}}, {0.25, 0.25, 0.25, 0.25});
}

// The graph casts reals to 16-bit integers, transposes them, and casts them back.
TEST(RangeResults, moved_integers_keep_their_precision) {
  GraphBuilder m;
  Expression to, back;
  const int x = to.Apply(kRoundAway, to.Operand(0, kTfLiteFloat32));
  const int high = to.Apply(kMin, x, to.Constant(kTfLiteFloat32, 32767));
  to.SetResult(to.Cast(to.Apply(kMax, high, to.Constant(kTfLiteFloat32, -32768)), kTfLiteInt16));
  back.SetResult(back.Cast(back.Operand(0, kTfLiteInt16), kTfLiteFloat32));
  const ValueId whole = m.Transposed(m.Compute(to, {m.Input({2, 2})}), {1, 0});
  const ValueId real = m.Compute(back, {whole});
  m.Output(m.Add(MatMul{}, {real, m.Constant({2, 1}, {1, 1})}, {2, 1}));
  const Graph half = Optimized(m.graph, kTfLiteFloat16);
  EXPECT_EQ(RunGraph(half, {{30001, -1, -30000, 2}}), (std::vector<float>{1, 1})) << ToText(half);
}

}  // namespace
}  // namespace deputy::compiler::compiler_ranges_test
