// SPDX-License-Identifier: Apache-2.0
//
// Deputy's CPU kernels as a delegate, for C programs that run on another TensorFlow Lite. The
// functions are in libdeputy_cpu.so, which links neither libdeputy nor TensorFlow Lite and gets
// along with either in one process.
//
//     DeputyCpuOptions options = DeputyCpuOptionsDefault();
//     options.num_threads = 2;
//     TfLiteDelegate* delegate = DeputyCpuDelegateCreate(&options);
//     if (delegate == NULL) puts(DeputyCpuLastError());
#ifndef DEPUTY_C_API_INCLUDE_DEPUTY_CPU_H_
#define DEPUTY_C_API_INCLUDE_DEPUTY_CPU_H_

#include <stddef.h>
#include <stdint.h>

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

// The text of the newest failure of a function of this header on the calling thread, "" if there
// was none. It holds until the thread's next failure. Any thread.
TFL_CAPI_EXPORT const char* DeputyCpuLastError(void);

// The options. Each is one that the plug-in takes as text under the same name, with the same
// default and the same range (`deputy plugins libdeputy_cpu.so` prints them). Fields that an older
// caller's struct does not have are the defaults.
typedef struct DeputyCpuOptions {
  // sizeof(DeputyCpuOptions).
  size_t struct_size;
  // How many threads work on a partition, the calling one included, at most 1024; 0: as many as the
  // interpreter was told to use when the delegate is applied. Partitions of one delegate share
  // their threads, those of several interpreters, too.
  int32_t num_threads;
  // Not 0: quantised results are rounded as TensorFlow Lite's reference kernels round them.
  int32_t reference;
} DeputyCpuOptions;

// The defaults, with struct_size. Any thread.
TFL_CAPI_EXPORT DeputyCpuOptions DeputyCpuOptionsDefault(void);

// Makes a delegate; the caller owns it and deletes it after the interpreters that it was applied
// to. Interpreters on several threads may share it. Options are copied; NULL options are the
// defaults. NULL for options that are wrong. Any thread.
TFL_CAPI_EXPORT TfLiteDelegate* DeputyCpuDelegateCreate(const DeputyCpuOptions* options);

// Frees a delegate made here. NULL is fine.
TFL_CAPI_EXPORT void DeputyCpuDelegateDelete(TfLiteDelegate* delegate);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_DEPUTY_CPU_H_
