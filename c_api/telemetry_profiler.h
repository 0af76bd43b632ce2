// SPDX-License-Identifier: Apache-2.0
//
// A set of callbacks through which an interpreter reports what it does.
#ifndef DEPUTY_C_API_TELEMETRY_PROFILER_H_
#define DEPUTY_C_API_TELEMETRY_PROFILER_H_

#include <stdint.h>

#include "telemetry_setting.h"

#ifdef __cplusplus
extern "C" {
#endif

// The client fills it, owns it and keeps it alive as long as the interpreters it was given to.
// Every callback gets the struct first and none may be NULL. They are called on the thread that
// uses the interpreter.
typedef struct TfLiteTelemetryProfilerStruct {
  // The client's own.
  void* data;

  // Something happened, with a status: source in the upper half, status in the lower half.
  void (*ReportTelemetryEvent)(struct TfLiteTelemetryProfilerStruct* profiler,
                               const char* event_name, uint64_t status);

  // The same about one operator of one subgraph.
  void (*ReportTelemetryOpEvent)(struct TfLiteTelemetryProfilerStruct* profiler,
                                 const char* event_name, int64_t op_idx, int64_t subgraph_idx,
                                 uint64_t status);

  // Settings, once, when the interpreter is made. They hold only during the call.
  void (*ReportSettings)(struct TfLiteTelemetryProfilerStruct* profiler, const char* setting_name,
                         const TfLiteTelemetrySettings* settings);

  // An operator starts. The result is handed to the next callback; UINT32_MAX for none.
  uint32_t (*ReportBeginOpInvokeEvent)(struct TfLiteTelemetryProfilerStruct* profiler,
                                       const char* op_name, int64_t op_idx, int64_t subgraph_idx);

  // An operator ends.
  void (*ReportEndOpInvokeEvent)(struct TfLiteTelemetryProfilerStruct* profiler,
                                 uint32_t event_handle);

  // An operator took so many microseconds.
  void (*ReportOpInvokeEvent)(struct TfLiteTelemetryProfilerStruct* profiler, const char* op_name,
                              uint64_t elapsed_time, int64_t op_idx, int64_t subgraph_idx);
} TfLiteTelemetryProfilerStruct;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_TELEMETRY_PROFILER_H_
