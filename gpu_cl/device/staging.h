// SPDX-License-Identifier: Apache-2.0
//
// Staging of large inputs for a discrete GPU. A driver copies pageable memory to its own pinned
// memory first, with a single thread, which takes several times as long as the transfer. Here
// several threads copy pieces to pinned memory while earlier pieces are transferred.
#ifndef DEPUTY_GPU_CL_DEVICE_STAGING_H_
#define DEPUTY_GPU_CL_DEVICE_STAGING_H_

#include <cstddef>
#include <functional>

#include "gpu_cl/device/cl_api.h"
#include "gpu_cl/device/device.h"
#include "gpu_cl/device/pinned.h"

namespace deputy::gpu_cl {

// Pinned memory and its use with one queue. Not thread-safe.
class Staging {
 public:
  Staging(const SharedContext* context, cl_command_queue queue)
      : context_(context), queue_(queue) {}
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // Returns true if staging `bytes` bytes is faster on the device.
  static bool IsFaster(const DeviceProfile& profile, size_t bytes);

  // Enqueues writes of `host` to `to`, and returns before they complete; they must complete before
  // the next call of Upload. `event` is called for each write and returns the destination of its
  // event. If pinned memory is not available, enqueues a single write of pageable memory.
  ClStatus Upload(cl_mem to, const void* host, size_t bytes,
                  const std::function<cl_event*()>& event);

 private:
  bool Reserve(size_t bytes, ClStatus* out_status);

  const SharedContext* const context_;
  cl_command_queue queue_;
  PinnedBuffer pinned_;
  size_t bytes_ = 0;
  bool refused_ = false;
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_DEVICE_STAGING_H_
