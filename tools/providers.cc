// SPDX-License-Identifier: Apache-2.0
#include "providers.h"

namespace deputy::tools {
namespace {

constexpr ProviderFlag kGpuFlags[] = {
    {"--gpu_precision_loss_allowed", nullptr, "Half precision where it is faster", "precision",
     "auto", "fp32"},
    {"--gpu_experimental_enable_quant", nullptr, "Support quantised operators; =false disables",
     "quantized", "true", "false"},
    {"--gpu_inference_for_sustained_speed", nullptr, "Tune kernels first", "preference",
     "sustained_speed", "single_answer"},
    {"--delegate_serialize_dir", "TEXT", "Directory for compiled programs", "cache_dir", nullptr,
     nullptr},
    {"--delegate_serialize_token", "TEXT", "Cache key of this model's compiled kernels",
     "cache_token", nullptr, nullptr},
    {"--gpu_backend", "NAME", "cl (gl is not supported)", nullptr, nullptr, nullptr},
};

constexpr ProviderFlag kNnapiFlags[] = {
    {"--nnapi_execution_preference", "NAME", "fast_single_answer, sustained_speed, low_power",
     "execution_preference", nullptr, nullptr},
    {"--nnapi_execution_priority", "NAME", "low, medium, high", "execution_priority", nullptr,
     nullptr},
    {"--nnapi_accelerator_name", "NAME", "Device to use", "accelerator_name", nullptr, nullptr},
    {"--disable_nnapi_cpu", nullptr, "Exclude NNAPI's own CPU", "disable_cpu", "true", "false"},
    {"--nnapi_allow_fp16", nullptr, "Half precision", "allow_fp16", "true", "false"},
    {"--nnapi_allow_dynamic_dimensions", nullptr, "Avoid recompilation for each shape",
     "allow_dynamic_dimensions", "true", "false"},
    {"--nnapi_use_burst_mode", nullptr, "Optimise for bursts of inferences", "use_burst_mode",
     "true", "false"},
    {"--nnapi_support_library_path", "FILE", "Library of the vendor's driver",
     "support_library_path", nullptr, nullptr},
};

constexpr ProviderFlag kHexagonFlags[] = {
    {"--hexagon_lib_path", "DIR", "Directory of libhexagon_nn_skel*.so", "library_folder", nullptr,
     nullptr},
    {"--hexagon_profiling", nullptr, "Measure times of the device", "profiling", "true", "false"},
};

constexpr ProviderFlag kCoreMlFlags[] = {
    {"--coreml_version", "N", "Core ML's version, 2 or 3", "coreml_version", nullptr, nullptr},
};

constexpr ProviderFlag kExternalFlags[] = {
    {"--external_delegate_options", "PAIRS", "Its options, e.g. key:value;key:value", nullptr,
     nullptr, nullptr},
};

constexpr ProviderFlag kLiteRtFlags[] = {
    {"--dispatch_library_dir", "DIR", "Folder with its dispatch plug-in", "dispatch_library_dir",
     nullptr, nullptr},
    {"--compiler_plugin_library_dir", "DIR", "Folder with compiler plug-ins",
     "compiler_plugin_library_dir", nullptr, nullptr},
    {"--soc_model", "NAME", "Device for which they compile", "soc_model", nullptr, nullptr},
};

constexpr const char* kNnapiLibraries[] = {"libneuralnetworks.so"};
constexpr const char* kHexagonLibraries[] = {"libhexagon_interface.so"};

using Flags = std::span<const ProviderFlag>;

constexpr Provider Own(const char* key, const char* name, const char* help, Flags flags,
                       const char* needs) {
  return {key, name, help, ProviderKind::kOwn, nullptr, flags, needs, {}, nullptr};
}

constexpr Provider Bridge(const char* key, const char* name, const char* help, Flags flags,
                          const char* needs, std::span<const char* const> libraries,
                          const char* function) {
  return {key, name, help, ProviderKind::kBridge, nullptr, flags, needs, libraries, function};
}

constexpr Provider Foreign(const char* key, const char* name, const char* help, Flags flags,
                           const char* needs) {
  return {key, name, help, ProviderKind::kForeign, nullptr, flags, needs, {}, nullptr};
}

constexpr Provider Given(const char* key, const char* help, ProviderKind kind,
                         const char* path_flag, Flags flags) {
  return {key, key, help, kind, path_flag, flags, "", {}, nullptr};
}

constexpr Provider kProviders[] = {
    {"default", "NoDelegate", "CPU only", ProviderKind::kNone, nullptr, {}, "", {}, nullptr},
    Own("gpu", "GPU", "OpenCL (GPU or any OpenCL device)", kGpuFlags,
        "Deputy was built without opencl-headers"),
    Own("npu_stub", "NPU stub", "Simulated NPU for testing delegates", {},
        "it is included in Deputy"),
    Own("xnnpack", "XNNPACK", "XNNPACK, if Deputy was built with it", {},
        "Deputy was built without libxnnpack-dev and libpthreadpool-dev"),
    Own("cpu", "CPU delegate", "The CPU's kernels as a delegate", {},
        "this Deputy was built without it"),
    Own("litert", "LiteRT", "A vendor's plug-ins for LiteRT", kLiteRtFlags,
        "it is included in Deputy"),
    Bridge("nnapi", "NNAPI", "Android's NNAPI", kNnapiFlags,
           "this Deputy has no bridge to NNAPI, which is part of Android", kNnapiLibraries,
           "ANeuralNetworksModel_create"),
    Bridge("hexagon", "Hexagon", "Qualcomm's Hexagon", kHexagonFlags,
           "this Deputy has no bridge to Hexagon, a DSP of Qualcomm's chips, which supports "
           "partitions of two nodes or more of quantised models and also needs "
           "libhexagon_nn_skel*.so",
           kHexagonLibraries, "hexagon_nn_init"),
    Foreign("coreml", "Core ML", "Apple's Core ML", kCoreMlFlags,
            "Core ML is part of Apple's systems; it supports partitions of two nodes or more "
            "of float models: ADD, AVERAGE_POOL_2D, CONCATENATION, CONV_2D, DEPTHWISE_CONV_2D, "
            "FULLY_CONNECTED, HARD_SWISH, LOGISTIC, MAX_POOL_2D, MIRROR_PAD, MUL, PAD, PADV2, "
            "RELU, RELU_N1_TO_1, RELU6, RESHAPE, RESIZE_BILINEAR, SOFTMAX, TANH, TRANSPOSE_CONV"),
    Foreign("ynnpack", "YNNPACK", "Google's YNNPACK", {}, "Deputy has no YNNPACK delegate"),
    Given("external", "A delegate's shared library", ProviderKind::kExternal,
          "--external_delegate_path", kExternalFlags),
    Given("stable", "JSON that names a stable delegate's library", ProviderKind::kStable,
          "--stable_delegate_settings_file", {}),
    Given("mindspore", "Library with a MindSpore Lite delegate", ProviderKind::kLibrary,
          "--mindspore_delegate_path", {}),
};

}  // namespace

std::span<const Provider> Providers() { return kProviders; }

const Provider* FindProvider(const std::string& key) {
  for (const Provider& provider : kProviders) {
    if (key == provider.key) return &provider;
  }
  return nullptr;
}

std::string FlagOf(const Provider& provider) {
  return provider.path_flag != nullptr ? provider.path_flag : std::string("--use_") + provider.key;
}

}  // namespace deputy::tools
