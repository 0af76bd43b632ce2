// SPDX-License-Identifier: Apache-2.0
//
// Events: they are signalled when the content of a buffer is complete. An event may be waited for
// by several threads. Getters return kLiteRtStatusErrorUnsupported if the event is of another kind.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_EVENT_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_EVENT_H_

#include <stdbool.h>
#include <stdint.h>

#include "litert/c/litert_common.h"
#include "litert/c/litert_event_type.h"
#include "litert/c/litert_gl_types.h"
#include "litert/c/litert_opencl_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Creation -----------------------------------------------------------------------------------

// Creates an event for a sync fence. With `owns_fd` the event closes the file descriptor.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateEventFromSyncFenceFd(LiteRtEnvironment env,
                                                                 int sync_fence_fd, bool owns_fd,
                                                                 LiteRtEvent* event);

// Creates an event for a cl_event, to which it adds a reference.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateEventFromOpenClEvent(LiteRtEnvironment env,
                                                                 LiteRtClEvent cl_event,
                                                                 LiteRtEvent* event);

// Creates an event for an EGLSyncKHR.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateEventFromEglSyncFence(LiteRtEnvironment env,
                                                                  LiteRtEglSyncKhr egl_sync,
                                                                  LiteRtEvent* event);

// Creates an event with an object that the library makes. kLiteRtStatusErrorUnsupported if it
// cannot make objects of this kind.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateManagedEvent(LiteRtEnvironment env,
                                                         LiteRtEventType type, LiteRtEvent* event);

// Destroys an event that the caller owns; NULL is allowed.
LITERT_CAPI_EXPORT void LiteRtDestroyEvent(LiteRtEvent event);

// ---- State --------------------------------------------------------------------------------------

// Waits until the event is signalled, at most `timeout_in_ms` milliseconds; -1: without a limit.
// kLiteRtStatusErrorTimeoutExpired if the time is over.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtWaitEvent(LiteRtEvent event, int64_t timeout_in_ms);

// Signals a managed OpenCL event; an error for other kinds.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtSignalEvent(LiteRtEvent event);

// Sets `is_signaled` to whether the event is signalled.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtIsEventSignaled(LiteRtEvent event, bool* is_signaled);

// ---- Underlying objects -------------------------------------------------------------------------

// Returns the kind of the event.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetEventEventType(LiteRtEvent event, LiteRtEventType* type);

// Returns the sync fence, which stays with the event.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetEventSyncFenceFd(LiteRtEvent event, int* sync_fence_fd);

// Returns a copy of the sync fence, which the caller closes.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDupFdEvent(LiteRtEvent event, int* dup_fd);

// Returns the cl_event or EGLSyncKHR, which stays with the event.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetEventOpenClEvent(LiteRtEvent event,
                                                          LiteRtClEvent* cl_event);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetEventEglSync(LiteRtEvent event,
                                                      LiteRtEglSyncKhr* egl_sync);

// Sets the client's event of an event of kind LiteRtEventTypeCustom: adds a reference to it and
// releases the previous one.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtSetCustomEvent(LiteRtEvent event,
                                                     LiteRtCustomEvent custom_event);

// Returns the client's event without a new reference.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetCustomEvent(LiteRtEvent event,
                                                     LiteRtCustomEvent* custom_event);

// Returns the result of GetNative of the client's event.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetEventCustomNativeEvent(LiteRtEvent event, void** native);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_EVENT_H_
