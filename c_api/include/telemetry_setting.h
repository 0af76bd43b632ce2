// SPDX-License-Identifier: Apache-2.0
//
// Description of an interpreter for a telemetry profiler, and its accessors.
//
// The objects are valid only during the callback that receives them. All functions return 0 or NULL
// for NULL.
#ifndef DEPUTY_C_API_INCLUDE_TELEMETRY_SETTING_H_
#define DEPUTY_C_API_INCLUDE_TELEMETRY_SETTING_H_

#include <stddef.h>
#include <stdint.h>

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Tagged pointer to the settings of an interpreter or of a delegate.
typedef struct TfLiteTelemetrySettings {
  // Number of the component that reports, which determines the type of `data`.
  uint32_t source;
  // A TfLiteTelemetryInterpreterSettings or the settings of a delegate.
  const void* data;
} TfLiteTelemetrySettings;

// Parameters of the model's conversion.
typedef struct TfLiteTelemetryConversionMetadata TfLiteTelemetryConversionMetadata;

// Properties of an interpreter.
typedef struct TfLiteTelemetryInterpreterSettings TfLiteTelemetryInterpreterSettings;

// Properties of a subgraph.
typedef struct TfLiteTelemetrySubgraphInfo TfLiteTelemetrySubgraphInfo;

// Properties of a GPU delegate.
typedef struct TfLiteTelemetryGpuDelegateSettings TfLiteTelemetryGpuDelegateSettings;

// Returns the optimisation modes with which the model was converted.
TFL_CAPI_EXPORT const int32_t* TfLiteTelemetryConversionMetadataGetModelOptimizationModes(
    const TfLiteTelemetryConversionMetadata* metadata);

// Number of optimisation modes with which the model was converted.
TFL_CAPI_EXPORT size_t TfLiteTelemetryConversionMetadataGetNumModelOptimizationModes(
    const TfLiteTelemetryConversionMetadata* metadata);

// Returns the parameters of the model's conversion; NULL if unknown.
TFL_CAPI_EXPORT const TfLiteTelemetryConversionMetadata*
TfLiteTelemetryInterpreterSettingsGetConversionMetadata(
    const TfLiteTelemetryInterpreterSettings* settings);

// Number of subgraphs of the interpreter.
TFL_CAPI_EXPORT size_t TfLiteTelemetryInterpreterSettingsGetNumSubgraphInfo(
    const TfLiteTelemetryInterpreterSettings* settings);

// Returns an array of the subgraphs' properties.
TFL_CAPI_EXPORT const TfLiteTelemetrySubgraphInfo*
TfLiteTelemetryInterpreterSettingsGetSubgraphInfo(
    const TfLiteTelemetryInterpreterSettings* settings);

// Number of quantised tensors of a subgraph.
TFL_CAPI_EXPORT size_t
TfLiteTelemetrySubgraphInfoGetNumQuantizations(TfLiteTelemetrySubgraphInfo* subgraph_info);

// Returns an array of the quantisations of a subgraph's quantised tensors.
TFL_CAPI_EXPORT const TfLiteQuantization* TfLiteTelemetrySubgraphInfoGetQuantizations(
    TfLiteTelemetrySubgraphInfo* subgraph_info);

// Number of nodes that the GPU delegate claimed.
TFL_CAPI_EXPORT size_t TfLiteTelemetryGpuDelegateSettingsGetNumNodesDelegated(
    const TfLiteTelemetryGpuDelegateSettings* settings);

// Backend of the GPU delegate: 0 unknown, 1 OpenCL, 2 OpenGL.
TFL_CAPI_EXPORT int TfLiteTelemetryGpuDelegateSettingsGetBackend(
    const TfLiteTelemetryGpuDelegateSettings* settings);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_TELEMETRY_SETTING_H_
