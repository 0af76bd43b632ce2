// SPDX-License-Identifier: Apache-2.0
//
// A delegate in plain C that follows a test's script: it claims chosen nodes (ADD, MUL and the
// tests' custom operator), computes them itself, counts every callback, and fails in the call that
// the script selects. It is available as a plain delegate and, with the same results, as an opaque
// one.
#ifndef DEPUTY_TESTS_SUPPORT_SCRIPTED_DELEGATE_H_
#define DEPUTY_TESTS_SUPPORT_SCRIPTED_DELEGATE_H_

#include <stdbool.h>

#include "c_api/include/c_api_opaque.h"
#include "c_api/include/common.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { kScriptedMaxNodes = 256, kScriptedMaxPartitions = 128 };

typedef enum ScriptedFailure {
  kScriptedNoFailure = 0,
  kScriptedErrorStatus,   // the callback returns an error
  kScriptedNullInit,      // init returns NULL, which the runtime does not treat as a failure
  kScriptedInitSentinel,  // init returns (void*)-1
  kScriptedBadIndex,      // Replace is called with a node that does not exist; plain only
  kScriptedWrongShape,    // prepare or invoke gives the outputs another shape
  kScriptedNoOutput,      // invoke, or a copy from a handle, returns Ok and writes nothing
  kScriptedBadTemporary,  // prepare gives its node a temporary that does not exist; plain only
  kScriptedLateError,     // invoke does its work, then returns an error
  kScriptedThrow,         // the callback throws a C++ exception, through throw_now
} ScriptedFailure;

typedef enum ScriptedCallback {
  kScriptedPrepareDelegate = 0,
  kScriptedInit,
  kScriptedPrepareKernel,
  kScriptedInvoke,
  kScriptedCopyFrom,
  kScriptedFreeHandle,
  kScriptedFreeKernel,
  kScriptedCallbackCount,
} ScriptedCallback;

typedef struct ScriptedDelegate {
  TfLiteDelegate base;
  TfLiteOpaqueDelegateBuilder builder;
  TfLiteDelegate* self;  // delegate that the runtime uses: &base, or the opaque one

  // The following fields are the script.
  bool claim_all;
  bool claims[kScriptedMaxNodes];
  bool swallow_replace_error;  // true: Prepare returns Ok although Replace failed
  bool outputs_on_device;      // outputs are in buffer handles; the CPU's bytes are stale
  ScriptedCallback failing_callback;
  int failing_call;  // number of the failing call, from 0 since the delegate's creation
  ScriptedFailure failure;
  void (*throw_now)(void);  // function of a C++ file that throws

  // The following fields are the record of the delegate's calls.
  int calls[kScriptedCallbackCount];
  int frees;  // number of kernels that were freed
  int nodes_computed;
  int copies_from_handle;
  int handles_freed;
  int partition_count;  // number of partitions in the last Prepare
  int partition_sizes[kScriptedMaxPartitions];
  TfLiteStatus replace_status;
  bool failure_reached;
  float device[64][1024];  // contents of buffer handles 0..63
  int next_handle;
} ScriptedDelegate;

// Clears the script, so that the delegate claims nothing and never fails. `flags` are
// TfLiteDelegateFlags.
void ScriptedDelegateInit(ScriptedDelegate* delegate, int64_t flags);

// Returns a delegate with the opaque interface for the script; delete it with
// TfLiteOpaqueDelegateDelete.
TfLiteOpaqueDelegate* ScriptedOpaqueDelegate(ScriptedDelegate* delegate);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_TESTS_SUPPORT_SCRIPTED_DELEGATE_H_
