// SPDX-License-Identifier: Apache-2.0
//
// Checks that the driver's compiler does not warn about our programs: PoCL prints the number of
// warnings to the standard error of every process that uses the delegate. PoCL has an empty cache
// here, because it does not compile programs in its cache again.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "gpu_cl/device/program.h"
#include "tests/gpu_cl/gpu_delegate_support.h"
#include "tests/gpu_cl/gpu_models.h"
#include "tests/gpu_cl/gpu_spy.h"
#include "tests/support/paths.h"
#include "tests/support/test_interpreter.h"

namespace deputy::gpu_cl::gpu_build_log_test {
namespace {

// Returns the logs of all programs built since the list was cleared; blank logs are stored as "".
std::vector<std::string>& Logs() {
  static std::vector<std::string> logs;
  return logs;
}

std::string LogOf(cl_program program, cl_device_id device) {
  const ClApi& api = *RealCl().api;
  size_t size = 0;
  api.GetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  std::string log(size, '\0');
  api.GetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  log = log.c_str();  // cuts the text at the terminating zero
  return log.find_first_not_of(" \t\r\n") == std::string::npos ? "" : log;
}

cl_int CL_API_CALL BuildAndStoreLog(cl_program program, cl_uint count, const cl_device_id* devices,
                                    const char* options,
                                    void(CL_CALLBACK* notify)(cl_program, void*), void* user_data) {
  const cl_int code =
      RealCl().api->BuildProgram(program, count, devices, options, notify, user_data);
  Logs().push_back(LogOf(program, devices[0]));
  return code;
}

class GpuBuildLog : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    cache_ =
        std::filesystem::temp_directory_path() / ("deputy_build_log_" + std::to_string(getpid()));
    std::filesystem::create_directory(cache_);
    setenv("POCL_CACHE_DIR", cache_.c_str(), 1);
  }
  static void TearDownTestSuite() {
    std::error_code ignored;
    std::filesystem::remove_all(cache_, ignored);
  }

  void SetUp() override {
    if (!NoDeviceReason().empty()) GTEST_SKIP() << NoDeviceReason();
    ClApi table = *RealCl().api;
    table.BuildProgram = &BuildAndStoreLog;
    api_ = std::make_shared<const ClApi>(table);
    Logs().clear();
  }

  // Compiles a model and expects that the logs of its programs are blank.
  void ExpectBlankLogs(const std::string& name, const std::vector<uint8_t>& model,
                       const OptionTexts& options) {
    const size_t before = Logs().size();
    const TestDelegate gpu(api_, options);
    ASSERT_NE(gpu.get(), nullptr) << gpu.error();
    TestInterpreter t(model);
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_GT(Logs().size(), before) << name;
    for (size_t i = before; i < Logs().size(); ++i) EXPECT_EQ(Logs()[i], "") << name;
  }

  static std::vector<NamedModel> Models() {
    std::vector<NamedModel> models = TwelveModels();
    for (const char* name : {"digits_float", "digits_int8"}) {
      std::ifstream file(SourcePath(std::string("examples/digits/") + name + ".tflite"),
                         std::ios::binary);
      models.push_back({name, {std::istreambuf_iterator<char>(file), {}}});
    }
    return models;
  }

  static std::filesystem::path cache_;
  std::shared_ptr<const ClApi> api_;
};

std::filesystem::path GpuBuildLog::cache_;

TEST_F(GpuBuildLog, contains_the_compilers_warnings) {
  std::vector<Device> devices;
  Device device;
  ASSERT_TRUE(ListDevices(*api_, &devices).ok());
  ASSERT_TRUE(ChooseDevice(devices, "", &device).ok());
  ClStatus status;
  const auto context = SharedContext::Create(api_, device, &status);
  ASSERT_NE(context, nullptr) << status.text;
  ProgramRequest request;
  request.source = "kernel void k(global int* a) { if (a[0] = 3) a[1] = 2; }\n";
  request.kernels = {"k"};
  const auto program = Program::Get(context, request, nullptr, &status, nullptr);
  ASSERT_NE(program, nullptr) << status.text;
  if (Logs().at(0).empty()) GTEST_SKIP() << "this driver logs no warnings";
  EXPECT_NE(Logs().at(0).find("warning"), std::string::npos);
  EXPECT_EQ(program->BuildLog(), Logs().at(0));
}

TEST_F(GpuBuildLog, is_blank_on_processors) {
  for (const NamedModel& model : Models()) {
    ExpectBlankLogs(model.name, model.bytes, {{"device_class", "cpu"}});
    ExpectBlankLogs(model.name, model.bytes, {{"device_class", "cpu"}, {"precision", "fp16"}});
  }
}

TEST_F(GpuBuildLog, is_blank_on_desktop_gpus) {
  for (const NamedModel& model : Models()) {
    ExpectBlankLogs(model.name, model.bytes, {{"device_class", "desktop"}, {"precision", "fp16"}});
  }
}

TEST_F(GpuBuildLog, is_blank_on_mobile_gpus) {
  for (const NamedModel& model : Models()) {
    ExpectBlankLogs(model.name, model.bytes, {{"device_class", "mobile"}, {"storage", "image_2d"}});
  }
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_build_log_test
