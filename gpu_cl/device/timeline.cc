// SPDX-License-Identifier: Apache-2.0
//
// Reads the times of a run's commands and converts them to the host's clock. A device has its own
// clock, which is aligned with the host's for each run by the time at which the first command was
// enqueued.
#include "gpu_cl/device/timeline.h"

#include <chrono>
#include <cstddef>
#include <utility>

namespace deputy::gpu_cl {
namespace {

constexpr size_t kMaxKept = 1000000;

int64_t NowNs() {
  using std::chrono::steady_clock;
  return std::chrono::nanoseconds(steady_clock::now().time_since_epoch()).count();
}

// Reads the times of one event on the device's clock. Returns false if the driver has none.
bool ReadTimes(const ClApi& api, cl_event event, TimedCommand* command) {
  cl_ulong queued = 0, begin = 0, end = 0;
  const auto read = [&](cl_profiling_info what, cl_ulong* out_value) {
    return event != nullptr && api.GetEventProfilingInfo(event, what, sizeof *out_value, out_value,
                                                         nullptr) == CL_SUCCESS;
  };
  if (!read(CL_PROFILING_COMMAND_QUEUED, &queued) || !read(CL_PROFILING_COMMAND_START, &begin) ||
      !read(CL_PROFILING_COMMAND_END, &end)) {
    return false;
  }
  command->queued_ns = static_cast<int64_t>(queued);
  command->begin_ns = static_cast<int64_t>(begin);
  command->duration_ns = static_cast<int64_t>(end - begin);
  return true;
}

}  // namespace

Timeline::~Timeline() { Release(); }

void Timeline::Release() {
  for (const Pending& pending : pending_) {
    if (pending.event != nullptr) api_->ReleaseEvent(pending.event);
  }
  pending_.clear();
}

cl_event* Timeline::Next(TimedCommand command) {
  if (pending_.empty()) first_enqueued_ns_ = NowNs();
  pending_.push_back({std::move(command)});
  return &pending_.back().event;
}

void Timeline::Collect() {
  bool anchored = false;
  int64_t offset = 0;  // host's clock minus the device's clock, in nanoseconds
  newest_.clear();
  for (Pending& pending : pending_) {
    TimedCommand& command = pending.command;
    if (!ReadTimes(*api_, pending.event, &command)) continue;
    if (!anchored) offset = first_enqueued_ns_ - command.queued_ns;
    anchored = true;
    command.queued_ns += offset;
    command.begin_ns += offset;
    if (done_.size() < kMaxKept) done_.push_back(command);
    newest_.push_back(std::move(command));
  }
  Release();
}

void Timeline::Append(Timeline* other) {
  for (TimedCommand& command : other->done_) {
    if (done_.size() < kMaxKept) done_.push_back(std::move(command));
  }
  other->done_.clear();
  newest_ = std::move(other->newest_);
}

std::vector<TimedCommand> Timeline::Take() { return std::exchange(done_, {}); }

}  // namespace deputy::gpu_cl
