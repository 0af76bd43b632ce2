// SPDX-License-Identifier: Apache-2.0
//
// CLBlast, where it is installed: a library of products for OpenCL, opened when tuning asks for it
// and never linked (it links OpenCL). Tuning may choose it for large products, on devices that it
// has numbers for, where it measured faster than our own kernels.
#ifndef DEPUTY_GPU_CL_CLBLAST_H_
#define DEPUTY_GPU_CL_CLBLAST_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "gpu_cl/cl_api.h"
#include "gpu_cl/device.h"

namespace deputy::gpu_cl {

// CLBlastSgemm of clblast_c.h, whose enumerations are ints: c = alpha a b + beta c.
using ClblastSgemm = int (*)(int layout, int a_transpose, int b_transpose, size_t m, size_t n,
                             size_t k, float alpha, cl_mem a, size_t a_offset, size_t a_ld,
                             cl_mem b, size_t b_offset, size_t b_ld, float beta, cl_mem c,
                             size_t c_offset, size_t c_ld, cl_command_queue* queue,
                             cl_event* event);

// A table beside ClApi; a test may pass one of its own.
struct ClblastApi {
  ClblastSgemm sgemm = nullptr;
};

// Dense matrices in row-major order: c [m, n] = a [m, k] b [k, n], where a transposed a is [k, m]
// in memory and a transposed b [n, k].
struct ClblastProduct {
  int32_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;

  friend bool operator==(const ClblastProduct&, const ClblastProduct&) = default;
};

// Opens the library that DEPUTY_CLBLAST_LIBRARY names ("none": none), else libclblast.so.1; it
// stays open, since it registers functions that run at the end of the process. Null without it, and
// `out_tried` says why. Any thread.
std::shared_ptr<const ClblastApi> LoadClblast(std::string* out_tried);

// Whether CLBlast has been tuned for devices of the kind: GPUs of AMD, Intel, ARM and Qualcomm, and
// of NVIDIA up to compute capability 8.9. On others its numbers are guesses.
bool IsKnownToClblast(const DeviceProfile& profile);

// Enqueues the product. Its failure, exceptions included, is a code of OpenCL or of CLBlast.
ClStatus EnqueueClblast(const ClblastApi& api, const ClblastProduct& product, cl_mem a, cl_mem b,
                        cl_mem c, cl_command_queue queue, cl_event* event);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_CLBLAST_H_
