// SPDX-License-Identifier: Apache-2.0
//
// Tests the guarantees of the thread pool: every tile runs exactly once, results are visible, the
// pool never waits for a thread that does not exist, no wake-up is lost at start or shutdown. Spin
// time 0 is the hard case, because every hand-off then uses the futex. The tests also run with
// ThreadSanitizer (`make tsan`).
#include "core/base/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <numeric>
#include <thread>
#include <vector>

#include "core/base/float_mode.h"
#include "core/base/tile_observer.h"
#include "tests/support/emulator.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define UNDER_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define UNDER_SANITIZER 1
#endif
#endif

namespace deputy::thread_pool_test {
namespace {

using std::chrono::microseconds;

// Runs one job and returns whether every tile ran exactly once on a worker index in range. The
// counters are plain ints, so that ThreadSanitizer checks the synchronisation of the pool.
bool RunsEveryTileOnce(ThreadPool& pool, int tiles) {
  std::vector<int> runs(tiles, 0);
  std::vector<int> worker_of(tiles, -1);
  pool.ParallelFor(tiles, [&](int tile, int worker) {
    ++runs[tile];
    worker_of[tile] = worker;
  });
  for (int tile = 0; tile < tiles; ++tile) {
    if (runs[tile] != 1 || worker_of[tile] < 0 || worker_of[tile] >= pool.threads()) return false;
  }
  return true;
}

// Returns the result of `check` in a forked child, as reported by the child's exit code.
template <typename Check>
bool HoldsInForkedChild(Check check) {
  const pid_t child = fork();
  if (child == 0) _exit(check() ? 0 : 1);
  int status = -1;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// The time of a clock that only advances when a test sets it.
std::atomic<int64_t> fake_nanoseconds{0};
std::atomic<int> fake_clock_reads{0};
std::chrono::nanoseconds FakeClock() {
  ++fake_clock_reads;
  return std::chrono::nanoseconds(fake_nanoseconds.load());
}
void MoveClock(std::chrono::nanoseconds by) { fake_nanoseconds += by.count(); }

// Returns true once the condition holds, false after a minute.
template <typename Condition>
bool Within60Seconds(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

void CreateUseAndDestroy(int threads, int times) {
  for (int i = 0; i < times; ++i) {
    ThreadPool pool(threads, microseconds(0));
    // The number of jobs varies, including none, so that at destruction workers do not exist, look
    // for work or sleep.
    for (int job = 0; job < i % 4; ++job) ASSERT_TRUE(RunsEveryTileOnce(pool, 2 + (i + job) % 7));
  }
}

TEST(ThreadPool, survives_many_life_cycles_with_2_threads) {
  CreateUseAndDestroy(2, IsEmulated() ? 2000 : 100000);
}
TEST(ThreadPool, survives_2000_life_cycles_with_1_thread) { CreateUseAndDestroy(1, 2000); }
TEST(ThreadPool, survives_2000_life_cycles_with_4_threads) { CreateUseAndDestroy(4, 2000); }
TEST(ThreadPool, survives_2000_life_cycles_with_17_threads) { CreateUseAndDestroy(17, 2000); }

TEST(ThreadPool, runs_every_tile_exactly_once_for_every_number_of_tiles) {
  for (const int threads : {1, 2, 3, 17}) {
    for (const int spin : {0, 50}) {
      ThreadPool pool(threads, microseconds(spin));
      for (int tiles = 0; tiles < 100; ++tiles) ASSERT_TRUE(RunsEveryTileOnce(pool, tiles));
      ASSERT_TRUE(RunsEveryTileOnce(pool, 20000));
    }
  }
}

TEST(ThreadPool, counts_the_caller_and_never_less_than_one) {
  EXPECT_EQ(ThreadPool(4).threads(), 4);
  EXPECT_EQ(ThreadPool(1).threads(), 1);
  EXPECT_EQ(ThreadPool(0).threads(), 1);
  EXPECT_EQ(ThreadPool(-1).threads(), 1);
}

TEST(ThreadPool, ignores_zero_and_negative_tile_counts) {
  ThreadPool pool(2);
  pool.ParallelFor(0, [](int, int) { FAIL(); });
  pool.ParallelFor(-5, [](int, int) { FAIL(); });
}

// One tile waits for the other, so the job ends only if a sleeping worker is woken for it. The
// clock does not advance: otherwise a late worker would be paused.
TEST(ThreadPool, wakes_sleeping_workers) {
  for (const int spin : {0, 100}) {
    ThreadPool pool(2, microseconds(spin), &FakeClock);
    for (int round = 0; round < 20; ++round) {
      std::atomic<int> arrived{0};
      std::atomic<bool> together{true};
      pool.ParallelFor(2, [&](int, int) {
        ++arrived;
        if (!Within60Seconds([&] { return arrived.load() == 2; })) together = false;
      });
      ASSERT_TRUE(together.load()) << "no worker came within a minute";
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
}

cpu_set_t Only(int processor) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  return one;
}

// A worker that is woken on its caller's processor migrates to another one that its affinity
// allows, and keeps its affinity. After each job the test moves the caller to the processor on
// which the worker last ran, and pauses for 1 or 200 milliseconds, so that the worker sleeps.
TEST(ThreadPool, workers_keep_their_affinity) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "one processor";
  for (const bool confined : {false, true}) {
    // Threads inherit the affinity of their creator.
    const cpu_set_t own = confined ? Only(sched_getcpu()) : all;
    ASSERT_EQ(sched_setaffinity(0, sizeof own, &own), 0);
    ThreadPool pool(2);
    std::atomic<int> wrong{0}, helped{0}, processor{sched_getcpu()};
    for (int round = 0; round < 12; ++round) {
      pool.ParallelFor(256, [&](int, int worker) {
        const auto end = ThreadPool::SteadyClock() + microseconds(20);
        while (ThreadPool::SteadyClock() < end) {
        }
        if (worker == 0) return;
        ++helped;
        processor = sched_getcpu();
        cpu_set_t now;
        const bool same = sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &own) != 0;
        wrong += same ? 0 : 1;
      });
      const cpu_set_t there = Only(processor);
      ASSERT_EQ(sched_setaffinity(0, sizeof there, &there), 0);
      std::this_thread::sleep_for(std::chrono::milliseconds(round % 2 == 0 ? 1 : 200));
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_TRUE(confined || helped > 0);
    ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  }
}

// ---- A worker that is preempted during a tile ---------------------------------------------------

// Runs one tile per thread; each tile waits until all have begun, so every thread runs one. If
// `stall` is not zero, the tile of worker 1 then lasts until the caller's last tile has ended, and
// `stall` longer on the fake clock. Returns false if a wait lasts for more than 60 seconds.
bool RunOnAllThreads(ThreadPool& pool, std::chrono::nanoseconds stall) {
  std::atomic<int> begun{0};
  std::atomic<bool> arrived_in_time{true};
  const int reads_before = fake_clock_reads.load();
  pool.ParallelFor(pool.threads(), [&](int, int worker) {
    ++begun;
    if (!Within60Seconds([&] { return begun.load() == pool.threads(); })) arrived_in_time = false;
    if (worker != 1 || stall.count() == 0 || !arrived_in_time) return;
    // When these reads are counted, the pool has read the clock at the job's begin and at the
    // caller's last tile.
    if (!Within60Seconds([&] { return fake_clock_reads.load() >= reads_before + 2; }))
      arrived_in_time = false;
    MoveClock(stall);
  });
  return arrived_in_time;
}

int TilesOfWorkers(ThreadPool& pool, int tiles) {
  std::atomic<int> of_workers{0};
  pool.ParallelFor(tiles, [&](int, int worker) { of_workers += worker != 0; });
  return of_workers.load();
}

TEST(ThreadPool, pauses_workers_after_a_stall_and_retries) {
  for (const int spin : {0, 100}) {
    ThreadPool pool(2, microseconds(spin), &FakeClock);
    ASSERT_TRUE(RunOnAllThreads(pool, std::chrono::nanoseconds(0)));
    for (const int pause_ms : {10, 20, 40, 80}) {
      ASSERT_TRUE(RunOnAllThreads(pool, std::chrono::milliseconds(3)));
      for (int job = 0; job < 200; ++job) ASSERT_EQ(TilesOfWorkers(pool, 16), 0);
      MoveClock(std::chrono::milliseconds(pause_ms) - std::chrono::nanoseconds(1));
      for (int job = 0; job < 200; ++job) ASSERT_EQ(TilesOfWorkers(pool, 16), 0);
      MoveClock(std::chrono::nanoseconds(1));
      // The job only completes if the worker is woken again.
      ASSERT_TRUE(RunOnAllThreads(pool, std::chrono::nanoseconds(0)));
    }
  }
}

TEST(ThreadPool, continues_with_some_workers_after_a_stall) {
  for (const int spin : {0, 100}) {
    ThreadPool pool(5, microseconds(spin), &FakeClock);
    ASSERT_TRUE(RunOnAllThreads(pool, std::chrono::milliseconds(3)));
    for (int job = 0; job < 200; ++job) {
      std::atomic<bool> begun{false};
      std::atomic<int> highest{0};
      // A tile that waits for another one needs a second thread: a worker that is not paused.
      pool.ParallelFor(16, [&](int tile, int worker) {
        int known = highest.load();
        while (known < worker && !highest.compare_exchange_weak(known, worker)) {
        }
        if (tile == 1) begun = true;
        if (tile == 0) {
          EXPECT_TRUE(Within60Seconds([&] { return begun.load(); }));
        }
      });
      ASSERT_LE(highest.load(), 2);
    }
    MoveClock(std::chrono::milliseconds(10));
    ASSERT_TRUE(RunOnAllThreads(pool, std::chrono::nanoseconds(0)));
  }
}

TEST(ThreadPool, writes_are_visible_between_caller_and_tiles) {
  ThreadPool pool(4, microseconds(20));
  std::vector<int> values(1024, 1);
  for (int round = 0; round < 500; ++round) {
    for (int& value : values) value += round;
    pool.ParallelFor(16, [&](int tile, int) {
      for (int i = tile * 64; i < (tile + 1) * 64; ++i) values[i] = values[i] * 3 + tile;
    });
    for (int i = 0; i < 1024; ++i) values[i] = (values[i] - i / 64) / 3 - round;
    ASSERT_EQ(std::accumulate(values.begin(), values.end(), 0), 1024) << "round " << round;
  }
}

TEST(ThreadPool, serves_several_callers_at_once) {
  ThreadPool pool(3, microseconds(10));
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&, caller] {
      for (int i = 0; i < 2000; ++i) wrong += RunsEveryTileOnce(pool, 2 + (i + caller) % 9) ? 0 : 1;
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(ThreadPool, runs_a_nested_job_inside_its_tile) {
  ThreadPool pool(4, microseconds(20));
  std::atomic<int> inner_tiles{0};
  std::atomic<int> on_other_threads{0};
  for (int i = 0; i < 200; ++i) {
    pool.ParallelFor(8, [&](int, int) {
      const std::thread::id outer = std::this_thread::get_id();
      pool.ParallelFor(5, [&](int, int worker) {
        ++inner_tiles;
        on_other_threads += std::this_thread::get_id() != outer || worker != 0;
      });
    });
  }
  EXPECT_EQ(inner_tiles.load(), 200 * 8 * 5);
  EXPECT_EQ(on_other_threads.load(), 0);
}

TEST(ThreadPool, computes_in_the_floating_point_mode_of_the_caller) {
  if (kFloatFlushDenormals == 0) GTEST_SKIP() << "no flush mode on this machine";
  ThreadPool pool(4, microseconds(50));
  const volatile float tiny = 1e-30f;
  for (int round = 0; round < 400; ++round) {
    const bool flush = round % 2 == 1;
    std::vector<float> products(64, -1.0f);
    auto multiply = [&](int tile, int) { products[tile] = tiny * 1e-10f; };
    if (flush) {
      ScopedFlushDenormals guard;
      pool.ParallelFor(64, multiply);
    } else {
      pool.ParallelFor(64, multiply);
    }
    for (const float product : products) ASSERT_EQ(product == 0.0f, flush) << "round " << round;
  }
}

TEST(ThreadPool, works_in_a_forked_child_and_in_the_parent) {
#ifdef UNDER_SANITIZER
  GTEST_SKIP() << "sanitizers forbid new threads after a fork with threads";
#else
  if (IsEmulated()) GTEST_SKIP() << "QEMU cannot start threads in a forked child of threads";
  ThreadPool pool(4, microseconds(0));
  for (int round = 0; round < 20; ++round) {
    ASSERT_TRUE(RunsEveryTileOnce(pool, 32));
    ASSERT_TRUE(HoldsInForkedChild([&] {
      for (int i = 0; i < 50; ++i) {
        if (!RunsEveryTileOnce(pool, 32)) return false;
      }
      return HoldsInForkedChild([&] { return RunsEveryTileOnce(pool, 32); });
    }));
  }
  // The child destroys the pool without having run a job: there is no thread to join.
  auto owned = std::make_unique<ThreadPool>(4, microseconds(0));
  ASSERT_TRUE(RunsEveryTileOnce(*owned, 32));
  ASSERT_TRUE(HoldsInForkedChild([&] {
    owned.reset();
    return true;
  }));
#endif
}

TEST(ThreadPool, works_in_a_child_forked_while_a_job_was_running) {
#ifdef UNDER_SANITIZER
  GTEST_SKIP() << "sanitizers forbid new threads after a fork with threads";
#else
  if (IsEmulated()) GTEST_SKIP() << "QEMU cannot start threads in a forked child of threads";
  ThreadPool pool(3, microseconds(20));
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) pool.ParallelFor(64, [](int, int) { std::this_thread::yield(); });
  });
  for (int round = 0; round < 50; ++round) {
    // The child must not allocate from the heap: another thread may have held malloc's lock during
    // the fork.
    EXPECT_TRUE(HoldsInForkedChild([&] {
      std::atomic<int> runs[32] = {};
      pool.ParallelFor(32, [&](int tile, int) { ++runs[tile]; });
      for (const auto& run : runs) {
        if (run != 1) return false;
      }
      return true;
    }));
  }
  stop = true;
  busy.join();
#endif
}

TEST(ThreadPool, reports_the_tiles_of_each_worker_to_an_observer) {
  struct TileLog final : TileObserver {
    void TilesDone(std::span<const TileWork> work) override {
      ++jobs;
      told = std::this_thread::get_id();
      parts.assign(work.begin(), work.end());
    }
    int jobs = 0;
    std::thread::id told;
    std::vector<TileWork> parts;
  } notes;
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads, microseconds(0));
    for (const int tiles : {1, 2, 100}) {
      std::vector<int> worker_of(tiles, -1);
      notes.jobs = 0;
      pool.ParallelFor(
          tiles, [&](int tile, int worker) { worker_of[tile] = worker; }, &notes);
      EXPECT_EQ(notes.jobs, 1);
      EXPECT_EQ(notes.told, std::this_thread::get_id());
      int sum = 0, last = -1;
      for (const TileWork& part : notes.parts) {
        EXPECT_EQ(part.tiles, std::count(worker_of.begin(), worker_of.end(), part.worker));
        EXPECT_GT(part.worker, last);
        EXPECT_LE(part.begin_ns, part.end_ns);
        last = part.worker;
        sum += part.tiles;
      }
      EXPECT_EQ(sum, tiles);
    }
  }
}

TEST(ThreadPool, uses_the_threads_that_start) {
#ifdef UNDER_SANITIZER
  GTEST_SKIP() << "sanitizers need an unlimited address space";
#else
  EXPECT_TRUE(HoldsInForkedChild([] {
    long pages = 0;
    if (FILE* file = fopen("/proc/self/statm", "r")) {
      if (fscanf(file, "%ld", &pages) != 1) pages = 0;
      fclose(file);
    }
    // The limit is sufficient for the pool itself and for two thread stacks of 8 MiB, but not for
    // sixteen.
    const rlim_t bytes = static_cast<rlim_t>(pages) * sysconf(_SC_PAGESIZE) + (20u << 20);
    const rlimit limit = {bytes, bytes};
    if (setrlimit(RLIMIT_AS, &limit) != 0) return false;
    ThreadPool pool(17, microseconds(0));
    for (int i = 0; i < 100; ++i) {
      if (!RunsEveryTileOnce(pool, 40)) return false;
    }
    return true;
  }));
#endif
}

}  // namespace
}  // namespace deputy::thread_pool_test
