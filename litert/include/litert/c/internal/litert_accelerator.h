// SPDX-License-Identifier: Apache-2.0
//
// Accelerators of an environment: the CPU, GPUs, NPUs with their plug-ins, and those that a program
// registers (litert_accelerator_registration.h). They belong to the environment.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_ACCELERATOR_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_ACCELERATOR_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Number of an accelerator, unique in its environment.
typedef size_t LiteRtAcceleratorId;

// The following functions enumerate the accelerators. kLiteRtStatusErrorNotFound if the index is
// out of range.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetNumAccelerators(LiteRtEnvironment environment,
                                                         LiteRtParamIndex* num_accelerators);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetAccelerator(LiteRtEnvironment environment,
                                                     LiteRtParamIndex index,
                                                     LiteRtAccelerator* accelerator);

// Returns the name, a string of the accelerator.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetAcceleratorName(LiteRtAcceleratorConst accelerator,
                                                         char const** name);

// Returns the number.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetAcceleratorId(LiteRtAcceleratorConst accelerator,
                                                       LiteRtAcceleratorId* id);

// Returns the version of the accelerator itself.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetAcceleratorVersion(LiteRtAcceleratorConst accelerator,
                                                            LiteRtApiVersion* version);

// Returns the kinds of hardware on which it runs models, bits of LiteRtHwAccelerators.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetAcceleratorHardwareSupport(
    LiteRtAcceleratorConst accelerator, LiteRtHwAcceleratorSet* supported_hardware);

// Returns the environment in which it is registered.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetAcceleratorEnvironment(LiteRtAcceleratorConst accelerator,
                                                                LiteRtEnvironment* environment);

// Sets `does_jit_compilation` to whether its delegate compiles operators itself. If not, it runs
// only operators that were compiled before.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtIsAcceleratorDelegateResponsibleForJitCompilation(
    LiteRtAcceleratorConst accelerator, bool* does_jit_compilation);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_ACCELERATOR_H_
