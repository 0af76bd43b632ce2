// SPDX-License-Identifier: Apache-2.0
//
// Whether a device computes in half precision although it does not list the extension.
#ifndef DEPUTY_GPU_CL_HALF_PROBE_H_
#define DEPUTY_GPU_CL_HALF_PROBE_H_

#include "gpu_cl/cl_api.h"

namespace deputy::gpu_cl {

// Compiles a kernel with half arithmetic in the context, runs it on the device, and compares its
// results with those of IEEE half precision. Any failure on the way is a no. Any thread.
bool ProbeHalf(const ClApi& api, cl_context context, cl_device_id device);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_HALF_PROBE_H_
