// SPDX-License-Identifier: Apache-2.0
//
// What each thread of a pool did of one job, for whoever wants to draw it. A job that nobody
// observes costs nothing; one that is, reads the clock around each tile.
#ifndef DEPUTY_CORE_BASE_TILE_OBSERVER_H_
#define DEPUTY_CORE_BASE_TILE_OBSERVER_H_

#include <cstdint>
#include <memory>
#include <span>

namespace deputy {

// From the begin of a worker's first tile to the end of its last one.
struct TileWork {
  int worker = 0;  // 0: the caller
  int tiles = 0;
  int64_t begin_ns = 0, end_ns = 0;  // steady clock
};

// Called on the thread that called for the job, after it: once per job, with the workers that had
// tiles. Does not throw.
class TileObserver {
 public:
  virtual void TilesDone(std::span<const TileWork> work) = 0;

 protected:
  ~TileObserver() = default;
};

// Stands between a pool and the tiles of one job, and notes when each worker ran them. Without
// memory for its notes it passes the tiles on and has nothing to tell.
class TileTimes {
 public:
  using Task = void (*)(void* argument, int tile, int worker);

  // For worker numbers below `workers`.
  TileTimes(Task task, void* argument, int workers);

  // A Task, whose argument is a TileTimes.
  static void RunTile(void* times, int tile, int worker);
  // When the job has ended.
  void Tell(TileObserver* observer);

 private:
  // On a cache line of its own, since workers write at the same time.
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
