// SPDX-License-Identifier: Apache-2.0
//
// Kernels for processors on OpenCL's CPU device, for sizes around those of their tiles and vectors,
// against the plain reference of the compiler. Numbers are multiples of 1/4, so that sums of their
// products are exact in any order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/passes.h"
#include "gpu_cl/exec.h"
#include "tests/compiler_graph_maker.h"

namespace deputy::gpu_cl {
namespace {

using compiler::ElementCount;
using compiler::Expression;
using compiler::Graph;
using compiler::GraphMaker;
using compiler::Operation;
using compiler::ScalarOp;
using compiler::Shape;
using compiler::Value;
using compiler::ValueId;
using compiler::Window;
using testing::HasSubstr;

using Contents = std::vector<std::vector<std::byte>>;

// By floats in a vector.
class GpuKernels : public testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    loaded_ = LoadCl();
    if (loaded_.api == nullptr) GTEST_SKIP() << loaded_.tried;
    std::vector<Device> devices;
    Device device;
    ClStatus status = ListDevices(*loaded_.api, &devices);
    if (status.ok()) status = ChooseDevice(devices, "cpu", &device);
    if (!status.ok()) GTEST_SKIP() << status.text;
    device.profile.float_width = GetParam();
    context_ = SharedContext::Create(loaded_.api, device, &status);
    ASSERT_NE(context_, nullptr) << status.text;
  }

  // Computes the graph on the device and the plain way, from the same inputs.
  void ExpectAgreement(const Graph& graph, double tolerance = 0);

  LoadedCl loaded_;
  std::shared_ptr<SharedContext> context_;
  std::string kernels_;  // of the last graph
};

Contents RandomInputs(const Graph& graph) {
  std::mt19937 random(7);
  Contents contents;
  for (ValueId id : graph.inputs) {
    const Value& value = graph.value(id);
    contents.emplace_back(value.bytes() + 1);
    for (int64_t i = 0; i < ElementCount(value.shape); ++i) {
      const int number = static_cast<int>(random() % 65) - 32;
      compiler::StoreElement(value.type, {number / 4.0, number}, contents.back().data(), i);
    }
  }
  return contents;
}

void ExpectSame(const Value& value, const std::byte* found, const std::byte* expected,
                double tolerance) {
  int shown = 0;
  for (int64_t i = 0; i < ElementCount(value.shape) && shown < 3; ++i) {
    const double a = compiler::LoadElement(value.type, found, i).real;
    const double b = compiler::LoadElement(value.type, expected, i).real;
    if (std::fabs(a - b) <= tolerance * (1 + std::fabs(b))) continue;
    ADD_FAILURE() << "element " << i << ": expected " << b << ", found " << a;
    ++shown;
  }
}

void GpuKernels::ExpectAgreement(const Graph& graph, double tolerance) {
  ASSERT_EQ(FindFault(graph), "");
  const Contents inputs = RandomInputs(graph);
  std::vector<const std::byte*> plain_inputs;
  std::vector<const void*> device_inputs;
  for (const auto& input : inputs) {
    plain_inputs.push_back(input.data());
    device_inputs.push_back(input.data());
  }
  Contents expected;
  std::string error;
  ASSERT_TRUE(ComputeGraph(graph, plain_inputs, &expected, &error)) << error;

  ClStatus status;
  const auto executor = Executor::Create(context_, graph, DeviceClass::kCpu, "", nullptr, &status);
  ASSERT_NE(executor, nullptr) << status.text;
  kernels_ = executor->plan().Source();
  Contents found;
  std::vector<void*> outputs;
  for (const auto& output : expected) found.emplace_back(output.size() + 1, std::byte{0x7f});
  for (auto& output : found) outputs.push_back(output.data());
  status = executor->Run(device_inputs, outputs);
  ASSERT_TRUE(status.ok()) << status.text;
  for (size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE("output " + std::to_string(i));
    ExpectSame(graph.value(graph.outputs[i]), found[i].data(), expected[i].data(), tolerance);
  }
}

// ---- Convolutions -------------------------------------------------------------------------------

struct ConvRow {
  Shape image;
  int channels;
  int height, width;
  int stride = 1, dilation = 1, padding = 0, groups = 1;
};

// Rows and columns around 7 x 48, 12 x 32, 14 x 16 and 6 x 16, of one pixel and of windows, with
// and without padding.
const ConvRow kConvs[] = {
    {{1, 7, 7, 16}, 48, 1, 1},
    {{1, 5, 5, 3}, 40, 1, 1},
    {{2, 5, 3, 7}, 17, 1, 1},
    {{1, 1, 1, 100}, 130, 1, 1},
    {{1, 1, 3, 33}, 64, 1, 1},
    {{1, 9, 9, 5}, 1, 1, 1},
    {{1, 13, 11, 4}, 24, 1, 1, 2},
    {{1, 9, 9, 4}, 24, 3, 3},
    {{2, 9, 7, 3}, 16, 3, 3, 2, 1, 1},
    {{1, 8, 8, 6}, 33, 3, 3, 1, 2, 2},
    {{1, 9, 9, 6}, 20, 3, 2, 1, 2},
    {{1, 8, 9, 8}, 40, 5, 3, 2, 1, 2},
    {{2, 6, 6, 8}, 12, 3, 3, 1, 1, 1, 4},
    {{1, 7, 5, 34}, 34, 1, 1, 1, 1, 0, 2},
};

int OutputExtent(int extent, int size, const ConvRow& row) {
  return (extent + 2 * row.padding - (size - 1) * row.dilation - 1) / row.stride + 1;
}

Window WindowOf(const ConvRow& row) {
  Window window;
  window.height = row.height;
  window.width = row.width;
  window.stride_y = window.stride_x = row.stride;
  window.dilation_y = window.dilation_x = row.dilation;
  window.top = window.left = window.bottom = window.right = row.padding;
  return window;
}

Shape OutputShape(const ConvRow& row) {
  return {row.image[0], OutputExtent(row.image[1], row.height, row),
          OutputExtent(row.image[2], row.width, row), row.channels};
}

ValueId Conv(GraphMaker* g, const ConvRow& row, bool bias) {
  std::vector<ValueId> inputs = {
      g->Input(row.image),
      g->Weights({row.channels, row.height, row.width, row.image[3] / row.groups})};
  if (bias) inputs.push_back(g->Weights({row.channels}));
  return g->Add(compiler::Conv2d{WindowOf(row), row.groups}, inputs, OutputShape(row));
}

TEST_P(GpuKernels, convolutions_of_all_sizes) {
  GraphMaker g;
  for (const ConvRow& row : kConvs) {
    g.Output(Conv(&g, row, true));
    g.Output(Conv(&g, row, false));
  }
  ExpectAgreement(g.graph);
  EXPECT_THAT(kernels_, HasSubstr("packed"));
  EXPECT_THAT(kernels_, testing::Not(HasSubstr("float sum =")));
}

// What follows a convolution: bounds, another tensor, numbers per channel, a curve, another type.
TEST_P(GpuKernels, epilogues_of_convolutions) {
  GraphMaker g;
  for (const ConvRow& row : {kConvs[0], kConvs[1], kConvs[2], kConvs[8]}) {
    const Shape shape = OutputShape(row);
    g.Output(g.WithNumber(ScalarOp::kMin, g.WithNumber(ScalarOp::kMax, Conv(&g, row, true), 0), 6));
    g.Output(g.Binary(ScalarOp::kAdd, Conv(&g, row, true), g.Input(shape)));
    g.Output(g.Binary(ScalarOp::kMul, Conv(&g, row, true), g.Input({1, 1, shape[3]})));
    g.Output(g.Binary(ScalarOp::kSub, Conv(&g, row, true), g.Input({shape[1], shape[2], 1})));
    g.Output(g.Binary(ScalarOp::kMul, Conv(&g, row, true), g.Input({shape[0], 1, 1, shape[3]})));
    g.Output(g.Unary(ScalarOp::kTanh, Conv(&g, row, true)));
    Expression e;
    const int rounded = e.Apply(ScalarOp::kRoundAway, e.Operand(0, kTfLiteFloat32));
    e.Cast(rounded, kTfLiteInt8);
    g.Output(g.Compute(e, {Conv(&g, row, true)}));
  }
  compiler::FuseEpilogues(&g.graph);
  for (const Operation& operation : g.graph.operations) EXPECT_FALSE(operation.epilogue.empty());
  ExpectAgreement(g.graph, 1e-6);
}

// ---- Products -----------------------------------------------------------------------------------

struct MatMulRow {
  Shape a;
  int columns;
  bool transpose_a = false, transpose_b = false;
};

const MatMulRow kMatMuls[] = {
    {{1, 100}, 10},     {{1, 65}, 200, false, true}, {{13, 20}, 33},
    {{3, 30, 16}, 48},  {{9, 7}, 50, true},          {{20, 5}, 40, true, true},
    {{2, 3, 5, 9}, 64}, {{50, 17}, 16, false, true},
};

TEST_P(GpuKernels, products_with_constants) {
  GraphMaker g;
  for (const MatMulRow& row : kMatMuls) {
    Shape out = row.a;
    if (row.transpose_a) std::swap(out[out.size() - 1], out[out.size() - 2]);
    const int depth = out.back();
    out.back() = row.columns;
    const ValueId b =
        g.Weights(row.transpose_b ? Shape{row.columns, depth} : Shape{depth, row.columns});
    g.Output(g.Add(compiler::MatMul{row.transpose_a, row.transpose_b},
                   {g.Input(row.a), b, g.Weights({row.columns})}, out));
  }
  ExpectAgreement(g.graph);
  EXPECT_THAT(kernels_, HasSubstr("packed"));
  EXPECT_THAT(kernels_, testing::Not(HasSubstr("float sum =")));
}

// ---- Windows of one channel ---------------------------------------------------------------------

const ConvRow kWindows[] = {
    {{1, 6, 6, 16}, 16, 3, 3, 1, 1, 1},
    {{2, 7, 5, 20}, 20, 3, 3, 2, 1, 1},
    {{1, 9, 8, 5}, 5, 5, 5, 1, 1, 2},
    {{1, 9, 8, 70}, 70, 2, 3, 1, 2},
    {{1, 4, 3, 8}, 8, 1, 1},
    {{1, 3, 2, 33}, 33, 5, 3, 1, 1, 2},
    {{1, 12, 12, 4}, 4, 3, 3, 3},
};

TEST_P(GpuKernels, depthwise_convolutions_of_all_sizes) {
  GraphMaker g;
  for (const ConvRow& row : kWindows) {
    const ValueId filter = g.Weights({1, row.height, row.width, row.channels});
    const ValueId image = g.Input(row.image);
    g.Output(g.Add(compiler::DepthwiseConv2d{WindowOf(row), 1},
                   {image, filter, g.Weights({row.channels})}, OutputShape(row)));
    const ValueId sum =
        g.Add(compiler::DepthwiseConv2d{WindowOf(row), 1}, {image, filter}, OutputShape(row));
    g.Output(g.WithNumber(ScalarOp::kMax, sum, 0));
  }
  compiler::FuseEpilogues(&g.graph);
  ExpectAgreement(g.graph);
  EXPECT_THAT(kernels_, HasSubstr("zeros"));
  EXPECT_THAT(kernels_, testing::Not(HasSubstr("float sum =")));
}

TEST_P(GpuKernels, pools_of_all_sizes) {
  GraphMaker g;
  for (const ConvRow& row : kWindows) {
    if (row.dilation != 1 || row.padding >= row.width) continue;
    for (const auto kind :
         {compiler::PoolKind::kMax, compiler::PoolKind::kAverage, compiler::PoolKind::kL2}) {
      g.Output(
          g.Add(compiler::Pool2d{kind, WindowOf(row)}, {g.Input(row.image)}, OutputShape(row)));
    }
  }
  ExpectAgreement(g.graph, 1e-6);
  EXPECT_THAT(kernels_, testing::Not(HasSubstr("float sum =")));
}

INSTANTIATE_TEST_SUITE_P(Widths, GpuKernels, testing::Values(8, 16),
                         [](const auto& given) { return std::to_string(given.param); });

// ---- Panels -------------------------------------------------------------------------------------

TEST(GpuPackingTest, panels_start_with_the_bias_and_end_with_zeros) {
  GraphMaker g;
  // Two groups of three columns of two rows, column after column.
  const ValueId filter = g.Constant({6, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const ValueId bias = g.Constant({6}, {-1, -2, -3, -4, -5, -6});
  Packing packing = {.filter = filter,
                     .bias = bias,
                     .groups = 2,
                     .depth = 2,
                     .columns = 3,
                     .group_stride = 6,
                     .depth_stride = 1,
                     .column_stride = 2,
                     .panel = 2};
  EXPECT_THAT(Pack(g.graph, packing),
              testing::ElementsAre(-1, -2, 1, 3, 2, 4, -3, 0, 5, 0, 6, 0,  //
                                   -4, -5, 7, 9, 8, 10, -6, 0, 11, 0, 12, 0));
  packing.bias = compiler::kNoValue;
  packing.panel = 4;
  EXPECT_THAT(Pack(g.graph, packing), testing::ElementsAre(0, 0, 0, 0, 1, 3, 5, 0, 2, 4, 6, 0,  //
                                                           0, 0, 0, 0, 7, 9, 11, 0, 8, 10, 12, 0));
}

}  // namespace
}  // namespace deputy::gpu_cl
