// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/run/bound_plans.h"

#include <iterator>
#include <utility>

namespace deputy::gpu_cl {

size_t BoundPlans::Keep(std::unique_ptr<Executor> executor, size_t limit) {
  executor->ForgetModel();
  std::list<std::unique_ptr<Executor>> dropped;  // destroyed after the lock is released
  {
    const std::lock_guard lock(mutex_);
    kept_.push_front(std::move(executor));
    while (kept_.size() > limit) dropped.splice(dropped.end(), kept_, std::prev(kept_.end()));
  }
  size_t bytes = 0;
  for (const auto& one : dropped) bytes += one->device_bytes();
  return bytes;
}

size_t BoundPlans::Clear() {
  std::list<std::unique_ptr<Executor>> dropped;
  {
    const std::lock_guard lock(mutex_);
    dropped.swap(kept_);
  }
  size_t bytes = 0;
  for (const auto& one : dropped) bytes += one->device_bytes();
  return bytes;
}

std::unique_ptr<Executor> BoundPlans::Take(const Executor& wanted) {
  const std::lock_guard lock(mutex_);
  for (auto entry = kept_.begin(); entry != kept_.end(); ++entry) {
    if (!(*entry)->Computes(wanted)) continue;
    std::unique_ptr<Executor> found = std::move(*entry);
    kept_.erase(entry);
    return found;
  }
  return nullptr;
}

}  // namespace deputy::gpu_cl
