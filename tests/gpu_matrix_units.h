// SPDX-License-Identifier: Apache-2.0
//
// A table of OpenCL whose compiler has NVIDIA's units for matrices on any device: the macros with
// instructions of PTX (gpu_cl/emit.cc) become a function that computes what these instructions do,
// item by item, in the layout of PTX's manual.
#ifndef DEPUTY_TESTS_GPU_MATRIX_UNITS_H_
#define DEPUTY_TESTS_GPU_MATRIX_UNITS_H_

#include <memory>

#include "gpu_cl/cl_api.h"
#include "gpu_cl/device.h"

namespace deputy::gpu_cl {

std::shared_ptr<const ClApi> WithMatrixUnits(const ClApi& api);

// Makes the device one for which kernels with these units are chosen, and what else is done for
// NVIDIA's driver.
void ClaimToBeNvidia(DeviceProfile* profile);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_TESTS_GPU_MATRIX_UNITS_H_
