// SPDX-License-Identifier: Apache-2.0
#include "litert/src/profiler.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "litert/src/log.h"

using deputy::litert::Fail;
using deputy::litert::Guard;

void LiteRtProfilerT::Add(const char* tag, LiteRtProfilerEventType type, uint64_t begin_us,
                          uint64_t elapsed_us, uint64_t node, uint64_t subgraph,
                          ProfiledEventSource event_source) {
  if (!is_running || events.size() >= size_) return;
  ProfiledEventData event = {};
  event.tag = tags_.emplace(tag).first->c_str();
  event.event_type = type;
  event.start_timestamp_us = begin_us;
  event.elapsed_time_us = elapsed_us;
  event.event_metadata1 = node;
  event.event_metadata2 = subgraph;
  event.event_source = event_source;
  events.push_back(event);
}

void LiteRtProfilerT::Reset() {
  events.clear();
  tags_.clear();
}

std::string LiteRtProfilerT::Summary() const {
  struct Sum {
    uint64_t count = 0, us = 0;
  };
  std::map<std::string, Sum> sums;
  uint64_t total = 0;
  for (const ProfiledEventData& event : events) {
    Sum& sum = sums[event.tag];
    ++sum.count;
    sum.us += event.elapsed_time_us;
    total += event.elapsed_time_us;
  }
  std::string text = "operator                          events          us   share\n";
  for (const auto& [tag, sum] : sums) {
    std::array<char, 128> line;
    const double share =
        total == 0 ? 0 : 100 * static_cast<double>(sum.us) / static_cast<double>(total);
    std::snprintf(line.data(), line.size(), "%-30.30s %9llu %11llu %6.1f%%\n", tag.c_str(),
                  static_cast<unsigned long long>(sum.count),
                  static_cast<unsigned long long>(sum.us), share);
    text += line.data();
  }
  return text;
}

LiteRtStatus LiteRtCreateProfiler(int size, LiteRtProfiler* profiler) {
  if (size <= 0 || profiler == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] {
    *profiler = new LiteRtProfilerT(static_cast<size_t>(size));
    return kLiteRtStatusOk;
  });
}

void LiteRtDestroyProfiler(LiteRtProfiler profiler) { delete profiler; }

LiteRtStatus LiteRtStartProfiler(LiteRtProfiler profiler) {
  if (profiler == nullptr) return kLiteRtStatusErrorInvalidArgument;
  profiler->is_running = true;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtStopProfiler(LiteRtProfiler profiler) {
  if (profiler == nullptr) return kLiteRtStatusErrorInvalidArgument;
  profiler->is_running = false;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtResetProfiler(LiteRtProfiler profiler) {
  if (profiler == nullptr) return kLiteRtStatusErrorInvalidArgument;
  profiler->Reset();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtSetProfilerCurrentEventSource(LiteRtProfiler profiler,
                                                 ProfiledEventSource event_source) {
  if (profiler == nullptr) return kLiteRtStatusErrorInvalidArgument;
  profiler->source = event_source;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetNumProfilerEvents(LiteRtProfiler profiler, int* num_events) {
  if (profiler == nullptr || num_events == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *num_events = static_cast<int>(profiler->events.size());
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetProfilerEvents(LiteRtProfiler profiler, int num_events,
                                     ProfiledEventData* events) {
  if (profiler == nullptr || events == nullptr) return kLiteRtStatusErrorInvalidArgument;
  if (num_events <= 0 || static_cast<size_t>(num_events) < profiler->events.size()) {
    return Fail(kLiteRtStatusErrorInvalidArgument,
                "profiler: expected space for %zu events, found %d", profiler->events.size(),
                num_events);
  }
  std::copy(profiler->events.begin(), profiler->events.end(), events);
  return kLiteRtStatusOk;
}

// The caller frees the summary with free.
LiteRtStatus LiteRtGetProfileSummary(LiteRtProfiler profiler, LiteRtCompiledModel compiled_model,
                                     const char** summary) {
  if (profiler == nullptr || compiled_model == nullptr || summary == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Guard([&] {
    char* const copy = strdup(profiler->Summary().c_str());
    if (copy == nullptr) return kLiteRtStatusErrorMemoryAllocationFailure;
    *summary = copy;
    return kLiteRtStatusOk;
  });
}
