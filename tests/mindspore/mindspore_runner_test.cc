// SPDX-License-Identifier: Apache-2.0
//
// Tests ModelParallelRunner: results of several workers under load, shared constants, the queue,
// resizing, outputs, delegates, and failures.
#include <malloc.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mindspore/include/api/model_parallel_runner.h"
#include "mindspore/model_parallel_runner.h"
#include "tests/mindspore/mindspore_support.h"
#include "tests/mindspore/ms/ms_writer.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define DEPUTY_RUNNER_TEST_SANITIZED 1
#else
#define DEPUTY_RUNNER_TEST_SANITIZED 0
#endif

namespace deputy::mindspore_runner_test {
namespace {

using mindspore::DataType;
using mindspore::ModelParallelRunner;
using mindspore::RunnerConfig;
using mindspore::Status;
using testing::HasSubstr;

constexpr int kWorkers = 8;

std::shared_ptr<RunnerConfig> ConfigOf(int workers,
                                       const std::shared_ptr<mindspore::Context>& context) {
  auto config = std::make_shared<RunnerConfig>();
  config->SetWorkersNum(workers);
  config->SetContext(context);
  return config;
}

Status Init(ModelParallelRunner* runner, const std::vector<uint8_t>& bytes, int workers,
            const std::shared_ptr<mindspore::Context>& context = CpuContext()) {
  return runner->Init(bytes.data(), bytes.size(), ConfigOf(workers, context));
}

MSTensor TensorOf(const std::vector<int64_t>& shape, const std::vector<float>& values) {
  return {"x", DataType::kNumberTypeFloat32, shape, values.data(), values.size() * sizeof(float)};
}

std::vector<float> ValuesOf(const MSTensor& tensor) {
  const auto* values = static_cast<const float*>(tensor.Data().get());
  return values == nullptr ? std::vector<float>()
                           : std::vector<float>(values, values + tensor.ElementNum());
}

// Runs a request for one input; returns an empty vector if it fails.
std::vector<float> Infer(ModelParallelRunner* runner, const std::vector<int64_t>& shape,
                         const std::vector<float>& x) {
  std::vector<MSTensor> outputs;
  const Status status = runner->Predict({TensorOf(shape, x)}, &outputs);
  return status == mindspore::kSuccess ? ValuesOf(outputs[0]) : std::vector<float>();
}

// Two FULLY_CONNECTED layers of `width` columns, each followed by TANH.
std::vector<uint8_t> DenseModel(int width) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> values(-0.2F, 0.2F);
  ModelBuilder m;
  int last = m.AddTensor(kTfLiteFloat32, {1, width}, "x");
  m.SetInputs({last});
  for (const char* name : {"a", "b"}) {
    std::vector<float> weights(static_cast<size_t>(width) * static_cast<size_t>(width));
    for (float& weight : weights) weight = values(random);
    const int w = m.AddConstant<float>(kTfLiteFloat32, {width, width}, weights);
    const int product = m.AddTensor(kTfLiteFloat32, {1, width}, name);
    m.AddOp(kTfLiteBuiltinFullyConnected, {last, w}, {product},
            schema::CreateFullyConnectedOptions(m.fbb()));
    last = m.AddTensor(kTfLiteFloat32, {1, width}, std::string(name) + "t");
    m.AddOp(kTfLiteBuiltinTanh, {product}, {last});
  }
  m.SetOutputs({last});
  return m.Finish();
}

// Runs one request on each worker at the same time: each waits in a callback for all others.
void OccupyAllWorkers(ModelParallelRunner* runner, int workers, const std::vector<int64_t>& shape,
                      const std::vector<float>& x) {
  std::barrier all(workers);
  std::atomic<int> succeeded = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < workers; ++i) {
    threads.emplace_back([&] {
      bool is_first = true;
      const auto wait = [&](const auto&, const auto&, const auto&) {
        if (std::exchange(is_first, false)) all.arrive_and_wait();
        return true;
      };
      std::vector<MSTensor> outputs;
      succeeded += runner->Predict({TensorOf(shape, x)}, &outputs, wait) == mindspore::kSuccess;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(succeeded, workers);
}

// ---- Results ------------------------------------------------------------------------------------

TEST(MindSporeRunner, eight_workers_equal_one) {
  constexpr int kWidth = 48, kInputs = 50, kRequests = 1000;
  const std::vector<uint8_t> model = DenseModel(kWidth);
  std::mt19937 random(2);
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<std::vector<float>> inputs(kInputs), expected;
  ModelParallelRunner one, eight;
  ASSERT_EQ(Init(&one, model, 1), mindspore::kSuccess);
  ASSERT_EQ(Init(&eight, model, kWorkers), mindspore::kSuccess);
  for (auto& input : inputs) {
    for (int i = 0; i < kWidth; ++i) input.push_back(values(random));
    expected.push_back(Infer(&one, {1, kWidth}, input));
    ASSERT_EQ(expected.back().size(), size_t{kWidth});
  }
  OccupyAllWorkers(&eight, kWorkers, {1, kWidth}, inputs[0]);
  std::atomic<int> equal = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 10; ++thread) {  // two more than workers, so that requests wait
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kWorkers * kRequests / 10; ++i) {
        const auto at = static_cast<size_t>(i * 7 + thread) % kInputs;
        equal += Infer(&eight, {1, kWidth}, inputs[at]) == expected[at];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, kWorkers * kRequests);
}

// Returns the resident bytes of this process.
int64_t ResidentBytes() {
  malloc_trim(0);
  int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(MindSporeRunner, workers_share_constants) {
  if (DEPUTY_RUNNER_TEST_SANITIZED) GTEST_SKIP() << "sanitizers keep freed memory";
  constexpr int kWidth = 1620;
  constexpr int64_t kConstants = int64_t{2} * kWidth * kWidth * 4;  // 21 MB
  const std::vector<uint8_t> model = DenseModel(kWidth);
  const std::vector<float> x(kWidth, 0.25F);
  int64_t growth[2];
  for (const bool several : {false, true}) {
    const int workers = several ? kWorkers : 1;
    const int64_t before = ResidentBytes();
    ModelParallelRunner runner;
    ASSERT_EQ(Init(&runner, model, workers), mindspore::kSuccess);
    OccupyAllWorkers(&runner, workers, {1, kWidth}, x);
    growth[several] = ResidentBytes() - before;
  }
  std::printf("%lld bytes of constants; growth with 1 worker %lld, with %d workers %lld\n",
              static_cast<long long>(kConstants), static_cast<long long>(growth[0]), kWorkers,
              static_cast<long long>(growth[1]));
  EXPECT_GE(growth[0], kConstants);
  EXPECT_LE(growth[1] - growth[0], kConstants / 4) << growth[0] << " and " << growth[1];
}

TEST(MindSporeRunner, ms_models_run_from_memory_and_from_a_file) {
  ms::MsWriter writer;
  const uint32_t x = writer.Input({1, 3});
  const uint32_t y = writer.Output({1, 3});
  writer.Node(ms::file::PrimitiveType_Abs, {x}, {y});
  const std::vector<uint8_t> bytes = writer.Finish();
  const auto path =
      std::filesystem::temp_directory_path() / ("runner" + std::to_string(getpid()) + ".ms");
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<ptrdiff_t>(bytes.size()));
  ModelParallelRunner memory, file;
  ASSERT_EQ(Init(&memory, bytes, 3), mindspore::kSuccess);
  ASSERT_EQ(file.Init(path.string(), ConfigOf(2, CpuContext())), mindspore::kSuccess);
  std::filesystem::remove(path);
  const std::vector<float> expected = {1, 2, 3};
  EXPECT_EQ(Infer(&memory, {1, 3}, {-1, 2, -3}), expected);
  EXPECT_EQ(Infer(&file, {1, 3}, {-1, 2, -3}), expected);
}

TEST(MindSporeRunner, requests_of_other_shapes_resize_a_worker) {
  ModelParallelRunner runner;
  ASSERT_EQ(Init(&runner, ChainModel(3), 2), mindspore::kSuccess);
  std::atomic<int> equal = 0;
  std::vector<std::thread> threads;
  for (int64_t batch = 1; batch <= 4; ++batch) {
    threads.emplace_back([&, batch] {
      std::vector<float> x(static_cast<size_t>(batch * kColumns));
      for (int i = 0; i < 50; ++i) {
        for (size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(k) - static_cast<float>(i);
        equal += Infer(&runner, {batch, kColumns}, x) == ChainResult(3, x);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, 200);
  EXPECT_EQ(runner.GetInputs()[0].Shape(), (std::vector<int64_t>{1, kColumns}));
}

TEST(MindSporeRunner, inputs_and_outputs_have_the_models_properties) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteInt8, {1, 4}, "x", {.scale = {0.5F}, .zero_point = {3}});
  const int y = m.AddTensor(kTfLiteInt8, {1, 4}, "y", {.scale = {0.25F}, .zero_point = {-1}});
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  ModelParallelRunner runner;
  ASSERT_EQ(Init(&runner, m.Finish(), 2), mindspore::kSuccess);
  MSTensor input = runner.GetInputs().at(0), output = runner.GetOutputs().at(0);
  EXPECT_EQ(input.Name(), "x");
  EXPECT_EQ(input.DataType(), DataType::kNumberTypeInt8);
  EXPECT_EQ(input.Data(), nullptr);
  EXPECT_EQ(input.QuantParams().at(0).zero_point, 3);
  EXPECT_EQ(output.Name(), "y");
  EXPECT_EQ(output.Shape(), (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(output.QuantParams().at(0).scale, 0.25);
  EXPECT_NE(runner.GetInputs()[0], input) << "each call returns new tensors";
  const int8_t bytes[] = {3, 5, 1, 7};  // 0, 1, -1, 2
  std::copy(bytes, bytes + 4, static_cast<int8_t*>(input.MutableData()));
  std::vector<MSTensor> outputs;
  ASSERT_EQ(runner.Predict({input}, &outputs), mindspore::kSuccess);
  const auto* sums = static_cast<const int8_t*>(outputs[0].Data().get());
  EXPECT_THAT(std::vector<int>(sums, sums + 4), testing::ElementsAre(-1, 7, -9, 15));
  EXPECT_EQ(outputs[0].QuantParams().at(0).zero_point, -1);
}

// ---- Outputs ------------------------------------------------------------------------------------

TEST(MindSporeRunner, results_are_written_to_the_callers_memory) {
  ModelParallelRunner runner;
  ASSERT_EQ(Init(&runner, ChainModel(1), 2), mindspore::kSuccess);
  std::vector<float> memory(6, 7);
  std::vector<MSTensor> outputs = runner.GetOutputs();
  outputs[0].SetData(memory.data(), false);
  ASSERT_EQ(runner.Predict({TensorOf({1, 4}, {1, 1, 1, 1})}, &outputs), mindspore::kSuccess);
  EXPECT_THAT(memory, testing::ElementsAre(2, 3, 4, 5, 7, 7));
  EXPECT_EQ(outputs[0].Data().get(), memory.data());
  const Status small = runner.Predict({TensorOf({2, 4}, std::vector<float>(8))}, &outputs);
  EXPECT_EQ(small, mindspore::kLiteParamInvalid);
  EXPECT_THAT(small.GetErrDescription(), HasSubstr("memory of 32 bytes, found 16"));
  EXPECT_THAT(memory, testing::ElementsAre(2, 3, 4, 5, 7, 7));
  outputs[0].SetShape({1, 6});
  ASSERT_EQ(runner.Predict({TensorOf({1, 4}, {0, 0, 0, 0})}, &outputs), mindspore::kSuccess);
  EXPECT_EQ(outputs[0].Shape(), (std::vector<int64_t>{1, 4}));
  EXPECT_THAT(memory, testing::ElementsAre(1, 2, 3, 4, 7, 7));
}

TEST(MindSporeRunner, results_belong_to_the_caller) {
  std::vector<MSTensor> first, second;
  {
    ModelParallelRunner runner;
    ASSERT_EQ(Init(&runner, ChainModel(1), 1), mindspore::kSuccess);
    ASSERT_EQ(runner.Predict({TensorOf({1, 4}, {1, 1, 1, 1})}, &first), mindspore::kSuccess);
    ASSERT_EQ(runner.Predict({TensorOf({2, 4}, std::vector<float>(8))}, &second),
              mindspore::kSuccess);
    // Tensors of an earlier result are used again, and grow.
    const MSTensor same = second[0];
    ASSERT_EQ(runner.Predict({TensorOf({3, 4}, std::vector<float>(12))}, &second),
              mindspore::kSuccess);
    EXPECT_EQ(same, second[0]);
  }
  EXPECT_THAT(ValuesOf(first[0]), testing::ElementsAre(2, 3, 4, 5));
  EXPECT_EQ(second[0].Shape(), (std::vector<int64_t>{3, 4}));
  EXPECT_THAT(ValuesOf(second[0]), testing::ElementsAre(1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4));
}

TEST(MindSporeRunner, outputs_of_another_type_or_of_a_model_are_refused) {
  ModelParallelRunner runner;
  ASSERT_EQ(Init(&runner, ChainModel(1), 1), mindspore::kSuccess);
  const MSTensor x = TensorOf({1, 4}, {1, 1, 1, 1});
  const int32_t ints[4] = {};
  std::vector<MSTensor> outputs = {{"y", DataType::kNumberTypeInt32, {1, 4}, ints, sizeof ints}};
  const Status type = runner.Predict({x}, &outputs);
  EXPECT_EQ(type, mindspore::kLiteParamInvalid);
  EXPECT_THAT(type.GetErrDescription(),
              HasSubstr("output 0 'y0': expected a tensor of the caller of type 43, found one of "
                        "type 34"));
  mindspore::Model model;
  const std::vector<uint8_t> bytes = ChainModel(1);
  ASSERT_EQ(model.Build(bytes.data(), bytes.size(), mindspore::kMindIR, CpuContext()),
            mindspore::kSuccess);
  outputs = model.GetOutputs();
  EXPECT_THAT(runner.Predict({x}, &outputs).GetErrDescription(),
              HasSubstr("found a model's tensor"));
  EXPECT_EQ(runner.Predict({x}, nullptr), mindspore::kLiteNullptr);
}

// ---- Settings and failures ----------------------------------------------------------------------

TEST(MindSporeRunner, config_keeps_its_settings) {
  RunnerConfig config;
  EXPECT_EQ(config.GetWorkersNum(), 0);
  EXPECT_EQ(config.GetContext(), nullptr);
  config.SetConfigInfo("common", {{"a", "b"}});
  config.SetConfigPath("some.cfg");
  config.SetDeviceIds({1, 2});
  EXPECT_EQ(config.GetConfigInfo().at("common").at("a"), "b");
  EXPECT_EQ(config.GetConfigPath(), "some.cfg");
  EXPECT_EQ(config.GetDeviceIds(), (std::vector<uint32_t>{1, 2}));
}

TEST(MindSporeRunner, number_of_workers_is_checked) {
  const std::vector<uint8_t> model = ChainModel(1);
  for (const int wrong : {-1, 257, INT32_MAX, INT32_MIN}) {
    ModelParallelRunner runner;
    const Status status = Init(&runner, model, wrong);
    EXPECT_EQ(status, mindspore::kLiteParamInvalid);
    EXPECT_EQ(status.GetErrDescription(),
              "Init: expected 0 to 256 workers, found " + std::to_string(wrong));
  }
  const auto processors = static_cast<int>(std::thread::hardware_concurrency());
  const auto context = CpuContext();
  context->SetThreadNum(1);
  DeputyMSRunner* runner = DeputyMSRunnerCreate();
  EXPECT_EQ(DeputyMSRunnerWorkerCount(runner), 0U);
  DeputyMSRunnerDestroy(&runner);
  // The default number of workers is the number of processors divided by the context's threads,
  // between 1 and 256; all workers run at the same time.
  ModelParallelRunner defaults;
  ASSERT_EQ(Init(&defaults, model, 0, context), mindspore::kSuccess);
  OccupyAllWorkers(&defaults, std::min(processors, 256), {1, 4}, {1, 2, 3, 4});
  ModelParallelRunner no_config;
  ASSERT_EQ(no_config.Init(model.data(), model.size()), mindspore::kSuccess);
  EXPECT_EQ(Infer(&no_config, {1, 4}, {1, 2, 3, 4}), ChainResult(1, {1, 2, 3, 4}));
}

TEST(MindSporeRunner, functions_before_init_fail) {
  ModelParallelRunner runner;
  EXPECT_TRUE(runner.GetInputs().empty());
  EXPECT_TRUE(runner.GetOutputs().empty());
  std::vector<MSTensor> outputs;
  const Status status = runner.Predict({TensorOf({1, 4}, {1, 2, 3, 4})}, &outputs);
  EXPECT_EQ(status, mindspore::kLiteUninitializedObj);
  EXPECT_EQ(status.GetErrDescription(), "Predict: the runner has no model; call Init first");
}

TEST(MindSporeRunner, a_failed_init_may_be_repeated_and_a_second_one_changes_nothing) {
  ModelParallelRunner runner;
  const Status missing = runner.Init("/no/such/file.ms", ConfigOf(2, CpuContext()));
  EXPECT_EQ(missing, mindspore::kLiteFileError);
  EXPECT_THAT(missing.GetErrDescription(), HasSubstr("Init: worker 1 of 2: Build: '/no/such"));
  EXPECT_EQ(Init(&runner, {1, 2, 3}, 2), mindspore::kLiteGraphFileError);
  EXPECT_EQ(Init(&runner, {}, 2), mindspore::kLiteNullptr);
  EXPECT_TRUE(runner.GetInputs().empty());
  ASSERT_EQ(Init(&runner, ChainModel(1), 2), mindspore::kSuccess);
  EXPECT_EQ(Init(&runner, ChainModel(2), 1), mindspore::kSuccess);
  EXPECT_EQ(Infer(&runner, {1, 4}, {1, 2, 3, 4}), ChainResult(1, {1, 2, 3, 4}));
}

TEST(MindSporeRunner, wrong_inputs_fail_and_later_requests_succeed) {
  ModelParallelRunner runner;
  ASSERT_EQ(Init(&runner, DenseModel(4), 1), mindspore::kSuccess);
  const std::vector<float> x = {1, 2, 3, 4}, expected = Infer(&runner, {1, 4}, x);
  ASSERT_EQ(expected.size(), 4U);
  std::vector<MSTensor> outputs;
  const std::function<Status(std::vector<MSTensor>)> predict = [&](std::vector<MSTensor> inputs) {
    return runner.Predict(inputs, &outputs);
  };
  const Status shape = predict({TensorOf({1, 3}, {1, 2, 3})});
  EXPECT_EQ(shape, mindspore::kLiteError);
  EXPECT_THAT(shape.GetErrDescription(), HasSubstr("Resize: "));
  EXPECT_EQ(predict({}), mindspore::kLiteInputTensorError);
  EXPECT_EQ(predict({nullptr}), mindspore::kLiteInputTensorError);
  EXPECT_THAT(predict({TensorOf({1, 4}, x), TensorOf({1, 4}, x)}).GetErrDescription(),
              HasSubstr("expected 1 inputs, found 2"));
  const int32_t ints[4] = {};
  EXPECT_EQ(predict({{"x", DataType::kNumberTypeInt32, {1, 4}, ints, sizeof ints}}),
            mindspore::kLiteInputTensorError);
  EXPECT_THAT(predict(runner.GetInputs()).GetErrDescription(),
              HasSubstr("input 0 'x' has no data"));
  EXPECT_TRUE(outputs.empty());
  EXPECT_EQ(Infer(&runner, {1, 4}, x), expected);
}

TEST(MindSporeRunner, the_configuration_reaches_the_kernels_of_all_workers) {
  const auto path =
      std::filesystem::temp_directory_path() / ("runner" + std::to_string(getpid()) + ".cfg");
  std::ofstream(path) << "[vendor]\nlevel = 3\nmode = slow\n";
  const auto delegate = std::make_shared<RunDelegate>(ClaimsAll);
  std::vector<const Kernel*> kernels;
  delegate->on_kernel = [&](RunKernel* kernel) { kernels.push_back(kernel); };
  const auto config = ConfigOf(2, CpuContext(delegate));
  config->SetConfigPath(path.string());
  config->SetConfigInfo("vendor", {{"mode", "fast"}});
  const std::vector<uint8_t> model = ChainModel(2);
  ModelParallelRunner runner;
  ASSERT_EQ(runner.Init(model.data(), model.size(), config), mindspore::kSuccess);
  std::filesystem::remove(path);
  ASSERT_EQ(kernels.size(), 2U);
  const std::map<std::string, std::string> expected = {{"level", "3"}, {"mode", "fast"}};
  for (const Kernel* kernel : kernels) EXPECT_EQ(kernel->GetConfig("vendor"), expected);
  ModelParallelRunner missing;
  EXPECT_EQ(missing.Init(model.data(), model.size(), config), mindspore::kLiteFileError);
  config->SetConfigPath("");
  config->SetDeviceIds({1});
  EXPECT_EQ(missing.Init(model.data(), model.size(), config), mindspore::kLiteNotSupport);
}

// Returns the cores on which the calling thread may run.
std::vector<int> AllowedCores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<size_t>(core), &allowed)) cores.push_back(core);
  }
  return cores;
}

TEST(MindSporeRunner, a_core_list_for_all_threads_is_divided) {
  std::vector<int> allowed_here = AllowedCores();
  if (allowed_here.size() < 2) GTEST_SKIP() << "needs two processors";
  allowed_here.resize(2);
  const auto context = CpuContext();
  context->SetThreadNum(1);
  context->SetThreadAffinity(allowed_here);
  ModelParallelRunner runner;
  ASSERT_EQ(Init(&runner, ChainModel(1), 2, context), mindspore::kSuccess);
  std::barrier both(2);
  std::mutex mutex;
  std::multiset<int> cores;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      std::vector<MSTensor> outputs;
      runner.Predict({TensorOf({1, 4}, {1, 2, 3, 4})}, &outputs,
                     [&](const auto&, const auto&, const auto&) {
                       {
                         const std::scoped_lock lock(mutex);
                         for (const int core : AllowedCores()) cores.insert(core);
                       }
                       both.arrive_and_wait();
                       return true;
                     });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(cores, testing::ElementsAreArray(allowed_here)) << "one core for each worker";
}

TEST(MindSporeRunner, settings_that_cannot_be_obeyed_are_refused) {
  const std::vector<uint8_t> model = ChainModel(1);
  TfLiteDelegate plain = {};
  plain.Prepare = [](TfLiteContext*, TfLiteDelegate*) { return kTfLiteOk; };
  const auto context = CpuContext();
  context->AddTfLiteDelegate(&plain);
  ModelParallelRunner runner;
  const Status shared = Init(&runner, model, 2, context);
  EXPECT_EQ(shared, mindspore::kLiteNotSupport);
  EXPECT_THAT(shared.GetErrDescription(), HasSubstr("TensorFlow Lite delegate, which 2 workers"));
  EXPECT_EQ(Init(&runner, model, 1, context), mindspore::kSuccess);
  ModelParallelRunner other;
  EXPECT_EQ(Init(&other, model, 2, std::make_shared<mindspore::Context>()), mindspore::kLiteNullptr)
      << "a context without devices";
}

// ---- The queue ----------------------------------------------------------------------------------

// A request that stays in its callback until it is released.
class BlockedRequest {
 public:
  explicit BlockedRequest(ModelParallelRunner* runner)
      : thread_([this, runner] {
          std::vector<MSTensor> outputs;
          status_ = runner->Predict({TensorOf({1, 4}, {1, 2, 3, 4})}, &outputs,
                                    [this](const auto&, const auto&, const auto&) {
                                      is_running_ = true;
                                      is_running_.notify_all();
                                      may_end_.wait(false);
                                      return true;
                                    });
        }) {
    is_running_.wait(false);
  }
  ~BlockedRequest() { End(); }

  Status End() {
    may_end_ = true;
    may_end_.notify_all();
    if (thread_.joinable()) thread_.join();
    return status_;
  }

 private:
  std::atomic<bool> is_running_ = false, may_end_ = false;
  Status status_ = mindspore::kLiteError;
  std::thread thread_;
};

TEST(MindSporeRunner, a_request_beyond_the_queues_limit_is_refused) {
  ModelParallelRunner runner;
  ASSERT_EQ(Init(&runner, ChainModel(1), 1), mindspore::kSuccess);
  BlockedRequest blocked(&runner);
  std::atomic<int> succeeded = 0, refused = 0;
  std::string text;
  std::vector<std::thread> threads;
  for (int i = 0; i < 1001; ++i) {
    threads.emplace_back([&] {
      std::vector<MSTensor> outputs;
      const Status status = runner.Predict({TensorOf({1, 4}, {1, 2, 3, 4})}, &outputs);
      succeeded += status == mindspore::kSuccess;
      if (status == mindspore::kLiteServiceDeny) text = status.GetErrDescription();
      refused += status == mindspore::kLiteServiceDeny;
      refused.notify_all();
    });
  }
  refused.wait(0);
  EXPECT_EQ(succeeded, 0);
  EXPECT_EQ(blocked.End(), mindspore::kSuccess);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(succeeded, 1000);
  EXPECT_EQ(text, "Predict: 1000 requests are waiting");
}

TEST(MindSporeRunner, destruction_fails_waiting_requests_and_waits_for_running_ones) {
  auto runner = std::make_unique<ModelParallelRunner>();
  ASSERT_EQ(Init(runner.get(), ChainModel(1), 1), mindspore::kSuccess);
  BlockedRequest blocked(runner.get());
  constexpr int kWaiting = 4;
  std::vector<Status> statuses(kWaiting);
  std::atomic<int> begun = 0, returned = 0;
  std::vector<std::thread> threads;
  for (Status& status : statuses) {
    threads.emplace_back([&] {
      std::vector<MSTensor> outputs;
      ++begun;
      status = runner->Predict({TensorOf({1, 4}, {1, 2, 3, 4})}, &outputs);
      ++returned;
    });
  }
  while (begun < kWaiting) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // until they wait
  std::atomic<bool> destroyed = false;
  std::thread destroyer([&, raw = runner.get()] {
    std::default_delete<ModelParallelRunner>()(raw);
    destroyed = true;
  });
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(destroyed);
  EXPECT_EQ(blocked.End(), mindspore::kSuccess);
  destroyer.join();
  static_cast<void>(runner.release());  // deleted by the thread
  for (const Status& status : statuses) {
    EXPECT_EQ(status, mindspore::kLiteServiceDeny);
    EXPECT_EQ(status.GetErrDescription(),
              "Predict: the runner was destroyed while the request waited");
  }
}

TEST(MindSporeRunner, callbacks_see_the_nodes_and_must_not_call_predict) {
  ModelParallelRunner runner;
  ASSERT_EQ(Init(&runner, ChainModel(2), 2), mindspore::kSuccess);
  std::vector<std::string> nodes;
  Status inner;
  const MSTensor x = TensorOf({1, 4}, {1, 2, 3, 4});
  const auto before = [&](const auto&, const auto&, const mindspore::MSCallBackParam& info) {
    nodes.push_back("before " + info.node_type);
    std::vector<MSTensor> outputs;
    inner = runner.Predict({x}, &outputs);
    return true;
  };
  const auto after = [&](const auto&, const auto&, const mindspore::MSCallBackParam& info) {
    nodes.push_back("after " + info.node_type);
    return true;
  };
  std::vector<MSTensor> outputs;
  ASSERT_EQ(runner.Predict({x}, &outputs, before, after), mindspore::kSuccess);
  EXPECT_THAT(nodes, testing::ElementsAre("before AddFusion", "after AddFusion", "before MulFusion",
                                          "after MulFusion"));
  EXPECT_EQ(inner, mindspore::kLiteReentrantError);
  EXPECT_EQ(ValuesOf(outputs[0]), ChainResult(2, {1, 2, 3, 4}));
}

// ---- Delegates ----------------------------------------------------------------------------------

// A delegate that claims everything and counts calls.
class CountingDelegate : public RunDelegate {
 public:
  CountingDelegate() : RunDelegate(ClaimsAll) {}
  std::atomic<int> kernels = 0, freed = 0;
};

TEST(MindSporeRunner, a_delegate_is_called_for_each_worker) {
  const auto delegate = std::make_shared<CountingDelegate>();
  delegate->on_kernel = [&](RunKernel* kernel) {
    ++delegate->kernels;
    kernel->on_free = [&] { ++delegate->freed; };
  };
  {
    ModelParallelRunner runner;
    ASSERT_EQ(Init(&runner, ChainModel(3), 3, CpuContext(delegate)), mindspore::kSuccess);
    EXPECT_EQ(Count(*delegate->records, "init"), 3U);
    EXPECT_EQ(Count(*delegate->records, "build"), 3U);
    EXPECT_EQ(delegate->kernels, 3);
    for (int i = 0; i < 5; ++i) {
      const std::vector<float> x = {static_cast<float>(i), 2, 3, 4};
      EXPECT_EQ(Infer(&runner, {1, 4}, x), ChainResult(3, x));
    }
    EXPECT_EQ(Count(*delegate->records, "execute"), 5U) << "nodes ran in the delegate";
    EXPECT_EQ(delegate->freed, 0);
  }
  EXPECT_EQ(delegate->freed, 3);
}

TEST(MindSporeRunner, a_failing_delegate_fails_init_with_its_code) {
  const auto delegate = std::make_shared<CountingDelegate>();
  ModelParallelRunner runner;
  delegate->init_code = mindspore::kLiteFileError;
  const Status init = Init(&runner, ChainModel(3), 3, CpuContext(delegate));
  EXPECT_EQ(init, mindspore::kLiteFileError);
  EXPECT_THAT(init.GetErrDescription(), HasSubstr("Init: worker 1 of 3: Build: the delegate's"));
  delegate->init_code = mindspore::kSuccess;
  int builds = 0;
  delegate->on_build = [&](DelegateModel*) -> Status {
    return ++builds == 2 ? mindspore::kLiteMemoryFailed : mindspore::kSuccess;
  };
  const Status build = Init(&runner, ChainModel(3), 3, CpuContext(delegate));
  EXPECT_EQ(build, mindspore::kLiteMemoryFailed);
  EXPECT_THAT(build.GetErrDescription(), HasSubstr("Init: worker 2 of 3: "));
  EXPECT_EQ(Init(&runner, ChainModel(3), 3, CpuContext(delegate)), mindspore::kSuccess);
}

TEST(MindSporeRunner, a_failing_kernel_fails_its_request_only) {
  const auto delegate = std::make_shared<CountingDelegate>();
  RunKernel* last = nullptr;
  delegate->on_kernel = [&](RunKernel* kernel) { last = kernel; };
  ModelParallelRunner runner;
  ASSERT_EQ(Init(&runner, ChainModel(3), 1, CpuContext(delegate)), mindspore::kSuccess);
  last->execute_code = mindspore::lite::RET_OP_EXECUTE_FAILURE;
  std::vector<MSTensor> outputs;
  const Status status = runner.Predict({TensorOf({1, 4}, {1, 2, 3, 4})}, &outputs);
  EXPECT_EQ(status, mindspore::kLiteOpExecuteFailure);
  EXPECT_THAT(status.GetErrDescription(), HasSubstr("Execute returned -303"));
  EXPECT_TRUE(outputs.empty());
  last->execute_code = RET_OK;
  EXPECT_EQ(Infer(&runner, {1, 4}, {1, 2, 3, 4}), ChainResult(3, {1, 2, 3, 4}));
}

}  // namespace
}  // namespace deputy::mindspore_runner_test
