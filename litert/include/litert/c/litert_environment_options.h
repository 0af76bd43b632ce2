// SPDX-License-Identifier: Apache-2.0
//
// Options of environments.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_ENVIRONMENT_OPTIONS_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_ENVIRONMENT_OPTIONS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "litert/c/litert_any.h"
#include "litert/c/litert_common.h"
#include "litert/c/litert_custom_tensor_buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

// Identifies an option. The comment states the type of its value.
typedef enum {
  // String: folder with compiler plug-ins.
  kLiteRtEnvOptionTagCompilerPluginLibraryDir = 0,
  // String: folder with dispatch plug-ins.
  kLiteRtEnvOptionTagDispatchLibraryDir = 1,

  // Pointers: objects of OpenCL and EGL that the library uses instead of its own. They must outlive
  // the environment.
  kLiteRtEnvOptionTagOpenClDeviceId = 2,
  kLiteRtEnvOptionTagOpenClPlatformId = 3,
  kLiteRtEnvOptionTagOpenClContext = 4,
  kLiteRtEnvOptionTagOpenClCommandQueue = 5,
  kLiteRtEnvOptionTagEglDisplay = 6,
  kLiteRtEnvOptionTagEglContext = 7,

  // Pointers: objects of WebGPU, Metal and Vulkan, in the same way.
  kLiteRtEnvOptionTagWebGpuDevice = 8,
  kLiteRtEnvOptionTagWebGpuQueue = 9,
  kLiteRtEnvOptionTagMetalDevice = 10,
  kLiteRtEnvOptionTagMetalCommandQueue = 11,
  kLiteRtEnvOptionTagVulkanEnvironment = 12,

  // Pointers: a function that is called when the GPU objects are released, and its argument.
  kLiteRtEnvOptionTagCallbackOnGpuEnvDestroy = 14,
  kLiteRtEnvOptionTagCallbackUserDataOnGpuEnvDestroy = 15,

  // Pointer to a LiteRtMagicNumberConfigs.
  kLiteRtEnvOptionTagMagicNumberConfigs = 16,
  // Pointer to a LiteRtMagicNumberVerifications.
  kLiteRtEnvOptionTagMagicNumberVerifications = 17,

  // String: folder in which results of compiler plug-ins are cached.
  kLiteRtEnvOptionTagCompilerCacheDir = 18,

  // Pointers: an instance of WebGPU, and its function table (deprecated).
  kLiteRtEnvOptionTagWebGpuInstance = 19,
  kLiteRtEnvOptionTagWebGpuProcs = 20,
  // Deprecated, ignored.
  kLiteRtEnvOptionTagCustomTensorBufferHandlers_deprecated = 21,

  // String: folder with the runtime library.
  kLiteRtEnvOptionTagRuntimeLibraryDir = 22,
  // Pointer: handle of a runtime library. Internal.
  kLiteRtEnvOptionTagSystemRuntimeHandle = 23,

  // Integer: bits of LiteRtHwAccelerators that are registered when the environment is created; all
  // by default.
  kLiteRtEnvOptionTagAutoRegisterAccelerators = 24,
  // Integer: smallest LiteRtLogSeverity that is logged.
  kLiteRtEnvOptionTagMinLoggerSeverity = 25,
  // Integer: largest number of cached results per model.
  kLiteRtEnvOptionTagCompilerCacheMaxConfigsPerModel = 26,
  // Integer: largest size of the cache in bytes.
  kLiteRtEnvOptionTagCompilerCacheMaxTotalSize = 27,

  // Pointer. Internal.
  kLiteRtEnvOptionTagContext = 28,
  // Pointer to a `void (*)(void)` that is called while a WebGPU buffer is read.
  kLiteRtEnvOptionTagWebGpuFlushCallback = 29,
  // Pointer: handle of a GPU accelerator library. Internal.
  kLiteRtEnvOptionTagSystemGpuAcceleratorHandle = 30,

  // No option.
  kLiteRtEnvOptionTagNull = 255,
} LiteRtEnvOptionTag;

// One option. The layout is frozen (24 bytes).
typedef struct {
  LiteRtEnvOptionTag tag;
  LiteRtAny value;
} LiteRtEnvOption;

// Size of the arrays at the end of the following structs, empty where the compiler has flexible
// array members.
#if defined(_MSC_VER) && !defined(__clang__)
#define _LITERT_ARBITRARY_ARRAY_SIZE 1
#elif defined(HEXAGON) || (defined(__clang__) && __clang_major__ == 7 && __clang_minor__ == 1) || \
    (!defined(__clang__) && defined(__GNUC__) && __GNUC__ == 6 && __GNUC_MINOR__ >= 1)
#define _LITERT_ARBITRARY_ARRAY_SIZE 0
#else
#define _LITERT_ARBITRARY_ARRAY_SIZE
#endif

// gcc and clang accept flexible arrays in C++ as an extension.
#if defined(__GNUC__)
#define DEPUTY_LITERT_EXTENSION __extension__
#else
#define DEPUTY_LITERT_EXTENSION
#endif

// Replacement of a dimension in the shapes of a model: a dimension that equals `magic_number`
// becomes `target_number`.
typedef struct {
  int64_t magic_number;
  int64_t target_number;
  // Prefix of the signatures to which it applies; NULL or "": all. The client keeps the string
  // until models are loaded.
  const char* signature_prefix;
} LiteRtMagicNumberConfig;

// Value of kLiteRtEnvOptionTagMagicNumberConfigs: `num_configs` replacements.
DEPUTY_LITERT_EXTENSION typedef struct {
  int64_t num_configs;
  LiteRtMagicNumberConfig configs[_LITERT_ARBITRARY_ARRAY_SIZE];
} LiteRtMagicNumberConfigs;

// Check of a replacement: compares a signature with another one of the same model. The client keeps
// the strings until models are loaded.
typedef struct {
  // Signature in which dimensions are replaced.
  const char* signature;
  // Signature that it is compared with.
  const char* test_signature;
  // True: `signature` contains the operators of `test_signature` in their order, with the same
  // shapes, and perhaps others. False: both are equal.
  bool is_superset;
} LiteRtMagicNumberVerification;

// Value of kLiteRtEnvOptionTagMagicNumberVerifications: `num_verifications` checks.
DEPUTY_LITERT_EXTENSION typedef struct {
  int64_t num_verifications;
  LiteRtMagicNumberVerification verifications[_LITERT_ARBITRARY_ARRAY_SIZE];
} LiteRtMagicNumberVerifications;

// Returns the value of an option. kLiteRtStatusErrorNotFound if the option is not set. Strings
// belong to the environment.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetEnvironmentOptionsValue(LiteRtEnvironmentOptions options,
                                                                 LiteRtEnvOptionTag tag,
                                                                 LiteRtAny* value);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_ENVIRONMENT_OPTIONS_H_
