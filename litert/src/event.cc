// SPDX-License-Identifier: Apache-2.0
#include "litert/src/event.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>

#include "litert/src/environment.h"
#include "litert/src/layout.h"
#include "litert/src/log.h"

using deputy::litert::Fail;
using deputy::litert::Guard;
using deputy::litert::NumberOf;

namespace {

using Clock = std::chrono::steady_clock;

// Polls a descriptor; returns kLiteRtStatusErrorTimeoutExpired if it is not readable in time.
LiteRtStatus PollFence(int fd, int64_t timeout_ms) {
  if (fd < 0) return Fail(kLiteRtStatusErrorRuntimeFailure, "event: descriptor %d is invalid", fd);
  const Clock::time_point begin = Clock::now();
  for (;;) {
    int64_t left = -1;
    if (timeout_ms >= 0) {
      const auto passed =
          std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count();
      left = std::max<int64_t>(timeout_ms - passed, 0);
    }
    pollfd request = {.fd = fd, .events = POLLIN, .revents = 0};
    const int found = poll(&request, 1, static_cast<int>(std::min<int64_t>(left, INT_MAX)));
    if (found > 0) {
      if ((request.revents & (POLLERR | POLLNVAL)) != 0) {
        return Fail(kLiteRtStatusErrorRuntimeFailure, "event: descriptor %d cannot be polled", fd);
      }
#if defined(__SANITIZE_THREAD__)
      // The thread sanitizer knows that recv orders accesses to memory, but not that poll does.
      char byte = 0;
      (void)recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
#endif
      return kLiteRtStatusOk;
    }
    if (found == 0 && left <= INT_MAX) return kLiteRtStatusErrorTimeoutExpired;
    if (found < 0 && errno != EINTR && errno != EAGAIN) {
      return Fail(kLiteRtStatusErrorRuntimeFailure, "event: descriptor %d cannot be polled", fd);
    }
  }
}

// All events, whose pointers a plug-in may confuse.
struct Events {
  std::mutex mutex;
  std::unordered_set<const LiteRtEventT*> all;
};

Events& AllEvents() {
  static auto* const events = new Events();  // plug-ins may use it at exit
  return *events;
}

}  // namespace

LiteRtEventT::LiteRtEventT(LiteRtEventType event_type) : type(event_type) {
  const std::scoped_lock lock(AllEvents().mutex);
  AllEvents().all.insert(this);
}

bool LiteRtEventT::Exists(const LiteRtEventT* event) {
  const std::scoped_lock lock(AllEvents().mutex);
  return AllEvents().all.count(event) > 0;
}

std::unique_ptr<LiteRtEventT> LiteRtEventT::Duplicate() const {
  std::unique_ptr<LiteRtEventT> copy;
  if (type == LiteRtEventTypeSyncFenceFd) {
    const int fd_copy = dup(fd);
    if (fd_copy < 0) return nullptr;
    (void)fcntl(fd_copy, F_SETFD, FD_CLOEXEC);
    copy = std::make_unique<LiteRtEventT>(type);
    copy->fd = fd_copy;
    copy->owns_fd = true;
  } else if (type == LiteRtEventTypeCustom && custom != nullptr && custom->Retain != nullptr &&
             custom->Release != nullptr) {
    copy = std::make_unique<LiteRtEventT>(type);
    custom->Retain(custom);
    copy->custom = custom;
  }
  return copy;
}

LiteRtEventT::~LiteRtEventT() {
  {
    const std::scoped_lock lock(AllEvents().mutex);
    AllEvents().all.erase(this);
  }
  if (owns_fd && fd >= 0) close(fd);
  if (custom != nullptr && custom->Release != nullptr) custom->Release(custom);
}

LiteRtStatus LiteRtEventT::Wait(int64_t timeout_ms) const {
  if (type == LiteRtEventTypeSyncFenceFd) return PollFence(fd, timeout_ms);
  if (opencl != nullptr) return opencl->Wait(timeout_ms);
  if (custom == nullptr || custom->Wait == nullptr) {
    return Fail(kLiteRtStatusErrorRuntimeFailure, "event: no custom event with Wait was set");
  }
  custom->Wait(custom, timeout_ms);
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtEventT::IsSignaled(bool* out_signaled) const {
  if (type == LiteRtEventTypeSyncFenceFd) {
    const LiteRtStatus status = PollFence(fd, 0);
    if (status != kLiteRtStatusOk && status != kLiteRtStatusErrorTimeoutExpired) return status;
    *out_signaled = status == kLiteRtStatusOk;
    return kLiteRtStatusOk;
  }
  if (opencl != nullptr) return opencl->IsSignaled(out_signaled);
  if (custom == nullptr || custom->IsSignaled == nullptr) {
    return Fail(kLiteRtStatusErrorInvalidArgument,
                "event: no custom event with IsSignaled was set");
  }
  *out_signaled = custom->IsSignaled(custom) != 0;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtCreateEventFromSyncFenceFd(LiteRtEnvironment, int sync_fence_fd, bool owns_fd,
                                              LiteRtEvent* event) {
  if (event == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] {
    auto created = std::make_unique<LiteRtEventT>(LiteRtEventTypeSyncFenceFd);
    created->fd = sync_fence_fd;
    created->owns_fd = owns_fd;
    *event = created.release();
    return kLiteRtStatusOk;
  });
}

LiteRtStatus LiteRtCreateEventFromOpenClEvent(LiteRtEnvironment, LiteRtClEvent cl_event,
                                              LiteRtEvent* event) {
  if (event == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] {
    auto created = std::make_unique<LiteRtEventT>(LiteRtEventTypeOpenCl);
    LITERT_TRY(deputy::litert::OpenClEvent::Retain(cl_event, &created->opencl));
    *event = created.release();
    return kLiteRtStatusOk;
  });
}

namespace {

LiteRtStatus CreateUserEvent(LiteRtEnvironment environment, LiteRtEvent* out_event) {
  std::string reason = "expected an environment, found NULL";
  const std::shared_ptr<deputy::litert::OpenCl> open_cl =
      environment == nullptr ? nullptr : environment->FindOpenCl(&reason);
  if (open_cl == nullptr) {
    return Fail(kLiteRtStatusErrorRuntimeFailure, "event: OpenCL is not available: %s",
                reason.c_str());
  }
  auto created = std::make_unique<LiteRtEventT>(LiteRtEventTypeOpenCl);
  LITERT_TRY(deputy::litert::OpenClEvent::CreateUser(*open_cl, &created->opencl));
  *out_event = created.release();
  return kLiteRtStatusOk;
}

}  // namespace

LiteRtStatus LiteRtCreateEventFromEglSyncFence(LiteRtEnvironment, LiteRtEglSyncKhr, LiteRtEvent*) {
  return Fail(kLiteRtStatusErrorUnsupported, "event: EGL is not supported");
}

LiteRtStatus LiteRtCreateManagedEvent(LiteRtEnvironment env, LiteRtEventType type,
                                      LiteRtEvent* event) {
  if (event == nullptr) return kLiteRtStatusErrorInvalidArgument;
  const int number = NumberOf(type);
  if (number == LiteRtEventTypeOpenCl) return Guard([&] { return CreateUserEvent(env, event); });
  if (number != LiteRtEventTypeCustom) {
    LiteRtStatus status = kLiteRtStatusErrorInvalidArgument;
    if (number == LiteRtEventTypeEglSyncFence || number == LiteRtEventTypeEglNativeSyncFence) {
      status = kLiteRtStatusErrorUnsupported;
    }
    return Fail(status, "event: expected the type custom (%d), found %d, which is not supported",
                LiteRtEventTypeCustom, number);
  }
  return Guard([&] {
    *event = new LiteRtEventT(type);
    return kLiteRtStatusOk;
  });
}

LiteRtStatus LiteRtSetCustomEvent(LiteRtEvent event, LiteRtCustomEvent custom_event) {
  if (event == nullptr) return kLiteRtStatusErrorInvalidArgument;
  if (event->type != LiteRtEventTypeCustom) return kLiteRtStatusErrorUnsupported;
  if (custom_event != nullptr && custom_event->Retain != nullptr) {
    custom_event->Retain(custom_event);
  }
  if (event->custom != nullptr && event->custom->Release != nullptr) {
    event->custom->Release(event->custom);
  }
  event->custom = custom_event;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetCustomEvent(LiteRtEvent event, LiteRtCustomEvent* custom_event) {
  if (event == nullptr || custom_event == nullptr || event->custom == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  *custom_event = event->custom;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetEventCustomNativeEvent(LiteRtEvent event, void** native) {
  if (event == nullptr || native == nullptr || event->custom == nullptr ||
      event->custom->GetNative == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  *native = event->custom->GetNative(event->custom);
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetEventEventType(LiteRtEvent event, LiteRtEventType* type) {
  if (event == nullptr || type == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *type = event->type;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetEventSyncFenceFd(LiteRtEvent event, int* sync_fence_fd) {
  if (event == nullptr || sync_fence_fd == nullptr) return kLiteRtStatusErrorInvalidArgument;
  if (event->type != LiteRtEventTypeSyncFenceFd) return kLiteRtStatusErrorUnsupported;
  *sync_fence_fd = event->fd;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetEventOpenClEvent(LiteRtEvent event, LiteRtClEvent* cl_event) {
  if (event == nullptr || cl_event == nullptr) return kLiteRtStatusErrorInvalidArgument;
  if (event->opencl == nullptr) {
    return Fail(kLiteRtStatusErrorUnsupported, "event: expected type %d, found %d",
                LiteRtEventTypeOpenCl, event->type);
  }
  *cl_event = event->opencl->event();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetEventEglSync(LiteRtEvent event, LiteRtEglSyncKhr* egl_sync) {
  if (event == nullptr || egl_sync == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return Fail(kLiteRtStatusErrorUnsupported, "event: EGL is not supported");
}

LiteRtStatus LiteRtWaitEvent(LiteRtEvent event, int64_t timeout_in_ms) {
  if (event == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] { return event->Wait(timeout_in_ms); });
}

LiteRtStatus LiteRtSignalEvent(LiteRtEvent event) {
  if (event == nullptr) return kLiteRtStatusErrorInvalidArgument;
  if (event->opencl != nullptr) return Guard([&] { return event->opencl->Signal(); });
  return Fail(kLiteRtStatusErrorInvalidArgument,
              "event: fences and custom events are signalled by their owner");
}

LiteRtStatus LiteRtIsEventSignaled(LiteRtEvent event, bool* is_signaled) {
  if (event == nullptr || is_signaled == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] { return event->IsSignaled(is_signaled); });
}

LiteRtStatus LiteRtDupFdEvent(LiteRtEvent event, int* dup_fd) {
  if (event == nullptr || dup_fd == nullptr || event->type != LiteRtEventTypeSyncFenceFd) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  const int copy = dup(event->fd);
  if (copy < 0) {
    return Fail(kLiteRtStatusErrorRuntimeFailure, "event: descriptor %d cannot be duplicated",
                event->fd);
  }
  *dup_fd = copy;
  return kLiteRtStatusOk;
}

void LiteRtDestroyEvent(LiteRtEvent event) { delete event; }
