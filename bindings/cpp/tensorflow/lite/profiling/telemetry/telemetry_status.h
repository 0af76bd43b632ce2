// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PROFILING_TELEMETRY_TELEMETRY_STATUS_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PROFILING_TELEMETRY_TELEMETRY_STATUS_H_

#include <cstdint>

#include "tensorflow/lite/core/c/c_api_types.h"

namespace tflite::telemetry {

// Sender of a telemetry event.
enum class TelemetrySource : uint32_t {
  UNKNOWN = 0,
  TFLITE_INTERPRETER = 1,
  TFLITE_CUSTOM_DELEGATE = 2,
  TFLITE_GPU = 3,
  TFLITE_NNAPI = 4,
  TFLITE_HEXAGON = 5,
  TFLITE_XNNPACK = 6,
  TFLITE_COREML = 7,
};

// A sender and its status.
struct TelemetryStatusCode {
  TelemetrySource source = TelemetrySource::TFLITE_INTERPRETER;
  uint32_t status_code = 0;

  TelemetryStatusCode() = default;
  TelemetryStatusCode(TelemetrySource sender, uint32_t status)
      : source(sender), status_code(status) {}
  explicit TelemetryStatusCode(TfLiteStatus status) : status_code(static_cast<uint32_t>(status)) {}
  explicit TelemetryStatusCode(uint64_t code)
      : source(static_cast<TelemetrySource>(code >> 32)),
        status_code(static_cast<uint32_t>(code)) {}

  // Returns the source in the upper 32 bits and the status in the lower 32 bits.
  uint64_t code() const { return static_cast<uint64_t>(source) << 32 | status_code; }

  bool operator==(const TelemetryStatusCode& other) const { return code() == other.code(); }
};

}  // namespace tflite::telemetry

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PROFILING_TELEMETRY_TELEMETRY_STATUS_H_
