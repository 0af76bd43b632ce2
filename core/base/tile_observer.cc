// SPDX-License-Identifier: Apache-2.0
#include "core/base/tile_observer.h"

#include <chrono>
#include <new>

namespace deputy {
namespace {

int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

TileTimes::TileTimes(Task task, void* argument, int workers)
    : task_(task),
      argument_(argument),
      workers_(workers),
      notes_(new (std::nothrow) Note[static_cast<size_t>(workers)]) {}

void TileTimes::RunTile(void* times, int tile, int worker) {
  const auto* self = static_cast<const TileTimes*>(times);
  if (self->notes_ == nullptr) return self->task_(self->argument_, tile, worker);
  TileWork& work = self->notes_[static_cast<size_t>(worker)].work;
  if (work.tiles++ == 0) work.begin_ns = NowNs();
  self->task_(self->argument_, tile, worker);
  work.end_ns = NowNs();
}

// Workers without tiles are omitted.
void TileTimes::NotifyObserver(TileObserver* observer) {
  if (notes_ == nullptr) return;
  const std::unique_ptr<TileWork[]> works(new (std::nothrow)
                                              TileWork[static_cast<size_t>(workers_)]);
  if (works == nullptr) return;
  size_t count = 0;
  for (int worker = 0; worker < workers_; ++worker) {
    TileWork& work = notes_[static_cast<size_t>(worker)].work;
    work.worker = worker;
    if (work.tiles > 0) works[count++] = work;
  }
  observer->TilesDone({works.get(), count});
}

}  // namespace deputy
