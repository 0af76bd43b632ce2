// SPDX-License-Identifier: Apache-2.0
//
// Descriptors that signal the end of an asynchronous run: an eventfd and Linux's sync files. Must
// be used by one thread at a time.
#ifndef DEPUTY_CORE_ASYNC_RUN_EVENTS_H_
#define DEPUTY_CORE_ASYNC_RUN_EVENTS_H_

namespace deputy {

// Functions return negative errno codes on failure and never throw.
class RunEvents {
 public:
  RunEvents() = default;
  ~RunEvents();
  RunEvents(const RunEvents&) = delete;
  RunEvents& operator=(const RunEvents&) = delete;

  // Returns an eventfd that belongs to this object; it is readable after Signal.
  int EventFd();
  // Returns a new sync file for the caller; it is signalled after Signal. -ENOTSUP without the
  // kernel's sw_sync.
  int NewSyncFile();
  void Signal();

 private:
  bool signalled_ = false;
  int event_ = -1;
  int timeline_ = -1;  // timeline of the sync files, whose fences are at 1
};

}  // namespace deputy

#endif  // DEPUTY_CORE_ASYNC_RUN_EVENTS_H_
