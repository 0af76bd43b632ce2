// SPDX-License-Identifier: Apache-2.0
//
// Options of WebNN, the browsers' API for neural networks.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_WEBNN_OPTIONS_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_WEBNN_OPTIONS_H_

#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Kind of device.
typedef enum {
  kLiteRtWebNnDeviceTypeCpu = 0,
  kLiteRtWebNnDeviceTypeGpu = 1,
  kLiteRtWebNnDeviceTypeNpu = 2,
} LiteRtWebNnDeviceType;

// Trade-off between power and speed.
typedef enum {
  kLiteRtWebNnPowerPreferenceDefault = 0,
  kLiteRtWebNnPowerPreferenceHighPerformance = 1,
  kLiteRtWebNnPowerPreferenceLowPower = 2,
} LiteRtWebNnPowerPreference;

// Precision of the arithmetic.
typedef enum {
  kLiteRtWebNnPrecisionFp32 = 0,
  kLiteRtWebNnPrecisionFp16 = 1,
} LiteRtWebNnPrecision;

// Options object.
typedef struct LrtWebNnOptions LrtWebNnOptions;

// Creates options with default values.
LiteRtStatus LrtCreateWebNnOptions(LrtWebNnOptions** options);

// Creates options from a TOML text, the form of the payload.
LiteRtStatus LrtCreateWebNnOptionsFromToml(const char* toml_string, LrtWebNnOptions** options);

// Destroys options; NULL is allowed.
void LrtDestroyWebNnOptions(LrtWebNnOptions* options);

// Returns the arguments of LiteRtCreateOpaqueOptions: the identifier, the options as TOML text,
// which the caller owns, and its deleter.
LiteRtStatus LrtGetOpaqueWebNnOptionsData(const LrtWebNnOptions* options, const char** identifier,
                                          void** payload, void (**payload_deleter)(void*));

// Device.
LiteRtStatus LrtSetWebNnOptionsDevicePreference(LrtWebNnOptions* options,
                                                LiteRtWebNnDeviceType device_type);
LiteRtStatus LrtGetWebNnOptionsDevicePreference(const LrtWebNnOptions* options,
                                                LiteRtWebNnDeviceType* device_type);

// Trade-off between power and speed.
LiteRtStatus LrtSetWebNnOptionsPowerPreference(LrtWebNnOptions* options,
                                               LiteRtWebNnPowerPreference power_preference);
LiteRtStatus LrtGetWebNnOptionsPowerPreference(const LrtWebNnOptions* options,
                                               LiteRtWebNnPowerPreference* power_preference);

// Precision.
LiteRtStatus LrtSetWebNnOptionsPrecision(LrtWebNnOptions* options, LiteRtWebNnPrecision precision);
LiteRtStatus LrtGetWebNnOptionsPrecision(const LrtWebNnOptions* options,
                                         LiteRtWebNnPrecision* precision);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_WEBNN_OPTIONS_H_
