// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PROFILING_ROOT_PROFILER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PROFILING_ROOT_PROFILER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "tensorflow/lite/core/api/profiler.h"

namespace tflite {
namespace profiling {

// Passes each event to all profilers that were added.
class RootProfiler : public Profiler {
 public:
  RootProfiler() = default;
  RootProfiler(const RootProfiler&) = delete;
  RootProfiler& operator=(const RootProfiler&) = delete;
  RootProfiler(RootProfiler&&) = default;
  RootProfiler& operator=(RootProfiler&&) = default;

  // Add a borrowed profiler, or one that this object then owns. Null is ignored.
  void AddProfiler(Profiler* profiler) {
    if (profiler != nullptr) profilers_.push_back(profiler);
  }
  void AddProfiler(std::unique_ptr<Profiler>&& profiler) {
    if (profiler == nullptr) return;
    owned_profilers_.push_back(std::move(profiler));
    profilers_.push_back(owned_profilers_.back().get());
  }

  // Removes all profilers; events that have not ended are discarded.
  void RemoveChildProfilers() {
    profilers_.clear();
    owned_profilers_.clear();
    events_.clear();
  }

  uint32_t BeginEvent(const char* tag, EventType event_type, int64_t event_metadata1,
                      int64_t event_metadata2) override {
    // The event numbers of a single profiler are passed through, so nothing needs to be stored.
    if (profilers_.size() == 1) {
      return profilers_[0]->BeginEvent(tag, event_type, event_metadata1, event_metadata2);
    }
    std::vector<uint32_t> handles;
    handles.reserve(profilers_.size());
    ForEach([&](Profiler* profiler) {
      handles.push_back(profiler->BeginEvent(tag, event_type, event_metadata1, event_metadata2));
    });
    const uint32_t event = next_event_++;
    events_.emplace(event, std::move(handles));
    return event;
  }

  void EndEvent(uint32_t event_handle, int64_t event_metadata1, int64_t event_metadata2) override {
    End(event_handle, [&](Profiler* profiler, uint32_t handle) {
      profiler->EndEvent(handle, event_metadata1, event_metadata2);
    });
  }
  void EndEvent(uint32_t event_handle) override {
    End(event_handle, [](Profiler* profiler, uint32_t handle) { profiler->EndEvent(handle); });
  }

  void AddEvent(const char* tag, EventType event_type, uint64_t metric, int64_t event_metadata1,
                int64_t event_metadata2) override {
    ForEach([&](Profiler* profiler) {
      profiler->AddEvent(tag, event_type, metric, event_metadata1, event_metadata2);
    });
  }

  void AddEventWithData(const char* tag, EventType event_type, const void* data) override {
    ForEach([&](Profiler* profiler) { profiler->AddEventWithData(tag, event_type, data); });
  }

 private:
  // A profiler may add others, which reallocates the list; they receive later events.
  template <typename Function>
  void ForEach(const Function& call) {
    const size_t count = profilers_.size();
    for (size_t i = 0; i < count; ++i) call(profilers_[i]);
  }

  // With a single profiler, passes every number to it. With several, ignores numbers that
  // BeginEvent did not return.
  template <typename Function>
  void End(uint32_t event, const Function& end) {
    if (profilers_.size() == 1) return end(profilers_[0], event);
    const auto found = events_.find(event);
    if (found == events_.end()) return;
    for (size_t i = 0; i < found->second.size() && i < profilers_.size(); ++i) {
      end(profilers_[i], found->second[i]);
    }
    events_.erase(found);
  }

  uint32_t next_event_ = 1;
  std::vector<std::unique_ptr<Profiler>> owned_profilers_;
  std::vector<Profiler*> profilers_;
  std::map<uint32_t, std::vector<uint32_t>> events_;
};

}  // namespace profiling
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PROFILING_ROOT_PROFILER_H_
