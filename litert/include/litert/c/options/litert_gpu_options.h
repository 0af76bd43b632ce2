// SPDX-License-Identifier: Apache-2.0
//
// Options of GPU accelerators. Getters are for accelerators; they return the default value if an
// option is not set. Most have the result as their first parameter. Values of options that need a
// file descriptor are -1 by default.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_GPU_OPTIONS_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_GPU_OPTIONS_H_

#include <stdbool.h>

#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Options object.
typedef struct LrtGpuOptions LrtGpuOptions;

// Creates options with default values.
LiteRtStatus LrtCreateGpuOptions(LrtGpuOptions** options);

// Creates options from a TOML text, the form of the payload.
LiteRtStatus LrtCreateGpuOptionsFromToml(const char* toml_string, LrtGpuOptions** options);

// Destroys options; NULL is allowed.
void LrtDestroyGpuOptions(LrtGpuOptions* options);

// Returns the arguments of LiteRtCreateOpaqueOptions: the identifier, the options as TOML text,
// which the caller owns, and its deleter.
LiteRtStatus LrtGetOpaqueGpuOptionsData(const LrtGpuOptions* options, const char** identifier,
                                        void** payload, void (**payload_deleter)(void*));

// Returns the identifier, a constant string.
const char* LrtGetGpuOptionsIdentifier(void);

// ---- Device -------------------------------------------------------------------------------------

// API of the GPU.
LiteRtStatus LrtSetGpuOptionsGpuBackend(LrtGpuOptions* gpu_options, LiteRtGpuBackend backend);
LiteRtStatus LrtGetGpuOptionsGpuBackend(LiteRtGpuBackend* backend, const LrtGpuOptions* options);

// Priority of the model's commands. Experimental.
LiteRtStatus LrtSetGpuOptionsGpuPriority(LrtGpuOptions* gpu_options, LiteRtGpuPriority priority);
LiteRtStatus LrtGetGpuOptionsGpuPriority(LiteRtGpuPriority* priority, const LrtGpuOptions* options);

// Part of the name of the device to use; upper and lower case are equal. "": any device.
LiteRtStatus LrtSetGpuAcceleratorRuntimeOptionsPreferredDeviceSubstr(
    LrtGpuOptions* gpu_options, const char* preferred_device_substr);
LiteRtStatus LrtGetGpuAcceleratorRuntimeOptionsPreferredDeviceSubstr(
    const char** preferred_device_substr, const LrtGpuOptions* options);

// ---- Arithmetic and storage ---------------------------------------------------------------------

// Precision of the arithmetic.
LiteRtStatus LrtSetGpuAcceleratorCompilationOptionsPrecision(LrtGpuOptions* gpu_options,
                                                             LiteRtDelegatePrecision precision);
LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsPrecision(LiteRtDelegatePrecision* precision,
                                                             const LrtGpuOptions* options);

// Limits infinite inputs of SOFTMAX and PAD to the largest finite values.
LiteRtStatus LrtSetGpuOptionsInfiniteFloatCapping(LrtGpuOptions* gpu_options, bool enable);
LiteRtStatus LrtGetGpuOptionsInfiniteFloatCapping(bool* enabled, const LrtGpuOptions* options);

// Quantisation of the inputs of large convolutions and FULLY_CONNECTED to 8 bits at run time. Less
// accurate; needs shared constant tensors.
LiteRtStatus LrtSetGpuAcceleratorCompilationOptionsAllowSrcQuantizedFcConvOps(
    LrtGpuOptions* gpu_options, bool enable);
LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsAllowSrcQuantizedFcConvOps(
    bool* enabled, const LrtGpuOptions* options);

// Memory objects for tensors.
LiteRtStatus LrtSetGpuAcceleratorCompilationOptionsUseBufferStorageType(
    LrtGpuOptions* gpu_options, LiteRtDelegateBufferStorageType buffer_storage_type);
LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsBufferStorageType(
    LiteRtDelegateBufferStorageType* type, const LrtGpuOptions* options);

// Textures instead of buffers for weights.
LiteRtStatus LrtSetGpuAcceleratorCompilationOptionsPreferTextureWeights(
    LrtGpuOptions* gpu_options, bool prefer_texture_weights);
LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsPreferTextureWeights(
    bool* prefer_texture_weights, const LrtGpuOptions* options);

// One copy of constant tensors for all subgraphs.
LiteRtStatus LrtSetGpuOptionsConstantTensorsSharing(LrtGpuOptions* gpu_options, bool enable);
LiteRtStatus LrtGetGpuOptionsConstantTensorsSharing(bool* enabled, const LrtGpuOptions* options);

// Release of the pages of shared constants after their upload.
LiteRtStatus LrtSetGpuAcceleratorCompilationOptionsMadviseOriginalSharedTensors(
    LrtGpuOptions* gpu_options, bool madvise_original_shared_tensors);
LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsMadviseOriginalSharedTensors(
    bool* madvise_original_shared_tensors, const LrtGpuOptions* options);

// Pointer to a table of constants that models share, of an internal type without a stable ABI. The
// client keeps the table as long as the model.
LiteRtStatus LrtSetGpuAcceleratorCompilationOptionsSharedTensorMaps(LrtGpuOptions* gpu_options,
                                                                    void* shared_tensor_maps);
LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsSharedTensorMaps(
    void** shared_tensor_maps, const LrtGpuOptions* gpu_options);

// ---- Inputs and outputs -------------------------------------------------------------------------

// Inputs and outputs in the GPU's layout (PHWC4), without conversion. Experimental.
LiteRtStatus LrtSetGpuOptionsExternalTensorsMode(LrtGpuOptions* gpu_options, bool enable);
LiteRtStatus LrtGetGpuOptionsExternalTensorsMode(bool* enabled, const LrtGpuOptions* options);

// Adds a prefix of names of tensors that have the GPU's layout, such as states of the model.
LiteRtStatus LrtAddGpuOptionsExternalTensorPattern(LrtGpuOptions* gpu_options, const char* pattern);

// The following functions enumerate these prefixes.
LiteRtStatus LrtGetNumGpuAcceleratorCompilationOptionsExternalTensorPatterns(
    int* num_patterns, const LrtGpuOptions* options);
LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsExternalTensorPattern(
    const char** external_tensor_pattern, int pattern_index, const LrtGpuOptions* options);

// Adds a prefix of names of tensors that are stored in buffers. Experimental.
LiteRtStatus LrtAddGpuOptionsBufferStorageTensorPattern(LrtGpuOptions* gpu_options,
                                                        const char* pattern);

// The following functions enumerate these prefixes.
LiteRtStatus LrtGetNumGpuAcceleratorCompilationOptionsBufferStorageTensorPatterns(
    int* num_patterns, const LrtGpuOptions* options);
LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsBufferStorageTensorPattern(
    const char** buffer_storage_tensor_pattern, int pattern_index, const LrtGpuOptions* options);

// ---- Caches -------------------------------------------------------------------------------------

// Folder of the caches; NULL: none. The client keeps the string, and the folder private.
LiteRtStatus LrtSetGpuAcceleratorCompilationOptionsSerializationDir(LrtGpuOptions* gpu_options,
                                                                    const char* serialization_dir);
LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsSerializationDir(const char** serialization_dir,
                                                                    const LrtGpuOptions* options);

// Key of the model in the caches, unique for its graph and constants; NULL: no caches. The client
// keeps the string.
LiteRtStatus LrtSetGpuAcceleratorCompilationOptionsModelCacheKey(LrtGpuOptions* gpu_options,
                                                                 const char* model_cache_key);
LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsModelCacheKey(const char** model_cache_key,
                                                                 const LrtGpuOptions* options);

// File for compiled programs instead of one in the folder.
LiteRtStatus LrtSetGpuAcceleratorCompilationOptionsProgramCacheFd(LrtGpuOptions* gpu_options,
                                                                  int program_cache_fd);
LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsProgramCacheFd(int* program_cache_fd,
                                                                  const LrtGpuOptions* options);

// File for converted weights instead of one in the folder.
LiteRtStatus LrtSetGpuAcceleratorCompilationOptionsWeightCacheFd(LrtGpuOptions* gpu_options,
                                                                 int weight_cache_fd);
LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsWeightCacheFd(int* weight_cache_fd,
                                                                 const LrtGpuOptions* options);

// Cache of programs. True by default.
LiteRtStatus LrtSetGpuAcceleratorCompilationOptionsSerializeProgramCache(
    LrtGpuOptions* gpu_options, bool serialize_program_cache);
LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsSerializeProgramCache(
    bool* serialize_program_cache, const LrtGpuOptions* options);

// Only compiled programs are cached, not sizes of work groups and the like.
LiteRtStatus LrtSetGpuAcceleratorCompilationOptionsCacheCompiledProgramsOnly(
    LrtGpuOptions* gpu_options, bool cache_only_compiled_programs);
LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsCacheCompiledProgramsOnly(
    bool* cache_only_compiled_programs, const LrtGpuOptions* options);

// Constant tensors in the GPU's layout are cached, too.
LiteRtStatus LrtSetGpuAcceleratorCompilationOptionsSerializeExternalTensors(
    LrtGpuOptions* gpu_options, bool serialize_external_tensors);
LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsSerializeExternalTensors(
    bool* serialize_external_tensors, const LrtGpuOptions* options);

// ---- Preparation --------------------------------------------------------------------------------

// Number of threads that upload weights, with WebGPU.
LiteRtStatus LrtSetGpuAcceleratorRuntimeOptionsNumThreadsToUpload(LrtGpuOptions* gpu_options,
                                                                  int num_threads_to_upload);
LiteRtStatus LrtGetGpuAcceleratorRuntimeOptionsNumThreadsToUpload(int* num_threads_to_upload,
                                                                  const LrtGpuOptions* options);

// Number of threads that compile shaders, with WebGPU.
LiteRtStatus LrtSetGpuAcceleratorRuntimeOptionsNumThreadsToCompile(LrtGpuOptions* gpu_options,
                                                                   int num_threads_to_compile);
LiteRtStatus LrtGetGpuAcceleratorRuntimeOptionsNumThreadsToCompile(int* num_threads_to_compile,
                                                                   const LrtGpuOptions* options);

// Conversion of weights on the GPU. Experimental.
LiteRtStatus LrtSetGpuAcceleratorRuntimeOptionsConvertWeightsOnGpu(LrtGpuOptions* gpu_options,
                                                                   bool convert_weights_on_gpu);
LiteRtStatus LrtGetGpuAcceleratorRuntimeOptionsConvertWeightsOnGpu(bool* convert_weights_on_gpu,
                                                                   const LrtGpuOptions* options);

// The preparation waits for that conversion. Experimental.
LiteRtStatus LrtSetGpuAcceleratorRuntimeOptionsWaitForWeightsConversionComplete(
    LrtGpuOptions* gpu_options, bool wait);
LiteRtStatus LrtGetGpuAcceleratorRuntimeOptionsWaitForWeightsConversionComplete(
    bool* wait, const LrtGpuOptions* options);

// Vulkan shaders without optimisation, which are compiled faster.
LiteRtStatus LrtSetGpuAcceleratorCompilationOptionsDisableShaderOptimization(
    LrtGpuOptions* gpu_options, bool disable_shader_optimization);
LiteRtStatus LrtGetGpuAcceleratorCompilationOptionsDisableShaderOptimization(
    bool* disable_shader_optimization, const LrtGpuOptions* options);

// Number of runs for which command buffers are prepared in advance, with WebGPU and Vulkan.
LiteRtStatus LrtSetGpuAcceleratorRuntimeOptionsNumStepsOfCommandBufferPreparations(
    LrtGpuOptions* gpu_options, int num_steps_of_command_buffer_preparations);
LiteRtStatus LrtGetGpuAcceleratorRuntimeOptionsNumStepsOfCommandBufferPreparations(
    int* num_steps_of_command_buffer_preparations, const LrtGpuOptions* options);

// ---- Runs ---------------------------------------------------------------------------------------

// Method by which a synchronous run waits.
LiteRtStatus LrtSetGpuAcceleratorRuntimeOptionsWaitType(LrtGpuOptions* gpu_options,
                                                        LiteRtGpuWaitType wait_type);
LiteRtStatus LrtGetGpuAcceleratorRuntimeOptionsWaitType(LiteRtGpuWaitType* wait_type,
                                                        const LrtGpuOptions* options);

// Each run waits for the commands on devices that need it.
LiteRtStatus LrtSetGpuAcceleratorRuntimeOptionsHintWaitingForCompletion(LrtGpuOptions* gpu_options,
                                                                        bool enable);
LiteRtStatus LrtGetGpuAcceleratorRuntimeOptionsHintWaitingForCompletion(
    bool* enabled, const LrtGpuOptions* options);

// Number of kernels per flush; -1: the delegate decides.
LiteRtStatus LrtSetGpuAcceleratorRuntimeOptionsKernelBatchSize(LrtGpuOptions* gpu_options,
                                                               int kernel_batch_size);
LiteRtStatus LrtGetGpuAcceleratorRuntimeOptionsKernelBatchSize(int* kernel_batch_size,
                                                               const LrtGpuOptions* options);

// Settings for benchmarks: some optimisations are off.
LiteRtStatus LrtSetGpuOptionsBenchmarkMode(LrtGpuOptions* gpu_options, bool enable);
LiteRtStatus LrtGetGpuOptionsBenchmarkMode(bool* enabled, const LrtGpuOptions* options);

// Promise that one delegate claims all operators, which saves memory.
LiteRtStatus LrtSetGpuOptionsHintFullyDelegatedToSingleDelegate(
    LrtGpuOptions* gpu_options, bool hint_fully_delegated_to_single_delegate);
LiteRtStatus LrtGetGpuOptionsHintFullyDelegatedToSingleDelegate(
    bool* hint_fully_delegated_to_single_delegate, const LrtGpuOptions* options);

// ---- Metal --------------------------------------------------------------------------------------

// Argument buffers.
LiteRtStatus LrtSetGpuOptionsUseMetalArgumentBuffers(LrtGpuOptions* gpu_options,
                                                     bool use_metal_argument_buffers);
LiteRtStatus LrtGetGpuOptionsUseMetalArgumentBuffers(const LrtGpuOptions* options,
                                                     bool* use_metal_argument_buffers);

// Residency sets, which keep memory from being swapped out (macOS 15, iOS 18).
LiteRtStatus LrtSetGpuOptionsMetalResidencySet(LrtGpuOptions* gpu_options, bool enable);
LiteRtStatus LrtGetGpuOptionsMetalResidencySet(const LrtGpuOptions* options, bool* enabled);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_GPU_OPTIONS_H_
