// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/device/client_objects.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace deputy::gpu_cl {
namespace {

// Properties of a client's queue.
struct QueueFacts {
  cl_context context = nullptr;
  cl_device_id device = nullptr;
  cl_command_queue_properties properties = 0;
};

ClStatus DescribeQueue(const ClApi& api, cl_command_queue queue, QueueFacts* out_facts) {
  const auto query = [&](cl_command_queue_info what, auto* out_value) {
    return ClCall("clGetCommandQueueInfo",
                  api.GetCommandQueueInfo(queue, what, sizeof *out_value, out_value, nullptr));
  };
  ClStatus status = query(CL_QUEUE_CONTEXT, &out_facts->context);
  if (status.ok()) status = query(CL_QUEUE_DEVICE, &out_facts->device);
  if (status.ok()) status = query(CL_QUEUE_PROPERTIES, &out_facts->properties);
  return status;
}

ClStatus CheckQueue(const QueueFacts& queue, cl_context context, bool profiling) {
  if (context != nullptr && queue.context != context) {
    return {CL_INVALID_COMMAND_QUEUE,
            "cl_command_queue: expected a queue of cl_context, found one of another context"};
  }
  if ((queue.properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0) {
    return {CL_INVALID_COMMAND_QUEUE, "cl_command_queue: expected an in-order queue"};
  }
  if (profiling && (queue.properties & CL_QUEUE_PROFILING_ENABLE) == 0) {
    return {
        CL_INVALID_COMMAND_QUEUE,
        "cl_command_queue: expected a queue with profiling, which the option 'profiling' requires"};
  }
  return {};
}

ClStatus ListContextDevices(const ClApi& api, cl_context context, std::vector<Device>* devices) {
  size_t bytes = 0;
  cl_int code = api.GetContextInfo(context, CL_CONTEXT_DEVICES, 0, nullptr, &bytes);
  std::vector<cl_device_id> ids(code == CL_SUCCESS ? bytes / sizeof(cl_device_id) : 0);
  if (!ids.empty()) {
    code = api.GetContextInfo(context, CL_CONTEXT_DEVICES, bytes, ids.data(), nullptr);
  }
  if (code != CL_SUCCESS) return ClCall("clGetContextInfo", code);
  for (cl_device_id id : ids) {
    devices->push_back(DescribeDevice(api, id));
    devices->back().index = devices->size() - 1;
  }
  return {};
}

ClStatus ChooseContextDevice(const ClApi& api, cl_context context, const std::string& requested,
                             Device* out_device) {
  std::vector<Device> devices;
  ClStatus status = ListContextDevices(api, context, &devices);
  if (!status.ok()) return status;
  // The environment's choice of a device does not apply to a context with one device.
  if (devices.size() != 1 || !requested.empty())
    return ChooseDevice(devices, requested, out_device);
  *out_device = devices.front();
  return {};
}

}  // namespace

ClStatus AdoptClientObjects(const std::shared_ptr<const ClApi>& api, const ClientObjects& client,
                            const std::string& requested, bool profiling,
                            std::shared_ptr<SharedContext>* out_context, ClQueue* out_queue) {
  cl_context context = client.context;
  Device device;
  ClStatus status;
  if (client.queue != nullptr) {
    QueueFacts queue;
    status = DescribeQueue(*api, client.queue, &queue);
    if (status.ok()) status = CheckQueue(queue, context, profiling);
    if (!status.ok()) return status;
    context = queue.context;
    device = DescribeDevice(*api, queue.device);
  } else {
    status = ChooseContextDevice(*api, context, requested, &device);
    if (!status.ok()) return status;
  }
  std::shared_ptr<SharedContext> adopted =
      ContextRegistry::Process().Adopt(api, device, context, &status);
  if (adopted == nullptr) return status;
  if (client.queue != nullptr) {
    status = ClCall("clRetainCommandQueue", api->RetainCommandQueue(client.queue));
    if (!status.ok()) return status;
    *out_queue = ClQueue(&adopted->api(), client.queue);  // the table of the context may be another
  }
  *out_context = std::move(adopted);
  return {};
}

}  // namespace deputy::gpu_cl
