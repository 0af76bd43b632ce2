// SPDX-License-Identifier: Apache-2.0
//
// Kernels for processors on OpenCL's CPU device, for sizes around those of their tiles and vectors,
// against the plain reference of the compiler. Numbers are multiples of 1/4, so that sums of their
// products are exact in any order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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
#include "gpu_cl/common_epilogue.h"
#include "gpu_cl/exec.h"
#include "tests/compiler_graph_maker.h"
#include "tests/gpu_matrix_units.h"

namespace deputy::gpu_cl::gpu_kernels_test {
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
using testing::ElementsAre;
using testing::HasSubstr;

using Contents = std::vector<std::vector<std::byte>>;

struct Target {
  DeviceClass device_class;
  uint32_t width;       // floats in a vector
  bool half = false;    // whether all reals are stored as float16
  uint32_t units = 0;   // of the device; 0: as many as it has
  bool nvidia = false;  // whether kernels are those for its units for matrices
};

class GpuKernels : public testing::TestWithParam<Target> {
 protected:
  void SetUp() override {
    loaded_ = LoadCl();
    if (loaded_.api == nullptr) GTEST_SKIP() << loaded_.tried;
    std::vector<Device> devices;
    Device device;
    ClStatus status = ListDevices(*loaded_.api, &devices);
    if (status.ok()) status = ChooseDevice(devices, "cpu", &device);
    if (!status.ok()) GTEST_SKIP() << status.text;
    device.profile.float_width = GetParam().width;
    if (GetParam().units > 0) device.profile.compute_units = GetParam().units;
    if (GetParam().nvidia) ClaimToBeNvidia(&device.profile);
    context_ = SharedContext::Create(
        GetParam().nvidia ? WithMatrixUnits(*loaded_.api) : loaded_.api, device, &status);
    ASSERT_NE(context_, nullptr) << status.text;
  }

  // Computes the graph on the device and the plain way, from the same inputs.
  void ExpectAgreement(const Graph& graph, double tolerance = 0);

  LoadedCl loaded_;
  std::shared_ptr<SharedContext> context_;
  std::string kernels_;  // of the last graph
  // Some time is saved without, and it is the text that is looked at here.
  bool optimizes_ = false;
};

// The graph with all of its reals stored as float16, those of the client's as well.
Graph InHalf(Graph graph) {
  compiler::UseHalfStorage(&graph);
  for (Value& value : graph.values) {
    if (value.type == kTfLiteFloat32 && !value.constant()) value.type = kTfLiteFloat16;
  }
  return graph;
}

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
    const bool same = std::isfinite(b) ? std::fabs(a - b) <= tolerance * (1 + std::fabs(b))
                                       : a == b || (std::isnan(a) && std::isnan(b));
    if (same) continue;
    ADD_FAILURE() << "element " << i << ": expected " << b << ", found " << a;
    ++shown;
  }
}

void GpuKernels::ExpectAgreement(const Graph& given, double tolerance) {
  const Graph graph = GetParam().half ? InHalf(given) : given;
  // Results a little different may be rounded to neighbours.
  if (GetParam().half && tolerance > 0) tolerance = std::max(tolerance, 1e-3);
  ASSERT_EQ(FindFault(graph), "");
  const Contents inputs = RandomInputs(graph);
  std::vector<const std::byte*> plain_inputs;
  std::vector<InputPlace> device_inputs;
  for (const auto& input : inputs) {
    plain_inputs.push_back(input.data());
    device_inputs.push_back({input.data(), nullptr});
  }
  Contents expected;
  std::string error;
  ASSERT_TRUE(ComputeGraph(graph, plain_inputs, &expected, &error)) << error;

  ClStatus status;
  ExecutorOptions options;
  options.device_class = GetParam().device_class;
  options.optimize = optimizes_;
  const auto executor = Executor::Create(context_, graph, options, &status);
  ASSERT_NE(executor, nullptr) << status.text;
  kernels_ = executor->plan().Source();
  Contents found;
  std::vector<OutputPlace> outputs;
  for (const auto& output : expected) found.emplace_back(output.size() + 1, std::byte{0x7f});
  for (auto& output : found) outputs.push_back({output.data(), nullptr});
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

// Where groups compute tiles together: all tiles, and a depth in parts, which a device of many
// units needs. The last rows, columns and channels fill none; channels are vectors, or none.
TEST_P(GpuKernels, products_in_tiles_of_groups) {
  const ConvRow products[] = {
      {{1, 21, 13, 20}, 140, 1, 1, 1, 1, 0}, {{2, 9, 11, 36}, 36, 3, 3, 1, 1, 1},
      {{1, 17, 8, 4}, 68, 2, 5, 2, 1, 2},    {{1, 1, 5, 260}, 44, 1, 1, 1, 1, 0},
      {{1, 12, 12, 16}, 200, 3, 3, 2, 2, 1}, {{2, 19, 16, 3}, 32, 7, 7, 2, 1, 3},
      {{1, 8, 9, 5}, 36, 3, 2, 1, 1, 0},     {{1, 5, 5, 37}, 40, 1, 1, 1, 1, 0},
  };
  std::vector<std::string> group_sizes;
  for (const ConvRow& row : products) {
    GraphMaker g;
    g.Output(Conv(&g, row, true));
    g.Output(g.Unary(ScalarOp::kTanh, Conv(&g, row, false)));
    compiler::FuseEpilogues(&g.graph);
    ExpectAgreement(g.graph, 1e-6);
    if (GetParam().nvidia) {
      EXPECT_THAT(kernels_, HasSubstr("reqd_work_group_size("));
      continue;
    }
    const size_t size = kernels_.find("reqd_work_group_size(8, 8, ");
    EXPECT_EQ(size != std::string::npos, GetParam().device_class == DeviceClass::kDesktop);
    if (size != std::string::npos) group_sizes.push_back(kernels_.substr(size + 27, 1));
  }
  if (GetParam().units != 0 && !GetParam().nvidia) {
    EXPECT_THAT(group_sizes, ElementsAre("1", "4", "1", "4", "4", "4", "1", "1"));
  }
}

// Tiles of NVIDIA's units for matrices, on a device of so few units that the largest are chosen,
// and numbers of all digits: what is left of a product is as exact as in float32. Infinite ones
// have no low part, and make what they make in float32.
TEST_P(GpuKernels, products_in_tiles_of_matrix_units) {
  if (!GetParam().nvidia || GetParam().half) GTEST_SKIP() << "not for this target";
  const auto run = [&](uint32_t units, const ConvRow& row, bool infinite) {
    Device device = context_->device();
    device.profile.compute_units = units;
    ClStatus status;
    context_ = SharedContext::Create(WithMatrixUnits(*loaded_.api), device, &status);
    GraphMaker g;
    std::vector<float> weights(
        static_cast<size_t>(row.channels * row.height * row.width * row.image[3]));
    std::mt19937 random(5);
    for (float& weight : weights) {
      weight = static_cast<float>(static_cast<int>(random() % 2000001) - 1000000) * 1e-6f;
    }
    // A third of the input, or a third by the input, of which some are zero.
    Expression third;
    const int x = third.Operand(0, kTfLiteFloat32);
    const int number = third.Constant(kTfLiteFloat32, 1.0 / 3);
    infinite ? third.Apply(ScalarOp::kDiv, number, x) : third.Apply(ScalarOp::kMul, x, number);
    const ValueId left = g.Compute(third, {g.Input(row.image)});
    const ValueId filter = g.Constant({row.channels, row.height, row.width, row.image[3]}, weights);
    const ValueId product =
        g.Add(compiler::Conv2d{WindowOf(row), 1}, {left, filter}, OutputShape(row));
    g.Output(infinite ? g.WithNumber(ScalarOp::kMax, product, -2) : product);
    compiler::FuseEpilogues(&g.graph);
    ExpectAgreement(g.graph, 1e-5);
  };
  run(1, {{1, 16, 17, 32}, 68, 1, 1}, false);
  EXPECT_THAT(kernels_, HasSubstr("memory[1536]"));
  run(2, {{1, 8, 17, 28}, 64, 1, 1}, false);
  EXPECT_THAT(kernels_, HasSubstr("memory[1024]"));
  const ConvRow windows = {{1, 5, 7, 32}, 52, 3, 3, 1, 1, 1};
  run(2, windows, false);
  EXPECT_THAT(kernels_, HasSubstr("reqd_work_group_size(128, 1, 2)"));
  run(2, windows, true);
  run(1, {{1, 5, 17, 32}, 52, 1, 1}, true);
  // It would take four parts of the depth, of which the driver launches none.
  run(4096, windows, false);
  EXPECT_THAT(kernels_, AllOf(Not(HasSubstr("MULTIPLY_TF32(part")), HasSubstr("(8, 8, ")));
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

// Bounds and sums that share a kernel, and what looks like them but is not: NaN tells.
TEST_P(GpuKernels, common_epilogues) {
  const Shape image = {1, 5, 5, 32};
  GraphMaker g;
  const auto conv = [&] {
    return g.Add(compiler::Conv2d{}, {g.Input(image), g.Weights({32, 1, 1, 32})}, image);
  };
  g.Output(conv());
  g.Output(g.WithNumber(ScalarOp::kMax, conv(), -3));
  g.Output(g.WithNumber(ScalarOp::kMin, conv(), 2));
  g.Output(g.WithNumber(ScalarOp::kMax, g.WithNumber(ScalarOp::kMin, conv(), 6), 1));
  g.Output(g.Binary(ScalarOp::kAdd, g.Input(image), conv()));
  g.Output(g.WithNumber(ScalarOp::kMax, g.Binary(ScalarOp::kAdd, conv(), g.Input(image)), 0));
  compiler::FuseEpilogues(&g.graph);
  ASSERT_EQ(g.graph.operations.size(), 6u);
  for (const Operation& operation : g.graph.operations) {
    EXPECT_TRUE(FindCommonEpilogue(g.graph, operation)) << ToText(operation.epilogue);
  }
  ExpectAgreement(g.graph);

  GraphMaker others;
  const auto other = [&] {
    return others.Add(compiler::Conv2d{}, {others.Input(image), others.Weights({32, 1, 1, 32})},
                      image);
  };
  const ValueId x = other();
  others.Output(
      others.Binary(ScalarOp::kAdd, others.WithNumber(ScalarOp::kMax, x, 0), others.Input(image)));
  others.Output(others.Binary(ScalarOp::kAdd, other(), others.Input({32})));
  Expression number_last;
  const int a = number_last.Operand(0, kTfLiteFloat32);
  number_last.Apply(ScalarOp::kMax, a, number_last.Constant(kTfLiteFloat32, 0));
  others.Output(others.Compute(number_last, {other()}));
  const ValueId low = others.WithNumber(ScalarOp::kMin, other(), 1);
  others.Output(others.WithNumber(ScalarOp::kMax, low, 2));
  compiler::FuseEpilogues(&others.graph);
  ASSERT_EQ(others.graph.operations.size(), 4u);
  for (const Operation& operation : others.graph.operations) {
    EXPECT_FALSE(FindCommonEpilogue(others.graph, operation)) << ToText(operation.epilogue);
  }
  ExpectAgreement(others.graph);
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

struct MatrixRow {
  Shape a, b;
  bool transpose_a = false, transpose_b = false;
};

// Both sides are there only at run time; batches are broadcast.
const MatrixRow kMatrices[] = {
    {{3, 9, 20}, {3, 20, 50}},
    {{2, 1, 13, 5}, {3, 5, 16}},
    {{4, 30}, {30, 7}},
    {{2, 6, 40}, {2, 33, 40}, false, true},
    {{2, 9, 14}, {1, 20, 9}, true, true},
    {{10, 12}, {10, 100}, true},
};

TEST_P(GpuKernels, products_of_two_inputs) {
  GraphMaker g;
  for (const MatrixRow& row : kMatrices) {
    const size_t rank = std::max(row.a.size(), row.b.size());
    Shape out(rank, 1);
    for (size_t back = 3; back <= rank; ++back) {
      for (const Shape* shape : {&row.a, &row.b}) {
        if (back > shape->size()) continue;
        out[rank - back] = std::max(out[rank - back], (*shape)[shape->size() - back]);
      }
    }
    out[rank - 2] = row.a[row.a.size() - (row.transpose_a ? 1 : 2)];
    out[rank - 1] = row.b[row.b.size() - (row.transpose_b ? 2 : 1)];
    const ValueId product = g.Add(compiler::MatMul{row.transpose_a, row.transpose_b},
                                  {g.Input(row.a), g.Input(row.b)}, out);
    g.Output(product);
    g.Output(g.WithNumber(ScalarOp::kMul,
                          g.Add(compiler::MatMul{row.transpose_a, row.transpose_b},
                                {g.Input(row.a), g.Input(row.b)}, out),
                          0.5));
  }
  compiler::FuseEpilogues(&g.graph);
  ExpectAgreement(g.graph);
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
    {{2, 3, 40, 18}, 18, 1, 33},
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

// ---- Loops --------------------------------------------------------------------------------------

Expression Difference(bool bounded) {
  Expression e;
  const int a = e.Operand(0, kTfLiteFloat32), b = e.Operand(1, kTfLiteFloat32);
  const int difference = e.Apply(ScalarOp::kSub, a, b);
  if (bounded) e.Apply(ScalarOp::kMax, e.Constant(kTfLiteFloat32, 0), difference);
  return e;
}

TEST_P(GpuKernels, operands_are_broadcast) {
  GraphMaker g;
  const ValueId x = g.Input({2, 5, 3, 37});
  for (const Shape& shape : {Shape{2, 5, 3, 37}, Shape{37}, Shape{3, 37}, Shape{5, 1, 1},
                             Shape{2, 1, 3, 1}, Shape{2, 5, 1, 37}, Shape{1}, Shape{}}) {
    g.Output(g.Compute(Difference(shape.size() % 2 == 0), {x, g.Input(shape)}));
  }
  g.Output(g.Compute(Difference(true), {g.Input({5000}), g.Input({5000})}));
  g.Output(g.Compute(Difference(false), {g.Input({40, 3}), g.Input({3})}));
  ExpectAgreement(g.graph);
  if (GetParam().device_class == DeviceClass::kCpu) {
    const std::string store = GetParam().half ? "STORE_HALF(" : "STORE(float, ";
    EXPECT_THAT(kernels_, HasSubstr(store + std::to_string(GetParam().width)));
  }
}

// Of 17 halves: most begin where no vector does, which only optimised code minds.
TEST_P(GpuKernels, rows_of_halves_begin_anywhere) {
  optimizes_ = true;
  Expression e;
  const int a = e.Operand(0, kTfLiteFloat16), b = e.Operand(1, kTfLiteFloat16);
  e.Apply(ScalarOp::kMin, a, b);
  GraphMaker g;
  const ValueId x = g.Input({1, 8, 8, 17}, kTfLiteFloat16);
  g.Output(g.Compute(e, {x, g.Input({1, 1, 1, 17}, kTfLiteFloat16)}));
  ExpectAgreement(g.graph);
}

// Every operation that has a form for vectors, of every type it has one for.
TEST_P(GpuKernels, expressions_agree_in_vectors) {
  if (GetParam().width != 16) GTEST_SKIP() << "takes long, and is the same for other widths";
  GraphMaker g;
  for (const TfLiteType type : {kTfLiteFloat32, kTfLiteFloat16, kTfLiteInt8, kTfLiteUInt8,
                                kTfLiteInt16, kTfLiteInt32, kTfLiteInt64}) {
    const ValueId x = g.Input({41}, type), y = g.Input({41}, type);
    for (const ScalarOp op :
         {ScalarOp::kAbs, ScalarOp::kNeg, ScalarOp::kSign, ScalarOp::kFloor, ScalarOp::kCeil,
          ScalarOp::kRoundEven, ScalarOp::kRoundAway, ScalarOp::kExp, ScalarOp::kTanh,
          ScalarOp::kLogistic, ScalarOp::kSin, ScalarOp::kErf}) {
      if (TakesType(op, type)) g.Output(g.Unary(op, x));
    }
    for (const ScalarOp op : {ScalarOp::kAdd, ScalarOp::kSub, ScalarOp::kMul, ScalarOp::kMax,
                              ScalarOp::kMin, ScalarOp::kAnd, ScalarOp::kXor, ScalarOp::kLess,
                              ScalarOp::kEqual, ScalarOp::kGreaterEqual}) {
      if (TakesType(op, type)) g.Output(g.Binary(op, x, y));
    }
    Expression choice;
    const int a = choice.Operand(0, type), b = choice.Operand(1, type);
    const int less = choice.Apply(ScalarOp::kLess, a, b);
    const int other = choice.Apply(ScalarOp::kNot, choice.Apply(ScalarOp::kEqual, a, b));
    choice.Apply(ScalarOp::kSelect, choice.Apply(ScalarOp::kAnd, less, other), a, b);
    g.Output(g.Compute(choice, {x, y}));
    for (const TfLiteType to :
         {kTfLiteFloat32, kTfLiteInt8, kTfLiteInt32, kTfLiteInt64, kTfLiteBool}) {
      Expression cast;
      cast.Cast(cast.Operand(0, type), to);
      if (to != type) g.Output(g.Compute(cast, {x}));
    }
  }
  ExpectAgreement(g.graph, 1e-3);
}

// A lane does not depend on its neighbours.
TEST_P(GpuKernels, curves_of_small_numbers_beside_huge_ones) {
  if (GetParam().half) GTEST_SKIP() << "float16 holds no such numbers";
  GraphMaker g;
  std::vector<float> factors(41);
  for (size_t i = 0; i < factors.size(); ++i) factors[i] = i % 3 == 0 ? 1e7f : 1e-3f;
  const ValueId x = g.Binary(ScalarOp::kMul, g.Input({41}), g.Constant({41}, factors));
  for (const ScalarOp op : {ScalarOp::kSin, ScalarOp::kCos, ScalarOp::kTanh, ScalarOp::kExp,
                            ScalarOp::kErf, ScalarOp::kLogistic}) {
    g.Output(g.Unary(op, op == ScalarOp::kExp ? g.WithNumber(ScalarOp::kMin, x, 20) : x));
  }
  ExpectAgreement(g.graph, 1e-5);
}

// Few of them, as a group of items computes on GPUs with local memory, and more.
TEST_P(GpuKernels, products_of_few_rows) {
  GraphMaker g;
  for (const int rows : {1, 3, 4, 5}) {
    for (const int columns : {4, 20, 136}) {
      g.Output(
          g.WithNumber(ScalarOp::kMax,
                       g.Add(compiler::MatMul{false, true},
                             {g.Input({rows, 70}), g.Weights({columns, 70}), g.Weights({columns})},
                             {rows, columns}),
                       -3));
      g.Output(g.Unary(
          ScalarOp::kTanh,
          g.Add(compiler::Conv2d{}, {g.Input({1, 1, rows, 300}), g.Weights({columns, 1, 1, 300})},
                {1, 1, rows, columns})));
    }
  }
  compiler::FuseEpilogues(&g.graph);
  ExpectAgreement(g.graph, 1e-6);
  EXPECT_EQ(kernels_.find("local float4 parts[256]") != std::string::npos,
            GetParam().device_class == DeviceClass::kDesktop);
}

TEST_P(GpuKernels, rows_of_softmax) {
  GraphMaker g;
  for (const Shape& shape : {Shape{3, 50}, Shape{1, 16}, Shape{7, 5}, Shape{2, 3, 1000},
                             Shape{5, 65}, Shape{1, 64}, Shape{2, 128}}) {
    for (const bool log : {false, true}) {
      g.Output(g.Add(compiler::Softmax{0.5f, log}, {g.Input(shape)}, shape));
    }
  }
  ExpectAgreement(g.graph, 1e-6);
}

TEST_P(GpuKernels, reductions_over_all_axes) {
  using compiler::ReduceKind;
  GraphMaker g;
  const Shape shape = {2, 5, 3, 37};
  for (uint32_t axes = 1; axes < 16; ++axes) {
    Shape out = shape;
    for (size_t axis = 0; axis < 4; ++axis) {
      if ((axes >> axis & 1) != 0) out[axis] = 1;
    }
    for (const auto kind :
         {ReduceKind::kSum, ReduceKind::kMean, ReduceKind::kMax, ReduceKind::kMin}) {
      g.Output(g.Add(compiler::Reduce{kind, axes}, {g.Input(shape)}, out));
    }
  }
  ExpectAgreement(g.graph, 1e-6);
}

// One picture gets its border in the same step; several, or columns of a channel each, do not.
TEST_P(GpuKernels, borders_on_every_side) {
  GraphMaker g;
  const int kSides[][4] = {{1, 2, 3, 4}, {0, 0, 2, 0}, {2, 0, 0, 0},
                           {0, 3, 0, 0}, {0, 0, 0, 3}, {1, 1, 1, 1}};
  for (const auto& side : kSides) {
    for (const Shape& shape : {Shape{1, 6, 5, 3}, Shape{2, 4, 3, 2}}) {
      g.Output(g.Padded(g.Input(shape), side[0], side[1], side[2], side[3], {-1.5, 0}));
    }
  }
  g.Output(g.Padded(g.Input({1, 30, 20, 7}, kTfLiteInt8), 1, 2, 3, 4, {0, 9}));
  ExpectAgreement(g.graph);
}

TEST_P(GpuKernels, places_in_rows_and_ranges) {
  GraphMaker g;
  g.Output(g.Transposed(g.Input({3, 40, 50}), {2, 0, 1}));
  g.Output(g.Transposed(g.Input({2, 3, 4, 5, 6}), {4, 2, 0, 3, 1}));
  g.Output(g.Padded(g.Input({2, 30, 20, 3}), 1, 2, 3, 4));
  g.Output(g.Unary(ScalarOp::kAbs, g.Input({2000}, kTfLiteInt32)));
  ExpectAgreement(g.graph);
}

INSTANTIATE_TEST_SUITE_P(
    Targets, GpuKernels,
    testing::Values(Target{DeviceClass::kCpu, 8}, Target{DeviceClass::kCpu, 16},
                    Target{DeviceClass::kDesktop, 1}, Target{DeviceClass::kDesktop, 1, false, 4096},
                    Target{DeviceClass::kCpu, 16, true}, Target{DeviceClass::kDesktop, 1, true},
                    Target{DeviceClass::kDesktop, 1, false, 4096, true},
                    Target{DeviceClass::kDesktop, 1, true, 4096, true}),
    [](const auto& given) {
      return ClassName(given.param.device_class) + std::to_string(given.param.width) +
             (given.param.nvidia      ? "_with_matrix_units"
              : given.param.units > 0 ? "_of_many_units"
                                      : "") +
             (given.param.half ? "_half" : "");
    });

// ---- Panels -------------------------------------------------------------------------------------

std::vector<double> Packed(const Graph& graph, const Packing& packing) {
  const std::vector<std::byte> bytes = Pack(graph, packing);
  std::vector<double> numbers(bytes.size() / compiler::ElementBytes(packing.type));
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = compiler::LoadElement(packing.type, bytes.data(), static_cast<int64_t>(i)).real;
  }
  return numbers;
}

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
  for (const TfLiteType type : {kTfLiteFloat32, kTfLiteFloat16}) {
    packing.type = type;
    packing.bias = bias;
    packing.panel = 2;
    EXPECT_THAT(Packed(g.graph, packing),
                testing::ElementsAre(-1, -2, 1, 3, 2, 4, -3, 0, 5, 0, 6, 0,  //
                                     -4, -5, 7, 9, 8, 10, -6, 0, 11, 0, 12, 0));
    packing.bias = compiler::kNoValue;
    packing.panel = 4;
    EXPECT_THAT(Packed(g.graph, packing),
                testing::ElementsAre(0, 0, 0, 0, 1, 3, 5, 0, 2, 4, 6, 0,  //
                                     0, 0, 0, 0, 7, 9, 11, 0, 8, 10, 12, 0));
  }
}

// For matrix units: two rows of a column lie together, and the last ones are zeros.
TEST(GpuPackingTest, chunks_of_the_depth_lie_column_by_column) {
  GraphMaker g;
  const ValueId filter = g.Constant({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  Packing packing = {.filter = filter,
                     .bias = g.Constant({3}, {-1, -2, -3}),
                     .depth = 3,
                     .columns = 3,
                     .depth_stride = 1,
                     .column_stride = 3,
                     .panel = 2,
                     .chunk = 2};
  for (const TfLiteType type : {kTfLiteFloat32, kTfLiteFloat16}) {
    packing.type = type;
    EXPECT_THAT(Packed(g.graph, packing), testing::ElementsAre(-1, -2, 1, 2, 4, 5, 3, 0, 6, 0,  //
                                                               -3, 0, 7, 8, 0, 0, 9, 0, 0, 0));
  }
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_kernels_test
