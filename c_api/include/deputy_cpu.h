// SPDX-License-Identifier: Apache-2.0
//
// C API of Deputy's CPU kernels as a delegate, for programs that run on another TensorFlow Lite.
// The functions are exported by libdeputy_cpu.so, which links neither libdeputy nor TensorFlow Lite
// and can be used together with either in one process.
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

// Returns the text of the newest failure of a function of this header on the calling thread; "" if
// there was none. Valid until the thread's next failure. Any thread.
TFL_CAPI_EXPORT const char* DeputyCpuLastError(void);

// Options of the delegate. Each field is also an option of the plug-in, as text under the same name
// and with the same default and range (`deputy plugins libdeputy_cpu.so` prints them). Fields
// beyond the struct_size of an older caller have their defaults.
typedef struct DeputyCpuOptions {
  // sizeof(DeputyCpuOptions).
  size_t struct_size;
  // Number of threads that compute a partition, including the calling one, at most 1024; 0: the
  // number of threads that the interpreter has when the delegate is applied. No more threads than
  // the machine has processors are used. Partitions of one delegate with the same number share
  // their threads, also those of several interpreters.
  int32_t num_threads;
  // Not 0: quantised results are rounded exactly as in TensorFlow Lite's reference kernels.
  int32_t reference;
} DeputyCpuOptions;

// Returns the default options, with struct_size set. Any thread.
TFL_CAPI_EXPORT DeputyCpuOptions DeputyCpuOptionsDefault(void);

// Creates a delegate. The caller owns it and deletes it after the interpreters that it was applied
// to. Interpreters on several threads may share it. Options are copied; NULL means the defaults.
// Returns NULL for invalid options. Any thread.
TFL_CAPI_EXPORT TfLiteDelegate* DeputyCpuDelegateCreate(const DeputyCpuOptions* options);

// Deletes a delegate of DeputyCpuDelegateCreate. NULL is ignored.
TFL_CAPI_EXPORT void DeputyCpuDelegateDelete(TfLiteDelegate* delegate);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_DEPUTY_CPU_H_
