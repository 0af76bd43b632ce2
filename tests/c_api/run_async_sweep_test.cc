// SPDX-License-Identifier: Apache-2.0
//
// Tests asynchronous runs in which one call of a callback fails, and in which a run is cancelled
// during one call, for each call: a run that succeeds has right results, other runs are not
// affected, and the interpreter works afterwards.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "c_api/include/deputy.h"
#include "tests/support/model_builder.h"
#include "tests/support/plugin_support.h"
#include "tests/support/programmed.h"
#include "tests/support/run_case.h"
#include "tests/support/test_interpreter.h"

namespace deputy::run_async_sweep_test {
namespace {

using run_case::TestRun;
using Floats = std::vector<float>;

constexpr int kRuns = 4;

enum class Site { kCopyIn, kInvoke, kCopyFromHandle, kCopyOut };
constexpr Site kSites[] = {Site::kCopyIn, Site::kInvoke, Site::kCopyFromHandle, Site::kCopyOut};

// y = x + x by the delegate, which leaves y on its device; z = -y on the CPU.
std::vector<uint8_t> Model() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {2}, "y");
  const int z = m.AddTensor(kTfLiteFloat32, {2}, "z");
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinNeg, {y}, {z});
  m.SetInputs({x});
  m.SetOutputs({y, z});
  return m.Finish();
}

// Four runs, and an action in one call of a callback.
class Sweep {
 public:
  explicit Sweep(bool hot)
      : t_(Model(), [hot](TfLiteInterpreterOptions* options) {
          if (hot) DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
        }) {
    current = this;
    delegate_.base.CopyFromBufferHandle = [](TfLiteContext*, TfLiteDelegate*, TfLiteBufferHandle,
                                             TfLiteTensor* tensor) {
      std::copy(current->device_.begin(), current->device_.end(), tensor->data.f);
      return current->Call(Site::kCopyFromHandle);
    };
    delegate_.base.FreeBufferHandle = [](TfLiteContext*, TfLiteDelegate*,
                                         TfLiteBufferHandle* handle) {
      *handle = kTfLiteNullBufferHandle;
    };
    delegate_.prepare = [this](TfLiteContext* context, TfLiteNode* node) {
      TfLiteTensor& y = context->tensors[node->outputs->data[0]];
      y.delegate = &delegate_.base;
      y.buffer_handle = 1;
      return kTfLiteOk;
    };
    delegate_.invoke = [this](TfLiteContext* context, TfLiteNode* node) {
      const float* const x = context->tensors[node->inputs->data[0]].data.f;
      device_ = {2 * x[0], 2 * x[1]};
      context->tensors[node->outputs->data[0]].data_is_stale = true;
      return Call(Site::kInvoke);
    };
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t_.get(), &delegate_.base), kTfLiteOk);
    EXPECT_EQ(t_.Allocate(), kTfLiteOk) << t_.log();
  }

  // Calls `action` in call `call` of `site`, from 0; its status is that of the callback. Returns
  // the number of runs that failed. Each other run must have right results.
  int Run(Site site, int call, const std::function<TfLiteStatus()>& action) {
    {
      const std::lock_guard lock(mutex_);
      site_ = site;
      calls_left_ = call;
      action_ = action;
    }
    runs.clear();
    for (int i = 0; i < kRuns; ++i) {
      const auto value = static_cast<float>(i + 1);
      auto run = std::make_unique<TestRun>(std::vector<Floats>{}, std::vector<size_t>{});
      TestRun* const self = run.get();
      self->outputs = {{0, 0}, {0, 0}};
      self->copy_in = [this, value](int, float* data, size_t) {
        data[0] = value, data[1] = 1;
        return Call(Site::kCopyIn);
      };
      self->copy_out = [this, self](int index, const float* data, size_t count) {
        self->outputs[static_cast<size_t>(index)].assign(data, data + count);
        return Call(Site::kCopyOut);
      };
      runs.push_back(std::move(run));
    }
    {
      // The first call waits here, so that the action finds all runs.
      const std::lock_guard started(started_);
      for (const auto& run : runs) EXPECT_EQ(run->Start(t_.get()), kTfLiteOk) << DeputyLastError();
    }
    int failed = 0;
    for (int i = 0; i < kRuns; ++i) {
      const TfLiteStatus status = runs[static_cast<size_t>(i)]->Wait();
      EXPECT_NE(status, kTfLiteUnresolvedOps) << "the run has not ended";
      EXPECT_EQ(runs[static_cast<size_t>(i)]->done_status, status);
      EXPECT_EQ(runs[static_cast<size_t>(i)]->done_calls, 1);
      if (status != kTfLiteOk) {
        ++failed;
        continue;
      }
      const auto doubled = static_cast<float>(2 * (i + 1));
      EXPECT_EQ(runs[static_cast<size_t>(i)]->outputs[0], (Floats{doubled, 2}));
      EXPECT_EQ(runs[static_cast<size_t>(i)]->outputs[1], (Floats{-doubled, -2}));
    }
    return failed;
  }
  bool acted() {
    const std::lock_guard lock(mutex_);
    return action_ == nullptr;
  }

  std::vector<std::unique_ptr<TestRun>> runs;

 private:
  static inline Sweep* current = nullptr;  // for the delegate's functions

  TfLiteStatus Call(Site site) {
    std::function<TfLiteStatus()> action;
    {
      const std::lock_guard started(started_);
      const std::lock_guard lock(mutex_);
      if (action_ == nullptr || site != site_ || calls_left_-- > 0) return kTfLiteOk;
      action = std::exchange(action_, nullptr);
    }
    return action();
  }

  ProgrammedDelegate delegate_{ClaimingBody({0})};
  Floats device_;
  std::mutex started_, mutex_;
  Site site_ = Site::kCopyIn;
  int calls_left_ = 0;
  std::function<TfLiteStatus()> action_;
  TestInterpreter t_;
};

class RunAsyncSweep : public QuietTest {};

TEST_F(RunAsyncSweep, a_failing_call_fails_at_most_its_own_run) {
  int acted = 0;
  for (const bool hot : {false, true}) {
    for (const Site site : kSites) {
      for (const bool throws : {false, true}) {
        Sweep sweep(hot);
        for (int call = 0; call < 2 * kRuns; ++call) {
          SCOPED_TRACE("hot " + std::to_string(hot) + ", site " +
                       std::to_string(static_cast<int>(site)) + ", call " + std::to_string(call));
          const int failed = sweep.Run(site, call, [throws]() -> TfLiteStatus {
            if (throws) throw std::runtime_error("no power");
            return kTfLiteError;
          });
          const bool is_copy = site == Site::kCopyIn || site == Site::kCopyOut;
          // Under Hot the CPU computes what the delegate could not.
          EXPECT_EQ(failed, sweep.acted() && (is_copy || !hot) ? 1 : 0);
          acted += sweep.acted() ? 1 : 0;
          EXPECT_EQ(sweep.Run(site, -1, nullptr), 0);
        }
      }
    }
  }
  EXPECT_GE(acted, 2 * 2 * 4 * kRuns);
}

TEST_F(RunAsyncSweep, a_cancellation_during_any_call_ends_at_most_its_own_run) {
  int cancelled = 0;
  for (const bool hot : {false, true}) {
    Sweep sweep(hot);
    for (const Site site : kSites) {
      for (int call = 0; call < kRuns; ++call) {
        for (size_t which = 0; which < kRuns; ++which) {
          SCOPED_TRACE("site " + std::to_string(static_cast<int>(site)) + ", call " +
                       std::to_string(call) + ", run " + std::to_string(which));
          const int failed = sweep.Run(site, call, [&sweep, which] {
            (void)sweep.runs[which]->Cancel();
            return kTfLiteOk;
          });
          EXPECT_LE(failed, 1);
          for (size_t i = 0; i < kRuns; ++i) {
            const TfLiteStatus status = sweep.runs[i]->done_status;
            EXPECT_TRUE(status == kTfLiteOk || (i == which && status == kTfLiteCancelled));
          }
          cancelled += failed;
          EXPECT_EQ(sweep.Run(site, -1, nullptr), 0);
        }
      }
    }
  }
  EXPECT_GT(cancelled, 2 * 4 * kRuns);
}

}  // namespace
}  // namespace deputy::run_async_sweep_test
