// SPDX-License-Identifier: Apache-2.0
//
// Values that accelerators and dispatch plug-ins measure.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_METRICS_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_METRICS_H_

#include "litert/c/litert_any.h"
#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

// One value. Name and value belong to the metrics object.
typedef struct LiteRtMetric {
  const char* name;
  LiteRtAny value;
} LiteRtMetric;

// Creates an empty object.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateMetrics(LiteRtMetrics* metrics);

// Destroys an object; NULL is allowed.
LITERT_CAPI_EXPORT void LiteRtDestroyMetrics(LiteRtMetrics metrics);

// The following functions enumerate the values. kLiteRtStatusErrorInvalidArgument if the index is
// out of range.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetNumMetrics(LiteRtMetrics metrics, int* num_metrics);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetMetric(LiteRtMetrics metrics, int metric_index,
                                                LiteRtMetric* metric);

// Adds a value; name and string are copied (LiteRT keeps the address of the string). Since LiteRT
// 2.3.0.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtAppendMetric(LiteRtMetrics metrics,
                                                   const LiteRtMetric* metric);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_METRICS_H_
