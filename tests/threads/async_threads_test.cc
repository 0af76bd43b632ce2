// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous execution: several threads start tasks and wait.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>
#include <vector>

#include "tests/support/async_case.h"

namespace deputy::async_threads_test {
namespace {

using namespace async_case;
using testing::ElementsAre;

using AsyncThreads = Async;

TEST_F(AsyncThreads, several_threads_wait_for_one_task) {
  script_.held = true;
  script_.results[kAsyncWait] = kTfLiteCancelled;
  Build();
  const auto e = NewExecution();
  ASSERT_EQ(Start(e->task), kTfLiteOk);
  std::array<TfLiteStatus, 4> results{};
  std::vector<std::thread> threads;
  threads.reserve(results.size());
  for (TfLiteStatus& result : results) {
    threads.emplace_back([&] { result = Wait(e->task); });
  }
  AsyncDelegateRelease(&script_);
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(results, testing::Each(kTfLiteCancelled));
  EXPECT_EQ(TfLiteExecutionTaskGetStatus(e->task), kTfLiteCancelled);
  EXPECT_EQ(Wait(e->task), kTfLiteCancelled);
  EXPECT_EQ(Finish(e->task), kTfLiteOk);
}

TEST_F(AsyncThreads, several_threads_run_tasks) {
  Build();
  std::vector<std::unique_ptr<Execution>> executions;
  for (int i = 0; i < 4; ++i) executions.push_back(NewExecution());
  std::vector<std::thread> threads;
  threads.reserve(executions.size());
  std::array<int, 4> failures{};
  for (size_t i = 0; i < executions.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int run = 0; run < 50; ++run) {
        // A second start fails; its report is made by several threads.
        const bool ok = Start(executions[i]->task) == kTfLiteOk &&
                        Start(executions[i]->task) == kTfLiteError &&
                        Wait(executions[i]->task) == kTfLiteOk;
        failures[i] += ok ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(failures, ElementsAre(0, 0, 0, 0));
  for (const auto& e : executions) {
    EXPECT_THAT(e->sum, ElementsAre(11, 22, 33));
    EXPECT_EQ(Finish(e->task), kTfLiteOk);
  }
}

}  // namespace
}  // namespace deputy::async_threads_test
