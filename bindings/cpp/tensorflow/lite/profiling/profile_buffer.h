// SPDX-License-Identifier: Apache-2.0
//
// Events that a profiler has recorded. Memory usage is not recorded.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PROFILING_PROFILE_BUFFER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PROFILING_PROFILE_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tensorflow/lite/core/api/profiler.h"
#include "tensorflow/lite/profiling/time.h"

namespace tflite {
namespace profiling {

constexpr uint32_t kInvalidEventHandle = static_cast<uint32_t>(~0) - 1;

struct ProfileEvent {
  using EventType = tflite::Profiler::EventType;

  std::string tag;
  // Begin, on a monotonic clock, and duration, in microseconds. The begin is 0 for events that were
  // added after they had ended.
  uint64_t begin_timestamp_us;
  uint64_t elapsed_time;
  EventType event_type;
  // Index of the node and of the subgraph, for operators.
  int64_t event_metadata;
  int64_t extra_event_metadata;
};

// Keeps the first `max_num_entries` events, or all with `allow_dynamic_expansion`. Not thread-safe.
class ProfileBuffer {
 public:
  ProfileBuffer(uint32_t max_num_entries, bool enabled, bool allow_dynamic_expansion = false)
      : enabled_(enabled), limit_(allow_dynamic_expansion ? kInvalidEventHandle : max_num_entries) {
    events_.reserve(max_num_entries);
  }

  // While the buffer is disabled nothing is recorded.
  void SetEnabled(bool enabled) { enabled_ = enabled; }

  // Returns the number of the event for EndEvent; kInvalidEventHandle if it is not recorded.
  uint32_t BeginEvent(const char* tag, ProfileEvent::EventType event_type, int64_t event_metadata1,
                      int64_t event_metadata2) {
    if (!enabled_ || events_.size() >= limit_) return kInvalidEventHandle;
    const uint64_t now = time::NowMicros();
    events_.push_back({tag, now, 0, event_type, event_metadata1, event_metadata2});
    return static_cast<uint32_t>(events_.size() - 1);
  }

  // Replaces the metadata that are not null. Ignores a number beyond the recorded events, and every
  // call while the buffer is disabled.
  void EndEvent(uint32_t event_handle, const int64_t* event_metadata1 = nullptr,
                const int64_t* event_metadata2 = nullptr) {
    if (!enabled_ || event_handle >= events_.size()) return;
    ProfileEvent& event = events_[event_handle];
    event.elapsed_time = time::NowMicros() - event.begin_timestamp_us;
    if (event_metadata1 != nullptr) event.event_metadata = *event_metadata1;
    if (event_metadata2 != nullptr) event.extra_event_metadata = *event_metadata2;
  }

  void AddEvent(const char* tag, ProfileEvent::EventType event_type, uint64_t elapsed_time,
                int64_t event_metadata1, int64_t event_metadata2) {
    if (!enabled_ || events_.size() >= limit_) return;
    events_.push_back({tag, 0, elapsed_time, event_type, event_metadata1, event_metadata2});
  }

  size_t Size() const { return events_.size(); }
  // Null for an index out of range. The pointer is valid until an event is added or Reset is
  // called.
  const ProfileEvent* At(size_t index) const {
    return index < events_.size() ? &events_[index] : nullptr;
  }

  // Removes all events and disables the buffer.
  void Reset() {
    enabled_ = false;
    events_.clear();
  }

 private:
  bool enabled_;
  uint32_t limit_;
  std::vector<ProfileEvent> events_;
};

}  // namespace profiling
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PROFILING_PROFILE_BUFFER_H_
