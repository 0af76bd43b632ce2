// SPDX-License-Identifier: Apache-2.0
//
// Tests the bytes that the kernels of a plan read and write, and that plans with float16 move half
// of those with float32.
#include "gpu_cl/emit/traffic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "compiler/lifetimes.h"
#include "compiler/passes.h"
#include "gpu_cl/emit/adapt.h"
#include "gpu_cl/emit/make_plan.h"
#include "gpu_cl/emit/plan_options.h"
#include "tests/compiler/graph_builder.h"

namespace deputy::gpu_cl::gpu_traffic_test {
namespace {

using compiler::Graph;
using compiler::GraphBuilder;
using compiler::ScalarOp;
using compiler::Shape;
using compiler::ValueId;
using testing::EndsWith;
using testing::HasSubstr;

struct Planned {
  Graph graph;
  Plan plan;
};

Planned PlanOf(Graph graph, const PlanOptions& options) {
  graph = AdaptGraph(std::move(graph), options);
  Plan plan = MakePlan(graph, compiler::FindLifetimes(graph).storage, options);
  return {std::move(graph), std::move(plan)};
}

TEST(GpuTrafficTest, each_buffer_counts_once) {
  GraphBuilder g;
  const ValueId x = g.Input({2, 3}), row = g.Input({3});
  g.Output(g.Binary(ScalarOp::kAdd, x, row));
  g.Output(g.Binary(ScalarOp::kMul, x, x));
  const Planned made = PlanOf(g.graph, {});
  ASSERT_EQ(made.plan.steps.size(), 2u);
  const Traffic sum = TrafficOf(made.graph, made.plan, made.plan.steps[0]);
  EXPECT_EQ(sum.read, 24u + 12u);
  EXPECT_EQ(sum.written, 24u);
  const Traffic square = TrafficOf(made.graph, made.plan, made.plan.steps[1]);
  EXPECT_EQ(square.read, 24u);
  EXPECT_EQ(square.written, 24u);
  EXPECT_EQ(TrafficOf(made.graph, made.plan).total(), 60u + 48u);
  const std::string text = TrafficText(made.graph, made.plan);
  EXPECT_THAT(text, HasSubstr("node -1, elementwise, k0: reads 36 bytes, writes 24\n"));
  EXPECT_THAT(text, EndsWith("all kernels: reads 60 bytes, writes 48\n"));
}

// The filter has 40 columns in five panels of 8, each with the bias and 12 rows.
TEST(GpuTrafficTest, packed_filters_count_with_their_bias) {
  GraphBuilder g;
  g.Output(g.Add(compiler::Conv2d{},
                 {g.Input({1, 6, 7, 12}), g.Weights({40, 1, 1, 12}), g.Weights({40})},
                 {1, 6, 7, 40}));
  const Planned made = PlanOf(g.graph, {.vector_width = 4});
  ASSERT_EQ(made.plan.steps.size(), 1u);
  ASSERT_EQ(made.plan.packings.size(), 1u);
  EXPECT_EQ(40 % made.plan.packings[0].panel, 0);
  const Traffic traffic = TrafficOf(made.graph, made.plan);
  EXPECT_EQ(traffic.read, 4u * (6 * 7 * 12 + 40 * 13));
  EXPECT_EQ(traffic.written, 4u * 6 * 7 * 40);
}

// A network of the kind of MobileNetV2: inverted residuals, two of them with a sum.
class SmallMobileNet {
 public:
  explicit SmallMobileNet(int side) {
    ValueId x = Activated(Conv(g_.Input({1, side, side, 3}), 32, 3, 2));
    x = Depthwise(x, 1);
    x = Conv(x, 16, 1, 1);
    x = Inverted(x, 24, 2);
    x = Inverted(x, 24, 1);
    x = Inverted(x, 32, 2);
    x = Inverted(x, 32, 1);
    x = Activated(Conv(x, 320, 1, 1));
    const Shape last = g_.ShapeOf(x);
    x = g_.Add(compiler::Reduce{compiler::ReduceKind::kMean, 0b0110}, {x}, {1, 1, 1, last[3]});
    x = g_.Reshaped(x, {1, last[3]});
    x = g_.Add(compiler::MatMul{}, {x, g_.Weights({last[3], 1000}), g_.Weights({1000})}, {1, 1000});
    g_.Output(g_.Add(compiler::Softmax{}, {x}, {1, 1000}));
  }

  const Graph& graph() const { return g_.graph; }

 private:
  static compiler::Window Square(int size, int stride) {
    compiler::Window window;
    window.height = window.width = size;
    window.stride_y = window.stride_x = stride;
    window.top = window.left = window.bottom = window.right = size / 2;
    return window;
  }
  ValueId Activated(ValueId x) {
    return g_.WithNumber(ScalarOp::kMin, g_.WithNumber(ScalarOp::kMax, x, 0), 6);
  }
  Shape Strided(ValueId x, int stride, int channels) const {
    const Shape in = g_.ShapeOf(x);
    return {in[0], (in[1] + stride - 1) / stride, (in[2] + stride - 1) / stride, channels};
  }
  ValueId Conv(ValueId x, int channels, int size, int stride) {
    const int depth = g_.ShapeOf(x)[3];
    return g_.Add(compiler::Conv2d{Square(size, stride), 1},
                  {x, g_.Weights({channels, size, size, depth}), g_.Weights({channels})},
                  Strided(x, stride, channels));
  }
  ValueId Depthwise(ValueId x, int stride) {
    const int channels = g_.ShapeOf(x)[3];
    return Activated(g_.Add(compiler::DepthwiseConv2d{Square(3, stride), 1},
                            {x, g_.Weights({1, 3, 3, channels}), g_.Weights({channels})},
                            Strided(x, stride, channels)));
  }
  ValueId Inverted(ValueId x, int channels, int stride) {
    const ValueId wide = Activated(Conv(x, 6 * g_.ShapeOf(x)[3], 1, 1));
    const ValueId y = Conv(Depthwise(wide, stride), channels, 1, 1);
    return g_.ShapeOf(x) == g_.ShapeOf(y) ? g_.Binary(ScalarOp::kAdd, x, y) : y;
  }

  GraphBuilder g_;
};

Planned PlanWithPrecision(bool half, const PlanOptions& options) {
  Graph graph = SmallMobileNet(96).graph();
  EXPECT_EQ(FindFault(graph), "");
  if (half) graph.real_storage = kTfLiteFloat16;
  compiler::RunPasses(&graph, {});
  if (half) compiler::UseHalfStorage(&graph);
  return PlanOf(std::move(graph), options);
}

struct Target {
  const char* name;
  PlanOptions options;
};

std::vector<Target> Targets() {
  PlanOptions desktop{.vector_width = 4}, tiles = desktop, nvidia = desktop, cpu, images = desktop;
  tiles.group_tiles = true;
  nvidia.group_tiles = nvidia.matrix_units = nvidia.whole_groups = true;
  cpu.ranges = true;
  cpu.vector_width = 16;
  images.storage = Storage::kImage2d;
  images.images = {1 << 20, 8192, 8192, 2048, 2048, 2048, 2048};
  return {{"desktop", desktop},
          {"group tiles", tiles},
          {"NVIDIA", nvidia},
          {"cpu", cpu},
          {"images", images}};
}

// The remainder above one half: the image, which stays float32 (processors copy it with a border),
// biases of depthwise convolutions, the means, and the output.
TEST(GpuTrafficTest, float16_moves_half_of_the_bytes) {
  for (const Target& target : Targets()) {
    SCOPED_TRACE(target.name);
    const Planned single = PlanWithPrecision(false, target.options);
    const Planned half = PlanWithPrecision(true, target.options);
    EXPECT_EQ(half.plan.steps.size(), single.plan.steps.size());
    const Traffic in_single = TrafficOf(single.graph, single.plan);
    const Traffic in_half = TrafficOf(half.graph, half.plan);
    EXPECT_GT(in_single.total(), 8u << 20);
    EXPECT_LE(static_cast<double>(in_half.total()), 0.55 * static_cast<double>(in_single.total()))
        << TrafficText(half.graph, half.plan);
    EXPECT_LE(static_cast<double>(in_half.written), 0.52 * static_cast<double>(in_single.written));
  }
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_traffic_test
