// SPDX-License-Identifier: Apache-2.0
//
// OpenCL context and queue that a client provides.
#ifndef DEPUTY_GPU_CL_DEVICE_CLIENT_OBJECTS_H_
#define DEPUTY_GPU_CL_DEVICE_CLIENT_OBJECTS_H_

#include <memory>
#include <string>

#include "gpu_cl/device/cl_api.h"
#include "gpu_cl/device/device.h"

namespace deputy::gpu_cl {

// The client's objects; null where the delegate creates its own.
struct ClientObjects {
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;

  bool any() const { return context != nullptr || queue != nullptr; }
};

// Adopts the client's context and queue, adding a reference to each. The device is that of the
// queue, else the context's only device if `requested` is empty, else the one of its devices that
// ChooseDevice chooses. Refuses a queue of another context, one with out-of-order execution, and
// one without profiling if `profiling` requires it.
ClStatus AdoptClientObjects(const std::shared_ptr<const ClApi>& api, const ClientObjects& client,
                            const std::string& requested, bool profiling,
                            std::shared_ptr<SharedContext>* out_context, ClQueue* out_queue);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_DEVICE_CLIENT_OBJECTS_H_
