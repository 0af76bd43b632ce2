// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/device/cl_api.h"

#include <dlfcn.h>

#include <cstdlib>

namespace deputy::gpu_cl {
namespace {

struct ErrorName {
  cl_int code;
  const char* name;
};

// Error codes with their names. The last rows of the table have codes of OpenCL 2.x, extensions and
// drivers, which OpenCL 1.2's headers do not name.
constexpr ErrorName kErrorNames[] = {
#define DEPUTY_CL_ERROR(name) \
  { name, #name }
    DEPUTY_CL_ERROR(CL_SUCCESS),
    DEPUTY_CL_ERROR(CL_DEVICE_NOT_FOUND),
    DEPUTY_CL_ERROR(CL_DEVICE_NOT_AVAILABLE),
    DEPUTY_CL_ERROR(CL_COMPILER_NOT_AVAILABLE),
    DEPUTY_CL_ERROR(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    DEPUTY_CL_ERROR(CL_OUT_OF_RESOURCES),
    DEPUTY_CL_ERROR(CL_OUT_OF_HOST_MEMORY),
    DEPUTY_CL_ERROR(CL_PROFILING_INFO_NOT_AVAILABLE),
    DEPUTY_CL_ERROR(CL_MEM_COPY_OVERLAP),
    DEPUTY_CL_ERROR(CL_IMAGE_FORMAT_MISMATCH),
    DEPUTY_CL_ERROR(CL_IMAGE_FORMAT_NOT_SUPPORTED),
    DEPUTY_CL_ERROR(CL_BUILD_PROGRAM_FAILURE),
    DEPUTY_CL_ERROR(CL_MAP_FAILURE),
    DEPUTY_CL_ERROR(CL_MISALIGNED_SUB_BUFFER_OFFSET),
    DEPUTY_CL_ERROR(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    DEPUTY_CL_ERROR(CL_COMPILE_PROGRAM_FAILURE),
    DEPUTY_CL_ERROR(CL_LINKER_NOT_AVAILABLE),
    DEPUTY_CL_ERROR(CL_LINK_PROGRAM_FAILURE),
    DEPUTY_CL_ERROR(CL_DEVICE_PARTITION_FAILED),
    DEPUTY_CL_ERROR(CL_KERNEL_ARG_INFO_NOT_AVAILABLE),
    DEPUTY_CL_ERROR(CL_INVALID_VALUE),
    DEPUTY_CL_ERROR(CL_INVALID_DEVICE_TYPE),
    DEPUTY_CL_ERROR(CL_INVALID_PLATFORM),
    DEPUTY_CL_ERROR(CL_INVALID_DEVICE),
    DEPUTY_CL_ERROR(CL_INVALID_CONTEXT),
    DEPUTY_CL_ERROR(CL_INVALID_QUEUE_PROPERTIES),
    DEPUTY_CL_ERROR(CL_INVALID_COMMAND_QUEUE),
    DEPUTY_CL_ERROR(CL_INVALID_HOST_PTR),
    DEPUTY_CL_ERROR(CL_INVALID_MEM_OBJECT),
    DEPUTY_CL_ERROR(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR),
    DEPUTY_CL_ERROR(CL_INVALID_IMAGE_SIZE),
    DEPUTY_CL_ERROR(CL_INVALID_SAMPLER),
    DEPUTY_CL_ERROR(CL_INVALID_BINARY),
    DEPUTY_CL_ERROR(CL_INVALID_BUILD_OPTIONS),
    DEPUTY_CL_ERROR(CL_INVALID_PROGRAM),
    DEPUTY_CL_ERROR(CL_INVALID_PROGRAM_EXECUTABLE),
    DEPUTY_CL_ERROR(CL_INVALID_KERNEL_NAME),
    DEPUTY_CL_ERROR(CL_INVALID_KERNEL_DEFINITION),
    DEPUTY_CL_ERROR(CL_INVALID_KERNEL),
    DEPUTY_CL_ERROR(CL_INVALID_ARG_INDEX),
    DEPUTY_CL_ERROR(CL_INVALID_ARG_VALUE),
    DEPUTY_CL_ERROR(CL_INVALID_ARG_SIZE),
    DEPUTY_CL_ERROR(CL_INVALID_KERNEL_ARGS),
    DEPUTY_CL_ERROR(CL_INVALID_WORK_DIMENSION),
    DEPUTY_CL_ERROR(CL_INVALID_WORK_GROUP_SIZE),
    DEPUTY_CL_ERROR(CL_INVALID_WORK_ITEM_SIZE),
    DEPUTY_CL_ERROR(CL_INVALID_GLOBAL_OFFSET),
    DEPUTY_CL_ERROR(CL_INVALID_EVENT_WAIT_LIST),
    DEPUTY_CL_ERROR(CL_INVALID_EVENT),
    DEPUTY_CL_ERROR(CL_INVALID_OPERATION),
    DEPUTY_CL_ERROR(CL_INVALID_GL_OBJECT),
    DEPUTY_CL_ERROR(CL_INVALID_BUFFER_SIZE),
    DEPUTY_CL_ERROR(CL_INVALID_MIP_LEVEL),
    DEPUTY_CL_ERROR(CL_INVALID_GLOBAL_WORK_SIZE),
    DEPUTY_CL_ERROR(CL_INVALID_PROPERTY),
    DEPUTY_CL_ERROR(CL_INVALID_IMAGE_DESCRIPTOR),
    DEPUTY_CL_ERROR(CL_INVALID_COMPILER_OPTIONS),
    DEPUTY_CL_ERROR(CL_INVALID_LINKER_OPTIONS),
    DEPUTY_CL_ERROR(CL_INVALID_DEVICE_PARTITION_COUNT),
#undef DEPUTY_CL_ERROR
    {-69, "CL_INVALID_PIPE_SIZE"},
    {-70, "CL_INVALID_DEVICE_QUEUE"},
    {-71, "CL_INVALID_SPEC_ID"},
    {-72, "CL_MAX_SIZE_RESTRICTION_EXCEEDED"},
    {-1000, "CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR"},
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
    {-9999, "illegal access of an NVIDIA driver"},
};

// Fills the table. Returns "" or the reason why the library is unusable.
std::string FillTable(void* library, ClApi* api) {
  std::string missing;
#define DEPUTY_CL_FIND(name) \
  api->name = reinterpret_cast<decltype(api->name)>(dlsym(library, "cl" #name));
#define DEPUTY_CL_NEED(name) \
  DEPUTY_CL_FIND(name)       \
  if (api->name == nullptr && missing.empty()) missing = "cl" #name;
  DEPUTY_CL_REQUIRED(DEPUTY_CL_NEED)
  DEPUTY_CL_OPTIONAL(DEPUTY_CL_FIND)
#undef DEPUTY_CL_NEED
#undef DEPUTY_CL_FIND
  return missing.empty() ? "" : "missing function " + missing;
}

// Opens a library and fills the table; returns "" or the reason of the failure.
std::string OpenLibrary(const std::string& name, ClApi* api) {
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    return reason == nullptr ? "cannot be opened" : reason;
  }
  return FillTable(library, api);
}

}  // namespace

std::string ClErrorName(cl_int code) {
  for (const ErrorName& row : kErrorNames) {
    if (row.code == code) return std::string(row.name) + " (" + std::to_string(code) + ")";
  }
  return "OpenCL error " + std::to_string(code);
}

ClStatus ClCall(const char* call, cl_int code) {
  if (code == CL_SUCCESS) return {};
  return {code, std::string(call) + ": " + ClErrorName(code)};
}

bool IsDeviceLost(cl_int code) {
  return code == CL_INVALID_COMMAND_QUEUE || code == CL_INVALID_CONTEXT ||
         code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST || code == -9999;
}

bool IsOutOfMemory(cl_int code) {
  return code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_RESOURCES ||
         code == CL_OUT_OF_HOST_MEMORY;
}

LoadedCl LoadCl(std::span<const std::string> names) {
  LoadedCl loaded;
  for (const std::string& name : names) {
    ClApi api;
    const std::string problem = OpenLibrary(name, &api);
    if (problem.empty()) {
      loaded.api = std::make_shared<const ClApi>(api);
      loaded.library = name;
      return loaded;
    }
    loaded.tried.append(loaded.tried.empty() ? "" : "; ").append(name).append(": ").append(problem);
  }
  if (loaded.tried.empty()) loaded.tried = "disabled by DEPUTY_OPENCL_LIBRARY=none";
  return loaded;
}

LoadedCl LoadCl() { return LoadCl(ClLibraryNames()); }

std::vector<std::string> ClLibraryNames() {
  std::vector<std::string> names;
  const char* chosen = std::getenv("DEPUTY_OPENCL_LIBRARY");
  if (chosen != nullptr && std::string(chosen) == "none") return names;
  if (chosen != nullptr && *chosen != '\0') names.emplace_back(chosen);
#if defined(__APPLE__)
  names.emplace_back("/System/Library/Frameworks/OpenCL.framework/OpenCL");
#else
  names.insert(names.end(), {"libOpenCL.so.1", "libOpenCL.so"});
#endif
#if defined(__ANDROID__)
  names.insert(names.end(), {"/vendor/lib64/libOpenCL.so", "/system/vendor/lib64/libOpenCL.so",
                             "/vendor/lib64/egl/libGLES_mali.so", "libOpenCL-pixel.so",
                             "libOpenCL-car.so", "libPVROCL.so"});
#endif
  return names;
}

}  // namespace deputy::gpu_cl
