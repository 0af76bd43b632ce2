// SPDX-License-Identifier: Apache-2.0
//
// Compares estimated times and gains with literals, and tests their dependence on parameters.
#include "gpu_cl/cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/compiler/graph_builder.h"

namespace deputy::gpu_cl::gpu_cost_test {
namespace {

using compiler::Graph;
using compiler::GraphBuilder;
using compiler::ScalarOp;

constexpr Rates kRates = {.macs = 10, .steps = 2, .bytes = 4, .launch_ns = 100};

// A graph of |-x| over 64 floats, as two nodes.
Graph TwoNodes() {
  GraphBuilder m;
  m.graph.outputs = {m.Unary(ScalarOp::kAbs, m.Unary(ScalarOp::kNeg, m.Input({64})))};
  m.graph.operations[1].node = 1;
  m.graph.operations[0].node = 0;
  return m.graph;
}

TEST(Cost, gain_is_cpu_time_minus_device_and_transfer_time) {
  CostModel model;
  model.cpu = {.macs = 1, .steps = 1, .bytes = 1, .launch_ns = 1000};
  model.device = kRates;
  model.border_bytes = 8;
  model.submit_ns = 50;
  // On the CPU two nodes of 512 bytes, each with a launch; on the device one operation of 512
  // bytes.
  EXPECT_EQ(GainNs(model, TwoNodes()), 2 * (512 + 1000) - (128 + 100) - 512 / 8 - 50);
  model.submit_ns = 10'000;
  EXPECT_LT(GainNs(model, TwoNodes()), 0);
}

TEST(Cost, constants_of_a_processor) {
  DeviceProfile profile;
  profile.kind = DeviceKind::kCpu;
  profile.compute_units = 2;
  profile.float_width = 16;
  const CostModel model = CostModelOf(profile, DeviceClass::kCpu, 4);
  EXPECT_EQ(model.cpu.macs, 4 * 16 * 3);
  EXPECT_EQ(model.device.macs, 2 * 16 * 2.5);
  EXPECT_EQ(model.submit_ns, 20'000);
  EXPECT_EQ(CostModelOf(profile, DeviceClass::kCpu, -1).cpu.macs, 16 * 3);
  // Kernels for another device class run on the same CPU, so its rates are the same.
  EXPECT_EQ(CostModelOf(profile, DeviceClass::kDesktop, 1).device.macs, model.device.macs);
}

TEST(Cost, more_units_are_faster_and_one_is_the_default) {
  for (const DeviceKind kind : {DeviceKind::kDiscreteGpu, DeviceKind::kIntegratedGpu,
                                DeviceKind::kCpu, DeviceKind::kOther}) {
    for (const DeviceClass device_class :
         {DeviceClass::kCpu, DeviceClass::kDesktop, DeviceClass::kMobile}) {
      DeviceProfile profile;
      profile.kind = kind;
      const CostModel one = CostModelOf(profile, device_class, 1);
      EXPECT_GT(one.device.macs, 0);
      EXPECT_GT(one.device.steps, 0);
      EXPECT_GT(one.device.bytes, 0);
      EXPECT_GT(one.border_bytes, 0);
      profile.compute_units = 3;
      EXPECT_EQ(CostModelOf(profile, device_class, 1).device.macs, 3 * one.device.macs);
    }
  }
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_cost_test
