// SPDX-License-Identifier: Apache-2.0
//
// Objects of OpenCL that a client brings along.
#ifndef DEPUTY_GPU_CL_CLIENT_OBJECTS_H_
#define DEPUTY_GPU_CL_CLIENT_OBJECTS_H_

#include <memory>
#include <string>

#include "gpu_cl/cl_api.h"
#include "gpu_cl/device.h"

namespace deputy::gpu_cl {

// What a client brings; null where it leaves the choice to us.
struct ClientObjects {
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;

  bool any() const { return context != nullptr || queue != nullptr; }
};

// The client's context, with references of its own to it and to the queue. The device is that of
// the queue, else the context's only one, else the one of them that `wish` names (see
// ChooseDevice). A queue of another context or out of order is refused, and one without profiling
// where `profiling` asks for it.
ClStatus AdoptClientObjects(const std::shared_ptr<const ClApi>& api, const ClientObjects& client,
                            const std::string& wish, bool profiling,
                            std::shared_ptr<SharedContext>* out_context, ClQueue* out_queue);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_CLIENT_OBJECTS_H_
