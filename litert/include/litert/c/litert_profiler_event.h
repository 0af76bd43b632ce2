// SPDX-License-Identifier: Apache-2.0
//
// Events that a profiler records.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_PROFILER_EVENT_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_PROFILER_EVENT_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Kind of an event; determines the meaning of its metadata. Values are bits.
typedef enum LiteRtProfilerEventType {
  // No metadata.
  DEFAULT = 1,
  // An operator ran; metadata 1 is the index of its node.
  OPERATOR_INVOKE_EVENT = 1 << 1,
  // An operator of a delegate ran; metadata 1 is an index of the delegate.
  DELEGATE_OPERATOR_INVOKE_EVENT = 1 << 2,
  // An operator of a delegate ran and is reported among the operators of the graph.
  DELEGATE_PROFILED_OPERATOR_INVOKE_EVENT = 1 << 3,
  // A stage of the runtime; the metadata are statuses of a delegate and of the runtime.
  GENERAL_RUNTIME_INSTRUMENTATION_EVENT = 1 << 4,
  // Telemetry: events and settings of an interpreter, then of a delegate.
  TELEMETRY_EVENT = 1 << 5,
  TELEMETRY_REPORT_SETTINGS = 1 << 6,
  TELEMETRY_DELEGATE_EVENT = 1 << 7,
  TELEMETRY_DELEGATE_REPORT_SETTINGS = 1 << 8,
} LiteRtProfilerEventType;

// Memory of the process at one point of time, in bytes.
typedef struct LiteRtMemoryUsage {
  // Allocated from the system.
  size_t total_allocated_bytes;
  // Allocated and in use.
  size_t in_use_allocated_bytes;
  // Resident and not shared with other processes.
  size_t private_footprint_bytes;
} LiteRtMemoryUsage;

// Component that recorded an event.
typedef enum ProfiledEventSource {
  LITERT,
  TFLITE_INTERPRETER,
  TFLITE_DELEGATE,
} ProfiledEventSource;

// One event. Times are in microseconds.
typedef struct ProfiledEventData {
  // Name of the operator or stage; belongs to the profiler.
  const char* tag;
  LiteRtProfilerEventType event_type;
  uint64_t start_timestamp_us;
  uint64_t elapsed_time_us;
  LiteRtMemoryUsage begin_mem_usage;
  LiteRtMemoryUsage end_mem_usage;
  uint64_t event_metadata1;
  uint64_t event_metadata2;
  ProfiledEventSource event_source;
} ProfiledEventData;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_PROFILER_EVENT_H_
