// SPDX-License-Identifier: Apache-2.0
//
// Tests asynchronous runs of whole models with the OpenCL delegate: runs in flight, cancellation in
// each stage, failing calls of OpenCL, and deletion with runs in flight.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "c_api/include/c_api_experimental.h"
#include "c_api/include/deputy.h"
#include "tests/gpu_cl/gpu_delegate_support.h"
#include "tests/gpu_cl/gpu_models.h"
#include "tests/gpu_cl/gpu_spy.h"
#include "tests/support/run_case.h"
#include "tests/support/test_interpreter.h"

namespace deputy::gpu_cl::gpu_run_async_test {
namespace {

using run_case::Counter;
using run_case::TestRun;
using testing::FloatNear;
using testing::Pointwise;

using Values = std::vector<float>;

// SmallModel computes max(x + [1, 2, -1, 0.5], 0) * 2; the delegate has the whole model.
constexpr size_t kElements = 4;

Values Input(int i) { return {static_cast<float>(i), -3, 4, 0.5f}; }
Values Output(int i) { return {2 * static_cast<float>(i) + 2, 0, 6, 2}; }

struct GpuRuns {
  explicit GpuRuns(const std::shared_ptr<const ClApi>& api) : gpu(api) {
    t.emplace(SmallModel(), [](TfLiteInterpreterOptions* options) {
      DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
      TfLiteInterpreterOptionsEnableCancellation(options, true);
    });
    if (gpu.get() != nullptr) (void)TfLiteInterpreterModifyGraphWithDelegate(t->get(), gpu.get());
    EXPECT_EQ(t->Allocate(), kTfLiteOk) << t->log();
  }

  const TestDelegate gpu;
  std::optional<TestInterpreter> t;
};

using Runs = std::vector<std::unique_ptr<TestRun>>;

Runs NewRuns(int count) {
  Runs runs;
  for (int i = 0; i < count; ++i) {
    runs.push_back(
        std::make_unique<TestRun>(std::vector<Values>{Input(i)}, std::vector<size_t>{kElements}));
  }
  return runs;
}

class GpuRunAsyncTest : public SpiedDeviceTest {};

TEST_F(GpuRunAsyncTest, runs_in_flight_use_the_delegate_in_order) {
  GpuRuns g(spy_->api());
  const Runs runs = NewRuns(12);
  std::vector<int> order;
  for (int i = 0; i < 12; ++i) {
    runs[static_cast<size_t>(i)]->done = [&order, i] { order.push_back(i); };
  }
  const int64_t before = Calls("EnqueueNDRangeKernel");
  for (const auto& run : runs) ASSERT_EQ(run->Start(g.t->get()), kTfLiteOk) << DeputyLastError();
  for (int i = 0; i < 12; ++i) {
    TestRun& run = *runs[static_cast<size_t>(i)];
    EXPECT_EQ(run.Wait(), kTfLiteOk) << g.t->log();
    EXPECT_EQ(run.outputs[0], Output(i));
  }
  EXPECT_GE(Calls("EnqueueNDRangeKernel"), before + 12);
  g.t.reset();
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(order.size(), 12u);
}

// The first run is held in its copy in or its copy out, or the last one waits for a slot. A run
// that has been computed ends as without the cancellation.
TEST_F(GpuRunAsyncTest, runs_are_cancelled_in_each_stage) {
  enum Stage { kCopyIn, kCopyOut, kWaiting };
  for (const Stage stage : {kCopyIn, kCopyOut, kWaiting}) {
    SCOPED_TRACE(stage);
    GpuRuns g(spy_->api());
    Counter reached, released;
    const Runs runs = NewRuns(6);
    TestRun& held = *runs[0];
    const auto hold = [&] {
      reached.Raise();
      EXPECT_TRUE(released.WaitFor(1));
    };
    if (stage == kCopyOut) {
      held.copy_out = [&](int, const float*, size_t) { return hold(), kTfLiteOk; };
    } else {
      held.copy_in = [&](int, float* data, size_t count) {
        hold();
        std::copy_n(Input(0).begin(), count, data);
        return kTfLiteOk;
      };
    }
    for (const auto& run : runs) ASSERT_EQ(run->Start(g.t->get()), kTfLiteOk);
    ASSERT_TRUE(reached.WaitFor(1));
    TestRun& cancelled = stage == kWaiting ? *runs[5] : held;
    const bool is_computed = stage == kCopyOut;
    EXPECT_EQ(cancelled.Cancel(), is_computed ? kTfLiteError : kTfLiteOk);
    if (stage == kWaiting) {
      EXPECT_EQ(cancelled.Wait(), kTfLiteCancelled);
    }
    released.Raise();
    EXPECT_EQ(cancelled.Wait(), is_computed ? kTfLiteOk : kTfLiteCancelled);
    for (int i = 1; i < 5; ++i) {
      EXPECT_EQ(runs[static_cast<size_t>(i)]->Wait(), kTfLiteOk) << g.t->log();
      EXPECT_EQ(runs[static_cast<size_t>(i)]->outputs[0], Output(i));
    }
    const TfLiteStatus last = runs[5]->Wait();
    EXPECT_EQ(last, stage == kWaiting ? kTfLiteCancelled : kTfLiteOk);
  }
}

TEST_F(GpuRunAsyncTest, deletion_ends_runs_in_flight) {
  for (int round = 0; round < 5; ++round) {
    GpuRuns g(spy_->api());
    const Runs runs = NewRuns(8);
    for (const auto& run : runs) ASSERT_EQ(run->Start(g.t->get()), kTfLiteOk);
    g.t.reset();
    for (int i = 0; i < 8; ++i) {
      const TestRun& run = *runs[static_cast<size_t>(i)];
      EXPECT_EQ(run.done_calls, 1);
      if (run.done_status == kTfLiteOk) {
        EXPECT_EQ(run.outputs[0], Output(i));
      } else {
        EXPECT_EQ(run.done_status, kTfLiteCancelled);
      }
    }
  }
}

// Under Hot the CPU computes what the device does not, in the same order.
TEST_F(GpuRunAsyncTest, each_failing_call_gives_right_results) {
  const auto run_all = [&]() -> std::string {
    GpuRuns g(spy_->api());
    const Runs runs = NewRuns(5);
    for (const auto& run : runs) {
      if (run->Start(g.t->get()) != kTfLiteOk) return "a run did not start";
    }
    for (int i = 0; i < 5; ++i) {
      TestRun& run = *runs[static_cast<size_t>(i)];
      if (run.Wait() != kTfLiteOk) return "a run failed: " + g.t->log();
      if (!testing::Matches(Pointwise(FloatNear(1e-5f), Output(i)))(run.outputs[0])) {
        return "the results are wrong";
      }
    }
    return "";
  };
  struct Fault {
    std::string function;
    int64_t index;
    cl_int code;
  };
  std::map<std::string, int64_t> before = spy_->calls();
  ASSERT_EQ(run_all(), "");
  std::vector<Fault> faults;
  for (const auto& [function, count] : spy_->calls()) {
    if (function.starts_with("Release")) continue;
    for (int64_t index = 0; index < count - before[function]; ++index) {
      for (const cl_int code : kFaultCodes) faults.push_back({function, index, code});
    }
  }
  const size_t all = faults.size();
  if (std::getenv("DEPUTY_GPU_FAULTS") == nullptr) {
    std::mt19937 random(20263);  // NOLINT(cert-msc51-cpp): must be reproducible
    std::shuffle(faults.begin(), faults.end(), random);
    faults.resize(std::min<size_t>(60, all));
  }
  for (const Fault& fault : faults) {
    const std::string where = "cl" + fault.function + ", call " + std::to_string(fault.index) +
                              ", " + ClErrorName(fault.code);
    spy_->Fail(fault.function, fault.index, fault.code);
    EXPECT_EQ(run_all(), "") << where;
    EXPECT_TRUE(spy_->failed()) << where;
    spy_->Fail("", -1, CL_SUCCESS);
    EXPECT_EQ(spy_->Unbalanced(), "") << where;
    if (HasFailure()) return;  // later failures may follow from this one
  }
  std::printf("%zu of %zu faults\n", faults.size(), all);
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_run_async_test
