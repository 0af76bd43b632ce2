// SPDX-License-Identifier: Apache-2.0
//
// The pool's state is one 64-bit word: the job's number in the upper half, the range of unclaimed
// shares of tiles in the lower. A store publishes a job; a compare-and-swap claims a share. A
// successful claim proves that the job's fields are valid, since the job cannot end before the
// share is done. The caller claims from the front and workers from the back, so that each finds its
// own results in its cache when one operator reads the output of another. Idle workers sleep on a
// futex that is the upper half of this word, so a new job always changes the futex and no wake-up
// is lost.
//
// The caller never waits for a worker to start. If all workers are asleep, disabled, missing or
// starved, the caller computes every tile itself. A second concurrent caller does the same, and so
// does one in a forked child while another caller resets the pool.
#include "core/base/thread_pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <climits>
#include <cstdint>
#include <new>

#include "core/base/back_off.h"
#include "core/base/cpu_quota.h"
#include "core/base/float_mode.h"
#include "core/base/process_id.h"
#include "core/base/processors.h"
#include "core/base/tile_observer.h"

namespace deputy {
namespace {

static_assert(std::endian::native == std::endian::little, "the futex is the upper half of a word");
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// Alignment of groups of members: a cache line and its neighbour, which the hardware prefetches
// with it.
constexpr size_t kApart = 128;
// Upper limit on threads, whatever the caller requests.
constexpr int kMaxThreads = 1024;
// Number of pauses in which the caller's wait is not measured: 0.2 to 1 microseconds.
constexpr int kUnmeasuredPauses = 20;
// Number of pauses before a waiting caller yields its processor: 20 to 100 microseconds.
constexpr int kPausesBeforeYield = 2000;

// Maximum number of shares of a job: a range [first, last) of shares is stored in 16 bits per end.
constexpr uint32_t kMaxShares = 0xffff;
constexpr uint64_t kOneFromFront = uint64_t{1} << 16, kOneFromBack = 1;
constexpr uint32_t FirstShare(uint64_t word) { return static_cast<uint32_t>(word) >> 16; }
constexpr uint32_t LastShare(uint64_t word) { return static_cast<uint32_t>(word) & 0xffff; }
constexpr bool AnyShare(uint64_t word) { return FirstShare(word) != LastShare(word); }
constexpr uint32_t JobNumber(uint64_t word) { return static_cast<uint32_t>(word >> 32); }
// Returns the word of the next job: without shares, or with all but the first one, which the caller
// runs.
constexpr uint64_t NextJob(uint64_t word, uint32_t shares) {
  const uint64_t range = shares == 0 ? 0 : kOneFromFront | shares;
  return (static_cast<uint64_t>(JobNumber(word) + 1) << 32) | range;
}

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// Bit masks to wake sleeping workers: one bit per worker, the last one for all further workers.
constexpr int kLastBit = 31;
constexpr uint32_t BitOf(int worker) { return 1u << std::min(worker - 1, kLastBit); }
constexpr uint32_t BitsUpTo(int worker) { return worker > kLastBit ? ~0u : (1u << worker) - 1; }

int AvailableProcessors() {
  const UsableProcessors processors = ProcessorsOfThisThread();
  return std::min(processors.fast_count + processors.slow_count, QuotaOfProcessors(""));
}

// Migrates the calling thread off `processor` by narrowing its affinity and restoring it. Not
// atomic: a concurrent change of its affinity is overwritten.
void MigrateOff(int processor) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  cpu_set_t others = allowed;
  CPU_CLR(processor, &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return;
  sched_setaffinity(0, sizeof allowed, &allowed);
}

}  // namespace

struct ThreadPool::State {
  struct Worker {
    State* state;
    int number;  // number of the worker, 1 and up; the caller has number 0
    pthread_t thread;
  };

  State(int thread_count, std::chrono::microseconds spin_time, Clock steady_clock)
      : threads(thread_count),
        clock(steady_clock),
        spin(spin_time),
        owner(ProcessId()),
        back_off(thread_count - 1),
        helpers(thread_count - 1) {}

  bool EnterProcess();
  void Start();
  void Stop();
  bool Claim(int worker, uint32_t* out_share);
  int WorkThrough(int worker);
  void RunShare(uint32_t share, int worker) const;
  bool PollForWork() const;
  bool SpinForWork() const;
  void Sleep(int number);
  void MigrateOffCaller() const;
  void WorkerLoop(int number);
  bool IsEnabled(int number) const { return number <= helpers.load(std::memory_order_relaxed); }
  bool EnableHelpers();
  void RunShared(int job_tiles, Task job_task, void* job_argument);
  bool FinishSoon(uint32_t all) const;
  void WaitForWorkers(uint32_t all);
  long Futex(int operation, uint32_t value, uint32_t bits);

  // Members are grouped into cache lines by writer and frequency: between distant cores, a transfer
  // of a modified line takes as long as a hundred additions.

  // Members that are constant after Start(), except that a forked child resets them.
  const int threads;
  const Clock clock;
  std::chrono::microseconds spin;
  bool started = false;
  int worker_count = 0;
  std::unique_ptr<Worker[]> workers;

  // Members of callers. `owner` is the process of the threads in `workers`; kOwnerChanging while a
  // forked child cleans up.
  static constexpr pid_t kOwnerChanging = -1;
  alignas(kApart) std::atomic<pid_t> owner;
  // True while a caller shares its job. That caller holds it; it guards the job, `back_off` and the
  // start of the workers.
  std::atomic<bool> busy{false};
  BackOff back_off;

  // The job, next to the word that publishes it. Workers read it only after a successful claim.
  alignas(kApart) std::atomic<uint64_t> word{0};
  Task task = nullptr;
  void* argument = nullptr;
  int tiles = 0, tiles_per_share = 1;
  FloatMode float_mode = 0;

  // Number of shares that workers have finished, over all jobs; wraps around.
  alignas(kApart) std::atomic<uint32_t> finished{0};

  // Members that change when workers fall asleep, are woken, disabled or stopped.
  alignas(kApart) std::atomic<int> sleepers{0};
  // Processor of the caller when it woke workers.
  std::atomic<int> caller_processor{-1};
  // Number of workers that may help; workers with a greater number are disabled. Set before the
  // word changes.
  std::atomic<int> helpers;
  std::atomic<bool> stopping{false};
};

long ThreadPool::State::Futex(int operation, uint32_t value, uint32_t bits) {
  uint32_t* upper_half = reinterpret_cast<uint32_t*>(&word) + 1;
  return syscall(SYS_futex, upper_half, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr,
                 bits);
}

// Returns true if the threads of this pool, if any, belong to this process. After fork() the child
// has the memory of a pool without its threads: the first caller there resets the pool and discards
// the current job. Handles of threads that do not exist in the child are dropped, never joined.
bool ThreadPool::State::EnterProcess() {
  const pid_t self = ProcessId();
  pid_t known = owner.load(std::memory_order_acquire);
  if (known == self) return true;
  if (known == kOwnerChanging ||
      !owner.compare_exchange_strong(known, kOwnerChanging, std::memory_order_acq_rel)) {
    return false;
  }
  started = false;
  worker_count = 0;
  workers.reset();
  word.store(0, std::memory_order_relaxed);
  sleepers.store(0, std::memory_order_relaxed);
  back_off.Reset();
  helpers.store(threads - 1, std::memory_order_relaxed);
  busy.store(false, std::memory_order_relaxed);
  owner.store(self, std::memory_order_release);
  return true;
}

// Starts as many workers as the system permits. Signals are blocked in workers.
void ThreadPool::State::Start() {
  started = true;
  if (threads == 1) return;
  // Spinning is disabled if there are more threads than processors: a spinning worker would block
  // one that has a tile.
  if (threads > AvailableProcessors()) spin = std::chrono::microseconds(0);
  workers.reset(new (std::nothrow) Worker[threads - 1]);
  if (workers == nullptr) return;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (int i = 0; i < threads - 1; ++i) {
    workers[i].state = this;
    workers[i].number = i + 1;
    auto body = [](void* worker) -> void* {
      const Worker* self = static_cast<Worker*>(worker);
      AvoidSlowProcessors(self->state->threads);
      self->state->WorkerLoop(self->number);
      return nullptr;
    };
    if (pthread_create(&workers[i].thread, nullptr, body, &workers[i]) != 0) break;
    ++worker_count;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void ThreadPool::State::Stop() {
  if (owner.load(std::memory_order_acquire) != ProcessId()) return;
  stopping.store(true, std::memory_order_seq_cst);
  word.store(NextJob(word.load(std::memory_order_relaxed), 0), std::memory_order_seq_cst);
  if (worker_count > 0) Futex(FUTEX_WAKE_BITSET, INT_MAX, ~0u);
  for (int i = 0; i < worker_count; ++i) pthread_join(workers[i].thread, nullptr);
}

// Claims an unclaimed share for a worker. The acquire load of the job word also publishes the
// helper count.
bool ThreadPool::State::Claim(int worker, uint32_t* out_share) {
  uint64_t now = word.load(std::memory_order_acquire);
  while (AnyShare(now) && IsEnabled(worker)) {
    const uint64_t then = worker == 0 ? now + kOneFromFront : now - kOneFromBack;
    if (word.compare_exchange_weak(now, then, std::memory_order_acquire,
                                   std::memory_order_acquire)) {
      *out_share = worker == 0 ? FirstShare(now) : LastShare(then);
      return true;
    }
  }
  return false;
}

// Runs shares until none is unclaimed or the worker is disabled; returns their number. All belong
// to one job, which cannot end before the shares claimed here are counted as finished.
int ThreadPool::State::WorkThrough(int worker) {
  int done = 0;
  for (uint32_t share; Claim(worker, &share); ++done) {
    if (worker != 0 && done == 0) SetFloatMode(float_mode);
    RunShare(share, worker);
  }
  return done;
}

void ThreadPool::State::RunShare(uint32_t share, int worker) const {
  const int64_t first = int64_t{share} * tiles_per_share;
  const int64_t last = std::min<int64_t>(tiles, first + tiles_per_share);
  for (int64_t tile = first; tile < last; ++tile) task(argument, static_cast<int>(tile), worker);
}

bool ThreadPool::State::PollForWork() const {
  for (int i = 0; i < 64; ++i) {
    if (AnyShare(word.load(std::memory_order_relaxed))) return true;
    Pause();
  }
  return false;
}

bool ThreadPool::State::SpinForWork() const {
  if (PollForWork()) return true;
  const auto end = std::chrono::steady_clock::now() + spin;
  do {
    if (PollForWork()) return true;
  } while (!stopping.load(std::memory_order_relaxed) && std::chrono::steady_clock::now() < end);
  return false;
}

// Increments `sleepers`, checks for work again, then sleeps unless the job number has changed.
// RunShared does the reverse (publish, then read `sleepers`), so one of them observes the other.
// `stopping` is read after the word: Stop() sets it before it changes the number, so either it is
// read here or the futex detects the new number.
void ThreadPool::State::Sleep(int number) {
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  const uint64_t now = word.load(std::memory_order_seq_cst);
  const bool idle = !AnyShare(now) || !IsEnabled(number);
  if (idle && !stopping.load(std::memory_order_seq_cst)) {
    Futex(FUTEX_WAIT_BITSET, JobNumber(now), BitOf(number));
  }
  sleepers.fetch_sub(1, std::memory_order_relaxed);
}

// Migrates a worker that woke up on its caller's processor. The system may do that although another
// processor is idle: a virtual machine with two processors did so after a pause, and took up to 30
// ms to rebalance.
void ThreadPool::State::MigrateOffCaller() const {
  const int here = sched_getcpu();
  if (here >= 0 && here == caller_processor.load(std::memory_order_relaxed)) MigrateOff(here);
}

void ThreadPool::State::WorkerLoop(int number) {
  while (!stopping.load(std::memory_order_acquire)) {
    if (const int done = WorkThrough(number); done > 0) {
      finished.fetch_add(static_cast<uint32_t>(done), std::memory_order_release);
    }
    if (spin.count() > 0 && IsEnabled(number) && SpinForWork()) continue;
    Sleep(number);
    MigrateOffCaller();
  }
}

// Enables workers whose back-off has ended. Returns false if all workers are disabled. The caller
// must hold `busy`.
bool ThreadPool::State::EnableHelpers() {
  if (back_off.backing_off()) back_off.Resume(clock());
  const int allowed = back_off.allowed();
  if (helpers.load(std::memory_order_relaxed) != allowed) {
    helpers.store(allowed, std::memory_order_relaxed);
  }
  return allowed > 0;
}

// Publishes a job, computes shares of it and waits for the workers' shares. The caller must hold
// `busy`.
void ThreadPool::State::RunShared(int job_tiles, Task job_task, void* job_argument) {
  task = job_task;
  argument = job_argument;
  tiles = job_tiles;
  tiles_per_share = (job_tiles - 1) / static_cast<int>(kMaxShares) + 1;
  const auto shares = static_cast<uint32_t>((job_tiles - 1) / tiles_per_share + 1);
  float_mode = GetFloatMode();
  const uint32_t finished_before = finished.load(std::memory_order_relaxed);
  const std::chrono::nanoseconds began = clock();
  const uint64_t before = word.load(std::memory_order_relaxed);
  word.store(NextJob(before, shares), std::memory_order_seq_cst);
  if (const int asleep = sleepers.load(std::memory_order_seq_cst); asleep > 0) {
    caller_processor.store(sched_getcpu(), std::memory_order_relaxed);
    Futex(FUTEX_WAKE_BITSET, std::min(static_cast<uint32_t>(asleep), shares - 1),
          BitsUpTo(back_off.allowed()));
  }
  RunShare(0, 0);
  const int own = 1 + WorkThrough(0);
  const uint32_t of_workers = shares - static_cast<uint32_t>(own),
                 all = finished_before + of_workers;
  // Most jobs end without a delay and are not measured.
  if (FinishSoon(all) && !back_off.lost()) return;
  const std::chrono::nanoseconds out_of_shares = clock();
  WaitForWorkers(all);
  const std::chrono::nanoseconds ended = clock();
  back_off.JobEnded(ended, (out_of_shares - began) / own * of_workers - (ended - out_of_shares));
}

// Returns true if the workers have finished, or finish within the time that their last write takes
// to become visible.
bool ThreadPool::State::FinishSoon(uint32_t all) const {
  for (int pauses = 0; pauses < kUnmeasuredPauses; ++pauses) {
    if (finished.load(std::memory_order_acquire) == all) return true;
    Pause();
  }
  return false;
}

void ThreadPool::State::WaitForWorkers(uint32_t all) {
  for (int pauses = 0; finished.load(std::memory_order_acquire) != all;) {
    if (pauses < kPausesBeforeYield) {
      ++pauses;
      Pause();
    } else {
      sched_yield();
    }
  }
}

std::chrono::nanoseconds ThreadPool::SteadyClock() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

ThreadPool::ThreadPool(int threads, std::chrono::microseconds spin, Clock clock)
    : state_(std::make_unique<State>(std::clamp(threads, 1, kMaxThreads), spin, clock)) {}

ThreadPool::~ThreadPool() { state_->Stop(); }

int ThreadPool::threads() const { return state_->threads; }

void ThreadPool::Run(int tiles, Task task, void* argument, TileObserver* observer) noexcept {
  if (observer != nullptr) {
    TileTimes times(task, argument, threads());
    Run(tiles, &TileTimes::RunTile, &times);
    return times.NotifyObserver(observer);
  }
  State& state = *state_;
  if (tiles > 1 && state.threads > 1 && state.EnterProcess() &&
      !state.busy.exchange(true, std::memory_order_acquire)) {
    if (!state.started) state.Start();
    const bool shared = state.EnableHelpers();
    if (shared) state.RunShared(tiles, task, argument);
    state.busy.store(false, std::memory_order_release);
    if (shared) return;
  }
  for (int tile = 0; tile < tiles; ++tile) task(argument, tile, 0);
}

}  // namespace deputy
