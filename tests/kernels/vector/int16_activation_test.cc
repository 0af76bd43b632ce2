// SPDX-License-Identifier: Apache-2.0
//
// Tests LOGISTIC and TANH of int16 on every table: all inputs at many scales, and all remainders of
// blocks, bit-identical with the plain code.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/cpu/cpu.h"
#include "tests/kernels/cpu/cpu_tables.h"
#include "tests/support/model_builder.h"
#include "tests/support/scoped_cpu.h"
#include "tests/support/test_interpreter.h"

namespace deputy::int16_activation_test {
namespace {

using Shorts = std::vector<int16_t>;

Shorts RunActivation(TfLiteBuiltinOperator code, float scale, const Shorts& values,
                     const char* table) {
  ModelBuilder m;
  const std::vector<int32_t> shape = {static_cast<int32_t>(values.size())};
  const int x = m.AddTensor(kTfLiteInt16, shape, "x", {.scale = {scale}, .zero_point = {0}});
  const int y = m.AddTensor(kTfLiteInt16, shape, "y", {.scale = {0x1p-15f}, .zero_point = {0}});
  m.AddOp(code, {x}, {y}, 3);
  m.SetInputs({x});
  m.SetOutputs({y});
  const ScopedCpu cpu(FindCpu(table));
  TestInterpreter t(m.Finish());
  EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<int16_t>(0, values);
  EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  return t.Get<int16_t>(0);
}

void Check(float scale, const Shorts& values) {
  for (const TfLiteBuiltinOperator code : {kTfLiteBuiltinLogistic, kTfLiteBuiltinTanh}) {
    const Shorts plain = RunActivation(code, scale, values, "reference");
    for (const CpuKernels* cpu : CpuTables()) {
      EXPECT_EQ(RunActivation(code, scale, values, cpu->name), plain)
          << cpu->name << ", scale " << scale;
    }
  }
}

Shorts AllValues() {
  Shorts values;
  for (int32_t x = -32768; x <= 32767; ++x) values.push_back(static_cast<int16_t>(x));
  return values;
}

TEST(Int16Activation, all_inputs_at_many_scales) {
  const Shorts values = AllValues();
  for (const float scale : {0x1p-12f, 0x1p-11f, 0x1p-13f, 0x1p-15f, 0x1p-6f, 0.00031f, 0.001f, 0.3f,
                            5.0f, 1e-9f, 1e6f}) {
    Check(scale, values);
  }
}

TEST(Int16Activation, all_remainders_of_a_block) {
  const Shorts values = AllValues();
  for (int count = 1; count <= 130; ++count) {
    Check(0.0003f, {values.begin() + 32768 - count * 16, values.begin() + 32768 - count * 15});
  }
}

// Compares with the exact function, to detect an error that all tables have in common.
TEST(Int16Activation, is_close_to_the_function) {
  const Shorts values = AllValues();
  const Shorts made = RunActivation(kTfLiteBuiltinLogistic, 0x1p-12f, values, "generic");
  for (size_t i = 0; i < values.size(); ++i) {
    const double truth = 32768 / (1 + std::exp(-static_cast<double>(values[i]) / 4096));
    ASSERT_NEAR(made[i], std::min(truth, 32767.0), 1.5) << values[i];
  }
}

}  // namespace
}  // namespace deputy::int16_activation_test
