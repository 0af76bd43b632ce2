// SPDX-License-Identifier: Apache-2.0
//
// What an interpreter tells a telemetry profiler about itself, and the functions that read it.
//
// The objects live only during the callback that hands them out. All functions answer 0 or NULL for
// NULL.
#ifndef DEPUTY_C_API_INCLUDE_TELEMETRY_SETTING_H_
#define DEPUTY_C_API_INCLUDE_TELEMETRY_SETTING_H_

#include <stddef.h>
#include <stdint.h>

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

// A tagged pointer to one of the objects below.
typedef struct TfLiteTelemetrySettings {
  // Who speaks, and so what `data` points to.
  uint32_t source;
  // A TfLiteTelemetryInterpreterSettings or the settings of a delegate.
  const void* data;
} TfLiteTelemetrySettings;

// How the model was converted.
typedef struct TfLiteTelemetryConversionMetadata TfLiteTelemetryConversionMetadata;

// What is known about an interpreter.
typedef struct TfLiteTelemetryInterpreterSettings TfLiteTelemetryInterpreterSettings;

// What is known about a subgraph.
typedef struct TfLiteTelemetrySubgraphInfo TfLiteTelemetrySubgraphInfo;

// What is known about a GPU delegate.
typedef struct TfLiteTelemetryGpuDelegateSettings TfLiteTelemetryGpuDelegateSettings;

// The optimisation modes the model was converted with.
TFL_CAPI_EXPORT const int32_t* TfLiteTelemetryConversionMetadataGetModelOptimizationModes(
    const TfLiteTelemetryConversionMetadata* metadata);

// Their number.
TFL_CAPI_EXPORT size_t TfLiteTelemetryConversionMetadataGetNumModelOptimizationModes(
    const TfLiteTelemetryConversionMetadata* metadata);

// How the model was converted; NULL if it does not say.
TFL_CAPI_EXPORT const TfLiteTelemetryConversionMetadata*
TfLiteTelemetryInterpreterSettingsGetConversionMetadata(
    const TfLiteTelemetryInterpreterSettings* settings);

// Number of subgraphs.
TFL_CAPI_EXPORT size_t TfLiteTelemetryInterpreterSettingsGetNumSubgraphInfo(
    const TfLiteTelemetryInterpreterSettings* settings);

// The subgraphs, an array.
TFL_CAPI_EXPORT const TfLiteTelemetrySubgraphInfo*
TfLiteTelemetryInterpreterSettingsGetSubgraphInfo(
    const TfLiteTelemetryInterpreterSettings* settings);

// Number of quantised tensors of a subgraph.
TFL_CAPI_EXPORT size_t
TfLiteTelemetrySubgraphInfoGetNumQuantizations(TfLiteTelemetrySubgraphInfo* subgraph_info);

// Their quantisations, an array.
TFL_CAPI_EXPORT const TfLiteQuantization* TfLiteTelemetrySubgraphInfoGetQuantizations(
    TfLiteTelemetrySubgraphInfo* subgraph_info);

// Number of nodes that the GPU delegate took.
TFL_CAPI_EXPORT size_t TfLiteTelemetryGpuDelegateSettingsGetNumNodesDelegated(
    const TfLiteTelemetryGpuDelegateSettings* settings);

// The backend that the GPU delegate uses: 0 unknown, 1 OpenCL, 2 OpenGL.
TFL_CAPI_EXPORT int TfLiteTelemetryGpuDelegateSettingsGetBackend(
    const TfLiteTelemetryGpuDelegateSettings* settings);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_TELEMETRY_SETTING_H_
