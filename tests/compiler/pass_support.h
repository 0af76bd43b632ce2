// SPDX-License-Identifier: Apache-2.0
//
// Shared code for the tests of the compiler's passes: runs a pass on a graph, checks the resulting
// graph for faults, and checks that it computes the same as before.
#ifndef DEPUTY_TESTS_COMPILER_PASS_SUPPORT_H_
#define DEPUTY_TESTS_COMPILER_PASS_SUPPORT_H_

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "compiler/dump.h"
#include "compiler/passes.h"
#include "tests/compiler/graph_builder.h"

namespace deputy::compiler {

using Pass = int (*)(Graph*);

inline float FloatAt(const std::vector<std::byte>& contents, size_t index) {
  float number;
  memcpy(&number, contents.data() + index * sizeof number, sizeof number);
  return number;
}

// Expects that both graphs compute the same bits; with a tolerance, float32 values may differ by
// it.
inline void ExpectSame(const Graph& before, const Graph& after, float tolerance) {
  ASSERT_EQ(FindFault(before), "");
  ASSERT_EQ(FindFault(after), "") << ToText(after);
  ASSERT_EQ(before.inputs.size(), after.inputs.size());
  for (unsigned seed = 0; seed < 4; ++seed) {
    const auto expected = Computed(before, seed), found = Computed(after, seed);
    ASSERT_EQ(expected.size(), before.outputs.size());
    if (tolerance == 0) {
      EXPECT_TRUE(expected == found) << ToText(before) << "became\n" << ToText(after);
      continue;
    }
    ASSERT_EQ(found.size(), expected.size());
    for (size_t n = 0; n < expected.size(); ++n) {
      for (size_t i = 0; i < expected[n].size() / sizeof(float); ++i) {
        ASSERT_NEAR(FloatAt(expected[n], i), FloatAt(found[n], i), tolerance) << ToText(after);
      }
    }
  }
}

// Returns the text of the graph after the pass, without unused values. Running the pass again must
// change nothing.
inline std::string After(Pass pass, const Graph& graph, float tolerance = 0) {
  Graph after = graph;
  EXPECT_GT(pass(&after), 0) << ToText(graph);
  ExpectSame(graph, after, tolerance);
  EXPECT_EQ(pass(&after), 0) << ToText(after);
  RemoveDead(&after);
  ExpectSame(graph, after, tolerance);
  return ToText(after);
}

inline void ExpectUnchanged(Pass pass, const Graph& graph) {
  Graph after = graph;
  EXPECT_EQ(pass(&after), 0);
  EXPECT_EQ(ToText(after), ToText(graph));
}

// Quantisation of the integers in quantised graphs, and expressions that quantise and dequantise.
inline constexpr Quantization kScale{0.3f, 5};

inline ValueId Quantize(GraphBuilder* m, ValueId a) {
  using enum ScalarOp;
  Expression e;
  int x = e.Operand(0, kTfLiteFloat32);
  const auto number = [&](double value) { return e.Constant(kTfLiteFloat32, value); };
  x = e.Apply(kAdd, e.Apply(kRoundAway, e.Apply(kDiv, x, number(kScale.scale))),
              number(kScale.zero_point));
  x = e.Apply(kMin, e.Apply(kMax, x, number(-128)), number(127));
  e.SetResult(e.Cast(x, kTfLiteInt8));
  return m->Compute(e, {a});
}

inline ValueId Dequantize(GraphBuilder* m, ValueId a) {
  using enum ScalarOp;
  Expression e;
  const int x = e.Cast(e.Operand(0, kTfLiteInt8), kTfLiteFloat32);
  const int moved = e.Apply(kSub, x, e.Constant(kTfLiteFloat32, kScale.zero_point));
  e.SetResult(e.Apply(kMul, moved, e.Constant(kTfLiteFloat32, kScale.scale)));
  return m->Compute(e, {a});
}

}  // namespace deputy::compiler

#endif  // DEPUTY_TESTS_COMPILER_PASS_SUPPORT_H_
