// SPDX-License-Identifier: Apache-2.0
//
// Tests delegates in a process of their own whose tensors have dynamic sizes.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "c_api/include/c_api.h"
#include "c_api/include/deputy.h"
#include "tests/support/isolated_plugin.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::sandbox_sizes_test {
namespace {

// range = [0, 1, .. n - 1], negative = -(2 * range), y = negative + 2 * range. RANGE and both ADDs
// can be claimed.
std::vector<uint8_t> RangeModel() {
  ModelBuilder m;
  const int n = m.AddTensor(kTfLiteInt32, {}, "n");
  const int zero = m.AddConstant<int32_t>(kTfLiteInt32, {}, {0}, "zero");
  const int one = m.AddConstant<int32_t>(kTfLiteInt32, {}, {1}, "one");
  const int range = m.AddTensor(kTfLiteInt32, {1}, "range");
  const int numbers = m.AddTensor(kTfLiteFloat32, {1}, "numbers");
  const int twice = m.AddTensor(kTfLiteFloat32, {1}, "twice");
  const int negative = m.AddTensor(kTfLiteFloat32, {1}, "negative");
  const int y = m.AddTensor(kTfLiteFloat32, {1}, "y");
  m.AddOp(kTfLiteBuiltinRange, {zero, n, one}, {range});
  m.AddOp(kTfLiteBuiltinCast, {range}, {numbers});
  m.AddOp(kTfLiteBuiltinAdd, {numbers, numbers}, {twice}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinNeg, {twice}, {negative});
  m.AddOp(kTfLiteBuiltinAdd, {negative, twice}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({n});
  m.SetOutputs({negative, y, range});
  return m.Finish();
}

// y = 2 * [0, 1, .. n - 2]. Two partitions with dynamic outputs precede that of ADD.
std::vector<uint8_t> TwoRanges() {
  ModelBuilder m;
  const int n = m.AddTensor(kTfLiteInt32, {}, "n");
  const int zero = m.AddConstant<int32_t>(kTfLiteInt32, {}, {0}, "zero");
  const int one = m.AddConstant<int32_t>(kTfLiteInt32, {}, {1}, "one");
  const int axis = m.AddConstant<int32_t>(kTfLiteInt32, {1}, {0}, "axis");
  const int first = m.AddTensor(kTfLiteInt32, {1}, "first");
  const int last = m.AddTensor(kTfLiteInt32, {}, "last");
  const int second = m.AddTensor(kTfLiteInt32, {1}, "second");
  const int numbers = m.AddTensor(kTfLiteFloat32, {1}, "numbers");
  const int y = m.AddTensor(kTfLiteFloat32, {1}, "y");
  m.AddOp(kTfLiteBuiltinRange, {zero, n, one}, {first});
  m.AddOp(kTfLiteBuiltinReduceMax, {first, axis}, {last}, schema::CreateReducerOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinRange, {zero, last, one}, {second});
  m.AddOp(kTfLiteBuiltinCast, {second}, {numbers});
  m.AddOp(kTfLiteBuiltinAdd, {numbers, numbers}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({n});
  m.SetOutputs({y});
  return m.Finish();
}

// y = x + x
std::vector<uint8_t> SumModel() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {1}, "y");
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

void ExpectRange(TestInterpreter* t, int n) {
  SCOPED_TRACE(n);
  t->Set<int32_t>(0, {n});
  ASSERT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  std::vector<float> negative, zeros;
  std::vector<int32_t> range;
  for (int i = 0; i < n; ++i) {
    range.push_back(i);
    negative.push_back(static_cast<float>(-2 * i));
    zeros.push_back(0);
  }
  EXPECT_EQ(t->Get<float>(0), negative);
  EXPECT_EQ(t->Get<float>(1), zeros);
  EXPECT_EQ(t->Get<int32_t>(2), range);
}

class SandboxSizes : public QuietTest {};

TEST_F(SandboxSizes, dynamic_outputs_and_inputs_are_as_in_process) {
  const IsolatedPlugin isolated(RangeModel(), Library("varying"), "dynamic=1",
                                {{"dynamic", "true"}});
  const Handle in_process = External("varying", {{"dynamic", "1"}});
  for (const auto policy : {kDeputyPolicyTfLite, kDeputyPolicyHot}) {
    for (TfLiteDelegate* const delegate :
         {static_cast<TfLiteDelegate*>(nullptr), in_process.get(), isolated.get()}) {
      TestInterpreter t(RangeModel(), [policy](TfLiteInterpreterOptions* options) {
        DeputyInterpreterOptionsSetDelegatePolicy(options, policy);
      });
      if (delegate != nullptr) {
        ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate), kTfLiteOk)
            << t.log();
        EXPECT_EQ(DeputyInterpreterGetPartitionCount(t.get(), 0), 3) << t.log();
      }
      ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
      for (const int n : {3, 5, 5, 2, 0, 1000, 7}) ExpectRange(&t, n);
      EXPECT_EQ(RecomputedNodes(t), 0) << t.log();
    }
  }
}

// DEPUTY_ISOLATE, --isolate, the layer `isolate` and DeputyDelegateIsolation have a profile only.
TEST_F(SandboxSizes, the_suffix_of_a_profile_allows_dynamic_sizes) {
  struct Row {
    const char* profile;
    int partitions;
  };
  for (const Row& row : {Row{"device", 0}, Row{"device+dynamic", 3}, Row{"none+dynamic", 3}}) {
    SCOPED_TRACE(row.profile);
    const IsolatedPlugin isolated(RangeModel(), Library("varying"), "dynamic=1",
                                  {{"profile", row.profile}});
    TestInterpreter t(RangeModel());
    const TfLiteStatus applied = TfLiteInterpreterModifyGraphWithDelegate(t.get(), isolated.get());
    EXPECT_EQ(applied == kTfLiteOk, row.partitions > 0) << t.log();
    EXPECT_EQ(DeputyInterpreterGetPartitionCount(t.get(), 0), row.partitions) << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    ExpectRange(&t, 4);
  }
}

TEST_F(SandboxSizes, two_partitions_with_dynamic_outputs_precede_a_third) {
  const IsolatedPlugin isolated(TwoRanges(), Library("varying"), "dynamic=1",
                                {{"dynamic", "true"}});
  TestInterpreter t(TwoRanges(), &UseHot);
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), isolated.get()), kTfLiteOk)
      << t.log();
  EXPECT_EQ(DeputyInterpreterGetPartitionCount(t.get(), 0), 3) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<int32_t>(0, {4});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Get<float>(0), (std::vector<float>{0, 2, 4}));
  t.Set<int32_t>(0, {3});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Get<float>(0), (std::vector<float>{0, 2}));
  EXPECT_EQ(RecomputedNodes(t), 0) << t.log();
}

// The process ends in each of the nine calls of three inferences, one after the other.
TEST_F(SandboxSizes, each_end_of_the_process_is_recomputed) {
  for (int call = 1; call <= 9; ++call) {
    SCOPED_TRACE(call);
    const IsolatedPlugin isolated(RangeModel(), Library("varying"),
                                  "dynamic=1;die=" + std::to_string(call), {{"dynamic", "true"}});
    TestInterpreter t(RangeModel(), &UseHot);
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), isolated.get()), kTfLiteOk)
        << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    for (const int n : {3, 6, 4}) ExpectRange(&t, n);
    EXPECT_GT(RecomputedNodes(t), 0) << t.log();
  }
}

TEST_F(SandboxSizes, a_size_above_the_limit_is_recomputed) {
  const IsolatedPlugin isolated(RangeModel(), Library("varying"), "dynamic=1",
                                {{"dynamic", "true"}, {"dynamic_mb", "1"}});
  TestInterpreter t(RangeModel(), &UseHot);
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), isolated.get()), kTfLiteOk)
      << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  ExpectRange(&t, 1000);
  EXPECT_EQ(RecomputedNodes(t), 0) << t.log();
  ExpectRange(&t, 300000);
  EXPECT_GT(RecomputedNodes(t), 0);
  EXPECT_NE(t.log().find("option dynamic_mb"), std::string::npos) << t.log();
}

// The process counts its calls: the third one ends it only if the resizes have started no other.
TEST_F(SandboxSizes, a_resize_keeps_the_process) {
  const IsolatedPlugin isolated(SumModel(), Library("varying"), "dynamic=1;die=3",
                                {{"dynamic", "true"}});
  TestInterpreter t(SumModel(), &UseHot);
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), isolated.get()), kTfLiteOk)
      << t.log();
  for (const std::vector<float>& x : std::vector<std::vector<float>>{{1}, {1, 2, 3}, {4, 5}}) {
    const int64_t before = RecomputedNodes(t);
    ASSERT_EQ(t.Resize(0, {static_cast<int>(x.size())}), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    t.Set<float>(0, x);
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    std::vector<float> twice;
    for (const float value : x) twice.push_back(2 * value);
    EXPECT_EQ(t.Get<float>(0), twice);
    EXPECT_EQ(RecomputedNodes(t) - before, x.size() == 2 ? 1 : 0) << t.log();
  }
}

TEST_F(SandboxSizes, a_delegate_with_static_sizes_is_refused) {
  const IsolatedPlugin isolated(SumModel(), Library("varying"), "", {{"dynamic", "true"}});
  TestInterpreter t(SumModel());
  EXPECT_NE(TfLiteInterpreterModifyGraphWithDelegate(t.get(), isolated.get()), kTfLiteOk);
  EXPECT_NE(t.log().find("expected a delegate that allows tensors of dynamic size"),
            std::string::npos)
      << t.log();
}

}  // namespace
}  // namespace deputy::sandbox_sizes_test
