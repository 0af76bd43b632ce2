// SPDX-License-Identifier: Apache-2.0
//
// Options of the CPU. Getters return kLiteRtStatusErrorNotFound if an option is not set.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_CPU_OPTIONS_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_CPU_OPTIONS_H_

#include <stdbool.h>
#include <stdint.h>

#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Options object.
typedef struct LrtCpuOptions LrtCpuOptions;

// Kernels that run operators on the CPU.
typedef enum LiteRtCpuKernelMode {
  // Delegates of the CPU, such as XNNPACK, and built-in kernels for the other operators. The
  // default.
  kLiteRtCpuKernelModeDelegate = 0,
  // Older name of kLiteRtCpuKernelModeDelegate.
  kLiteRtCpuKernelModeXnnpack = kLiteRtCpuKernelModeDelegate,
  // Built-in reference kernels.
  kLiteRtCpuKernelModeReference = 1,
  // Built-in optimised kernels.
  kLiteRtCpuKernelModeBuiltin = 2,
} LiteRtCpuKernelMode;

// Creates options with default values.
LiteRtStatus LrtCreateCpuOptions(LrtCpuOptions** options);

// Destroys options; NULL is allowed.
void LrtDestroyCpuOptions(LrtCpuOptions* options);

// Returns the arguments of LiteRtCreateOpaqueOptions: the identifier, the options as TOML text,
// which the caller owns, and its deleter.
LiteRtStatus LrtGetOpaqueCpuOptionsData(const LrtCpuOptions* options, const char** identifier,
                                        void** payload, void (**payload_deleter)(void*));

// Returns the identifier, a constant string.
const char* LrtGetCpuOptionsIdentifier(void);

// Kernels that run operators.
LiteRtStatus LrtSetCpuOptionsKernelMode(LrtCpuOptions* options, LiteRtCpuKernelMode mode);
LiteRtStatus LrtGetCpuOptionsKernelMode(const LrtCpuOptions* options, LiteRtCpuKernelMode* mode);

// Number of threads.
LiteRtStatus LrtSetCpuOptionsNumThread(LrtCpuOptions* options, int num_threads);
LiteRtStatus LrtGetCpuOptionsNumThread(const LrtCpuOptions* options, int* num_threads);

// YNNPACK claims operators before XNNPACK, in builds that contain it.
LiteRtStatus LrtSetCpuOptionsEnableYNNPack(LrtCpuOptions* options, bool enable_ynnpack);
LiteRtStatus LrtGetCpuOptionsEnableYNNPack(const LrtCpuOptions* options, bool* enable_ynnpack);

// Flags of TfLiteXNNPackDelegateOptions.
LiteRtStatus LrtSetCpuOptionsXNNPackFlags(LrtCpuOptions* options, uint32_t flags);
LiteRtStatus LrtGetCpuOptionsXNNPackFlags(const LrtCpuOptions* options, uint32_t* flags);

// Promise that one delegate claims all operators, which saves memory.
LiteRtStatus LrtSetCpuOptionsHintFullyDelegatedToSingleDelegate(
    LrtCpuOptions* options, bool hint_fully_delegated_to_single_delegate);

// File in which XNNPACK caches packed weights, by path or by descriptor; not both. The path is
// copied.
LiteRtStatus LrtSetCpuOptionsXnnPackWeightCachePath(LrtCpuOptions* options, const char* path);
LiteRtStatus LrtGetCpuOptionsXnnPackWeightCachePath(const LrtCpuOptions* options,
                                                    const char** path);
LiteRtStatus LrtSetCpuOptionsXnnPackWeightCacheFileDescriptor(LrtCpuOptions* options, int fd);
LiteRtStatus LrtGetCpuOptionsXnnPackWeightCacheFileDescriptor(const LrtCpuOptions* options,
                                                              int* fd);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_CPU_OPTIONS_H_
