// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/async_events.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <new>
#include <utility>

namespace deputy::gpu_cl {

Descriptor::~Descriptor() {
  if (descriptor_ >= 0) close(descriptor_);
}

Descriptor::Descriptor(Descriptor&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

Descriptor NewEvent() { return Descriptor(eventfd(0, EFD_CLOEXEC)); }

Descriptor CopyOf(int descriptor) { return Descriptor(fcntl(descriptor, F_DUPFD_CLOEXEC, 0)); }

void SignalEvent(const Descriptor& event) {
  const uint64_t one = 1;
  while (write(event.get(), &one, sizeof one) < 0 && errno == EINTR) {
  }
}

bool AwaitEvents(const std::vector<Descriptor>& events, const Descriptor& stop) {
  for (const Descriptor& event : events) {
    pollfd entries[2] = {{event.get(), POLLIN, 0}, {stop.get(), POLLIN, 0}};
    while (poll(entries, 2, -1) < 0) {
      if (errno != EINTR) return false;
    }
    if (entries[1].revents != 0 || (entries[0].revents & POLLIN) == 0) return false;
  }
  return true;
}

int EndSignal::Add() {
  Descriptor event = NewEvent();
  const std::lock_guard lock(mutex_);
  events_.reserve(events_.size() + 1);
  const int client = event.get() < 0 ? -1 : fcntl(event.get(), F_DUPFD_CLOEXEC, 0);
  if (client >= 0) events_.push_back(std::move(event));
  return client;
}

bool EndSignal::empty() const {
  const std::lock_guard lock(mutex_);
  return events_.empty();
}

void EndSignal::Send() {
  const std::lock_guard lock(mutex_);
  for (const Descriptor& event : events_) SignalEvent(event);
  events_.clear();
}

void EventCallbacks::Call(cl_event, cl_int, void* data) {
  auto* const callback = static_cast<Callback*>(data);
  callback->signal->Send();
  const std::shared_ptr<State> state = std::move(callback->state);
  delete callback;
  const std::lock_guard lock(state->mutex);
  --state->pending;
  state->changed.notify_all();
}

ClStatus EventCallbacks::SendAfter(const ClApi& api, cl_event event,
                                   const std::shared_ptr<EndSignal>& signal) {
  std::unique_ptr<Callback> callback(new (std::nothrow) Callback{state_, signal});
  if (callback == nullptr) return {CL_OUT_OF_HOST_MEMORY, "out of memory"};
  {
    const std::lock_guard lock(state_->mutex);
    ++state_->pending;
  }
  // The driver may call the function at once, on this thread.
  Callback* const passed = callback.release();
  ClStatus status =
      ClCall("clSetEventCallback", api.SetEventCallback(event, CL_COMPLETE, &Call, passed));
  if (status.ok()) return status;
  delete passed;
  const std::lock_guard lock(state_->mutex);
  --state_->pending;
  return status;
}

void EventCallbacks::Await() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->pending == 0; });
}

}  // namespace deputy::gpu_cl
