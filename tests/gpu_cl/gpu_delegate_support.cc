// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu_cl/gpu_delegate_support.h"

#include <cmath>

#include "gpu_cl/delegate.h"
#include "gpu_cl/options.h"

namespace deputy::gpu_cl {

void SpiedDeviceTest::SetUp() {
  if (!NoDeviceReason().empty()) GTEST_SKIP() << NoDeviceReason();
  spy_ = std::make_unique<ClSpy>(*RealCl().api);
}

void SpiedDeviceTest::TearDown() {
  if (spy_ == nullptr) return;
  EXPECT_EQ(spy_->Unbalanced(), "");
}

std::shared_ptr<SharedContext> SpiedDeviceTest::NewContext() const {
  std::vector<Device> devices;
  EXPECT_TRUE(ListDevices(*spy_->api(), &devices).ok());
  Device device;
  EXPECT_TRUE(ChooseDevice(devices, "", &device).ok());
  ClStatus status;
  auto context = SharedContext::Create(spy_->api(), device, &status);
  EXPECT_NE(context, nullptr) << status.text;
  return context;
}

std::vector<float> RunOnNumbers(Executor* executor, ClStatus* out_status) {
  const compiler::Graph& graph = executor->graph();
  std::vector<std::vector<float>> contents;
  std::vector<InputLocation> inputs;
  for (compiler::ValueId id : graph.inputs) {
    std::vector<float>& numbers = contents.emplace_back(graph.value(id).bytes() / sizeof(float));
    for (size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = static_cast<float>(static_cast<int>(i * 7 % 23) - 11) / 4;
    }
  }
  for (const auto& numbers : contents) inputs.push_back({numbers.data(), nullptr});
  std::vector<float> found(graph.value(graph.outputs[0]).bytes() / sizeof(float), NAN);
  const OutputLocation output = {found.data(), nullptr};
  *out_status = executor->Run(inputs, {&output, 1});
  return found;
}

std::vector<float> RunGraph(const std::shared_ptr<SharedContext>& context,
                            const compiler::Graph& graph, const ExecutorOptions& options,
                            ClStatus* out_status) {
  const auto executor = Executor::Create(context, graph, options, out_status);
  if (executor == nullptr) return {};
  return RunOnNumbers(executor.get(), out_status);
}

TestDelegate::TestDelegate(std::shared_ptr<const ClApi> api, const OptionTexts& options) {
  Options parsed;
  for (const auto& [key, value] : options) {
    error_ = ParseOptions(&key, &value, 1, &parsed);
    if (!error_.empty()) return;
  }
  delegate_ = CreateDelegateOn(std::move(api), parsed, &error_);
}

TestDelegate::~TestDelegate() { DestroyDelegate(delegate_); }

DeputyDelegateInfo FirstDelegate(const TestInterpreter& t) {
  DeputyDelegateInfo info{};
  info.struct_size = sizeof info;
  EXPECT_EQ(DeputyInterpreterGetDelegateInfo(t.get(), 0, &info), kTfLiteOk);
  return info;
}

void SetImage(TestInterpreter* t, const std::vector<int32_t>& indices) {
  std::vector<float> pixels(16);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i * 7 % 11) / 4 - 1;
  t->Set<float>(0, pixels);
  t->Set<int32_t>(1, indices);
}

std::vector<float> ImageResultOnCpu() {
  TestInterpreter t(ImageModel());
  EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  SetImage(&t);
  EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  return t.Get<float>(0);
}

}  // namespace deputy::gpu_cl
