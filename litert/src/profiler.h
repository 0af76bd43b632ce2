// SPDX-License-Identifier: Apache-2.0
//
// The profiler: events of a compiled model's operators.
#ifndef DEPUTY_LITERT_SRC_PROFILER_H_
#define DEPUTY_LITERT_SRC_PROFILER_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "litert/c/litert_profiler.h"

class LiteRtProfilerT {
 public:
  // Keeps at most `size` events; further ones are dropped.
  explicit LiteRtProfilerT(size_t size) : size_(size) {}

  // Records an event if the profiler was started.
  void Add(const char* tag, LiteRtProfilerEventType type, uint64_t begin_us, uint64_t elapsed_us,
           uint64_t node, uint64_t subgraph, ProfiledEventSource source);
  void Reset();
  // Returns a table of the recorded events: number, time and share by tag.
  std::string Summary() const;

  bool is_running = false;
  ProfiledEventSource source = LITERT;
  std::vector<ProfiledEventData> events;

 private:
  const size_t size_;
  std::set<std::string> tags_;  // texts of the events
};

#endif  // DEPUTY_LITERT_SRC_PROFILER_H_
