// SPDX-License-Identifier: Apache-2.0
#include "tools/ordered_work.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace deputy::tools {
namespace {

TEST(OrderedWork, uses_each_result_once_in_the_order_of_the_items) {
  for (const size_t workers : {1, 2, 3, 8}) {
    std::vector<int> calls(500);
    std::vector<size_t> used;
    std::vector<std::atomic<int>> by_worker(workers);
    OrderedWork<std::string> work(100, 500, workers);
    work.Execute(
        [&](size_t worker, size_t item) {
          ++by_worker[worker];
          if (item % 7 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
          ++calls[item];
          return std::to_string(item);
        },
        [&](size_t item, const std::string& result) {
          EXPECT_EQ(result, std::to_string(item));
          used.push_back(item);
        });
    std::vector<size_t> expected(400);
    std::iota(expected.begin(), expected.end(), size_t{100});
    EXPECT_EQ(used, expected);
    for (size_t item = 0; item < calls.size(); ++item) EXPECT_EQ(calls[item], item < 100 ? 0 : 1);
    int sum = 0;
    for (const auto& count : by_worker) sum += count;
    EXPECT_EQ(sum, 400);
  }
}

TEST(OrderedWork, runs_several_items_at_the_same_time) {
  std::atomic<int> running{0}, both{0};
  OrderedWork<int> work(0, 2, 2);
  work.Execute(
      [&](size_t, size_t item) {
        ++running;
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (running < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
        both += running == 2 ? 1 : 0;
        return static_cast<int>(item);
      },
      [](size_t, int) {});
  EXPECT_EQ(both, 2);
}

TEST(OrderedWork, does_nothing_without_items) {
  for (const size_t workers : {1, 4}) {
    OrderedWork<int> work(3, 3, workers);
    work.Execute([](size_t, size_t) { return ADD_FAILURE(), 0; },
                 [](size_t, int) { ADD_FAILURE(); });
  }
}

TEST(OrderedWork, throws_the_exception_of_an_item_after_the_results_before_it) {
  for (const size_t workers : {1, 2, 5}) {
    std::vector<size_t> used;
    OrderedWork<int> work(0, 1000, workers);
    const auto run = [](size_t, size_t item) -> int {
      if (item == 20 || item == 22) throw std::runtime_error(std::to_string(item));
      return 0;
    };
    try {
      work.Execute(run, [&](size_t item, int) { used.push_back(item); });
      ADD_FAILURE();
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "20");
    }
    EXPECT_EQ(used.size(), 20u);
  }
}

TEST(OrderedWork, stops_when_a_result_cannot_be_used) {
  std::atomic<int> calls{0};
  OrderedWork<int> work(0, 100000, 3);
  EXPECT_THROW(work.Execute([&](size_t, size_t) { return ++calls; },
                            [](size_t item, int) {
                              if (item == 10) throw std::runtime_error("disk full");
                            }),
               std::runtime_error);
  EXPECT_LT(calls, 1000);
}

TEST(OrderedWork, is_bounded_ahead_of_a_slow_item) {
  std::atomic<size_t> most{0};
  std::atomic<bool> may_end{false};
  OrderedWork<int> work(0, 1000, 2);
  std::thread release([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    may_end = true;
  });
  work.Execute(
      [&](size_t, size_t item) {
        while (item == 0 && !may_end) std::this_thread::yield();
        if (!may_end && item > most) most = item;
        return 0;
      },
      [](size_t, int) {});
  release.join();
  EXPECT_LT(most, 8u);
}

}  // namespace
}  // namespace deputy::tools
