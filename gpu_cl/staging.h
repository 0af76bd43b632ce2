// SPDX-License-Identifier: Apache-2.0
//
// Large inputs on their way to a discrete GPU. A driver copies pageable memory to memory of its own
// first, with one thread, which takes several times as long as sending it. Here some threads copy
// pieces to pinned memory, while those before are sent.
#ifndef DEPUTY_GPU_CL_STAGING_H_
#define DEPUTY_GPU_CL_STAGING_H_

#include <cstddef>
#include <functional>

#include "gpu_cl/cl_api.h"
#include "gpu_cl/device.h"

namespace deputy::gpu_cl {

// Pinned memory and its use. By one thread at a time, with one queue.
class Staging {
 public:
  Staging(const SharedContext* context, cl_command_queue queue)
      : context_(context), queue_(queue) {}
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // Whether so many bytes gain from it on the device.
  static bool Gains(const DeviceProfile& profile, size_t bytes);

  // Enqueues writes of `host` to `to`, and returns before they have ended: until then neither
  // Upload may be called again. `event` is called for each of them, and says where its event goes.
  // Without pinned memory it is one write of pageable memory.
  ClStatus Upload(cl_mem to, const void* host, size_t bytes,
                  const std::function<cl_event*()>& event);

 private:
  bool Reserve(size_t bytes, ClStatus* out_status);
  void Release();

  const SharedContext* const context_;
  cl_command_queue queue_;
  ClMemory pinned_;
  char* place_ = nullptr;
  size_t bytes_ = 0;
  bool refused_ = false;
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_STAGING_H_
