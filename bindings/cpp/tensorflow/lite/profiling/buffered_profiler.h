// SPDX-License-Identifier: Apache-2.0
//
// A profiler that records the events between StartProfiling and StopProfiling.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PROFILING_BUFFERED_PROFILER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PROFILING_BUFFERED_PROFILER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tensorflow/lite/core/api/profiler.h"
#include "tensorflow/lite/profiling/profile_buffer.h"

namespace tflite {
namespace profiling {

// Records operators and events of type DEFAULT, such as AllocateTensors, but neither telemetry nor
// GENERAL_RUNTIME_INSTRUMENTATION_EVENT, such as Invoke. Not thread-safe.
class BufferedProfiler : public tflite::Profiler {
 public:
  BufferedProfiler(uint32_t max_num_initial_entries, bool allow_dynamic_buffer_increase)
      : buffer_(max_num_initial_entries, /*enabled=*/false, allow_dynamic_buffer_increase) {}
  explicit BufferedProfiler(uint32_t max_num_entries) : BufferedProfiler(max_num_entries, false) {}

  void StartProfiling() { buffer_.SetEnabled(true); }
  void StopProfiling() { buffer_.SetEnabled(false); }
  void Reset() { buffer_.Reset(); }

  // The pointers are valid until the next event or Reset.
  std::vector<const ProfileEvent*> GetProfileEvents() {
    std::vector<const ProfileEvent*> events;
    for (size_t i = 0; i < buffer_.Size(); ++i) events.push_back(buffer_.At(i));
    return events;
  }

  uint32_t BeginEvent(const char* tag, EventType event_type, int64_t event_metadata1,
                      int64_t event_metadata2) override {
    if (!ShouldAddEvent(event_type)) return kInvalidEventHandle;
    return buffer_.BeginEvent(tag, event_type, event_metadata1, event_metadata2);
  }
  void EndEvent(uint32_t event_handle) override { buffer_.EndEvent(event_handle); }
  void EndEvent(uint32_t event_handle, int64_t event_metadata1, int64_t event_metadata2) override {
    buffer_.EndEvent(event_handle, &event_metadata1, &event_metadata2);
  }
  void AddEvent(const char* tag, EventType event_type, uint64_t elapsed_time,
                int64_t event_metadata1, int64_t event_metadata2) override {
    if (!ShouldAddEvent(event_type)) return;
    buffer_.AddEvent(tag, event_type, elapsed_time, event_metadata1, event_metadata2);
  }

 protected:
  bool ShouldAddEvent(EventType event_type) {
    switch (event_type) {
      case EventType::DEFAULT:
      case EventType::OPERATOR_INVOKE_EVENT:
      case EventType::DELEGATE_OPERATOR_INVOKE_EVENT:
      case EventType::DELEGATE_PROFILED_OPERATOR_INVOKE_EVENT:
        return true;
      default:
        return false;
    }
  }

 private:
  ProfileBuffer buffer_;
};

}  // namespace profiling
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PROFILING_BUFFERED_PROFILER_H_
