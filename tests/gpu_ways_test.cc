// SPDX-License-Identifier: Apache-2.0
//
// Where a device does not build or run a kernel, the next way to compute the operation is tried
// before its partition is given up. Faults are those of a table of OpenCL: calls that fail, and a
// compiler that does not know a word.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "compiler/lifetimes.h"
#include "gpu_cl/make_plan.h"
#include "tests/compiler_graph_maker.h"
#include "tests/gpu_delegate_support.h"

namespace deputy::gpu_cl::gpu_ways_test {
namespace {

using compiler::Graph;
using compiler::GraphMaker;
using compiler::ValueId;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Not;
using testing::Pointwise;

// A product, and then windows of one channel: each has a kernel of vectors and a plain one.
Graph TwoSteps() {
  GraphMaker g;
  compiler::Window window;
  window.height = window.width = 3;
  window.top = window.left = window.bottom = window.right = 1;
  const ValueId middle =
      g.Add(compiler::Conv2d{}, {g.Input({1, 5, 6, 8}), g.Weights({12, 1, 1, 8}), g.Weights({12})},
            {1, 5, 6, 12});
  g.Output(g.Add(compiler::DepthwiseConv2d{window, 1},
                 {middle, g.Weights({1, 3, 3, 12}), g.Weights({12})}, {1, 5, 6, 12}));
  return g.graph;
}

constexpr const char* kTile = "sum0_0";     // a word of products in tiles alone
constexpr const char* kRows = "filter0 =";  // of rows of windows

// ---- Plans --------------------------------------------------------------------------------------

TEST(WaysPlanTest, refused_kernel_gives_way_to_the_next_one) {
  const Graph graph = TwoSteps();
  const auto storage = compiler::FindLifetimes(graph).storage;
  PlanOptions options;
  options.vector_width = 4;
  options.storage = Storage::kImage2d;
  options.images = {1 << 20, 8192, 8192, 2048, 2048, 2048, 2048};
  std::vector<Plan> plans;
  for (int way = 0; way < 4; ++way) {
    plans.push_back(MakePlan(graph, storage, options));
    ASSERT_EQ(plans.back().steps.size(), 2u);
    ASSERT_EQ(plans.back().kernels.size(), 2u);
    options.refused.insert(plans.back().TextOf(plans.back().steps[0]));
  }
  EXPECT_THAT(plans[0].kernels[0], HasSubstr("read_only image2d_t packed"));
  EXPECT_THAT(plans[1].kernels[0], HasSubstr("global const float* restrict packed"));
  EXPECT_THAT(plans[1].kernels[0], HasSubstr(kTile));
  EXPECT_THAT(plans[2].kernels[0], Not(HasSubstr(kTile)));
  EXPECT_TRUE(plans[2].packings.empty());
  // There is no other one after that; and what was not refused stays.
  EXPECT_EQ(plans[3], plans[2]);
  for (const Plan& plan : plans) EXPECT_EQ(plan.kernels[1], plans[0].kernels[1]);
}

// Where groups of items that share local memory do not run, each item computes for itself.
TEST(WaysPlanTest, refused_group_tiles_give_way_to_tiles_of_items) {
  const Graph graph = TwoSteps();
  const auto storage = compiler::FindLifetimes(graph).storage;
  PlanOptions options;
  options.vector_width = 4;
  const Plan by_items = MakePlan(graph, storage, options);
  options.group_tiles = true;
  const Plan by_groups = MakePlan(graph, storage, options);
  EXPECT_THAT(by_groups.kernels[0], HasSubstr("reqd_work_group_size(8, 8, 1)"));
  EXPECT_EQ(by_groups.steps[0].local, (std::array<size_t, 3>{8, 8, 1}));
  options.refused.insert(by_groups.TextOf(by_groups.steps[0]));
  EXPECT_EQ(MakePlan(graph, storage, options), by_items);
}

// ---- On a device --------------------------------------------------------------------------------

std::string forbidden;
decltype(&clCreateProgramWithSource) create_program = nullptr;

// A compiler that stumbles over the forbidden word.
cl_program CL_API_CALL CreateProgramThatStumbles(cl_context context, cl_uint, const char** sources,
                                                 const size_t*, cl_int* code) {
  std::string text = sources[0];
  for (size_t at = text.find(forbidden); at != std::string::npos;
       at = text.find(forbidden, at + 1 + forbidden.size())) {
    text.insert(at, "@");
  }
  const char* stumbling = text.c_str();
  return create_program(context, 1, &stumbling, nullptr, code);
}

class GpuWaysTest : public SpiedDeviceTest {
 protected:
  // A table whose compiler does not know `word`.
  std::shared_ptr<const ClApi> Without(const char* word) {
    forbidden = word;
    create_program = spy_->api()->CreateProgramWithSource;
    ClApi api = *spy_->api();
    api.CreateProgramWithSource = &CreateProgramThatStumbles;
    return std::make_shared<const ClApi>(api);
  }
  std::shared_ptr<SharedContext> ContextOf(const std::shared_ptr<const ClApi>& api) {
    ClStatus status;
    return SharedContext::Create(api, NewContext()->device(), &status);
  }
  static ExecutorOptions Options() {
    ExecutorOptions options;
    options.device_class = DeviceClass::kMobile;
    options.optimize = false;
    return options;
  }
  std::vector<float> Expected(const Graph& graph) {
    ClStatus status;
    std::vector<float> found = RunGraph(NewContext(), graph, Options(), &status);
    EXPECT_TRUE(status.ok()) << status.text;
    return found;
  }
};

TEST_F(GpuWaysTest, kernel_that_does_not_compile_is_replaced_and_not_tried_again) {
  const Graph graph = TwoSteps();
  const std::vector<float> expected = Expected(graph);
  const auto context = ContextOf(Without(kTile));
  int64_t before = Calls("BuildProgram");
  ClStatus status;
  const auto executor = Executor::Create(context, graph, Options(), &status);
  ASSERT_NE(executor, nullptr) << status.text;
  EXPECT_EQ(Calls("BuildProgram") - before, 2);
  EXPECT_THAT(executor->plan().Source(), Not(HasSubstr(kTile)));
  EXPECT_THAT(executor->plan().Source(), HasSubstr(kRows));  // the other kernel is not to blame
  EXPECT_EQ(RunOnNumbers(executor.get(), &status), expected);
  EXPECT_TRUE(status.ok()) << status.text;
  before = Calls("BuildProgram");
  context->ForgetPrograms();
  EXPECT_EQ(RunGraph(context, graph, Options(), &status), expected);
  EXPECT_LE(Calls("BuildProgram") - before, 1);
}

TEST_F(GpuWaysTest, images_that_do_not_compile_are_buffers) {
  const Graph graph = TwoSteps();
  const std::vector<float> expected = Expected(graph);
  const auto context = ContextOf(Without("read_imagef"));
  ExecutorOptions options = Options();
  options.storage = Storage::kImageBuffer;
  ClStatus status;
  const auto executor = Executor::Create(context, graph, options, &status);
  ASSERT_NE(executor, nullptr) << status.text;
  EXPECT_THAT(executor->plan().Source(), HasSubstr(kTile));
  EXPECT_EQ(RunOnNumbers(executor.get(), &status), expected);
}

// A failure without a log that names a kernel: then all are to blame.
TEST_F(GpuWaysTest, failure_that_says_nothing_leads_to_plain_kernels) {
  const Graph graph = TwoSteps();
  const std::vector<float> expected = Expected(graph);
  for (const cl_int code : {CL_BUILD_PROGRAM_FAILURE, CL_OUT_OF_RESOURCES, CL_INVALID_BINARY}) {
    const auto context = NewContext();
    spy_->Fail("BuildProgram", 0, code);
    ClStatus status;
    const auto executor = Executor::Create(context, graph, Options(), &status);
    ASSERT_NE(executor, nullptr) << status.text;
    EXPECT_THAT(executor->plan().Source(), Not(HasSubstr(kTile)));
    EXPECT_THAT(executor->plan().Source(), Not(HasSubstr(kRows)));
    EXPECT_EQ(RunOnNumbers(executor.get(), &status), expected);
    // Memory that was short once may be there the next time.
    const auto later = Executor::Create(context, graph, Options(), &status);
    ASSERT_NE(later, nullptr) << status.text;
    EXPECT_EQ(later->plan().Source().find(kTile) != std::string::npos, code == CL_OUT_OF_RESOURCES);
  }
}

TEST_F(GpuWaysTest, compiler_that_knows_nothing_is_given_up_soon) {
  const auto context = ContextOf(Without("kernel void"));
  const int64_t before = Calls("BuildProgram");
  ClStatus status;
  EXPECT_EQ(Executor::Create(context, TwoSteps(), Options(), &status), nullptr);
  EXPECT_EQ(status.code, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_THAT(status.text, HasSubstr("does not compile"));
  EXPECT_LE(Calls("BuildProgram") - before, 6);
}

TEST_F(GpuWaysTest, kernel_that_does_not_run_at_first_is_replaced) {
  const Graph graph = TwoSteps();
  const std::vector<float> expected = Expected(graph);
  for (const cl_int code :
       {CL_OUT_OF_RESOURCES, CL_INVALID_PROGRAM_EXECUTABLE, CL_INVALID_KERNEL_ARGS}) {
    for (const int64_t step : {0, 1}) {
      ClStatus status;
      const auto executor = Executor::Create(NewContext(), graph, Options(), &status);
      ASSERT_NE(executor, nullptr) << status.text;
      // Whoever has the output's buffer already finds the output there.
      const auto buffer = executor->OutputBuffer(0, &status);
      ASSERT_NE(buffer, nullptr) << status.text;
      spy_->Fail("EnqueueNDRangeKernel", step, code);
      RunOnNumbers(executor.get(), &status);
      EXPECT_EQ(status.code, code);
      ASSERT_TRUE(executor->RetryWithFallbackKernels(&status)) << status.text;
      EXPECT_THAT(executor->plan().Source(), Not(HasSubstr(step == 0 ? kTile : kRows)));
      EXPECT_THAT(executor->plan().Source(), HasSubstr(step == 0 ? kRows : kTile));
      EXPECT_EQ(RunOnNumbers(executor.get(), &status), expected);
      EXPECT_TRUE(status.ok()) << status.text;
      EXPECT_EQ(executor->OutputBuffer(0, &status)->memory.get(), buffer->memory.get());
      // It has run: what fails now is no matter of the kernel.
      spy_->Fail("EnqueueNDRangeKernel", 1 - step, code);
      RunOnNumbers(executor.get(), &status);
      EXPECT_EQ(status.code, code);
      EXPECT_FALSE(executor->RetryWithFallbackKernels(&status));
      spy_->Fail("", -1, CL_SUCCESS);
    }
  }
}

TEST_F(GpuWaysTest, device_that_is_lost_has_no_next_way) {
  ClStatus status;
  const auto context = NewContext();
  const auto executor = Executor::Create(context, TwoSteps(), Options(), &status);
  ASSERT_NE(executor, nullptr) << status.text;
  spy_->Fail("EnqueueNDRangeKernel", 0, CL_INVALID_COMMAND_QUEUE);
  RunOnNumbers(executor.get(), &status);
  EXPECT_FALSE(executor->RetryWithFallbackKernels(&status));
  EXPECT_TRUE(context->lost());
  EXPECT_TRUE(context->RefusedKernels().empty());
}

// CLBlast's status is one that the delegate survives, too.
TEST_F(GpuWaysTest, clblast_that_fails_is_replaced) {
  const ClblastApi failing = {[](int, int, int, size_t, size_t, size_t, float, cl_mem, size_t,
                                 size_t, cl_mem, size_t, size_t, float, cl_mem, size_t, size_t,
                                 cl_command_queue*, cl_event*) { return -2039; }};
  GraphMaker g;
  g.Output(g.Add(compiler::MatMul{}, {g.Input({512, 512}), g.Weights({512, 512})}, {512, 512}));
  const std::vector<float> expected = Expected(g.graph);
  ExecutorOptions options = Options();
  options.clblast = std::make_shared<const ClblastApi>(failing);
  options.choices = {{0, {.clblast = true}}};
  ClStatus status;
  const auto executor = Executor::Create(NewContext(), g.graph, options, &status);
  ASSERT_NE(executor, nullptr) << status.text;
  RunOnNumbers(executor.get(), &status);
  EXPECT_FALSE(status.ok());
  ASSERT_TRUE(executor->RetryWithFallbackKernels(&status)) << status.text;
  EXPECT_EQ(RunOnNumbers(executor.get(), &status), expected);
}

// ---- The delegate -------------------------------------------------------------------------------

TEST_F(GpuWaysTest, delegate_computes_all_the_same) {
  TestInterpreter cpu(PictureModel());
  ASSERT_EQ(cpu.Allocate(), kTfLiteOk);
  SetPicture(&cpu);
  ASSERT_EQ(cpu.Invoke(), kTfLiteOk);
  // The first step of the model is a convolution.
  for (const char* function : {"BuildProgram", "EnqueueNDRangeKernel"}) {
    const TestDelegate gpu(spy_->api(), {{"device_class", "desktop"}, {"optimize", "false"}});
    ASSERT_NE(gpu.get(), nullptr) << gpu.error();
    spy_->Fail(function, 0, CL_BUILD_PROGRAM_FAILURE);
    TestInterpreter t(PictureModel());
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_EQ(FirstDelegate(t).node_count, 6);
    SetPicture(&t);
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_TRUE(spy_->failed());
    EXPECT_THAT(t.Get<float>(0), Pointwise(FloatNear(1e-6f), cpu.Get<float>(0)));
  }
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_ways_test
