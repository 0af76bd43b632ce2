// SPDX-License-Identifier: Apache-2.0
//
// Contexts and device descriptions of MindSpore Lite's C API.
//
// The first MSModelBuild that gets a context takes it over: the model frees it. It may be given to
// further models while one of them lives. Destroying it after that only sets the handle to NULL, in
// the original it is a double free. The same goes for a device description that was added to a
// context. Texts and arrays that getters return are the caller's, to be freed with free().
#ifndef DEPUTY_MINDSPORE_INCLUDE_CONTEXT_C_H_
#define DEPUTY_MINDSPORE_INCLUDE_CONTEXT_C_H_

#include "types_c.h"

#ifdef __cplusplus
extern "C" {
#endif

// An empty context. NULL if memory is short.
MS_API MSContextHandle MSContextCreate(void);

// Frees a context that no model has taken over, and sets the handle to NULL.
MS_API void MSContextDestroy(MSContextHandle* context);

// 0, the default, lets the runtime choose: 2, or 4 on a machine with more than 32 cores.
MS_API void MSContextSetThreadNum(MSContextHandle context, int32_t thread_num);
MS_API int32_t MSContextGetThreadNum(const MSContextHandle context);

// 0: none, 1: big cores, 2: middle and little cores; other numbers become 0. Kept for delegates;
// the runtime binds no threads.
MS_API void MSContextSetThreadAffinityMode(MSContextHandle context, int mode);
MS_API int MSContextGetThreadAffinityMode(const MSContextHandle context);

// Likewise; a list wins over the mode.
MS_API void MSContextSetThreadAffinityCoreList(MSContextHandle context, const int32_t* core_list,
                                               size_t core_num);
MS_API const int32_t* MSContextGetThreadAffinityCoreList(const MSContextHandle context,
                                                         size_t* core_num);

// Likewise: operators run one after the other.
MS_API void MSContextSetEnableParallel(MSContextHandle context, bool is_parallel);
MS_API bool MSContextGetEnableParallel(const MSContextHandle context);

// Appends a description, which the context owns from now on. Build wants one to three of them, the
// first one first; without a CPU among them, no node may be left to the CPU.
MS_API void MSContextAddDeviceInfo(MSContextHandle context, MSDeviceInfoHandle device_info);

// A description. NULL for a type that is none of the enum's, and if memory is short.
MS_API MSDeviceInfoHandle MSDeviceInfoCreate(MSDeviceType device_type);

// Frees a description that no context owns, and sets the handle to NULL.
MS_API void MSDeviceInfoDestroy(MSDeviceInfoHandle* device_info);

// For GPU and KirinNPU: the delegate library to load, as DeputyPluginLoad finds it. "" is ours:
// libdeputy_gpu.so and libdeputy_npu_stub.so. It is used where the context has no delegate.
MS_API void MSDeviceInfoSetProvider(MSDeviceInfoHandle device_info, const char* provider);
MS_API char* MSDeviceInfoGetProvider(const MSDeviceInfoHandle device_info);

// Kept, and read by nobody.
MS_API void MSDeviceInfoSetProviderDevice(MSDeviceInfoHandle device_info, const char* device);
MS_API char* MSDeviceInfoGetProviderDevice(const MSDeviceInfoHandle device_info);

// kMSDeviceTypeInvalid for NULL.
MS_API MSDeviceType MSDeviceInfoGetDeviceType(const MSDeviceInfoHandle device_info);

// Allows half precision on a CPU or GPU. A GPU's library that declares the option `precision` is
// created with `auto`; for the CPU the flag is only stored, for delegates to read. For other
// devices the call logs an error and changes nothing.
MS_API void MSDeviceInfoSetEnableFP16(MSDeviceInfoHandle device_info, bool is_fp16);
MS_API bool MSDeviceInfoGetEnableFP16(const MSDeviceInfoHandle device_info);

// Of KirinNPU: 1 low power, 2 balanced, 3 high performance (default), 4 extreme. Build refuses
// other numbers. Of other devices get returns -1.
MS_API void MSDeviceInfoSetFrequency(MSDeviceInfoHandle device_info, int frequency);
MS_API int MSDeviceInfoGetFrequency(const MSDeviceInfoHandle device_info);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_MINDSPORE_INCLUDE_CONTEXT_C_H_
