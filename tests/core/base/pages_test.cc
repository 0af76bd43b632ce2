// SPDX-License-Identifier: Apache-2.0
//
// Tests which pages are resident in memory before the first inference, measured with mincore().
#include "core/base/pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/arena.h"
#include "core/base/packed_constants.h"
#include "core/base/scratch_arena.h"
#include "core/base/thread_pool.h"
#include "tests/support/emulator.h"

namespace deputy::pages_test {
namespace {

const size_t kPage = static_cast<size_t>(sysconf(_SC_PAGESIZE));

// A mapping of new pages, none of which is resident.
class Mapping {
 public:
  explicit Mapping(size_t bytes)
      : bytes_(bytes),
        data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~Mapping() { munmap(data_, bytes_); }
  char* data() const { return static_cast<char*>(data_); }

 private:
  size_t bytes_;
  void* data_;
};

// The number of pages that lie completely in these bytes, and how many of them are resident.
struct Pages {
  size_t all = 0;
  size_t resident = 0;
};

Pages PagesOf(const char* data, size_t bytes) {
  const size_t before = (kPage - reinterpret_cast<uintptr_t>(data) % kPage) % kPage;
  if (bytes < before) return {};
  Pages pages{.all = (bytes - before) / kPage};
  std::vector<unsigned char> states(pages.all);
  EXPECT_EQ(mincore(const_cast<char*>(data) + before, pages.all * kPage, states.data()), 0);
  pages.resident = static_cast<size_t>(
      std::count_if(states.begin(), states.end(), [](unsigned char state) { return state & 1; }));
  return pages;
}

// Returns true if the system supports MADV_POPULATE_WRITE, as Linux does since 5.14.
bool SystemMakesPagesResident() {
#ifdef MADV_POPULATE_WRITE
  const Mapping mapping(kPage);
  return madvise(mapping.data(), kPage, MADV_POPULATE_WRITE) == 0 && !IsEmulated();
#else
  return false;
#endif
}

TEST(MakeResident, affects_whole_pages_only_and_keeps_their_contents) {
  if (!SystemMakesPagesResident()) GTEST_SKIP() << "the system cannot do it";
  const Mapping mapping(16 * kPage);
  mapping.data()[5 * kPage] = 7;
  MakeResident(mapping.data() + 1, 9 * kPage, nullptr);
  EXPECT_EQ(PagesOf(mapping.data(), kPage).resident, 0u);
  EXPECT_EQ(PagesOf(mapping.data() + kPage, 8 * kPage).resident, 8u);
  EXPECT_EQ(PagesOf(mapping.data() + 9 * kPage, 7 * kPage).resident, 0u);
  EXPECT_EQ(mapping.data()[5 * kPage], 7);
}

// The range is larger than one thread's share. One page before it and one page after it must not
// become resident.
TEST(MakeResident, is_done_by_all_threads_of_a_pool) {
  if (!SystemMakesPagesResident()) GTEST_SKIP() << "the system cannot do it";
  constexpr size_t kBytes = 9 << 20;
  for (int threads = 1; threads <= 4; ++threads) {
    const Mapping mapping(kBytes);
    ThreadPool pool(threads);
    MakeResident(mapping.data() + kPage, kBytes - 2 * kPage, &pool);
    const Pages inside = PagesOf(mapping.data() + kPage, kBytes - 2 * kPage);
    EXPECT_EQ(inside.resident, inside.all) << threads << " threads";
    EXPECT_EQ(PagesOf(mapping.data(), kPage).resident, 0u);
    EXPECT_EQ(PagesOf(mapping.data() + kBytes - kPage, kPage).resident, 0u);
  }
}

// Pages of expected constants are made resident in advance, so that threads that write neighbouring
// constants do not fault on the same page.
TEST(MakeResident, is_done_for_expected_constants_before_several_threads_write_them) {
  if (!SystemMakesPagesResident()) GTEST_SKIP() << "the system cannot do it";
  constexpr size_t kExpected = 12 << 20, kSmall = 1000;
  ThreadPool pool(2);
  PackedConstants constants;
  constants.Expect(kExpected);
  const char* const place = constants.FindOrMake({}, kSmall, Limits(), &pool, [](char*) {});
  ASSERT_NE(place, nullptr);
  const Pages expected = PagesOf(place, 8 << 20);
  EXPECT_EQ(expected.resident, expected.all);
  // The part after the first 8 MiB is made resident when it is needed.
  EXPECT_EQ(PagesOf(place + (10 << 20), 1 << 20).resident, 0u);
  char* const large = constants.Reserve(8 << 20, Limits(), &pool);
  EXPECT_EQ(large, place + 1024);
  const Pages all = PagesOf(place, kExpected);
  EXPECT_EQ(all.resident, all.all);
}

TEST(MakeResident, skips_blocks_smaller_than_a_page_or_large) {
  const Mapping mapping(kMaxResidentBytes + kPage);
  MakeResident(mapping.data(), kPage - 1, nullptr);
  MakeResident(mapping.data() + 1, kPage, nullptr);
  MakeResident(mapping.data(), 0, nullptr);
  MakeResidentForInference(mapping.data(), kMaxResidentBytes + kPage, nullptr);
  EXPECT_EQ(PagesOf(mapping.data(), kMaxResidentBytes + kPage).resident, 0u);
}

TEST(MakeResident, is_done_for_an_arena_up_to_its_idle_part) {
  if (!SystemMakesPagesResident()) GTEST_SKIP() << "the system cannot do it";
  constexpr size_t kBusy = 600'000, kIdle = 16 << 20;
  Arena arena;
  std::vector<Arena::Slot> slots(2);
  slots[0] = {.bytes = kIdle, .lifetime = {.first = 0, .last = 1}, .idle = true};
  slots[1] = {.bytes = kBusy, .lifetime = {.first = 0, .last = 1}};
  ASSERT_TRUE(arena.Plan(slots, Limits(), nullptr));
  const Pages busy = PagesOf(arena.Address(1), kBusy);
  EXPECT_GT(busy.all, 100u);
  EXPECT_EQ(busy.resident, busy.all);
  // Tensors in use may share the first page of the idle block.
  EXPECT_LE(PagesOf(arena.Address(0), kIdle).resident, 1u);
}

TEST(MakeResident, is_done_for_scratch_that_was_announced) {
  if (!SystemMakesPagesResident()) GTEST_SKIP() << "the system cannot do it";
  constexpr size_t kBytes = 900'000;
  const Limits limits;
  ScratchArena scratch;
  scratch.Announce(kBytes);
  ASSERT_TRUE(scratch.Grow(limits, nullptr));
  const Pages pages = PagesOf(scratch.Acquire(kBytes, limits), kBytes);
  scratch.Release();
  EXPECT_GT(pages.all, 200u);
  EXPECT_EQ(pages.resident, pages.all);
}

}  // namespace
}  // namespace deputy::pages_test
