// SPDX-License-Identifier: Apache-2.0
//
// Creates OpenCL delegates that call OpenCL through a spy, for tests.
#ifndef DEPUTY_TESTS_GPU_CL_GPU_DELEGATE_SUPPORT_H_
#define DEPUTY_TESTS_GPU_CL_GPU_DELEGATE_SUPPORT_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "c_api/include/common.h"
#include "c_api/include/deputy.h"
#include "compiler/graph.h"
#include "gpu_cl/device/cl_api.h"
#include "gpu_cl/device/device.h"
#include "gpu_cl/run/exec.h"
#include "tests/gpu_cl/gpu_models.h"
#include "tests/gpu_cl/gpu_spy.h"
#include "tests/support/test_interpreter.h"

namespace deputy::gpu_cl {

// Codes with which a spied call fails. The last three mean that the device is lost.
inline constexpr cl_int kFaultCodes[] = {CL_OUT_OF_RESOURCES,
                                         CL_OUT_OF_HOST_MEMORY,
                                         CL_MEM_OBJECT_ALLOCATION_FAILURE,
                                         CL_INVALID_VALUE,
                                         CL_INVALID_OPERATION,
                                         CL_INVALID_COMMAND_QUEUE,
                                         CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
                                         -9999};

using OptionTexts = std::vector<std::pair<const char*, const char*>>;

// A test on a real device with a spy. It is skipped if there is no device, and fails if OpenCL
// objects are not released at its end.
class SpiedDeviceTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
  // Creates a separate context with the delegates' default device, through the spy.
  std::shared_ptr<SharedContext> NewContext() const;
  // Returns the number of calls of a function so far.
  int64_t Calls(const std::string& function) const { return spy_->calls()[function]; }

  std::unique_ptr<ClSpy> spy_;
};

// An OpenCL delegate. Declare it before the interpreters that use it.
class TestDelegate {
 public:
  explicit TestDelegate(std::shared_ptr<const ClApi> api, const OptionTexts& options = {});
  ~TestDelegate();
  TestDelegate(const TestDelegate&) = delete;
  TestDelegate& operator=(const TestDelegate&) = delete;

  // Returns the delegate; null if creation failed, with the reason in `error`.
  TfLiteDelegate* get() const { return delegate_; }
  const std::string& error() const { return error_; }

 private:
  std::string error_;
  TfLiteDelegate* delegate_ = nullptr;
};

// Run a graph once on inputs that are multiples of 1/4 and return the first output; NaNs if the run
// fails. RunGraph returns no elements if the executor cannot be created.
std::vector<float> RunOnNumbers(Executor* executor, ClStatus* out_status);
std::vector<float> RunGraph(const std::shared_ptr<SharedContext>& context,
                            const compiler::Graph& graph, const ExecutorOptions& options,
                            ClStatus* out_status);

// Returns the interpreter's description of the first applied delegate.
DeputyDelegateInfo FirstDelegate(const TestInterpreter& t);

// Sets the inputs of ImageModel.
void SetImage(TestInterpreter* t, const std::vector<int32_t>& indices = {3, 0, 2});
// Returns the CPU's result of ImageModel for the inputs of SetImage.
std::vector<float> ImageResultOnCpu();

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_TESTS_GPU_CL_GPU_DELEGATE_SUPPORT_H_
