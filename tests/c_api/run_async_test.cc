// SPDX-License-Identifier: Apache-2.0
//
// Tests DeputyInterpreterRunAsync: results, overlap of the stages, order, events and cancellation.
// run_async_failures_test tests failures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "c_api/include/deputy.h"
#include "tests/support/model_builder.h"
#include "tests/support/programmed.h"
#include "tests/support/run_case.h"
#include "tests/support/test_interpreter.h"

namespace deputy::run_async_test {
namespace {

using run_case::Counter;
using run_case::TestRun;
using testing::ElementsAre;
using Floats = std::vector<float>;

// `nodes` nodes ADD over two float32, each of which doubles its input.
std::vector<uint8_t> Doubling(int nodes) {
  ModelBuilder m;
  int last = m.AddTensor(kTfLiteFloat32, {2}, "x");
  m.SetInputs({last});
  for (int i = 0; i < nodes; ++i) {
    const int next = m.AddTensor(kTfLiteFloat32, {2});
    m.AddOp(kTfLiteBuiltinAdd, {last, last}, {next}, schema::CreateAddOptions(m.fbb()));
    last = next;
  }
  m.SetOutputs({last});
  return m.Finish();
}

// Sets the node's output to twice its input.
void Double(TfLiteContext* context, const TfLiteNode* node) {
  const TfLiteTensor& from = context->tensors[node->inputs->data[0]];
  const TfLiteTensor& to = context->tensors[node->outputs->data[0]];
  for (size_t i = 0; i < from.bytes / sizeof(float); ++i) to.data.f[i] = 2 * from.data.f[i];
}

// A delegate that doubles in place of the given nodes. `during` runs within each inference.
struct Doubler : ProgrammedDelegate {
  explicit Doubler(std::vector<int> nodes) : ProgrammedDelegate(ClaimingBody(std::move(nodes))) {
    invoke = [this](TfLiteContext* context, TfLiteNode* node) {
      if (during) during();
      Double(context, node);
      return status;
    };
  }
  std::function<void()> during;
  TfLiteStatus status = kTfLiteOk;
};

// An interpreter of Doubling(nodes) whose node 1 the delegate computes.
struct Interpreter : TestInterpreter {
  explicit Interpreter(Doubler* delegate, int nodes = 3) : TestInterpreter(Doubling(nodes)) {
    if (delegate != nullptr) {
      EXPECT_EQ(Apply(this, &delegate->base), kTfLiteOk) << log();
    }
    EXPECT_EQ(Allocate(), kTfLiteOk) << log();
  }
};

TEST(RunAsync, computes_while_the_caller_goes_on) {
  Counter began, release;
  Doubler delegate({1});
  delegate.during = [&] {
    began.Raise();
    EXPECT_TRUE(release.WaitFor(1));
  };
  Interpreter t(&delegate);
  TestRun run({{1, 2}}, {2});
  ASSERT_EQ(run.Start(t.get()), kTfLiteOk) << DeputyLastError();
  ASSERT_TRUE(began.WaitFor(1));
  EXPECT_FALSE(run.HasEnded());
  EXPECT_EQ(run.done_calls, 0);
  EXPECT_STREQ(DeputyRunGetError(run.run), "");
  release.Raise();
  EXPECT_EQ(run.Wait(), kTfLiteOk);
  EXPECT_THAT(run.outputs[0], ElementsAre(8, 16));
  EXPECT_EQ(run.done_calls, 1);
  EXPECT_EQ(run.done_status, kTfLiteOk);
  EXPECT_STREQ(DeputyRunGetError(run.run), "");
}

TEST(RunAsync, runs_without_delegates) {
  Interpreter t(nullptr);
  TestRun run({{-3, 0.5f}}, {2});
  ASSERT_EQ(run.Start(t.get()), kTfLiteOk) << DeputyLastError();
  EXPECT_EQ(run.Wait(), kTfLiteOk);
  EXPECT_THAT(run.outputs[0], ElementsAre(-24, 4));
}

// Run 2 is copied in, run 1 is computed and run 0 is copied out while each of them waits for the
// two others.
TEST(RunAsync, three_stages_overlap) {
  Counter all;
  std::atomic<int> inference = 0;
  Doubler delegate({1});
  delegate.during = [&] {
    const bool is_second = inference++ == 1;
    EXPECT_TRUE(!is_second || all.Meet(3));
  };
  Interpreter t(&delegate);
  std::vector<std::unique_ptr<TestRun>> runs;
  std::vector<Floats> results(3);
  for (int i = 0; i < 3; ++i) {
    auto run = std::make_unique<TestRun>();
    run->copy_in = [&all, i](int, float* data, size_t count) {
      EXPECT_TRUE(i != 2 || all.Meet(3));
      std::fill_n(data, count, static_cast<float>(i));
      return kTfLiteOk;
    };
    run->copy_out = [&all, &results, i](int, const float* data, size_t count) {
      EXPECT_TRUE(i != 0 || all.Meet(3));
      results[static_cast<size_t>(i)].assign(data, data + count);
      return kTfLiteOk;
    };
    ASSERT_EQ(run->Start(t.get()), kTfLiteOk) << DeputyLastError();
    runs.push_back(std::move(run));
  }
  for (const auto& run : runs) EXPECT_EQ(run->Wait(), kTfLiteOk);
  EXPECT_EQ(all.count(), 3);
  EXPECT_THAT(results, ElementsAre(Floats{0, 0}, Floats{8, 8}, Floats{16, 16}));
}

// y = x + state, state = y.
TEST(RunAsync, variables_keep_the_order_of_submission) {
  ProgrammedOperator accumulate("Accumulate");
  accumulate.invoke = [](TfLiteContext* context, TfLiteNode* node) {
    const float x = context->tensors[node->inputs->data[0]].data.f[0];
    float& state = context->tensors[node->inputs->data[1]].data.f[0];
    context->tensors[node->outputs->data[0]].data.f[0] = state = x + state;
    return kTfLiteOk;
  };
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1}, "x");
  const int state = m.AddTensor(kTfLiteFloat32, {1}, "state", {.is_variable = true});
  const int y = m.AddTensor(kTfLiteFloat32, {1}, "y");
  m.AddCustomOp("Accumulate", {x, state}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  TestInterpreter t(m.Finish(), accumulate.Configure());
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  std::vector<std::unique_ptr<TestRun>> runs;
  for (int i = 0; i < 20; ++i) {
    runs.push_back(std::make_unique<TestRun>(std::vector<Floats>{{static_cast<float>(i)}},
                                             std::vector<size_t>{1}));
    ASSERT_EQ(runs.back()->Start(t.get()), kTfLiteOk) << DeputyLastError();
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(runs[static_cast<size_t>(i)]->Wait(), kTfLiteOk);
    EXPECT_EQ(runs[static_cast<size_t>(i)]->outputs[0][0], static_cast<float>(i * (i + 1) / 2));
  }
}

// Views of the input and of the output, and tensors that are listed twice.
TEST(RunAsync, copies_inputs_and_outputs_that_share_memory) {
  ModelBuilder m;
  const int a = m.AddTensor(kTfLiteFloat32, {4}, "a");
  const int b = m.AddTensor(kTfLiteFloat32, {4}, "b");
  const int shape = m.AddConstant<int32_t>(kTfLiteInt32, {2}, {2, 2});
  const int square = m.AddTensor(kTfLiteFloat32, {2, 2}, "square");
  const int both = m.AddTensor(kTfLiteFloat32, {8}, "both");
  const int axis = m.AddConstant<int32_t>(kTfLiteInt32, {}, {0});
  const int low = m.AddTensor(kTfLiteFloat32, {4}, "low");
  const int high = m.AddTensor(kTfLiteFloat32, {4}, "high");
  m.AddOp(kTfLiteBuiltinReshape, {a, shape}, {square});
  m.AddOp(kTfLiteBuiltinConcatenation, {a, b}, {both},
          schema::CreateConcatenationOptions(m.fbb(), 0));
  m.AddOp(kTfLiteBuiltinSplit, {axis, both}, {low, high}, schema::CreateSplitOptions(m.fbb(), 2));
  m.SetInputs({a, b, a});
  m.SetOutputs({square, both, high, b, high});
  TestInterpreter t(m.Finish());
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  std::vector<std::unique_ptr<TestRun>> runs;
  for (int i = 0; i < 8; ++i) {
    const auto f = static_cast<float>(i);
    runs.push_back(
        std::make_unique<TestRun>(std::vector<Floats>{{1, 2, 3, f}, {5, 6, 7, f}, {1, 2, 3, f}},
                                  std::vector<size_t>{4, 8, 4, 4, 4}));
    ASSERT_EQ(runs.back()->Start(t.get()), kTfLiteOk) << DeputyLastError();
  }
  for (int i = 0; i < 8; ++i) {
    const auto f = static_cast<float>(i);
    TestRun& run = *runs[static_cast<size_t>(i)];
    ASSERT_EQ(run.Wait(), kTfLiteOk);
    EXPECT_THAT(run.outputs,
                ElementsAre(Floats{1, 2, 3, f}, Floats{1, 2, 3, f, 5, 6, 7, f}, Floats{5, 6, 7, f},
                            Floats{5, 6, 7, f}, Floats{5, 6, 7, f}));
  }
}

// The shape of the output depends on the contents of an input.
TEST(RunAsync, outputs_may_have_a_size_that_is_known_only_afterwards) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {}, "x");
  const int dims = m.AddTensor(kTfLiteInt32, {1}, "dims");
  const int filled = m.AddTensor(kTfLiteFloat32, {1}, "filled");
  const int y = m.AddTensor(kTfLiteFloat32, {1}, "y");
  m.AddOp(kTfLiteBuiltinFill, {dims, x}, {filled}, schema::CreateFillOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinAdd, {filled, filled}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x, dims});
  m.SetOutputs({y});
  TestInterpreter t(m.Finish());
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  const auto start = [&t](int count, size_t memory) {
    auto run =
        std::make_unique<TestRun>(std::vector<Floats>{{3}, {0}}, std::vector<size_t>{memory});
    memcpy(run->inputs[1].data(), &count, sizeof count);
    EXPECT_EQ(run->Start(t.get()), kTfLiteOk) << DeputyLastError();
    return run;
  };
  const auto two = start(2, 2), five = start(5, 5), wrong = start(3, 2), one = start(1, 1);
  EXPECT_EQ(two->Wait(), kTfLiteOk) << DeputyRunGetError(two->run);
  EXPECT_THAT(two->outputs[0], ElementsAre(6, 6));
  EXPECT_EQ(five->Wait(), kTfLiteOk);
  EXPECT_THAT(five->outputs[0], ElementsAre(6, 6, 6, 6, 6));
  EXPECT_EQ(wrong->Wait(), kTfLiteError);
  EXPECT_STREQ(DeputyRunGetError(wrong->run), "output 0: expected memory of 12 bytes, found 8");
  EXPECT_THAT(wrong->outputs[0], ElementsAre(-1, -1));
  EXPECT_EQ(one->Wait(), kTfLiteOk);
  EXPECT_THAT(one->outputs[0], ElementsAre(6));
  // The size of the run before does not count if no run is in flight.
  const auto three = start(3, 3);
  EXPECT_EQ(three->Wait(), kTfLiteOk);
  EXPECT_THAT(three->outputs[0], ElementsAre(6, 6, 6));
}

TEST(RunAsync, leaves_the_interpreter_as_it_was) {
  Interpreter t(nullptr);
  const void* const input = TfLiteTensorData(TfLiteInterpreterGetInputTensor(t.get(), 0));
  const void* const output = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(t.get(), 0));
  TestRun run({{1, 1}}, {2});
  ASSERT_EQ(run.Start(t.get()), kTfLiteOk) << DeputyLastError();
  EXPECT_EQ(run.Wait(), kTfLiteOk);
  EXPECT_EQ(TfLiteTensorData(TfLiteInterpreterGetInputTensor(t.get(), 0)), input);
  EXPECT_EQ(TfLiteTensorData(TfLiteInterpreterGetOutputTensor(t.get(), 0)), output);
  t.Set<float>(0, {2, 3});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<float>(0), ElementsAre(16, 24));
}

TEST(RunAsync, follows_a_resize_between_runs) {
  Interpreter t(nullptr);
  for (const int size : {2, 5, 1}) {
    ASSERT_EQ(t.Resize(0, {size}), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    TestRun run({Floats(static_cast<size_t>(size), 1)}, {static_cast<size_t>(size)});
    ASSERT_EQ(run.Start(t.get()), kTfLiteOk) << DeputyLastError();
    EXPECT_EQ(run.Wait(), kTfLiteOk);
    EXPECT_EQ(run.outputs[0], Floats(static_cast<size_t>(size), 8));
  }
}

TEST(RunAsync, needs_no_object_and_no_outputs) {
  Counter ended;
  Interpreter t(nullptr);
  const Floats x = {1, 2};
  const DeputyRunInput input = {x.data(), sizeof(float) * 2};
  const DeputyRunOutput output = {nullptr, 0};
  DeputyRunRequest request{};
  request.struct_size = sizeof request;
  request.user_data = &ended;
  request.inputs = &input;
  request.input_count = 1;
  request.outputs = &output;
  request.output_count = 1;
  request.done = [](void* counter, TfLiteStatus status) {
    EXPECT_EQ(status, kTfLiteOk);
    static_cast<Counter*>(counter)->Raise();
  };
  ASSERT_EQ(DeputyInterpreterRunAsync(t.get(), &request, nullptr), kTfLiteOk) << DeputyLastError();
  EXPECT_TRUE(ended.WaitFor(1));
}

TEST(RunAsync, a_callback_starts_the_next_run) {
  Interpreter t(nullptr);
  TestRun second({{2, 2}}, {2});
  Counter started;
  TestRun first({{1, 1}}, {2});
  first.done = [&] {
    EXPECT_EQ(second.Start(t.get()), kTfLiteOk) << DeputyLastError();
    // Waiting here would block the thread that ends the run.
    EXPECT_FALSE(DeputyRunWait(second.run, -1, nullptr));
    started.Raise();
  };
  ASSERT_EQ(first.Start(t.get()), kTfLiteOk);
  ASSERT_TRUE(started.WaitFor(1));
  EXPECT_EQ(first.Wait(), kTfLiteOk);
  EXPECT_EQ(second.Wait(), kTfLiteOk);
  EXPECT_THAT(second.outputs[0], ElementsAre(16, 16));
}

// ---- Events -------------------------------------------------------------------------------------

bool IsReadable(int descriptor, int timeout_ms = 0) {
  pollfd entry = {descriptor, POLLIN, 0};
  return poll(&entry, 1, timeout_ms) == 1 && (entry.revents & POLLIN) != 0;
}

TEST(RunAsync, the_eventfd_becomes_readable_at_the_end) {
  Counter release;
  Doubler delegate({1});
  delegate.during = [&] { EXPECT_TRUE(release.WaitFor(1)); };
  Interpreter t(&delegate);
  TestRun run({{1, 2}}, {2});
  ASSERT_EQ(run.Start(t.get()), kTfLiteOk);
  const int event = DeputyRunGetEventFd(run.run);
  ASSERT_GE(event, 0);
  EXPECT_EQ(DeputyRunGetEventFd(run.run), event);
  EXPECT_FALSE(IsReadable(event));
  release.Raise();
  EXPECT_TRUE(IsReadable(event, 60'000));
  EXPECT_EQ(run.Wait(), kTfLiteOk);
  EXPECT_TRUE(IsReadable(event));

  TestRun ended({{1, 2}}, {2});
  ASSERT_EQ(ended.Start(t.get()), kTfLiteOk);
  EXPECT_EQ(ended.Wait(), kTfLiteOk);
  EXPECT_TRUE(IsReadable(DeputyRunGetEventFd(ended.run)));
}

// Few kernels offer sync files to programs; the status says so.
TEST(RunAsync, sync_files_are_signalled_or_not_supported) {
  Counter release;
  Doubler delegate({1});
  delegate.during = [&] { EXPECT_TRUE(release.WaitFor(1)); };
  Interpreter t(&delegate);
  TestRun run({{1, 2}}, {2});
  ASSERT_EQ(run.Start(t.get()), kTfLiteOk);
  const int before = DeputyRunGetSyncFile(run.run);
  release.Raise();
  EXPECT_EQ(run.Wait(), kTfLiteOk);
  const int after = DeputyRunGetSyncFile(run.run);
  if (before < 0) {
    EXPECT_EQ(before, -ENOTSUP);
    EXPECT_EQ(after, -ENOTSUP);
    return;
  }
  EXPECT_TRUE(IsReadable(before, 60'000));
  EXPECT_TRUE(IsReadable(after, 60'000));
  close(before);
  close(after);
}

// ---- Cancellation -------------------------------------------------------------------------------

// Run 0 is computed, run 1 was copied in, run 2 is being copied in, run 3 waits for a slot. Run 2
// ends when its copy returns, the others at once.
TEST(RunAsync, cancels_at_every_stage_before_the_computation) {
  Counter computing, copying, release;
  Doubler delegate({1});
  delegate.during = [&] {
    computing.Raise();
    EXPECT_TRUE(release.WaitFor(1));
  };
  Interpreter t(&delegate);
  std::vector<std::unique_ptr<TestRun>> runs;
  for (int i = 0; i < 4; ++i) {
    runs.push_back(std::make_unique<TestRun>(std::vector<Floats>{{1, 1}}, std::vector<size_t>{2}));
    if (i == 2) {
      runs[2]->copy_in = [&](int, float*, size_t) {
        copying.Raise();
        EXPECT_TRUE(release.WaitFor(1));
        return kTfLiteOk;
      };
    }
    ASSERT_EQ(runs.back()->Start(t.get()), kTfLiteOk) << DeputyLastError();
    ASSERT_TRUE(i != 0 || computing.WaitFor(1));
  }
  ASSERT_TRUE(copying.WaitFor(1));
  for (const size_t i : {1u, 3u}) {
    EXPECT_EQ(runs[i]->Cancel(), kTfLiteOk);
    EXPECT_TRUE(runs[i]->HasEnded()) << i;
    EXPECT_EQ(runs[i]->done_calls, 1);
  }
  EXPECT_EQ(runs[2]->Cancel(), kTfLiteOk);
  EXPECT_FALSE(runs[2]->HasEnded());
  release.Raise();
  EXPECT_EQ(runs[0]->Wait(), kTfLiteOk);
  EXPECT_THAT(runs[0]->outputs[0], ElementsAre(8, 8));
  for (const size_t i : {1u, 2u, 3u}) {
    EXPECT_EQ(runs[i]->Wait(), kTfLiteCancelled) << i;
    EXPECT_EQ(runs[i]->done_status, kTfLiteCancelled);
    EXPECT_STREQ(DeputyRunGetError(runs[i]->run), "cancelled");
    EXPECT_THAT(runs[i]->outputs[0], ElementsAre(-1, -1));
    EXPECT_EQ(runs[i]->Cancel(), kTfLiteError);
  }
  EXPECT_EQ(computing.count(), 1);
}

// The node after the delegate's is not computed. The request does not affect the next run.
TEST(RunAsync, cancels_the_run_that_is_computed) {
  Counter computing, release;
  Doubler delegate({1});
  delegate.during = [&] {
    computing.Raise();
    EXPECT_TRUE(release.WaitFor(1));
  };
  Interpreter t(&delegate);
  TestRun run({{1, 1}}, {2}), next({{2, 2}}, {2});
  ASSERT_EQ(run.Start(t.get()), kTfLiteOk);
  ASSERT_EQ(next.Start(t.get()), kTfLiteOk);
  ASSERT_TRUE(computing.WaitFor(1));
  EXPECT_EQ(run.Cancel(), kTfLiteOk);
  EXPECT_FALSE(run.HasEnded());
  release.Raise();
  EXPECT_EQ(run.Wait(), kTfLiteCancelled);
  EXPECT_STREQ(DeputyRunGetError(run.run), "Client requested cancel during Invoke()");
  EXPECT_EQ(next.Wait(), kTfLiteOk);
  EXPECT_THAT(next.outputs[0], ElementsAre(16, 16));
}

// The last node has no chance to stop: the run completes.
TEST(RunAsync, a_request_that_comes_too_late_has_no_effect) {
  Doubler delegate({0});
  Interpreter t(&delegate, 1);
  TestRun run({{1, 1}}, {2});
  TfLiteStatus late = kTfLiteOk;
  float copied = 0;
  delegate.during = [&] { EXPECT_EQ(run.Cancel(), kTfLiteOk); };
  run.copy_out = [&](int, const float* data, size_t) {
    late = run.Cancel();
    copied = data[0];
    return kTfLiteOk;
  };
  ASSERT_EQ(run.Start(t.get()), kTfLiteOk);
  EXPECT_EQ(run.Wait(), kTfLiteOk);
  EXPECT_EQ(late, kTfLiteError);
  EXPECT_EQ(copied, 2);
  // Nor does it affect the next run.
  delegate.during = nullptr;
  TestRun next({{1, 1}}, {2});
  ASSERT_EQ(next.Start(t.get()), kTfLiteOk);
  EXPECT_EQ(next.Wait(), kTfLiteOk);
}

}  // namespace
}  // namespace deputy::run_async_test
