// SPDX-License-Identifier: Apache-2.0
//
// Tests the scratch memory that kernels share during one invoke.
#include <gtest/gtest.h>

#include <cstring>

#include "core/base/scratch_arena.h"
#include "core/kernel_api/scratch.h"

namespace deputy::scratch_test {
namespace {

bool IsAligned(const char* data) {
  return reinterpret_cast<uintptr_t>(data) % kTensorAlignment == 0;
}

TEST(ScratchArena, memory_is_reused_after_release) {
  const Limits limits;
  ScratchArena arena;
  char* const first = arena.Acquire(1000, limits);
  ASSERT_NE(first, nullptr);
  EXPECT_TRUE(IsAligned(first));
  arena.Release();
  EXPECT_EQ(arena.Acquire(900, limits), first);
  arena.Release();
  EXPECT_EQ(arena.bytes(), 1024u);
}

TEST(ScratchArena, live_blocks_do_not_overlap) {
  const Limits limits;
  ScratchArena arena;
  char* pieces[4];
  for (int i = 0; i < 4; ++i) {
    pieces[i] = arena.Acquire(100 + 100 * static_cast<size_t>(i), limits);
    ASSERT_TRUE(IsAligned(pieces[i]));
    std::memset(pieces[i], i, 100 + 100 * static_cast<size_t>(i));
  }
  for (int i = 3; i >= 0; --i) {
    for (int at : {0, 99 + 100 * i}) EXPECT_EQ(pieces[i][at], i);
    arena.Release();
  }
  // When the arena is used again, all pieces fit into one block.
  EXPECT_NE(arena.Acquire(1, limits), nullptr);
  arena.Release();
  EXPECT_EQ(arena.bytes(), 128u + 256u + 320u + 448u);
}

TEST(ScratchArena, reserves_announced_sizes_together) {
  const Limits limits;
  ScratchArena arena;
  arena.Announce(500);
  arena.Announce(100);
  EXPECT_EQ(arena.bytes(), 0u);
  EXPECT_TRUE(arena.Grow(limits, nullptr));
  EXPECT_EQ(arena.bytes(), 512u) << "as much as Acquire will take";
}

TEST(ScratchArena, respects_the_limits) {
  Limits limits;
  limits.max_block_bytes = 1000;
  ScratchArena arena;
  EXPECT_EQ(arena.Acquire(2000, limits), nullptr);
  EXPECT_EQ(arena.Acquire(SIZE_MAX, limits), nullptr);
  // A size that was refused must not affect later requests.
  EXPECT_NE(arena.Acquire(500, limits), nullptr);
  EXPECT_EQ(arena.Acquire(SIZE_MAX - 100, limits), nullptr);
  arena.Release();
}

// A delegate may call a builtin kernel with a context that is not the runtime's.
TEST(Scratch, allocates_its_own_memory_in_a_foreign_context) {
  TfLiteContext foreign{};
  Scratch scratch;
  ASSERT_TRUE(scratch.AcquireForWorkers(&foreign, 10, 3));
  EXPECT_TRUE(IsAligned(scratch.worker(2)));
  EXPECT_EQ(scratch.worker(2) - scratch.data(), 2 * static_cast<ptrdiff_t>(kTensorAlignment));
  std::memset(scratch.data(), 1, 3 * kTensorAlignment);
}

}  // namespace
}  // namespace deputy::scratch_test
