// SPDX-License-Identifier: Apache-2.0
//
// CLBlast, a library of matrix products for OpenCL, if it is installed. It is opened when tuning
// needs it and never linked (it links OpenCL itself). Tuning may choose it for large products, on
// devices that its database covers, where it measured faster than our own kernels.
#ifndef DEPUTY_GPU_CL_DEVICE_CLBLAST_H_
#define DEPUTY_GPU_CL_DEVICE_CLBLAST_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "gpu_cl/device/cl_api.h"
#include "gpu_cl/device/device.h"

namespace deputy::gpu_cl {

// CLBlastSgemm of clblast_c.h, whose enumerations are ints: c = alpha a b + beta c.
using ClblastSgemm = int (*)(int layout, int a_transpose, int b_transpose, size_t m, size_t n,
                             size_t k, float alpha, cl_mem a, size_t a_offset, size_t a_ld,
                             cl_mem b, size_t b_offset, size_t b_ld, float beta, cl_mem c,
                             size_t c_offset, size_t c_ld, cl_command_queue* queue,
                             cl_event* event);

// Function table of CLBlast; a test may pass its own.
struct ClblastApi {
  ClblastSgemm sgemm = nullptr;
};

// Dense matrices in row-major order: c [m, n] = a [m, k] b [k, n]. A transposed a is stored as [k,
// m], a transposed b as [n, k].
struct ClblastProduct {
  int32_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;

  friend bool operator==(const ClblastProduct&, const ClblastProduct&) = default;
};

// Opens the library named by DEPUTY_CLBLAST_LIBRARY ("none" disables it), else libclblast.so.1. It
// stays open, since it registers functions that run when the process ends. If it cannot be opened,
// returns null and sets `out_tried` to the reason. Thread-safe.
std::shared_ptr<const ClblastApi> LoadClblast(std::string* out_tried);

// Returns true if CLBlast's database covers devices of this kind: GPUs of AMD, Intel, ARM and
// Qualcomm, and of NVIDIA up to compute capability 8.9. On others it uses untuned defaults.
bool IsInClblastDatabase(const DeviceProfile& profile);

// Enqueues the product. A failure, exceptions included, is returned as a code of OpenCL or of
// CLBlast.
ClStatus EnqueueClblast(const ClblastApi& api, const ClblastProduct& product, cl_mem a, cl_mem b,
                        cl_mem c, cl_command_queue queue, cl_event* event);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_DEVICE_CLBLAST_H_
