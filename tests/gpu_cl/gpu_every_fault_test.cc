// SPDX-License-Identifier: Apache-2.0
//
// Makes any one call of OpenCL fail, with any of several codes, in the life cycles of twelve models
// with the policy Hot: the results must be the CPU's, and no objects may leak. A fixed sample of
// 160 of these faults is tested. The environment variable DEPUTY_GPU_FAULTS selects others: "all",
// or names of models separated by commas.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "c_api/include/deputy.h"
#include "gpu_cl/device/cl_api.h"
#include "tests/gpu_cl/gpu_delegate_support.h"
#include "tests/gpu_cl/gpu_models.h"
#include "tests/gpu_cl/gpu_spy.h"
#include "tests/support/test_interpreter.h"

namespace deputy::gpu_cl::gpu_every_fault_test {
namespace {

constexpr size_t kSample = 160;

struct Fault {
  const NamedModel* model = nullptr;
  std::string function;
  int64_t index = 0;
  cl_int code = CL_SUCCESS;
};

// Fills the inputs with different values; integers are from 0 to 2.
void FillInputs(TestInterpreter* t) {
  for (int i = 0; i < TfLiteInterpreterGetInputTensorCount(t->get()); ++i) {
    const TfLiteTensor* tensor = TfLiteInterpreterGetInputTensor(t->get(), i);
    std::vector<float> reals(TfLiteTensorByteSize(tensor) / sizeof(float));
    std::vector<int32_t> wholes(reals.size());
    std::vector<int8_t> bytes(TfLiteTensorByteSize(tensor));
    for (size_t n = 0; n < reals.size(); ++n) {
      reals[n] = static_cast<float>(n * 7 % 11) / 4 - 1;
      wholes[n] = static_cast<int32_t>(n * 5 % 3);
    }
    for (size_t n = 0; n < bytes.size(); ++n) bytes[n] = static_cast<int8_t>(n * 5 % 3);
    if (TfLiteTensorType(tensor) == kTfLiteFloat32) t->Set<float>(i, reals);
    if (TfLiteTensorType(tensor) == kTfLiteInt32) t->Set<int32_t>(i, wholes);
    if (TfLiteTensorType(tensor) == kTfLiteInt8) t->Set<int8_t>(i, bytes);
  }
}

// Returns all outputs, concatenated, as real numbers.
std::vector<float> Outputs(TestInterpreter* t) {
  std::vector<float> all;
  for (int i = 0; i < TfLiteInterpreterGetOutputTensorCount(t->get()); ++i) {
    const TfLiteType type = TfLiteTensorType(TfLiteInterpreterGetOutputTensor(t->get(), i));
    const auto add = [&](const auto& values) {
      for (const auto value : values) all.push_back(static_cast<float>(value));
    };
    if (type == kTfLiteFloat32) add(t->Get<float>(i));
    if (type == kTfLiteInt32) add(t->Get<int32_t>(i));
    if (type == kTfLiteInt8) add(t->Get<int8_t>(i));
  }
  return all;
}

std::vector<float> OnTheCpu(const NamedModel& model) {
  TestInterpreter t(model.bytes);
  EXPECT_EQ(t.Allocate(), kTfLiteOk) << model.name << t.log();
  FillInputs(&t);
  EXPECT_EQ(t.Invoke(), kTfLiteOk) << model.name << t.log();
  return Outputs(&t);
}

// Runs the life cycle of a delegate and of an interpreter that uses it. Returns "" or the problem.
std::string RunLifeCycle(const std::shared_ptr<const ClApi>& api, const NamedModel& model,
                         const std::vector<float>& expected) {
  const TestDelegate gpu(api, {{"profiling", "true"}});
  if ((gpu.get() == nullptr) == gpu.error().empty()) return "an error without its text";
  TestInterpreter t(model.bytes, [](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
  });
  // If the delegate cannot be applied, the interpreter continues without it.
  if (gpu.get() != nullptr) (void)TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get());
  if (t.Allocate() != kTfLiteOk) return "tensors were not allocated: " + t.log();
  for (int run = 0; run < 2; ++run) {
    FillInputs(&t);
    if (t.Invoke() != kTfLiteOk) return "the inference failed: " + t.log();
    const std::vector<float> found = Outputs(&t);
    if (found.size() != expected.size()) return "results are missing";
    for (size_t i = 0; i < found.size(); ++i) {
      if (!(std::fabs(found[i] - expected[i]) <= 1e-5f)) return "the results are wrong";
    }
  }
  return "";
}

class GpuEveryFaultTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!NoDeviceReason().empty()) GTEST_SKIP() << NoDeviceReason();
    spy_ = std::make_unique<ClSpy>(*RealCl().api);
    for (const NamedModel& model : models_) expected_[&model] = OnTheCpu(model);
  }

  static int64_t CallsOf(const std::map<std::string, int64_t>& calls, const std::string& function) {
    const auto found = calls.find(function);
    return found == calls.end() ? 0 : found->second;
  }

  // Returns every call of a life cycle without faults, combined with every code. Release functions
  // are excluded; see gpu_faults_test.cc.
  std::vector<Fault> AllFaults(const NamedModel& model) {
    const std::map<std::string, int64_t> before = spy_->calls();
    EXPECT_EQ(RunLifeCycle(spy_->api(), model, expected_[&model]), "") << model.name;
    EXPECT_GT(spy_->calls()["EnqueueNDRangeKernel"], CallsOf(before, "EnqueueNDRangeKernel"))
        << model.name << " is left to the CPU";
    std::vector<Fault> faults;
    for (const auto& [function, count] : spy_->calls()) {
      if (function.starts_with("Release")) continue;
      const int64_t calls = count - CallsOf(before, function);
      for (int64_t index = 0; index < calls; ++index) {
        for (const cl_int code : kFaultCodes) faults.push_back({&model, function, index, code});
      }
    }
    return faults;
  }

  void Try(const Fault& fault) {
    spy_->Fail(fault.function, fault.index, fault.code);
    const std::string problem = RunLifeCycle(spy_->api(), *fault.model, expected_[fault.model]);
    const bool failed = spy_->failed();
    spy_->Fail("", -1, CL_SUCCESS);
    const std::string where = std::string(fault.model->name) + ": cl" + fault.function + ", call " +
                              std::to_string(fault.index) + ", " + ClErrorName(fault.code);
    EXPECT_TRUE(failed) << where;
    EXPECT_EQ(problem, "") << where;
    EXPECT_EQ(spy_->Unbalanced(), "") << where;
  }

  std::unique_ptr<ClSpy> spy_;
  const std::vector<NamedModel> models_ = TwelveModels();
  std::map<const NamedModel*, std::vector<float>> expected_;
};

TEST_F(GpuEveryFaultTest, results_equal_the_cpus_and_nothing_leaks) {
  const char* wanted = std::getenv("DEPUTY_GPU_FAULTS");
  const std::string names = wanted == nullptr ? "" : "," + std::string(wanted) + ",";
  std::vector<Fault> faults;
  for (const NamedModel& model : models_) {
    const bool chosen = names.empty() || names == ",all," ||
                        names.find("," + std::string(model.name) + ",") != std::string::npos;
    if (!chosen) continue;
    const std::vector<Fault> more = AllFaults(model);
    faults.insert(faults.end(), more.begin(), more.end());
  }
  const size_t all = faults.size();
  if (names.empty()) {
    std::mt19937 random(20261);  // NOLINT(cert-msc51-cpp): must be reproducible
    std::shuffle(faults.begin(), faults.end(), random);
    faults.resize(std::min(kSample, all));
  }
  for (const Fault& fault : faults) {
    Try(fault);
    if (HasFailure()) break;  // later failures may follow from this one
  }
  std::printf("%zu of %zu faults\n", faults.size(), all);
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_every_fault_test
