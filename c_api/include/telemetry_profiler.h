// SPDX-License-Identifier: Apache-2.0
//
// Callbacks through which an interpreter reports its work.
#ifndef DEPUTY_C_API_INCLUDE_TELEMETRY_PROFILER_H_
#define DEPUTY_C_API_INCLUDE_TELEMETRY_PROFILER_H_

#include <stdint.h>

#include "telemetry_setting.h"

#ifdef __cplusplus
extern "C" {
#endif

// Callbacks of a client. The client initialises the struct, owns it and keeps it at least as long
// as the interpreters that use it. Every callback receives the struct as its first argument. No
// callback may be NULL; Deputy does not call one that is NULL. They are called on the thread that
// uses the interpreter.
typedef struct TfLiteTelemetryProfilerStruct {
  // Data of the client; private.
  void* data;

  // Called after "Invoke" of an interpreter or signature, or after "ModifyGraphWithDelegate". The
  // upper half of `status` is the source, 0 for the interpreter, the lower half the TfLiteStatus.
  void (*ReportTelemetryEvent)(struct TfLiteTelemetryProfilerStruct* profiler,
                               const char* event_name, uint64_t status);

  // Reports a telemetry event of one operator of a subgraph. For delegates that call the original's
  // profiler; Deputy does not call it.
  void (*ReportTelemetryOpEvent)(struct TfLiteTelemetryProfilerStruct* profiler,
                                 const char* event_name, int64_t op_idx, int64_t subgraph_idx,
                                 uint64_t status);

  // Reports the interpreter's settings. Called once, when the interpreter is created. The settings
  // are valid during the call only.
  void (*ReportSettings)(struct TfLiteTelemetryProfilerStruct* profiler, const char* setting_name,
                         const TfLiteTelemetrySettings* settings);

  // Called before an operator or a delegate's node runs. The result is passed to
  // ReportEndOpInvokeEvent after the operator; UINT32_MAX for none. Calls nest for operators in the
  // body of another operator.
  uint32_t (*ReportBeginOpInvokeEvent)(struct TfLiteTelemetryProfilerStruct* profiler,
                                       const char* op_name, int64_t op_idx, int64_t subgraph_idx);

  // Called after an operator or a delegate's node has run, with the result of
  // ReportBeginOpInvokeEvent.
  void (*ReportEndOpInvokeEvent)(struct TfLiteTelemetryProfilerStruct* profiler,
                                 uint32_t event_handle);

  // Reports the duration of an operator inside a delegate's node, in microseconds. Called between
  // the begin and the end of that node for delegates that report their operators (DeputyOpEvent in
  // deputy.h).
  void (*ReportOpInvokeEvent)(struct TfLiteTelemetryProfilerStruct* profiler, const char* op_name,
                              uint64_t elapsed_time, int64_t op_idx, int64_t subgraph_idx);
} TfLiteTelemetryProfilerStruct;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_TELEMETRY_PROFILER_H_
