// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PROFILING_TIME_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PROFILING_TIME_H_

#include <chrono>
#include <cstdint>
#include <thread>

namespace tflite {
namespace profiling {
namespace time {

// Time on a monotonic clock, in microseconds.
inline uint64_t NowMicros() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

inline void SleepForMicros(uint64_t micros) {
  std::this_thread::sleep_for(std::chrono::microseconds(micros));
}

}  // namespace time
}  // namespace profiling
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PROFILING_TIME_H_
