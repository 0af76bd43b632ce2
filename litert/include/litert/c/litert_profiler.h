// SPDX-License-Identifier: Apache-2.0
//
// Profilers: they record the durations of operators and stages.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_PROFILER_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_PROFILER_H_

#include "litert/c/litert_common.h"
#include "litert/c/litert_profiler_event.h"

#ifdef __cplusplus
extern "C" {
#endif

// Creates a profiler that keeps at most `size` events, at least one: the latest ones in LiteRT, the
// first ones in Deputy.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateProfiler(int size, LiteRtProfiler* profiler);

// Destroys a profiler that the caller owns.
LITERT_CAPI_EXPORT void LiteRtDestroyProfiler(LiteRtProfiler profiler);

// The following functions start and stop the recording, and discard the recorded events.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtStartProfiler(LiteRtProfiler profiler);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtStopProfiler(LiteRtProfiler profiler);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtResetProfiler(LiteRtProfiler profiler);

// Sets the component to which later events are attributed.
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtSetProfilerCurrentEventSource(LiteRtProfiler profiler, ProfiledEventSource event_source);

// Returns the number of recorded events.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetNumProfilerEvents(LiteRtProfiler profiler,
                                                           int* num_events);

// Copies the events to an array of the caller. kLiteRtStatusErrorInvalidArgument if it has fewer
// than all or no elements.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetProfilerEvents(LiteRtProfiler profiler, int num_events,
                                                        ProfiledEventData* events);

// Returns a table of the operators of a compiled model as text, which the caller releases with
// free().
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetProfileSummary(LiteRtProfiler profiler,
                                                        LiteRtCompiledModel compiled_model,
                                                        const char** summary);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_PROFILER_H_
