// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/device/half_probe.h"

#include <algorithm>

namespace deputy::gpu_cl {
namespace {

// Source of the probe. It does not enable the extension by a pragma, since a driver that requires
// the pragma lists the extension. It uses vectors, as generated kernels do.
constexpr const char* kSource = R"(
__kernel void half_probe(__global const float* a, __global const float* b, __global float* out) {
  half8 x = (half8)((half)a[0], (half)a[1], (half)a[2], (half)a[3],
                    (half)a[4], (half)a[5], (half)a[6], (half)a[7]);
  half8 y = (half8)((half)b[0], (half)b[1], (half)b[2], (half)b[3],
                    (half)b[4], (half)b[5], (half)b[6], (half)b[7]);
  half8 z = x * y;
  z = z + x;
  out[0] = (float)z.s0; out[1] = (float)z.s1; out[2] = (float)z.s2; out[3] = (float)z.s3;
  out[4] = (float)z.s4; out[5] = (float)z.s5; out[6] = (float)z.s6; out[7] = (float)z.s7;
}
)";

constexpr int kCount = 8;
constexpr float kA[kCount] = {1.0f, 1.5f, -2.0f, 2048.0f, 0.5f, 1024.0f, -0.25f, 3.0f};
constexpr float kB[kCount] = {2.0f, 0.5f,          3.0f,  0.00048828125f,
                              8.0f, 0.0009765625f, -4.0f, 1024.0f};
// Expected results of a * b + a. The fourth one is 2049 in float, which half rounds to the even
// 2048; this detects compilers that compute `half` in float.
constexpr float kExpected[kCount] = {3.0f, 2.25f, -8.0f, 2048.0f, 4.5f, 1025.0f, 0.75f, 3076.0f};

class Probe {
 public:
  Probe(const ClApi& api, cl_context context, cl_device_id device)
      : api_(api), context_(context), device_(device) {}

  bool Run() {
    if (!MakeKernel()) return false;
    cl_int code = CL_SUCCESS;
    queue_ = ClQueue(&api_, api_.CreateCommandQueue(context_, device_, 0, &code));
    if (code != CL_SUCCESS) return false;
    const ClMemory a = MakeBuffer(kA);
    const ClMemory b = MakeBuffer(kB);
    const ClMemory out = MakeBuffer(kA);
    return a && b && out && SetArgument(0, a) && SetArgument(1, b) && SetArgument(2, out) &&
           Compute(out);
  }

 private:
  bool MakeKernel() {
    cl_int code = CL_SUCCESS;
    const char* source = kSource;
    program_ = ClProgram(&api_, api_.CreateProgramWithSource(context_, 1, &source, nullptr, &code));
    if (code != CL_SUCCESS) return false;
    if (api_.BuildProgram(program_.get(), 1, &device_, "", nullptr, nullptr) != CL_SUCCESS) {
      return false;
    }
    kernel_ = ClKernel(&api_, api_.CreateKernel(program_.get(), "half_probe", &code));
    return code == CL_SUCCESS;
  }

  ClMemory MakeBuffer(const float (&values)[kCount]) {
    float copy[kCount];
    std::copy_n(values, kCount, copy);
    cl_int code = CL_SUCCESS;
    return {&api_, api_.CreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                     sizeof(copy), copy, &code)};
  }

  bool SetArgument(cl_uint index, const ClMemory& memory) {
    cl_mem handle = memory.get();
    return api_.SetKernelArg(kernel_.get(), index, sizeof(cl_mem), &handle) == CL_SUCCESS;
  }

  bool Compute(const ClMemory& out) {
    const size_t one = 1;
    float results[kCount] = {};
    return api_.EnqueueNDRangeKernel(queue_.get(), kernel_.get(), 1, nullptr, &one, &one, 0,
                                     nullptr, nullptr) == CL_SUCCESS &&
           api_.EnqueueReadBuffer(queue_.get(), out.get(), CL_TRUE, 0, sizeof(results), results, 0,
                                  nullptr, nullptr) == CL_SUCCESS &&
           std::equal(results, results + kCount, kExpected);
  }

  const ClApi& api_;
  cl_context context_;
  cl_device_id device_;
  ClProgram program_;
  ClKernel kernel_;
  ClQueue queue_;
};

}  // namespace

bool ProbeHalf(const ClApi& api, cl_context context, cl_device_id device) {
  return Probe(api, context, device).Run();
}

}  // namespace deputy::gpu_cl
