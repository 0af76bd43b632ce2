// SPDX-License-Identifier: Apache-2.0
//
// Tests the passes that normalise a graph, and all passes together.
#include "compiler/passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/compiler/pass_support.h"

namespace deputy::compiler::compiler_passes_test {
namespace {

using ::testing::ElementsAre;
using enum ScalarOp;

// ---- remove_dead --------------------------------------------------------------------------------

TEST(RemoveDead, removes_operations_and_renumbers_values) {
  GraphBuilder m;
  const ValueId x = m.Input({4});
  m.Unary(kExp, m.Unary(kNeg, x));
  m.Weights({3});
  m.Output(m.Unary(kAbs, x));
  EXPECT_EQ(RemoveDead(&m.graph), 2);
  EXPECT_EQ(ToText(m.graph),
            "input %0 FLOAT32[4]\n"
            "%1 = elementwise(%0) abs(a) FLOAT32[4]\n"
            "output %1\n");
  EXPECT_EQ(m.graph.values.size(), 2u);
}

TEST(RemoveDead, keeps_unused_inputs) {
  GraphBuilder m;
  m.Input({4});
  m.Output(m.Unary(kAbs, m.Input({2})));
  EXPECT_EQ(RemoveDead(&m.graph), 0);
  EXPECT_EQ(m.graph.inputs.size(), 2u);
}

TEST(RemoveDead, renumbers_operands_of_epilogues) {
  GraphBuilder m;
  m.Weights({3});
  const ValueId x = m.Input({2, 3}), y = m.Input({3});
  m.Output(m.Add(Softmax{}, {x}, {2, 3}));
  Operation& operation = m.graph.operations.back();
  operation.epilogue.Apply(kAdd, operation.epilogue.Operand(0, kTfLiteFloat32),
                           operation.epilogue.Operand(1, kTfLiteFloat32));
  operation.epilogue_inputs = {y};
  RemoveDead(&m.graph);
  EXPECT_EQ(ToText(m.graph),
            "input %0 FLOAT32[2,3]\n"
            "input %1 FLOAT32[3]\n"
            "%2 = softmax(%0) then (a + b) of (%1) FLOAT32[2,3]\n"
            "output %2\n");
}

// ---- fold_constants -----------------------------------------------------------------------------

TEST(FoldConstants, computes_chains_of_constants) {
  GraphBuilder m;
  const ValueId x = m.Input({3});
  const ValueId c = m.Unary(kNeg, m.Unary(kAbs, m.Constant({3}, {1, -2, 3})));
  m.Output(m.Binary(kAdd, x, c));
  EXPECT_EQ(After(&FoldConstants, m.graph),
            "input %0 FLOAT32[3]\n"
            "%1 = elementwise(%0, %2{FLOAT32[3]}) (a + b) FLOAT32[3]\n"
            "output %1\n");
}

TEST(FoldConstants, keeps_the_operation_of_a_graph_output) {
  GraphBuilder m;
  m.Output(m.Unary(kNeg, m.Constant({2}, {1, 2})));
  EXPECT_EQ(After(&FoldConstants, m.graph),
            "%0 = view(%1{FLOAT32[2]}) FLOAT32[2]\n"
            "output %0\n");
}

TEST(FoldConstants, does_not_fold_an_index_out_of_range) {
  GraphBuilder m;
  const int32_t index = 7;
  const ValueId indices = m.graph.AddConstantOf<int32_t>(kTfLiteInt32, {1}, {{index}});
  m.Output(m.Add(Gather{}, {m.Weights({3}), indices}, {1}));
  ExpectUnchanged(&FoldConstants, m.graph);
}

// ---- simplify_expressions -----------------------------------------------------------------------

TEST(SimplifyExpressions, inlines_scalars_and_replaces_no_ops_by_views) {
  GraphBuilder m;
  const ValueId x = m.Input({2, 2});
  const ValueId y = m.Binary(kMul, x, m.Constant({1}, {1}));
  m.Output(m.Binary(kAdd, y, m.Constant({}, {2})));
  EXPECT_EQ(After(&SimplifyExpressions, m.graph),
            "input %0 FLOAT32[2,2]\n"
            "%1 = view(%0) FLOAT32[2,2]\n"
            "%2 = elementwise(%1) (a + 2) FLOAT32[2,2]\n"
            "output %2\n");
}

TEST(SimplifyExpressions, merges_operands_of_the_same_value) {
  GraphBuilder m;
  const ValueId x = m.Input({3});
  m.Output(m.Binary(kMul, x, x));
  EXPECT_EQ(After(&SimplifyExpressions, m.graph),
            "input %0 FLOAT32[3]\n"
            "%1 = elementwise(%0) (a * a) FLOAT32[3]\n"
            "output %1\n");
}

TEST(SimplifyExpressions, keeps_constants_of_several_elements_operands) {
  GraphBuilder m;
  m.Output(m.Binary(kMul, m.Input({2, 2}), m.Constant({2}, {1, 2})));
  ExpectUnchanged(&SimplifyExpressions, m.graph);
}

TEST(SimplifyExpressions, simplifies_epilogues) {
  GraphBuilder m;
  const ValueId sum = m.Add(Reduce{ReduceKind::kSum, 2}, {m.Input({2, 3})}, {2, 1});
  Operation& operation = m.graph.operations.back();
  Expression& e = operation.epilogue;
  e.Apply(kMul, e.Apply(kAdd, e.Operand(1, kTfLiteFloat32), e.Operand(0, kTfLiteFloat32)),
          e.Constant(kTfLiteFloat32, 1));
  operation.epilogue_inputs = {m.Constant({1, 1}, {3})};
  m.Output(sum);
  EXPECT_EQ(After(&SimplifyExpressions, m.graph),
            "input %0 FLOAT32[2,3]\n"
            "%1 = reduce(%0) sum axes 1 then (3 + a) FLOAT32[2,1]\n"
            "output %1\n");
}

// ---- All passes ---------------------------------------------------------------------------------

// A block of a quantised MobileNet: expansion, padding, depthwise convolution, projection, and the
// sum with its input.
Graph QuantisedBlock() {
  GraphBuilder m;
  const ValueId x = Dequantize(&m, m.Input({1, 4, 4, 2}, kTfLiteInt8));
  const auto pointwise = [&](ValueId image, int channels) {
    const Shape in = m.ShapeOf(image);
    return m.Add(Conv2d{}, {image, m.Weights({channels, 1, 1, in[3]}), m.Weights({channels})},
                 {in[0], in[1], in[2], channels});
  };
  ValueId y = m.WithNumber(kMin, m.WithNumber(kMax, pointwise(x, 4), 0), 6);
  y = m.Padded(Quantize(&m, y), 1, 1, 1, 1, {0, kScale.zero_point});
  y = m.Add(DepthwiseConv2d{GraphBuilder::Window3x3(), 1},
            {Dequantize(&m, y), m.Weights({1, 3, 3, 4}), kNoValue}, {1, 4, 4, 4});
  y = Dequantize(&m, Quantize(&m, m.WithNumber(kMax, y, 0)));
  y = Dequantize(&m, Quantize(&m, pointwise(y, 2)));
  y = Quantize(&m, m.Binary(kAdd, x, y));
  m.Output(m.Reshaped(y, {32}));
  return m.graph;
}

TEST(RunPasses, reduces_a_quantised_block_to_three_convolutions) {
  Graph graph = QuantisedBlock();
  const Graph before = graph;
  std::vector<std::string> log;
  RunPasses(&graph, [&](const std::string& line) { log.push_back(line); });
  ExpectSame(before, graph, 0);
  std::vector<std::string> kinds;
  for (const Operation& operation : graph.operations) kinds.emplace_back(KindName(operation.kind));
  EXPECT_THAT(kinds, ElementsAre("elementwise", "conv_2d", "depthwise_conv_2d", "conv_2d", "view"))
      << ToText(graph);
  EXPECT_THAT(log, ElementsAre("merge_padding: changed 1", "join_quantization: changed 1",
                               "fuse_elementwise: changed 8", "fuse_epilogues: changed 3"));
}

TEST(RunPasses, each_pass_preserves_the_results) {
  Graph graph = QuantisedBlock();
  for (const PassRow& row : AllPasses()) {
    const Graph before = graph;
    row.pass(&graph);
    ExpectSame(before, graph, 0);
  }
}

// Graphs of random operations on small images, several of whose values are outputs.
class RandomGraph {
 public:
  explicit RandomGraph(unsigned seed) : random_(seed) {
    reals_ = {m_.Input({1, 4, 4, 2}), m_.Input({1, 4, 4, 2}), m_.Input({2})};
    for (int i = 0; i < 14; ++i) AddOne();
    m_.Output(reals_.back());
    for (int i = 0; i < 3; ++i) {
      const ValueId id = Any();
      const auto& outputs = m_.graph.outputs;
      const bool is_new = std::find(outputs.begin(), outputs.end(), id) == outputs.end();
      if (is_new && id > reals_[2]) m_.Output(id);
    }
  }
  const Graph& graph() const { return m_.graph; }

 private:
  int Below(int end) { return static_cast<int>(random_() % static_cast<unsigned>(end)); }
  // Returns a random value; recent ones are more probable.
  ValueId Any() {
    const int count = static_cast<int>(reals_.size());
    return reals_[static_cast<size_t>(count - 1 - Below(Below(count) + 1))];
  }
  ValueId AnyImage() {
    ValueId id = Any();
    while (m_.ShapeOf(id).size() != 4) id = Any();
    return id;
  }
  ValueId AnyLike(ValueId a) {
    for (int i = 0; i < 8; ++i) {
      const ValueId b = Any();
      if (m_.ShapeOf(b) == m_.ShapeOf(a)) return b;
    }
    return m_.ShapeOf(a).back() == 2 ? reals_[2] : a;
  }

  ValueId AddOperator() {
    constexpr ScalarOp kOnes[] = {kAbs, kNeg, kExp, kLogistic, kRoundEven};
    constexpr ScalarOp kTwos[] = {kAdd, kSub, kMul, kMax, kMin};
    constexpr double kNumbers[] = {0, 1, 6, -1, 0.5};
    const ValueId a = Any();
    switch (Below(3)) {
      case 0:
        return m_.Unary(kOnes[Below(5)], a);
      case 1:
        return m_.Binary(kTwos[Below(5)], a, AnyLike(a));
      default:
        return m_.WithNumber(kTwos[Below(5)], a, kNumbers[Below(5)]);
    }
  }

  ValueId AddMovement() {
    const ValueId a = AnyImage();
    const Shape shape = m_.ShapeOf(a);
    switch (Below(4)) {
      case 0:
        return m_.Transposed(a, Below(2) == 0 ? std::vector{0, 2, 1, 3} : std::vector{0, 3, 1, 2});
      case 1:
        return m_.Reshaped(a, {1, shape[2], shape[1], shape[3]});
      case 2:
        return m_.Reshaped(a, {shape[1] * shape[2], shape[3]});
      default:
        return ElementCount(shape) > 200
                   ? a
                   : m_.Padded(a, Below(2), 1, Below(2), 0, {Below(2) * 1.0, 0});
    }
  }

  ValueId AddLarge() {
    const ValueId a = AnyImage();
    const Shape shape = m_.ShapeOf(a);
    const bool fits = shape[1] >= 3 && shape[2] >= 3;
    switch (Below(4)) {
      case 0:
        return fits ? m_.Conv3x3(a, 2, Below(2)) : m_.Conv3x3(a, 2, 1);
      case 1:
        return m_.Add(Pool2d{PoolKind::kMax, GraphBuilder::Window3x3(1)}, {a}, shape);
      case 2:
        return m_.Add(Reduce{ReduceKind::kMean, 6}, {a}, {1, 1, 1, shape[3]});
      default:
        return m_.Add(Softmax{}, {a}, shape);
    }
  }

  void AddOne() {
    const int kind = Below(10);
    if (kind < 5) return reals_.push_back(AddOperator());
    if (kind < 7) return reals_.push_back(AddMovement());
    if (kind < 9) return reals_.push_back(AddLarge());
    const ValueId stored = Quantize(&m_, AnyImage());
    const bool moves = Below(2) == 0;
    reals_.push_back(Dequantize(&m_, moves ? m_.Transposed(stored, {0, 2, 1, 3}) : stored));
    if (Below(4) == 0) m_.Output(stored);
  }

  GraphBuilder m_;
  std::mt19937 random_;
  std::vector<ValueId> reals_;
};

// Runs all passes except FoldScales, which changes rounding.
TEST(Passes, change_no_bit_of_random_graphs) {
  size_t before = 0, after = 0;
  for (unsigned seed = 0; seed < 1500 && !HasFailure(); ++seed) {
    const RandomGraph random(seed);
    Graph graph = random.graph();
    for (int round = 0; round < 3; ++round) {
      for (const PassRow& row : AllPasses()) {
        if (row.pass == &FoldScales) continue;
        row.pass(&graph);
        ASSERT_EQ(FindFault(graph), "") << row.name << "\n" << ToText(random.graph());
      }
    }
    ExpectSame(random.graph(), graph, 0);
    RemoveDead(&graph);
    before += random.graph().operations.size();
    after += graph.operations.size();
  }
  EXPECT_LT(after, before / 2);
}

// A quadratic algorithm would take minutes here.
TEST(RunPasses, handles_long_chains) {
  constexpr int kLength = 10000;
  GraphBuilder m;
  ValueId y = m.Input({2, 3}), z = m.Input({2, 3});
  for (int i = 0; i < kLength; ++i) {
    y = m.Reshaped(y, i % 2 == 0 ? Shape{6} : Shape{2, 3});
    z = m.Unary(kExp, m.Transposed(z, {1, 0}));
  }
  const ValueId x = m.Input({3});
  for (int i = 0; i < kLength; ++i) m.Output(m.Unary(kSin, m.Unary(kNeg, x)));
  m.Output(y);
  m.Output(z);
  RunPasses(&m.graph, nullptr);
  EXPECT_EQ(FindFault(m.graph), "");
  // A view, one fused operation for each output, and the element-wise operations between
  // transpositions fused in groups of twenty.
  EXPECT_EQ(m.graph.operations.size(), 1u + kLength + kLength / 20);
}

TEST(RunPasses, handles_an_empty_graph) {
  Graph graph;
  RunPasses(&graph, nullptr);
  EXPECT_EQ(ToText(graph), "");
}

}  // namespace
}  // namespace deputy::compiler::compiler_passes_test
