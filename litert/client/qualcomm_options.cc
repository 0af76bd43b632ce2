// SPDX-License-Identifier: Apache-2.0
#include "litert/c/options/litert_qualcomm_options.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "litert/client/settings.h"

using namespace deputy::litert_client;

class LrtQualcommOptionsT {
 public:
  std::optional<LrtQualcommOptionsBackend> qnn_backend;
  std::optional<LrtQualcommOptionsLogLevel> log_level;
  std::optional<LrtQualcommOptionsProfiling> profiling;
  std::optional<bool> use_int64_bias_as_int32;
  std::optional<bool> enable_weight_sharing;
  std::optional<bool> enable_just_in_time;
  std::optional<bool> use_conv_hmx;
  std::optional<bool> use_fold_relu;
  std::optional<LrtQualcommOptionsGraphIOTensorMemType> graph_io_tensor_mem_type;
  std::optional<LrtQualcommOptionsOptimizationLevel> optimization_level;
  std::optional<int32_t> htp_p_point;
  std::optional<uint32_t> vtcm_size;
  std::optional<uint32_t> num_hvx_threads;
  std::optional<std::string> graph_transform;
  std::optional<std::string> ir_json_dir;
  std::optional<std::string> dlc_dir;
  std::optional<std::string> saver_output_dir;
  std::optional<std::string> schematic_dir;
  std::optional<LrtQualcommOptionsGraphPriority> graph_priority;
  std::optional<LrtQualcommOptionsHtpPerformanceMode> htp_performance_mode;
  std::optional<LrtQualcommOptionsDspPerformanceMode> dsp_performance_mode;
  std::optional<LrtQualcommOptionsHtpPerfCtrlMode> htp_perf_ctrl_mode;
  std::optional<LrtQualcommOptionsDspPerfCtrlMode> dsp_perf_ctrl_mode;
  std::optional<LrtQualcommOptionsLpaiTarget> lpai_target;
  std::optional<uint32_t> lpai_fps;
  std::optional<uint32_t> lpai_ftrt_ratio;
  std::optional<LrtQualcommOptionsLpaiClientPerfType> lpai_client_perf_type;
  std::optional<LrtQualcommOptionsLpaiCoreAffinityType> lpai_core_affinity_type;
  std::optional<uint32_t> lpai_core_selection;
  std::vector<std::string> dump_tensor_ids;
  std::optional<std::string> custom_op_package;  // NAME:VALUE; for each of kPackageParts
  // The results of the getters of the last two.
  std::vector<int32_t> tensor_ids;
  std::array<std::string, 5> package;

  template <typename Self, typename Visitor>
  static void Visit(Self& self, Visitor& visitor) {
    visitor.Add("log_level", self.log_level);
    visitor.Add("profiling", self.profiling);
    visitor.Add("use_int64_bias_as_int32", self.use_int64_bias_as_int32);
    visitor.Add("qnn_backend", self.qnn_backend);
    visitor.Add("enable_weight_sharing", self.enable_weight_sharing);
    visitor.Add("enable_just_in_time", self.enable_just_in_time);
    visitor.Add("use_conv_hmx", self.use_conv_hmx);
    visitor.Add("use_fold_relu", self.use_fold_relu);
    visitor.Add("htp_p_point", self.htp_p_point);
    visitor.Add("htp_performance_mode", self.htp_performance_mode);
    visitor.Add("dsp_performance_mode", self.dsp_performance_mode);
    visitor.Add("htp_perf_ctrl_mode", self.htp_perf_ctrl_mode);
    visitor.Add("dsp_perf_ctrl_mode", self.dsp_perf_ctrl_mode);
    visitor.Add("ir_json_dir", self.ir_json_dir);
    visitor.Add("dlc_dir", self.dlc_dir);
    visitor.Add("graph_transform", self.graph_transform);
    visitor.Add("vtcm_size", self.vtcm_size);
    visitor.Add("num_hvx_threads", self.num_hvx_threads);
    visitor.Add("optimization_level", self.optimization_level);
    visitor.Add("graph_priority", self.graph_priority);
    visitor.Add("saver_output_dir", self.saver_output_dir);
    visitor.Add("graph_io_tensor_mem_type", self.graph_io_tensor_mem_type);
    visitor.Add("schematic_dir", self.schematic_dir);
    visitor.Add("lpai_target", self.lpai_target);
    visitor.Add("lpai_fps", self.lpai_fps);
    visitor.Add("lpai_ftrt_ratio", self.lpai_ftrt_ratio);
    visitor.Add("lpai_client_perf_type", self.lpai_client_perf_type);
    visitor.Add("lpai_core_affinity_type", self.lpai_core_affinity_type);
    visitor.Add("lpai_core_selection", self.lpai_core_selection);
    visitor.Add("dump_tensor_ids", self.dump_tensor_ids);
    visitor.Add("custom_op_package", self.custom_op_package);
  }
};

LiteRtStatus LrtCreateQualcommOptions(LrtQualcommOptions* options) { return Create(options); }
LiteRtStatus LrtCreateQualcommOptionsFromToml(const char* toml_payload,
                                              LrtQualcommOptions* options) {
  return CreateFromText(toml_payload, options);
}
void LrtDestroyQualcommOptions(LrtQualcommOptions options) { delete options; }
const char* LrtQualcommOptionsGetIdentifier() { return "qualcomm"; }

LiteRtStatus LrtGetOpaqueQualcommOptionsData(LrtQualcommOptions options, const char** identifier,
                                             void** payload, void (**payload_deleter)(void*)) {
  return Deliver(options, "qualcomm", identifier, payload, payload_deleter);
}

LiteRtStatus LrtQualcommOptionsSetBackend(LrtQualcommOptions options,
                                          LrtQualcommOptionsBackend qnn_backend) {
  return Set(options, &LrtQualcommOptionsT::qnn_backend, qnn_backend);
}

LiteRtStatus LrtQualcommOptionsGetBackend(LrtQualcommOptions options,
                                          LrtQualcommOptionsBackend* qnn_backend) {
  return GetOr(options, &LrtQualcommOptionsT::qnn_backend, kLiteRtQualcommBackendHtp, qnn_backend);
}

LiteRtStatus LrtQualcommOptionsSetLogLevel(LrtQualcommOptions options,
                                           LrtQualcommOptionsLogLevel log_level) {
  return Set(options, &LrtQualcommOptionsT::log_level, log_level);
}

LiteRtStatus LrtQualcommOptionsGetLogLevel(LrtQualcommOptions options,
                                           LrtQualcommOptionsLogLevel* log_level) {
  return GetOr(options, &LrtQualcommOptionsT::log_level, kLiteRtQualcommLogLevelInfo, log_level);
}

LiteRtStatus LrtQualcommOptionsSetProfiling(LrtQualcommOptions options,
                                            LrtQualcommOptionsProfiling profiling) {
  return Set(options, &LrtQualcommOptionsT::profiling, profiling);
}

LiteRtStatus LrtQualcommOptionsGetProfiling(LrtQualcommOptions options,
                                            LrtQualcommOptionsProfiling* profiling) {
  return GetOr(options, &LrtQualcommOptionsT::profiling, kLiteRtQualcommProfilingOff, profiling);
}

LiteRtStatus LrtQualcommOptionsSetUseInt64BiasAsInt32(LrtQualcommOptions options,
                                                      bool use_int64_bias_as_int32) {
  return Set(options, &LrtQualcommOptionsT::use_int64_bias_as_int32, use_int64_bias_as_int32);
}

LiteRtStatus LrtQualcommOptionsGetUseInt64BiasAsInt32(LrtQualcommOptions options,
                                                      bool* use_int64_bias_as_int32) {
  return GetOr(options, &LrtQualcommOptionsT::use_int64_bias_as_int32, true,
               use_int64_bias_as_int32);
}

LiteRtStatus LrtQualcommOptionsSetEnableWeightSharing(LrtQualcommOptions options,
                                                      bool enable_weight_sharing) {
  return Set(options, &LrtQualcommOptionsT::enable_weight_sharing, enable_weight_sharing);
}

LiteRtStatus LrtQualcommOptionsGetEnableWeightSharing(LrtQualcommOptions options,
                                                      bool* enable_weight_sharing) {
  return GetOr(options, &LrtQualcommOptionsT::enable_weight_sharing, false, enable_weight_sharing);
}

LiteRtStatus LrtQualcommOptionsSetEnableJustInTime(LrtQualcommOptions options,
                                                   bool enable_just_in_time) {
  return Set(options, &LrtQualcommOptionsT::enable_just_in_time, enable_just_in_time);
}

LiteRtStatus LrtQualcommOptionsGetEnableJustInTime(LrtQualcommOptions options,
                                                   bool* enable_just_in_time) {
  return GetOr(options, &LrtQualcommOptionsT::enable_just_in_time, false, enable_just_in_time);
}

LiteRtStatus LrtQualcommOptionsSetUseConvHMX(LrtQualcommOptions options, bool use_conv_hmx) {
  return Set(options, &LrtQualcommOptionsT::use_conv_hmx, use_conv_hmx);
}

LiteRtStatus LrtQualcommOptionsGetUseConvHMX(LrtQualcommOptions options, bool* use_conv_hmx) {
  return GetOr(options, &LrtQualcommOptionsT::use_conv_hmx, true, use_conv_hmx);
}

LiteRtStatus LrtQualcommOptionsSetUseFoldReLU(LrtQualcommOptions options, bool use_fold_relu) {
  return Set(options, &LrtQualcommOptionsT::use_fold_relu, use_fold_relu);
}

LiteRtStatus LrtQualcommOptionsGetUseFoldReLU(LrtQualcommOptions options, bool* use_fold_relu) {
  return GetOr(options, &LrtQualcommOptionsT::use_fold_relu, true, use_fold_relu);
}

LiteRtStatus LrtQualcommOptionsSetGraphIOTensorMemType(
    LrtQualcommOptions options, LrtQualcommOptionsGraphIOTensorMemType mem_type) {
  return Set(options, &LrtQualcommOptionsT::graph_io_tensor_mem_type, mem_type);
}

LiteRtStatus LrtQualcommOptionsGetGraphIOTensorMemType(
    LrtQualcommOptions options, LrtQualcommOptionsGraphIOTensorMemType* mem_type) {
  return GetOr(options, &LrtQualcommOptionsT::graph_io_tensor_mem_type,
               kLiteRtQualcommGraphIOTensorMemTypeMemHandle, mem_type);
}

LiteRtStatus LrtQualcommOptionsSetOptimizationLevel(
    LrtQualcommOptions options, LrtQualcommOptionsOptimizationLevel optimization_level) {
  return Set(options, &LrtQualcommOptionsT::optimization_level, optimization_level);
}

LiteRtStatus LrtQualcommOptionsGetOptimizationLevel(
    LrtQualcommOptions options, LrtQualcommOptionsOptimizationLevel* optimization_level) {
  return GetOr(options, &LrtQualcommOptionsT::optimization_level, kHtpOptimizeForInferenceO3,
               optimization_level);
}

LiteRtStatus LrtQualcommOptionsSetHtpPPoint(LrtQualcommOptions options, int32_t htp_p_point) {
  return Set(options, &LrtQualcommOptionsT::htp_p_point, htp_p_point);
}

LiteRtStatus LrtQualcommOptionsGetHtpPPoint(LrtQualcommOptions options, int32_t* htp_p_point) {
  return GetOr(options, &LrtQualcommOptionsT::htp_p_point, 0, htp_p_point);
}

LiteRtStatus LrtQualcommOptionsSetVtcmSize(LrtQualcommOptions options, uint32_t vtcm_size) {
  return Set(options, &LrtQualcommOptionsT::vtcm_size, vtcm_size);
}

LiteRtStatus LrtQualcommOptionsGetVtcmSize(LrtQualcommOptions options, uint32_t* vtcm_size) {
  return GetOr(options, &LrtQualcommOptionsT::vtcm_size, 0U, vtcm_size);
}

LiteRtStatus LrtQualcommOptionsSetNumHvxThreads(LrtQualcommOptions options,
                                                uint32_t num_hvx_threads) {
  return Set(options, &LrtQualcommOptionsT::num_hvx_threads, num_hvx_threads);
}

LiteRtStatus LrtQualcommOptionsGetNumHvxThreads(LrtQualcommOptions options,
                                                uint32_t* num_hvx_threads) {
  return GetOr(options, &LrtQualcommOptionsT::num_hvx_threads, 0U, num_hvx_threads);
}

LiteRtStatus LrtQualcommOptionsSetGraphTransform(LrtQualcommOptions options,
                                                 const char* graph_transform) {
  return SetOrClear(options, &LrtQualcommOptionsT::graph_transform, graph_transform);
}

LiteRtStatus LrtQualcommOptionsGetGraphTransform(LrtQualcommOptions options,
                                                 const char** graph_transform) {
  return GetTextOr(options, &LrtQualcommOptionsT::graph_transform, "", graph_transform);
}

LiteRtStatus LrtQualcommOptionsSetIrJsonDir(LrtQualcommOptions options, const char* ir_json_dir) {
  return SetOrClear(options, &LrtQualcommOptionsT::ir_json_dir, ir_json_dir);
}

LiteRtStatus LrtQualcommOptionsGetIrJsonDir(LrtQualcommOptions options, const char** ir_json_dir) {
  return GetTextOr(options, &LrtQualcommOptionsT::ir_json_dir, "", ir_json_dir);
}

LiteRtStatus LrtQualcommOptionsSetDlcDir(LrtQualcommOptions options, const char* dlc_dir) {
  return SetOrClear(options, &LrtQualcommOptionsT::dlc_dir, dlc_dir);
}

LiteRtStatus LrtQualcommOptionsGetDlcDir(LrtQualcommOptions options, const char** dlc_dir) {
  return GetTextOr(options, &LrtQualcommOptionsT::dlc_dir, "", dlc_dir);
}

LiteRtStatus LrtQualcommOptionsSetSaverOutputDir(LrtQualcommOptions options,
                                                 const char* saver_output_dir) {
  return SetOrClear(options, &LrtQualcommOptionsT::saver_output_dir, saver_output_dir);
}

LiteRtStatus LrtQualcommOptionsGetSaverOutputDir(LrtQualcommOptions options,
                                                 const char** saver_output_dir) {
  return GetTextOr(options, &LrtQualcommOptionsT::saver_output_dir, "", saver_output_dir);
}

LiteRtStatus LrtQualcommOptionsSetSchematicDir(LrtQualcommOptions options,
                                               const char* schematic_dir) {
  return SetOrClear(options, &LrtQualcommOptionsT::schematic_dir, schematic_dir);
}

LiteRtStatus LrtQualcommOptionsGetSchematicDir(LrtQualcommOptions options,
                                               const char** schematic_dir) {
  return GetTextOr(options, &LrtQualcommOptionsT::schematic_dir, "", schematic_dir);
}

LiteRtStatus LrtQualcommOptionsSetGraphPriority(LrtQualcommOptions options,
                                                LrtQualcommOptionsGraphPriority graph_priority) {
  return Set(options, &LrtQualcommOptionsT::graph_priority, graph_priority);
}

LiteRtStatus LrtQualcommOptionsGetGraphPriority(LrtQualcommOptions options,
                                                LrtQualcommOptionsGraphPriority* graph_priority) {
  return GetOr(options, &LrtQualcommOptionsT::graph_priority, kLiteRTQualcommGraphPriorityDefault,
               graph_priority);
}

LiteRtStatus LrtQualcommOptionsSetHtpPerformanceMode(
    LrtQualcommOptions options, LrtQualcommOptionsHtpPerformanceMode htp_performance_mode) {
  return Set(options, &LrtQualcommOptionsT::htp_performance_mode, htp_performance_mode);
}

LiteRtStatus LrtQualcommOptionsGetHtpPerformanceMode(
    LrtQualcommOptions options, LrtQualcommOptionsHtpPerformanceMode* htp_performance_mode) {
  return GetOr(options, &LrtQualcommOptionsT::htp_performance_mode,
               kLiteRtQualcommHtpPerformanceModeDefault, htp_performance_mode);
}

LiteRtStatus LrtQualcommOptionsSetDspPerformanceMode(
    LrtQualcommOptions options, LrtQualcommOptionsDspPerformanceMode dsp_performance_mode) {
  return Set(options, &LrtQualcommOptionsT::dsp_performance_mode, dsp_performance_mode);
}

LiteRtStatus LrtQualcommOptionsGetDspPerformanceMode(
    LrtQualcommOptions options, LrtQualcommOptionsDspPerformanceMode* dsp_performance_mode) {
  return GetOr(options, &LrtQualcommOptionsT::dsp_performance_mode,
               kLiteRtQualcommDspPerformanceModeDefault, dsp_performance_mode);
}

LiteRtStatus LrtQualcommOptionsSetHtpPerfCtrlMode(
    LrtQualcommOptions options, LrtQualcommOptionsHtpPerfCtrlMode htp_perf_ctrl_mode) {
  return Set(options, &LrtQualcommOptionsT::htp_perf_ctrl_mode, htp_perf_ctrl_mode);
}

LiteRtStatus LrtQualcommOptionsGetHtpPerfCtrlMode(
    LrtQualcommOptions options, LrtQualcommOptionsHtpPerfCtrlMode* htp_perf_ctrl_mode) {
  return GetOr(options, &LrtQualcommOptionsT::htp_perf_ctrl_mode,
               kLiteRtQualcommHtpPerfCtrlModeManual, htp_perf_ctrl_mode);
}

LiteRtStatus LrtQualcommOptionsSetDspPerfCtrlMode(
    LrtQualcommOptions options, LrtQualcommOptionsDspPerfCtrlMode dsp_perf_ctrl_mode) {
  return Set(options, &LrtQualcommOptionsT::dsp_perf_ctrl_mode, dsp_perf_ctrl_mode);
}

LiteRtStatus LrtQualcommOptionsGetDspPerfCtrlMode(
    LrtQualcommOptions options, LrtQualcommOptionsDspPerfCtrlMode* dsp_perf_ctrl_mode) {
  return GetOr(options, &LrtQualcommOptionsT::dsp_perf_ctrl_mode,
               kLiteRtQualcommDspPerfCtrlModeManual, dsp_perf_ctrl_mode);
}

LiteRtStatus LrtQualcommOptionsSetLpaiTarget(LrtQualcommOptions options,
                                             LrtQualcommOptionsLpaiTarget lpai_target) {
  return Set(options, &LrtQualcommOptionsT::lpai_target, lpai_target);
}

LiteRtStatus LrtQualcommOptionsGetLpaiTarget(LrtQualcommOptions options,
                                             LrtQualcommOptionsLpaiTarget* lpai_target) {
  return GetOr(options, &LrtQualcommOptionsT::lpai_target, kLiteRtQualcommLpaiTargetAdsp,
               lpai_target);
}

LiteRtStatus LrtQualcommOptionsSetLpaiFps(LrtQualcommOptions options, uint32_t lpai_fps) {
  return Set(options, &LrtQualcommOptionsT::lpai_fps, lpai_fps);
}

LiteRtStatus LrtQualcommOptionsGetLpaiFps(LrtQualcommOptions options, uint32_t* lpai_fps) {
  return GetOr(options, &LrtQualcommOptionsT::lpai_fps, 1U, lpai_fps);
}

LiteRtStatus LrtQualcommOptionsSetLpaiFtrtRatio(LrtQualcommOptions options,
                                                uint32_t lpai_ftrt_ratio) {
  return Set(options, &LrtQualcommOptionsT::lpai_ftrt_ratio, lpai_ftrt_ratio);
}

LiteRtStatus LrtQualcommOptionsGetLpaiFtrtRatio(LrtQualcommOptions options,
                                                uint32_t* lpai_ftrt_ratio) {
  return GetOr(options, &LrtQualcommOptionsT::lpai_ftrt_ratio, 10U, lpai_ftrt_ratio);
}

LiteRtStatus LrtQualcommOptionsSetLpaiClientPerfType(
    LrtQualcommOptions options, LrtQualcommOptionsLpaiClientPerfType lpai_client_perf_type) {
  return Set(options, &LrtQualcommOptionsT::lpai_client_perf_type, lpai_client_perf_type);
}

LiteRtStatus LrtQualcommOptionsGetLpaiClientPerfType(
    LrtQualcommOptions options, LrtQualcommOptionsLpaiClientPerfType* lpai_client_perf_type) {
  return GetOr(options, &LrtQualcommOptionsT::lpai_client_perf_type,
               kLiteRtQualcommLpaiClientPerfTypeDefault, lpai_client_perf_type);
}

LiteRtStatus LrtQualcommOptionsSetLpaiCoreAffinityType(
    LrtQualcommOptions options, LrtQualcommOptionsLpaiCoreAffinityType lpai_core_affinity_type) {
  return Set(options, &LrtQualcommOptionsT::lpai_core_affinity_type, lpai_core_affinity_type);
}

LiteRtStatus LrtQualcommOptionsGetLpaiCoreAffinityType(
    LrtQualcommOptions options, LrtQualcommOptionsLpaiCoreAffinityType* lpai_core_affinity_type) {
  return GetOr(options, &LrtQualcommOptionsT::lpai_core_affinity_type,
               kLiteRtQualcommLpaiCoreAffinityTypeDefault, lpai_core_affinity_type);
}

LiteRtStatus LrtQualcommOptionsSetLpaiCoreSelection(LrtQualcommOptions options,
                                                    uint32_t lpai_core_selection) {
  return Set(options, &LrtQualcommOptionsT::lpai_core_selection, lpai_core_selection);
}

LiteRtStatus LrtQualcommOptionsGetLpaiCoreSelection(LrtQualcommOptions options,
                                                    uint32_t* lpai_core_selection) {
  return GetOr(options, &LrtQualcommOptionsT::lpai_core_selection, 0U, lpai_core_selection);
}

// Deprecated, without an effect.
LiteRtStatus LrtQualcommOptionsSetUseHtpPreference(LrtQualcommOptions options, bool) {
  return options == nullptr ? kLiteRtStatusErrorInvalidArgument : kLiteRtStatusOk;
}

LiteRtStatus LrtQualcommOptionsGetUseHtpPreference(LrtQualcommOptions options,
                                                   bool* use_htp_preference) {
  if (options == nullptr || use_htp_preference == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *use_htp_preference = false;
  return kLiteRtStatusOk;
}

LiteRtStatus LrtQualcommOptionsSetUseQint16AsQuint16(LrtQualcommOptions options, bool use) {
  return LrtQualcommOptionsSetUseHtpPreference(options, use);
}

LiteRtStatus LrtQualcommOptionsGetUseQint16AsQuint16(LrtQualcommOptions options,
                                                     bool* use_qint16_as_quint16) {
  return LrtQualcommOptionsGetUseHtpPreference(options, use_qint16_as_quint16);
}

LiteRtStatus LrtQualcommOptionsSetDumpTensorIds(LrtQualcommOptions options, const int32_t* ids,
                                                size_t number_of_ids) {
  if (options == nullptr || (ids == nullptr && number_of_ids > 0))
    return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] {
    options->dump_tensor_ids.clear();
    for (size_t i = 0; i < number_of_ids; ++i)
      options->dump_tensor_ids.push_back(std::to_string(ids[i]));
    return kLiteRtStatusOk;
  });
}

LiteRtStatus LrtQualcommOptionsGetDumpTensorIds(LrtQualcommOptions options, const int32_t** ids,
                                                size_t* number_of_ids) {
  if (options == nullptr || ids == nullptr || number_of_ids == nullptr)
    return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] {
    options->tensor_ids.clear();
    for (const std::string& text : options->dump_tensor_ids) {
      int32_t id = 0;
      std::from_chars(text.data(), text.data() + text.size(), id);
      options->tensor_ids.push_back(id);
    }
    *ids = options->tensor_ids.empty() ? nullptr : options->tensor_ids.data();
    *number_of_ids = options->tensor_ids.size();
    return kLiteRtStatusOk;
  });
}

namespace {

constexpr std::array<const char*, 5> kPackageParts = {
    "name", "interface_provider", "compile_package_path", "dispatch_package_path", "target"};

}  // namespace

LiteRtStatus LrtQualcommOptionsSetCustomOpPackage(LrtQualcommOptions options, const char* name,
                                                  const char* interface_provider,
                                                  const char* compile_package_path,
                                                  const char* dispatch_package_path,
                                                  const char* target) {
  const std::array<const char*, 5> values = {name, interface_provider, compile_package_path,
                                             dispatch_package_path, target};
  if (options == nullptr || std::count(values.begin(), values.end(), nullptr) > 0)
    return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] {
    std::string text;
    for (size_t i = 0; i < values.size(); ++i)
      text.append(kPackageParts[i]).append(":").append(values[i]).append(";");
    options->custom_op_package = text;
    return kLiteRtStatusOk;
  });
}

LiteRtStatus LrtQualcommOptionsGetCustomOpPackage(LrtQualcommOptions options, const char** name,
                                                  const char** interface_provider,
                                                  const char** compile_package_path,
                                                  const char** dispatch_package_path,
                                                  const char** target) {
  const std::array<const char**, 5> results = {name, interface_provider, compile_package_path,
                                               dispatch_package_path, target};
  if (options == nullptr || std::count(results.begin(), results.end(), nullptr) > 0)
    return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] {
    const std::string text = ";" + options->custom_op_package.value_or("");
    for (size_t i = 0; i < results.size(); ++i) {
      const std::string key = std::string(";") + kPackageParts[i] + ":";
      const size_t begin = text.find(key);
      options->package[i] =
          begin == std::string::npos
              ? ""
              : text.substr(begin + key.size(), text.find(';', begin + 1) - begin - key.size());
      *results[i] = options->package[i].c_str();
    }
    return kLiteRtStatusOk;
  });
}
