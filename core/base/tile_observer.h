// SPDX-License-Identifier: Apache-2.0
//
// The work of each thread of a pool for one job, for timelines. Without an observer this costs
// nothing; with one, the clock is read before each worker's first tile and after each tile.
#ifndef DEPUTY_CORE_BASE_TILE_OBSERVER_H_
#define DEPUTY_CORE_BASE_TILE_OBSERVER_H_

#include <cstdint>
#include <memory>
#include <span>

namespace deputy {

// The tiles of one worker, and the time from the begin of its first tile to the end of its last.
struct TileWork {
  int worker = 0;  // number of the worker; 0: the caller
  int tiles = 0;
  int64_t begin_ns = 0, end_ns = 0;  // times of the steady clock
};

// Notified once per job, after it, on the thread that called Run, with the workers that had tiles.
// Must not throw.
class TileObserver {
 public:
  virtual void TilesDone(std::span<const TileWork> work) = 0;

 protected:
  ~TileObserver() = default;
};

// Wraps the tiles of one job and measures when each worker runs them. If out of memory, it only
// forwards the tiles and does not notify the observer.
class TileTimes {
 public:
  using Task = void (*)(void* argument, int tile, int worker);

  // Creates a wrapper of `task`. Worker numbers must be below `workers`.
  TileTimes(Task task, void* argument, int workers);

  // Runs one tile and measures it. This function is a Task whose argument is a TileTimes.
  static void RunTile(void* times, int tile, int worker);
  // Passes the work of each worker to the observer. Must be called after the job.
  void NotifyObserver(TileObserver* observer);

 private:
  // The measured work of one worker, aligned to a cache line, since workers write concurrently.
  struct alignas(64) Note {
    TileWork work;
  };

  const Task task_;
  void* const argument_;
  const int workers_;
  std::unique_ptr<Note[]> notes_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_TILE_OBSERVER_H_
