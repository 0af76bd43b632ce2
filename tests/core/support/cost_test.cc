// SPDX-License-Identifier: Apache-2.0
//
// Compares estimated times and the CPU's rates with literals.
#include "core/support/cost.h"

#include <gtest/gtest.h>

namespace deputy::cost_test {
namespace {

constexpr Rates kRates = {.macs = 10, .steps = 2, .bytes = 4, .launch_ns = 100};

TEST(TimeNs, the_slower_of_arithmetic_and_memory_counts) {
  EXPECT_EQ(TimeNs(kRates, {}), 0);
  EXPECT_EQ(TimeNs(kRates, {.macs = 1000, .steps = 20, .bytes = 400, .operations = 1}), 210);
  EXPECT_EQ(TimeNs(kRates, {.macs = 1000, .steps = 20, .bytes = 800, .operations = 2}), 400);
  Rates bytes = kRates;
  bytes.bytewise = 4;
  EXPECT_EQ(TimeNs(bytes, {.macs = 1000, .operations = 1, .bytewise = true}), 125);
  EXPECT_EQ(TimeNs(bytes, {.macs = 1000, .operations = 1}), 200);
}

TEST(CpuRates, grow_with_threads_and_vectors) {
  const Rates four = CpuRates(4, 16);
  EXPECT_EQ(four.macs, 192);
  EXPECT_EQ(four.steps, 64);
  EXPECT_EQ(four.bytes, 64);
  EXPECT_EQ(four.launch_ns, 500);
  EXPECT_EQ(four.bytewise, 4);
  // Thread counts below one are treated as one; a vector of unknown size is assumed to have 8
  // floats.
  for (const int threads : {-1, 0, 1}) EXPECT_EQ(CpuRates(threads, 0).macs, 24) << threads;
}

}  // namespace
}  // namespace deputy::cost_test
