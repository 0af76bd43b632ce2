// SPDX-License-Identifier: Apache-2.0
//
// A profiler that receives telemetry events and operators through functions of their own.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PROFILING_TELEMETRY_PROFILER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PROFILING_TELEMETRY_PROFILER_H_

#include <cstdint>

#include "tensorflow/lite/core/api/profiler.h"
#include "tensorflow/lite/profiling/telemetry/c/profiler.h"
#include "tensorflow/lite/profiling/telemetry/c/telemetry_setting.h"
#include "tensorflow/lite/profiling/telemetry/telemetry_status.h"

namespace tflite::telemetry {

// Derived classes override the Report functions; threads may call them at the same time.
class TelemetryProfiler : public Profiler {
 public:
  // Receive the status of a call or of an operator.
  virtual void ReportTelemetryEvent(const char* event_name, TelemetryStatusCode status) = 0;
  virtual void ReportTelemetryOpEvent(const char* event_name, int64_t op_idx, int64_t subgraph_idx,
                                      TelemetryStatusCode status) = 0;

  // Receives settings, which are valid during the call.
  virtual void ReportSettings(const char* setting_name,
                              const TfLiteTelemetrySettings* settings) = 0;

  // Receive the begin of an operator, and its end with the number that the begin returned.
  virtual uint32_t ReportBeginOpInvokeEvent(const char* op_name, int64_t op_idx,
                                            int64_t subgraph_idx) = 0;
  virtual void ReportEndOpInvokeEvent(uint32_t event_handle) = 0;

  // Receives an operator with the time that a delegate has measured, in microseconds.
  virtual void ReportOpInvokeEvent(const char* op_name, uint64_t elapsed_time, int64_t op_idx,
                                   int64_t subgraph_idx) = 0;

 private:
  static constexpr uint32_t kNoEvent = UINT32_MAX;

  static bool IsOperator(EventType type) {
    return type == EventType::OPERATOR_INVOKE_EVENT ||
           type == EventType::DELEGATE_OPERATOR_INVOKE_EVENT ||
           type == EventType::DELEGATE_PROFILED_OPERATOR_INVOKE_EVENT;
  }

  void AddEvent(const char* tag, EventType event_type, uint64_t metric, int64_t event_metadata1,
                int64_t event_metadata2) final {
    if (IsOperator(event_type)) {
      ReportOpInvokeEvent(tag, metric, event_metadata1, event_metadata2);
    } else if (event_type == EventType::TELEMETRY_EVENT ||
               event_type == EventType::TELEMETRY_DELEGATE_EVENT) {
      const TelemetryStatusCode status(metric);
      if (event_metadata1 == -1) {
        ReportTelemetryEvent(tag, status);
      } else {
        ReportTelemetryOpEvent(tag, event_metadata1, event_metadata2, status);
      }
    }
  }

  void AddEventWithData(const char* tag, EventType event_type, const void* data) final {
    if (data != nullptr && (event_type == EventType::TELEMETRY_REPORT_SETTINGS ||
                            event_type == EventType::TELEMETRY_DELEGATE_REPORT_SETTINGS)) {
      ReportSettings(tag, static_cast<const TfLiteTelemetrySettings*>(data));
    }
  }

  uint32_t BeginEvent(const char* tag, EventType event_type, int64_t event_metadata1,
                      int64_t event_metadata2) final {
    return IsOperator(event_type) ? ReportBeginOpInvokeEvent(tag, event_metadata1, event_metadata2)
                                  : kNoEvent;
  }
  void EndEvent(uint32_t event_handle) final {
    if (event_handle != kNoEvent) ReportEndOpInvokeEvent(event_handle);
  }
  void EndEvent(uint32_t event_handle, int64_t /*event_metadata1*/,
                int64_t /*event_metadata2*/) final {
    EndEvent(event_handle);
  }
};

}  // namespace tflite::telemetry

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PROFILING_TELEMETRY_PROFILER_H_
