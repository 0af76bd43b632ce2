// SPDX-License-Identifier: Apache-2.0
//
// Makes each call of most OpenCL functions in a delegate's life cycle fail once, with one or
// more codes and the policy Hot: the results must be the CPU's, and no objects may leak. After the
// loss of a device the next life cycle must use a new context.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "c_api/include/deputy.h"
#include "gpu_cl/delegate.h"
#include "gpu_cl/device/cl_api.h"
#include "tests/gpu_cl/gpu_delegate_support.h"
#include "tests/gpu_cl/gpu_spy.h"
#include "tests/support/test_interpreter.h"

namespace deputy::gpu_cl::gpu_faults_test {
namespace {

using testing::HasSubstr;

// The result of a life cycle: "" or the problem.
struct LifeCycle {
  std::string problem;
  std::string log;
  bool had_delegate = false;
};

void RunInterpreter(TfLiteDelegate* gpu, const std::vector<uint8_t>& model, LifeCycle* life) {
  static const std::vector<float> expected = [&] {
    TestInterpreter t(model);
    EXPECT_EQ(t.Allocate(), kTfLiteOk);
    SetImage(&t);
    EXPECT_EQ(t.Invoke(), kTfLiteOk);
    return t.Get<float>(0);
  }();
  TestInterpreter t(model, [](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
  });
  // If the delegate cannot be applied, the interpreter continues without it.
  if (gpu != nullptr) (void)TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu);
  const bool allocated = t.Allocate() == kTfLiteOk;
  if (!allocated) life->problem = "tensors were not allocated";
  for (int run = 0; run < 2 && allocated; ++run) {
    SetImage(&t);
    if (t.Invoke() != kTfLiteOk) {
      life->problem = "the inference failed";
      break;
    }
    const std::vector<float> found = t.Get<float>(0);
    for (size_t i = 0; i < found.size(); ++i) {
      if (std::fabs(found[i] - expected[i]) > 1e-6f) life->problem = "the results are wrong";
    }
  }
  life->log = t.log();
}

LifeCycle RunLifeCycle(const std::shared_ptr<const ClApi>& api, const std::vector<uint8_t>& model) {
  LifeCycle life;
  // The device class is fixed, so that the kernels are the same on every device.
  const TestDelegate gpu(api, {{"device_class", "cpu"}});
  life.had_delegate = gpu.get() != nullptr;
  if (life.had_delegate == !gpu.error().empty()) life.problem = "an error without its text";
  if (gpu.get() == nullptr) life.log = gpu.error();
  RunInterpreter(gpu.get(), model, &life);
  return life;
}

class GpuFaultsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!NoDeviceReason().empty()) GTEST_SKIP() << NoDeviceReason();
    spy_ = std::make_unique<ClSpy>(*RealCl().api);
  }

  // Runs a life cycle in which the call fails. Returns true if the call was made.
  bool RunLifeCycleWithFault(const std::string& function, int64_t index, cl_int code) {
    const std::string where =
        "cl" + function + ", call " + std::to_string(index) + ", " + ClErrorName(code);
    const std::map<std::string, int64_t> before = ObjectsOfLifeCycles();
    spy_->Fail(function, index, code);
    const LifeCycle life = RunLifeCycle(spy_->api(), model_);
    const bool failed = spy_->failed();
    spy_->Fail("", -1, CL_SUCCESS);
    EXPECT_EQ(life.problem, "") << where << "\n" << life.log;
    EXPECT_EQ(ObjectsOfLifeCycles(), before) << where;
    return failed;
  }
  // Returns the number of OpenCL objects by kind, except programs, because a context keeps them,
  // including those of fallback kernels.
  std::map<std::string, int64_t> ObjectsOfLifeCycles() const {
    std::map<std::string, int64_t> objects = spy_->objects();
    std::erase_if(objects,
                  [](const auto& entry) { return entry.first == "Program" || entry.second == 0; });
    return objects;
  }
  // Runs life cycles in which each call of the function fails, one by one, with each of the first
  // codes.
  void FailEveryCall(const std::string& function, size_t codes) {
    for (size_t i = 0; i < codes; ++i) {
      int64_t index = 0;
      while (RunLifeCycleWithFault(function, index, kFaultCodes[i])) ASSERT_LT(++index, 1000);
      EXPECT_GT(index, 0) << function << " is never called";
    }
  }
  // Returns a delegate that keeps a context with the programs of the model alive.
  std::unique_ptr<TestDelegate> Keeper() {
    auto keeper = std::make_unique<TestDelegate>(spy_->api());
    EXPECT_EQ(RunLifeCycle(spy_->api(), model_).problem, "");
    return keeper;
  }

  std::unique_ptr<ClSpy> spy_;
  const std::vector<uint8_t> model_ = ImageModel();
};

// Number of kernels in two inferences: a border around the image, and one per operator except the
// RESHAPE.
constexpr int kStepsPerLifeCycle = 2 * 6;

TEST_F(GpuFaultsTest, life_cycle_without_a_fault_uses_the_delegate) {
  const LifeCycle life = RunLifeCycle(spy_->api(), model_);
  EXPECT_EQ(life.problem, "") << life.log;
  EXPECT_TRUE(life.had_delegate);
  EXPECT_EQ(spy_->calls()["EnqueueNDRangeKernel"], kStepsPerLifeCycle);
  EXPECT_EQ(spy_->Unbalanced(), "");
}

TEST_F(GpuFaultsTest, failing_calls_before_the_first_run) {
  for (const char* function : {"GetPlatformIDs", "GetDeviceIDs", "CreateContext",
                               "CreateProgramWithSource", "BuildProgram"}) {
    FailEveryCall(function, std::size(kFaultCodes));
  }
  for (const char* function : {"GetPlatformInfo", "GetDeviceInfo", "GetKernelWorkGroupInfo"}) {
    FailEveryCall(function, 1);
  }
  EXPECT_EQ(spy_->Unbalanced(), "");
}

// One context and its programs are used by all life cycles, unless a fault means that the device is
// lost.
TEST_F(GpuFaultsTest, failing_calls_of_preparation_and_run) {
  std::unique_ptr<TestDelegate> keeper;
  for (const char* function :
       {"CreateCommandQueue", "CreateBuffer", "CreateSubBuffer", "CreateKernel",
        "EnqueueWriteBuffer", "EnqueueNDRangeKernel", "EnqueueReadBuffer", "Finish"}) {
    keeper = Keeper();
    FailEveryCall(function, std::size(kFaultCodes));
  }
  keeper = Keeper();
  FailEveryCall("SetKernelArg", 2);
  keeper.reset();
  EXPECT_EQ(spy_->Unbalanced(), "");
}

// The table whose release functions the test wraps: they do their work and return an error.
const ClApi* releasing;
template <auto kRelease, typename Handle>
cl_int ReleaseWithError(Handle handle) {
  EXPECT_EQ((releasing->*kRelease)(handle), CL_SUCCESS);
  return CL_OUT_OF_RESOURCES;
}

TEST_F(GpuFaultsTest, failing_releases_change_nothing) {
  releasing = spy_->api().get();
  auto api = std::make_shared<ClApi>(*releasing);
  api->ReleaseKernel = &ReleaseWithError<&ClApi::ReleaseKernel, cl_kernel>;
  api->ReleaseMemObject = &ReleaseWithError<&ClApi::ReleaseMemObject, cl_mem>;
  api->ReleaseCommandQueue = &ReleaseWithError<&ClApi::ReleaseCommandQueue, cl_command_queue>;
  api->ReleaseProgram = &ReleaseWithError<&ClApi::ReleaseProgram, cl_program>;
  api->ReleaseContext = &ReleaseWithError<&ClApi::ReleaseContext, cl_context>;
  const LifeCycle life = RunLifeCycle(api, model_);
  EXPECT_EQ(life.problem, "") << life.log;
  EXPECT_EQ(spy_->calls()["ReleaseContext"], 1);
  EXPECT_EQ(spy_->Unbalanced(), "");
}

cl_int CL_API_CALL BuildNothing(cl_program, cl_uint, const cl_device_id*, const char*,
                                void(CL_CALLBACK*)(cl_program, void*), void*) {
  return CL_BUILD_PROGRAM_FAILURE;
}

// A fault of the compiler for which no fallback exists (gpu_fallback_kernels_test.cc tests
// fallbacks).
TEST_F(GpuFaultsTest, program_that_does_not_compile_is_reported) {
  auto api = std::make_shared<ClApi>(*spy_->api());
  api->BuildProgram = &BuildNothing;
  const LifeCycle life = RunLifeCycle(api, model_);
  EXPECT_EQ(life.problem, "");
  EXPECT_THAT(life.log, HasSubstr("does not compile"));
  EXPECT_EQ(spy_->Unbalanced(), "");
}

// A failed inference must wait for commands in flight, which could otherwise still write to the
// client's memory.
TEST_F(GpuFaultsTest, failed_inference_waits_for_enqueued_commands) {
  for (const char* function :
       {"EnqueueWriteBuffer", "EnqueueNDRangeKernel", "EnqueueReadBuffer", "Finish"}) {
    const TestDelegate gpu(spy_->api());
    TestInterpreter t(model_);
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    SetImage(&t);
    const int64_t before = spy_->calls()["Finish"];
    spy_->Fail(function, 0, CL_OUT_OF_RESOURCES);
    EXPECT_EQ(t.Invoke(), kTfLiteError);
    EXPECT_THAT(t.log(), HasSubstr("cl" + std::string(function) + ": CL_OUT_OF_RESOURCES (-5)"));
    EXPECT_EQ(spy_->calls()["Finish"] - before, std::string(function) == "Finish" ? 2 : 1);
    EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  }
}

// ---- Loss of the device -------------------------------------------------------------------------

TEST_F(GpuFaultsTest, next_delegate_has_a_new_context_after_a_lost_device) {
  for (const char* function :
       {"CreateCommandQueue", "CreateBuffer", "CreateSubBuffer", "CreateKernel", "SetKernelArg",
        "EnqueueWriteBuffer", "EnqueueNDRangeKernel", "EnqueueReadBuffer", "Finish"}) {
    for (const cl_int code : {CL_OUT_OF_RESOURCES, CL_INVALID_COMMAND_QUEUE}) {
      const std::unique_ptr<TestDelegate> keeper = Keeper();
      EXPECT_TRUE(RunLifeCycleWithFault(function, 0, code)) << function;
      const int64_t contexts = spy_->calls()["CreateContext"];
      const int64_t steps = spy_->calls()["EnqueueNDRangeKernel"];
      const LifeCycle next = RunLifeCycle(spy_->api(), model_);
      EXPECT_EQ(next.problem, "") << next.log;
      EXPECT_EQ(spy_->calls()["CreateContext"] - contexts, code == CL_OUT_OF_RESOURCES ? 0 : 1)
          << function;
      EXPECT_EQ(spy_->calls()["EnqueueNDRangeKernel"] - steps, kStepsPerLifeCycle) << function;
    }
  }
  EXPECT_EQ(spy_->Unbalanced(), "");
}

TEST_F(GpuFaultsTest, lost_device_stays_lost_for_its_delegate) {
  const TestDelegate gpu(spy_->api());
  TestInterpreter t(model_);
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  SetImage(&t);
  spy_->Fail("Finish", 0, CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("clFinish: CL_INVALID_COMMAND_QUEUE (-36)"));
  t.ClearLog();
  const int64_t steps = spy_->calls()["EnqueueNDRangeKernel"];
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("the device was lost"));
  TestInterpreter other(model_);
  EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(other.get(), gpu.get()), kTfLiteDelegateError);
  EXPECT_THAT(other.log(), HasSubstr("the device was lost"));
  EXPECT_EQ(spy_->calls()["EnqueueNDRangeKernel"], steps);
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_faults_test
