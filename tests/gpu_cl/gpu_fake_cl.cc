// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu_cl/gpu_fake_cl.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace deputy::gpu_cl {
namespace {

std::vector<FakePlatform> fake_platforms;
cl_int fake_code = CL_SUCCESS;

// Handles of the fake platforms and devices are pointers to the fake objects.
FakePlatform* PlatformOf(cl_platform_id id) { return reinterpret_cast<FakePlatform*>(id); }
FakeDevice* DeviceOf(cl_device_id id) { return reinterpret_cast<FakeDevice*>(id); }

cl_int Deliver(const void* value, size_t size, size_t capacity, void* out, size_t* out_size) {
  if (out_size != nullptr) *out_size = size;
  if (out == nullptr) return CL_SUCCESS;
  if (capacity < size) return CL_INVALID_VALUE;
  std::memcpy(out, value, size);
  return CL_SUCCESS;
}

cl_int DeliverText(const std::string& text, size_t capacity, void* out, size_t* out_size) {
  return Deliver(text.c_str(), text.size() + 1, capacity, out, out_size);
}

template <typename T>
cl_int DeliverValue(const T& value, size_t capacity, void* out, size_t* out_size) {
  // NOLINTNEXTLINE(bugprone-sizeof-expression): for a platform the value is the handle itself
  return Deliver(&value, sizeof(T), capacity, out, out_size);
}

cl_int GetPlatformIDs(cl_uint capacity, cl_platform_id* out_ids, cl_uint* out_count) {
  if (fake_code != CL_SUCCESS) return fake_code;
  if (out_count != nullptr) *out_count = static_cast<cl_uint>(fake_platforms.size());
  for (size_t i = 0; out_ids != nullptr && i < std::min<size_t>(capacity, fake_platforms.size());
       ++i) {
    out_ids[i] = reinterpret_cast<cl_platform_id>(&fake_platforms[i]);
  }
  return CL_SUCCESS;
}

cl_int GetPlatformInfo(cl_platform_id id, cl_platform_info what, size_t capacity, void* out,
                       size_t* out_size) {
  if (what == CL_PLATFORM_NAME) return DeliverText(PlatformOf(id)->name, capacity, out, out_size);
  return DeliverText("OpenCL 1.2 fake", capacity, out, out_size);
}

cl_int GetDeviceIDs(cl_platform_id platform, cl_device_type, cl_uint capacity,
                    cl_device_id* out_ids, cl_uint* out_count) {
  std::vector<FakeDevice>& devices = PlatformOf(platform)->devices;
  if (devices.empty()) return CL_DEVICE_NOT_FOUND;
  if (out_count != nullptr) *out_count = static_cast<cl_uint>(devices.size());
  for (size_t i = 0; out_ids != nullptr && i < std::min<size_t>(capacity, devices.size()); ++i) {
    out_ids[i] = reinterpret_cast<cl_device_id>(&devices[i]);
  }
  return CL_SUCCESS;
}

cl_platform_id PlatformWith(const FakeDevice* device) {
  for (FakePlatform& platform : fake_platforms) {
    for (const FakeDevice& other : platform.devices) {
      if (&other == device) return reinterpret_cast<cl_platform_id>(&platform);
    }
  }
  return nullptr;
}

cl_int GetDeviceInfo(cl_device_id id, cl_device_info what, size_t capacity, void* out,
                     size_t* out_size) {
  const FakeDevice& device = *DeviceOf(id);
  const size_t item_sizes[] = {1024, 512, 64};
  switch (what) {
    case CL_DEVICE_PLATFORM:
      return DeliverValue(PlatformWith(&device), capacity, out, out_size);
    case CL_DEVICE_NAME:
      return DeliverText(device.name, capacity, out, out_size);
    case CL_DEVICE_VENDOR:
      return DeliverText(device.vendor, capacity, out, out_size);
    case CL_DEVICE_EXTENSIONS:
      return DeliverText(device.extensions, capacity, out, out_size);
    case CL_DEVICE_TYPE:
      return DeliverValue(device.type, capacity, out, out_size);
    case CL_DEVICE_VENDOR_ID:
      return DeliverValue(device.vendor_id, capacity, out, out_size);
    case CL_DEVICE_HOST_UNIFIED_MEMORY:
      return DeliverValue(device.unified_memory, capacity, out, out_size);
    case CL_DEVICE_LOCAL_MEM_TYPE:
      return DeliverValue(device.local_type, capacity, out, out_size);
    case 0x4000:
      return DeliverValue(device.nvidia_capability / 10, capacity, out, out_size);
    case 0x4001:
      return DeliverValue(device.nvidia_capability % 10, capacity, out, out_size);
    case CL_DEVICE_AVAILABLE:
      return DeliverValue(device.available, capacity, out, out_size);
    case CL_DEVICE_COMPILER_AVAILABLE:
      return DeliverValue(device.compiler_available, capacity, out, out_size);
    case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS:
      return DeliverValue(cl_uint{3}, capacity, out, out_size);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
      return Deliver(item_sizes, sizeof(item_sizes), capacity, out, out_size);
    case CL_DEVICE_MEM_BASE_ADDR_ALIGN:
      return DeliverValue(cl_uint{4096}, capacity, out, out_size);
    default:
      return CL_INVALID_VALUE;
  }
}

cl_context CreateContext(const cl_context_properties*, cl_uint, const cl_device_id*,
                         void (*)(const char*, const void*, size_t, void*), void*,
                         cl_int* out_code) {
  *out_code = CL_SUCCESS;
  return reinterpret_cast<cl_context>(&fake_platforms);  // any pointer except null
}

cl_int RetainContext(cl_context) { return CL_SUCCESS; }
cl_int ReleaseContext(cl_context) { return CL_SUCCESS; }

}  // namespace

void SetFakePlatforms(std::vector<FakePlatform> platforms, cl_int platforms_code) {
  fake_platforms = std::move(platforms);
  fake_code = platforms_code;
}

std::shared_ptr<const ClApi> FakeCl() {
  ClApi api;
  api.GetPlatformIDs = &GetPlatformIDs;
  api.GetPlatformInfo = &GetPlatformInfo;
  api.GetDeviceIDs = &GetDeviceIDs;
  api.GetDeviceInfo = &GetDeviceInfo;
  api.CreateContext = &CreateContext;
  api.RetainContext = &RetainContext;
  api.ReleaseContext = &ReleaseContext;
  return std::make_shared<const ClApi>(api);
}

}  // namespace deputy::gpu_cl
