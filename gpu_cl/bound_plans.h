// SPDX-License-Identifier: Apache-2.0
//
// Executors of shapes that a model had before: when an input is resized back, what was bound to
// buffers and kernels then is used again. They are found by what they compute, so that it does not
// matter which interpreter had them.
//
// Threads: any number.
#ifndef DEPUTY_GPU_CL_BOUND_PLANS_H_
#define DEPUTY_GPU_CL_BOUND_PLANS_H_

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>

#include "gpu_cl/exec.h"

namespace deputy::gpu_cl {

class BoundPlans {
 public:
  // Keeps it as the one that was used last, and drops those that were not used for longest beyond
  // `limit`. Returns what these held on the device.
  size_t Keep(std::unique_ptr<Executor> executor, size_t limit);
  // One that computes what `wanted`, which is not bound yet, would; null if there is none.
  std::unique_ptr<Executor> Take(const Executor& wanted);
  // Drops all. Returns what they held on the device.
  size_t Clear();

 private:
  std::mutex mutex_;
  std::list<std::unique_ptr<Executor>> kept_;  // the one used last in front
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_BOUND_PLANS_H_
