// SPDX-License-Identifier: Apache-2.0
//
// C API of the OpenCL delegate. The functions are exported by libdeputy_gpu.so, which links neither
// libdeputy nor OpenCL: its delegates work in any TensorFlow Lite, too. No OpenCL header is needed;
// OpenCL objects are passed as void*.
//
//     DeputyGpuOptions options = DeputyGpuOptionsDefault();
//     options.cache_dir = "/var/cache/app";
//     TfLiteDelegate* delegate = DeputyGpuDelegateCreate(&options);
//     if (delegate == NULL) puts(DeputyGpuLastError());
//
// After a failure of any function DeputyGpuLastError returns the reason.
#ifndef DEPUTY_C_API_INCLUDE_DEPUTY_GPU_H_
#define DEPUTY_C_API_INCLUDE_DEPUTY_GPU_H_

#include <stddef.h>
#include <stdint.h>

#include "common.h"
#include "deputy_plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

// Returns the text of the newest failure of a function of this header on the calling thread; "" if
// there was none. Valid until the thread's next failure. Any thread.
TFL_CAPI_EXPORT const char* DeputyGpuLastError(void);

// ------------------------------------------------------------------------------------------------
// Devices
// ------------------------------------------------------------------------------------------------

// Calls `callback` for each OpenCL device, in the order of their indices. kTfLiteError without
// OpenCL or without a device; the text lists the libraries that were tried. With a NULL `callback`
// the function only checks whether there are devices. Any thread.
TFL_CAPI_EXPORT TfLiteStatus DeputyGpuListDevices(DeputyDeviceCallback callback, void* user_data);

// ------------------------------------------------------------------------------------------------
// Delegates
// ------------------------------------------------------------------------------------------------

// Storage type of filters and of results within a partition. Arithmetic is always in float32.
typedef enum DeputyGpuPrecision {
  kDeputyGpuPrecisionFp32 = 0,
  // Half precision: half the memory, three decimal digits; magnitudes above 65504 become infinite.
  kDeputyGpuPrecisionFp16 = 1,
  // Half precision, but single precision if kernels are generated for the device class "cpu", where
  // half precision is slower.
  kDeputyGpuPrecisionAuto = 2,
} DeputyGpuPrecision;

// Device class that kernels are generated for.
typedef enum DeputyGpuDeviceClass {
  // Class of the actual device.
  kDeputyGpuDeviceClassAuto = 0,
  kDeputyGpuDeviceClassCpu = 1,
  kDeputyGpuDeviceClassDesktop = 2,
  kDeputyGpuDeviceClassMobile = 3,
} DeputyGpuDeviceClass;

// Storage of filters on GPUs. Images are used only if the device's maximum image size suffices.
typedef enum DeputyGpuStorage {
  // 2-D images on Adreno, else buffers.
  kDeputyGpuStorageAuto = 0,
  kDeputyGpuStorageBuffer = 1,
  kDeputyGpuStorageImageBuffer = 2,
  kDeputyGpuStorageImage2d = 3,
  kDeputyGpuStorageImage2dArray = 4,
  kDeputyGpuStorageImage3d = 5,
} DeputyGpuStorage;

// Usage of the delegate, which selects a level of tuning: the option `tuning` for single
// inferences, at least fast for balanced, full for sustained speed.
typedef enum DeputyGpuPreference {
  kDeputyGpuPreferenceSingleAnswer = 0,
  kDeputyGpuPreferenceSustainedSpeed = 1,
  kDeputyGpuPreferenceBalanced = 2,
} DeputyGpuPreference;

// Auto-tuning of kernel variants when a partition is compiled: none, fast (about 200 ms), or full
// (up to a minute).
typedef enum DeputyGpuTuning {
  kDeputyGpuTuningNone = 0,
  kDeputyGpuTuningFast = 1,
  kDeputyGpuTuningFull = 2,
} DeputyGpuTuning;

// Arithmetic of convolutions and matrix products of int8 and uint8 values with constant filters.
typedef enum DeputyGpuQuantizedArithmetic {
  // INT8 on processors and on devices with instructions for dot products of int8; else FLOAT.
  kDeputyGpuQuantizedArithmeticAuto = 0,
  // The numbers that the integers represent are multiplied.
  kDeputyGpuQuantizedArithmeticFloat = 1,
  // The integers are multiplied, and the sums have 32 bits.
  kDeputyGpuQuantizedArithmeticInt8 = 2,
} DeputyGpuQuantizedArithmetic;

// Options of the delegate. Each field, except the two OpenCL objects, is also an option of the
// plug-in, as text under the same name and with the same default and range (`deputy plugins
// libdeputy_gpu.so` prints them). Fields beyond the struct_size of an older caller have their
// defaults.
typedef struct DeputyGpuOptions {
  // sizeof(DeputyGpuOptions).
  size_t struct_size;
  // Name of the device: an index, "gpu", "accelerator", "cpu", or a part of the device's name; ""
  // or NULL: the best device, or the one that the environment variable DEPUTY_OPENCL_DEVICE names.
  const char* device;
  // A DeputyGpuDeviceClass.
  int32_t device_class;
  // A DeputyGpuPrecision.
  int32_t precision;
  // Not 0: the delegate claims quantised operators, too.
  int32_t quantized;
  // Not 0: partitions are claimed even if they do not reach min_gain_us.
  int32_t force;
  // Maximum number of partitions; 0: unlimited.
  int64_t max_partitions;
  // Minimum estimated gain of a partition in microseconds; partitions with less gain stay on the
  // CPU. 0: only partitions that are estimated to be faster than on the CPU. -1e9, the default: no
  // minimum.
  double min_gain_us;
  // A DeputyGpuPreference.
  int32_t preference;
  // A DeputyGpuTuning.
  int32_t tuning;
  // Directory of the cache of compiled programs, accessible to the user only; "" or NULL: no cache.
  const char* cache_dir;
  // Name that separates the cache entries of one model from those of others; NULL means "".
  const char* cache_token;
  // Maximum size of the cache directory in megabytes.
  int64_t cache_max_mb;
  // Not 0: the time of every kernel is measured.
  int32_t profiling;
  // Not 0: each partition's graph is kept as text (DeputyDelegatePlugin.describe_partitions).
  int32_t describe;
  // Not 0: the model's outputs stay on the device until they are read, for clients that call
  // TfLiteSetAllowBufferHandleOutput.
  int32_t keep_outputs;
  // Not 0: the driver optimises kernels. Without optimisation a model starts several times faster,
  // and runs slower.
  int32_t optimize;
  // A cl_context of the caller in which the delegate works, or NULL for a context that all
  // delegates of the process share. The delegate retains it. `device` then selects one of the
  // context's devices. It must come from the OpenCL library that the delegate loads: the one that
  // DEPUTY_OPENCL_LIBRARY names, else usually libOpenCL.so.1.
  void* cl_context;
  // An in-order cl_command_queue of the caller that receives all work; NULL: every partition has a
  // queue of its own. The delegate retains it, and works in its context and on its device. The
  // caller may enqueue other work on it on any thread, but not while an interpreter runs.
  void* cl_command_queue;
  // Number of input shapes for which a partition keeps its plan bound to buffers and kernels, which
  // takes memory, so that a resize to one of these shapes is fast; 0: every resize binds a new
  // plan.
  int64_t kept_plans;
  // A DeputyGpuStorage.
  int32_t storage;
  // Directory to which the OpenCL C source of each program is written, in files named by 16 digits
  // of its SHA-256 and ".cl"; "" or NULL: none. A partition whose source cannot be written fails.
  const char* source_dir;
  // A DeputyGpuQuantizedArithmetic.
  int32_t quantized_arithmetic;
  // Number of asynchronous tasks whose transfers overlap with the kernels of other tasks; each has
  // its inputs and outputs in device memory once more. 0: transfers and kernels of all tasks
  // alternate; also with cl_command_queue. -1, the default: 3 on discrete GPUs, else 0.
  int64_t overlapped_tasks;
} DeputyGpuOptions;

// Returns the default options, with struct_size set. Any thread.
TFL_CAPI_EXPORT DeputyGpuOptions DeputyGpuOptionsDefault(void);

// Creates a delegate. The caller owns it and deletes it after the interpreters that it was applied
// to. Options and their strings are copied; NULL means the defaults. Returns NULL without OpenCL or
// a device, and for invalid options. Any thread.
TFL_CAPI_EXPORT TfLiteDelegate* DeputyGpuDelegateCreate(const DeputyGpuOptions* options);

// Deletes a delegate of DeputyGpuDelegateCreate. NULL is ignored.
TFL_CAPI_EXPORT void DeputyGpuDelegateDelete(TfLiteDelegate* delegate);

// ------------------------------------------------------------------------------------------------
// Client buffers
// ------------------------------------------------------------------------------------------------

// Binds a tensor of the model to `buffer`, a cl_mem, from byte `offset` on: the delegate reads an
// input from it, or writes an output to it, without a copy through host memory. `delegate` comes
// from DeputyGpuDelegateCreate and has been applied; `tensor` is an input or output of the
// interpreter, with its final shape. The buffer belongs to the delegate's context, which is the
// caller's if the options contain one; its contents are dense and in row-major order, as in host
// memory. The delegate retains the buffer until DeputyGpuUnbindBuffer, the next binding of the
// tensor, or the deletion of the interpreter.
//
// Commands that write an input must be complete when Invoke is called, unless they are on the
// delegate's own queue; outputs are complete when Invoke returns. The runtime also copies an output
// to host memory, unless TfLiteSetAllowBufferHandleOutput disables this, and copies tensors that
// nodes on the CPU read. While an input is bound its host memory is not read, except by CPU nodes
// that run before the delegate's first partition, or instead of it under kDeputyPolicyHot: these
// read the contents that an earlier copy left there. If the model has such nodes, bind the tensor
// again before each Invoke.
//
// Bindings end with a resize and when delegates are applied or removed: bind again after
// AllocateTensors. kTfLiteError for NULL, for another delegate's tensor, for a buffer of another
// context or of insufficient size, and if 65536 buffers are in use; the tensor is then unchanged.
// Must not be called while the interpreter runs.
TFL_CAPI_EXPORT TfLiteStatus DeputyGpuBindBuffer(TfLiteDelegate* delegate, TfLiteTensor* tensor,
                                                 void* buffer, size_t offset);

// Ends the binding of a tensor: the tensor is in host memory again, with the contents that it had
// there. kTfLiteError if the tensor is not bound.
TFL_CAPI_EXPORT TfLiteStatus DeputyGpuUnbindBuffer(TfLiteDelegate* delegate, TfLiteTensor* tensor);

// ------------------------------------------------------------------------------------------------
// Host memory
// ------------------------------------------------------------------------------------------------

// Allocates `bytes` bytes of host memory that is pinned for the delegate's device, so that the
// device transfers it directly: a transfer takes less time than that of other memory, which is
// copied to pinned memory first. The address is aligned to 64 bytes, as
// TfLiteInterpreterSetCustomAllocationForTensor requires, and the contents are undefined. The
// memory may be used before and after the delegate is applied, as any other memory: for tensors of
// any interpreter, for buffers of asynchronous tasks, in whole or in part. A tensor of which only a
// part is in the memory is transferred as other memory is.
//
// The memory is pinned for all delegates with the same context: those of a device in the process,
// unless the caller provides contexts. If a runtime creates its delegate from the library as a
// plug-in, allocate from another delegate on the same device.
//
// The caller owns the memory and frees it with DeputyGpuFreeHostMemory; until then it stays valid,
// also after the deletion of the delegate, the loss of the device and, in the parent, a fork. A
// forked child must not access it. Pinned memory cannot be paged out: allocate what transfers need.
//
// NULL for a delegate that is not from DeputyGpuDelegateCreate, for a size of 0, out of memory,
// after the loss of the device, and in a forked child. Any thread.
TFL_CAPI_EXPORT void* DeputyGpuAllocateHostMemory(TfLiteDelegate* delegate, size_t bytes);

// Frees memory of DeputyGpuAllocateHostMemory; NULL is ignored. No tensor and no task may use the
// memory: delete the interpreters first, or set other memory for their tensors. kTfLiteError for
// any other address, for memory that has been freed, and in a forked child, where the memory stays
// allocated. Any thread.
TFL_CAPI_EXPORT TfLiteStatus DeputyGpuFreeHostMemory(void* memory);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_DEPUTY_GPU_H_
