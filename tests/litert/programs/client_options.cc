// SPDX-License-Identifier: Apache-2.0
//
// A program that links libLiteRt_client.a: sets options of GPUs, WebNN and vendors alone, and
// prints its default, the text of the options, and the value read from the text.
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>

#include "litert/c/options/litert_arm_options.h"
#include "litert/c/options/litert_google_tensor_options.h"
#include "litert/c/options/litert_gpu_options.h"
#include "litert/c/options/litert_mediatek_options.h"
#include "litert/c/options/litert_qualcomm_options.h"
#include "litert/c/options/litert_samsung_options.h"
#include "litert/c/options/litert_webnn_options.h"

namespace {

template <typename Value>
std::string Show(Value value) {
  if constexpr (std::is_same_v<Value, const char*>) {
    return value == nullptr ? "NULL" : '"' + std::string(value) + '"';
  } else if constexpr (std::is_pointer_v<Value>) {
    return std::to_string(reinterpret_cast<uintptr_t>(value));
  } else {
    return std::to_string(static_cast<int>(value));
  }
}

// The functions of one kind of options.
template <typename Options, auto kCreate, auto kDestroy, auto kGetData, auto kFromText>
struct Kind {
  template <typename Value, typename Set, typename Get>
  static void Print(Set set, Get get, Value value) {
    Options options = nullptr, again = nullptr;
    const char* identifier = nullptr;
    void* text = nullptr;
    void (*deleter)(void*) = nullptr;
    Value before = {}, after = {};
    int errors = kCreate(&options) + get(options, &before);
    const std::string shown = Show(before);
    errors += set(options, value) + kGetData(options, &identifier, &text, &deleter);
    errors += kFromText(static_cast<const char*>(text), &again) + get(again, &after);
    std::string line = static_cast<const char*>(text);
    for (char& each : line) each = each == '\n' ? ';' : each;
    std::printf("%s: %s -> %s %s\n", identifier, shown.c_str(), line.c_str(), Show(after).c_str());
    if (errors != 0) std::printf("an error\n");
    deleter(text), kDestroy(options), kDestroy(again);
  }
};

using Gpu = Kind<LrtGpuOptions*, &LrtCreateGpuOptions, &LrtDestroyGpuOptions,
                 &LrtGetOpaqueGpuOptionsData, &LrtCreateGpuOptionsFromToml>;
using WebNn = Kind<LrtWebNnOptions*, &LrtCreateWebNnOptions, &LrtDestroyWebNnOptions,
                   &LrtGetOpaqueWebNnOptionsData, &LrtCreateWebNnOptionsFromToml>;
using Arm = Kind<LrtArmOptions, &LrtCreateArmOptions, &LrtDestroyArmOptions,
                 &LrtGetOpaqueArmOptionsData, &LrtCreateArmOptionsFromToml>;
using Samsung = Kind<LrtSamsungOptions, &LrtCreateSamsungOptions, &LrtDestroySamsungOptions,
                     &LrtGetOpaqueSamsungOptionsData, &LrtCreateSamsungOptionsFromToml>;
using Mediatek = Kind<LrtMediatekOptions*, &LrtCreateMediatekOptions, &LrtDestroyMediatekOptions,
                      &LrtGetOpaqueMediatekOptionsData, &LrtCreateMediatekOptionsFromToml>;
using Qualcomm = Kind<LrtQualcommOptions, &LrtCreateQualcommOptions, &LrtDestroyQualcommOptions,
                      &LrtGetOpaqueQualcommOptionsData, &LrtCreateQualcommOptionsFromToml>;
using Google =
    Kind<LrtGoogleTensorOptions, &LrtCreateGoogleTensorOptions, &LrtDestroyGoogleTensorOptions,
         &LrtGetOpaqueGoogleTensorOptionsData, &LrtCreateGoogleTensorOptionsFromToml>;

// Most getters of GPU options have the value first.
template <typename Value, typename Set, typename Get>
void Print(Set set, Get get, Value value) {
  const auto swapped = [get](const LrtGpuOptions* options, Value* out) {
    return get(out, options);
  };
  Gpu::Print<Value>(set, swapped, value);
}

template <typename Value, typename Set, typename Get>
void PrintSwapped(Set set, Get get, Value value) {
  Gpu::Print<Value>(set, get, value);
}

void PrintGpu() {
  Print<LiteRtGpuBackend>(&LrtSetGpuOptionsGpuBackend, &LrtGetGpuOptionsGpuBackend,
                          static_cast<LiteRtGpuBackend>(1));
  Print<LiteRtGpuPriority>(&LrtSetGpuOptionsGpuPriority, &LrtGetGpuOptionsGpuPriority,
                           static_cast<LiteRtGpuPriority>(1));
  Print<const char*>(&LrtSetGpuAcceleratorRuntimeOptionsPreferredDeviceSubstr,
                     &LrtGetGpuAcceleratorRuntimeOptionsPreferredDeviceSubstr, "text 2");
  Print<LiteRtDelegatePrecision>(&LrtSetGpuAcceleratorCompilationOptionsPrecision,
                                 &LrtGetGpuAcceleratorCompilationOptionsPrecision,
                                 static_cast<LiteRtDelegatePrecision>(1));
  Print<bool>(&LrtSetGpuOptionsInfiniteFloatCapping, &LrtGetGpuOptionsInfiniteFloatCapping, true);
  Print<bool>(&LrtSetGpuAcceleratorCompilationOptionsAllowSrcQuantizedFcConvOps,
              &LrtGetGpuAcceleratorCompilationOptionsAllowSrcQuantizedFcConvOps, true);
  Print<LiteRtDelegateBufferStorageType>(
      &LrtSetGpuAcceleratorCompilationOptionsUseBufferStorageType,
      &LrtGetGpuAcceleratorCompilationOptionsBufferStorageType,
      static_cast<LiteRtDelegateBufferStorageType>(1));
  Print<bool>(&LrtSetGpuAcceleratorCompilationOptionsPreferTextureWeights,
              &LrtGetGpuAcceleratorCompilationOptionsPreferTextureWeights, true);
  Print<bool>(&LrtSetGpuOptionsConstantTensorsSharing, &LrtGetGpuOptionsConstantTensorsSharing,
              true);
  Print<bool>(&LrtSetGpuAcceleratorCompilationOptionsMadviseOriginalSharedTensors,
              &LrtGetGpuAcceleratorCompilationOptionsMadviseOriginalSharedTensors, true);
  Print<void*>(&LrtSetGpuAcceleratorCompilationOptionsSharedTensorMaps,
               &LrtGetGpuAcceleratorCompilationOptionsSharedTensorMaps,
               reinterpret_cast<void*>(4096));
  Print<bool>(&LrtSetGpuOptionsExternalTensorsMode, &LrtGetGpuOptionsExternalTensorsMode, true);
  Print<const char*>(&LrtSetGpuAcceleratorCompilationOptionsSerializationDir,
                     &LrtGetGpuAcceleratorCompilationOptionsSerializationDir, "text 12");
  Print<const char*>(&LrtSetGpuAcceleratorCompilationOptionsModelCacheKey,
                     &LrtGetGpuAcceleratorCompilationOptionsModelCacheKey, "text 13");
  Print<int>(&LrtSetGpuAcceleratorCompilationOptionsProgramCacheFd,
             &LrtGetGpuAcceleratorCompilationOptionsProgramCacheFd, 24);
  Print<int>(&LrtSetGpuAcceleratorCompilationOptionsWeightCacheFd,
             &LrtGetGpuAcceleratorCompilationOptionsWeightCacheFd, 25);
  Print<bool>(&LrtSetGpuAcceleratorCompilationOptionsSerializeProgramCache,
              &LrtGetGpuAcceleratorCompilationOptionsSerializeProgramCache, false);
  Print<bool>(&LrtSetGpuAcceleratorCompilationOptionsCacheCompiledProgramsOnly,
              &LrtGetGpuAcceleratorCompilationOptionsCacheCompiledProgramsOnly, true);
  Print<bool>(&LrtSetGpuAcceleratorCompilationOptionsSerializeExternalTensors,
              &LrtGetGpuAcceleratorCompilationOptionsSerializeExternalTensors, true);
  Print<int>(&LrtSetGpuAcceleratorRuntimeOptionsNumThreadsToUpload,
             &LrtGetGpuAcceleratorRuntimeOptionsNumThreadsToUpload, 29);
  Print<int>(&LrtSetGpuAcceleratorRuntimeOptionsNumThreadsToCompile,
             &LrtGetGpuAcceleratorRuntimeOptionsNumThreadsToCompile, 30);
  Print<bool>(&LrtSetGpuAcceleratorRuntimeOptionsConvertWeightsOnGpu,
              &LrtGetGpuAcceleratorRuntimeOptionsConvertWeightsOnGpu, true);
  Print<bool>(&LrtSetGpuAcceleratorRuntimeOptionsWaitForWeightsConversionComplete,
              &LrtGetGpuAcceleratorRuntimeOptionsWaitForWeightsConversionComplete, true);
  Print<bool>(&LrtSetGpuAcceleratorCompilationOptionsDisableShaderOptimization,
              &LrtGetGpuAcceleratorCompilationOptionsDisableShaderOptimization, true);
  Print<int>(&LrtSetGpuAcceleratorRuntimeOptionsNumStepsOfCommandBufferPreparations,
             &LrtGetGpuAcceleratorRuntimeOptionsNumStepsOfCommandBufferPreparations, 34);
  Print<LiteRtGpuWaitType>(&LrtSetGpuAcceleratorRuntimeOptionsWaitType,
                           &LrtGetGpuAcceleratorRuntimeOptionsWaitType,
                           static_cast<LiteRtGpuWaitType>(1));
  Print<bool>(&LrtSetGpuAcceleratorRuntimeOptionsHintWaitingForCompletion,
              &LrtGetGpuAcceleratorRuntimeOptionsHintWaitingForCompletion, true);
  Print<int>(&LrtSetGpuAcceleratorRuntimeOptionsKernelBatchSize,
             &LrtGetGpuAcceleratorRuntimeOptionsKernelBatchSize, 37);
  Print<bool>(&LrtSetGpuOptionsBenchmarkMode, &LrtGetGpuOptionsBenchmarkMode, true);
  Print<bool>(&LrtSetGpuOptionsHintFullyDelegatedToSingleDelegate,
              &LrtGetGpuOptionsHintFullyDelegatedToSingleDelegate, true);
  PrintSwapped<bool>(&LrtSetGpuOptionsUseMetalArgumentBuffers,
                     &LrtGetGpuOptionsUseMetalArgumentBuffers, true);
  PrintSwapped<bool>(&LrtSetGpuOptionsMetalResidencySet, &LrtGetGpuOptionsMetalResidencySet, true);
}

// Prints the text of options and destroys them.
void PrintText(LrtGpuOptions* options) {
  const char* identifier = nullptr;
  void* payload = nullptr;
  void (*deleter)(void*) = nullptr;
  LrtGetOpaqueGpuOptionsData(options, &identifier, &payload, &deleter);
  std::printf("%s", static_cast<const char*>(payload));
  deleter(payload), LrtDestroyGpuOptions(options);
}

void PrintPatterns() {
  const char* text =
      "# comment\n\nexternal_tensor_patterns = ['a,b' , \"c\"]\nbenchmark_mode=\"true\"\nother = "
      "1\n";
  LrtGpuOptions* options = nullptr;
  std::printf("%d\n", LrtCreateGpuOptionsFromToml(text, &options));
  LrtAddGpuOptionsExternalTensorPattern(options, "d");
  LrtAddGpuOptionsBufferStorageTensorPattern(options, "e");
  int count = 0, other_count = 0;
  LrtGetNumGpuAcceleratorCompilationOptionsExternalTensorPatterns(&count, options);
  LrtGetNumGpuAcceleratorCompilationOptionsBufferStorageTensorPatterns(&other_count, options);
  std::printf("%d %d\n", count, other_count);
  for (int i = -1; i < 4; ++i) {
    const char* pattern = "none";
    const LiteRtStatus status =
        LrtGetGpuAcceleratorCompilationOptionsExternalTensorPattern(&pattern, i, options);
    std::printf("%d %s\n", status, pattern);
  }
  PrintText(options);
  // The order of the lines is that of the keys, not of the text that was read.
  const char* unordered =
      "weight_cache_fd = 1\nserialization_dir = d\nprecision = 2\nkernel_batch_size = 3\n"
      "hint_waiting_for_completion = true\nbackend = 1\nallow_src_quantized_fc_conv_ops = false\n";
  LrtCreateGpuOptionsFromToml(unordered, &options);
  PrintText(options);
  for (const char* wrong : {"precision = x", "precision = 1x", "benchmark_mode = 1",
                            "external_tensor_patterns = [a]", "kernel_batch_size = 99999999999"}) {
    const LiteRtStatus status = LrtCreateGpuOptionsFromToml(wrong, &options);
    std::printf("%d %d\n", status, options == nullptr);
  }
  LrtWebNnOptions* web = nullptr;
  LrtArmOptions arm = nullptr;
  std::printf("%d %d %d\n", LrtCreateGpuOptionsFromToml(nullptr, &options),
              LrtCreateWebNnOptionsFromToml(nullptr, &web),
              LrtCreateArmOptionsFromToml(nullptr, &arm));
  LrtDestroyArmOptions(arm);
}

// Options of Qualcomm with several values, read from a text.
void PrintQualcommLists() {
  LrtQualcommOptions options = nullptr;
  const char* parts[5] = {};
  const int32_t* ids = nullptr;
  size_t count = 0;
  LrtCreateQualcommOptionsFromToml(
      "dump_tensor_ids = [\"7\", \"-1\"]\ncustom_op_package = \"target:HTP;name:n:1;\"\n",
      &options);
  LrtQualcommOptionsGetDumpTensorIds(options, &ids, &count);
  LrtQualcommOptionsGetCustomOpPackage(options, &parts[0], &parts[1], &parts[2], &parts[3],
                                       &parts[4]);
  std::printf("%zu %d %d '%s' '%s' '%s'\n", count, ids[0], ids[1], parts[0], parts[1], parts[4]);
  std::printf("%d %d\n", LrtQualcommOptionsSetCustomOpPackage(options, "a", "b", "c", nullptr, "d"),
              LrtQualcommOptionsSetDumpTensorIds(options, nullptr, 1));
  LrtDestroyQualcommOptions(options);
}

// Coherency of the inputs of Google's plug-ins.
void PrintCoherency() {
  LrtGoogleTensorOptions options = nullptr;
  LrtCreateGoogleTensorOptionsFromToml("input_coherency_s:x = true\n", &options);
  LrtGoogleTensorOptionsSetInputCoherency(options, "s", "y", true);
  LrtGoogleTensorOptionsSetInputCoherency(options, "s", "y", false);
  int count = 0;
  LrtGoogleTensorOptionsGetNumInputCoherencyEntries(options, &count);
  for (int i = 0; i <= count; ++i) {
    const char *signature = "", *tensor = "";
    bool coherent = false;
    const LiteRtStatus status =
        LrtGoogleTensorOptionsGetInputCoherencyEntry(options, i, &signature, &tensor, &coherent);
    std::printf("%d %s %s %d\n", status, signature, tensor, coherent);
  }
  LrtDestroyGoogleTensorOptions(options);
}

}  // namespace

int main() {
  PrintGpu();
  PrintPatterns();
  WebNn::Print<LiteRtWebNnDeviceType>(&LrtSetWebNnOptionsDevicePreference,
                                      &LrtGetWebNnOptionsDevicePreference,
                                      kLiteRtWebNnDeviceTypeNpu);
  WebNn::Print<LiteRtWebNnPowerPreference>(&LrtSetWebNnOptionsPowerPreference,
                                           &LrtGetWebNnOptionsPowerPreference,
                                           kLiteRtWebNnPowerPreferenceLowPower);
  WebNn::Print<LiteRtWebNnPrecision>(&LrtSetWebNnOptionsPrecision, &LrtGetWebNnOptionsPrecision,
                                     kLiteRtWebNnPrecisionFp16);
  Arm::Print<bool>(&LrtArmOptionsSetEnableJustInTime, &LrtArmOptionsGetEnableJustInTime, true);
  Samsung::Print<bool>(&LrtSamsungOptionsSetEnableLargeModelSupport,
                       &LrtSamsungOptionsGetEnableLargeModelSupport, true);
  Samsung::Print<const char*>(&LrtSamsungOptionsSetSocModel, &LrtSamsungOptionsGetSocModel,
                              "E9955");
  Mediatek::Print<LiteRtMediatekOptionsNeronSDKVersionType>(
      &LrtSetMediatekOptionsNeronSDKVersionType, &LrtGetMediatekOptionsNeronSDKVersionType,
      static_cast<LiteRtMediatekOptionsNeronSDKVersionType>(0));
  Mediatek::Print<bool>(&LrtSetMediatekOptionsGemmaCompilerOptimizations,
                        &LrtGetMediatekOptionsGemmaCompilerOptimizations, true);
  Mediatek::Print<bool>(&LrtSetMediatekOptionsL1CacheOptimizations,
                        &LrtGetMediatekOptionsL1CacheOptimizations, true);
  Mediatek::Print<LiteRtMediatekNeuronAdapterOptimizationHint>(
      &LrtSetMediatekOptionsOptimizationHint, &LrtGetMediatekOptionsOptimizationHint,
      static_cast<LiteRtMediatekNeuronAdapterOptimizationHint>(2));
  Mediatek::Print<LiteRtMediatekNeuronAdapterPerformanceMode>(
      &LrtSetMediatekOptionsPerformanceMode, &LrtGetMediatekOptionsPerformanceMode,
      static_cast<LiteRtMediatekNeuronAdapterPerformanceMode>(1));
  Mediatek::Print<bool>(&LrtSetMediatekOptionsDisableDlaDirRemoval,
                        &LrtGetMediatekOptionsDisableDlaDirRemoval, true);
  Mediatek::Print<const char*>(&LrtSetMediatekOptionsMediatekDlaDir,
                               &LrtGetMediatekOptionsMediatekDlaDir, "/dla");
  Mediatek::Print<const char*>(&LrtSetMediatekOptionsAotCompilationOptions,
                               &LrtGetMediatekOptionsAotCompilationOptions, "");
  Qualcomm::Print<bool>(&LrtQualcommOptionsSetUseFoldReLU, &LrtQualcommOptionsGetUseFoldReLU,
                        false);
  Qualcomm::Print<uint32_t>(&LrtQualcommOptionsSetLpaiFps, &LrtQualcommOptionsGetLpaiFps, 30);
  Qualcomm::Print<const char*>(&LrtQualcommOptionsSetDlcDir, &LrtQualcommOptionsGetDlcDir, "/dlc");
  Qualcomm::Print<bool>(&LrtQualcommOptionsSetUseHtpPreference,
                        &LrtQualcommOptionsGetUseHtpPreference, true);
  PrintQualcommLists();
  Google::Print<bool>(&LrtGoogleTensorOptionsSetDumpOpTimings,
                      &LrtGoogleTensorOptionsGetDumpOpTimings, true);
  for (const char* text : {"a", "a\"", "a\"\\"}) {
    Google::Print<const char*>(&LrtGoogleTensorOptionsSetOpFiltersProto,
                               &LrtGoogleTensorOptionsGetOpFiltersProto, text);
  }
  PrintCoherency();
}
