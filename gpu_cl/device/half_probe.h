// SPDX-License-Identifier: Apache-2.0
//
// Detects half-precision support of devices that do not list the extension.
#ifndef DEPUTY_GPU_CL_DEVICE_HALF_PROBE_H_
#define DEPUTY_GPU_CL_DEVICE_HALF_PROBE_H_

#include "gpu_cl/device/cl_api.h"

namespace deputy::gpu_cl {

// Compiles a kernel with half arithmetic, runs it, and compares the results with those of IEEE half
// precision. Returns false on any failure. Thread-safe.
bool ProbeHalf(const ClApi& api, cl_context context, cl_device_id device);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_DEVICE_HALF_PROBE_H_
