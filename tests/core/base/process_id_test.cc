// SPDX-License-Identifier: Apache-2.0
//
// Tests that the recorded process id is that of the running process, also in forked children and
// their children.
#include "core/base/process_id.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace deputy::process_id_test {
namespace {

// Checks the recorded process id in a forked child, and recursively in its child, `depth` levels
// deep.
bool HoldsInChildren(int depth) {
  const pid_t first = ProcessId();
  if (first != getpid() || first != ProcessId()) return false;
  if (depth == 0) return true;
  const pid_t child = fork();
  if (child == 0) _exit(HoldsInChildren(depth - 1) ? 0 : 1);
  int status = -1;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0 &&
         ProcessId() == getpid();
}

TEST(ProcessId, equals_getpid) { EXPECT_EQ(ProcessId(), getpid()); }

TEST(ProcessId, changes_in_a_forked_child) {
  for (int round = 0; round < 10; ++round) ASSERT_TRUE(HoldsInChildren(3));
}

}  // namespace
}  // namespace deputy::process_id_test
