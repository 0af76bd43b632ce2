// SPDX-License-Identifier: Apache-2.0
//
// Passes the library's telemetry events of operators to a Profiler. Part of Interpreter.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PROFILING_OPERATOR_EVENTS_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PROFILING_OPERATOR_EVENTS_H_

#include <cstdint>

#include "tensorflow/lite/core/api/profiler.h"
#include "tensorflow/lite/profiling/telemetry/c/profiler.h"

namespace tflite {
namespace profiling {

class OperatorEvents {
 public:
  // The profiler is borrowed.
  explicit OperatorEvents(Profiler* profiler) {
    callbacks_.data = profiler;
    callbacks_.ReportTelemetryEvent = &ReportEvent;
    callbacks_.ReportTelemetryOpEvent = &ReportOpEvent;
    callbacks_.ReportSettings = &ReportSettings;
    callbacks_.ReportBeginOpInvokeEvent = &BeginOperator;
    callbacks_.ReportEndOpInvokeEvent = &EndOperator;
    callbacks_.ReportOpInvokeEvent = &AddOperator;
  }
  OperatorEvents(const OperatorEvents&) = delete;
  OperatorEvents& operator=(const OperatorEvents&) = delete;

  // Valid as long as this object.
  TfLiteTelemetryProfilerStruct* callbacks() { return &callbacks_; }

 private:
  using Callbacks = TfLiteTelemetryProfilerStruct;
  using EventType = Profiler::EventType;

  static Profiler* ProfilerOf(Callbacks* callbacks) {
    return static_cast<Profiler*>(callbacks->data);
  }

  static void ReportEvent(Callbacks* callbacks, const char* name, uint64_t status) {
    ProfilerOf(callbacks)->AddEvent(name, EventType::TELEMETRY_EVENT, status, -1, -1);
  }
  static void ReportOpEvent(Callbacks* callbacks, const char* name, int64_t node, int64_t subgraph,
                            uint64_t status) {
    ProfilerOf(callbacks)->AddEvent(name, EventType::TELEMETRY_EVENT, status, node, subgraph);
  }
  static void ReportSettings(Callbacks* callbacks, const char* name,
                             const TfLiteTelemetrySettings* settings) {
    ProfilerOf(callbacks)->AddEventWithData(name, EventType::TELEMETRY_REPORT_SETTINGS, settings);
  }
  static uint32_t BeginOperator(Callbacks* callbacks, const char* name, int64_t node,
                                int64_t subgraph) {
    return ProfilerOf(callbacks)->BeginEvent(name, EventType::OPERATOR_INVOKE_EVENT, node,
                                             subgraph);
  }
  static void EndOperator(Callbacks* callbacks, uint32_t event) {
    ProfilerOf(callbacks)->EndEvent(event);
  }
  static void AddOperator(Callbacks* callbacks, const char* name, uint64_t elapsed_us, int64_t node,
                          int64_t subgraph) {
    ProfilerOf(callbacks)->AddEvent(name, EventType::DELEGATE_OPERATOR_INVOKE_EVENT, elapsed_us,
                                    node, subgraph);
  }

  Callbacks callbacks_{};
};

}  // namespace profiling
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PROFILING_OPERATOR_EVENTS_H_
