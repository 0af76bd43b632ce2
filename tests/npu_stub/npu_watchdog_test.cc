// SPDX-License-Identifier: Apache-2.0
//
// Tests the NPU stub with a device that ignores the time limit: the run is abandoned, the device is
// refused until the run has returned, and delegate and interpreters can be deleted meanwhile.
#include "npu_stub/watchdog.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "npu_stub/options.h"
#include "tests/npu_stub/npu_delegate_support.h"
#include "tests/npu_stub/npu_models.h"
#include "tests/support/paths.h"

namespace deputy::npu_watchdog_test {
namespace {

using testing::HasSubstr;
using testing::Not;

const char kLost[] =
    "the device is lost: a run has exceeded the time limit of 10 ms and not returned";

const NpuOptionTexts kHang = {{"faults", "hang"}, {"time_limit_ms", "10"}};

TestInterpreter::Configure Hot() {
  return [](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
  };
}

// Returns the number of device threads in the process.
int ThreadCount() {
  int count = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(thread.path() / "comm");
    std::string name;
    if (std::getline(file, name) && name == "npu_device") ++count;
  }
  return count;
}

// Polls until a condition holds. The limit only ends a test that would fail.
template <typename Condition>
bool WaitUntil(const Condition& condition) {
  for (int i = 0; i < 3000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

// Hanging runs return at the end of each test.
class NpuWatchdog : public testing::Test {
 protected:
  NpuWatchdog() : threads_(ThreadCount()) { NpuSetHangEnabled(1); }
  ~NpuWatchdog() override {
    NpuSetHangEnabled(0);
    EXPECT_TRUE(WaitUntil([this] { return ThreadCount() <= threads_; })) << "threads remain";
  }

  const int threads_;
};

void Ready(TestInterpreter* t, const NpuTestDelegate& npu) {
  ASSERT_EQ(Apply(t, npu), kTfLiteOk) << t->log();
  ASSERT_EQ(t->Allocate(), kTfLiteOk) << t->log();
  FillInputs(t);
}

void ExpectRuns(TestInterpreter* t, const std::vector<uint8_t>& model) {
  ASSERT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  EXPECT_EQ(Compare(OnCpu(model), Outputs(t)), "");
}

TEST_F(NpuWatchdog, a_hanging_run_fails_invoke_and_later_runs_are_refused) {
  const NpuTestDelegate npu(kHang);
  TestInterpreter t(ResizableModel()), u(ConvModel());
  Ready(&t, npu);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  EXPECT_THAT(t.log(), HasSubstr(std::string("NPU delegate: NpuGraph0: ") + kLost));
  const size_t length = t.log().size();
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_THAT(t.log().substr(length), HasSubstr(std::string("NpuGraph0: ") + kLost));
  EXPECT_EQ(ThreadCount(), threads_ + 1);  // the second run did not reach the device
  EXPECT_EQ(Apply(&u, npu), kTfLiteDelegateError);
  EXPECT_THAT(u.log(), HasSubstr(std::string("NPU delegate: ") + kLost));
  EXPECT_EQ(u.Allocate(), kTfLiteOk);
  FillInputs(&u);
  ExpectRuns(&u, ConvModel());
}

TEST_F(NpuWatchdog, prepare_is_refused_on_a_lost_device) {
  NpuOptionTexts options = kHang;
  options.emplace_back("resize", "refuse");
  const NpuTestDelegate npu(options);
  TestInterpreter t(ResizableModel());
  Ready(&t, npu);
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  ASSERT_EQ(t.Resize(0, {1, 5, 5, 2}), kTfLiteOk);
  const size_t length = t.log().size();
  EXPECT_EQ(t.Allocate(), kTfLiteError);
  EXPECT_THAT(t.log().substr(length), HasSubstr(kLost));
}

TEST_F(NpuWatchdog, hot_computes_on_the_cpu) {
  const NpuTestDelegate npu(kHang);
  const std::vector<uint8_t> model = MixedChain(5, {0, 2, 4});
  TestInterpreter t(model, Hot()), u(ConvModel(), Hot());
  Ready(&t, npu);
  ExpectRuns(&t, model);
  DeputyDelegationStatus status = {};
  status.struct_size = sizeof status;
  ASSERT_EQ(DeputyInterpreterGetDelegationStatus(t.get(), &status), kTfLiteOk);
  EXPECT_EQ(status.recomputed_nodes, 3);
  EXPECT_NE(status.degraded, 0);
  ExpectRuns(&t, model);
  EXPECT_EQ(Apply(&u, npu), kTfLiteDelegateError);
  ASSERT_EQ(u.Allocate(), kTfLiteOk);
  FillInputs(&u);
  ExpectRuns(&u, ConvModel());
}

TEST_F(NpuWatchdog, interpreters_and_delegate_are_deleted_while_a_run_hangs) {
  {
    const NpuTestDelegate npu(kHang);
    TestInterpreter t(MixedChain(5, {0, 2, 4})), u(ConvModel());
    Ready(&t, npu);
    Ready(&u, npu);
    EXPECT_EQ(t.Invoke(), kTfLiteError);
    EXPECT_EQ(u.Invoke(), kTfLiteError);
  }
  EXPECT_EQ(ThreadCount(), threads_ + 1);  // the destructor waits for its end
}

TEST_F(NpuWatchdog, a_device_comes_back_when_its_run_returns) {
  const NpuTestDelegate npu(kHang);
  TestInterpreter t(ConvModel());
  {
    TestInterpreter u(MixedChain(5, {0, 2, 4}));
    Ready(&t, npu);
    Ready(&u, npu);
    EXPECT_EQ(t.Invoke(), kTfLiteError);
    EXPECT_EQ(npu.counters().models, 0u);  // a lost device is not queried
  }
  NpuSetHangEnabled(0);
  EXPECT_TRUE(WaitUntil([&npu] { return npu.counters().models > 0; }));
  EXPECT_EQ(npu.counters().models, 1u);  // the models of `u` have been unloaded
  EXPECT_EQ(npu.counters().clients, 1u);
  ExpectRuns(&t, ConvModel());
  EXPECT_EQ(npu.counters().runs, 2u);
}

TEST_F(NpuWatchdog, a_new_delegate_has_a_new_device) {
  const NpuTestDelegate lost(kHang), npu;
  TestInterpreter t(ConvModel()), u(ConvModel());
  Ready(&t, lost);
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  Ready(&u, npu);
  ExpectRuns(&u, ConvModel());
}

// The device enforces the limit itself, so that its own message is reported and it is not lost.
TEST_F(NpuWatchdog, a_device_that_keeps_the_limit_is_not_lost) {
  const NpuTestDelegate npu(NpuOptionTexts{{"faults", "slow"}, {"time_limit_ms", "10"}});
  TestInterpreter t(ConvModel());
  Ready(&t, npu);
  for (int run = 0; run < 2; ++run) {
    const size_t length = t.log().size();
    EXPECT_EQ(t.Invoke(), kTfLiteError);
    EXPECT_THAT(t.log().substr(length), Not(HasSubstr("lost")));
    EXPECT_THAT(t.log().substr(length), HasSubstr("NpuGraph0: the run exceeded the time limit"));
  }
}

TEST_F(NpuWatchdog, runs_reuse_a_thread_and_end_it_with_the_delegate) {
  for (const bool is_watched : {true, false}) {
    const std::vector<uint8_t> model = MixedChain(5, {0, 2, 4});
    const NpuTestDelegate npu(
        NpuOptionTexts{{"watchdog", is_watched ? "true" : "false"}, {"time_limit_ms", "60000"}});
    TestInterpreter t(model), u(ConvModel());
    Ready(&t, npu);
    Ready(&u, npu);
    for (int run = 0; run < 3; ++run) {
      ExpectRuns(&t, model);
      ExpectRuns(&u, ConvModel());
    }
    EXPECT_EQ(ThreadCount(), threads_ + (is_watched ? 1 : 0));
    EXPECT_EQ(npu.counters().runs, 12u);
  }
}

TEST_F(NpuWatchdog, is_automatic) {
  const struct {
    NpuOptionTexts options;
    bool expected;
  } kCases[] = {
      {{}, false},
      {{{"watchdog", "true"}}, true},
      {{{"time_limit_ms", "1000"}}, false},
      {{{"time_limit_ms", "999"}}, true},
      {{{"time_limit_ms", "999"}, {"watchdog", "false"}}, false},
      {{{"faults", "hang"}}, true},
      {{{"faults", "hang"}, {"watchdog", "false"}}, false},
      {{{"device_library", "libnpu.so"}}, true},
  };
  for (const auto& row : kCases) {
    NpuOptions options;
    NpuOptionsInit(&options);
    for (const auto& [key, value] : row.options) {
      const char *keys[] = {key.c_str()}, *values[] = {value.c_str()};
      char error[256] = "";
      ASSERT_TRUE(NpuParseOptions(keys, values, 1, &options, error, sizeof error)) << error;
    }
    EXPECT_EQ(NpuIsWatched(&options), row.expected) << &row - kCases;
  }
  setenv("DEPUTY_NPU_FAULTS", "hang", 1);
  NpuOptions options;
  NpuOptionsInit(&options);
  EXPECT_TRUE(NpuIsWatched(&options));
  unsetenv("DEPUTY_NPU_FAULTS");
}

// The library has its own built-in device, whose run never returns, so that its thread remains.
TEST(NpuWatchdogLibrary, stays_loaded_while_a_run_hangs) {
  const std::string path = BuildPath("libdeputy_npu_stub.so");
  DeputyPlugin* plugin = DeputyPluginLoad(path.c_str());
  ASSERT_NE(plugin, nullptr) << DeputyLastError();
  const char *keys[] = {"faults", "time_limit_ms"}, *values[] = {"hang", "10"};
  TfLiteDelegate* delegate = DeputyPluginCreateDelegate(plugin, keys, values, 2);
  ASSERT_NE(delegate, nullptr);
  {
    TestInterpreter t(ConvModel(), Hot());
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    FillInputs(&t);
    ExpectRuns(&t, ConvModel());
  }
  DeputyPluginDeleteDelegate(delegate);
  DeputyPluginRelease(plugin);
  EXPECT_NE(dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD), nullptr);
}

}  // namespace
}  // namespace deputy::npu_watchdog_test
