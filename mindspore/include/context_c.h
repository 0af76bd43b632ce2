// SPDX-License-Identifier: Apache-2.0
//
// Contexts and device descriptions of MindSpore Lite's C API.
//
// The first MSModelBuild that receives a context transfers its ownership to the model, which frees
// it. The context may be passed to further models while one of its models exists. A later
// MSContextDestroy only sets the handle to NULL (in MindSpore Lite it is a double free). The same
// applies to a device description that was added to a context. Strings and arrays that getters
// return are allocated for the caller, which must free them with free().
#ifndef DEPUTY_MINDSPORE_INCLUDE_CONTEXT_C_H_
#define DEPUTY_MINDSPORE_INCLUDE_CONTEXT_C_H_

#include "types_c.h"

#ifdef __cplusplus
extern "C" {
#endif

// Creates an empty context. Returns NULL if out of memory.
MS_API MSContextHandle MSContextCreate(void);

// Frees a context that no model owns, and sets the handle to NULL.
MS_API void MSContextDestroy(MSContextHandle* context);

// Number of threads. 0, the default, lets the runtime choose: 2, or 4 on a machine with more than
// 32 cores.
MS_API void MSContextSetThreadNum(MSContextHandle context, int32_t thread_num);
MS_API int32_t MSContextGetThreadNum(const MSContextHandle context);

// Affinity mode: 0 none, 1 big cores, 2 middle and little cores; other values are replaced by 0.
// Cores are sorted by their maximum frequency. Both modes select one core per thread: mode 1 from
// the fastest on, mode 2 from the first one below the highest frequency on. The model's threads run
// on these cores only, and so does the calling thread during MSModelBuild, MSModelPredict and
// MSModelResize; its own mask is restored afterwards. Linux only; elsewhere the build logs that the
// setting has no effect.
MS_API void MSContextSetThreadAffinityMode(MSContextHandle context, int mode);
MS_API int MSContextGetThreadAffinityMode(const MSContextHandle context);

// List of cores, which the threads share. A list takes precedence over the mode. The build fails
// with -3 if one of them does not exist on the machine, or the process may use none of them.
MS_API void MSContextSetThreadAffinityCoreList(MSContextHandle context, const int32_t* core_list,
                                               size_t core_num);
MS_API const int32_t* MSContextGetThreadAffinityCoreList(const MSContextHandle context,
                                                         size_t* core_num);

// Parallel execution of operators. The runtime executes operators one after another, and the build
// logs the setting as without effect.
MS_API void MSContextSetEnableParallel(MSContextHandle context, bool is_parallel);
MS_API bool MSContextGetEnableParallel(const MSContextHandle context);

// Appends a description, which the context then owns. MSModelBuild requires one to three
// descriptions. If the context has no delegate, it applies the library of the first device that is
// available: KirinNPU, then GPU, then other types; the order of the calls matters only for devices
// of the same type. If none of the devices is a CPU, the build fails unless delegates claim every
// node.
MS_API void MSContextAddDeviceInfo(MSContextHandle context, MSDeviceInfoHandle device_info);

// Creates a description. Returns NULL if the type is not one of the values 0 to 8 that DeviceType
// of context.h has, or if out of memory.
MS_API MSDeviceInfoHandle MSDeviceInfoCreate(MSDeviceType device_type);

// Frees a description that no context owns, and sets the handle to NULL.
MS_API void MSDeviceInfoDestroy(MSDeviceInfoHandle* device_info);

// Delegate library of a device that is not a CPU, found as DeputyPluginLoad finds it. The empty
// string, which is the default, selects libdeputy_gpu.so for a GPU and libdeputy_npu_stub.so for a
// KirinNPU; other devices then have no library. The library is used only if the context has no
// delegate. For every device, also a CPU, the provider of registered kernels (register_kernel_c.h).
MS_API void MSDeviceInfoSetProvider(MSDeviceInfoHandle device_info, const char* provider);
MS_API char* MSDeviceInfoGetProvider(const MSDeviceInfoHandle device_info);

// Name of a provider's device. It is passed to the delegate library as option "device", if the
// library declares that option, and is the architecture of registered kernels.
MS_API void MSDeviceInfoSetProviderDevice(MSDeviceInfoHandle device_info, const char* device);
MS_API char* MSDeviceInfoGetProviderDevice(const MSDeviceInfoHandle device_info);

// Returns the type of a device; kMSDeviceTypeInvalid for NULL.
MS_API MSDeviceType MSDeviceInfoGetDeviceType(const MSDeviceInfoHandle device_info);

// Permits half precision. If the library of a GPU declares the option `precision`, its delegate is
// created with `precision=auto`. On a CPU, factors of float32 products are rounded to float16 or
// bfloat16 if the processor has instructions for it (kDeputyPrecisionFloat16 in deputy/deputy.h).
// For a KirinNPU the call logs an error and changes nothing.
MS_API void MSDeviceInfoSetEnableFP16(MSDeviceInfoHandle device_info, bool is_fp16);
MS_API bool MSDeviceInfoGetEnableFP16(const MSDeviceInfoHandle device_info);

// Frequency of a KirinNPU: 1 low power, 2 balanced, 3 high performance (default), 4 extreme.
// MSModelBuild rejects other values. The getter returns -1 for other devices.
MS_API void MSDeviceInfoSetFrequency(MSDeviceInfoHandle device_info, int frequency);
MS_API int MSDeviceInfoGetFrequency(const MSDeviceInfoHandle device_info);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_MINDSPORE_INCLUDE_CONTEXT_C_H_
