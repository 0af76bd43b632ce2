// SPDX-License-Identifier: Apache-2.0
//
// A table of OpenCL functions whose compiler supports NVIDIA's matrix units on any device: the
// macros with PTX instructions (gpu_cl/emit/emit.cc) are replaced by a function that computes the
// instructions' results, work item by work item, in the layout of the PTX manual.
#ifndef DEPUTY_TESTS_GPU_CL_GPU_MATRIX_UNITS_H_
#define DEPUTY_TESTS_GPU_CL_GPU_MATRIX_UNITS_H_

#include <memory>

#include "gpu_cl/device/cl_api.h"
#include "gpu_cl/device/device.h"

namespace deputy::gpu_cl {

std::shared_ptr<const ClApi> WithMatrixUnits(const ClApi& api);

// Changes the profile so that kernels with matrix units, and other settings for NVIDIA's driver,
// are chosen.
void ReportAsNvidia(DeviceProfile* profile);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_TESTS_GPU_CL_GPU_MATRIX_UNITS_H_
