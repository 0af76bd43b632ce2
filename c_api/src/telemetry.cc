// SPDX-License-Identifier: Apache-2.0
//
// Accessors of the settings objects that telemetry callbacks receive. The last four functions exist
// in TensorFlow 2.12 only.
#include "c_api/src/telemetry.h"

extern "C" {

const int32_t* TfLiteTelemetryConversionMetadataGetModelOptimizationModes(
    const TfLiteTelemetryConversionMetadata* metadata) {
  return metadata == nullptr ? nullptr : metadata->optimization_modes.data();
}

size_t TfLiteTelemetryConversionMetadataGetNumModelOptimizationModes(
    const TfLiteTelemetryConversionMetadata* metadata) {
  return metadata == nullptr ? 0 : metadata->optimization_modes.size();
}

const TfLiteTelemetryConversionMetadata* TfLiteTelemetryInterpreterSettingsGetConversionMetadata(
    const TfLiteTelemetryInterpreterSettings* settings) {
  return settings == nullptr ? nullptr : settings->conversion_metadata;
}

size_t TfLiteTelemetryInterpreterSettingsGetNumSubgraphInfo(
    const TfLiteTelemetryInterpreterSettings* settings) {
  return settings == nullptr ? 0 : settings->subgraphs.size();
}

const TfLiteTelemetrySubgraphInfo* TfLiteTelemetryInterpreterSettingsGetSubgraphInfo(
    const TfLiteTelemetryInterpreterSettings* settings) {
  return settings == nullptr ? nullptr : settings->subgraphs.data();
}

size_t TfLiteTelemetrySubgraphInfoGetNumQuantizations(TfLiteTelemetrySubgraphInfo* subgraph_info) {
  return subgraph_info == nullptr ? 0 : subgraph_info->quantizations.size();
}

const TfLiteQuantization* TfLiteTelemetrySubgraphInfoGetQuantizations(
    TfLiteTelemetrySubgraphInfo* subgraph_info) {
  return subgraph_info == nullptr ? nullptr : subgraph_info->quantizations.data();
}

size_t TfLiteTelemetryGpuDelegateSettingsGetNumNodesDelegated(
    const TfLiteTelemetryGpuDelegateSettings* settings) {
  return settings == nullptr ? 0 : settings->nodes_delegated;
}

int TfLiteTelemetryGpuDelegateSettingsGetBackend(
    const TfLiteTelemetryGpuDelegateSettings* settings) {
  return settings == nullptr ? 0 : settings->backend;
}

TFL_CAPI_EXPORT size_t
TfLiteTelemetrySubgraphInfoGetNumOpTypes(TfLiteTelemetrySubgraphInfo* subgraph_info) {
  return subgraph_info == nullptr ? 0 : subgraph_info->op_types.size();
}

TFL_CAPI_EXPORT const int32_t* TfLiteTelemetrySubgraphInfoGetOpTypes(
    TfLiteTelemetrySubgraphInfo* subgraph_info) {
  return subgraph_info == nullptr ? nullptr : subgraph_info->op_types.data();
}

TFL_CAPI_EXPORT size_t
TfLiteTelemetrySubgraphInfoGetNumCustomOpNames(TfLiteTelemetrySubgraphInfo* subgraph_info) {
  return subgraph_info == nullptr ? 0 : subgraph_info->custom_op_names.size();
}

TFL_CAPI_EXPORT const char** TfLiteTelemetrySubgraphInfoGetCustomOpNames(
    TfLiteTelemetrySubgraphInfo* subgraph_info) {
  return subgraph_info == nullptr ? nullptr : subgraph_info->custom_op_names.data();
}

}  // extern "C"
