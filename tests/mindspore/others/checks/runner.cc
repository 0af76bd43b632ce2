// SPDX-License-Identifier: Apache-2.0
//
// ModelParallelRunner as in MindSpore Lite's documents, its quick start and its benchmark.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "include/api/context.h"
#include "include/api/model.h"
#include "include/api/model_parallel_runner.h"
#include "include/errorcode.h"
#include "src/common/log_adapter.h"

namespace {

constexpr int kNumWorkers = 2, kElementsNum = 1001;
constexpr int64_t MAX_MALLOC_SIZE = 2000 * 1024 * 1024LL;

// Sets the input to (i % 7) / 7.
std::vector<float> InputValues() {
  std::vector<float> values(224 * 224 * 3);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7) / 7;
  return values;
}

std::vector<float> ValuesOf(const mindspore::MSTensor& tensor) {
  const auto* const values = static_cast<const float*>(tensor.Data().get());
  return {values, values + tensor.ElementNum()};
}

std::vector<float> Expected() {
  auto context = std::make_shared<mindspore::Context>();
  context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
  mindspore::Model model;
  EXPECT_EQ(model.Build("mobilenetv2.ms", mindspore::kMindIR_Lite, context), mindspore::kSuccess);
  const std::vector<float> values = InputValues();
  auto inputs = model.GetInputs(), outputs = model.GetOutputs();
  std::copy(values.begin(), values.end(), static_cast<float*>(inputs[0].MutableData()));
  EXPECT_EQ(model.Predict(inputs, &outputs), mindspore::kSuccess);
  return ValuesOf(outputs[0]);
}

// The four blocks of the document, with inputs between the second and the third.
int RunDocument(const std::string& model_path, std::vector<float>* result) {
#include "parallel_configure.inc"

#include "parallel_init.inc"
  auto inputs = model_runner->GetInputs();
  std::vector<mindspore::MSTensor> outputs;
  std::vector<float> values = InputValues();
  inputs[0].SetData(values.data(), false);
#include "parallel_predict.inc"
  *result = ValuesOf(outputs[0]);
#include "parallel_delete.inc"
  return 0;
}

}  // namespace

#define main QuickStartMain
#include "quick_start_parallel.inc"
#undef main

namespace mindspore {

#define MS_CHECK_FALSE_MSG(value, result, text) \
  do {                                          \
    if (value) {                                \
      std::cerr << (text) << std::endl;         \
      return result;                            \
    }                                           \
  } while (false)

namespace lite {
uint64_t GetTimeUs() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}
}  // namespace lite

namespace benchmark {
using lite::GetTimeUs;
using lite::RET_ERROR;
using lite::RET_OK;
constexpr float kFloatMSEC = 1000.0F;
constexpr int kMaxRequestNum = 200;
constexpr char kEnableSharedThreadPoolKey[] = "enable_shared_thread_pool";
constexpr char kThreadNumLimitPerWorkerKey[] = "thread_num_limit_per_worker";
constexpr char kThreadNumRemainingPerWorkerKey[] = "thread_num_remaining_per_worker";
constexpr char kSharedThreadPoolSection[] = "shared_thread_pool";

struct BenchmarkFlags {
  std::string model_file_ = "mobilenetv2.ms", config_file_, benchmark_data_file_ = "compare";
  std::string thread_num_limit_per_worker_ = "1", thread_num_remaining_per_worker_;
  std::string graph_input_shape_map_;
  bool enable_shared_thread_pool_ = true;
  int warm_up_loop_count_ = 2, parallel_num_ = 4, parallel_task_num_ = 5, workers_num_ = 3;
  std::vector<std::vector<int>> resize_dims_ = {{1, 224, 224, 3}};
};

// The members that the functions use; the double of the comparison counts equal results.
class BenchmarkUnifiedApi {
 public:
  void ModelParallelRunnerWarmUp(int index);
  void ModelParallelRunnerRun(int task_num, int parallel_idx);
  int AddConfigInfo(const std::shared_ptr<RunnerConfig>& runner_config);
  int ParallelInference(std::shared_ptr<mindspore::Context> context);

  std::shared_ptr<BenchmarkFlags> flags_ = std::make_shared<BenchmarkFlags>();
  std::atomic<int> equal_results{0};

 private:
  int LoadInput() {
    all_inputs_data_.push_back({values_.data()});
    return RET_OK;
  }
  int CompareOutputForModelPool(std::vector<MSTensor>* outputs) {
    if (ValuesOf((*outputs)[0]) != expected_) return RET_ERROR;
    ++equal_results;
    return RET_OK;
  }
  int PrintInputData() { return RET_OK; }
  int ReadCalibData() { return RET_OK; }
  std::vector<std::vector<int64_t>> ParseGraphInputShapeMap(const std::vector<MSTensor>& inputs) {
    return {inputs[0].Shape()};
  }
  template <typename T>
  std::vector<int64_t> ConverterToInt64Vector(const std::vector<T>& values) {
    return {values.begin(), values.end()};
  }

  std::vector<float> values_ = InputValues();
  const std::vector<float> expected_ = Expected();
  ModelParallelRunner model_runner_;
  std::vector<MSTensor> ms_inputs_for_api_, ms_outputs_for_api_;
  std::vector<std::vector<void*>> all_inputs_data_;
  std::vector<std::vector<MSTensor>> all_outputs_;
  std::vector<std::vector<int64_t>> resize_dims_;
  std::atomic<bool> model_parallel_runner_ret_failed_{false}, runner_run_start_{false};
};

#include "benchmark_runner_warm_up.inc"

#include "benchmark_runner_run.inc"

#include "benchmark_runner_config.inc"

#include "benchmark_runner.inc"

}  // namespace benchmark
}  // namespace mindspore

namespace python {
using mindspore::ModelParallelRunner;
using mindspore::MSKernelCallBack;
using mindspore::MSTensor;
#include "python_tensors.inc"

#include "python_runner.inc"
}  // namespace python

namespace {

TEST(RunnerCheck, python) {
  mindspore::ModelParallelRunner runner;
  ASSERT_EQ(runner.Init("mobilenetv2.ms"), mindspore::kSuccess);
  std::vector<float> values = InputValues();
  auto inputs = python::PyModelParallelRunnerGetInputs(&runner);
  ASSERT_EQ(inputs.size(), 1U);
  inputs[0]->SetData(values.data(), false);
  const auto outputs = python::PyModelParallelRunnerPredict(&runner, inputs, {});
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(ValuesOf(*outputs[0]), Expected());
  EXPECT_EQ(python::PyModelParallelRunnerGetOutputs(&runner)[0]->Shape(),
            (std::vector<int64_t>{1, 1001}));
  EXPECT_TRUE(python::PyModelParallelRunnerPredict(&runner, {}, {}).empty());
}

TEST(RunnerCheck, document) {
  std::vector<float> result;
  EXPECT_EQ(RunDocument("mobilenetv2.ms", &result), 0);
  EXPECT_EQ(result, Expected());
  EXPECT_EQ(RunDocument("missing.ms", &result), -1);
}

TEST(RunnerCheck, quick_start) {
  const char* arguments[] = {"quick_start", "mobilenetv2.ms", nullptr};
  testing::internal::CaptureStdout();
  EXPECT_EQ(QuickStart(2, arguments), 0);
  EXPECT_NE(testing::internal::GetCapturedStdout().find("tensor elements num is:1001"),
            std::string::npos);
  EXPECT_EQ(QuickStartMain(1, arguments), -1);
}

TEST(RunnerCheck, benchmark) {
  auto context = std::make_shared<mindspore::Context>();
  context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
  mindspore::benchmark::BenchmarkUnifiedApi benchmark;
  EXPECT_EQ(benchmark.ParallelInference(context), mindspore::lite::RET_OK);
  EXPECT_EQ(benchmark.equal_results, 20);
  const auto config = std::make_shared<mindspore::RunnerConfig>();
  EXPECT_EQ(benchmark.AddConfigInfo(config), mindspore::lite::RET_OK);
  const auto section = config->GetConfigInfo().at("shared_thread_pool");
  EXPECT_EQ(section.at("enable_shared_thread_pool"), "true");
  EXPECT_EQ(section.at("thread_num_limit_per_worker"), "1");
}

}  // namespace
