// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/device/process.h"

#include <atomic>

namespace deputy::gpu_cl {
namespace {

std::string TextFor(pid_t process) {
  return "OpenCL was initialised in process " + std::to_string(process) +
         " and does not work in its forked child " + std::to_string(getpid()) +
         ": create the delegate after fork()";
}

}  // namespace

std::string ProcessMark::ForkError() const { return IsForked() ? TextFor(process_) : ""; }

std::string StartDrivers() {
  static std::atomic<pid_t> first = 0;
  pid_t process = 0;
  if (first.compare_exchange_strong(process, getpid()) || process == getpid()) return "";
  return TextFor(process);
}

}  // namespace deputy::gpu_cl
