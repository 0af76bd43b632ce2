// SPDX-License-Identifier: Apache-2.0
//
// Tests the division of processors into fast and slow ones, with directories that have the files of
// Linux for machines with several types of processors.
#include "core/base/processors.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "core/base/thread_pool.h"
#include "core/exec/interpreter_threads.h"

namespace deputy::processors_test {
namespace {

constexpr char kCortexA53[] = "0x00000000410fd034\n", kCortexA55[] = "0x00000000411fd050\n",
               kCortexA72[] = "0x00000000410fd083\n", kCortexA76[] = "0x00000000413fd0b1\n",
               kKryoSilver[] = "0x0000000051df805e\n";

cpu_set_t SetOf(const std::vector<int>& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int n : processors) CPU_SET(static_cast<size_t>(n), &set);
  return set;
}

std::vector<int> NumbersOf(const cpu_set_t& set) {
  std::vector<int> numbers;
  for (int n = 0; n < CPU_SETSIZE; ++n) {
    if (CPU_ISSET(static_cast<size_t>(n), &set)) numbers.push_back(n);
  }
  return numbers;
}

std::vector<int> Own() {
  cpu_set_t own;
  return sched_getaffinity(0, sizeof own, &own) == 0 ? NumbersOf(own) : std::vector<int>();
}

class Processors : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "processorsXXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
    Write("possible", "0-1023\n");
  }
  void TearDown() override {
    OverrideMachine("");
    std::filesystem::remove_all(root_);
  }

  void Write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = root_ / "sys/devices/system/cpu" / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void WriteOf(int processor, const std::string& name, const std::string& text) {
    Write("cpu" + std::to_string(processor) + "/" + name, text);
  }
  void WriteCapacity(int processor, int capacity) {
    WriteOf(processor, "cpu_capacity", std::to_string(capacity) + "\n");
  }
  void WriteCache(int processor, const char* size, const char* shared, const char* level = "2\n") {
    WriteOf(processor, "cache/index2/level", level);
    WriteOf(processor, "cache/index2/size", size);
    WriteOf(processor, "cache/index2/shared_cpu_list", shared);
  }
  std::vector<int> FastOf(const std::vector<int>& allowed) {
    OverrideMachine(root_.c_str());
    const UsableProcessors divided = DivideProcessors(SetOf(allowed));
    const std::vector<int> fast = NumbersOf(divided.fast);
    EXPECT_EQ(divided.fast_count, static_cast<int>(fast.size()));
    EXPECT_EQ(divided.fast_count + divided.slow_count, static_cast<int>(allowed.size()));
    return fast;
  }
  // Makes all processors of this machine but the first of this thread's affinity slow.
  void SlowDownAllButOne() {
    for (const int n : Own()) WriteCapacity(n, n == Own()[0] ? 1024 : 512);
    OverrideMachine(root_.c_str());
  }

  std::filesystem::path root_;
};

TEST_F(Processors, with_half_of_the_greatest_capacity_or_less_are_slow) {
  const int capacities[] = {250, 250, 512, 513, 870, 1024};
  for (int n = 0; n < 6; ++n) WriteCapacity(n, capacities[n]);
  EXPECT_EQ(FastOf({0, 1, 2, 3, 4, 5}), (std::vector<int>{3, 4, 5}));
}

TEST_F(Processors, outside_the_affinity_do_not_count) {
  const int capacities[] = {250, 250, 500, 1024};
  for (int n = 0; n < 4; ++n) WriteCapacity(n, capacities[n]);
  EXPECT_EQ(FastOf({0, 1}), (std::vector<int>{0, 1}));
  EXPECT_EQ(FastOf({1, 2}), (std::vector<int>{2}));
  EXPECT_EQ(FastOf({3}), (std::vector<int>{3}));
}

TEST_F(Processors, with_in_order_execution_are_slow_if_others_have_none) {
  const char* const types[] = {kCortexA53, kCortexA72, kCortexA55, kCortexA76, kKryoSilver};
  for (int n = 0; n < 5; ++n) WriteOf(n, "regs/identification/midr_el1", types[n]);
  EXPECT_EQ(FastOf({0, 1, 2, 3, 4}), (std::vector<int>{1, 3}));
  EXPECT_EQ(FastOf({0, 2, 4}), (std::vector<int>{0, 2, 4}));
  // Equal capacities, which Linux reports if the devicetree has none, do not matter.
  for (int n = 0; n < 5; ++n) WriteCapacity(n, 1024);
  EXPECT_EQ(FastOf({0, 1, 2, 3, 4}), (std::vector<int>{1, 3}));
  // Processors of one type with several clock rates.
  for (int n = 0; n < 5; n += 2) WriteCapacity(n, n == 4 ? 1024 : 500);
  EXPECT_EQ(FastOf({0, 2, 4}), std::vector<int>{4});
}

TEST_F(Processors, are_all_fast_if_nothing_is_reported) {
  EXPECT_EQ(FastOf({0, 1, 2}), (std::vector<int>{0, 1, 2}));
  WriteOf(0, "cpu_capacity", "many\n");
  WriteOf(1, "cpu_capacity", "-5\n");
  WriteOf(2, "regs/identification/midr_el1", "\n");
  EXPECT_EQ(FastOf({0, 1, 2}), (std::vector<int>{0, 1, 2}));
  Write("possible", "7-1,x");
  EXPECT_EQ(FastOf({0, 1, 2}), (std::vector<int>{0, 1, 2}));
}

TEST_F(Processors, beyond_the_possible_ones_are_not_read) {
  Write("possible", "0-1,3\n");
  for (int n = 0; n < 3; ++n) WriteCapacity(n, n == 1 ? 1024 : 100);
  EXPECT_EQ(FastOf({0, 1, 2, 3}), (std::vector<int>{1, 2, 3}));
}

// Each processor of the affinity has a cache; then two of them share one, and finally only one of
// the two is fast.
TEST_F(Processors, in_the_affinity_determine_the_cache) {
  const std::vector<int> own = Own();
  for (const int n : own) {
    WriteOf(n, "regs/identification/midr_el1", kCortexA76);
    WriteCache(n, "768K\n", ("100-102," + std::to_string(n) + "\n").c_str());
  }
  OverrideMachine(root_.c_str());
  EXPECT_EQ(SecondLevelCacheBytes(), size_t{768} << 10);
  if (own.size() < 2) GTEST_SKIP() << "one processor";
  const std::string both = std::to_string(own[0]) + "," + std::to_string(own[1]) + "\n";
  for (const int n : {own[0], own[1]}) WriteCache(n, "1M\n", both.c_str());
  EXPECT_EQ(SecondLevelCacheBytes(), size_t{512} << 10);
  SlowDownAllButOne();
  EXPECT_EQ(SecondLevelCacheBytes(), size_t{1} << 20);
}

TEST_F(Processors, without_a_cache_of_level_2_have_the_size_of_the_system) {
  OverrideMachine(root_.c_str());
  const size_t size_of_system = SecondLevelCacheBytes();
  // Equal capacities are also reported by x86-64.
  for (const int n : Own()) {
    WriteCapacity(n, 1024);
    WriteCache(n, "768K\n", "0-1023\n");
  }
  OverrideMachine(root_.c_str());
  EXPECT_EQ(SecondLevelCacheBytes(), size_of_system);
  for (const int n : Own()) {
    WriteOf(n, "regs/identification/midr_el1", kCortexA76);
    WriteCache(n, "768K\n", "0-1023\n", "3\n");
  }
  OverrideMachine(root_.c_str());
  EXPECT_EQ(SecondLevelCacheBytes(), size_of_system);
  for (const int n : Own()) WriteCache(n, "nothing\n", "0-1023\n");
  EXPECT_EQ(SecondLevelCacheBytes(), size_of_system);
}

TEST_F(Processors, if_slow_get_no_threads_of_an_interpreter) {
  if (Own().size() < 2) GTEST_SKIP() << "one processor";
  InterpreterThreads all(nullptr), fast(nullptr);
  all.SetCount(2);
  EXPECT_EQ(all.pool(true).threads(), 2);
  SlowDownAllButOne();
  fast.SetCount(2);
  EXPECT_EQ(fast.pool(true).threads(), 1);
}

TEST_F(Processors, if_slow_are_avoided_if_the_others_suffice) {
  const std::vector<int> own = Own();
  if (own.size() < 2) GTEST_SKIP() << "one processor";
  SlowDownAllButOne();
  std::vector<int> for_two, for_one;
  std::thread([&] {
    AvoidSlowProcessors(2);
    for_two = Own();
    AvoidSlowProcessors(1);
    for_one = Own();
  }).join();
  EXPECT_EQ(for_two, own);
  EXPECT_EQ(for_one, std::vector<int>{own[0]});
}

// Returns the processors that the workers of a pool may use.
std::vector<int> ProcessorsOfWorkers(int threads) {
  ThreadPool pool(threads);
  std::vector<std::vector<int>> processors(static_cast<size_t>(threads));
  const auto end = ThreadPool::SteadyClock() + std::chrono::seconds(20);
  do {
    pool.ParallelFor(64 * threads, [&](int, int worker) {
      processors[static_cast<size_t>(worker)] = Own();
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    });
  } while (processors[1].empty() && ThreadPool::SteadyClock() < end);
  return processors[1];
}

TEST_F(Processors, if_slow_run_no_workers_if_the_others_suffice) {
  const std::vector<int> own = Own();
  if (own.size() < 2) GTEST_SKIP() << "one processor";
  SlowDownAllButOne();
  EXPECT_EQ(ProcessorsOfWorkers(2), own);
  if (own.size() < 3) GTEST_SKIP() << "two processors";
  WriteCapacity(own[1], 1024);
  OverrideMachine(root_.c_str());
  EXPECT_EQ(ProcessorsOfWorkers(2), (std::vector<int>{own[0], own[1]}));
}

}  // namespace
}  // namespace deputy::processors_test
