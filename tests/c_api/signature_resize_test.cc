// SPDX-License-Identifier: Apache-2.0
//
// Tests DeputySignatureRunnerResizeInputTensor in comparison with upstream's strict function.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "c_api/include/deputy.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::signature_resize_test {
namespace {

using testing::Each;
using testing::HasSubstr;

// y = -x of two floats, with the signature "negate".
std::vector<uint8_t> Negate() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 2}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {1, 2}, "y");
  m.AddOp(kTfLiteBuiltinNeg, {x}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  m.AddSignature("negate", {{"in", x}}, {{"out", y}});
  return m.Finish();
}

TEST(SignatureResize, accepts_any_shape) {
  TestInterpreter t(Negate());
  const std::unique_ptr<TfLiteSignatureRunner, void (*)(TfLiteSignatureRunner*)> owned(
      TfLiteInterpreterGetSignatureRunner(t.get(), "negate"), TfLiteSignatureRunnerDelete);
  TfLiteSignatureRunner* const runner = owned.get();
  const std::vector<std::vector<int>> shapes = {{3, 2}, {5}, {2, 1, 3}, {}, {1, 2}};
  for (const std::vector<int>& shape : shapes) {
    const int rank = static_cast<int>(shape.size());
    ASSERT_EQ(DeputySignatureRunnerResizeInputTensor(runner, "in", shape.data(), rank), kTfLiteOk);
    ASSERT_EQ(TfLiteSignatureRunnerAllocateTensors(runner), kTfLiteOk) << t.log();
    TfLiteTensor* const input = TfLiteSignatureRunnerGetInputTensor(runner, "in");
    std::vector<float> values(TfLiteTensorByteSize(input) / sizeof(float), 3);
    ASSERT_EQ(TfLiteTensorCopyFromBuffer(input, values.data(), values.size() * sizeof(float)),
              kTfLiteOk);
    ASSERT_EQ(TfLiteSignatureRunnerInvoke(runner), kTfLiteOk) << t.log();
    const TfLiteTensor* const output = TfLiteSignatureRunnerGetOutputTensor(runner, "out");
    EXPECT_EQ(TfLiteTensorNumDims(output), rank);
    EXPECT_THAT(t.Values<float>(output), Each(-3));
  }
  const int strict[] = {3, 2};
  EXPECT_EQ(TfLiteSignatureRunnerResizeInputTensor(runner, "in", strict, 2), kTfLiteError);
}

TEST(SignatureResize, refuses_unknown_names_and_null) {
  TestInterpreter t(Negate());
  const std::unique_ptr<TfLiteSignatureRunner, void (*)(TfLiteSignatureRunner*)> runner(
      TfLiteInterpreterGetSignatureRunner(t.get(), "negate"), TfLiteSignatureRunnerDelete);
  const int dims[] = {1, 2};
  EXPECT_EQ(DeputySignatureRunnerResizeInputTensor(runner.get(), "x", dims, 2), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("no input named 'x'"));
  EXPECT_EQ(DeputySignatureRunnerResizeInputTensor(runner.get(), nullptr, dims, 2), kTfLiteError);
  EXPECT_EQ(DeputySignatureRunnerResizeInputTensor(runner.get(), "in", nullptr, 2), kTfLiteError);
  EXPECT_EQ(DeputySignatureRunnerResizeInputTensor(runner.get(), "in", dims, -1), kTfLiteError);
  EXPECT_EQ(DeputySignatureRunnerResizeInputTensor(nullptr, "in", dims, 2), kTfLiteError);
}

}  // namespace
}  // namespace deputy::signature_resize_test
