// SPDX-License-Identifier: Apache-2.0
//
// Tests storage in half precision: which values become float16 and which do not, and that results
// stay close.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/compiler/pass_support.h"

namespace deputy::compiler::compiler_half_test {
namespace {

using enum ScalarOp;

TEST(HalfStorage, intermediate_results_and_filters_become_float16) {
  GraphBuilder m;
  const ValueId x = m.Input({1, 3, 3, 4});
  const ValueId sum = m.Add(Conv2d{}, {x, m.Weights({8, 1, 1, 4}), m.Weights({8})}, {1, 3, 3, 8});
  m.Output(m.Add(Softmax{}, {sum}, {1, 3, 3, 8}));
  EXPECT_EQ(UseHalfStorage(&m.graph), 1);
  EXPECT_EQ(FindFault(m.graph), "");
  const Operation& conv = m.graph.operations[0];
  EXPECT_EQ(m.graph.value(x).type, kTfLiteFloat32);
  EXPECT_EQ(m.graph.value(conv.inputs[1]).type, kTfLiteFloat16);
  EXPECT_EQ(m.graph.value(conv.inputs[2]).type, kTfLiteFloat32) << "the bias";
  EXPECT_EQ(m.graph.value(sum).type, kTfLiteFloat16);
  EXPECT_EQ(m.graph.value(m.graph.outputs[0]).type, kTfLiteFloat32);
}

// An input or output has the type of the model's tensor, and a view uses its source's memory.
TEST(HalfStorage, views_of_inputs_and_outputs_stay_float32) {
  GraphBuilder m;
  const ValueId x = m.Input({2, 6});
  const ValueId seen = m.Add(View{}, {x}, {3, 4});
  const ValueId inner = m.Unary(kTanh, seen);
  const ValueId inner_view = m.Add(View{}, {inner}, {12});
  const ValueId last = m.Unary(kNeg, inner_view);
  const ValueId last_view = m.Add(View{}, {last}, {4, 3});
  m.Output(last_view);
  EXPECT_EQ(UseHalfStorage(&m.graph), 2);
  for (const ValueId id : {x, seen, last, last_view}) {
    EXPECT_EQ(m.graph.value(id).type, kTfLiteFloat32) << id;
  }
  for (const ValueId id : {inner, inner_view}) {
    EXPECT_EQ(m.graph.value(id).type, kTfLiteFloat16) << id;
  }
}

TEST(HalfStorage, integers_and_large_filters_keep_their_type) {
  GraphBuilder m;
  const ValueId x = m.Input({2, 2});
  const ValueId whole = m.Unary(kNeg, m.Input({2, 2}, kTfLiteInt32));
  const ValueId fits = m.Constant({2, 2}, {65504, -65504, 0, 1});
  const ValueId large = m.Constant({2, 2}, {65505, 1, 1, 1});
  const ValueId infinite = m.Constant({2, 2}, {-INFINITY, 1, 1, 1});
  const ValueId small = m.Constant({2, 2}, {6e-5F, -6e-5F, 0, 0});
  const ValueId few_small = m.Constant({2, 2}, {6e-5F, -6e-5F, 0, 0.01F});
  for (const ValueId filter : {fits, large, infinite, small, few_small}) {
    m.Output(m.Add(MatMul{}, {x, filter}, {2, 2}));
  }
  m.Output(m.Unary(kAbs, whole));
  EXPECT_EQ(UseHalfStorage(&m.graph), 2);
  EXPECT_EQ(m.graph.value(whole).type, kTfLiteInt32);
  std::vector<TfLiteType> types;
  for (const Operation& operation : m.graph.operations) {
    if (std::holds_alternative<MatMul>(operation.kind)) {
      types.push_back(m.graph.value(operation.inputs[1]).type);
    }
  }
  EXPECT_EQ(types, (std::vector{kTfLiteFloat16, kTfLiteFloat32, kTfLiteFloat32, kTfLiteFloat32,
                                kTfLiteFloat16}));
}

// A constant that two products read is converted once.
TEST(HalfStorage, shared_filters_stay_shared) {
  GraphBuilder m;
  const ValueId x = m.Input({2, 2}), filter = m.Weights({2, 2});
  const ValueId first = m.Add(MatMul{}, {x, filter}, {2, 2});
  m.Output(m.Add(MatMul{}, {first, filter}, {2, 2}));
  EXPECT_EQ(UseHalfStorage(&m.graph), 2);
  EXPECT_EQ(m.graph.operations[0].inputs[1], m.graph.operations[1].inputs[1]);
  EXPECT_NE(m.graph.operations[0].inputs[1], filter);
  EXPECT_EQ(UseHalfStorage(&m.graph), 0);
}

TEST(HalfStorage, results_are_close) {
  GraphBuilder m;
  const ValueId x = m.Input({1, 5, 5, 4});
  const ValueId a = m.Add(Conv2d{}, {x, m.Weights({8, 1, 1, 4})}, {1, 5, 5, 8});
  const ValueId b = m.Unary(kTanh, a);
  const ValueId c = m.Add(DepthwiseConv2d{}, {b, m.Weights({1, 1, 1, 8})}, {1, 5, 5, 8});
  m.Output(m.Add(MatMul{}, {m.Add(View{}, {c}, {25, 8}), m.Weights({8, 3})}, {25, 3}));
  Graph half = m.graph;
  EXPECT_EQ(UseHalfStorage(&half), 5);
  ExpectSame(m.graph, half, 0.02F);
}

}  // namespace
}  // namespace deputy::compiler::compiler_half_test
