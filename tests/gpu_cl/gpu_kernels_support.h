// SPDX-License-Identifier: Apache-2.0
//
// Compares kernels on OpenCL's CPU device with the compiler's plain reference, for sizes around
// those of their tiles and vectors. Numbers are multiples of 1/4, so that sums of their products
// are exact in any order. Suites are distributed over files by the time that their kernels take to
// compile.
#ifndef DEPUTY_TESTS_GPU_CL_GPU_KERNELS_SUPPORT_H_
#define DEPUTY_TESTS_GPU_CL_GPU_KERNELS_SUPPORT_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/graph.h"
#include "gpu_cl/device/cl_api.h"
#include "gpu_cl/device/device.h"
#include "tests/compiler/graph_builder.h"

namespace deputy::gpu_cl {

struct KernelTarget {
  DeviceClass device_class;
  uint32_t width;       // number of floats in a vector
  bool half = false;    // true if all reals are stored as float16
  uint32_t units = 0;   // compute units of the device; 0: as reported
  bool nvidia = false;  // true for the kernels with NVIDIA's matrix units
  bool vnni = true;     // false: instructions of AVX-512 VNNI are not used
};

// A test on one target; skipped if there is no CPU device.
class KernelTest : public testing::TestWithParam<KernelTarget> {
 protected:
  void SetUp() override;

  // Computes the graph on the device and with the reference, from the same inputs. The device's
  // compiler must not warn about any kernel.
  void ExpectAgreement(const compiler::Graph& graph, double tolerance = 0);

  LoadedCl loaded_;
  std::shared_ptr<SharedContext> context_;
  std::string kernels_;  // source of the last graph's kernels
  // True if kernels are optimised. False by default, because kernels compile faster without
  // optimisation, and the tests compare kernel sources.
  bool optimizes_ = false;
};

// Returns targets for CPUs with two vector widths, and for GPUs.
std::vector<KernelTarget> AllKernelTargets();
// Returns targets without NVIDIA's matrix units, for kernels that do not use them.
std::vector<KernelTarget> PlainKernelTargets();
std::string KernelTargetName(const testing::TestParamInfo<KernelTarget>& info);

// One convolution of a test: sizes and parameters.
struct ConvRow {
  compiler::Shape image;
  int channels;
  int height, width;
  int stride = 1, dilation = 1, padding = 0, groups = 1;
};

compiler::Window WindowOf(const ConvRow& row);
compiler::Shape OutputShape(const ConvRow& row);
compiler::ValueId Conv(compiler::GraphBuilder* g, const ConvRow& row, bool bias);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_TESTS_GPU_CL_GPU_KERNELS_SUPPORT_H_
