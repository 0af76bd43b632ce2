// SPDX-License-Identifier: Apache-2.0
//
// Tests plans of graphs, kernels and steps, without a device. gpu_kernels_test.cc,
// gpu_products_test.cc and gpu_windows_test.cc test the kernels' results on a device.
#include "gpu_cl/emit/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "compiler/lifetimes.h"
#include "gpu_cl/emit/kernel_builder.h"
#include "gpu_cl/emit/make_plan.h"
#include "gpu_cl/run/exec.h"
#include "tests/compiler/graph_builder.h"
#include "tests/gpu_cl/gpu_kernels_support.h"

namespace deputy::gpu_cl::gpu_plan_test {
namespace {

using compiler::Expression;
using compiler::GraphBuilder;
using compiler::ScalarOp;
using compiler::ValueId;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

Plan PlanOf(const GraphBuilder& g, const PlanOptions& options = {}) {
  EXPECT_EQ(FindFault(g.graph), "");
  return MakePlan(g.graph, compiler::FindLifetimes(g.graph).storage, options);
}

Argument Of(ValueId id) { return ValueBuffer{id}; }

// ---- Element-wise expressions -------------------------------------------------------------------

TEST(GpuPlanTest, expression_becomes_opencl_c) {
  GraphBuilder g;
  const ValueId x = g.Input({2, 3});
  Expression e;
  const int product =
      e.Apply(ScalarOp::kMul, e.Operand(0, kTfLiteFloat32), e.Constant(kTfLiteFloat32, 3));
  e.Apply(ScalarOp::kMax, e.Constant(kTfLiteFloat32, -1), product);
  const ValueId y = g.Compute(e, {x});
  g.Output(y);
  const Plan plan = PlanOf(g);
  EXPECT_THAT(plan.kernels, ElementsAre("kernel void NAME(global const float* restrict p0, "
                                        "float f0, float f1, global float* restrict p1) {\n"
                                        "  const int g0 = get_global_id(0);\n"
                                        "  const int i0 = g0;\n"
                                        "  const float t0 = (p0[i0] * f0);\n"
                                        "  const float t1 = (f1 > t0 ? f1 : t0);\n"
                                        "  p1[g0] = t1;\n"
                                        "}\n"));
  ASSERT_THAT(plan.steps, SizeIs(1));
  EXPECT_THAT(plan.steps[0].arguments, ElementsAre(Of(x), Argument(3.0f), Argument(-1.0f), Of(y)));
  EXPECT_THAT(plan.steps[0].global, ElementsAre(6, 1, 1));
  EXPECT_THAT(plan.steps[0].local, ElementsAre(0, 0, 0));
}

TEST(GpuPlanTest, ranges_are_loops_of_a_few_items) {
  GraphBuilder g;
  const ValueId x = g.Input({5000});
  const ValueId y = g.Unary(ScalarOp::kNeg, x);
  g.Output(y);
  const Plan plan = PlanOf(g, {.ranges = true, .items = 4});
  EXPECT_THAT(plan.kernels,
              ElementsAre("kernel void NAME(global const float* restrict p0, "
                          "global float* restrict p1, int s0, int n0) {\n"
                          "  const int g1 = get_global_id(1), g2 = get_global_id(2);\n"
                          "  const int first = get_global_id(0) * n0, "
                          "end = min(first + n0, s0);\n"
                          "  for (int g0 = first; g0 < end; ++g0) {\n"
                          "    const int i0 = g0;\n"
                          "    const float t0 = (-p0[i0]);\n"
                          "    p1[g0] = t0;\n"
                          "  }\n"
                          "}\n"));
  ASSERT_THAT(plan.steps, SizeIs(1));
  EXPECT_THAT(plan.steps[0].arguments, ElementsAre(Of(x), Of(y), Argument(5000), Argument(1250)));
  EXPECT_THAT(plan.steps[0].global, ElementsAre(4, 1, 1));
  EXPECT_THAT(plan.steps[0].local, ElementsAre(1, 1, 1));
  // A work item processes a range of at least 1024 elements.
  const Plan more = PlanOf(g, {.ranges = true, .items = 100});
  EXPECT_EQ(more.steps[0].arguments.back(), Argument(1024));
  EXPECT_THAT(more.steps[0].global, ElementsAre(5, 1, 1));
}

TEST(GpuPlanTest, operand_is_broadcast_by_index) {
  GraphBuilder g;
  const ValueId x = g.Input({2, 3, 4}), row = g.Input({4}), column = g.Input({3, 1});
  const ValueId one = g.Input({1, 1});
  g.Output(g.Binary(ScalarOp::kAdd, x, row));
  g.Output(g.Binary(ScalarOp::kAdd, x, column));
  g.Output(g.Binary(ScalarOp::kAdd, x, one));
  const Plan plan = PlanOf(g);
  ASSERT_THAT(plan.kernels, SizeIs(3));
  EXPECT_THAT(plan.kernels[0], HasSubstr("const int i1 = ((g0) % n0);"));
  EXPECT_THAT(plan.kernels[1], HasSubstr("const int i1 = (((g0) / n0) % n1);"));
  EXPECT_THAT(plan.kernels[2], HasSubstr("const int i1 = 0;"));
  EXPECT_THAT(plan.steps[0].arguments, testing::Contains(Argument(4)));
  EXPECT_THAT(plan.steps[1].arguments, testing::IsSupersetOf({Argument(4), Argument(3)}));
}

TEST(GpuPlanTest, half_is_stored_but_not_computed_with) {
  GraphBuilder g;
  g.Output(g.Unary(ScalarOp::kAbs, g.Input({4}, kTfLiteFloat16)));
  const Plan plan = PlanOf(g);
  ASSERT_THAT(plan.kernels, SizeIs(1));
  EXPECT_THAT(plan.kernels[0], HasSubstr("global const half* restrict p0"));
  EXPECT_THAT(plan.kernels[0], HasSubstr("const float t0 = fabs(vload_half(i0, p0));"));
  EXPECT_THAT(plan.kernels[0], HasSubstr("vstore_half(t0, g0, p1);"));
}

TEST(GpuPlanTest, literals_are_exact) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Literal(kTfLiteFloat32, {0.75, 0}), "0x1.8p-1f");
  EXPECT_EQ(Literal(kTfLiteFloat32, {-0.5, 0}), "(-0x1p-1f)");
  EXPECT_EQ(Literal(kTfLiteFloat64, {2, 0}), "0x1p+1");
  EXPECT_EQ(Literal(kTfLiteFloat32, {infinity, 0}), "INFINITY");
  EXPECT_EQ(Literal(kTfLiteFloat32, {-infinity, 0}), "-INFINITY");
  EXPECT_EQ(Literal(kTfLiteFloat32, {std::nan(""), 0}), "NAN");
  EXPECT_EQ(Literal(kTfLiteInt8, {0, -128}), "(char)(-127L - 1)");
  EXPECT_EQ(Literal(kTfLiteInt64, {0, INT64_MIN}), "(long)(-9223372036854775807L - 1)");
  EXPECT_EQ(Literal(kTfLiteInt64, {0, INT64_MAX}), "LONG_MAX");
}

TEST(GpuPlanTest, each_type_has_a_name) {
  struct Row {
    ScalarOp op;
    TfLiteType type;
    const char* text;
  };
  const Row rows[] = {
      {ScalarOp::kDiv, kTfLiteFloat32, "(p0[i0] / p1[i1])"},
      {ScalarOp::kDiv, kTfLiteInt32, "(int)(p1[i1] == 0 ? 0 : p1[i1] == -1 ? -p0[i0]"},
      {ScalarOp::kFloorDiv, kTfLiteInt16, "FLOOR_DIV(short, p0[i0], p1[i1])"},
      {ScalarOp::kFloorMod, kTfLiteFloat32, "FLOOR_MOD_REAL(p0[i0], p1[i1])"},
      {ScalarOp::kLess, kTfLiteInt64, "const uchar t0 = (uchar)(p0[i0] < p1[i1])"},
      {ScalarOp::kAnd, kTfLiteBool, "(uchar)((uchar)(p0[i0] != 0) & (uchar)(p1[i1] != 0))"},
  };
  for (const Row& row : rows) {
    GraphBuilder g;
    const ValueId a = g.Input({4}, row.type);
    g.Output(g.Binary(row.op, a, g.Input({4}, row.type)));
    EXPECT_THAT(PlanOf(g).kernels, ElementsAre(HasSubstr(row.text))) << ScalarOpName(row.op);
  }
}

TEST(GpuPlanTest, casts_to_integers_are_clamped) {
  GraphBuilder g;
  Expression e;
  e.Cast(e.Operand(0, kTfLiteFloat32), kTfLiteInt8);
  g.Output(g.Compute(e, {g.Input({4})}));
  EXPECT_THAT(
      PlanOf(g).kernels,
      ElementsAre(HasSubstr("(isnan(p0[i0]) ? (char)(128L - 1) : convert_char_sat_rtz(p0[i0]))")));
}

// ---- Kernels and steps --------------------------------------------------------------------------

// Adds a 3x3 convolution followed by a scale.
ValueId ScaledConvolution(GraphBuilder* g, ValueId image, int channels, float scale) {
  const ValueId y = g->Conv3x3(image, channels);
  Expression e;
  e.Apply(ScalarOp::kMul, e.Operand(0, kTfLiteFloat32), e.Constant(kTfLiteFloat32, scale));
  g->graph.operations.back().epilogue = e;
  return y;
}

// In a tensor with many rows, each work item processes several rows.
TEST(GpuPlanTest, rows_are_loops_of_loops) {
  GraphBuilder g;
  const ValueId x = g.Input({200, 300, 10});
  g.Output(g.Transposed(x, {1, 0, 2}));
  const Plan plan = PlanOf(g, {.ranges = true, .items = 4});
  ASSERT_THAT(plan.kernels, SizeIs(1));
  EXPECT_THAT(plan.kernels[0],
              HasSubstr("  const int end = min((int)(get_global_id(0) + 1) * n9, n10);\n"
                        "  for (int row = get_global_id(0) * n9; row < end; ++row) {\n"
                        "    const int g1 = row % s1, g2 = row / s1;\n"
                        "    for (int g0 = 0; g0 < s0; ++g0) {\n"
                        "      const int i0 = g0;\n"
                        "      const int i1 = g1;\n"));
  EXPECT_THAT(plan.kernels[0], testing::EndsWith("    }\n  }\n}\n"));
  // The 60 000 rows are distributed among sixteen work items.
  EXPECT_THAT(plan.steps[0].global, ElementsAre(16, 1, 1));
  EXPECT_EQ(plan.steps[0].arguments.back(), Argument(60000));
}

TEST(GpuPlanTest, layers_that_differ_in_numbers_share_a_kernel) {
  GraphBuilder g;
  const ValueId image = g.Input({1, 9, 8, 2});
  const ValueId first = ScaledConvolution(&g, image, 4, 0.5f);
  const ValueId second = ScaledConvolution(&g, first, 3, 0.25f);
  g.Output(second);
  for (const bool ranges : {false, true}) {
    const Plan plan = PlanOf(g, {.ranges = ranges});
    EXPECT_THAT(plan.kernels, SizeIs(1));
    ASSERT_THAT(plan.steps, SizeIs(2));
    EXPECT_EQ(plan.steps[0].kernel, 0);
    EXPECT_EQ(plan.steps[1].kernel, 0);
    EXPECT_EQ(plan.steps[1].operation, 1);
    EXPECT_THAT(plan.steps[0].global, ranges ? ElementsAre(1, 1, 1) : ElementsAre(4, 6, 7));
    EXPECT_THAT(plan.steps[1].global, ranges ? ElementsAre(1, 1, 1) : ElementsAre(3, 4, 5));
    EXPECT_THAT(plan.steps[0].arguments, testing::IsSupersetOf({Of(image), Argument(0.5f)}));
    EXPECT_THAT(plan.steps[1].arguments, testing::IsSupersetOf({Of(first), Argument(0.25f)}));
  }
}

TEST(GpuPlanTest, layers_that_differ_in_operations_do_not) {
  GraphBuilder g;
  const ValueId image = g.Input({1, 9, 8, 2});
  g.Output(g.Conv3x3(ScaledConvolution(&g, image, 4, 0.5f), 3));
  EXPECT_THAT(PlanOf(g).kernels, SizeIs(2));
}

// A row of an unpadded window is one run of elements, unless dilation separates its columns; other
// windows are read pixel by pixel.
TEST(GpuPlanTest, rows_of_unpadded_windows_are_read_as_a_whole) {
  struct {
    int width, dilation, padding;
    bool whole;
  } const rows[] = {{3, 1, 0, true}, {1, 2, 0, true}, {3, 2, 0, false}, {3, 1, 1, false}};
  for (const auto& row : rows) {
    GraphBuilder g;
    g.Output(Conv(&g, {{1, 9, 9, 3}, 8, 3, row.width, 1, row.dilation, row.padding}, false));
    const Plan plan = PlanOf(g, {.vector_width = 4});
    ASSERT_THAT(plan.kernels, SizeIs(1));
    EXPECT_THAT(plan.kernels[0], HasSubstr(row.whole ? "const int pitch" : "wx < "))
        << row.width << " " << row.dilation << " " << row.padding;
    EXPECT_THAT(plan.kernels[0], Not(HasSubstr(row.whole ? "wx < " : "const int pitch")));
  }
}

TEST(GpuPlanTest, views_have_a_step_only_between_client_buffers) {
  GraphBuilder g;
  const ValueId x = g.Input({2, 6});
  g.Output(g.Unary(ScalarOp::kNeg, g.Reshaped(g.Unary(ScalarOp::kAbs, x), {12})));
  EXPECT_THAT(PlanOf(g).steps, SizeIs(2));
  const ValueId y = g.Reshaped(x, {3, 4});
  g.Output(y);
  const Plan plan = PlanOf(g);
  ASSERT_THAT(plan.steps, SizeIs(3));
  EXPECT_THAT(plan.steps[2].arguments, ElementsAre(Of(x), Of(y)));
}

TEST(GpuPlanTest, empty_values_have_no_step) {
  GraphBuilder g;
  g.Output(g.Unary(ScalarOp::kNeg, g.Input({0, 3})));
  const Plan plan = PlanOf(g, {.ranges = true});
  EXPECT_THAT(plan.steps, SizeIs(0));
  EXPECT_THAT(plan.kernels, SizeIs(0));
}

TEST(GpuPlanTest, copies_fill_uncovered_elements_first) {
  GraphBuilder g;
  const ValueId image = g.Input({1, 4, 5, 2});
  g.Output(g.Transposed(image, {0, 2, 1, 3}));
  EXPECT_THAT(PlanOf(g).steps, SizeIs(1));
  g.graph.outputs.clear();
  g.Output(g.Padded(g.Input({2, 4, 5, 1}), 1, 0, 0, 1, {7, 7}));
  const Plan plan = PlanOf(g);
  ASSERT_THAT(plan.steps, SizeIs(3));
  EXPECT_THAT(plan.kernels[static_cast<size_t>(plan.steps[1].kernel)],
              HasSubstr("p0[g0] = 0x1.cp+2f;"));
  EXPECT_THAT(plan.steps[1].global, ElementsAre(60, 1, 1));
  const std::array<size_t, 3> region = plan.steps[2].global;
  EXPECT_EQ(region[0] * region[1] * region[2], 40u);
}

TEST(GpuPlanTest, border_of_an_image_is_written_by_its_copy) {
  GraphBuilder g;
  g.Output(g.Padded(g.Input({1, 4, 5, 2}), 1, 2, 3, 1, {7, 7}));
  const Plan plan = PlanOf(g);
  ASSERT_THAT(plan.steps, SizeIs(1));
  EXPECT_THAT(plan.steps[0].global, ElementsAre(16, 8, 1));
  EXPECT_THAT(plan.kernels[0], HasSubstr("0x1.cp+2f;"));
}

// ---- The status ---------------------------------------------------------------------------------

// Returns the values of the kernel's arguments n0, n1, …
std::vector<int> IntsOf(const Step& step) {
  std::vector<int> ints;
  for (const Argument& argument : step.arguments) {
    if (const auto* number = std::get_if<int32_t>(&argument)) ints.push_back(*number);
  }
  return ints;
}

TEST(GpuPlanTest, gather_reports_its_step_to_the_status) {
  GraphBuilder g;
  const ValueId table = g.Input({5, 4}), indices = g.Input({3}, kTfLiteInt32);
  const ValueId a = g.Add(compiler::Gather{0, 0}, {table, indices}, {3, 4});
  g.Output(a);
  g.Output(g.Add(compiler::Gather{1, 0}, {a, indices}, {3, 3}));
  const Plan plan = PlanOf(g);
  EXPECT_THAT(plan.kernels, ElementsAre(HasSubstr("global int* restrict status")));
  ASSERT_THAT(plan.steps, SizeIs(2));
  // The kernel stores its status as "*status = n" followed by one digit.
  const std::string store = "*status = n";
  const size_t number = plan.kernels[0].find(store);
  ASSERT_NE(number, std::string::npos);
  const int digit = plan.kernels[0][number + store.size()] - '0';
  for (int i = 0; i < 2; ++i) {
    const Step& step = plan.steps[static_cast<size_t>(i)];
    EXPECT_THAT(step.arguments, testing::Contains(Argument(StatusBuffer{})));
    EXPECT_EQ(IntsOf(step)[static_cast<size_t>(digit)], i + 1);
  }
  EXPECT_THAT(plan.steps[0].global, ElementsAre(4, 3, 1));
  EXPECT_THAT(plan.steps[1].global, ElementsAre(1, 9, 1));
}

// ---- The program --------------------------------------------------------------------------------

TEST(GpuPlanTest, source_has_all_kernels_by_their_names) {
  Plan plan;
  plan.prelude = "// first\n";
  plan.kernels = {"kernel void NAME() {\n}\n", "kernel void NAME(int NAMES) {\n}\n"};
  EXPECT_EQ(plan.Source(), "// first\n\nkernel void k0() {\n}\n\nkernel void k1(int NAMES) {\n}\n");
}

// Kernels for CPUs do not call vload16 and vstore16, with which PoCL takes twice as long to
// compile.
TEST(GpuPlanTest, vectors_on_cpus_avoid_driver_functions) {
  GraphBuilder g;
  const ValueId product = g.Add(compiler::MatMul{}, {g.Input({5, 8}), g.Weights({8, 37})}, {5, 37});
  g.Output(g.Add(compiler::Softmax{}, {product}, {5, 37}));
  for (const TfLiteType type : {kTfLiteFloat32, kTfLiteInt8, kTfLiteInt64}) {
    const ValueId x = g.Input({41}, type);
    g.Output(g.Binary(ScalarOp::kAdd, x, x));
  }
  const Plan plan = PlanOf(g, {.ranges = true, .vector_width = 16});
  ASSERT_THAT(plan.kernels, SizeIs(5));
  EXPECT_THAT(plan.Source(), HasSubstr("LOAD(float, 16, w + 0)"));
  EXPECT_THAT(plan.Source(), HasSubstr("STORE(char, 16, "));
  EXPECT_THAT(plan.kernels, Each(Not(HasSubstr("vload"))));
  EXPECT_THAT(plan.kernels, Each(Not(HasSubstr("vstore"))));
  EXPECT_THAT(PlanOf(g, {.vector_width = 4}).Source(), HasSubstr("vload##n"));
}

// The text must be reproducible, so that a program can be found in a cache.
TEST(GpuPlanTest, text_is_deterministic) {
  const auto make = [] {
    GraphBuilder g;
    compiler::Window window;
    window.height = window.width = 3;
    const ValueId conv = g.Add(compiler::Conv2d{window, 1},
                               {g.Input({1, 9, 9, 4}), g.Weights({24, 3, 3, 4})}, {1, 7, 7, 24});
    g.Output(g.Add(compiler::Softmax{},
                   {g.Binary(ScalarOp::kAdd, conv, g.Unary(ScalarOp::kTanh, conv))},
                   {1, 7, 7, 24}));
    return PlanOf(g, {.ranges = true, .vector_width = 8});
  };
  const Plan first = make(), second = make();
  EXPECT_EQ(first.Source(), second.Source());
  EXPECT_EQ(first, second);
  EXPECT_GE(first.kernels.size(), 3u);
}

// Without `whole_groups` the driver chooses the size of work groups, which may be slow.
TEST(GpuPlanTest, whole_groups_fill_waves_and_divide_the_items) {
  const auto local_of = [](const compiler::Shape& image, bool whole) {
    GraphBuilder g;
    compiler::Window window;
    window.height = window.width = 3;
    window.top = window.left = window.bottom = window.right = 1;
    g.Output(g.Add(compiler::DepthwiseConv2d{window, 1},
                   {g.Input(image), g.Weights({1, 3, 3, image[3]})}, image));
    const Plan plan =
        PlanOf(g, {.group_tiles = true, .units = 132, .whole_groups = whole, .vector_width = 4});
    EXPECT_EQ(plan.steps.size(), 1u);
    return plan.steps[0].local;
  };
  using Sides = std::array<size_t, 3>;
  EXPECT_EQ(local_of({128, 112, 112, 32}, false), (Sides{0, 0, 0}));
  EXPECT_EQ(local_of({128, 112, 112, 32}, true), (Sides{8, 16, 1}));
  // A size with at least eight neighbours along the first dimension, 128 adjacent bytes, is
  // preferred to one that fills its waves completely.
  EXPECT_EQ(local_of({128, 56, 56, 144}, true), (Sides{9, 14, 1}));
  // With few items, groups of one wave use the compute units best.
  EXPECT_EQ(local_of({1, 14, 14, 64}, true), (Sides{16, 2, 1}));
  // 1009 and 1013 are primes, so no side can be divided.
  EXPECT_EQ(local_of({1, 1009, 1013, 4}, true), (Sides{0, 0, 0}));
}

// Tiles of work groups require a known device with sufficient local memory.
TEST(GpuPlanTest, group_tiles_are_used_on_known_devices_with_enough_memory) {
  DeviceProfile profile;
  profile.known = true;
  profile.max_group_size = 256;
  profile.local_bytes = 32 << 10;
  EXPECT_TRUE(PlanOptionsFor(profile, DeviceClass::kDesktop).group_tiles);
  EXPECT_FALSE(PlanOptionsFor(profile, DeviceClass::kMobile).group_tiles);
  EXPECT_FALSE(PlanOptionsFor(profile, DeviceClass::kCpu).group_tiles);
  DeviceProfile other = profile;
  other.known = false;
  EXPECT_FALSE(PlanOptionsFor(other, DeviceClass::kDesktop).group_tiles);
  other = profile;
  other.max_group_size = 128;
  EXPECT_FALSE(PlanOptionsFor(other, DeviceClass::kDesktop).group_tiles);
  other = profile;
  other.local_bytes = 16 << 10;
  EXPECT_FALSE(PlanOptionsFor(other, DeviceClass::kDesktop).group_tiles);
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_plan_test
