// SPDX-License-Identifier: Apache-2.0
//
// Tests which pages are resident in memory before the first inference, measured with mincore().
#include "core/base/pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
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

// A block without huge pages would otherwise have a page fault for each page.
TEST(MakeResident, is_done_for_expected_constants_that_one_thread_writes) {
  if (!SystemMakesPagesResident()) GTEST_SKIP() << "the system cannot do it";
  constexpr size_t kExpected = 800 << 10, kSmall = 1000;
  ThreadPool pool(1);
  PackedConstants constants;
  constants.Expect(kExpected);
  const char* const place = constants.FindOrMake({}, kSmall, Limits(), &pool, [](char*) {});
  ASSERT_NE(place, nullptr);
  const Pages expected = PagesOf(place, 256 << 10);
  EXPECT_EQ(expected.resident, expected.all);
}

// Returns the number of pages in the process's page table, as Linux reports them.
size_t MappedPages(const char* data, size_t pages) {
  std::FILE* const table = std::fopen("/proc/self/pagemap", "rb");
  std::vector<uint64_t> entries(pages);
  const auto first = static_cast<long>(reinterpret_cast<uintptr_t>(data) / kPage * 8);
  const bool is_read = table != nullptr && std::fseek(table, first, SEEK_SET) == 0 &&
                       std::fread(entries.data(), 8, pages, table) == pages;
  if (table != nullptr) std::fclose(table);
  if (!is_read) return SIZE_MAX;
  return static_cast<size_t>(std::count_if(entries.begin(), entries.end(),
                                           [](uint64_t entry) { return entry >> 63 != 0; }));
}

// Returns true if the system supports MADV_POPULATE_READ and reports what it maps.
bool SystemMapsPages() {
#ifdef MADV_POPULATE_READ
  const Mapping mapping(kPage);
  return madvise(mapping.data(), kPage, MADV_POPULATE_READ) == 0 && !IsEmulated() &&
         MappedPages(mapping.data(), 1) == 1;
#else
  return false;
#endif
}

TEST(MapPages, maps_each_page_of_a_part_of_a_file) {
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(ftruncate(fileno(file), static_cast<off_t>(64 * kPage)), 0);
  void* const map = mmap(nullptr, 128 * kPage, PROT_READ, MAP_SHARED, fileno(file), 0);
  ASSERT_NE(map, MAP_FAILED);
  const char* const data = static_cast<const char*>(map);
  if (SystemMapsPages()) {
    EXPECT_EQ(MappedPages(data, 64), 0u);
    // Linux maps up to 16 pages around a fault, so the last page begins a group of 16.
    const size_t last = 48 - reinterpret_cast<uintptr_t>(data) / kPage % 16;
    EXPECT_TRUE(MapPages(data + 2 * kPage - 1, (last - 2) * kPage + 2));
    EXPECT_EQ(MappedPages(data + kPage, last), last);
  }
  EXPECT_FALSE(MapPages(data + 63 * kPage, kPage + 1)) << "the last byte is after the file";
  munmap(map, 128 * kPage);
  std::fclose(file);
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
