// SPDX-License-Identifier: Apache-2.0
//
// An opaque delegate in plain C whose asynchronous kernel follows a test's script. It claims ADD
// nodes of two inputs and adds the registered buffers on a thread per execution. It counts every
// call, and fails or throws in those that the script selects.
//
// Buffers have the type "host_memory": their pointer is memory of the test, their attributes may
// have an offset. Synchronisation objects have the type "flag": their pointer is an int, which the
// execution sets to 1 at its end.
#ifndef DEPUTY_TESTS_SUPPORT_ASYNC_DELEGATE_H_
#define DEPUTY_TESTS_SUPPORT_ASYNC_DELEGATE_H_

#include <pthread.h>
#include <stdbool.h>

#include "c_api/include/async_kernel.h"
#include "c_api/include/c_api_opaque.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum AsyncCallback {
  kAsyncGetKernel = 0,
  kAsyncRegisterBuffer,
  kAsyncRegisterSlice,
  kAsyncUnregisterBuffer,
  kAsyncBufferTypes,
  kAsyncSyncTypes,
  kAsyncReconcile,
  kAsyncSetAttributes,
  kAsyncPrepare,
  kAsyncEval,
  kAsyncWait,
  kAsyncFinish,
  kAsyncCallbackCount,
} AsyncCallback;

enum { kAsyncMaxBuffers = 64 };

typedef struct AsyncDelegate {
  TfLiteOpaqueDelegateBuilder builder;

  // The following fields are the script. They must not change while calls run.
  int max_claims;   // upper limit on claimed nodes
  bool with_data;   // true: set the function with TfLiteOperatorSetAsyncKernelWithData
  bool has_kernel;  // false: the function for the kernel returns NULL
  bool missing[kAsyncCallbackCount];          // functions that the kernel does not have
  TfLiteStatus results[kAsyncCallbackCount];  // statuses other than kTfLiteOk are returned
  bool throws[kAsyncCallbackCount];           // calls that throw, through throw_now
  void (*throw_now)(void);                    // function of a C++ file that throws
  bool held;  // true: executions wait for AsyncDelegateRelease before they compute

  // The following fields are the record.
  int calls[kAsyncCallbackCount];
  TfLiteIoType io_type;  // of the last register_buffer
  int tensor;            // of the last reconcile_restrictions or set_attributes
  int live_kernels, live_executions;

  pthread_mutex_t mutex;
  pthread_cond_t changed;
} AsyncDelegate;

// Initialises a script in which all calls succeed.
void AsyncDelegateInit(AsyncDelegate* delegate);
void AsyncDelegateDestroy(AsyncDelegate* delegate);

// Returns a delegate for the script; delete it with TfLiteOpaqueDelegateDelete.
TfLiteOpaqueDelegate* AsyncDelegateCreate(AsyncDelegate* delegate);

// Ends the waiting of held executions, also of later ones.
void AsyncDelegateRelease(AsyncDelegate* delegate);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_TESTS_SUPPORT_ASYNC_DELEGATE_H_
