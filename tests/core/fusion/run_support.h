// SPDX-License-Identifier: Apache-2.0
//
// Shared code for tests that run random graphs with and without fusion.
#ifndef DEPUTY_TESTS_CORE_FUSION_RUN_SUPPORT_H_
#define DEPUTY_TESTS_CORE_FUSION_RUN_SUPPORT_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "c_api/include/deputy.h"
#include "tests/support/delegate_support.h"
#include "tests/support/scoped_environment.h"
#include "tests/support/test_interpreter.h"

namespace deputy {

// RAII guard: enables or disables fusion and views for interpreters that are created in its scope.
// Guards may nest.
class ScopedFusion {
 public:
  explicit ScopedFusion(bool enabled) : plan_("DEPUTY_PLAN", enabled ? nullptr : "off") {}

 private:
  const ScopedEnvironment plan_;
};

// Number of random graphs per test; DEPUTY_RANDOM_GRAPHS=N changes it.
inline uint32_t RandomGraphCount(uint32_t standard) {
  const char* const number = getenv("DEPUTY_RANDOM_GRAPHS");
  return number == nullptr ? standard : static_cast<uint32_t>(strtoul(number, nullptr, 10));
}

// Returns the bytes of each output.
inline std::vector<std::string> OutputBytes(TfLiteInterpreter* interpreter) {
  std::vector<std::string> outputs;
  for (int i = 0; i < TfLiteInterpreterGetOutputTensorCount(interpreter); ++i) {
    const TfLiteTensor* const output = TfLiteInterpreterGetOutputTensor(interpreter, i);
    outputs.emplace_back(static_cast<const char*>(TfLiteTensorData(output)),
                         TfLiteTensorByteSize(output));
  }
  return outputs;
}

// Returns the number of nodes that run with another node as the head of their group.
inline int FollowersOf(const TfLiteInterpreter* interpreter) {
  int followers = 0;
  for (int node = 0;; ++node) {
    DeputyNodeRun run{};
    run.struct_size = sizeof run;
    if (DeputyInterpreterGetNodeRun(interpreter, 0, node, &run) != kTfLiteOk) return followers;
    if (run.group_head >= 0 && run.group_head != node) ++followers;
  }
}

// Changes that are made before the second inference.
struct LateChanges {
  int custom = -1;            // index of a tensor that moves to client memory
  std::set<int> claims = {};  // nodes that a delegate claims
};

// Applies the changes; returns the number of tensors that have moved to `memory`.
inline int ApplyLateChanges(TestInterpreter* t, const LateChanges& changes, Scripted* delegate,
                            void* memory, size_t bytes) {
  if (!changes.claims.empty()) {
    EXPECT_EQ(Apply(t, delegate->get()), kTfLiteOk);
    EXPECT_EQ(t->Allocate(), kTfLiteOk) << t->log();
  }
  if (changes.custom < 0) return 0;
  const TfLiteCustomAllocation allocation = {memory, bytes};
  const TfLiteStatus status =
      TfLiteInterpreterSetCustomAllocationForTensor(t->get(), changes.custom, &allocation, 0);
  EXPECT_EQ(t->Allocate(), kTfLiteOk) << t->log();
  return status == kTfLiteOk ? 1 : 0;
}

}  // namespace deputy

#endif  // DEPUTY_TESTS_CORE_FUSION_RUN_SUPPORT_H_
