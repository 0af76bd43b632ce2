// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PROFILING_NOOP_PROFILER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PROFILING_NOOP_PROFILER_H_

#include <cstdint>
#include <vector>

#include "tensorflow/lite/core/api/profiler.h"
#include "tensorflow/lite/profiling/profile_buffer.h"

namespace tflite {
namespace profiling {

// Ignores all events.
class NoopProfiler : public tflite::Profiler {
 public:
  NoopProfiler() = default;
  explicit NoopProfiler(int /*max_profiling_buffer_entries*/) {}

  uint32_t BeginEvent(const char*, EventType, int64_t, int64_t) override { return 0; }
  void EndEvent(uint32_t) override {}

  void StartProfiling() {}
  void StopProfiling() {}
  void Reset() {}
  std::vector<const ProfileEvent*> GetProfileEvents() { return {}; }
};

}  // namespace profiling
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PROFILING_NOOP_PROFILER_H_
