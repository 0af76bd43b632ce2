// SPDX-License-Identifier: Apache-2.0
#include "litert/c/options/litert_gpu_options.h"

#include <bit>

#include "litert/client/settings.h"

using namespace deputy::litert_client;

struct LrtGpuOptions {
  std::optional<bool> enable_constant_tensors_sharing, enable_infinite_float_capping,
      benchmark_mode, allow_src_quantized_fc_conv_ops, hint_waiting_for_completion,
      prefer_texture_weights, serialize_program_cache, serialize_external_tensors,
      external_tensors_mode, madvise_original_shared_tensors, use_metal_argument_buffers,
      enable_metal_residency_set, hint_fully_delegated_to_single_delegate, convert_weights_on_gpu,
      wait_for_weights_conversion_complete, disable_shader_optimization,
      cache_only_compiled_programs;
  std::optional<int> kernel_batch_size, num_steps_of_command_buffer_preparations,
      num_threads_to_upload, num_threads_to_compile, program_cache_fd, weight_cache_fd;
  std::optional<int64_t> shared_tensor_maps;
  std::optional<LiteRtDelegatePrecision> precision;
  std::optional<LiteRtDelegateBufferStorageType> buffer_storage_type;
  std::optional<std::string> serialization_dir, model_cache_key, preferred_device_substr;
  std::vector<std::string> external_tensor_patterns, buffer_storage_tensor_patterns;
  std::optional<LiteRtGpuBackend> backend;
  std::optional<LiteRtGpuPriority> priority;
  std::optional<LiteRtGpuWaitType> wait_type;

  template <typename Self, typename Visitor>
  static void Visit(Self& self, Visitor& visitor) {
    visitor.Add("enable_constant_tensors_sharing", self.enable_constant_tensors_sharing);
    visitor.Add("enable_infinite_float_capping", self.enable_infinite_float_capping);
    visitor.Add("benchmark_mode", self.benchmark_mode);
    visitor.Add("allow_src_quantized_fc_conv_ops", self.allow_src_quantized_fc_conv_ops);
    visitor.Add("hint_waiting_for_completion", self.hint_waiting_for_completion);
    visitor.Add("kernel_batch_size", self.kernel_batch_size);
    visitor.Add("shared_tensor_maps", self.shared_tensor_maps);
    visitor.Add("precision", self.precision);
    visitor.Add("buffer_storage_type", self.buffer_storage_type);
    visitor.Add("prefer_texture_weights", self.prefer_texture_weights);
    visitor.Add("serialization_dir", self.serialization_dir);
    visitor.Add("model_cache_key", self.model_cache_key);
    visitor.Add("serialize_program_cache", self.serialize_program_cache);
    visitor.Add("serialize_external_tensors", self.serialize_external_tensors);
    visitor.Add("external_tensors_mode", self.external_tensors_mode);
    visitor.Add("external_tensor_patterns", self.external_tensor_patterns);
    visitor.Add("backend", self.backend);
    visitor.Add("priority", self.priority);
    visitor.Add("madvise_original_shared_tensors", self.madvise_original_shared_tensors);
    visitor.Add("num_steps_of_command_buffer_preparations",
                self.num_steps_of_command_buffer_preparations);
    visitor.Add("use_metal_argument_buffers", self.use_metal_argument_buffers);
    visitor.Add("enable_metal_residency_set", self.enable_metal_residency_set);
    visitor.Add("wait_type", self.wait_type);
    visitor.Add("preferred_device_substr", self.preferred_device_substr);
    visitor.Add("hint_fully_delegated_to_single_delegate",
                self.hint_fully_delegated_to_single_delegate);
    visitor.Add("num_threads_to_upload", self.num_threads_to_upload);
    visitor.Add("num_threads_to_compile", self.num_threads_to_compile);
    visitor.Add("convert_weights_on_gpu", self.convert_weights_on_gpu);
    visitor.Add("wait_for_weights_conversion_complete", self.wait_for_weights_conversion_complete);
    visitor.Add("disable_shader_optimization", self.disable_shader_optimization);
    visitor.Add("program_cache_fd", self.program_cache_fd);
    visitor.Add("weight_cache_fd", self.weight_cache_fd);
    visitor.Add("cache_only_compiled_programs", self.cache_only_compiled_programs);
    visitor.Add("buffer_storage_tensor_patterns", self.buffer_storage_tensor_patterns);
  }
};

LiteRtStatus LrtCreateGpuOptions(LrtGpuOptions** options) { return Create(options); }
void LrtDestroyGpuOptions(LrtGpuOptions* options) { delete options; }
const char* LrtGetGpuOptionsIdentifier() { return "gpu_options"; }

LiteRtStatus LrtCreateGpuOptionsFromToml(const char* toml_string, LrtGpuOptions** options) {
  if (toml_string == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return CreateFromText(toml_string, options);
}

LiteRtStatus LrtGetOpaqueGpuOptionsData(const LrtGpuOptions* options, const char** identifier,
                                        void** payload, void (**payload_deleter)(void*)) {
  return Deliver(options, LrtGetGpuOptionsIdentifier(), identifier, payload, payload_deleter);
}

// ---- Device -------------------------------------------------------------------------------------

LiteRtStatus LrtSetGpuOptionsGpuBackend(LrtGpuOptions* gpu_options, LiteRtGpuBackend backend) {
  return Set(gpu_options, &LrtGpuOptions::backend, backend);
}

LiteRtStatus LrtGetGpuOptionsGpuBackend(LiteRtGpuBackend* backend, const LrtGpuOptions* options) {
  return GetOr(options, &LrtGpuOptions::backend, kLiteRtGpuBackendAutomatic, backend);
}

LiteRtStatus LrtSetGpuOptionsGpuPriority(LrtGpuOptions* gpu_options, LiteRtGpuPriority priority) {
  return Set(gpu_options, &LrtGpuOptions::priority, priority);
}

LiteRtStatus LrtGetGpuOptionsGpuPriority(LiteRtGpuPriority* priority,
                                         const LrtGpuOptions* options) {
  return GetOr(options, &LrtGpuOptions::priority, kLiteRtGpuPriorityDefault, priority);
}

LiteRtStatus LrtSetGpuAcceleratorRuntimeOptionsPreferredDeviceSubstr(
    LrtGpuOptions* gpu_options, const char* preferred_device_substr) {
  return SetOrClear(gpu_options, &LrtGpuOptions::preferred_device_substr, preferred_device_substr);
}

LiteRtStatus LrtGetGpuAcceleratorRuntimeOptionsPreferredDeviceSubstr(
    const char** preferred_device_substr, const LrtGpuOptions* options) {
  return GetTextOr(options, &LrtGpuOptions::preferred_device_substr, "", preferred_device_substr);
}

// ---- Arithmetic and storage ---------------------------------------------------------------------

LiteRtStatus LrtSetGpuAcceleratorCompilationOptionsPrecision(LrtGpuOptions* gpu_options,
                                                             LiteRtDelegatePrecision precision) {
  return Set(gpu_options, &LrtGpuOptions::precision, precision);
}

LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsPrecision(LiteRtDelegatePrecision* precision,
                                                             const LrtGpuOptions* options) {
  return GetOr(options, &LrtGpuOptions::precision, kLiteRtDelegatePrecisionDefault, precision);
}

LiteRtStatus LrtSetGpuOptionsInfiniteFloatCapping(LrtGpuOptions* gpu_options, bool enable) {
  return Set(gpu_options, &LrtGpuOptions::enable_infinite_float_capping, enable);
}

LiteRtStatus LrtGetGpuOptionsInfiniteFloatCapping(bool* enabled, const LrtGpuOptions* options) {
  return GetOr(options, &LrtGpuOptions::enable_infinite_float_capping, false, enabled);
}

LiteRtStatus LrtSetGpuAcceleratorCompilationOptionsAllowSrcQuantizedFcConvOps(
    LrtGpuOptions* gpu_options, bool enable) {
  return Set(gpu_options, &LrtGpuOptions::allow_src_quantized_fc_conv_ops, enable);
}

LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsAllowSrcQuantizedFcConvOps(
    bool* enabled, const LrtGpuOptions* options) {
  return GetOr(options, &LrtGpuOptions::allow_src_quantized_fc_conv_ops, false, enabled);
}

LiteRtStatus LrtSetGpuAcceleratorCompilationOptionsUseBufferStorageType(
    LrtGpuOptions* gpu_options, LiteRtDelegateBufferStorageType buffer_storage_type) {
  return Set(gpu_options, &LrtGpuOptions::buffer_storage_type, buffer_storage_type);
}

LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsBufferStorageType(
    LiteRtDelegateBufferStorageType* type, const LrtGpuOptions* options) {
  return GetOr(options, &LrtGpuOptions::buffer_storage_type,
               kLiteRtDelegateBufferStorageTypeDefault, type);
}

LiteRtStatus LrtSetGpuAcceleratorCompilationOptionsPreferTextureWeights(
    LrtGpuOptions* gpu_options, bool prefer_texture_weights) {
  return Set(gpu_options, &LrtGpuOptions::prefer_texture_weights, prefer_texture_weights);
}

LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsPreferTextureWeights(
    bool* prefer_texture_weights, const LrtGpuOptions* options) {
  return GetOr(options, &LrtGpuOptions::prefer_texture_weights, false, prefer_texture_weights);
}

LiteRtStatus LrtSetGpuOptionsConstantTensorsSharing(LrtGpuOptions* gpu_options, bool enable) {
  return Set(gpu_options, &LrtGpuOptions::enable_constant_tensors_sharing, enable);
}

LiteRtStatus LrtGetGpuOptionsConstantTensorsSharing(bool* enabled, const LrtGpuOptions* options) {
  return GetOr(options, &LrtGpuOptions::enable_constant_tensors_sharing, false, enabled);
}

LiteRtStatus LrtSetGpuAcceleratorCompilationOptionsMadviseOriginalSharedTensors(
    LrtGpuOptions* gpu_options, bool madvise_original_shared_tensors) {
  return Set(gpu_options, &LrtGpuOptions::madvise_original_shared_tensors,
             madvise_original_shared_tensors);
}

LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsMadviseOriginalSharedTensors(
    bool* madvise_original_shared_tensors, const LrtGpuOptions* options) {
  return GetOr(options, &LrtGpuOptions::madvise_original_shared_tensors, false,
               madvise_original_shared_tensors);
}

LiteRtStatus LrtSetGpuAcceleratorCompilationOptionsSharedTensorMaps(LrtGpuOptions* gpu_options,
                                                                    void* shared_tensor_maps) {
  const auto address = static_cast<int64_t>(reinterpret_cast<intptr_t>(shared_tensor_maps));
  return Set(gpu_options, &LrtGpuOptions::shared_tensor_maps,
             address == 0 ? std::nullopt : std::optional(address));
}

LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsSharedTensorMaps(
    void** shared_tensor_maps, const LrtGpuOptions* gpu_options) {
  int64_t address = 0;
  if (shared_tensor_maps == nullptr) return kLiteRtStatusErrorInvalidArgument;
  const LiteRtStatus status = GetOr(gpu_options, &LrtGpuOptions::shared_tensor_maps, 0, &address);
  if (status == kLiteRtStatusOk)
    *shared_tensor_maps = std::bit_cast<void*>(static_cast<intptr_t>(address));
  return status;
}

// ---- Inputs and outputs -------------------------------------------------------------------------

LiteRtStatus LrtSetGpuOptionsExternalTensorsMode(LrtGpuOptions* gpu_options, bool enable) {
  return Set(gpu_options, &LrtGpuOptions::external_tensors_mode, enable);
}

LiteRtStatus LrtGetGpuOptionsExternalTensorsMode(bool* enabled, const LrtGpuOptions* options) {
  return GetOr(options, &LrtGpuOptions::external_tensors_mode, false, enabled);
}

LiteRtStatus LrtAddGpuOptionsExternalTensorPattern(LrtGpuOptions* gpu_options,
                                                   const char* pattern) {
  return AddElement(gpu_options, &LrtGpuOptions::external_tensor_patterns, pattern);
}

LiteRtStatus LrtGetNumGpuAcceleratorCompilationOptionsExternalTensorPatterns(
    int* num_patterns, const LrtGpuOptions* options) {
  return CountElements(options, &LrtGpuOptions::external_tensor_patterns, num_patterns);
}

LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsExternalTensorPattern(
    const char** external_tensor_pattern, int pattern_index, const LrtGpuOptions* options) {
  return GetElement(options, &LrtGpuOptions::external_tensor_patterns, pattern_index,
                    external_tensor_pattern);
}

LiteRtStatus LrtAddGpuOptionsBufferStorageTensorPattern(LrtGpuOptions* gpu_options,
                                                        const char* pattern) {
  return AddElement(gpu_options, &LrtGpuOptions::buffer_storage_tensor_patterns, pattern);
}

LiteRtStatus LrtGetNumGpuAcceleratorCompilationOptionsBufferStorageTensorPatterns(
    int* num_patterns, const LrtGpuOptions* options) {
  return CountElements(options, &LrtGpuOptions::buffer_storage_tensor_patterns, num_patterns);
}

LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsBufferStorageTensorPattern(
    const char** buffer_storage_tensor_pattern, int pattern_index, const LrtGpuOptions* options) {
  return GetElement(options, &LrtGpuOptions::buffer_storage_tensor_patterns, pattern_index,
                    buffer_storage_tensor_pattern);
}

// ---- Caches -------------------------------------------------------------------------------------

LiteRtStatus LrtSetGpuAcceleratorCompilationOptionsSerializationDir(LrtGpuOptions* gpu_options,
                                                                    const char* serialization_dir) {
  return SetOrClear(gpu_options, &LrtGpuOptions::serialization_dir, serialization_dir);
}

LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsSerializationDir(const char** serialization_dir,
                                                                    const LrtGpuOptions* options) {
  return GetTextOr(options, &LrtGpuOptions::serialization_dir, nullptr, serialization_dir);
}

LiteRtStatus LrtSetGpuAcceleratorCompilationOptionsModelCacheKey(LrtGpuOptions* gpu_options,
                                                                 const char* model_cache_key) {
  return SetOrClear(gpu_options, &LrtGpuOptions::model_cache_key, model_cache_key);
}

LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsModelCacheKey(const char** model_cache_key,
                                                                 const LrtGpuOptions* options) {
  return GetTextOr(options, &LrtGpuOptions::model_cache_key, nullptr, model_cache_key);
}

LiteRtStatus LrtSetGpuAcceleratorCompilationOptionsProgramCacheFd(LrtGpuOptions* gpu_options,
                                                                  int program_cache_fd) {
  return Set(gpu_options, &LrtGpuOptions::program_cache_fd, program_cache_fd);
}

LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsProgramCacheFd(int* program_cache_fd,
                                                                  const LrtGpuOptions* options) {
  return GetOr(options, &LrtGpuOptions::program_cache_fd, -1, program_cache_fd);
}

LiteRtStatus LrtSetGpuAcceleratorCompilationOptionsWeightCacheFd(LrtGpuOptions* gpu_options,
                                                                 int weight_cache_fd) {
  return Set(gpu_options, &LrtGpuOptions::weight_cache_fd, weight_cache_fd);
}

LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsWeightCacheFd(int* weight_cache_fd,
                                                                 const LrtGpuOptions* options) {
  return GetOr(options, &LrtGpuOptions::weight_cache_fd, -1, weight_cache_fd);
}

LiteRtStatus LrtSetGpuAcceleratorCompilationOptionsSerializeProgramCache(
    LrtGpuOptions* gpu_options, bool serialize_program_cache) {
  return Set(gpu_options, &LrtGpuOptions::serialize_program_cache, serialize_program_cache);
}

LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsSerializeProgramCache(
    bool* serialize_program_cache, const LrtGpuOptions* options) {
  return GetOr(options, &LrtGpuOptions::serialize_program_cache, true, serialize_program_cache);
}

LiteRtStatus LrtSetGpuAcceleratorCompilationOptionsCacheCompiledProgramsOnly(
    LrtGpuOptions* gpu_options, bool cache_only_compiled_programs) {
  return Set(gpu_options, &LrtGpuOptions::cache_only_compiled_programs,
             cache_only_compiled_programs);
}

LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsCacheCompiledProgramsOnly(
    bool* cache_only_compiled_programs, const LrtGpuOptions* options) {
  return GetOr(options, &LrtGpuOptions::cache_only_compiled_programs, false,
               cache_only_compiled_programs);
}

LiteRtStatus LrtSetGpuAcceleratorCompilationOptionsSerializeExternalTensors(
    LrtGpuOptions* gpu_options, bool serialize_external_tensors) {
  return Set(gpu_options, &LrtGpuOptions::serialize_external_tensors, serialize_external_tensors);
}

LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsSerializeExternalTensors(
    bool* serialize_external_tensors, const LrtGpuOptions* options) {
  return GetOr(options, &LrtGpuOptions::serialize_external_tensors, false,
               serialize_external_tensors);
}

// ---- Preparation --------------------------------------------------------------------------------

LiteRtStatus LrtSetGpuAcceleratorRuntimeOptionsNumThreadsToUpload(LrtGpuOptions* gpu_options,
                                                                  int num_threads_to_upload) {
  return Set(gpu_options, &LrtGpuOptions::num_threads_to_upload, num_threads_to_upload);
}

LiteRtStatus LrtGetGpuAcceleratorRuntimeOptionsNumThreadsToUpload(int* num_threads_to_upload,
                                                                  const LrtGpuOptions* options) {
  return GetOr(options, &LrtGpuOptions::num_threads_to_upload, 0, num_threads_to_upload);
}

LiteRtStatus LrtSetGpuAcceleratorRuntimeOptionsNumThreadsToCompile(LrtGpuOptions* gpu_options,
                                                                   int num_threads_to_compile) {
  return Set(gpu_options, &LrtGpuOptions::num_threads_to_compile, num_threads_to_compile);
}

LiteRtStatus LrtGetGpuAcceleratorRuntimeOptionsNumThreadsToCompile(int* num_threads_to_compile,
                                                                   const LrtGpuOptions* options) {
  return GetOr(options, &LrtGpuOptions::num_threads_to_compile, 0, num_threads_to_compile);
}

LiteRtStatus LrtSetGpuAcceleratorRuntimeOptionsConvertWeightsOnGpu(LrtGpuOptions* gpu_options,
                                                                   bool convert_weights_on_gpu) {
  return Set(gpu_options, &LrtGpuOptions::convert_weights_on_gpu, convert_weights_on_gpu);
}

LiteRtStatus LrtGetGpuAcceleratorRuntimeOptionsConvertWeightsOnGpu(bool* convert_weights_on_gpu,
                                                                   const LrtGpuOptions* options) {
  return GetOr(options, &LrtGpuOptions::convert_weights_on_gpu, false, convert_weights_on_gpu);
}

LiteRtStatus LrtSetGpuAcceleratorRuntimeOptionsWaitForWeightsConversionComplete(
    LrtGpuOptions* gpu_options, bool wait) {
  return Set(gpu_options, &LrtGpuOptions::wait_for_weights_conversion_complete, wait);
}

LiteRtStatus LrtGetGpuAcceleratorRuntimeOptionsWaitForWeightsConversionComplete(
    bool* wait, const LrtGpuOptions* options) {
  return GetOr(options, &LrtGpuOptions::wait_for_weights_conversion_complete, false, wait);
}

LiteRtStatus LrtSetGpuAcceleratorCompilationOptionsDisableShaderOptimization(
    LrtGpuOptions* gpu_options, bool disable_shader_optimization) {
  return Set(gpu_options, &LrtGpuOptions::disable_shader_optimization, disable_shader_optimization);
}

LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsDisableShaderOptimization(
    bool* disable_shader_optimization, const LrtGpuOptions* options) {
  return GetOr(options, &LrtGpuOptions::disable_shader_optimization, false,
               disable_shader_optimization);
}

LiteRtStatus LrtSetGpuAcceleratorRuntimeOptionsNumStepsOfCommandBufferPreparations(
    LrtGpuOptions* gpu_options, int num_steps_of_command_buffer_preparations) {
  return Set(gpu_options, &LrtGpuOptions::num_steps_of_command_buffer_preparations,
             num_steps_of_command_buffer_preparations);
}

LiteRtStatus LrtGetGpuAcceleratorRuntimeOptionsNumStepsOfCommandBufferPreparations(
    int* num_steps_of_command_buffer_preparations, const LrtGpuOptions* options) {
  return GetOr(options, &LrtGpuOptions::num_steps_of_command_buffer_preparations, 0,
               num_steps_of_command_buffer_preparations);
}

// ---- Runs ---------------------------------------------------------------------------------------

LiteRtStatus LrtSetGpuAcceleratorRuntimeOptionsWaitType(LrtGpuOptions* gpu_options,
                                                        LiteRtGpuWaitType wait_type) {
  return Set(gpu_options, &LrtGpuOptions::wait_type, wait_type);
}

LiteRtStatus LrtGetGpuAcceleratorRuntimeOptionsWaitType(LiteRtGpuWaitType* wait_type,
                                                        const LrtGpuOptions* options) {
  return GetOr(options, &LrtGpuOptions::wait_type, kLiteRtGpuWaitTypeDefault, wait_type);
}

LiteRtStatus LrtSetGpuAcceleratorRuntimeOptionsHintWaitingForCompletion(LrtGpuOptions* gpu_options,
                                                                        bool enable) {
  return Set(gpu_options, &LrtGpuOptions::hint_waiting_for_completion, enable);
}

LiteRtStatus LrtGetGpuAcceleratorRuntimeOptionsHintWaitingForCompletion(
    bool* enabled, const LrtGpuOptions* options) {
  return GetOr(options, &LrtGpuOptions::hint_waiting_for_completion, false, enabled);
}

LiteRtStatus LrtSetGpuAcceleratorRuntimeOptionsKernelBatchSize(LrtGpuOptions* gpu_options,
                                                               int kernel_batch_size) {
  return Set(gpu_options, &LrtGpuOptions::kernel_batch_size, kernel_batch_size);
}

LiteRtStatus LrtGetGpuAcceleratorRuntimeOptionsKernelBatchSize(int* kernel_batch_size,
                                                               const LrtGpuOptions* options) {
  return GetOr(options, &LrtGpuOptions::kernel_batch_size, -1, kernel_batch_size);
}

LiteRtStatus LrtSetGpuOptionsBenchmarkMode(LrtGpuOptions* gpu_options, bool enable) {
  return Set(gpu_options, &LrtGpuOptions::benchmark_mode, enable);
}

LiteRtStatus LrtGetGpuOptionsBenchmarkMode(bool* enabled, const LrtGpuOptions* options) {
  return GetOr(options, &LrtGpuOptions::benchmark_mode, false, enabled);
}

LiteRtStatus LrtSetGpuOptionsHintFullyDelegatedToSingleDelegate(
    LrtGpuOptions* gpu_options, bool hint_fully_delegated_to_single_delegate) {
  return Set(gpu_options, &LrtGpuOptions::hint_fully_delegated_to_single_delegate,
             hint_fully_delegated_to_single_delegate);
}

LiteRtStatus LrtGetGpuOptionsHintFullyDelegatedToSingleDelegate(
    bool* hint_fully_delegated_to_single_delegate, const LrtGpuOptions* options) {
  return GetOr(options, &LrtGpuOptions::hint_fully_delegated_to_single_delegate, false,
               hint_fully_delegated_to_single_delegate);
}

// ---- Metal --------------------------------------------------------------------------------------

LiteRtStatus LrtSetGpuOptionsUseMetalArgumentBuffers(LrtGpuOptions* gpu_options,
                                                     bool use_metal_argument_buffers) {
  return Set(gpu_options, &LrtGpuOptions::use_metal_argument_buffers, use_metal_argument_buffers);
}

LiteRtStatus LrtGetGpuOptionsUseMetalArgumentBuffers(const LrtGpuOptions* options,
                                                     bool* use_metal_argument_buffers) {
  return GetOr(options, &LrtGpuOptions::use_metal_argument_buffers, false,
               use_metal_argument_buffers);
}

LiteRtStatus LrtSetGpuOptionsMetalResidencySet(LrtGpuOptions* gpu_options, bool enable) {
  return Set(gpu_options, &LrtGpuOptions::enable_metal_residency_set, enable);
}

LiteRtStatus LrtGetGpuOptionsMetalResidencySet(const LrtGpuOptions* options, bool* enabled) {
  return GetOr(options, &LrtGpuOptions::enable_metal_residency_set, false, enabled);
}
