// SPDX-License-Identifier: Apache-2.0
//
// Transfers of submitted runs that overlap with the kernels of other runs: uploads and downloads
// have queues and buffers of their own, and events order a run's commands across the queues.
#ifndef DEPUTY_GPU_CL_RUN_OVERLAP_H_
#define DEPUTY_GPU_CL_RUN_OVERLAP_H_

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "gpu_cl/device/cl_api.h"

namespace deputy::gpu_cl {

// Buffers of one run in flight. The kernels' queue copies `inputs` to the buffers of values, and
// results to `outputs`.
struct TransferSlot {
  std::vector<ClMemory> inputs, outputs;  // by input and output of the graph; null if empty
  ClEvent free;  // completes when the slot's run has been downloaded; null before the first run
  // Host memory that the slot's run writes.
  std::vector<std::pair<const char*, size_t>> written;
};

struct Overlap {
  ClQueue uploads, downloads;
  std::vector<TransferSlot> slots;  // used cyclically
  size_t next = 0;

  // Adds the events of runs in flight that write a part of the host memory, unless `events` has
  // them.
  void AddWriters(const void* host, size_t bytes, std::vector<cl_event>* events) const;
  // Removes the runs, all of which have completed.
  void Reset();
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_RUN_OVERLAP_H_
