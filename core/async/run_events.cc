// SPDX-License-Identifier: Apache-2.0
#include "core/async/run_events.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace deputy {
namespace {

// Interface of the kernel's sw_sync driver, for which there is no header in /usr/include.
struct CreateFence {
  uint32_t value;
  char name[32];
  int32_t fence;  // the new descriptor
};
constexpr unsigned long kCreateFence = _IOWR('W', 0, CreateFence);
constexpr unsigned long kIncrement = _IOW('W', 1, uint32_t);

// Path on Linux 4.8 and later, then that of Android's older kernels.
constexpr const char* kTimelinePaths[] = {"/sys/kernel/debug/sync/sw_sync", "/dev/sw_sync"};

int OpenTimeline() {
  for (const char* path : kTimelinePaths) {
    const int timeline = open(path, O_RDWR | O_CLOEXEC);
    if (timeline >= 0) return timeline;
  }
  return -ENOTSUP;
}

}  // namespace

RunEvents::~RunEvents() {
  if (event_ >= 0) close(event_);
  if (timeline_ >= 0) close(timeline_);
}

int RunEvents::EventFd() {
  if (event_ >= 0) return event_;
  const int event = eventfd(signalled_ ? 1 : 0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (event < 0) return -errno;
  return event_ = event;
}

int RunEvents::NewSyncFile() {
  if (timeline_ < 0) {
    const int timeline = OpenTimeline();
    if (timeline < 0) return timeline;
    timeline_ = timeline;
    if (signalled_) Signal();
  }
  CreateFence fence = {1, "deputy_run", -1};
  if (ioctl(timeline_, kCreateFence, &fence) != 0) return errno == ENOTTY ? -ENOTSUP : -errno;
  return fence.fence;
}

void RunEvents::Signal() {
  if (event_ >= 0 && !signalled_) (void)eventfd_write(event_, 1);
  uint32_t steps = 1;
  if (timeline_ >= 0) (void)ioctl(timeline_, kIncrement, &steps);
  signalled_ = true;
}

}  // namespace deputy
