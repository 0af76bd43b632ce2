// SPDX-License-Identifier: Apache-2.0
//
// Tests that the nodes of an interpreter use the table of kernels that it was created with.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <vector>

#include "c_api/src/objects.h"
#include "kernels/cpu/cpu.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::interpreter_cpu_test {
namespace {

std::atomic<int> calls{0};

void CountedAbs(const float* in, int64_t count, float, float* out) {
  ++calls;
  for (int64_t i = 0; i < count; ++i) out[i] = std::fabs(in[i]);
}

std::vector<uint8_t> AbsModel() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {4});
  const int y = m.AddTensor(kTfLiteFloat32, {4});
  m.AddOp(kTfLiteBuiltinAbs, {x}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

void InvokeAndCheck(TestInterpreter* t) {
  t->Set<float>(0, {-1, 2, -3, 4});
  ASSERT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  EXPECT_EQ(t->Get<float>(0), (std::vector<float>{1, 2, 3, 4}));
}

TEST(InterpreterCpu, is_the_table_that_it_was_created_with) {
  CpuKernels counted = *FindCpu("generic");
  counted.vector.abs = &CountedAbs;
  TestInterpreter own(AbsModel(),
                      [&](TfLiteInterpreterOptions* options) { options->config.cpu = &counted; });
  TestInterpreter other(AbsModel());
  ASSERT_EQ(own.Allocate(), kTfLiteOk) << own.log();
  ASSERT_EQ(other.Allocate(), kTfLiteOk) << other.log();
  calls = 0;
  InvokeAndCheck(&other);
  EXPECT_EQ(calls, 0);
  InvokeAndCheck(&own);
  EXPECT_EQ(calls, 1);
  InvokeAndCheck(&other);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace deputy::interpreter_cpu_test
