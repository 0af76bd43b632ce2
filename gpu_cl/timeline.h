// SPDX-License-Identifier: Apache-2.0
//
// When a device did what, by the events of a queue with profiling.
#ifndef DEPUTY_GPU_CL_TIMELINE_H_
#define DEPUTY_GPU_CL_TIMELINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "gpu_cl/cl_api.h"

namespace deputy::gpu_cl {

// A command that has run. Times are in nanoseconds on the host's steady clock.
struct TimedCommand {
  std::string name;    // what was done
  std::string kernel;  // "" for copies
  int node = -1;       // of the model; -1: none in particular
  int64_t queued_ns = 0;
  int64_t begin_ns = 0;
  int64_t duration_ns = 0;
};

// Of one queue, by one thread at a time.
class Timeline {
 public:
  // `api` outlives it.
  explicit Timeline(const ClApi* api) : api_(api) {}
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  // Where the event of the next command goes: a pointer for its clEnqueue call, and only for that.
  cl_event* Next(TimedCommand command);
  // Reads the times of all commands since the last call, which have ended. Those that the driver
  // gives no times for, or that were never enqueued, are left out, and so is what comes after the
  // first million that nobody has taken.
  void Collect();
  // What was collected, which is forgotten.
  std::vector<TimedCommand> Take();

 private:
  struct Pending {
    TimedCommand command;
    cl_event event = nullptr;
  };

  void Release();

  const ClApi* api_;
  std::vector<Pending> pending_;
  int64_t first_enqueued_ns_ = 0;  // on the host's clock, of pending_
  std::vector<TimedCommand> done_;
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_TIMELINE_H_
