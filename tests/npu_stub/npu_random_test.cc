// SPDX-License-Identifier: Apache-2.0
//
// Runs 500 random graphs (npu_models_test has real models) with the NPU stub enabled, absent,
// failing to load, to compile and to run, and slow, and 20 of them with a crash: the result is the
// CPU's, or a status reports the failure. The delegate's nodes are counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tests/npu_stub/npu_delegate_support.h"
#include "tests/npu_stub/npu_models.h"

namespace deputy::npu_random_test {
namespace {

constexpr uint32_t kGraphs = 500;

TestInterpreter::Configure WithPolicy(DeputyDelegatePolicy policy) {
  return [policy](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetDelegatePolicy(options, policy);
  };
}

// Applies a delegate with the given faults and runs one inference. Returns "" or the problem; the
// number of nodes that the delegate inserted into the graph is added to `out_nodes`.
std::string RunWith(const std::string& faults, DeputyDelegatePolicy policy, uint32_t seed,
                    size_t* out_nodes) {
  const std::vector<uint8_t> model = RandomModel(seed);
  const NpuTestDelegate npu(NpuOptionTexts{{"faults", faults}, {"time_limit_ms", "1"}});
  TestInterpreter t(model, WithPolicy(policy));
  if (t.get() == nullptr) return "no interpreter: " + t.log();
  Apply(&t, npu);
  if (t.Allocate() != kTfLiteOk) return "allocate";
  *out_nodes += DelegateNodes(t).size();
  FillInputs(&t);
  if (t.Invoke() != kTfLiteOk) return "invoke";
  return Compare(OnCpu(model), Outputs(&t));
}

TEST(NpuRandom, graphs_agree_with_the_cpu) {
  size_t nodes = 0;
  for (uint32_t seed = 0; seed < kGraphs; ++seed) {
    ASSERT_EQ(RunWith("", kDeputyPolicyTfLite, seed, &nodes), "") << seed;
  }
  EXPECT_GT(nodes, kGraphs);  // on average more than one partition per graph
}

TEST(NpuRandom, absent_device_or_failing_load_falls_back_to_the_cpu) {
  for (const char* faults : {"absent", "load", "compile"}) {
    for (const auto policy : {kDeputyPolicyTfLite, kDeputyPolicyHot}) {
      size_t nodes = 0;
      for (uint32_t seed = 0; seed < kGraphs; ++seed) {
        ASSERT_EQ(RunWith(faults, policy, seed, &nodes), "") << faults << ", seed " << seed;
      }
      EXPECT_EQ(nodes, 0u) << faults;
    }
  }
}

TEST(NpuRandom, failing_runs_are_errors_or_recomputed) {
  for (const char* faults : {"run", "slow"}) {
    for (uint32_t seed = 0; seed < kGraphs; ++seed) {
      size_t nodes = 0;
      const std::string plain = RunWith(faults, kDeputyPolicyTfLite, seed, &nodes);
      EXPECT_EQ(plain, nodes > 0 ? "invoke" : "") << faults << ", seed " << seed;
      ASSERT_EQ(RunWith(faults, kDeputyPolicyHot, seed, &nodes), "") << faults << ", seed " << seed;
    }
  }
}

// A crash of the device ends only the child process that runs it.
TEST(NpuRandom, crashes_are_contained_in_a_child_process) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      size_t nodes = 0;
      const std::string text = RunWith("crash", kDeputyPolicyHot, seed, &nodes);
      _exit(nodes == 0 && text.empty() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) << seed;
  }
}

}  // namespace
}  // namespace deputy::npu_random_test
