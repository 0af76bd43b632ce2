// SPDX-License-Identifier: Apache-2.0
//
// Worker threads for the tiles of one operator. The caller works too, and waits only for tiles
// that a worker has already claimed, so a worker that the operating system has put aside before
// delays nothing. One that is put aside in the middle of a tile does; the workers then rest for a
// while (back_off.h). Inside an inference workers spin for a moment, between inferences they sleep
// on a futex: waking a sleeping thread costs more than a small operator. One that wakes up on the
// caller's processor leaves it, by its own affinity, which is then what it was.
#ifndef DEPUTY_CORE_BASE_THREAD_POOL_H_
#define DEPUTY_CORE_BASE_THREAD_POOL_H_

#include <chrono>
#include <memory>
#include <type_traits>

namespace deputy {

class TileObserver;

class ThreadPool {
 public:
  // One tile of a job. Must not throw. `worker` is 0 for the caller, else 1..threads()-1, for
  // per-thread scratch memory.
  using Task = void (*)(void* argument, int tile, int worker);

  // A steady clock; tests bring their own.
  using Clock = std::chrono::nanoseconds (*)();
  static std::chrono::nanoseconds SteadyClock();

  // A pool of `threads` in all, the caller included; 1 or less starts none. Workers start at the
  // first Run. A thread that cannot be started means fewer threads, never a failure.
  explicit ThreadPool(int threads, std::chrono::microseconds spin = std::chrono::microseconds(100),
                      Clock clock = &SteadyClock);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const;

  // Calls task(argument, tile, worker) once for every tile in [0, tiles), in any order (the caller
  // from the first on, workers from the last on, as far as they meet), and returns when all have
  // returned. What the tiles wrote is visible to the caller afterwards. Several
  // threads may call Run on one pool: while one job runs, another caller works through its own
  // tiles alone (worker 0). After fork() a child's pool runs on the caller alone or starts its own
  // workers again, never waits for threads it does not have. `observer`, which may be null, is told
  // on this thread and at the end what each worker did.
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
