// SPDX-License-Identifier: Apache-2.0
//
// Descriptors of eventfds, with which tasks wait for their inputs and signal their end.
#ifndef DEPUTY_GPU_CL_ASYNC_EVENTS_H_
#define DEPUTY_GPU_CL_ASYNC_EVENTS_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "gpu_cl/device/cl_api.h"

namespace deputy::gpu_cl {

// Owns a descriptor.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&&) = delete;

  int get() const { return descriptor_; }

 private:
  int descriptor_;  // -1: none
};

// Returns a new eventfd, whose descriptor is -1 if none is available.
Descriptor NewEvent();
// Returns a copy of a descriptor, which is -1 if that fails.
Descriptor CopyOf(int descriptor);
// Makes an eventfd readable.
void SignalEvent(const Descriptor& event);
// Waits until all eventfds of `events` have been readable. Returns false if `stop` becomes readable
// first, or if poll fails for a descriptor.
bool AwaitEvents(const std::vector<Descriptor>& events, const Descriptor& stop);

// Eventfds that are signalled once, at the latest by the destructor. Thread-safe.
class EndSignal {
 public:
  EndSignal() = default;
  ~EndSignal() { Send(); }
  EndSignal(const EndSignal&) = delete;
  EndSignal& operator=(const EndSignal&) = delete;

  // Adds an eventfd and returns the caller's own descriptor of it; -1 if none is available.
  int Add();
  bool empty() const;
  // Signals and removes all eventfds.
  void Send();

 private:
  mutable std::mutex mutex_;
  std::vector<Descriptor> events_;
};

// Callbacks of OpenCL's events. They do not call OpenCL, because blocking calls in a callback are
// undefined. Thread-safe.
class EventCallbacks {
 public:
  EventCallbacks() : state_(std::make_shared<State>()) {}

  // Sends the signal when the event completes or fails.
  ClStatus SendAfter(const ClApi& api, cl_event event, const std::shared_ptr<EndSignal>& signal);
  // Waits until the callbacks of all events have been called.
  void Await();

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    int pending = 0;
  };
  struct Callback {
    std::shared_ptr<State> state;
    std::shared_ptr<EndSignal> signal;
  };

  static void CL_CALLBACK Call(cl_event event, cl_int status, void* callback);

  std::shared_ptr<State> state_;
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_ASYNC_EVENTS_H_
