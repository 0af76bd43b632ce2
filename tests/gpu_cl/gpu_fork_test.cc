// SPDX-License-Identifier: Apache-2.0
//
// Tests the delegate in child processes created by fork(). Threads of the OpenCL driver do not
// exist there, so no call may wait, and every call except those that free objects must return an
// error.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "c_api/include/deputy.h"
#include "gpu_cl/delegate.h"
#include "gpu_cl/device/process.h"
#include "gpu_cl/gpu_delegate.h"
#include "gpu_cl/handles.h"
#include "gpu_cl/host_memory.h"
#include "gpu_cl/options.h"
#include "tests/gpu_cl/gpu_delegate_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::gpu_cl::gpu_fork_test {
namespace {

constexpr char kError[] = "does not work in its forked child";
constexpr unsigned kTimeoutSeconds = 60;

// True if LeakSanitizer reports the driver's objects when a child exits; a child must not free
// them.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kReportsLeaks = true;
#else
constexpr bool kReportsLeaks = false;
#endif

// Runs `function` in a child process and returns its exit status, 0 if the function returned true.
// A child that hangs is killed by SIGALRM.
int InChild(const std::function<bool()>& function) {
  // A child that exits would write buffered output again.
  fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(kTimeoutSeconds);
    _exit(function() ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

bool Contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

const std::vector<float> kInput = {1, -3, 4, 2}, kOutput = {4, 0, 6, 5};

class GpuForkTest : public SpiedDeviceTest {
 protected:
  void SetUp() override {
    SpiedDeviceTest::SetUp();
    if (spy_ == nullptr) return;
    gpu_ = std::make_unique<TestDelegate>(spy_->api());
    ASSERT_NE(gpu_->get(), nullptr) << gpu_->error();
  }
  void TearDown() override {
    t_ = nullptr;
    gpu_ = nullptr;
    SpiedDeviceTest::TearDown();
  }

  // Creates an interpreter with the delegate and runs it.
  void Start(DeputyDelegatePolicy policy) {
    t_ = std::make_unique<TestInterpreter>(SmallModel(), [=](TfLiteInterpreterOptions* options) {
      DeputyInterpreterOptionsSetDelegatePolicy(options, policy);
    });
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t_->get(), gpu_->get()), kTfLiteOk);
    ASSERT_EQ(t_->Allocate(), kTfLiteOk) << t_->log();
    ASSERT_TRUE(Computes()) << t_->log();
    t_->ClearLog();
  }

  bool Computes() {
    t_->Set<float>(0, kInput);
    return t_->Invoke() == kTfLiteOk && t_->Get<float>(0) == kOutput;
  }

  std::unique_ptr<TestDelegate> gpu_;
  std::unique_ptr<TestInterpreter> t_;
};

TEST_F(GpuForkTest, invoke_is_an_error_under_the_policy_of_tflite) {
  Start(kDeputyPolicyTfLite);
  EXPECT_EQ(InChild([&] { return t_->Invoke() != kTfLiteOk && Contains(t_->log(), kError); }), 0);
  EXPECT_TRUE(Computes()) << "the parent goes on: " << t_->log();
}

TEST_F(GpuForkTest, the_cpu_computes_under_the_policy_hot) {
  Start(kDeputyPolicyHot);
  const auto computes_twice = [&] {
    return Computes() && Computes() && Contains(t_->log(), kError);
  };
  EXPECT_EQ(InChild(computes_twice), 0);
  EXPECT_TRUE(Computes()) << t_->log();
}

TEST_F(GpuForkTest, a_resized_graph_runs_on_the_cpu_under_the_policy_hot) {
  Start(kDeputyPolicyHot);
  EXPECT_EQ(InChild([&] {
              return t_->Resize(0, {2, 4}) == kTfLiteOk && t_->Allocate() == kTfLiteOk &&
                     t_->Invoke() == kTfLiteOk;
            }),
            0);
}

TEST_F(GpuForkTest, a_child_may_destroy_all_and_exit) {
  for (const auto policy : {kDeputyPolicyTfLite, kDeputyPolicyHot}) {
    Start(policy);
    EXPECT_EQ(InChild([&] {
                t_->Invoke();
                t_ = nullptr;
                gpu_ = nullptr;
                if (!kReportsLeaks) exit(0);  // runs the destructors of the driver
                return true;
              }),
              0);
  }
}

TEST_F(GpuForkTest, a_child_waits_for_no_lock_of_the_parent) {
  Start(kDeputyPolicyTfLite);
  GpuDelegate& gpu = Of(gpu_->get());
  const std::lock_guard lock(gpu.mutex);
  EXPECT_EQ(InChild([&] {
              const auto ignore = [](void*, int, const char*, const char*) {};
              const auto ignore_event = [](void*, const DeputyDeviceEvent*) {};
              const bool fails = DescribePartitions(gpu_->get(), ignore, nullptr) != kTfLiteOk &&
                                 TakeEvents(gpu_->get(), ignore_event, nullptr) != kTfLiteOk &&
                                 t_->Invoke() != kTfLiteOk && t_->Resize(0, {2, 4}) == kTfLiteOk &&
                                 t_->Allocate() != kTfLiteOk;
              t_ = nullptr;
              gpu_ = nullptr;
              return fails;
            }),
            0);
}

TEST_F(GpuForkTest, buffers_and_new_delegates_are_errors) {
  Start(kDeputyPolicyTfLite);
  EXPECT_EQ(InChild([&] {
              TfLiteTensor* tensor = t_->Tensor(0);
              int memory = 0;
              std::string error;
              return Contains(BindBuffer(gpu_->get(), tensor, reinterpret_cast<cl_mem>(&memory), 0),
                              kError) &&
                     Contains(UnbindBuffer(gpu_->get(), tensor), kError) &&
                     CreateDelegateOn(spy_->api(), Options(), &error) == nullptr &&
                     Contains(error, kError);
            }),
            0);
}

TEST_F(GpuForkTest, host_memory_is_an_error_and_stays_allocated) {
  std::string error;
  void* const memory = AllocateHostMemory(gpu_->get(), 64, &error);
  ASSERT_NE(memory, nullptr) << error;
  EXPECT_EQ(InChild([&] {
              return AllocateHostMemory(gpu_->get(), 64, &error) == nullptr &&
                     Contains(error, kError) && Contains(FreeHostMemory(memory), kError);
            }),
            0);
  EXPECT_EQ(FreeHostMemory(memory), "");
}

TEST_F(GpuForkTest, a_delegate_claims_nothing) {
  EXPECT_EQ(InChild([&] {
              TestInterpreter t(SmallModel());
              return TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu_->get()) != kTfLiteOk &&
                     Contains(t.log(), kError);
            }),
            0);
}

TEST(Process, is_recorded_by_the_first_call) {
  EXPECT_EQ(StartDrivers(), "");
  EXPECT_EQ(StartDrivers(), "");
  const ProcessMark mark;
  EXPECT_FALSE(mark.IsForked());
  EXPECT_EQ(mark.ForkError(), "");
  EXPECT_EQ(InChild([&] {
              const std::string found = mark.ForkError();
              return mark.IsForked() && Contains(found, kError) && StartDrivers() == found &&
                     !ProcessMark().IsForked();
            }),
            0);
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_fork_test
