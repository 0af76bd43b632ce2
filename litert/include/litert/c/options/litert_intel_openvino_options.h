// SPDX-License-Identifier: Apache-2.0
//
// Options of Intel's plug-ins, which use OpenVINO. Strings are copied; strings that are returned
// belong to the options.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_INTEL_OPENVINO_OPTIONS_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_INTEL_OPENVINO_OPTIONS_H_

#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Options object.
LITERT_DEFINE_HANDLE(LrtIntelOpenVinoOptions);

// Creates options with default values.
LiteRtStatus LrtIntelOpenVinoOptionsCreate(LrtIntelOpenVinoOptions* options);

// Creates options from a TOML text, the form of the payload.
LiteRtStatus LrtCreateIntelOpenVinoOptionsFromToml(const char* payload,
                                                   LrtIntelOpenVinoOptions* options);

// Destroys options; NULL is allowed.
void LrtDestroyIntelOpenVinoOptions(LrtIntelOpenVinoOptions options);

// Returns the arguments of LiteRtCreateOpaqueOptions: the identifier, the options as TOML text,
// which the caller owns, and its deleter.
LiteRtStatus LrtGetOpaqueIntelOpenVinoOptionsData(LrtIntelOpenVinoOptions options,
                                                  const char** identifier, void** payload,
                                                  void (**payload_deleter)(void*));

// Returns the identifier, a constant string.
const char* LrtGetIntelOpenVinoOptionsIdentifier(void);

// ---- All partitions -----------------------------------------------------------------------------

// Trade-off that OpenVINO makes.
typedef enum LiteRtIntelOpenVinoPerformanceMode {
  // The default.
  kLiteRtIntelOpenVinoPerformanceModeLatency = 0,
  kLiteRtIntelOpenVinoPerformanceModeThroughput = 1,
  kLiteRtIntelOpenVinoPerformanceModeCumulativeThroughput = 2,
} LiteRtIntelOpenVinoPerformanceMode;

LiteRtStatus LrtIntelOpenVinoOptionsSetPerformanceMode(
    LrtIntelOpenVinoOptions options, LiteRtIntelOpenVinoPerformanceMode performance_mode);
LiteRtStatus LrtIntelOpenVinoOptionsGetPerformanceMode(
    LrtIntelOpenVinoOptions options, LiteRtIntelOpenVinoPerformanceMode* performance_mode);

// Sets a property of OpenVINO.
LiteRtStatus LrtIntelOpenVinoOptionsSetConfigsMapOption(LrtIntelOpenVinoOptions options,
                                                        const char* key, const char* value);

// The following functions enumerate the properties.
LiteRtStatus LrtIntelOpenVinoOptionsGetNumConfigsMapOptions(LrtIntelOpenVinoOptions options,
                                                            int* num_options);
LiteRtStatus LrtIntelOpenVinoOptionsGetConfigsMapOption(LrtIntelOpenVinoOptions options, int index,
                                                        const char** key, const char** value);

// ---- Single partitions --------------------------------------------------------------------------

// Device of OpenVINO that runs a partition.
typedef enum LiteRtIntelOpenVinoGraphBackend {
  kLiteRtIntelOpenVinoGraphBackendCPU = 0,
  kLiteRtIntelOpenVinoGraphBackendGPU = 1,
  kLiteRtIntelOpenVinoGraphBackendNPU = 2,
  // Number of devices.
  kLiteRtIntelOpenVinoGraphBackendMax = 3,
} LiteRtIntelOpenVinoGraphBackend;

// Device of a partition. `graph_index` is the index of the partition in the model that is passed to
// LiteRtCompilerPluginCompile; -1 sets the device of all partitions without one of their own, by
// default the NPU. kLiteRtStatusErrorNotFound if neither is set.
LiteRtStatus LrtIntelOpenVinoOptionsSetGraphBackend(
    LrtIntelOpenVinoOptions options, int graph_index,
    enum LiteRtIntelOpenVinoGraphBackend graph_backend);
LiteRtStatus LrtIntelOpenVinoOptionsGetGraphBackend(
    LrtIntelOpenVinoOptions options, int graph_index,
    enum LiteRtIntelOpenVinoGraphBackend* graph_backend);

// Sets a property of OpenVINO for one partition, which overrides that for all.
LiteRtStatus LrtIntelOpenVinoOptionsSetGraphConfigsMapOption(LrtIntelOpenVinoOptions options,
                                                             int graph_index, const char* key,
                                                             const char* value);

// The following functions enumerate the partitions that have a device or properties of their own.
LiteRtStatus LrtIntelOpenVinoOptionsGetNumGraphOverrides(LrtIntelOpenVinoOptions options,
                                                         int* num_overrides);
LiteRtStatus LrtIntelOpenVinoOptionsGetGraphOverrideIndex(LrtIntelOpenVinoOptions options,
                                                          int slot_index, int* graph_index);

// The following functions enumerate the properties of one partition.
LiteRtStatus LrtIntelOpenVinoOptionsGetNumGraphConfigsMapOptions(LrtIntelOpenVinoOptions options,
                                                                 int graph_index, int* num_options);
LiteRtStatus LrtIntelOpenVinoOptionsGetGraphConfigsMapOption(LrtIntelOpenVinoOptions options,
                                                             int graph_index, int index,
                                                             const char** key, const char** value);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_INTEL_OPENVINO_OPTIONS_H_
