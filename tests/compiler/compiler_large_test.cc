// SPDX-License-Identifier: Apache-2.0
//
// Compiles graphs of many nodes, and constants that would be large: the compiler's work must grow
// linearly with them. Times are not measured, but a quadratic algorithm would take minutes.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "compiler/fold.h"
#include "compiler/lifetimes.h"
#include "compiler/memory_plan.h"
#include "compiler/passes.h"
#include "tests/compiler/graph_builder.h"
#include "tests/compiler/importer.h"
#include "tests/support/model_builder.h"

namespace deputy::compiler::compiler_large_test {
namespace {

constexpr int kNodes = 100'000;

// Repeats x = relu(reshape(x) + w * w). In each repetition the inputs of the MUL are constants, and
// the RESHAPE is an identity.
std::vector<uint8_t> LongChain(int nodes) {
  ModelBuilder m;
  int x = m.AddTensor(kTfLiteFloat32, {4});
  m.SetInputs({x});
  const int w = m.AddConstant<float>(kTfLiteFloat32, {4}, {1, 2, 3, 4});
  const int to = m.AddConstant<int32_t>(kTfLiteInt32, {1}, {4});
  for (int i = 0; i < nodes / 4; ++i) {
    const int view = m.AddTensor(kTfLiteFloat32, {4}), square = m.AddTensor(kTfLiteFloat32, {4});
    const int sum = m.AddTensor(kTfLiteFloat32, {4}), next = m.AddTensor(kTfLiteFloat32, {4});
    m.AddOp(kTfLiteBuiltinReshape, {x, to}, {view});
    m.AddOp(kTfLiteBuiltinMul, {w, w}, {square}, schema::CreateMulOptions(m.fbb()));
    m.AddOp(kTfLiteBuiltinAdd, {view, square}, {sum}, schema::CreateAddOptions(m.fbb()));
    m.AddOp(kTfLiteBuiltinRelu, {sum}, {next});
    x = next;
  }
  m.SetOutputs({x});
  return m.Finish();
}

TEST(LargeGraphs, of_a_long_chain) {
  Importer import(LongChain(kNodes));
  ASSERT_EQ(import.Refused(), "");
  Graph& graph = import.graph;
  EXPECT_EQ(graph.operations.size(), size_t{kNodes / 2});
  RunPasses(&graph, {});
  EXPECT_EQ(FindFault(graph), "");
  EXPECT_LT(graph.operations.size(), size_t{kNodes / 4});
  std::vector<Interval> intervals;
  for (const Lifetime& lifetime : FindLifetimes(graph).of_storage) {
    intervals.push_back({16, lifetime.first, lifetime.last});
  }
  MemoryPlan plan;
  EXPECT_TRUE(PlanMemory(intervals, 64, size_t{1} << 30, &plan));
}

// Each of nine layers concatenates 100 copies of the previous one's first element: there are 100^9
// paths to the input.
TEST(LargeGraphs, of_concatenated_values) {
  constexpr int kParts = 100;
  GraphBuilder m;
  Expression cast;
  cast.Cast(cast.Operand(0, kTfLiteInt8), kTfLiteFloat32);
  ValueId x = m.Input({1}, kTfLiteInt8);
  for (int layer = 0; layer < 9; ++layer) {
    Copy copy;
    for (int n = 0; n < kParts; ++n) copy.regions.push_back({n, 0, n, {}});
    x = m.Add(std::move(copy), std::vector<ValueId>(kParts, x), {kParts}, kTfLiteInt8);
  }
  m.Output(m.Add(Elementwise{cast}, {x}, {kParts}));
  RunPasses(&m.graph, {});
  EXPECT_EQ(FindFault(m.graph), "");
}

// ---- Constants ----------------------------------------------------------------------------------

Operation Filled(Graph* graph, int64_t count) {
  const std::array<float, 1> one = {1};
  Operation fill;
  fill.kind = Copy{{{0, 0, 0, {{count, 0, 1}}}}, {}};
  fill.inputs = {graph->AddConstantOf<float>(kTfLiteFloat32, {1}, std::span<const float>(one))};
  fill.outputs = {graph->AddValue(kTfLiteFloat32, {static_cast<int>(count)})};
  return fill;
}

TEST(Folding, result_size_is_limited_by_the_operands) {
  Graph graph;
  std::vector<std::vector<std::byte>> contents;
  EXPECT_TRUE(Fold(&graph, Filled(&graph, 1 << 18), &contents));
  EXPECT_EQ(contents[0].size(), size_t{1} << 20);
  EXPECT_FALSE(Fold(&graph, Filled(&graph, (1 << 18) + 1), &contents));
  Operation view;
  view.kind = View{};
  view.inputs = {
      graph.AddConstant(kTfLiteFloat32, {1 << 19}, std::vector<std::byte>(size_t{1} << 21))};
  view.outputs = {graph.AddValue(kTfLiteFloat32, {1 << 19})};
  EXPECT_TRUE(Fold(&graph, view, &contents));
}

TEST(Folding, total_size_is_limited) {
  Graph graph;
  EXPECT_TRUE(CanKeep(graph, size_t{256} << 20));
  EXPECT_FALSE(CanKeep(graph, (size_t{256} << 20) + 1));
  graph.model_bytes = 1;
  EXPECT_TRUE(CanKeep(graph, (size_t{256} << 20) + 16));
  graph.kept_bytes = 1;
  EXPECT_FALSE(CanKeep(graph, (size_t{256} << 20) + 16));
  std::vector<std::vector<std::byte>> contents;
  EXPECT_TRUE(Fold(&graph, Filled(&graph, 4), &contents));
  const size_t kept = graph.kept_bytes;
  graph.kept_bytes = size_t{257} << 20;
  EXPECT_FALSE(Fold(&graph, Filled(&graph, 4), &contents));
  graph.kept_bytes = kept;
  graph.fold_steps = 1'000'000'016;
  EXPECT_FALSE(Fold(&graph, Filled(&graph, 4), &contents));
}

TEST(Folding, cost_is_counted_per_element) {
  Graph graph;
  std::vector<std::vector<std::byte>> contents;
  Operation pool;
  Pool2d kind;
  kind.window.height = 16384;
  kind.window.width = 8192;
  pool.kind = kind;
  pool.inputs = {graph.AddConstant(kTfLiteFloat32, {1, 1, 1, 1}, std::vector<std::byte>(4))};
  pool.outputs = {graph.AddValue(kTfLiteFloat32, {1, 1, 1, 1})};
  EXPECT_FALSE(Fold(&graph, pool, &contents));
  std::get<Pool2d>(pool.kind).window.height = 16;
  EXPECT_TRUE(Fold(&graph, pool, &contents));
  Operation product;
  product.kind = MatMul{};
  for (int n = 0; n < 2; ++n) {
    product.inputs.push_back(
        graph.AddConstant(kTfLiteFloat32, {512, 512}, std::vector<std::byte>(size_t{1} << 20)));
  }
  product.outputs = {graph.AddValue(kTfLiteFloat32, {512, 512})};
  EXPECT_FALSE(Fold(&graph, product, &contents));
}

// The import does not fold a constant of this size; it is computed at run time.
TEST(Folding, of_a_model_that_requests_gigabytes) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1});
  const int to = m.AddConstant<int32_t>(kTfLiteInt32, {2}, {16384, 16384});
  const int one = m.AddConstant<float>(kTfLiteFloat32, {}, {1});
  const int gigabyte = m.AddTensor(kTfLiteFloat32, {16384, 16384});
  const int y = m.AddTensor(kTfLiteFloat32, {16384, 16384});
  m.AddOp(kTfLiteBuiltinFill, {to, one}, {gigabyte});
  m.AddOp(kTfLiteBuiltinAdd, {x, gigabyte}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  Importer import(m.Finish());
  EXPECT_EQ(import.Refused(), "");
  RunPasses(&import.graph, {});
  EXPECT_LT(import.graph.kept_bytes, size_t{1} << 20);
}

}  // namespace
}  // namespace deputy::compiler::compiler_large_test
