// SPDX-License-Identifier: Apache-2.0
//
// Tests the quota of control groups, with directories that have the files of Linux, and with a
// group of this machine where the test may create one.
#include "core/base/cpu_quota.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <filesystem>
#include <fstream>
#include <string>

#include "c_api/include/deputy_process.h"
#include "core/base/processors.h"
#include "core/exec/interpreter_threads.h"

namespace deputy::cpu_quota_test {
namespace {

class Quota : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "quotaXXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override {
    OverrideMachine("");
    std::filesystem::remove_all(root_);
  }

  // Writes a file below the root, whose path is relative.
  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void WriteGroups(const std::string& text) { Write("proc/self/cgroup", text); }
  void WriteMax(const std::string& group, const std::string& text) {
    Write("sys/fs/cgroup" + group + "/cpu.max", text);
  }
  void WriteVersion1(const std::string& group, const std::string& quota,
                     const std::string& period) {
    Write("sys/fs/cgroup/cpu,cpuacct" + group + "/cpu.cfs_quota_us", quota);
    Write("sys/fs/cgroup/cpu,cpuacct" + group + "/cpu.cfs_period_us", period);
  }
  int Get() const { return QuotaOfProcessors(root_.c_str()); }

  std::filesystem::path root_;
};

TEST_F(Quota, is_absent_without_control_groups) {
  EXPECT_EQ(Get(), INT_MAX);
  WriteGroups("");
  EXPECT_EQ(Get(), INT_MAX);
  WriteGroups("0::/a\n");
  EXPECT_EQ(Get(), INT_MAX);
  WriteMax("/a", "max 100000\n");
  EXPECT_EQ(Get(), INT_MAX);
}

TEST_F(Quota, of_version_2_is_rounded_up) {
  WriteGroups("0::/a\n");
  const std::pair<const char*, int> cases[] = {{"200000 100000\n", 2},  {"150000 100000\n", 2},
                                               {"100001 100000\n", 2},  {"100000 100000\n", 1},
                                               {"1000 100000\n", 1},    {"50000 10000\n", 5},
                                               {"1600000 100000\n", 16}};
  for (const auto& [text, expected] : cases) {
    WriteMax("/a", text);
    EXPECT_EQ(Get(), expected) << text;
  }
}

TEST_F(Quota, is_the_smallest_of_the_group_and_its_ancestors) {
  WriteGroups("0::/a/b/c\n");
  WriteMax("/a/b/c", "400000 100000\n");
  EXPECT_EQ(Get(), 4);
  WriteMax("/a", "200000 100000\n");
  EXPECT_EQ(Get(), 2);
  WriteMax("/a/b", "300000 100000\n");
  EXPECT_EQ(Get(), 2);
  WriteMax("/other", "100000 100000\n");
  EXPECT_EQ(Get(), 2);
}

// In a container whose /proc shows the host's path, the group of the container is the mount.
TEST_F(Quota, of_the_mount_counts_if_the_group_is_not_below_it) {
  WriteGroups("0::/docker/1234\n");
  WriteMax("", "300000 100000\n");
  EXPECT_EQ(Get(), 3);
}

TEST_F(Quota, of_version_1_is_read) {
  WriteGroups("5:memory:/a\n4:cpu,cpuacct:/a/b\n0::/\n");
  WriteVersion1("/a/b", "-1\n", "100000\n");
  EXPECT_EQ(Get(), INT_MAX);
  WriteVersion1("/a/b", "250000\n", "100000\n");
  EXPECT_EQ(Get(), 3);
  WriteVersion1("/a", "100000\n", "50000\n");
  EXPECT_EQ(Get(), 2);
}

TEST_F(Quota, of_other_controllers_is_ignored) {
  WriteGroups("4:cpuset,cpuacct:/a\n");
  Write("sys/fs/cgroup/cpuset,cpuacct/a/cpu.cfs_quota_us", "100000\n");
  Write("sys/fs/cgroup/cpuset,cpuacct/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Get(), INT_MAX);
  WriteGroups("4:cpuacct,cpu:/a\n");
  Write("sys/fs/cgroup/cpuacct,cpu/a/cpu.cfs_quota_us", "100000\n");
  Write("sys/fs/cgroup/cpuacct,cpu/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Get(), 1);
}

TEST_F(Quota, ignores_damaged_files) {
  WriteGroups("0::/a\n");
  for (const char* text : {"", "\n", "many 100000\n", "200000\n", "200000 0\n", "-5 100000\n",
                           "0 100000\n", "200000 -1\n"}) {
    WriteMax("/a", text);
    EXPECT_EQ(Get(), INT_MAX) << text;
  }
  WriteMax("/a", "200000 100000\n");
  for (const std::string& text :
       {std::string("0\n"), std::string("0:\n"), std::string(":::\n"),
        "0::/" + std::string(2000, 'a') + "\n", std::string("0::../../a\n")}) {
    WriteGroups(text);
    EXPECT_EQ(Get(), INT_MAX) << text;
  }
}

TEST_F(Quota, limits_the_threads_of_an_interpreter) {
  InterpreterThreads threads(nullptr);
  OverrideMachine(root_.c_str());
  WriteGroups("0::/a\n");
  WriteMax("/a", "100000 100000\n");
  threads.SetCount(2);
  EXPECT_EQ(threads.pool(true).threads(), 1);
  EXPECT_EQ(DeputyGetProcessorCount(), 1);
  WriteMax("/a", "max 100000\n");
  EXPECT_EQ(DeputyGetProcessorCount(), ProcessorsOfThisThread().fast_count);
}

// Runs a child in a group of version 1 or 2 with half of a processor's time.
TEST(QuotaOfThisMachine, is_that_of_a_new_group) {
  const bool is_version_1 = std::filesystem::exists("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  const std::string group = std::string(is_version_1 ? "/sys/fs/cgroup/cpu" : "/sys/fs/cgroup") +
                            "/deputy-test-" + std::to_string(getpid());
  if (mkdir(group.c_str(), 0755) != 0) GTEST_SKIP() << "control groups cannot be created";
  bool is_set = false;
  {
    std::ofstream quota(group + (is_version_1 ? "/cpu.cfs_quota_us" : "/cpu.max"));
    quota << (is_version_1 ? "50000" : "50000 100000") << std::flush;
    is_set = quota.good();
  }
  int status = -1;
  if (is_set) {
    const pid_t child = fork();
    if (child == 0) {
      std::ofstream(group + "/cgroup.procs") << getpid() << std::flush;
      _exit(QuotaOfProcessors("") == 1 ? 0 : 1);
    }
    waitpid(child, &status, 0);
  }
  rmdir(group.c_str());
  if (!is_set) GTEST_SKIP() << "the group has no controller of processors";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace deputy::cpu_quota_test
