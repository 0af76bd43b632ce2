// SPDX-License-Identifier: Apache-2.0
//
// Worker threads for the tiles of one operator. The caller computes tiles, too, and waits only for
// tiles that workers have already claimed, so a worker that is preempted before it claims a tile
// delays nothing. If workers are preempted during a tile, they are disabled for some time
// (back_off.h). Idle workers spin for a short time (the constructor's `spin`; not if there are more
// threads than processors), since waking a thread costs more than a small operator; then, as
// between inferences, they sleep on a futex. A worker that wakes up on the caller's processor
// migrates off it by narrowing its affinity temporarily.
#ifndef DEPUTY_CORE_BASE_THREAD_POOL_H_
#define DEPUTY_CORE_BASE_THREAD_POOL_H_

#include <chrono>
#include <memory>
#include <type_traits>

namespace deputy {

class TileObserver;

class ThreadPool {
 public:
  // Computes one tile of a job. Must not throw. `worker` is 0 for the caller, else 1..threads()-1,
  // an index for per-thread scratch memory.
  using Task = void (*)(void* argument, int tile, int worker);

  // A steady clock; tests replace it.
  using Clock = std::chrono::nanoseconds (*)();
  static std::chrono::nanoseconds SteadyClock();

  // Creates a pool of `threads`, at most 1024, including the caller; 1 or less creates no workers.
  // Workers are started at the first Run of several tiles. If some cannot be started, jobs use
  // fewer threads than threads() returns. Workers avoid slow processors (processors.h) if the fast
  // ones suffice for all threads.
  explicit ThreadPool(int threads, std::chrono::microseconds spin = std::chrono::microseconds(100),
                      Clock clock = &SteadyClock);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const;

  // Calls task(argument, tile, worker) once for every tile in [0, tiles), in any order (the caller
  // takes tiles from the front, workers from the back), and returns when all calls have returned.
  // Results of the tiles are then visible to the caller. Several threads may call Run concurrently:
  // while one job runs, other callers compute their tiles alone (worker 0). In a forked child the
  // pool uses the caller only or starts new workers; it never waits for threads that do not exist.
  // `observer`, which may be null, is notified at the end, on this thread, of each worker's work.
  void Run(int tiles, Task task, void* argument, TileObserver* observer = nullptr) noexcept;

  template <typename Function>
  void ParallelFor(int tiles, Function&& function, TileObserver* observer = nullptr) noexcept {
    using F = std::remove_reference_t<Function>;
    Run(
        tiles, [](void* f, int tile, int worker) { (*static_cast<F*>(f))(tile, worker); },
        const_cast<void*>(static_cast<const void*>(&function)), observer);
  }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_THREAD_POOL_H_
