// SPDX-License-Identifier: Apache-2.0
//
// Cache of executors for input shapes that a model had before: when an input is resized back, the
// executor with its buffers and kernels is reused. Executors are found by what they compute,
// regardless of the interpreter that released them.
//
// Thread-safe.
#ifndef DEPUTY_GPU_CL_RUN_BOUND_PLANS_H_
#define DEPUTY_GPU_CL_RUN_BOUND_PLANS_H_

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>

#include "gpu_cl/run/exec.h"

namespace deputy::gpu_cl {

class BoundPlans {
 public:
  // Stores the executor as the most recently used one, and evicts the least recently used ones
  // beyond `limit`. Returns the device bytes that the evicted ones held.
  size_t Keep(std::unique_ptr<Executor> executor, size_t limit);
  // Removes and returns an executor that computes the same as `wanted`, which need not be bound;
  // null if there is none.
  std::unique_ptr<Executor> Take(const Executor& wanted);
  // Evicts all executors. Returns the device bytes that they held.
  size_t Clear();

 private:
  std::mutex mutex_;
  std::list<std::unique_ptr<Executor>> kept_;  // most recently used first
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_RUN_BOUND_PLANS_H_
