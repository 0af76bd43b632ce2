// SPDX-License-Identifier: Apache-2.0
//
// Tests graphs: faults of invalid ones, the text form, and the regions of copies.
#include "compiler/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <numeric>

#include "compiler/copy.h"
#include "compiler/dump.h"
#include "compiler/reference.h"

namespace deputy::compiler::compiler_graph_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Expression Unary(ScalarOp op) {
  Expression e;
  e.Apply(op, e.Operand(0, kTfLiteFloat32));
  return e;
}

ValueId AddOperation(Graph* graph, OperationKind kind, std::vector<ValueId> inputs, Shape shape) {
  Operation operation;
  operation.kind = std::move(kind);
  operation.inputs = std::move(inputs);
  operation.outputs = {graph->AddValue(kTfLiteFloat32, std::move(shape))};
  graph->operations.push_back(operation);
  return operation.output();
}

// y = x · transpose(w) with relu as its epilogue, then -y.
Graph Layer() {
  Graph graph;
  const ValueId x = graph.AddValue(kTfLiteFloat32, {1, 2}, "x");
  graph.inputs = {x};
  const std::array<float, 6> weights = {1, 2, 3, 4, 5, -6};
  const ValueId w =
      graph.AddConstantOf<float>(kTfLiteFloat32, {3, 2}, std::span<const float>(weights));
  const ValueId y = AddOperation(&graph, MatMul{false, true}, {x, w, kNoValue}, {1, 3});
  Expression relu;
  relu.Apply(ScalarOp::kMax, relu.Operand(0, kTfLiteFloat32), relu.Constant(kTfLiteFloat32, 0));
  graph.operations.back().epilogue = relu;
  graph.operations.back().node = 4;
  graph.outputs = {AddOperation(&graph, Elementwise{Unary(ScalarOp::kNeg)}, {y}, {1, 3})};
  graph.value(graph.outputs[0]).name = "out";
  return graph;
}

TEST(Graph, is_written_line_by_line) {
  EXPECT_EQ(
      ToText(Layer()),
      "input %0 FLOAT32[1,2] 'x'\n"
      "%2 = matmul(%0, %1{FLOAT32[3,2]}, -) b transposed then max(a, 0) FLOAT32[1,3]  # node 4\n"
      "%3 = elementwise(%2) neg(a) FLOAT32[1,3] 'out'\n"
      "output %3\n");
}

TEST(Graph, is_computed_with_its_epilogues) {
  const Graph graph = Layer();
  EXPECT_EQ(FindFault(graph), "");
  const std::array<float, 2> x = {10, 1};
  const std::byte* inputs[] = {std::as_bytes(std::span(x)).data()};
  std::vector<std::vector<std::byte>> outputs;
  std::string error;
  ASSERT_TRUE(ComputeGraph(graph, inputs, &outputs, &error)) << error;
  std::array<float, 3> y;
  ASSERT_EQ(outputs[0].size(), sizeof y);
  memcpy(y.data(), outputs[0].data(), sizeof y);
  EXPECT_THAT(y, ElementsAre(-12, -34, -44));
}

TEST(Graph, counts_uses_and_finds_producers) {
  Graph graph = Layer();
  graph.outputs.push_back(2);
  EXPECT_THAT(Producers(graph), ElementsAre(-1, -1, 0, 1));
  EXPECT_THAT(UseCounts(graph), ElementsAre(1, 1, 2, 1));
  EXPECT_THAT(Strides({2, 3, 4}), ElementsAre(12, 4, 1));
  EXPECT_EQ(ElementCount({}), 1);
}

TEST(Graph, element_counts_do_not_overflow) {
  constexpr int kMost = INT32_MAX;
  EXPECT_EQ(ElementCount({kMost, kMost, kMost}), INT64_MAX);
  EXPECT_EQ(ElementCount({kMost, kMost, kMost, 0}), 0);
  EXPECT_EQ(ElementCount({kMost, 2}), 4294967294);
  EXPECT_TRUE(FitsIndex({32768, 32768}));
  EXPECT_TRUE(FitsIndex({}));
  EXPECT_TRUE(FitsIndex({0, 5}));
  EXPECT_FALSE(FitsIndex({32768, 32769}));
  EXPECT_FALSE(FitsIndex({0, 32768, 32769}));
  EXPECT_FALSE(FitsIndex({2, -1}));
  EXPECT_FALSE(FitsIndex(Shape(33, 1)));
  EXPECT_EQ(ClampedExtent(INT64_MAX), kMost);
  EXPECT_EQ(ClampedExtent(-INT64_MAX), INT32_MIN);
  EXPECT_EQ(ClampedExtent(7), 7);
}

TEST(Graph, reports_faults) {
  struct Row {
    const char* fault;
    std::function<void(Graph*)> damage;
  };
  const Row kRows[] = {
      {"value 0 has a shape beyond the limits: [-1,2]",
       [](Graph* g) {
         g->value(0).shape = {-1, 2};
       }},
      {"value 0 has a shape beyond the limits: [32768,32769]",
       [](Graph* g) {
         g->value(0).shape = {32768, 32769};
       }},
      {"operation 1 (view): the element counts of a view and its source differ",
       [](Graph* g) {
         g->operations[1].kind = View{};
         g->operations[1].inputs = {1};
       }},
      {"value 3 has no type", [](Graph* g) { g->value(3).type = kTfLiteString; }},
      {"contents whose size differs",
       [](Graph* g) {
         g->value(1).shape = {3, 3};
       }},
      {"an input of the graph that does not exist", [](Graph* g) { g->inputs = {9}; }},
      {"operation 0 (matmul): value 0 is used before it is computed",
       [](Graph* g) { g->inputs.clear(); }},
      {"an input that does not exist", [](Graph* g) { g->operations[0].inputs[2] = 17; }},
      {"value 3 is used before it is computed", [](Graph* g) { g->operations[0].inputs[0] = 3; }},
      {"value 2 is computed twice", [](Graph* g) { g->operations[1].outputs[0] = 2; }},
      {"no output", [](Graph* g) { g->operations[1].outputs.clear(); }},
      {"an output that does not exist", [](Graph* g) { g->operations[1].outputs[0] = -1; }},
      {"an empty expression", [](Graph* g) { g->operations[1].kind = Elementwise{}; }},
      {"an operand that is not an input", [](Graph* g) { g->operations[1].inputs.clear(); }},
      {"an operand of the epilogue that is not an input",
       [](Graph* g) { g->operations[0].epilogue.Operand(3, kTfLiteFloat32); }},
      {"the types of epilogue and output differ",
       [](Graph* g) { g->operations[0].epilogue.Operand(0, kTfLiteInt8); }},
      {"an output of the graph that does not exist", [](Graph* g) { g->outputs = {8}; }},
      {"value 3 is not computed by any operation", [](Graph* g) { g->operations.pop_back(); }},
  };
  for (const Row& row : kRows) {
    Graph graph = Layer();
    row.damage(&graph);
    EXPECT_THAT(FindFault(graph), HasSubstr(row.fault));
  }
}

// ---- Copies -------------------------------------------------------------------------------------

TEST(CopyRegion, has_the_minimum_number_of_loops) {
  EXPECT_EQ(Simplify({0, 1, 2, {{2, 12, 12}, {1, 99, 5}, {3, 4, 4}, {4, 1, 1}}}),
            (CopyRegion{0, 1, 2, {{24, 1, 1}}}));
  EXPECT_EQ(Simplify({0, 0, 0, {{2, 12, 24}, {3, 4, 4}, {4, 1, 1}}}),
            (CopyRegion{0, 0, 0, {{2, 12, 24}, {12, 1, 1}}}));
  EXPECT_EQ(Simplify({0, 0, 0, {{2, 1, 3}, {3, 2, 1}}}),
            (CopyRegion{0, 0, 0, {{2, 1, 3}, {3, 2, 1}}}));
  EXPECT_EQ(Simplify({0, 5, 6, {{2, 1, 1}, {0, 1, 1}}}), (CopyRegion{0, 5, 6, {{0, 0, 0}}}));
  EXPECT_EQ(Simplify({0, 5, 6, {{1, 1, 1}}}), (CopyRegion{0, 5, 6, {}}));
}

// Copies a box of 4 x 2 elements, columns 4 to 1 of rows 1 and 3, to position (1, 1) with its axes
// exchanged.
TEST(CopyRegion, of_a_box_follows_its_indices) {
  const Shape from = {4, 5}, to = {6, 3};
  Graph graph;
  const ValueId x = graph.AddValue(kTfLiteFloat32, from);
  graph.inputs = {x};
  const Box box = {0, {4, 2}, {4, 1}, {1, 1}, {-1, 2}, {1, 0}};
  Copy copy;
  copy.regions = {RegionOf(box, from, to)};
  copy.fill = {-1, 0};
  graph.outputs = {AddOperation(&graph, copy, {x}, to)};
  std::array<float, 20> values;
  std::iota(values.begin(), values.end(), 0.0f);
  const std::byte* inputs[] = {std::as_bytes(std::span(values)).data()};
  std::vector<std::vector<std::byte>> outputs;
  std::string error;
  ASSERT_TRUE(ComputeGraph(graph, inputs, &outputs, &error)) << error;
  std::array<float, 18> found;
  memcpy(found.data(), outputs[0].data(), sizeof found);
  EXPECT_THAT(found, ElementsAre(-1, -1, -1,  // row 0
                                 -1, 9, 19,   // row 1
                                 -1, 8, 18,   // row 2
                                 -1, 7, 17,   // row 3
                                 -1, 6, 16,   // row 4
                                 -1, -1, -1));
}

}  // namespace
}  // namespace deputy::compiler::compiler_graph_test
