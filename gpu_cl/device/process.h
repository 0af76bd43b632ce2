// SPDX-License-Identifier: Apache-2.0
//
// Detects children made by fork(). Threads of OpenCL drivers do not exist in a child, so any call
// there, even a release, may block forever.
#ifndef DEPUTY_GPU_CL_DEVICE_PROCESS_H_
#define DEPUTY_GPU_CL_DEVICE_PROCESS_H_

#include <sys/types.h>
#include <unistd.h>

#include <string>

namespace deputy::gpu_cl {

// Records the process that created an object that uses OpenCL.
class ProcessMark {
 public:
  // Returns "" in the process that created the mark, else the error to report.
  std::string ForkError() const;
  bool IsForked() const { return getpid() != process_; }

 private:
  pid_t process_ = getpid();
};

// Records the process that calls a driver first. Must be called before that call. Returns "", or
// the error to report in a child of the process that made the first call.
std::string StartDrivers();

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_DEVICE_PROCESS_H_
