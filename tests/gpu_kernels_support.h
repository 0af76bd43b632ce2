// SPDX-License-Identifier: Apache-2.0
//
// Kernels on OpenCL's CPU device, for sizes around those of their tiles and vectors, against the
// plain reference of the compiler. Numbers are multiples of 1/4, so that sums of their products are
// exact in any order. Suites are split among files by what their kernels cost to compile.
#ifndef DEPUTY_TESTS_GPU_KERNELS_SUPPORT_H_
#define DEPUTY_TESTS_GPU_KERNELS_SUPPORT_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/graph.h"
#include "gpu_cl/cl_api.h"
#include "gpu_cl/device.h"
#include "tests/compiler_graph_maker.h"

namespace deputy::gpu_cl {

struct KernelTarget {
  DeviceClass device_class;
  uint32_t width;       // floats in a vector
  bool half = false;    // whether all reals are stored as float16
  uint32_t units = 0;   // of the device; 0: as many as it has
  bool nvidia = false;  // whether kernels are those for its units for matrices
};

// A test on one target; skipped where there is no CPU device.
class KernelTest : public testing::TestWithParam<KernelTarget> {
 protected:
  void SetUp() override;

  // Computes the graph on the device and the plain way, from the same inputs. The device's compiler
  // must not warn of any kernel.
  void ExpectAgreement(const compiler::Graph& graph, double tolerance = 0);

  LoadedCl loaded_;
  std::shared_ptr<SharedContext> context_;
  std::string kernels_;  // of the last graph
  // The tests look at the text of kernels; without optimisation they compile faster.
  bool optimizes_ = false;
};

// Processors of two vector widths, and GPUs.
std::vector<KernelTarget> AllKernelTargets();
// Without NVIDIA's units for matrices, for kernels that do not use them.
std::vector<KernelTarget> PlainKernelTargets();
std::string KernelTargetName(const testing::TestParamInfo<KernelTarget>& info);

// A convolution of any kind.
struct ConvRow {
  compiler::Shape image;
  int channels;
  int height, width;
  int stride = 1, dilation = 1, padding = 0, groups = 1;
};

compiler::Window WindowOf(const ConvRow& row);
compiler::Shape OutputShape(const ConvRow& row);
compiler::ValueId Conv(compiler::GraphMaker* g, const ConvRow& row, bool bias);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_TESTS_GPU_KERNELS_SUPPORT_H_
