// SPDX-License-Identifier: Apache-2.0
//
// Tests failures of DeputyInterpreterRunAsync: invalid requests, failing callbacks and nodes, calls
// on the interpreter while runs are in flight, and its deletion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "c_api/include/c_api_experimental.h"
#include "c_api/include/deputy.h"
#include "c_api/include/deputy_graph.h"
#include "tests/support/delegate_support.h"
#include "tests/support/programmed.h"
#include "tests/support/run_case.h"
#include "tests/support/test_interpreter.h"

namespace deputy::run_async_failures_test {
namespace {

using run_case::Counter;
using run_case::TestRun;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// y = x + 1 over four float32, by a custom operator; `invoke` runs within each inference.
struct Fixture : testing::Test {
  Fixture() {
    op.invoke = [this](TfLiteContext* context, TfLiteNode* node) {
      const TfLiteStatus status = invoke ? invoke() : kTfLiteOk;
      const TfLiteTensor& x = context->tensors[node->inputs->data[0]];
      const TfLiteTensor& y = context->tensors[node->outputs->data[0]];
      for (int i = 0; i < 4; ++i) y.data.f[i] = x.data.f[i] + 1;
      return status;
    };
    t = std::make_unique<TestInterpreter>(CustomNode("Increment"), op.Configure());
    EXPECT_EQ(t->Allocate(), kTfLiteOk) << t->log();
  }

  std::unique_ptr<TestRun> NewRun(float first = 1) {
    return std::make_unique<TestRun>(std::vector<std::vector<float>>{{first, 2, 3, 4}},
                                     std::vector<size_t>{4});
  }
  void ExpectRunWorks() {
    const auto run = NewRun();
    ASSERT_EQ(run->Start(t->get()), kTfLiteOk) << DeputyLastError();
    EXPECT_EQ(run->Wait(), kTfLiteOk);
    EXPECT_THAT(run->outputs[0], ElementsAre(2, 3, 4, 5));
  }

  ProgrammedOperator op{"Increment"};
  std::function<TfLiteStatus()> invoke;
  std::unique_ptr<TestInterpreter> t;
};
using RunAsyncFailures = Fixture;

// ---- Requests -----------------------------------------------------------------------------------

TEST_F(RunAsyncFailures, invalid_requests_are_refused) {
  const float x[4] = {};
  float y[4] = {};
  const DeputyRunInput input = {x, sizeof x};
  const DeputyRunOutput output = {y, sizeof y};
  DeputyRunRequest valid{};
  valid.struct_size = sizeof valid;
  valid.inputs = &input;
  valid.input_count = 1;
  valid.outputs = &output;
  valid.output_count = 1;
  const auto expect = [&](const DeputyRunRequest& request, const char* reason) {
    auto* run = reinterpret_cast<DeputyRun*>(y);
    EXPECT_EQ(DeputyInterpreterRunAsync(t->get(), &request, &run), kTfLiteError) << reason;
    EXPECT_EQ(run, nullptr);
    EXPECT_EQ(DeputyLastError(), std::string("DeputyInterpreterRunAsync: ") + reason);
  };
  EXPECT_EQ(DeputyInterpreterRunAsync(nullptr, &valid, nullptr), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterRunAsync(t->get(), nullptr, nullptr), kTfLiteError);
  DeputyRunRequest request = valid;
  request.struct_size = 63;
  expect(request, "expected an interpreter and a request with its struct_size");
  (request = valid).input_count = -1;
  expect(request, "expected counts of at least 0");
  (request = valid).output_count = -1;
  expect(request, "expected counts of at least 0");
  (request = valid).inputs = nullptr;
  expect(request, "expected either inputs or copy_in");
  (request = valid).copy_in = [](void*, int32_t, void*, size_t) { return kTfLiteOk; };
  expect(request, "expected either inputs or copy_in");
  (request = valid).outputs = nullptr;
  expect(request, "expected either outputs or copy_out");
  (request = valid).copy_out = [](void*, int32_t, const void*, size_t) { return kTfLiteOk; };
  expect(request, "expected either outputs or copy_out");
  (request = valid).input_count = 0;
  expect(request, "expected 1 inputs, found 0");
  (request = valid).output_count = 0;
  expect(request, "expected 1 outputs, found 0");
  const DeputyRunInput short_input = {x, 15};
  (request = valid).inputs = &short_input;
  EXPECT_EQ(DeputyInterpreterRunAsync(t->get(), &request, nullptr), kTfLiteError);
  EXPECT_THAT(DeputyLastError(), HasSubstr("input 0: expected 16 bytes, found 15 at "));
  const DeputyRunInput null_input = {nullptr, sizeof x};
  (request = valid).inputs = &null_input;
  EXPECT_EQ(DeputyInterpreterRunAsync(t->get(), &request, nullptr), kTfLiteError);
  const DeputyRunOutput long_output = {y, 17};
  (request = valid).outputs = &long_output;
  expect(request, "output 0: expected 16 bytes, found 17");
  ExpectRunWorks();
}

TEST_F(RunAsyncFailures, null_objects_are_refused) {
  EXPECT_FALSE(DeputyRunWait(nullptr, 0, nullptr));
  EXPECT_EQ(DeputyRunCancel(nullptr), kTfLiteError);
  EXPECT_EQ(DeputyRunGetEventFd(nullptr), -EINVAL);
  EXPECT_EQ(DeputyRunGetSyncFile(nullptr), -EINVAL);
  EXPECT_EQ(DeputyRunGetError(nullptr), nullptr);
  DeputyRunDelete(nullptr);
}

TEST_F(RunAsyncFailures, an_interpreter_without_memory_is_refused) {
  ASSERT_EQ(t->Resize(0, {4}), kTfLiteOk);
  TestInterpreter fresh(CustomNode("Increment"), op.Configure());
  const auto run = NewRun();
  EXPECT_EQ(run->Start(fresh.get()), kTfLiteError);
  EXPECT_STREQ(DeputyLastError(),
               "DeputyInterpreterRunAsync: expected an interpreter with allocated tensors");
  EXPECT_EQ(run->done_calls, 0);
}

TEST_F(RunAsyncFailures, a_node_may_not_start_the_first_run) {
  const auto inner = NewRun();
  TfLiteStatus status = kTfLiteOk;
  invoke = [&] {
    status = inner->Start(t->get());
    return kTfLiteOk;
  };
  ASSERT_EQ(t->Invoke(), kTfLiteOk);
  EXPECT_EQ(status, kTfLiteError);
  EXPECT_STREQ(DeputyLastError(),
               "DeputyInterpreterRunAsync: expected an interpreter that does not run");
  invoke = nullptr;
  ExpectRunWorks();
}

TEST_F(RunAsyncFailures, the_number_of_runs_in_flight_is_limited) {
  Counter release;
  invoke = [&] {
    EXPECT_TRUE(release.WaitFor(1));
    return kTfLiteOk;
  };
  std::vector<std::unique_ptr<TestRun>> runs;
  for (int i = 0; i < kDeputyMaxRuns; ++i) {
    runs.push_back(NewRun());
    ASSERT_EQ(runs.back()->Start(t->get()), kTfLiteOk) << i;
  }
  const auto refused = NewRun();
  EXPECT_EQ(refused->Start(t->get()), kTfLiteError);
  EXPECT_STREQ(DeputyLastError(),
               "DeputyInterpreterRunAsync: expected fewer than 256 runs in flight");
  release.Raise();
  for (const auto& run : runs) EXPECT_EQ(run->Wait(), kTfLiteOk);
  ExpectRunWorks();
}

// ---- Failures within runs -----------------------------------------------------------------------

TEST_F(RunAsyncFailures, a_failing_node_fails_only_its_run) {
  int inference = 0;
  invoke = [&] { return inference++ == 1 ? kTfLiteError : kTfLiteOk; };
  const auto a = NewRun(1), b = NewRun(2), c = NewRun(3);
  for (TestRun* run : {a.get(), b.get(), c.get()}) ASSERT_EQ(run->Start(t->get()), kTfLiteOk);
  EXPECT_EQ(a->Wait(), kTfLiteOk);
  EXPECT_EQ(b->Wait(), kTfLiteError);
  EXPECT_EQ(b->done_status, kTfLiteError);
  EXPECT_THAT(DeputyRunGetError(b->run), HasSubstr("Node number 0 (Increment) failed to invoke."));
  EXPECT_THAT(b->outputs[0], ElementsAre(-1, -1, -1, -1));
  EXPECT_EQ(c->Wait(), kTfLiteOk);
  EXPECT_THAT(c->outputs[0], ElementsAre(4, 3, 4, 5));
}

TEST_F(RunAsyncFailures, a_throwing_node_fails_only_its_run) {
  invoke = []() -> TfLiteStatus { throw std::runtime_error("no power"); };
  const auto run = NewRun();
  ASSERT_EQ(run->Start(t->get()), kTfLiteOk);
  EXPECT_EQ(run->Wait(), kTfLiteError);
  EXPECT_THAT(DeputyRunGetError(run->run), HasSubstr("no power"));
  invoke = nullptr;
  ExpectRunWorks();
}

TEST_F(RunAsyncFailures, statuses_and_exceptions_of_copies_fail_the_run) {
  struct Row {
    bool in, throws;
    const char* error;
  };
  for (const Row& row : {Row{true, false, "copy_in of input 0 returned 3"},
                         Row{true, true, "copy_in of input 0 threw"},
                         Row{false, false, "copy_out of output 0 returned 3"},
                         Row{false, true, "copy_out of output 0 threw"}}) {
    int inferences = 0;
    invoke = [&] {
      ++inferences;
      return kTfLiteOk;
    };
    const auto run = NewRun();
    const auto fail = [&row] {
      if (row.throws) throw std::runtime_error("no power");
      return kTfLiteApplicationError;
    };
    if (row.in) {
      run->copy_in = [fail](int, float*, size_t) { return fail(); };
    } else {
      run->copy_out = [fail](int, const float*, size_t) { return fail(); };
    }
    ASSERT_EQ(run->Start(t->get()), kTfLiteOk);
    EXPECT_EQ(run->Wait(), row.throws ? kTfLiteError : kTfLiteApplicationError) << row.error;
    EXPECT_STREQ(DeputyRunGetError(run->run), row.error);
    EXPECT_EQ(inferences, row.in ? 0 : 1);
    invoke = nullptr;
    ExpectRunWorks();
  }
}

TEST_F(RunAsyncFailures, an_exception_of_the_last_callback_is_ignored) {
  const auto run = NewRun();
  run->done = [] { throw std::runtime_error("no power"); };
  ASSERT_EQ(run->Start(t->get()), kTfLiteOk);
  EXPECT_EQ(run->Wait(), kTfLiteOk);
  ExpectRunWorks();
}

// The blocking call returns kTfLiteDelegateError with right results, too.
TEST_F(RunAsyncFailures, the_fallback_to_the_cpu_has_right_results) {
  ProgrammedDelegate delegate(ClaimingBody({1}));
  delegate.invoke = [](TfLiteContext*, TfLiteNode*) { return kTfLiteError; };
  TestInterpreter u(Chain(3), [](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetEnableDelegateFallback(options, true);
  });
  ASSERT_EQ(u.Allocate(), kTfLiteOk);
  u.Set<float>(0, {1, 2, 3, 4});
  ASSERT_EQ(u.Invoke(), kTfLiteOk);
  const std::vector<float> expected = u.Get<float>(0);
  ASSERT_EQ(Apply(&u, &delegate.base), kTfLiteOk);
  ASSERT_EQ(u.Allocate(), kTfLiteOk);
  for (const TfLiteStatus status : {kTfLiteDelegateError, kTfLiteOk}) {
    const auto run = NewRun();
    ASSERT_EQ(run->Start(u.get()), kTfLiteOk) << DeputyLastError();
    EXPECT_EQ(run->Wait(), status);
    EXPECT_EQ(run->outputs[0], expected);
  }
}

TEST_F(RunAsyncFailures, a_cancelled_run_is_not_repeated_on_the_cpu) {
  std::unique_ptr<TestRun> run;
  ProgrammedDelegate delegate(ClaimingBody({1}));
  delegate.invoke = [&](TfLiteContext*, TfLiteNode*) {
    EXPECT_EQ(run->Cancel(), kTfLiteOk);
    return kTfLiteOk;
  };
  TestInterpreter u(Chain(3), [](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetEnableDelegateFallback(options, true);
  });
  ASSERT_EQ(Apply(&u, &delegate.base), kTfLiteOk);
  ASSERT_EQ(u.Allocate(), kTfLiteOk);
  for (int i = 0; i < 2; ++i) {
    run = NewRun();
    ASSERT_EQ(run->Start(u.get()), kTfLiteOk) << DeputyLastError();
    EXPECT_EQ(run->Wait(), kTfLiteCancelled);
  }
}

// ---- The interpreter meanwhile ------------------------------------------------------------------

TEST_F(RunAsyncFailures, calls_that_change_the_interpreter_fail_meanwhile) {
  Counter began, release;
  invoke = [&] {
    began.Raise();
    EXPECT_TRUE(release.WaitFor(1));
    return kTfLiteOk;
  };
  ProgrammedDelegate delegate(ClaimingBody({0}));
  const auto run = NewRun();
  ASSERT_EQ(run->Start(t->get()), kTfLiteOk);
  ASSERT_TRUE(began.WaitFor(1));
  TfLiteInterpreter* const i = t->get();
  TfLiteSignatureRunner* const signature = TfLiteInterpreterGetSignatureRunner(i, nullptr);
  ASSERT_NE(signature, nullptr);
  alignas(64) float memory[4];
  const TfLiteCustomAllocation allocation = {memory, sizeof memory};
  const int dims[] = {4};
  const auto expect = [](TfLiteStatus status, const char* call) {
    EXPECT_EQ(status, kTfLiteError) << call;
    EXPECT_THAT(DeputyLastError(), HasSubstr(": expected no asynchronous run in flight, found 1"))
        << call;
    EXPECT_THAT(DeputyLastError(), HasSubstr(call));
  };
  expect(TfLiteInterpreterAllocateTensors(i), "AllocateTensors");
  expect(TfLiteInterpreterInvoke(i), "Invoke");
  expect(TfLiteInterpreterResizeInputTensor(i, 0, dims, 1), "ResizeInputTensor");
  expect(TfLiteInterpreterModifyGraphWithDelegate(i, &delegate.base), "ModifyGraphWithDelegate");
  expect(TfLiteInterpreterResetVariableTensors(i), "ResetVariableTensors");
  expect(TfLiteInterpreterSetCustomAllocationForTensor(i, 0, &allocation, 0),
         "SetCustomAllocationForTensor");
  expect(TfLiteSignatureRunnerAllocateTensors(signature), "AllocateTensors");
  expect(TfLiteSignatureRunnerInvoke(signature), "Invoke");
  expect(TfLiteSignatureRunnerResizeInputTensor(signature, "x", dims, 1), "ResizeInputTensor");
  expect(DeputyInterpreterSetNumThreads(i, 2), "SetNumThreads");
  expect(DeputyInterpreterReplaceDelegate(i, &delegate.base, &delegate.base), "ReplaceDelegate");
  expect(DeputyInterpreterReleaseNonPersistentMemory(i), "ReleaseNonPersistentMemory");
  expect(DeputyInterpreterReleaseMemory(i), "ReleaseMemory");
  expect(DeputyInterpreterInvokeSubgraph(i, 0), "InvokeSubgraph");
  expect(DeputyInterpreterAllocateSubgraph(i, 0), "AllocateSubgraph");
  expect(DeputyInterpreterSetCancellationFunction(i, nullptr, nullptr), "SetCancellationFunction");
  expect(DeputyInterpreterSetTelemetryProfiler(i, nullptr), "SetTelemetryProfiler");
  TfLiteSignatureRunnerDelete(signature);
  EXPECT_EQ(t->log(), "");
  release.Raise();
  EXPECT_EQ(run->Wait(), kTfLiteOk);
  EXPECT_THAT(run->outputs[0], ElementsAre(2, 3, 4, 5));
  EXPECT_EQ(TfLiteInterpreterAllocateTensors(i), kTfLiteOk);
  EXPECT_EQ(TfLiteInterpreterInvoke(i), kTfLiteOk);
}

// A callback runs while its run is in flight.
TEST_F(RunAsyncFailures, callbacks_may_not_change_or_delete_the_interpreter) {
  TfLiteStatus allocate = kTfLiteOk;
  std::string error;
  const auto run = NewRun();
  run->done = [&] {
    allocate = t->Allocate();
    TfLiteInterpreterDelete(t->get());
    error = DeputyLastError();
  };
  ASSERT_EQ(run->Start(t->get()), kTfLiteOk);
  EXPECT_EQ(run->Wait(), kTfLiteOk);
  EXPECT_EQ(allocate, kTfLiteError);
  EXPECT_EQ(error, "TfLiteInterpreterDelete: expected no call in a callback of a run");
  ExpectRunWorks();
}

// The callback of a run that is cancelled runs on the cancelling thread.
TEST_F(RunAsyncFailures, callbacks_of_cancelled_runs_may_not_delete_the_interpreter) {
  Counter release;
  invoke = [&] {
    EXPECT_TRUE(release.WaitFor(1));
    return kTfLiteOk;
  };
  const auto first = NewRun(), a = NewRun(), b = NewRun(), waiting = NewRun();
  waiting->done = [&] { TfLiteInterpreterDelete(t->get()); };
  for (TestRun* run : {first.get(), a.get(), b.get(), waiting.get()}) {
    ASSERT_EQ(run->Start(t->get()), kTfLiteOk);
  }
  EXPECT_EQ(waiting->Cancel(), kTfLiteOk);
  EXPECT_STREQ(DeputyLastError(),
               "TfLiteInterpreterDelete: expected no call in a callback of a run");
  release.Raise();
  EXPECT_EQ(b->Wait(), kTfLiteOk);
}

TEST_F(RunAsyncFailures, a_node_may_not_delete_the_interpreter) {
  invoke = [&] {
    TfLiteInterpreterDelete(t->get());
    return kTfLiteOk;
  };
  const auto run = NewRun();
  ASSERT_EQ(run->Start(t->get()), kTfLiteOk);
  EXPECT_EQ(run->Wait(), kTfLiteOk);
}

// The deletion requests cancellation of the run that is computed and of the others, and waits.
TEST_F(RunAsyncFailures, deleting_the_interpreter_ends_its_runs) {
  Counter began, release;
  invoke = [&] {
    began.Raise();
    EXPECT_TRUE(release.WaitFor(1));
    return kTfLiteOk;
  };
  std::vector<std::unique_ptr<TestRun>> runs;
  for (int i = 0; i < 6; ++i) {
    runs.push_back(NewRun());
    ASSERT_EQ(runs.back()->Start(t->get()), kTfLiteOk);
  }
  TfLiteStatus restarted = kTfLiteOk;
  const auto another = NewRun();
  TfLiteInterpreter* const interpreter = t->get();
  runs[5]->done = [&] {
    restarted = another->Start(interpreter);
    release.Raise();
  };
  ASSERT_TRUE(began.WaitFor(1));
  t.reset();
  for (const auto& run : runs) EXPECT_TRUE(run->HasEnded());
  EXPECT_EQ(restarted, kTfLiteError);
  // The only node of run 0 had begun.
  EXPECT_EQ(runs[0]->Wait(), kTfLiteOk);
  EXPECT_THAT(runs[0]->outputs[0], ElementsAre(2, 3, 4, 5));
  for (size_t i = 1; i < runs.size(); ++i) {
    EXPECT_EQ(runs[i]->Wait(), kTfLiteCancelled) << i;
    EXPECT_EQ(runs[i]->done_calls, 1) << i;
    EXPECT_EQ(runs[i]->Cancel(), kTfLiteError);
    EXPECT_GE(DeputyRunGetEventFd(runs[i]->run), 0);
  }
  EXPECT_EQ(began.count(), 1);
}

TEST_F(RunAsyncFailures, a_run_may_be_deleted_while_it_is_in_flight) {
  Counter began, release, ended;
  invoke = [&] {
    began.Raise();
    EXPECT_TRUE(release.WaitFor(1));
    return kTfLiteOk;
  };
  const auto run = NewRun();
  run->done = [&] { ended.Raise(); };
  ASSERT_EQ(run->Start(t->get()), kTfLiteOk);
  ASSERT_TRUE(began.WaitFor(1));
  DeputyRunDelete(run->run);
  run->run = nullptr;
  release.Raise();
  EXPECT_TRUE(ended.WaitFor(1));
  t.reset();
  EXPECT_THAT(run->outputs[0], ElementsAre(2, 3, 4, 5));
}

}  // namespace
}  // namespace deputy::run_async_failures_test
