// SPDX-License-Identifier: Apache-2.0
//
// Tests that settings of a context, its devices and a configuration are obeyed, or refused in a
// text that names them. Threads and their masks are read from /proc.
#include <sched.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "deputy/deputy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mindspore/api/lite_types.h"
#include "mindspore/include/api/context.h"
#include "mindspore/src/affinity.h"
#include "tests/mindspore/mindspore_support.h"
#include "tests/support/paths.h"

namespace deputy::mindspore_settings_test {
namespace {

using mindspore::Model;
using mindspore::Status;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Collects the log for as long as it exists.
class LogText {
 public:
  LogText() {
    DeputyMSSetLogSink(
        [](void* text, DeputyMSLogLevel, const char* line) {
          *static_cast<std::string*>(text) += std::string(line) + "\n";
        },
        &text_);
  }
  LogText(const LogText&) = delete;
  LogText& operator=(const LogText&) = delete;
  ~LogText() { DeputyMSSetLogSink(nullptr, nullptr); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

Status Build(Model* model, const std::vector<uint8_t>& bytes,
             const std::shared_ptr<mindspore::Context>& context) {
  return model->Build(bytes.data(), bytes.size(), mindspore::kMindIR, context);
}

constexpr int kWide = 512;

// A model that is large enough for several threads: x[64, 512] times a constant of [512, 512].
std::vector<uint8_t> WideModel() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {64, kWide}, "x");
  std::vector<float> values(size_t{kWide} * kWide);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i % 17) * 0.1234567F - 0.777F;
  }
  const int w = m.AddConstant<float>(kTfLiteFloat32, {kWide, kWide}, values, "w");
  const int y = m.AddTensor(kTfLiteFloat32, {64, kWide}, "y");
  m.AddOp(kTfLiteBuiltinFullyConnected, {x, w}, {y}, schema::CreateFullyConnectedOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

std::vector<float> WideInput() {
  std::vector<float> x(size_t{64} * kWide);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 13) * 0.3456789F - 1.5F;
  return x;
}

// Returns the thread numbers of this process.
std::set<int> Threads() {
  std::set<int> threads;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    threads.insert(std::stoi(entry.path().filename()));
  }
  return threads;
}

// Returns the cores on which a thread may run, in the kernel's notation: "0-3,5".
std::string CoresOf(int thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/status");
  const std::string key = "Cpus_allowed_list:\t";
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key)) return line.substr(key.size());
  }
  return "?";
}

// Returns the threads that a model with this context starts, and the cores of each.
std::map<int, std::string> ThreadsOfModel(const std::shared_ptr<mindspore::Context>& context) {
  const std::set<int> before = Threads();
  Model model;
  EXPECT_EQ(Build(&model, WideModel(), context), mindspore::kSuccess);
  EXPECT_FALSE(Predict(&model, WideInput()).empty());
  std::map<int, std::string> result;
  for (const int thread : Threads()) {
    if (before.count(thread) == 0) result[thread] = CoresOf(thread);
  }
  return result;
}

// ---- Threads ------------------------------------------------------------------------------------

TEST(MindSporeSettings, the_number_of_threads_is_that_of_the_context) {
  for (const int threads : {1, 2, 3, 5}) {
    const auto context = CpuContext();
    context->SetThreadNum(threads);
    EXPECT_EQ(ThreadsOfModel(context).size(), static_cast<size_t>(threads - 1));
  }
  EXPECT_EQ(ThreadsOfModel(CpuContext()).size(),
            std::thread::hardware_concurrency() > 32 ? 3u : 1u);
}

// Returns the cores that this thread may use.
std::vector<int> AvailableCores() {
  cpu_set_t mask;
  sched_getaffinity(0, sizeof mask, &mask);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &mask)) cores.push_back(core);
  }
  return cores;
}

TEST(MindSporeSettings, threads_run_on_the_cores_of_the_list) {
  const std::vector<int> cores = AvailableCores();
  const std::string before = CoresOf(getpid());
  for (const int core : {cores.front(), cores.back()}) {
    const auto context = CpuContext();
    context->SetThreadNum(3);
    context->SetThreadAffinity(std::vector<int>{core});
    context->SetThreadAffinity(mindspore::lite::HIGHER_CPU);  // the list takes precedence
    const std::map<int, std::string> threads = ThreadsOfModel(context);
    EXPECT_EQ(threads.size(), 2u);
    for (const auto& [thread, mask] : threads) EXPECT_EQ(mask, std::to_string(core));
    EXPECT_EQ(CoresOf(getpid()), before);
  }
}

// Records the cores of the main thread in Prepare, Execute and ReSize.
class CoreKernel : public Kernel {
 public:
  CoreKernel(Kernel* node, std::vector<std::string>* seen)
      : Kernel(node->inputs(), node->outputs(), nullptr, nullptr), seen_(seen) {
    set_name("cores");
  }
  int Prepare() override { return Record(); }
  int Execute() override { return Record(); }
  int ReSize() override {
    outputs_[0].SetShape(inputs_[0].Shape());
    return Record();
  }

 private:
  int Record() {
    seen_->push_back(CoresOf(getpid()));
    return RET_OK;
  }
  std::vector<std::string>* const seen_;
};

TEST(MindSporeSettings, the_calling_thread_runs_on_the_cores_during_calls) {
  const int core = AvailableCores().back();
  const std::string before = CoresOf(getpid()), only = std::to_string(core);
  std::vector<std::string> seen;
  const auto delegate = std::make_shared<RunDelegate>(nullptr);
  delegate->on_build = [&](DelegateModel* model) {
    const auto first = model->BeginKernelIterator();
    model->Replace(first, first + 1, new CoreKernel(*first, &seen));
    return mindspore::kSuccess;
  };
  const auto context = CpuContext(delegate);
  context->SetThreadAffinity(std::vector<int>{core});
  Model model;
  ASSERT_EQ(Build(&model, ChainModel(1), context), mindspore::kSuccess);
  ASSERT_EQ(model.Predict(), mindspore::kSuccess);
  ASSERT_EQ(model.Resize(model.GetInputs(), {{2, kColumns}}), mindspore::kSuccess);
  EXPECT_THAT(seen, ElementsAre(only, only, only));
  EXPECT_EQ(CoresOf(getpid()), before);
}

TEST(MindSporeSettings, an_affinity_mode_selects_cores_by_frequency) {
  using ms_api::CoresOfMode;
  const std::vector<int64_t> big_little = {10, 10, 30, 20, 30, 20};
  EXPECT_THAT(CoresOfMode(1, 3, big_little), ElementsAre(2, 4, 3));
  EXPECT_THAT(CoresOfMode(2, 3, big_little), ElementsAre(3, 5, 0));
  EXPECT_THAT(CoresOfMode(2, 6, big_little), ElementsAre(3, 5, 0, 1, 2, 4));
  EXPECT_THAT(CoresOfMode(1, 9, big_little), ElementsAre(2, 4, 3, 5, 0, 1));
  EXPECT_THAT(CoresOfMode(2, 2, {0, 0, 0}), ElementsAre(0, 1));  // all are equal: wraps around
  const auto context = CpuContext();
  context->SetThreadNum(2);
  context->SetThreadAffinity(1);
  std::vector<int64_t> frequencies;
  for (int core = 0; core < sysconf(_SC_NPROCESSORS_CONF); ++core) {
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(core);
    std::ifstream file(folder + "/cpufreq/cpuinfo_max_freq");
    int64_t frequency = 0;
    file >> frequency;
    frequencies.push_back(frequency);
  }
  std::vector<int32_t> cores = CoresOfMode(1, 2, frequencies);
  std::sort(cores.begin(), cores.end());
  std::string expected = std::to_string(cores[0]);
  if (cores.size() == 2) {
    expected += (cores[1] == cores[0] + 1 ? "-" : ",") + std::to_string(cores[1]);
  }
  const std::map<int, std::string> threads = ThreadsOfModel(context);
  EXPECT_EQ(threads.size(), 1u);
  for (const auto& [thread, mask] : threads) EXPECT_EQ(mask, expected);
}

TEST(MindSporeSettings, a_core_that_does_not_exist_fails_the_build) {
  for (const int core : {-1, 100000}) {
    const auto context = CpuContext();
    context->SetThreadAffinity(std::vector<int>{0, core});
    Model model;
    const Status status = Build(&model, ChainModel(1), context);
    EXPECT_EQ(static_cast<int>(status), -3);
    EXPECT_THAT(status.GetErrDescription(), HasSubstr("SetThreadAffinity: expected cores 0 to"));
    EXPECT_THAT(status.GetErrDescription(), HasSubstr("found " + std::to_string(core)));
  }
}

// ---- Half precision -----------------------------------------------------------------------------

TEST(MindSporeSettings, half_precision_on_the_cpu_changes_results_within_its_error) {
  Model exact, half;
  ASSERT_EQ(Build(&exact, WideModel(), CpuContext()), mindspore::kSuccess);
  const auto context = CpuContext();
  const auto cpu = context->MutableDeviceInfo()[0]->Cast<mindspore::CPUDeviceInfo>();
  cpu->SetEnableFP16(true);
  EXPECT_TRUE(cpu->GetEnableFP16());
  const LogText log;
  ASSERT_EQ(Build(&half, WideModel(), context), mindspore::kSuccess);
  const std::vector<float> x = WideInput();
  const std::vector<float> expected = Predict(&exact, x), values = Predict(&half, x);
  ASSERT_EQ(values.size(), expected.size());
  if (log.text().find("SetEnableFP16(true) has no effect") != std::string::npos) {
    // This processor has no fast instructions for bfloat16; Intel's have them with AMX only.
    EXPECT_EQ(values, expected);
    std::ifstream file("/proc/cpuinfo");
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    EXPECT_EQ(text.find("amx_bf16"), std::string::npos);
    EXPECT_TRUE(text.find("avx512_bf16") == std::string::npos ||
                text.find("GenuineIntel") != std::string::npos);
    GTEST_SKIP() << "the processor computes in float32, and the log states it";
  }
  // The relative error of a factor is at most 2^-8, that of a product about 2^-7; |x| is below 2.7
  // and |w| below 1.3.
  size_t different = 0;
  for (size_t row = 0; row < 64; ++row) {
    for (size_t column = 0; column < kWide; ++column) {
      const size_t at = row * kWide + column;
      different += values[at] == expected[at] ? 0 : 1;
      EXPECT_NEAR(values[at], expected[at], kWide * 2.7 * 1.3 / 128.0);
    }
  }
  EXPECT_GT(different, values.size() / 2);
}

TEST(MindSporeSettings, half_precision_without_an_operator_for_it_is_logged) {
  const auto context = CpuContext();
  context->MutableDeviceInfo()[0]->Cast<mindspore::CPUDeviceInfo>()->SetEnableFP16(true);
  const LogText log;
  Model model;
  ASSERT_EQ(Build(&model, ChainModel(2), context), mindspore::kSuccess);
  EXPECT_THAT(log.text(), HasSubstr("device CPU: SetEnableFP16(true) has no effect"));
}

// ---- Settings that are refused ------------------------------------------------------------------

using Change = std::function<void(mindspore::Context*)>;

template <typename Device>
std::shared_ptr<Device> Add(mindspore::Context* context) {
  auto device = std::make_shared<Device>();
  context->MutableDeviceInfo().push_back(device);
  return device;
}

TEST(MindSporeSettings, settings_that_would_change_results_fail_the_build) {
  const std::pair<const char*, Change> rows[] = {
      {"SetMultiModalHW(true)", [](auto* context) { context->SetMultiModalHW(true); }},
      {"SetGroupInfoFile", [](auto* context) { context->SetGroupInfoFile("group.json"); }},
      {"SetEnableGLTexture(true)",
       [](auto* context) { Add<mindspore::GPUDeviceInfo>(context)->SetEnableGLTexture(true); }},
      {"SetGLContext",
       [](auto* context) { Add<mindspore::GPUDeviceInfo>(context)->SetGLContext(context); }},
      {"SetGLDisplay",
       [](auto* context) { Add<mindspore::GPUDeviceInfo>(context)->SetGLDisplay(context); }},
  };
  for (const auto& [name, change] : rows) {
    const auto context = CpuContext();
    change(context.get());
    Model model;
    const Status status = Build(&model, ChainModel(1), context);
    EXPECT_EQ(static_cast<int>(status), -7) << name;
    EXPECT_THAT(status.GetErrDescription(), HasSubstr(name));
  }
  const auto context = CpuContext();
  Add<mindspore::GPUDeviceInfo>(context.get())->SetPrecisionMode("int4");
  Model model;
  const Status status = Build(&model, ChainModel(1), context);
  EXPECT_EQ(static_cast<int>(status), -3);
  EXPECT_THAT(status.GetErrDescription(),
              HasSubstr("'preferred_fp16' or 'enforce_fp16', found 'int4'"));
}

TEST(MindSporeSettings, unknown_settings_of_a_context_are_refused_by_name) {
  MSContextHandle context = MSContextCreate();
  for (const char* name :
       {"inter_op_parallel_num", "multi_modal_hw", "group_info_file", "built_in_delegate"}) {
    EXPECT_EQ(DeputyMSContextSetSetting(context, name, ""), kMSStatusSuccess) << name;
  }
  EXPECT_EQ(DeputyMSContextSetSetting(context, "multi_modal", "true"), kMSStatusLiteParamInvalid);
  EXPECT_THAT(DeputyMSLastError(), HasSubstr("unknown setting 'multi_modal'"));
  MSContextDestroy(&context);
}

TEST(MindSporeSettings, unknown_settings_of_a_cpu_are_logged_by_name) {
  MSContextHandle context = MSContextCreate();
  MSDeviceInfoHandle cpu = MSDeviceInfoCreate(kMSDeviceTypeCPU);
  EXPECT_EQ(DeputyMSDeviceInfoSetSetting(cpu, "precision_mode", "fp16"), kMSStatusSuccess);
  MSContextAddDeviceInfo(context, cpu);
  const LogText log;
  const std::vector<uint8_t> bytes = ChainModel(1);
  MSModelHandle model = MSModelCreate();
  EXPECT_EQ(MSModelBuild(model, bytes.data(), bytes.size(), kMSModelTypeMindIR, context),
            kMSStatusSuccess);
  EXPECT_EQ(log.text(), "device CPU: setting 'precision_mode' has no effect\n");
  MSModelDestroy(&model);
}

TEST(MindSporeSettings, settings_for_speed_without_effect_are_logged) {
  const std::pair<const char*, Change> rows[] = {
      {"SetEnableParallel(true) has no effect",
       [](auto* context) { context->SetEnableParallel(true); }},
      {"SetInterOpParallelNum(2) has no effect",
       [](auto* context) { context->SetInterOpParallelNum(2); }},
      {"delegate CoreML of SetBuiltInDelegate declined: Init returned -7",
       [](auto* context) { context->SetBuiltInDelegate(mindspore::kCoreML); }},
      {"delegate PNNA of SetBuiltInDelegate declined: Init returned -7",
       [](auto* context) { context->SetBuiltInDelegate(mindspore::kPNNA); }},
      {"device CPU: SetAllocator has no effect",
       [](auto* context) {
         context->MutableDeviceInfo()[0]->SetAllocator(mindspore::Allocator::Create());
       }},
  };
  for (const auto& [name, change] : rows) {
    const LogText log;
    const auto context = CpuContext();
    context->SetThreadNum(2);
    change(context.get());
    Model model;
    EXPECT_EQ(Build(&model, ChainModel(1), context), mindspore::kSuccess);
    EXPECT_THAT(log.text(), HasSubstr(name));
  }
  const LogText log;
  const auto context = CpuContext();
  context->SetInterOpParallelNum(1);
  Model model;
  EXPECT_EQ(Build(&model, ChainModel(1), context), mindspore::kSuccess);
  EXPECT_EQ(log.text(), "");
}

TEST(MindSporeSettings, an_absent_device_is_logged_and_leaves_the_model_to_the_cpu) {
  class Custom : public mindspore::DeviceInfoContext {
   public:
    enum mindspore::DeviceType GetDeviceType() const override { return mindspore::kCustomDevice; }
  };
  const std::pair<const char*, std::shared_ptr<mindspore::DeviceInfoContext>> rows[] = {
      {"GPU", std::make_shared<mindspore::GPUDeviceInfo>()},
      {"KirinNPU", std::make_shared<mindspore::KirinNPUDeviceInfo>()},
      {"Ascend", std::make_shared<mindspore::AscendDeviceInfo>()},
      {"Ascend", std::make_shared<mindspore::Ascend310DeviceInfo>()},
      {"DSP", std::make_shared<mindspore::DSPDeviceInfo>()},
      {"Custom", std::make_shared<Custom>()},
  };
  for (const auto& [name, device] : rows) {
    if (device->GetDeviceType() <= mindspore::kKirinNPU) device->SetProvider("libabsent.so");
    for (const bool with_cpu : {true, false}) {
      const LogText log;
      const auto context = std::make_shared<mindspore::Context>();
      context->MutableDeviceInfo() = {device};
      if (with_cpu) Add<mindspore::CPUDeviceInfo>(context.get());
      Model model;
      const Status status = Build(&model, ChainModel(2), context);
      EXPECT_THAT(log.text(), HasSubstr("device " + std::string(name) + ": not supported (-7): "));
      if (with_cpu) {
        ASSERT_EQ(status, mindspore::kSuccess);
        EXPECT_EQ(Predict(&model, {1, 2, 3, 4}), ChainResult(2, {1, 2, 3, 4}));
      } else {
        EXPECT_EQ(static_cast<int>(status), -7);
        EXPECT_THAT(status.GetErrDescription(), HasSubstr("device " + std::string(name)));
      }
    }
  }
}

TEST(MindSporeSettings, any_device_is_the_cpu) {
  const auto context = std::make_shared<mindspore::Context>();
  Add<mindspore::AutoDeviceInfo>(context.get());
  Model model;
  ASSERT_EQ(Build(&model, ChainModel(2), context), mindspore::kSuccess);
  EXPECT_EQ(Predict(&model, {1, 2, 3, 4}), ChainResult(2, {1, 2, 3, 4}));
}

// ---- Options of delegate libraries --------------------------------------------------------------

// Returns the build folder, derived from the path of this program.
std::filesystem::path BuildFolder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
}

// The plug-in declares the option "frequency" only.
TEST(MindSporeSettings, device_settings_that_a_library_does_not_declare_are_refused) {
  const std::string library = BuildFolder() / "examples/libmindspore_plugin.so";
  const auto gpu = std::make_shared<mindspore::GPUDeviceInfo>();
  gpu->SetProvider(library);
  gpu->SetEnableFP16(true);
  gpu->SetDeviceID(0);
  const auto context = CpuContext();
  context->MutableDeviceInfo().push_back(gpu);
  {
    const LogText log;
    Model model;
    ASSERT_EQ(Build(&model, ChainModel(1), context), mindspore::kSuccess);
    EXPECT_THAT(log.text(), HasSubstr("device GPU: SetEnableFP16 has no effect"));
    EXPECT_THAT(log.text(), HasSubstr("has no option 'precision'"));
    EXPECT_THAT(log.text(), Not(HasSubstr("SetDeviceID")));
    EXPECT_EQ(DeputyInterpreterGetDelegateCount(model.interpreter()), 1);
  }
  gpu->SetDeviceID(3);
  const LogText log;
  Model model;
  ASSERT_EQ(Build(&model, ChainModel(1), context), mindspore::kSuccess);
  EXPECT_THAT(log.text(), HasSubstr("device GPU: not supported (-7): SetDeviceID(3)"));
  EXPECT_EQ(DeputyInterpreterGetDelegateCount(model.interpreter()), 0);

  const auto ascend = std::make_shared<mindspore::AscendDeviceInfo>();
  ascend->SetProvider(library);
  ascend->SetInputFormat("NHWC");
  ascend->SetDynamicBatchSize({1, 4});
  ascend->SetInputShapeMap({{0, {1, 2}}, {1, {3}}});
  EXPECT_EQ(ascend->GetDynamicBatchSize(), "1,4");
  EXPECT_EQ(ascend->GetInputShapeMap().at(0), (std::vector<int>{1, 2}));
  const auto other = CpuContext();
  other->MutableDeviceInfo().push_back(ascend);
  Model with_ascend;
  ASSERT_EQ(Build(&with_ascend, ChainModel(1), other), mindspore::kSuccess);
  for (const char* name : {"SetInputFormat", "SetDynamicBatchSize", "SetInputShapeMap"}) {
    EXPECT_THAT(log.text(), HasSubstr("device Ascend: " + std::string(name) + " has no effect"));
  }
}

// The stub of an NPU writes its compiled models into the folder of its option "cache_dir".
TEST(MindSporeSettings, the_cache_folder_of_the_configuration_reaches_the_library) {
  const std::string library = BuildFolder() / "libdeputy_npu_stub.so";
  if (!std::filesystem::exists(library)) GTEST_SKIP() << library << " is not built";
  std::string folder = std::filesystem::temp_directory_path() / "mindspore_cache_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const auto npu = std::make_shared<mindspore::KirinNPUDeviceInfo>();
  npu->SetProvider(library);
  const auto context = CpuContext();
  context->MutableDeviceInfo().insert(context->MutableDeviceInfo().begin(), npu);
  Model model;
  ASSERT_EQ(model.UpdateConfig("common_context", {"model_cache_dir", folder}), mindspore::kSuccess);
  const LogText log;
  ASSERT_EQ(Build(&model, ChainModel(3), context), mindspore::kSuccess);
  EXPECT_EQ(log.text(), "");
  EXPECT_FALSE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
}

// ---- All setters --------------------------------------------------------------------------------

using mindspore::AscendDeviceInfo;
using mindspore::AutoDeviceInfo;
using mindspore::CPUDeviceInfo;
using mindspore::DSPDeviceInfo;
using mindspore::GPUDeviceInfo;
using mindspore::KirinNPUDeviceInfo;

// A setter of a device. `name` is "Class::Setter".
struct Setter {
  const char* name;
  std::function<std::shared_ptr<mindspore::DeviceInfoContext>()> device;
};

template <class Device, class Function>
Setter SetterOf(const char* name, Function set) {
  return {name, [set] {
            auto device = std::make_shared<Device>();
            set(device.get());
            return device;
          }};
}

#define DEPUTY_SETTER(device, setter, ...) \
  SetterOf<device>(#device "::" #setter, [](device* info) { info->setter(__VA_ARGS__); })
#define DEPUTY_COMMON_SETTERS(device)                                   \
  DEPUTY_SETTER(device, SetProvider, "no_such_provider"),               \
      DEPUTY_SETTER(device, SetProviderDevice, "no_such_architecture"), \
      DEPUTY_SETTER(device, SetAllocator, mindspore::Allocator::Create())

std::vector<Setter> AllSetters() {
  return {
      DEPUTY_COMMON_SETTERS(AutoDeviceInfo),
      DEPUTY_COMMON_SETTERS(CPUDeviceInfo),
      DEPUTY_SETTER(CPUDeviceInfo, SetEnableFP16, true),
      DEPUTY_COMMON_SETTERS(GPUDeviceInfo),
      DEPUTY_SETTER(GPUDeviceInfo, SetDeviceID, 1),
      DEPUTY_SETTER(GPUDeviceInfo, SetPrecisionMode, "preferred_fp16"),
      DEPUTY_SETTER(GPUDeviceInfo, SetEnableFP16, true),
      DEPUTY_SETTER(GPUDeviceInfo, SetEnableGLTexture, true),
      DEPUTY_SETTER(GPUDeviceInfo, SetGLContext, info),
      DEPUTY_SETTER(GPUDeviceInfo, SetGLDisplay, info),
      DEPUTY_COMMON_SETTERS(KirinNPUDeviceInfo),
      DEPUTY_SETTER(KirinNPUDeviceInfo, SetEnableFP16, true),
      DEPUTY_SETTER(KirinNPUDeviceInfo, SetFrequency, 4),
      DEPUTY_COMMON_SETTERS(AscendDeviceInfo),
      DEPUTY_SETTER(AscendDeviceInfo, SetDeviceID, 1),
      DEPUTY_SETTER(AscendDeviceInfo, SetRankID, 1),
      DEPUTY_SETTER(AscendDeviceInfo, SetInsertOpConfigPath, "aipp.cfg"),
      DEPUTY_SETTER(AscendDeviceInfo, SetInputFormat, "NHWC"),
      DEPUTY_SETTER(AscendDeviceInfo, SetInputShape, "x:1,2"),
      DEPUTY_SETTER(AscendDeviceInfo, SetInputShapeMap, {{0, {1, 2}}}),
      DEPUTY_SETTER(AscendDeviceInfo, SetDynamicBatchSize, {1, 4}),
      DEPUTY_SETTER(AscendDeviceInfo, SetDynamicImageSize, "64,64;96,96"),
      DEPUTY_SETTER(AscendDeviceInfo, SetOutputType, mindspore::DataType::kNumberTypeFloat16),
      DEPUTY_SETTER(AscendDeviceInfo, SetPrecisionMode, "enforce_fp16"),
      DEPUTY_SETTER(AscendDeviceInfo, SetOpSelectImplMode, "high_performance"),
      DEPUTY_SETTER(AscendDeviceInfo, SetFusionSwitchConfigPath, "fusion.cfg"),
      DEPUTY_SETTER(AscendDeviceInfo, SetBufferOptimizeMode, "off_optimize"),
      DEPUTY_COMMON_SETTERS(DSPDeviceInfo),
      DEPUTY_SETTER(DSPDeviceInfo, SetDeviceID, 1),
  };
}

// Returns the setters that the header declares, as "Class::Setter".
std::set<std::string> DeclaredSetters() {
  std::ifstream file(SourcePath("mindspore/include/context.h"));
  std::set<std::string> names, common;
  std::string current;
  for (std::string line; std::getline(file, line);) {
    std::smatch found;
    if (std::regex_search(line, found, std::regex("^class (\\w+)"))) current = found[1];
    if (!std::regex_search(line, found, std::regex("^  void (Set\\w+)\\("))) continue;
    if (current == "DeviceInfoContext") {
      common.insert(found[1]);
    } else if (current != "Context") {
      names.insert(current + "::" + found[1].str());
    }
  }
  for (const char* device : {"AutoDeviceInfo", "CPUDeviceInfo", "GPUDeviceInfo",
                             "KirinNPUDeviceInfo", "AscendDeviceInfo", "DSPDeviceInfo"}) {
    for (const std::string& setter : common) names.insert(device + ("::" + setter));
  }
  return names;
}

TEST(MindSporeSetters, the_table_has_all_setters_of_devices) {
  std::set<std::string> names;
  for (const Setter& setter : AllSetters()) names.insert(setter.name);
  EXPECT_EQ(names, DeclaredSetters());
}

// Returns the log of a build, and its error, with a device that has one setting.
std::string MessagesOf(const Setter& setter, const std::string& library, bool with_delegate) {
  const LogText log;
  const auto device = setter.device();
  const bool is_cpu = device->GetDeviceType() == mindspore::kCPU ||
                      device->GetDeviceType() == mindspore::kAllDevice;
  if (!library.empty() && !is_cpu && device->GetProvider().empty()) device->SetProvider(library);
  const auto context = CpuContext(with_delegate ? std::make_shared<RunDelegate>(nullptr) : nullptr);
  if (is_cpu) context->MutableDeviceInfo().clear();
  context->MutableDeviceInfo().push_back(device);
  Model model;
  const Status status = Build(&model, ChainModel(1), context);
  return log.text() + status.GetErrDescription();
}

std::string MemberOf(const Setter& setter) {
  const std::string name = setter.name;
  return name.substr(name.find("::") + 2);
}

// The library declares the option "frequency" only. GPUs and other devices without a library of
// their own are absent, which the log states.
TEST(MindSporeSetters, a_setting_is_obeyed_or_named) {
  const std::string library = BuildFolder() / "examples/libmindspore_plugin.so";
  for (const Setter& setter : AllSetters()) {
    const std::string messages = MessagesOf(setter, library, false);
    const std::string member = MemberOf(setter);
    if (std::string(setter.name) == "KirinNPUDeviceInfo::SetFrequency") {
      EXPECT_EQ(messages, "") << "the library has this option";
    } else if (member == "SetProvider" && setter.device()->GetDeviceType() != mindspore::kCPU &&
               setter.device()->GetDeviceType() != mindspore::kAllDevice) {
      EXPECT_THAT(messages, HasSubstr("no_such_provider")) << setter.name;
    } else if (member == "SetEnableFP16" && setter.device()->GetDeviceType() == mindspore::kCPU) {
      EXPECT_THAT(messages, HasSubstr("SetEnableFP16(true) has no effect")) << setter.name;
    } else {
      EXPECT_THAT(messages, HasSubstr(member)) << setter.name;
    }
  }
}

TEST(MindSporeSetters, settings_of_devices_are_named_if_the_context_has_a_delegate) {
  for (const Setter& setter : AllSetters()) {
    EXPECT_THAT(
        MessagesOf(setter, "", true),
        ContainsRegex(": " + MemberOf(setter) + "(\\(.*\\))? (has no effect|is not supported)"))
        << setter.name;
  }
  const auto context = CpuContext(std::make_shared<RunDelegate>(nullptr));
  Add<KirinNPUDeviceInfo>(context.get())->SetFrequency(4);
  context->SetBuiltInDelegate(mindspore::kCoreML);
  const LogText log;
  Model model;
  ASSERT_EQ(Build(&model, ChainModel(1), context), mindspore::kSuccess);
  EXPECT_EQ(
      log.text(),
      "the context: SetBuiltInDelegate(CoreML) has no effect: the context has a delegate\n"
      "device KirinNPU: SetFrequency has no effect: the context has a delegate, whose kernels "
      "receive the context\n");
}

TEST(MindSporeSetters, settings_of_a_second_device_are_named) {
  const std::string library = BuildFolder() / "examples/libmindspore_plugin.so";
  const auto context = CpuContext();
  Add<GPUDeviceInfo>(context.get())->SetDeviceID(2);
  Add<KirinNPUDeviceInfo>(context.get())->SetProvider(library);
  const LogText log;
  Model model;
  ASSERT_EQ(Build(&model, ChainModel(1), context), mindspore::kSuccess);
  EXPECT_EQ(log.text(),
            "device GPU: SetDeviceID(2) has no effect: another device of the context is used\n");
}

TEST(MindSporeSetters, settings_of_threads_are_obeyed_or_named) {
  const std::pair<const char*, Change> rows[] = {
      {"SetThreadNum: expected 0 or more threads, found -1",
       [](auto* context) { context->SetThreadNum(-1); }},
      {"SetThreadAffinity: mode 7 is unknown; 0 is used",
       [](auto* context) { context->SetThreadAffinity(7); }},
      {"SetThreadAffinity(2) has no effect: the list of cores takes precedence",
       [](auto* context) {
         context->SetThreadAffinity(2);
         context->SetThreadAffinity(std::vector<int>{AvailableCores().front()});
       }},
      {"SetInterOpParallelNum(3) is negative or exceeds the number of threads",
       [](auto* context) {
         context->SetThreadNum(2);
         context->SetInterOpParallelNum(3);
       }},
      {"SetFrequency: expected 1 to 4, found 9",
       [](auto* context) { Add<KirinNPUDeviceInfo>(context)->SetFrequency(9); }},
  };
  for (const auto& [text, change] : rows) {
    const LogText log;
    const auto context = CpuContext();
    change(context.get());
    Model model;
    const Status status = Build(&model, ChainModel(1), context);
    EXPECT_THAT(log.text() + status.GetErrDescription(), HasSubstr(text));
  }
}

// ---- Configuration files ------------------------------------------------------------------------

class MindSporeConfig : public testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::temp_directory_path() /
            ("mindspore_config_" + std::to_string(getpid()) + ".ini");
  }
  void TearDown() override { std::filesystem::remove(path_); }

  Status Load(Model* model, const std::string& text) {
    std::ofstream(path_) << text;
    return model->LoadConfig(path_);
  }
  std::string path_;
};

TEST_F(MindSporeConfig, sections_reach_the_kernels_of_a_delegate) {
  struct ConfigKernel : Kernel {
    ConfigKernel(Kernel* node, std::vector<std::string>* seen)
        : Kernel(node->inputs(), node->outputs(), nullptr, nullptr), seen_(seen) {}
    int Prepare() override {
      for (const auto& [key, value] : GetConfig("npu")) seen_->push_back(key + ":" + value);
      return RET_OK;
    }
    int Execute() override { return RET_OK; }
    int ReSize() override { return RET_OK; }
    std::vector<std::string>* seen_;
  };
  std::vector<std::string> seen, inner;
  const auto delegate = std::make_shared<RunDelegate>(nullptr);
  delegate->on_build = [&](DelegateModel* model) {
    const auto first = model->BeginKernelIterator();
    for (const auto& [key, value] : (*first)->GetConfig("npu")) inner.push_back(key);
    model->Replace(first, first + 1, new ConfigKernel(*first, &seen));
    return mindspore::kSuccess;
  };
  Model model;
  ASSERT_EQ(Load(&model,
                 "# comment\n; comment\n\n [ npu ] \n cores = 4 \r\nempty=\na=b=c\n[other]\nk=v\n"),
            mindspore::kSuccess);
  ASSERT_EQ(model.UpdateConfig("npu", {"cores", "8"}), mindspore::kSuccess);
  const LogText log;
  ASSERT_EQ(Build(&model, ChainModel(1), CpuContext(delegate)), mindspore::kSuccess);
  EXPECT_THAT(seen, ElementsAre("a:b=c", "cores:8", "empty:"));
  EXPECT_THAT(inner, ElementsAre("a", "cores", "empty"));
  for (const char* text :
       {"key 'cores' of section 'npu' has no effect", "key 'k' of section 'other' has no effect"}) {
    EXPECT_THAT(log.text(), HasSubstr(text));
  }
  // Both calls must precede Build.
  EXPECT_EQ(static_cast<int>(model.LoadConfig(path_)), -1);
  EXPECT_EQ(static_cast<int>(model.UpdateConfig("npu", {"cores", "1"})), -1);
}

TEST_F(MindSporeConfig, invalid_lines_are_reported_with_their_numbers) {
  const std::pair<const char*, const char*> rows[] = {
      {"[a]\nk=v\n[b\n", "line 3: expected ']'"},
      {"[a]\n\nno equals\n", "line 3: expected 'key = value' or '[section]'"},
      {"k=v\n", "line 1: expected '[section]' before the first key"},
      {"[a]\n=v\n", "line 2: expected a key before '='"},
      {"[ ]\n", "line 1: a section has no name"},
  };
  for (const auto& [text, message] : rows) {
    Model model;
    const Status status = Load(&model, text);
    EXPECT_EQ(static_cast<int>(status), -10) << text;
    EXPECT_THAT(status.GetErrDescription(), HasSubstr(path_));
    EXPECT_THAT(status.GetErrDescription(), HasSubstr(message));
  }
  Model model;
  EXPECT_EQ(static_cast<int>(model.LoadConfig("/no/such/file")), -10);
  EXPECT_EQ(static_cast<int>(model.LoadConfig("/tmp")), -10);
  EXPECT_EQ(static_cast<int>(model.UpdateConfig("", {"k", "v"})), -3);
}

TEST_F(MindSporeConfig, sections_and_entries_are_limited_as_in_mindspore_lite) {
  Model model;
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(model.UpdateConfig("s" + std::to_string(i), {"k", "v"}), mindspore::kSuccess);
  }
  EXPECT_EQ(static_cast<int>(model.UpdateConfig("one more", {"k", "v"})), -3);
  std::string text = "[s0]\n";
  for (int i = 0; i < 1000; ++i) text += "k" + std::to_string(i) + "=v\n";
  EXPECT_EQ(static_cast<int>(Load(&model, text)), -3);
  Model other;
  EXPECT_EQ(Load(&other, text), mindspore::kSuccess);
  EXPECT_EQ(static_cast<int>(other.UpdateConfig("s0", {"one more", "v"})), -3);
  const LogText log;
  EXPECT_EQ(Load(&other, "[s0]\nk0=w\n"), mindspore::kSuccess);
  EXPECT_THAT(log.text(), HasSubstr("line 2: key 'k0' of section 's0' exists; ignored"));
}

}  // namespace
}  // namespace deputy::mindspore_settings_test
