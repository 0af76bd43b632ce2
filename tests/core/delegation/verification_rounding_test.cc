// SPDX-License-Identifier: Apache-2.0
//
// Tests that verification distinguishes rounding from errors: a delegate that rounds differently
// from the CPU is accepted even if the difference is large, and a wrong delegate is detected if the
// difference cannot be rounding.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "c_api/include/deputy.h"
#include "tests/support/model_builder.h"
#include "tests/support/programmed.h"
#include "tests/support/test_interpreter.h"

namespace deputy::verification_rounding_test {
namespace {

using testing::HasSubstr;

// y = sin(x * factor) of eight numbers.
std::vector<uint8_t> SineOfProduct(float factor) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {8}, "x");
  const int c = m.AddConstant<float>(kTfLiteFloat32, {1}, {factor}, "c");
  const int product = m.AddTensor(kTfLiteFloat32, {8}, "product");
  const int y = m.AddTensor(kTfLiteFloat32, {8}, "y");
  m.AddOp(kTfLiteBuiltinMul, {x, c}, {product}, schema::CreateMulOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinSin, {product}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// The delegate's function of one number.
using Function = float (*)(float x);

ProgrammedDelegate Computing(Function function) {
  ProgrammedDelegate delegate(ClaimingBody({0, 1}));
  delegate.invoke = [function](TfLiteContext* context, TfLiteNode* node) {
    const float* x = context->tensors[0].data.f;
    float* y = context->tensors[node->outputs->data[0]].data.f;
    for (int i = 0; i < 8; ++i) y[i] = function(x[i]);
    return kTfLiteOk;
  };
  return delegate;
}

const std::vector<float> kInputs = {1.1f, 1.2f, 1.3f, 1.4f, 1.5f, 1.6f, 1.7f, 1.8f};

class VerificationRounding : public testing::Test {
 protected:
  // Runs one verified inference of sin(x * factor) with a delegate that computes `function`.
  DeputyVerificationStatus Verify(float factor, Function function) {
    ProgrammedDelegate delegate = Computing(function);
    TestInterpreter t(SineOfProduct(factor), [](TfLiteInterpreterOptions* options) {
      DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
      DeputyVerification verification{};
      verification.struct_size = sizeof verification;
      verification.mode = kDeputyVerifyAlways;
      EXPECT_EQ(DeputyInterpreterOptionsSetVerification(options, &verification), kTfLiteOk);
    });
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &delegate.base), kTfLiteOk);
    EXPECT_EQ(t.Allocate(), kTfLiteOk);
    t.Set<float>(0, inputs_);
    EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    inputs_ = TestInterpreter::Values<float>(TfLiteInterpreterGetInputTensor(t.get(), 0));
    outputs_ = t.Get<float>(0);
    log_ = t.log();
    DeputyVerificationStatus status{};
    status.struct_size = sizeof status;
    EXPECT_EQ(DeputyInterpreterGetVerificationStatus(t.get(), &status), kTfLiteOk);
    return status;
  }

  std::vector<float> inputs_ = kInputs, outputs_;
  std::string log_;
};

// Computes sin(1e4 x) with a product that is rounded twice: products near 1e4 then differ by about
// 1e-3, and so do their sines.
float RoundedTwice(float x) {
  volatile float product = x * 7.0f;
  product = product * (1e4f / 7.0f);
  return std::sin(product);
}

TEST_F(VerificationRounding, different_rounding_is_accepted) {
  const DeputyVerificationStatus status = Verify(1e4f, RoundedTwice);
  EXPECT_EQ(status.verified, 1);
  EXPECT_EQ(status.wrong, 0) << log_;
  double greatest = 0;
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(outputs_[i], RoundedTwice(kInputs[i])) << i;  // outputs are not replaced by the CPU's
    greatest = std::max<double>(greatest, std::abs(outputs_[i] - std::sin(kInputs[i] * 1e4f)));
  }
  EXPECT_GT(greatest, 5e-4);  // the difference exceeds the tolerance by far
  EXPECT_EQ(inputs_, kInputs);
}

float SlightlyMore(float x) { return std::sin(x) + 1e-3f; }

TEST_F(VerificationRounding, small_errors_are_detected) {
  const DeputyVerificationStatus status = Verify(1.0f, SlightlyMore);
  EXPECT_EQ(status.verified, 1);
  EXPECT_EQ(status.wrong, 1);
  EXPECT_EQ(status.element, 0);
  EXPECT_NEAR(status.expected, std::sin(1.1), 1e-6);
  EXPECT_NEAR(status.found, std::sin(1.1) + 1e-3, 1e-6);
  EXPECT_THAT(log_, HasSubstr("is wrong: tensor 3 'y': element 0: expected 0.891207"));
  for (int i = 0; i < 8; ++i) EXPECT_NEAR(outputs_[i], std::sin(kInputs[i]), 1e-6) << i;
  EXPECT_EQ(inputs_, kInputs);
}

float WrongAtOne(float x) { return std::sin(x * 1e4f) + (x == 1.4f ? 0.5f : 0.0f); }

TEST_F(VerificationRounding, an_outlier_does_not_hide_other_errors) {
  inputs_[7] = 2e4f;  // float32 numbers near the product differ by 16, so the sine is arbitrary
  const DeputyVerificationStatus status = Verify(1e4f, WrongAtOne);
  EXPECT_EQ(status.wrong, 1);
  EXPECT_EQ(status.element, 3);
}

float NotANumber(float x) { return x == 1.4f ? NAN : RoundedTwice(x); }

TEST_F(VerificationRounding, nan_is_never_rounding) {
  const DeputyVerificationStatus status = Verify(1e4f, NotANumber);
  EXPECT_EQ(status.wrong, 1);
  EXPECT_EQ(status.element, 3);
}

}  // namespace
}  // namespace deputy::verification_rounding_test
