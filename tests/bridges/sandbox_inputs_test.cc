// SPDX-License-Identifier: Apache-2.0
//
// Tests inputs of isolated partitions: they are in memory that the process can only read, and are
// copied if the client provides other memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "c_api/include/c_api_experimental.h"
#include "c_api/include/deputy.h"
#include "tests/support/add_mul_add.h"
#include "tests/support/isolated_plugin.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/run_case.h"
#include "tests/support/test_interpreter.h"

namespace deputy::sandbox_inputs_test {
namespace {

using Floats = std::vector<float>;

const Floats kInput = {1, 2};
const Floats kOutput = {8, 16};

// Returns true if the address is in a mapping of the shared inputs.
bool IsShared(const void* address) {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  std::istringstream maps(ReadText("/proc/self/maps"));
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) != 2) continue;
    if (wanted >= begin && wanted < end) return line.find("deputy-inputs") != std::string::npos;
  }
  return false;
}

// An interpreter of AddMulAdd under the policy Hot; the process computes the nodes ADD.
struct Isolated {
  explicit Isolated(const std::string& options, const Options& settings = {},
                    const std::string& library = "faulty")
      : delegate(AddMulAdd(3), Library(library), options, settings) {
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk)
        << t.log();
    EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_GT(DeputyInterpreterGetPartitionCount(t.get(), 0), 0) << t.log();
  }
  Floats Run() {
    EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    return t.Get<float>(0);
  }

  const IsolatedPlugin delegate;
  TestInterpreter t{AddMulAdd(3), &UseHot};
};

class SandboxInputs : public QuietTest {};

TEST_F(SandboxInputs, are_in_shared_memory) {
  Isolated s("");
  EXPECT_TRUE(IsShared(TfLiteTensorData(s.t.Tensor(0))));
  s.t.Set<float>(0, kInput);
  EXPECT_EQ(s.Run(), kOutput);
  EXPECT_EQ(RecomputedNodes(s.t), 0) << s.t.log();
}

TEST_F(SandboxInputs, with_dynamic_sizes_are_copied) {
  Isolated s("dynamic=1", {{"dynamic", "true"}}, "varying");
  EXPECT_FALSE(IsShared(TfLiteTensorData(s.t.Tensor(0))));
  s.t.Set<float>(0, kInput);
  EXPECT_EQ(s.Run(), kOutput);
  EXPECT_EQ(RecomputedNodes(s.t), 0) << s.t.log();
}

// The delegate ends its process with status 9 if it can write.
TEST_F(SandboxInputs, the_process_cannot_write_them) {
  for (const char* fault : {"map_inputs", "reopen_inputs", "resize_inputs"}) {
    SCOPED_TRACE(fault);
    Isolated s("in=invoke;fault=" + std::string(fault));
    s.t.Set<float>(0, kInput);
    EXPECT_EQ(s.Run(), kOutput);
    EXPECT_EQ(RecomputedNodes(s.t), 0) << s.t.log();
  }
  Isolated s("in=invoke;fault=write_inputs");
  s.t.Set<float>(0, kInput);
  EXPECT_EQ(s.Run(), kOutput);
  EXPECT_EQ(s.t.Get<float>(0), kOutput);
  EXPECT_NE(RecomputedNodes(s.t), 0);
  EXPECT_NE(s.t.log().find("signal 11"), std::string::npos) << s.t.log();
}

TEST_F(SandboxInputs, stay_shared_with_a_new_process) {
  Isolated s("in=invoke;call=2;fault=abort", {{"max_deaths", "100"}});
  s.t.Set<float>(0, kInput);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(s.Run(), kOutput);
    EXPECT_TRUE(IsShared(TfLiteTensorData(s.t.Tensor(0))));
  }
}

// The copy does not overwrite the shared inputs, to which the client may still have a pointer.
TEST_F(SandboxInputs, memory_of_the_client_is_copied) {
  Isolated s("");
  auto* const shared = static_cast<float*>(TfLiteTensorData(s.t.Tensor(0)));
  ASSERT_TRUE(IsShared(shared));
  shared[0] = 70, shared[1] = 71;
  alignas(64) float own[2] = {1, 2};
  const TfLiteCustomAllocation allocation = {own, sizeof own};
  ASSERT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(
                s.t.get(), TfLiteInterpreterInputTensorIndices(s.t.get())[0], &allocation, 0),
            kTfLiteOk);
  EXPECT_EQ(s.Run(), kOutput);
  EXPECT_EQ(RecomputedNodes(s.t), 0) << s.t.log();
  EXPECT_EQ(shared[0], 70);
  EXPECT_EQ(shared[1], 71);
  own[0] = 10;
  EXPECT_EQ(s.Run(), (Floats{80, 16}));
}

TEST_F(SandboxInputs, asynchronous_runs_and_calls_alternate) {
  Isolated s("");
  for (int i = 0; i < 5; ++i) {
    const auto base = static_cast<float>(i);
    run_case::TestRun first({{base, 1}}, {2}), second({{base, 2}}, {2}), third({{base, 3}}, {2});
    for (auto* const run : {&first, &second, &third}) {
      ASSERT_EQ(run->Start(s.t.get()), kTfLiteOk) << DeputyLastError();
    }
    for (auto* const run : {&first, &second, &third}) EXPECT_EQ(run->Wait(), kTfLiteOk);
    EXPECT_EQ(first.outputs[0], (Floats{8 * base, 8}));
    EXPECT_EQ(second.outputs[0], (Floats{8 * base, 16}));
    EXPECT_EQ(third.outputs[0], (Floats{8 * base, 24}));
    s.t.Set<float>(0, kInput);
    EXPECT_EQ(s.Run(), kOutput);
  }
  EXPECT_EQ(RecomputedNodes(s.t), 0) << s.t.log();
}

}  // namespace
}  // namespace deputy::sandbox_inputs_test
