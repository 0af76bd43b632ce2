// SPDX-License-Identifier: Apache-2.0
//
// Tests float16 operators that compute in float, on all kinds of float16 values, including zeros,
// denormals, infinities and NaN; with every table of vector code and without.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/common/half.h"
#include "kernels/cpu/cpu.h"
#include "tests/kernels/cpu/cpu_tables.h"
#include "tests/support/model_builder.h"
#include "tests/support/scoped_cpu.h"
#include "tests/support/test_interpreter.h"

namespace deputy::float16_operators_test {
namespace {

constexpr int kCount = 65536;

std::vector<uint8_t> PairModel(TfLiteBuiltinOperator op, TfLiteType out_type) {
  ModelBuilder m;
  const int a = m.AddTensor(kTfLiteFloat16, {kCount}, "a");
  const int b = m.AddTensor(kTfLiteFloat16, {kCount}, "b");
  const int out = m.AddTensor(out_type, {kCount}, "out");
  m.AddOp(op, {a, b}, {out});
  m.SetInputs({a, b});
  m.SetOutputs({out});
  return m.Finish();
}

struct Inputs {
  Inputs() {
    for (int i = 0; i < kCount; ++i) {
      a.push_back(static_cast<uint16_t>(i));
      b.push_back(static_cast<uint16_t>(i % 3 == 0 ? i : i * 7919 + 3));
    }
  }
  std::vector<uint16_t> a, b;
};

// Calls check(a, b, out) for every element of the operator's output with every table.
template <typename Out, typename Check>
void CheckPairs(TfLiteBuiltinOperator op, TfLiteType out_type, const Check& check) {
  const Inputs inputs;
  for (const CpuKernels* cpu : CpuTablesAndReference()) {
    const ScopedCpu guard(cpu);
    TestInterpreter interpreter(PairModel(op, out_type));
    ASSERT_EQ(interpreter.Allocate(), kTfLiteOk) << interpreter.log();
    interpreter.Set(0, inputs.a);
    interpreter.Set(1, inputs.b);
    ASSERT_EQ(interpreter.Invoke(), kTfLiteOk) << interpreter.log();
    const std::vector<Out> out = interpreter.Get<Out>(0);
    ASSERT_EQ(out.size(), inputs.a.size());
    for (size_t i = 0; i < out.size(); ++i) {
      ASSERT_TRUE(check(HalfToFloat(inputs.a[i]), HalfToFloat(inputs.b[i]), out[i]))
          << cpu->name << ": element " << i << " is " << +out[i];
    }
  }
}

// Returns true if `half` is the rounded result. Sums and products saturate at the largest finite
// float16, as in TensorFlow Lite; any NaN is accepted as NaN.
bool IsRounded(float exact, uint16_t half) {
  if (std::isnan(exact)) return std::isnan(HalfToFloat(half));
  return half == FloatToHalf(std::clamp(exact, -65504.0f, 65504.0f));
}

TEST(Float16Operators, sums_and_products_round_the_float_result) {
  CheckPairs<uint16_t>(kTfLiteBuiltinAdd, kTfLiteFloat16,
                       [](float a, float b, uint16_t out) { return IsRounded(a + b, out); });
  CheckPairs<uint16_t>(kTfLiteBuiltinMul, kTfLiteFloat16,
                       [](float a, float b, uint16_t out) { return IsRounded(a * b, out); });
}

TEST(Float16Operators, comparisons_equal_those_of_floats) {
  const auto check = [](TfLiteBuiltinOperator op, const auto& expected) {
    CheckPairs<uint8_t>(op, kTfLiteBool, [&](float a, float b, uint8_t out) {
      return out == (expected(a, b) ? 1 : 0);
    });
  };
  check(kTfLiteBuiltinEqual, [](float a, float b) { return a == b; });
  check(kTfLiteBuiltinNotEqual, [](float a, float b) { return a != b; });
  check(kTfLiteBuiltinLess, [](float a, float b) { return a < b; });
  check(kTfLiteBuiltinLessEqual, [](float a, float b) { return a <= b; });
  check(kTfLiteBuiltinGreater, [](float a, float b) { return a > b; });
  check(kTfLiteBuiltinGreaterEqual, [](float a, float b) { return a >= b; });
}

}  // namespace
}  // namespace deputy::float16_operators_test
