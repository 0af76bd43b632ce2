// SPDX-License-Identifier: Apache-2.0
//
// The OpenCL delegate for C programs. The functions are in libdeputy_gpu.so, which links neither
// libdeputy nor OpenCL: what they make works in any TensorFlow Lite, too. No header of OpenCL is
// needed; its objects are passed as void*.
//
//     DeputyGpuOptions options = DeputyGpuOptionsDefault();
//     options.cache_dir = "/var/cache/app";
//     TfLiteDelegate* delegate = DeputyGpuDelegateCreate(&options);
//     if (delegate == NULL) puts(DeputyGpuLastError());
//
// A function that fails says why in DeputyGpuLastError.
#ifndef DEPUTY_C_API_INCLUDE_DEPUTY_GPU_H_
#define DEPUTY_C_API_INCLUDE_DEPUTY_GPU_H_

#include <stddef.h>
#include <stdint.h>

#include "common.h"
#include "deputy_plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

// The text of the newest failure of a function of this header on the calling thread, "" if there
// was none. It holds until the thread's next failure. Any thread.
TFL_CAPI_EXPORT const char* DeputyGpuLastError(void);

// ------------------------------------------------------------------------------------------------
// Devices
// ------------------------------------------------------------------------------------------------

// Calls `callback` for each device of OpenCL, in the order of their indices. Without OpenCL, and
// where it has no device, that is kTfLiteError, and the text says what was looked for. NULL as
// callback only asks whether there are any. Any thread.
TFL_CAPI_EXPORT TfLiteStatus DeputyGpuListDevices(DeputyDeviceCallback callback, void* user_data);

// ------------------------------------------------------------------------------------------------
// Delegates
// ------------------------------------------------------------------------------------------------

// As what filters and results within a partition are stored; all is computed in float32.
typedef enum DeputyGpuPrecision {
  kDeputyGpuPrecisionFp32 = 0,
  // Half the memory, three digits; what is beyond 65504 becomes infinite.
  kDeputyGpuPrecisionFp16 = 1,
  // Fp16 on GPUs, Fp32 on processors, where it would be slower.
  kDeputyGpuPrecisionAuto = 2,
} DeputyGpuPrecision;

// What kernels are written for.
typedef enum DeputyGpuDeviceClass {
  // For what the device is.
  kDeputyGpuDeviceClassAuto = 0,
  kDeputyGpuDeviceClassCpu = 1,
  kDeputyGpuDeviceClassDesktop = 2,
  kDeputyGpuDeviceClassMobile = 3,
} DeputyGpuDeviceClass;

// Where filters lie on GPUs; in images where those of the device are large enough.
typedef enum DeputyGpuStorage {
  // In images of two dimensions on Adreno, else in buffers.
  kDeputyGpuStorageAuto = 0,
  kDeputyGpuStorageBuffer = 1,
  kDeputyGpuStorageImageBuffer = 2,
  kDeputyGpuStorageImage2d = 3,
  kDeputyGpuStorageImage2dArray = 4,
  kDeputyGpuStorageImage3d = 5,
} DeputyGpuStorage;

// What the delegate is used for.
typedef enum DeputyGpuPreference {
  kDeputyGpuPreferenceSingleAnswer = 0,
  kDeputyGpuPreferenceSustainedSpeed = 1,
  kDeputyGpuPreferenceBalanced = 2,
} DeputyGpuPreference;

// How long kernels are tried out at first.
typedef enum DeputyGpuTuning {
  kDeputyGpuTuningNone = 0,
  kDeputyGpuTuningFast = 1,
  kDeputyGpuTuningFull = 2,
} DeputyGpuTuning;

// The options. Each but the two objects of OpenCL is one that the plug-in takes as text under the
// same name, with the same default and the same range (`deputy plugins libdeputy_gpu.so` prints
// them). Fields that an older caller's struct does not have are the defaults.
typedef struct DeputyGpuOptions {
  // sizeof(DeputyGpuOptions).
  size_t struct_size;
  // An index, "gpu", "accelerator", "cpu", or a part of a name; "" or NULL: the best, or what the
  // environment variable DEPUTY_OPENCL_DEVICE names.
  const char* device;
  // A DeputyGpuDeviceClass.
  int32_t device_class;
  // A DeputyGpuPrecision.
  int32_t precision;
  // Not 0: quantised operators are taken; they are computed in float.
  int32_t quantized;
  // Not 0: partitions are taken whatever min_gain_us says.
  int32_t force;
  // At most so many partitions; 0: all.
  int64_t max_partitions;
  // Partitions that are expected to gain less stay on the CPU, in microseconds; 0: those that the
  // CPU is expected to run faster. -1e9, the default: all are taken.
  double min_gain_us;
  // A DeputyGpuPreference.
  int32_t preference;
  // A DeputyGpuTuning.
  int32_t tuning;
  // The folder where compiled programs are kept, for the user alone; "" or NULL: they are not kept.
  const char* cache_dir;
  // A name that keeps the entries of one model apart from those of others; NULL is "".
  const char* cache_token;
  // How many megabytes the folder may take.
  int64_t cache_max_mb;
  // Not 0: the time of every kernel is taken.
  int32_t profiling;
  // Not 0: each partition's graph is kept as text (DeputyDelegatePlugin.describe_partitions).
  int32_t describe;
  // Not 0: the model's outputs stay on the device until somebody reads them, for clients that call
  // TfLiteSetAllowBufferHandleOutput.
  int32_t keep_outputs;
  // Not 0: the driver optimises kernels. Without it a model starts several times sooner, and runs
  // slower.
  int32_t optimize;
  // A cl_context of the caller's to work in, or NULL for the one that all delegates of the process
  // share. The delegate retains it. `device` then chooses among the context's devices. It belongs
  // to the OpenCL library that DEPUTY_OPENCL_LIBRARY names, else to libOpenCL.so.1.
  void* cl_context;
  // A cl_command_queue of the caller's, in order, to which all work goes; NULL: every partition has
  // a queue of its own. The delegate retains it, and works in its context, on its device. Whoever
  // enqueues work to it may do so from any thread, but not while an interpreter runs.
  void* cl_command_queue;
  // Between how many shapes inputs can be resized with a partition's plans for them bound still to
  // buffers and kernels, with the memory that takes; 0: a resize binds anew.
  int64_t kept_plans;
  // A DeputyGpuStorage.
  int32_t storage;
} DeputyGpuOptions;

// The defaults, with struct_size. Any thread.
TFL_CAPI_EXPORT DeputyGpuOptions DeputyGpuOptionsDefault(void);

// Makes a delegate; the caller owns it and deletes it after the interpreters. Options and their
// strings are copied; NULL options are the defaults. NULL without a device or OpenCL, and for
// options that are wrong. Any thread.
TFL_CAPI_EXPORT TfLiteDelegate* DeputyGpuDelegateCreate(const DeputyGpuOptions* options);

// Frees a delegate made here. NULL is fine.
TFL_CAPI_EXPORT void DeputyGpuDelegateDelete(TfLiteDelegate* delegate);

// ------------------------------------------------------------------------------------------------
// Buffers of the caller's
// ------------------------------------------------------------------------------------------------

// Lets a tensor of the model be in `buffer`, a cl_mem, from byte `offset` on: an input is taken
// from there, an output is written there, and nothing is copied through the host. `delegate` is one
// of DeputyGpuDelegateCreate, and it has been applied; `tensor` is an input or output of the
// interpreter, with its final shape. The buffer belongs to the delegate's context, which is the
// caller's if it gave one; contents are dense, in row-major order, as on the host. A reference to
// the buffer is kept until Unbind, the next binding of the tensor, or the interpreter's end.
//
// What was enqueued on an input has to be complete when Invoke is called, unless it was on the
// delegate's own queue; outputs are complete when Invoke returns. The runtime copies an output to
// the host as well unless TfLiteSetAllowBufferHandleOutput says that it need not, and copies what a
// node of the CPU reads. While an input is bound its host memory is not looked at, but by nodes of
// the CPU that run before the delegate's first partition, or instead of it under the policy Hot:
// these see what was copied for them before. Where there are such nodes bind anew before each
// Invoke.
//
// A resize and applying or removing delegates end bindings: bind again after AllocateTensors.
// kTfLiteError for NULL, for another delegate's tensor, and for a buffer of another context or too
// small; the tensor is unchanged then. Not while the interpreter runs.
TFL_CAPI_EXPORT TfLiteStatus DeputyGpuBindBuffer(TfLiteDelegate* delegate, TfLiteTensor* tensor,
                                                 void* buffer, size_t offset);

// Ends a binding: the tensor is in host memory again, with the contents that it had there.
// kTfLiteError if it is not bound.
TFL_CAPI_EXPORT TfLiteStatus DeputyGpuUnbindBuffer(TfLiteDelegate* delegate, TfLiteTensor* tensor);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_DEPUTY_GPU_H_
