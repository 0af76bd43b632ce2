// SPDX-License-Identifier: Apache-2.0
//
// Definitions of the types of telemetry_setting.h. The code that reports settings fills them and
// keeps them valid during the callback; they own nothing.
#ifndef DEPUTY_C_API_SRC_TELEMETRY_H_
#define DEPUTY_C_API_SRC_TELEMETRY_H_

#include <span>

#include "c_api/include/telemetry_setting.h"

struct TfLiteTelemetryConversionMetadata {
  std::span<const int32_t> optimization_modes;
};

struct TfLiteTelemetrySubgraphInfo {
  std::span<const TfLiteQuantization> quantizations;
  // Fields that only TensorFlow 2.12 has.
  std::span<const int32_t> op_types;
  std::span<const char*> custom_op_names;
};

struct TfLiteTelemetryInterpreterSettings {
  const TfLiteTelemetryConversionMetadata* conversion_metadata = nullptr;
  std::span<const TfLiteTelemetrySubgraphInfo> subgraphs;
};

struct TfLiteTelemetryGpuDelegateSettings {
  size_t nodes_delegated = 0;
  int backend = 0;
};

#endif  // DEPUTY_C_API_SRC_TELEMETRY_H_
