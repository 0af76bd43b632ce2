// SPDX-License-Identifier: Apache-2.0
//
// Tests asynchronous runs of models with delegates in processes of their own: several interpreters,
// processes that end or hang during runs, cancellation, and deletion with runs in flight.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "c_api/include/c_api_experimental.h"
#include "c_api/include/deputy.h"
#include "tests/support/add_mul_add.h"
#include "tests/support/isolated_plugin.h"
#include "tests/support/plugin_support.h"
#include "tests/support/run_case.h"
#include "tests/support/test_interpreter.h"

namespace deputy::sandbox_async_test {
namespace {

using run_case::TestRun;
using Floats = std::vector<float>;

size_t OpenFds() {
  const auto files = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(files), end(files)));
}

// An interpreter of AddMulAdd, which multiplies its input by 8; the process computes the nodes ADD.
struct Isolated {
  explicit Isolated(const std::string& options, const Options& settings = {}, bool is_hot = true)
      : delegate(AddMulAdd(3), Library("faulty"), options, settings) {
    t.emplace(AddMulAdd(3), [&](TfLiteInterpreterOptions* created) {
      if (is_hot) UseHot(created);
      TfLiteInterpreterOptionsEnableCancellation(created, true);
    });
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t->get(), delegate.get()), kTfLiteOk)
        << t->log();
    EXPECT_EQ(t->Allocate(), kTfLiteOk) << t->log();
    EXPECT_GT(DeputyInterpreterGetPartitionCount(t->get(), 0), 0) << t->log();
  }

  const IsolatedPlugin delegate;
  std::optional<TestInterpreter> t;
};

Floats Input(int i) { return {static_cast<float>(i), 2}; }
Floats Output(int i) { return {8 * static_cast<float>(i), 16}; }

using Runs = std::vector<std::unique_ptr<TestRun>>;

// Starts runs with different inputs.
Runs StartRuns(TestInterpreter* t, int count) {
  Runs runs;
  for (int i = 0; i < count; ++i) {
    runs.push_back(
        std::make_unique<TestRun>(std::vector<Floats>{Input(i)}, std::vector<size_t>{2}));
    EXPECT_EQ(runs.back()->Start(t->get()), kTfLiteOk) << DeputyLastError();
  }
  return runs;
}

class SandboxAsync : public QuietTest {
 protected:
  void TearDown() override {
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
    QuietTest::TearDown();
  }
};

// Each interpreter has a process of its own, and three slots.
TEST_F(SandboxAsync, several_interpreters_have_runs_in_flight) {
  std::vector<std::unique_ptr<Isolated>> interpreters;
  std::vector<Runs> runs;
  for (int i = 0; i < 3; ++i) interpreters.push_back(std::make_unique<Isolated>(""));
  for (const auto& one : interpreters) runs.push_back(StartRuns(&*one->t, 6));
  for (const Runs& some : runs) {
    for (int i = 0; i < 6; ++i) {
      EXPECT_EQ(some[static_cast<size_t>(i)]->Wait(), kTfLiteOk);
      EXPECT_EQ(some[static_cast<size_t>(i)]->outputs[0], Output(i));
    }
  }
  for (const auto& one : interpreters) {
    EXPECT_EQ(RecomputedNodes(*one->t), 0) << one->t->log();
  }
}

// Under Hot the CPU computes the runs for which there is no process.
TEST_F(SandboxAsync, runs_survive_the_end_of_the_process) {
  for (const char* fault : {"kill", "segv", "_exit"}) {
    SCOPED_TRACE(fault);
    Isolated s("in=invoke;call=3;fault=" + std::string(fault), {{"max_deaths", "100"}});
    for (int round = 0; round < 3; ++round) {
      const Runs runs = StartRuns(&*s.t, 6);
      for (int i = 0; i < 6; ++i) {
        EXPECT_EQ(runs[static_cast<size_t>(i)]->Wait(), kTfLiteOk) << s.t->log();
        EXPECT_EQ(runs[static_cast<size_t>(i)]->outputs[0], Output(i));
      }
    }
    EXPECT_GT(RecomputedNodes(*s.t), 0);
    EXPECT_NE(s.t->log().find("the process ended"), std::string::npos) << s.t->log();
  }
}

TEST_F(SandboxAsync, runs_survive_a_process_that_hangs) {
  Isolated s("in=invoke;call=2;fault=hang", {{"invoke_ms", "200"}, {"max_deaths", "1"}});
  const Runs runs = StartRuns(&*s.t, 4);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(runs[static_cast<size_t>(i)]->Wait(), kTfLiteOk) << s.t->log();
    EXPECT_EQ(runs[static_cast<size_t>(i)]->outputs[0], Output(i));
  }
  EXPECT_GT(RecomputedNodes(*s.t), 0);
  EXPECT_NE(s.t->log().find("did not reply within 200 ms"), std::string::npos) << s.t->log();
}

// Under the policy TfLite a run fails with a text, or has the right results.
TEST_F(SandboxAsync, runs_without_a_process_fail) {
  Isolated s("in=invoke;call=3;fault=kill", {{"max_deaths", "1"}}, false);
  const Runs runs = StartRuns(&*s.t, 5);
  int failures = 0;
  for (int i = 0; i < 5; ++i) {
    TestRun& run = *runs[static_cast<size_t>(i)];
    if (run.Wait() == kTfLiteOk) {
      EXPECT_EQ(run.outputs[0], Output(i));
      continue;
    }
    ++failures;
    EXPECT_EQ(run.outputs[0], (Floats{-1, -1}));
    EXPECT_STRNE(DeputyRunGetError(run.run), "");
  }
  EXPECT_EQ(failures, 4) << "the second run is the one with the third call";
}

// The first run is in the process, which hangs; the process is killed after cancel_ms.
TEST_F(SandboxAsync, runs_are_cancelled) {
  Isolated s("in=invoke;call=1;fault=hang", {{"invoke_ms", "60000"}, {"cancel_ms", "50"}});
  const Runs runs = StartRuns(&*s.t, 4);
  EXPECT_EQ(runs[2]->Cancel(), kTfLiteOk);
  EXPECT_EQ(runs[2]->Wait(), kTfLiteCancelled);
  EXPECT_EQ(runs[0]->Cancel(), kTfLiteOk);
  EXPECT_EQ(runs[0]->Wait(), kTfLiteCancelled);
  for (const size_t i : {size_t{1}, size_t{3}}) {
    (void)runs[i]->Cancel();  // fails if the run has ended on the CPU
    const TfLiteStatus status = runs[i]->Wait();
    if (status == kTfLiteOk) {
      EXPECT_EQ(runs[i]->outputs[0], Output(static_cast<int>(i)));
    } else {
      EXPECT_EQ(status, kTfLiteCancelled);
    }
  }
}

TEST_F(SandboxAsync, deletion_with_runs_in_flight_leaves_nothing) {
  size_t fds = 0;
  for (int round = 0; round < 4; ++round) {
    for (const char* options : {"", "in=invoke;call=2;fault=kill", "in=invoke;call=1;fault=hang"}) {
      Isolated s(options, {{"invoke_ms", "60000"}, {"cancel_ms", "20"}});
      const Runs runs = StartRuns(&*s.t, 4);
      s.t.reset();
      for (int i = 0; i < 4; ++i) {
        TestRun& run = *runs[static_cast<size_t>(i)];
        EXPECT_EQ(run.done_calls, 1);
        if (run.done_status == kTfLiteOk) {
          EXPECT_EQ(run.outputs[0], Output(i));
        } else {
          EXPECT_EQ(run.done_status, kTfLiteCancelled);
        }
      }
    }
    if (round == 0) fds = OpenFds();
  }
  EXPECT_EQ(OpenFds(), fds);
}

}  // namespace
}  // namespace deputy::sandbox_async_test
