// SPDX-License-Identifier: Apache-2.0
//
// A set of callbacks through which an interpreter reports what it does.
#ifndef DEPUTY_C_API_INCLUDE_TELEMETRY_PROFILER_H_
#define DEPUTY_C_API_INCLUDE_TELEMETRY_PROFILER_H_

#include <stdint.h>

#include "telemetry_setting.h"

#ifdef __cplusplus
extern "C" {
#endif

// The client fills it, owns it and keeps it alive as long as the interpreters it was given to.
// Every callback gets the struct first and none may be NULL; Deputy does not call one that is.
// They are called on the thread that uses the interpreter.
typedef struct TfLiteTelemetryProfilerStruct {
  // The client's own.
  void* data;

  // A call ended: "Invoke" of an interpreter or signature, "ModifyGraphWithDelegate". With its
  // status: source in the upper half, 0 for the interpreter, TfLiteStatus in the lower half.
  void (*ReportTelemetryEvent)(struct TfLiteTelemetryProfilerStruct* profiler,
                               const char* event_name, uint64_t status);

  // The same about one operator of one subgraph. For delegates that reach the original's profiler;
  // Deputy does not call it.
  void (*ReportTelemetryOpEvent)(struct TfLiteTelemetryProfilerStruct* profiler,
                                 const char* event_name, int64_t op_idx, int64_t subgraph_idx,
                                 uint64_t status);

  // Settings, once, when the interpreter is made. They hold only during the call.
  void (*ReportSettings)(struct TfLiteTelemetryProfilerStruct* profiler, const char* setting_name,
                         const TfLiteTelemetrySettings* settings);

  // An operator, or a delegate's node, starts. The result is handed to the next callback at the
  // operator's end; UINT32_MAX for none. Operators in the body of another one nest.
  uint32_t (*ReportBeginOpInvokeEvent)(struct TfLiteTelemetryProfilerStruct* profiler,
                                       const char* op_name, int64_t op_idx, int64_t subgraph_idx);

  // An operator ends.
  void (*ReportEndOpInvokeEvent)(struct TfLiteTelemetryProfilerStruct* profiler,
                                 uint32_t event_handle);

  // Duration of an operator inside a delegate's node, in microseconds. Called between the begin and
  // the end of that node for delegates that report their operators (DeputyOpEvent in deputy.h).
  void (*ReportOpInvokeEvent)(struct TfLiteTelemetryProfilerStruct* profiler, const char* op_name,
                              uint64_t elapsed_time, int64_t op_idx, int64_t subgraph_idx);
} TfLiteTelemetryProfilerStruct;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_TELEMETRY_PROFILER_H_
