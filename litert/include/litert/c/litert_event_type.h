// SPDX-License-Identifier: Apache-2.0
//
// Kinds of events, and events that a client implements.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_EVENT_TYPE_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_EVENT_TYPE_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Kind of an event.
typedef enum {
  LiteRtEventTypeUnknown = 0,
  // Linux sync fence, by file descriptor.
  LiteRtEventTypeSyncFenceFd = 1,
  // cl_event.
  LiteRtEventTypeOpenCl = 2,
  // EGLSyncKHR without and with a file descriptor.
  LiteRtEventTypeEglSyncFence = 3,
  LiteRtEventTypeEglNativeSyncFence = 4,
  // LiteRtCustomEvent.
  LiteRtEventTypeCustom = 5,
} LiteRtEventType;

// Event of a client. The client's struct begins with these callbacks, which may be called on any
// thread. The client counts references and destroys the event with the last one.
typedef struct LiteRtCustomEventT* LiteRtCustomEvent;
struct LiteRtCustomEventT {
  // Adds a reference.
  void (*Retain)(LiteRtCustomEvent event);
  // Releases a reference.
  void (*Release)(LiteRtCustomEvent event);
  // Waits until the event is signalled, at most `timeout_in_ms` milliseconds; negative: without a
  // limit.
  void (*Wait)(LiteRtCustomEvent event, int64_t timeout_in_ms);
  // Returns 1 if the event is signalled, otherwise 0.
  int (*IsSignaled)(LiteRtCustomEvent event);
  // Returns the event of the underlying API; NULL if there is none.
  void* (*GetNative)(LiteRtCustomEvent event);
};

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_EVENT_TYPE_H_
