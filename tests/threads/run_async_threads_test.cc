// SPDX-License-Identifier: Apache-2.0
//
// Several threads start, cancel and wait for runs of several interpreters by every event, and one
// of them deletes the interpreter meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "tests/support/delegate_support.h"
#include "tests/support/programmed.h"
#include "tests/support/run_case.h"
#include "tests/support/test_interpreter.h"

namespace deputy::run_async_threads_test {
namespace {

using run_case::Counter;
using run_case::TestRun;

constexpr int kInterpreters = 2, kThreads = 3, kRuns = 30;

// y = x + 1 over four float32, by a custom operator.
struct Incrementer {
  Incrementer() {
    op.invoke = [](TfLiteContext* context, TfLiteNode* node) {
      const TfLiteTensor& x = context->tensors[node->inputs->data[0]];
      const TfLiteTensor& y = context->tensors[node->outputs->data[0]];
      for (int i = 0; i < 4; ++i) y.data.f[i] = x.data.f[i] + 1;
      return kTfLiteOk;
    };
    t = std::make_unique<TestInterpreter>(CustomNode("Increment"), op.Configure());
    EXPECT_EQ(t->Allocate(), kTfLiteOk) << t->log();
  }
  ProgrammedOperator op{"Increment"};
  std::unique_ptr<TestInterpreter> t;
};

std::unique_ptr<TestRun> NewRun(float first) {
  return std::make_unique<TestRun>(std::vector<std::vector<float>>{{first, 2, 3, 4}},
                                   std::vector<size_t>{4});
}

// Waits for the run by the event with this number.
void WaitBy(int event, TestRun* run, Counter* ended) {
  if (event % 3 == 0) {
    EXPECT_TRUE(ended->WaitFor(1));
  } else if (event % 3 == 1) {
    pollfd entry = {DeputyRunGetEventFd(run->run), POLLIN, 0};
    EXPECT_EQ(poll(&entry, 1, 60'000), 1);
  }
}

// Returns the number of runs whose end was wrong.
int UseRuns(TfLiteInterpreter* interpreter, int thread) {
  int wrong = 0;
  for (int i = 0; i < kRuns; ++i) {
    const auto first = static_cast<float>(thread * kRuns + i);
    const auto run = NewRun(first);
    Counter ended;
    run->done = [&ended] { ended.Raise(); };
    if (run->Start(interpreter) != kTfLiteOk) return -1;
    const bool cancels = i % 5 == 4;
    if (cancels) run->Cancel();
    WaitBy(i, run.get(), &ended);
    const TfLiteStatus status = run->Wait();
    const bool right = status == kTfLiteOk
                           ? run->outputs[0] == std::vector<float>{first + 1, 3, 4, 5}
                           : cancels && status == kTfLiteCancelled;
    wrong += right && ended.count() == 1 ? 0 : 1;
  }
  return wrong;
}

TEST(RunAsyncThreads, threads_use_the_runs_of_several_interpreters) {
  std::array<Incrementer, kInterpreters> all;
  std::array<int, size_t{kInterpreters} * kThreads> wrong{};
  std::vector<std::thread> threads;
  for (int i = 0; i < kInterpreters * kThreads; ++i) {
    threads.emplace_back([&, i] {
      wrong[static_cast<size_t>(i)] =
          UseRuns(all[static_cast<size_t>(i % kInterpreters)].t->get(), i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, testing::Each(0));
  for (const Incrementer& one : all) {
    one.t->Set<float>(0, {1, 2, 3, 4});
    EXPECT_EQ(one.t->Invoke(), kTfLiteOk);
    EXPECT_THAT(one.t->Get<float>(0), testing::ElementsAre(2, 3, 4, 5));
  }
}

// Threads wait for and cancel runs while the interpreter is deleted.
TEST(RunAsyncThreads, an_interpreter_is_deleted_while_threads_wait) {
  for (int repetition = 0; repetition < 20; ++repetition) {
    Incrementer one;
    std::vector<std::unique_ptr<TestRun>> runs;
    for (int i = 0; i < 6; ++i) {
      runs.push_back(NewRun(1));
      ASSERT_EQ(runs.back()->Start(one.t->get()), kTfLiteOk);
    }
    std::atomic<int> ended = 0;
    std::vector<std::thread> threads;
    for (const auto& run : runs) {
      threads.emplace_back([&ended, &run] {
        const TfLiteStatus status = run->Wait();
        ended += status == kTfLiteOk || status == kTfLiteCancelled ? 1 : 0;
      });
    }
    threads.emplace_back([&runs] { runs[5]->Cancel(); });
    one.t.reset();
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(ended, 6);
  }
}

}  // namespace
}  // namespace deputy::run_async_threads_test
