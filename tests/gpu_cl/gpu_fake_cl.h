// SPDX-License-Identifier: Apache-2.0
//
// A table of OpenCL functions with fictitious devices. Its functions list and describe the devices,
// and create, retain and release contexts; no other function is available.
#ifndef DEPUTY_TESTS_GPU_CL_GPU_FAKE_CL_H_
#define DEPUTY_TESTS_GPU_CL_GPU_FAKE_CL_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gpu_cl/device/cl_api.h"

namespace deputy::gpu_cl {

struct FakeDevice {
  FakeDevice(std::string device_name, std::string device_vendor, cl_device_type device_type,
             cl_uint id, cl_bool unified = CL_FALSE, cl_device_local_mem_type local = CL_LOCAL)
      : name(std::move(device_name)),
        vendor(std::move(device_vendor)),
        type(device_type),
        vendor_id(id),
        unified_memory(unified),
        local_type(local) {}

  std::string name;
  std::string vendor;
  cl_device_type type;
  cl_uint vendor_id;
  cl_bool unified_memory;
  cl_device_local_mem_type local_type;
  std::string extensions;
  cl_uint nvidia_capability = 0;
  cl_bool available = CL_TRUE;
  cl_bool compiler_available = CL_TRUE;
};

struct FakePlatform {
  std::string name;
  std::vector<FakeDevice> devices;
};

// Sets the platforms that the table lists from now on, in the whole process; `platforms_code` is
// the result of clGetPlatformIDs.
void SetFakePlatforms(std::vector<FakePlatform> platforms, cl_int platforms_code = CL_SUCCESS);
std::shared_ptr<const ClApi> FakeCl();

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_TESTS_GPU_CL_GPU_FAKE_CL_H_
