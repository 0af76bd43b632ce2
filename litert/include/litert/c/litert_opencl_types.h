// SPDX-License-Identifier: Apache-2.0
//
// Types of OpenCL, compatible with those of the header CL/cl.h.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_OPENCL_TYPES_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_OPENCL_TYPES_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// A cl_mem.
typedef struct _cl_mem* LiteRtClMem;
// A cl_event.
typedef struct _cl_event* LiteRtClEvent;
// A cl_int.
typedef int32_t LiteRtClInt;

// Values of CL_SUCCESS and CL_COMPLETE.
#define LITE_RT_CL_SUCCESS 0
#define LITE_RT_CL_COMPLETE 0x0

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_OPENCL_TYPES_H_
