// SPDX-License-Identifier: Apache-2.0
//
// Tests blocks of memory and their limits: sizes beyond the limit are refused before an allocator
// is called.
#include "core/base/memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <utility>

#include "tests/support/emulator.h"

namespace deputy::memory_test {
namespace {

TEST(Sizes, multiplication_detects_overflow) {
  size_t out = 7;
  EXPECT_TRUE(MultiplySizes(size_t{1} << 32, (size_t{1} << 32) - 1, &out));
  EXPECT_EQ(out, 0xFFFFFFFF00000000u);
  out = 7;
  EXPECT_FALSE(MultiplySizes(size_t{1} << 32, size_t{1} << 32, &out));
  EXPECT_EQ(out, 7u) << "the output stays untouched";
  EXPECT_TRUE(MultiplySizes(0, SIZE_MAX, &out));
  EXPECT_EQ(out, 0u);
}

TEST(Sizes, addition_detects_overflow) {
  size_t out = 7;
  EXPECT_TRUE(AddSizes(SIZE_MAX - 1, 1, &out));
  EXPECT_EQ(out, SIZE_MAX);
  out = 7;
  EXPECT_FALSE(AddSizes(SIZE_MAX, 1, &out));
  EXPECT_EQ(out, 7u);
}

TEST(MemoryLimits, default_is_at_most_the_physical_memory) {
  const size_t physical =
      static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  EXPECT_LE(Limits().max_block_bytes, physical);
  EXPECT_GT(Limits().max_block_bytes, 0u);
}

// The soft limit is in force only while the default limits are read. It is far above the memory in
// use, except with a sanitizer, which reserves terabytes of address space.
TEST(MemoryLimits, follow_the_limit_on_address_space) {
  if (IsEmulated()) GTEST_SKIP() << "the emulator ignores the limit";
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit lower = before;
  lower.rlim_cur = size_t{512} << 20;
  if (setrlimit(RLIMIT_AS, &lower) != 0) GTEST_SKIP() << "RLIMIT_AS cannot be set here";
  const size_t limit = Limits().max_block_bytes;
  setrlimit(RLIMIT_AS, &before);
  EXPECT_LE(limit, size_t{512} << 20);
}

TEST(Sizes, in_large_pages_round_up_from_half_a_page) {
  constexpr size_t kPage = size_t{2} << 20;
  EXPECT_EQ(InLargePages(0), 0u);
  EXPECT_EQ(InLargePages(kPage / 2 - 1), kPage / 2 - 1);
  EXPECT_EQ(InLargePages(kPage / 2), kPage);
  EXPECT_EQ(InLargePages(3 * kPage), 3 * kPage);
  EXPECT_EQ(InLargePages(3 * kPage + 1), 3 * kPage + 1);
  EXPECT_EQ(InLargePages(4 * kPage - 1), 4 * kPage);
  EXPECT_EQ(InLargePages(SIZE_MAX), SIZE_MAX);
}

TEST(Block, is_aligned_and_keeps_contents_when_it_grows) {
  const Limits limits;
  Block block;
  EXPECT_EQ(block.data(), nullptr);
  ASSERT_TRUE(block.Reserve(10, 0, limits));
  EXPECT_EQ(block.size(), 10u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block.data()) % kTensorAlignment, 0u);
  std::memcpy(block.data(), "0123456789", 10);
  ASSERT_TRUE(block.Reserve(100000, 4, limits));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block.data()) % kTensorAlignment, 0u);
  EXPECT_EQ(std::memcmp(block.data(), "0123", 4), 0);
  std::memset(block.data(), 1, 100000);
}

TEST(Block, stays_where_it_is_when_large_enough) {
  const Limits limits;
  Block block;
  ASSERT_TRUE(block.Reserve(128, 0, limits));
  char* data = block.data();
  ASSERT_TRUE(block.Reserve(64, 0, limits));
  EXPECT_EQ(block.data(), data);
  EXPECT_EQ(block.size(), 128u);
}

TEST(Block, copies_only_the_old_size_when_it_grows) {
  const Limits limits;
  Block block;
  ASSERT_TRUE(block.Reserve(4, 0, limits));
  std::memcpy(block.data(), "abcd", 4);
  ASSERT_TRUE(block.Reserve(400, 300, limits));
  EXPECT_EQ(std::memcmp(block.data(), "abcd", 4), 0);
}

TEST(Block, refuses_sizes_beyond_the_limit_and_stays_usable) {
  Limits limits;
  limits.max_block_bytes = 1000;
  Block block;
  ASSERT_TRUE(block.Reserve(1000, 0, limits));
  std::memset(block.data(), 42, 1000);
  char* data = block.data();
  EXPECT_FALSE(block.Reserve(1001, 1000, limits));
  EXPECT_FALSE(block.Reserve(SIZE_MAX, 1000, limits));
  EXPECT_EQ(block.data(), data);
  EXPECT_EQ(block.size(), 1000u);
  EXPECT_EQ(block.data()[999], 42);
}

TEST(Block, refuses_sizes_that_cannot_be_rounded_up) {
  Limits limits;
  limits.max_block_bytes = SIZE_MAX;
  Block block;
  EXPECT_FALSE(block.Reserve(SIZE_MAX - 1, 0, limits));
  EXPECT_EQ(block.data(), nullptr);
}

TEST(Block, moves_and_frees) {
  const Limits limits;
  Block first;
  ASSERT_TRUE(first.Reserve(32, 0, limits));
  char* data = first.data();
  Block second(std::move(first));
  EXPECT_EQ(second.data(), data);
  Block third;
  ASSERT_TRUE(third.Reserve(8, 0, limits));
  third = std::move(second);
  EXPECT_EQ(third.data(), data);
  EXPECT_EQ(third.size(), 32u);
  third.Free();
  EXPECT_EQ(third.data(), nullptr);
  EXPECT_EQ(third.size(), 0u);
  third.Free();
}

}  // namespace
}  // namespace deputy::memory_test
