// SPDX-License-Identifier: Apache-2.0
//
// Ends processes of the sandbox many times: no process, descriptor, mapping or memory is left.
// DEPUTY_ALL_ROWS=1 ends 10000.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "c_api/include/c_api.h"
#include "c_api/include/deputy.h"
#include "tests/support/emulator.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::sandbox_deaths_test {
namespace {

// y = x + x
std::vector<uint8_t> Model() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {2}, "y");
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

size_t OpenFds() {
  const auto files = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(files), end(files)));
}

// Returns the anonymous resident memory in KiB.
int64_t AnonymousMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return std::atoll(line.c_str() + 8);
  }
  return -1;
}

int SharedMappings() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) {
    count += line.find("memfd:deputy") != std::string::npos ? 1 : 0;
  }
  return count;
}

// Runs an inference in which the process dies. With `restarts`, the delegate is destroyed while a
// new process may be starting.
void Die(const std::string& model, const char* fault, bool restarts) {
  const Handle delegate(CreateExternal(BuildPath("libdeputy_sandbox.so"),
                                       {{"library", Library("faulty")},
                                        {"model", model},
                                        {"options", std::string("in=invoke;fault=") + fault},
                                        {"max_deaths", restarts ? "2" : "1"}}),
                        &DeputyPluginDeleteDelegate);
  TestInterpreter t(Model(), [](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
  });
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk)
      << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<float>(0, {1, 2});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Get<float>(0), (std::vector<float>{2, 4}));
  DeputyDelegationStatus status = {};
  status.struct_size = sizeof status;
  ASSERT_EQ(DeputyInterpreterGetDelegationStatus(t.get(), &status), kTfLiteOk);
  EXPECT_GT(status.recomputed_nodes, 0u);
}

class SandboxDeaths : public QuietTest {};

TEST_F(SandboxDeaths, leave_nothing) {
  const int deaths = std::getenv("DEPUTY_ALL_ROWS") == nullptr ? 100 : 10000;
  const std::string model = ScratchFile("sandbox_deaths.tflite");
  WriteBytes(model, Model());
  const char* const faults[] = {"_exit", "segv", "kill", "abort"};
  size_t fds = 0;
  int64_t memory = 0;
  for (int i = 0; i < deaths && !HasFatalFailure(); ++i) {
    if (i == deaths / 5) {  // caches and pools of the program have their size
      fds = OpenFds();
      memory = AnonymousMemory();
    }
    Die(model, faults[i % 4], i % 8 == 7);
  }
  std::filesystem::remove(model);
  EXPECT_EQ(OpenFds(), fds);
  EXPECT_EQ(SharedMappings(), 0);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
#ifndef __SANITIZE_ADDRESS__  // it keeps freed memory
  if (!IsEmulated()) {
    EXPECT_LT(AnonymousMemory(), memory + 1024);
  }
#endif
  RecordProperty("anonymous_kib", std::to_string(AnonymousMemory() - memory));
}

}  // namespace
}  // namespace deputy::sandbox_deaths_test
