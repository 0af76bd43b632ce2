// SPDX-License-Identifier: Apache-2.0
//
// Times of commands on a device, from the events of a queue with profiling.
#ifndef DEPUTY_GPU_CL_DEVICE_TIMELINE_H_
#define DEPUTY_GPU_CL_DEVICE_TIMELINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "gpu_cl/device/cl_api.h"

namespace deputy::gpu_cl {

// A command that has run. Times are in nanoseconds on the host's steady clock.
struct TimedCommand {
  std::string name;    // name of the operation or copy
  std::string kernel;  // "" for copies
  int node = -1;       // node of the model; -1: not specific to one
  int64_t queued_ns = 0;
  int64_t begin_ns = 0;
  int64_t duration_ns = 0;
};

// Commands of one queue. Not thread-safe.
class Timeline {
 public:
  // Creates an empty timeline. `api` must outlive it.
  explicit Timeline(const ClApi* api) : api_(api) {}
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  // Returns the address at which the event of the next command is to be stored, for use in its
  // clEnqueue call only.
  cl_event* Next(TimedCommand command);
  // Reads the times of all commands since the last call, which must have completed. Omits commands
  // that were never enqueued or for which the driver has no times. Keeps at most a million commands
  // until Take is called.
  void Collect();
  // Returns the collected commands and removes them.
  std::vector<TimedCommand> Take();
  // Returns the commands of the newest Collect, also after Take.
  const std::vector<TimedCommand>& newest() const { return newest_; }
  // Moves the collected commands of another timeline to the end of this one, also as the newest.
  void Append(Timeline* other);

 private:
  struct Pending {
    TimedCommand command;
    cl_event event = nullptr;
  };

  void Release();

  const ClApi* api_;
  std::vector<Pending> pending_;
  int64_t first_enqueued_ns_ = 0;  // enqueue time of the first of pending_, on the host's clock
  std::vector<TimedCommand> done_, newest_;
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_DEVICE_TIMELINE_H_
