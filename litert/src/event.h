// SPDX-License-Identifier: Apache-2.0
//
// Events that are attached to tensor buffers: file descriptors of sync fences, events of OpenCL,
// and objects of the client.
#ifndef DEPUTY_LITERT_SRC_EVENT_H_
#define DEPUTY_LITERT_SRC_EVENT_H_

#include <cstdint>
#include <memory>

#include "litert/c/litert_event.h"
#include "litert/src/opencl.h"

class LiteRtEventT {
 public:
  explicit LiteRtEventT(LiteRtEventType event_type);
  // Closes an owned descriptor, or releases the client's event.
  ~LiteRtEventT();
  LiteRtEventT(const LiteRtEventT&) = delete;
  LiteRtEventT& operator=(const LiteRtEventT&) = delete;

  // Waits until the event is signalled; a negative timeout is infinite.
  LiteRtStatus Wait(int64_t timeout_ms) const;
  LiteRtStatus IsSignaled(bool* out_signaled) const;

  // Returns another event that is signalled with this one; null if its kind has no copies.
  std::unique_ptr<LiteRtEventT> Duplicate() const;

  // Returns true if the pointer, which is not read, is that of an event.
  static bool Exists(const LiteRtEventT* event);

  const LiteRtEventType type;
  int fd = -1;  // readable once the event is signalled
  bool owns_fd = false;
  std::unique_ptr<deputy::litert::OpenClEvent> opencl;
  LiteRtCustomEvent custom = nullptr;
};

#endif  // DEPUTY_LITERT_SRC_EVENT_H_
