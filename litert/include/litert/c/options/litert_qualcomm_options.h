// SPDX-License-Identifier: Apache-2.0
//
// Options of Qualcomm's plug-ins, which use the QNN SDK. Getters return the default value if an
// option is not set. Strings and arrays are copied; those that are returned belong to the options.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_QUALCOMM_OPTIONS_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_QUALCOMM_OPTIONS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Options object.
LITERT_DEFINE_HANDLE(LrtQualcommOptions);

// Creates options with default values.
LiteRtStatus LrtCreateQualcommOptions(LrtQualcommOptions* options);

// Creates options from a TOML text, the form of the payload.
LiteRtStatus LrtCreateQualcommOptionsFromToml(const char* toml_payload,
                                              LrtQualcommOptions* options);

// Destroys options; NULL is allowed.
void LrtDestroyQualcommOptions(LrtQualcommOptions options);

// Returns the arguments of LiteRtCreateOpaqueOptions: the identifier, the options as TOML text,
// which the caller owns, and its deleter.
LiteRtStatus LrtGetOpaqueQualcommOptionsData(LrtQualcommOptions options, const char** identifier,
                                             void** payload, void (**payload_deleter)(void*));

// Returns the identifier, a constant string.
const char* LrtQualcommOptionsGetIdentifier(void);

// ---- SDK ----------------------------------------------------------------------------------------

// Processor for which QNN compiles.
typedef enum LrtQualcommOptionsBackend {
  kLiteRtQualcommBackendUndefined = 0,
  kLiteRtQualcommBackendGpu,
  // The default.
  kLiteRtQualcommBackendHtp,
  kLiteRtQualcommBackendDsp,
  kLiteRtQualcommBackendIr,
  kLiteRtQualcommBackendLpai,
} LrtQualcommOptionsBackend;

LiteRtStatus LrtQualcommOptionsSetBackend(LrtQualcommOptions options,
                                          LrtQualcommOptionsBackend qnn_backend);
LiteRtStatus LrtQualcommOptionsGetBackend(LrtQualcommOptions options,
                                          LrtQualcommOptionsBackend* qnn_backend);

// Severity of messages of the SDK.
typedef enum LrtQualcommOptionsLogLevel {
  kLiteRtQualcommLogOff = 0,
  kLiteRtQualcommLogLevelError = 1,
  kLiteRtQualcommLogLevelWarn = 2,
  // The default.
  kLiteRtQualcommLogLevelInfo = 3,
  kLiteRtQualcommLogLevelVerbose = 4,
  kLiteRtQualcommLogLevelDebug = 5,
} LrtQualcommOptionsLogLevel;

LiteRtStatus LrtQualcommOptionsSetLogLevel(LrtQualcommOptions options,
                                           LrtQualcommOptionsLogLevel log_level);
LiteRtStatus LrtQualcommOptionsGetLogLevel(LrtQualcommOptions options,
                                           LrtQualcommOptionsLogLevel* log_level);

// Detail of the SDK's profile, for compilation and runs.
typedef enum LrtQualcommOptionsProfiling {
  // The default.
  kLiteRtQualcommProfilingOff = 0,
  kLiteRtQualcommProfilingBasic,
  kLiteRtQualcommProfilingDetailed,
  kLiteRtQualcommProfilingLinting,
  kLiteRtQualcommProfilingOptrace,
} LrtQualcommOptionsProfiling;

LiteRtStatus LrtQualcommOptionsSetProfiling(LrtQualcommOptions options,
                                            LrtQualcommOptionsProfiling profiling);
LiteRtStatus LrtQualcommOptionsGetProfiling(LrtQualcommOptions options,
                                            LrtQualcommOptionsProfiling* profiling);

// ---- Compilation --------------------------------------------------------------------------------

// Deprecated, without an effect: operators that the HTP prefers.
LiteRtStatus LrtQualcommOptionsSetUseHtpPreference(LrtQualcommOptions options,
                                                   bool use_htp_preference);
LiteRtStatus LrtQualcommOptionsGetUseHtpPreference(LrtQualcommOptions options,
                                                   bool* use_htp_preference);

// Deprecated, without an effect: quantised int16 as uint16.
LiteRtStatus LrtQualcommOptionsSetUseQint16AsQuint16(LrtQualcommOptions options,
                                                     bool use_qint16_as_quint16);
LiteRtStatus LrtQualcommOptionsGetUseQint16AsQuint16(LrtQualcommOptions options,
                                                     bool* use_qint16_as_quint16);

// Conversion of int64 biases to int32. True by default.
LiteRtStatus LrtQualcommOptionsSetUseInt64BiasAsInt32(LrtQualcommOptions options,
                                                      bool use_int64_bias_as_int32);
LiteRtStatus LrtQualcommOptionsGetUseInt64BiasAsInt32(LrtQualcommOptions options,
                                                      bool* use_int64_bias_as_int32);

// Weights that several subgraphs share, for offline compilation on x86. False by default; overrides
// compressed weights.
LiteRtStatus LrtQualcommOptionsSetEnableWeightSharing(LrtQualcommOptions options,
                                                      bool enable_weight_sharing);
LiteRtStatus LrtQualcommOptionsGetEnableWeightSharing(LrtQualcommOptions options,
                                                      bool* enable_weight_sharing);

// The compiler plug-in passes its graph to the dispatch plug-in in memory. False by default.
LiteRtStatus LrtQualcommOptionsSetEnableJustInTime(LrtQualcommOptions options,
                                                   bool enable_just_in_time);
LiteRtStatus LrtQualcommOptionsGetEnableJustInTime(LrtQualcommOptions options,
                                                   bool* enable_just_in_time);

// Tensors whose values are written to files, by index.
LiteRtStatus LrtQualcommOptionsSetDumpTensorIds(LrtQualcommOptions options, const int32_t* ids,
                                                size_t number_of_ids);
LiteRtStatus LrtQualcommOptionsGetDumpTensorIds(LrtQualcommOptions options, const int32_t** ids,
                                                size_t* number_of_ids);

// Short convolutions on the matrix unit: faster, inaccurate for small depths and asymmetric
// weights. True by default.
LiteRtStatus LrtQualcommOptionsSetUseConvHMX(LrtQualcommOptions options, bool use_conv_hmx);
LiteRtStatus LrtQualcommOptionsGetUseConvHMX(LrtQualcommOptions options, bool* use_conv_hmx);

// Fusion of RELU into convolutions whose range is within that of RELU. True by default.
LiteRtStatus LrtQualcommOptionsSetUseFoldReLU(LrtQualcommOptions options, bool use_fold_relu);
LiteRtStatus LrtQualcommOptionsGetUseFoldReLU(LrtQualcommOptions options, bool* use_fold_relu);

// Memory of the inputs and outputs of a graph.
typedef enum LrtQualcommOptionsGraphIOTensorMemType {
  kLiteRtQualcommGraphIOTensorMemTypeRaw = 0,
  kLiteRtQualcommGraphIOTensorMemTypeMemHandle,
} LrtQualcommOptionsGraphIOTensorMemType;

LiteRtStatus LrtQualcommOptionsSetGraphIOTensorMemType(
    LrtQualcommOptions options, LrtQualcommOptionsGraphIOTensorMemType mem_type);
LiteRtStatus LrtQualcommOptionsGetGraphIOTensorMemType(
    LrtQualcommOptions options, LrtQualcommOptionsGraphIOTensorMemType* mem_type);

// Effort of the HTP's optimiser.
typedef enum LrtQualcommOptionsOptimizationLevel {
  // Fast runs.
  kHtpOptimizeForInference = 0,
  // Fast preparation.
  kHtpOptimizeForPrepare,
  // Fastest runs, slow preparation. The default.
  kHtpOptimizeForInferenceO3,
} LrtQualcommOptionsOptimizationLevel;

LiteRtStatus LrtQualcommOptionsSetOptimizationLevel(
    LrtQualcommOptions options, LrtQualcommOptionsOptimizationLevel optimization_level);
LiteRtStatus LrtQualcommOptionsGetOptimizationLevel(
    LrtQualcommOptions options, LrtQualcommOptionsOptimizationLevel* optimization_level);

// Preset of the HTP's compiler that trades latency for bandwidth, with optimisation level O3.
// Experimental.
LiteRtStatus LrtQualcommOptionsSetHtpPPoint(LrtQualcommOptions options, int32_t htp_p_point);
LiteRtStatus LrtQualcommOptionsGetHtpPPoint(LrtQualcommOptions options, int32_t* htp_p_point);

// Size of the tightly coupled memory (VTCM) in MB; 0: the largest possible.
LiteRtStatus LrtQualcommOptionsSetVtcmSize(LrtQualcommOptions options, uint32_t vtcm_size);
LiteRtStatus LrtQualcommOptionsGetVtcmSize(LrtQualcommOptions options, uint32_t* vtcm_size);

// Number of vector threads; 0: the SDK decides.
LiteRtStatus LrtQualcommOptionsSetNumHvxThreads(LrtQualcommOptions options,
                                                uint32_t num_hvx_threads);
LiteRtStatus LrtQualcommOptionsGetNumHvxThreads(LrtQualcommOptions options,
                                                uint32_t* num_hvx_threads);

// Graph transformations of the plug-in, a list of names with commas.
LiteRtStatus LrtQualcommOptionsSetGraphTransform(LrtQualcommOptions options,
                                                 const char* graph_transform);
LiteRtStatus LrtQualcommOptionsGetGraphTransform(LrtQualcommOptions options,
                                                 const char** graph_transform);

// Library with custom operators: its name, its interface, its paths for the compiler and for the
// device, and the target. "" if none is set.
LiteRtStatus LrtQualcommOptionsSetCustomOpPackage(LrtQualcommOptions options, const char* name,
                                                  const char* interface_provider,
                                                  const char* compile_package_path,
                                                  const char* dispatch_package_path,
                                                  const char* target);
LiteRtStatus LrtQualcommOptionsGetCustomOpPackage(LrtQualcommOptions options, const char** name,
                                                  const char** interface_provider,
                                                  const char** compile_package_path,
                                                  const char** dispatch_package_path,
                                                  const char** target);

// Folders for files that the compiler writes: the graph as JSON, DLC files, calls of the SDK, and
// schematics.
LiteRtStatus LrtQualcommOptionsSetIrJsonDir(LrtQualcommOptions options, const char* ir_json_dir);
LiteRtStatus LrtQualcommOptionsGetIrJsonDir(LrtQualcommOptions options, const char** ir_json_dir);
LiteRtStatus LrtQualcommOptionsSetDlcDir(LrtQualcommOptions options, const char* dlc_dir);
LiteRtStatus LrtQualcommOptionsGetDlcDir(LrtQualcommOptions options, const char** dlc_dir);
LiteRtStatus LrtQualcommOptionsSetSaverOutputDir(LrtQualcommOptions options,
                                                 const char* saver_output_dir);
LiteRtStatus LrtQualcommOptionsGetSaverOutputDir(LrtQualcommOptions options,
                                                 const char** saver_output_dir);
LiteRtStatus LrtQualcommOptionsSetSchematicDir(LrtQualcommOptions options,
                                               const char* schematic_dir);
LiteRtStatus LrtQualcommOptionsGetSchematicDir(LrtQualcommOptions options,
                                               const char** schematic_dir);

// ---- Runs ---------------------------------------------------------------------------------------

// Priority of a graph on the device.
typedef enum LrtQualcommOptionsGraphPriority {
  kLiteRTQualcommGraphPriorityDefault = 0,
  kLiteRTQualcommGraphPriorityLow,
  kLiteRTQualcommGraphPriorityNormal,
  kLiteRTQualcommGraphPriorityNormalHigh,
  kLiteRTQualcommGraphPriorityHigh,
} LrtQualcommOptionsGraphPriority;

LiteRtStatus LrtQualcommOptionsSetGraphPriority(LrtQualcommOptions options,
                                                LrtQualcommOptionsGraphPriority graph_priority);
LiteRtStatus LrtQualcommOptionsGetGraphPriority(LrtQualcommOptions options,
                                                LrtQualcommOptionsGraphPriority* graph_priority);

// Trade-off between power and speed of the HTP.
typedef enum LrtQualcommOptionsHtpPerformanceMode {
  // The device decides.
  kLiteRtQualcommHtpPerformanceModeDefault = 0,
  kLiteRtQualcommHtpPerformanceModeSustainedHighPerformance = 1,
  kLiteRtQualcommHtpPerformanceModeBurst = 2,
  kLiteRtQualcommHtpPerformanceModeHighPerformance = 3,
  kLiteRtQualcommHtpPerformanceModePowerSaver = 4,
  kLiteRtQualcommHtpPerformanceModeLowPowerSaver = 5,
  kLiteRtQualcommHtpPerformanceModeHighPowerSaver = 6,
  kLiteRtQualcommHtpPerformanceModeLowBalanced = 7,
  kLiteRtQualcommHtpPerformanceModeBalanced = 8,
  kLiteRtQualcommHtpPerformanceModeExtremePowerSaver = 9,
} LrtQualcommOptionsHtpPerformanceMode;

LiteRtStatus LrtQualcommOptionsSetHtpPerformanceMode(
    LrtQualcommOptions options, LrtQualcommOptionsHtpPerformanceMode htp_performance_mode);
LiteRtStatus LrtQualcommOptionsGetHtpPerformanceMode(
    LrtQualcommOptions options, LrtQualcommOptionsHtpPerformanceMode* htp_performance_mode);

// Trade-off between power and speed of the DSP.
typedef enum LrtQualcommOptionsDspPerformanceMode {
  // The device decides.
  kLiteRtQualcommDspPerformanceModeDefault = 0,
  kLiteRtQualcommDspPerformanceModeSustainedHighPerformance = 1,
  kLiteRtQualcommDspPerformanceModeBurst = 2,
  kLiteRtQualcommDspPerformanceModeHighPerformance = 3,
  kLiteRtQualcommDspPerformanceModePowerSaver = 4,
  kLiteRtQualcommDspPerformanceModeLowPowerSaver = 5,
  kLiteRtQualcommDspPerformanceModeHighPowerSaver = 6,
  kLiteRtQualcommDspPerformanceModeLowBalanced = 7,
  kLiteRtQualcommDspPerformanceModeBalanced = 8,
} LrtQualcommOptionsDspPerformanceMode;

LiteRtStatus LrtQualcommOptionsSetDspPerformanceMode(
    LrtQualcommOptions options, LrtQualcommOptionsDspPerformanceMode dsp_performance_mode);
LiteRtStatus LrtQualcommOptionsGetDspPerformanceMode(
    LrtQualcommOptions options, LrtQualcommOptionsDspPerformanceMode* dsp_performance_mode);

// Votes for the HTP's performance: by the caller, or by the plug-in for each run.
typedef enum LrtQualcommOptionsHtpPerfCtrlMode {
  // The default.
  kLiteRtQualcommHtpPerfCtrlModeManual = 0,
  kLiteRtQualcommHtpPerfCtrlModeAuto = 1,
} LrtQualcommOptionsHtpPerfCtrlMode;

LiteRtStatus LrtQualcommOptionsSetHtpPerfCtrlMode(
    LrtQualcommOptions options, LrtQualcommOptionsHtpPerfCtrlMode htp_perf_ctrl_mode);
LiteRtStatus LrtQualcommOptionsGetHtpPerfCtrlMode(
    LrtQualcommOptions options, LrtQualcommOptionsHtpPerfCtrlMode* htp_perf_ctrl_mode);

// Votes for the DSP's performance.
typedef enum LrtQualcommOptionsDspPerfCtrlMode {
  kLiteRtQualcommDspPerfCtrlModeManual = 0,
  kLiteRtQualcommDspPerfCtrlModeAuto = 1,
} LrtQualcommOptionsDspPerfCtrlMode;

LiteRtStatus LrtQualcommOptionsSetDspPerfCtrlMode(
    LrtQualcommOptions options, LrtQualcommOptionsDspPerfCtrlMode dsp_perf_ctrl_mode);
LiteRtStatus LrtQualcommOptionsGetDspPerfCtrlMode(
    LrtQualcommOptions options, LrtQualcommOptionsDspPerfCtrlMode* dsp_perf_ctrl_mode);

// ---- Low-power AI processor (LPAI) --------------------------------------------------------------

// Processor for which the LPAI backend compiles.
typedef enum LrtQualcommOptionsLpaiTarget {
  kLiteRtQualcommLpaiTargetX86 = 0,
  kLiteRtQualcommLpaiTargetArm = 1,
  // The default.
  kLiteRtQualcommLpaiTargetAdsp = 2,
  kLiteRtQualcommLpaiTargetTensilica = 3,
} LrtQualcommOptionsLpaiTarget;

LiteRtStatus LrtQualcommOptionsSetLpaiTarget(LrtQualcommOptions options,
                                             LrtQualcommOptionsLpaiTarget lpai_target);
LiteRtStatus LrtQualcommOptionsGetLpaiTarget(LrtQualcommOptions options,
                                             LrtQualcommOptionsLpaiTarget* lpai_target);

// Frames per second. 1 by default.
LiteRtStatus LrtQualcommOptionsSetLpaiFps(LrtQualcommOptions options, uint32_t lpai_fps);
LiteRtStatus LrtQualcommOptionsGetLpaiFps(LrtQualcommOptions options, uint32_t* lpai_fps);

// Ratio of the frame time to the run time (FTRT), in the unit of the SDK. 10 by default.
LiteRtStatus LrtQualcommOptionsSetLpaiFtrtRatio(LrtQualcommOptions options,
                                                uint32_t lpai_ftrt_ratio);
LiteRtStatus LrtQualcommOptionsGetLpaiFtrtRatio(LrtQualcommOptions options,
                                                uint32_t* lpai_ftrt_ratio);

// Kind of the client.
typedef enum LrtQualcommOptionsLpaiClientPerfType {
  kLiteRtQualcommLpaiClientPerfTypeDefault = 0,
  kLiteRtQualcommLpaiClientPerfTypeRealTime = 1,
  kLiteRtQualcommLpaiClientPerfTypeNonRealTime = 2,
} LrtQualcommOptionsLpaiClientPerfType;

LiteRtStatus LrtQualcommOptionsSetLpaiClientPerfType(
    LrtQualcommOptions options, LrtQualcommOptionsLpaiClientPerfType lpai_client_perf_type);
LiteRtStatus LrtQualcommOptionsGetLpaiClientPerfType(
    LrtQualcommOptions options, LrtQualcommOptionsLpaiClientPerfType* lpai_client_perf_type);

// Strength of the binding to cores.
typedef enum LrtQualcommOptionsLpaiCoreAffinityType {
  kLiteRtQualcommLpaiCoreAffinityTypeDefault = 0,
  kLiteRtQualcommLpaiCoreAffinityTypeSoft = 1,
  kLiteRtQualcommLpaiCoreAffinityTypeHard = 2,
} LrtQualcommOptionsLpaiCoreAffinityType;

LiteRtStatus LrtQualcommOptionsSetLpaiCoreAffinityType(
    LrtQualcommOptions options, LrtQualcommOptionsLpaiCoreAffinityType lpai_core_affinity_type);
LiteRtStatus LrtQualcommOptionsGetLpaiCoreAffinityType(
    LrtQualcommOptions options, LrtQualcommOptionsLpaiCoreAffinityType* lpai_core_affinity_type);

// Cores to use, as the SDK numbers them. 0 by default.
LiteRtStatus LrtQualcommOptionsSetLpaiCoreSelection(LrtQualcommOptions options,
                                                    uint32_t lpai_core_selection);
LiteRtStatus LrtQualcommOptionsGetLpaiCoreSelection(LrtQualcommOptions options,
                                                    uint32_t* lpai_core_selection);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_QUALCOMM_OPTIONS_H_
