// SPDX-License-Identifier: Apache-2.0
//
// Compares the amount of work in graphs built by hand and in imported ones with literals.
#include "compiler/work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <vector>

#include "tests/compiler/graph_builder.h"
#include "tests/compiler/importer.h"
#include "tests/support/model_builder.h"

namespace deputy {

static void PrintTo(const Work& work, std::ostream* out) {
  *out << work.macs << " multiply-adds, " << work.steps << " steps, " << work.bytes << " bytes, "
       << work.operations << " operations" << (work.bytewise ? ", bytewise" : "");
}

namespace compiler::compiler_work_test {
namespace {

Work WorkOfLast(const GraphBuilder& m) { return WorkOf(m.graph, m.graph.operations.back()); }

TEST(Work, of_convolutions) {
  GraphBuilder m;
  const ValueId x = m.Input({1, 4, 4, 6});
  // A convolution with two groups, so that a filter reads three of the six channels.
  m.Add(Conv2d{{3, 3}, 2}, {x, m.Weights({8, 3, 3, 3}), kNoValue}, {1, 2, 2, 8});
  EXPECT_EQ(WorkOfLast(m), (Work{32 * 27, 0, 4 * (96 + 216 + 32), 1}));
  m.Add(DepthwiseConv2d{{3, 2}, 2}, {x, m.Weights({1, 3, 2, 12}), m.Weights({12})}, {1, 2, 3, 12});
  EXPECT_EQ(WorkOfLast(m), (Work{72 * 6, 0, 4 * (96 + 72 + 12 + 72), 1}));
  // Each of the 96 elements is multiplied by a window of 2x2 of each of five output channels.
  m.Add(TransposedConv2d{{2, 2, 2, 2}}, {x, m.Weights({5, 2, 2, 6}), kNoValue}, {1, 8, 8, 5});
  EXPECT_EQ(WorkOfLast(m), (Work{96 * 20, 0, 4 * (96 + 120 + 320), 1}));
}

TEST(Work, of_products) {
  GraphBuilder m;
  const ValueId a = m.Input({2, 3, 5}), b = m.Input({2, 5, 7}), c = m.Input({2, 5, 3});
  m.Add(MatMul{}, {a, b, kNoValue}, {2, 3, 7});
  EXPECT_EQ(WorkOfLast(m), (Work{42 * 5, 0, 4 * (30 + 70 + 42), 1}));
  m.Add(MatMul{true, false}, {c, b, kNoValue}, {2, 3, 7});
  EXPECT_EQ(WorkOfLast(m).macs, 42 * 5);
}

TEST(Work, of_expressions_and_epilogues) {
  GraphBuilder m;
  const ValueId x = m.Input({8});
  m.Binary(ScalarOp::kAdd, x, x);  // x is counted once
  EXPECT_EQ(WorkOfLast(m), (Work{0, 8, 64, 1}));
  m.Unary(ScalarOp::kTanh, x);
  EXPECT_EQ(WorkOfLast(m), (Work{0, 80, 64, 1}));
  Expression epilogue;
  epilogue.Apply(ScalarOp::kMul, epilogue.Operand(0, kTfLiteFloat32),
                 epilogue.Operand(1, kTfLiteFloat32));
  m.graph.operations.back().epilogue = epilogue;
  m.graph.operations.back().epilogue_inputs = {m.Input({8})};
  EXPECT_EQ(WorkOfLast(m), (Work{0, 88, 96, 1}));
}

TEST(Work, of_windows_and_reductions) {
  GraphBuilder m;
  const ValueId x = m.Input({1, 4, 4, 2});
  m.Add(Pool2d{PoolKind::kMax, {2, 2, 2, 2}}, {x}, {1, 2, 2, 2});
  EXPECT_EQ(WorkOfLast(m), (Work{0, 32, 4 * (32 + 8), 1}));
  m.Add(Reduce{ReduceKind::kSum, 0b110}, {x}, {1, 1, 1, 2});
  EXPECT_EQ(WorkOfLast(m), (Work{0, 32, 4 * (32 + 2), 1}));
  m.Add(Softmax{}, {x}, {1, 4, 4, 2});
  EXPECT_EQ(WorkOfLast(m), (Work{0, 32 * 13, 4 * 64, 1}));
}

// A Gather reads as much as it writes, and its indices; a view does nothing.
TEST(Work, of_moves) {
  GraphBuilder m;
  const ValueId table = m.Input({100, 4}), places = m.Input({3}, kTfLiteInt32);
  m.Add(Gather{}, {table, places}, {3, 4});
  EXPECT_EQ(WorkOfLast(m), (Work{0, 0, 48 + 48 + 12, 1}));
  m.Reshaped(table, {4, 100});
  EXPECT_EQ(WorkOfLast(m), Work());
  EXPECT_EQ(WorkOfOperations(m.graph).size(), 1u);
}

// Imports RESHAPE, FULLY_CONNECTED with its activation, QUANTIZE and RELU. Tensors between nodes
// count as memory traffic, values within a node do not.
Importer Imported() {
  ModelBuilder m;
  TensorExtras scale;
  scale.scale = {0.5f};
  scale.zero_point = {0};
  const int x = m.AddTensor(kTfLiteFloat32, {2, 2, 2}, "x");
  const int shape = m.AddConstant<int32_t>(kTfLiteInt32, {2}, {2, 4});
  const int rows = m.AddTensor(kTfLiteFloat32, {2, 4});
  const int w = m.AddConstant<float>(kTfLiteFloat32, {3, 4}, std::vector<float>(12, 1));
  const int sums = m.AddTensor(kTfLiteFloat32, {2, 3});
  const int y = m.AddTensor(kTfLiteInt8, {2, 3}, "y", scale);
  m.AddOp(kTfLiteBuiltinReshape, {x, shape}, {rows}, schema::CreateReshapeOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinFullyConnected, {rows, w, -1}, {sums},
          schema::CreateFullyConnectedOptions(m.fbb(), schema::ActivationFunctionType::RELU));
  m.AddOp(kTfLiteBuiltinQuantize, {sums}, {y}, schema::CreateQuantizeOptions(m.fbb()));
  const int z = m.AddTensor(kTfLiteInt8, {2, 3}, "z", scale);
  m.AddOp(kTfLiteBuiltinRelu, {y}, {z});
  m.SetInputs({x});
  m.SetOutputs({z});
  return Importer(m.Finish());
}

TEST(Work, of_nodes) {
  const Importer import = Imported();
  ASSERT_EQ(import.Refused(), "");
  const std::vector<Work> works = WorkOfNodes(import.graph);
  ASSERT_EQ(works.size(), 4u);
  EXPECT_EQ(works[0], Work());
  EXPECT_EQ(works[1], (Work{24, 6, 4 * (8 + 12 + 6), 1}));
  EXPECT_EQ(works[2].macs, 0);
  EXPECT_EQ(works[2].bytes, 4 * 6 + 6);
  EXPECT_EQ(works[2].operations, 1);
  EXPECT_FALSE(works[2].bytewise);
  EXPECT_EQ(works[3].bytes, 12);
  EXPECT_TRUE(works[3].bytewise);
  EXPECT_EQ(BorderBytes(import.graph), 32 + 6);
}

// The work that CheckNode reports for each node equals that of the node's part of the graph.
TEST(Work, of_a_node_that_is_checked) {
  const Importer import = Imported();
  ASSERT_EQ(import.Refused(), "");
  EXPECT_THAT(import.works, testing::ElementsAreArray(WorkOfNodes(import.graph)));
}

}  // namespace
}  // namespace compiler::compiler_work_test
}  // namespace deputy
