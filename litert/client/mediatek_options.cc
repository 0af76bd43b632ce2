// SPDX-License-Identifier: Apache-2.0
#include "litert/c/options/litert_mediatek_options.h"

#include "litert/client/settings.h"

using namespace deputy::litert_client;

struct LrtMediatekOptions {
  std::optional<LiteRtMediatekOptionsNeronSDKVersionType> sdk_version;
  std::optional<bool> optimizes_gemma;
  std::optional<LiteRtMediatekNeuronAdapterPerformanceMode> performance;
  std::optional<bool> optimizes_l1_cache;
  std::optional<LiteRtMediatekNeuronAdapterOptimizationHint> hint;
  std::optional<bool> keeps_dla_dir;
  std::optional<std::string> dla_dir;
  std::optional<std::string> aot_options;

  template <typename Self, typename Visitor>
  static void Visit(Self& self, Visitor& visitor) {
    visitor.Add("neron_sdk_version", self.sdk_version);
    visitor.Add("gemma_compiler_optimizations", self.optimizes_gemma);
    visitor.Add("performance_mode", self.performance);
    visitor.Add("l1_cache_optimizations", self.optimizes_l1_cache);
    visitor.Add("optimization_hint", self.hint);
    visitor.Add("disable_dla_dir_removal", self.keeps_dla_dir);
    visitor.Add("mediatek_dla_dir", self.dla_dir);
    visitor.Add("aot_compilation_options", self.aot_options);
  }
};

LiteRtStatus LrtCreateMediatekOptions(LrtMediatekOptions** options) { return Create(options); }
void LrtDestroyMediatekOptions(LrtMediatekOptions* options) { delete options; }

LiteRtStatus LrtCreateMediatekOptionsFromToml(const char* toml_payload,
                                              LrtMediatekOptions** options) {
  return CreateFromText(toml_payload, options);
}

LiteRtStatus LrtGetOpaqueMediatekOptionsData(const LrtMediatekOptions* options,
                                             const char** identifier, void** payload,
                                             void (**payload_deleter)(void*)) {
  return Deliver(options, "mediatek", identifier, payload, payload_deleter);
}

LiteRtStatus LrtSetMediatekOptionsNeronSDKVersionType(
    LrtMediatekOptions* options, LiteRtMediatekOptionsNeronSDKVersionType sdk_version_type) {
  return Set(options, &LrtMediatekOptions::sdk_version, sdk_version_type);
}

LiteRtStatus LrtGetMediatekOptionsNeronSDKVersionType(
    const LrtMediatekOptions* options, LiteRtMediatekOptionsNeronSDKVersionType* sdk_version_type) {
  return GetOr(options, &LrtMediatekOptions::sdk_version,
               kLiteRtMediatekOptionsNeronSDKVersionTypeVersion8, sdk_version_type);
}

LiteRtStatus LrtSetMediatekOptionsGemmaCompilerOptimizations(LrtMediatekOptions* options,
                                                             bool gemma_compiler_optimizations) {
  return Set(options, &LrtMediatekOptions::optimizes_gemma, gemma_compiler_optimizations);
}

LiteRtStatus LrtGetMediatekOptionsGemmaCompilerOptimizations(const LrtMediatekOptions* options,
                                                             bool* gemma_compiler_optimizations) {
  return GetOr(options, &LrtMediatekOptions::optimizes_gemma, false, gemma_compiler_optimizations);
}

LiteRtStatus LrtSetMediatekOptionsL1CacheOptimizations(LrtMediatekOptions* options,
                                                       bool l1_cache_optimizations) {
  return Set(options, &LrtMediatekOptions::optimizes_l1_cache, l1_cache_optimizations);
}

LiteRtStatus LrtGetMediatekOptionsL1CacheOptimizations(const LrtMediatekOptions* options,
                                                       bool* l1_cache_optimizations) {
  return GetOr(options, &LrtMediatekOptions::optimizes_l1_cache, false, l1_cache_optimizations);
}

LiteRtStatus LrtSetMediatekOptionsOptimizationHint(
    LrtMediatekOptions* options, LiteRtMediatekNeuronAdapterOptimizationHint optimization_hint) {
  return Set(options, &LrtMediatekOptions::hint, optimization_hint);
}

LiteRtStatus LrtGetMediatekOptionsOptimizationHint(
    const LrtMediatekOptions* options,
    LiteRtMediatekNeuronAdapterOptimizationHint* optimization_hint) {
  return GetOr(options, &LrtMediatekOptions::hint,
               kLiteRtMediatekNeuronAdapterOptimizationHintNormal, optimization_hint);
}

LiteRtStatus LrtSetMediatekOptionsAotCompilationOptions(LrtMediatekOptions* options,
                                                        const char* aot_compilation_options) {
  return SetUnlessEmpty(options, &LrtMediatekOptions::aot_options, aot_compilation_options);
}

LiteRtStatus LrtGetMediatekOptionsAotCompilationOptions(const LrtMediatekOptions* options,
                                                        const char** aot_compilation_options) {
  return GetTextOr(options, &LrtMediatekOptions::aot_options, "", aot_compilation_options);
}

LiteRtStatus LrtSetMediatekOptionsMediatekDlaDir(LrtMediatekOptions* options,
                                                 const char* mediatek_dla_dir) {
  return SetUnlessEmpty(options, &LrtMediatekOptions::dla_dir, mediatek_dla_dir);
}

LiteRtStatus LrtGetMediatekOptionsMediatekDlaDir(const LrtMediatekOptions* options,
                                                 const char** mediatek_dla_dir) {
  return GetTextOr(options, &LrtMediatekOptions::dla_dir, "", mediatek_dla_dir);
}

LiteRtStatus LrtSetMediatekOptionsDisableDlaDirRemoval(LrtMediatekOptions* options,
                                                       bool disable_dla_dir_removal) {
  return Set(options, &LrtMediatekOptions::keeps_dla_dir, disable_dla_dir_removal);
}

LiteRtStatus LrtGetMediatekOptionsDisableDlaDirRemoval(const LrtMediatekOptions* options,
                                                       bool* disable_dla_dir_removal) {
  return GetOr(options, &LrtMediatekOptions::keeps_dla_dir, false, disable_dla_dir_removal);
}

LiteRtStatus LrtSetMediatekOptionsPerformanceMode(
    LrtMediatekOptions* options, LiteRtMediatekNeuronAdapterPerformanceMode performance_mode) {
  return Set(options, &LrtMediatekOptions::performance, performance_mode);
}

LiteRtStatus LrtGetMediatekOptionsPerformanceMode(
    const LrtMediatekOptions* options,
    LiteRtMediatekNeuronAdapterPerformanceMode* performance_mode) {
  return GetOr(options, &LrtMediatekOptions::performance,
               kLiteRtMediatekNeuronAdapterPerformanceModeNeuronPreferSustainedSpeed,
               performance_mode);
}
