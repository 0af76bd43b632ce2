// SPDX-License-Identifier: Apache-2.0
//
// Tests engines from libraries, used through MindSpore's API: one delegate binary for models in
// both formats, and engines that a context's devices name. A library that cannot be loaded is only
// logged.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "deputy/deputy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/mindspore/mindspore_support.h"
#include "tests/mindspore/ms/ms_writer.h"
#include "tests/support/interpreter_queries.h"

namespace deputy::mindspore_engines_test {
namespace {

using mindspore::Model;
using testing::HasSubstr;

std::string BuildPath(const std::string& path) {
  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  return self.parent_path().parent_path() / path;
}

// ---- One model in both formats ------------------------------------------------------------------

constexpr int kSize = 5, kOut = 3, kChannels = 2;
using Floats = std::vector<float>;

Floats Numbers(size_t count, float step) {
  Floats values(count);
  for (size_t i = 0; i < count; ++i) values[i] = step * static_cast<float>(i % 7) - 1;
  return values;
}
const Floats kWeights = Numbers(9 * kChannels * kChannels, 0.25F);
const Floats kBias = {0.5F, -0.25F};
const Floats kInput = Numbers(kSize * kSize * kChannels, 0.375F);

// A TensorFlow Lite model of |2 relu(conv(x))|: a convolution of 3 x 3 without padding, RELU, an
// addition of the result to itself, ABS.
std::vector<uint8_t> InTflite() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, kSize, kSize, kChannels}, "x");
  const int w = m.AddConstant<float>(kTfLiteFloat32, {kChannels, 3, 3, kChannels}, kWeights, "w");
  const int b = m.AddConstant<float>(kTfLiteFloat32, {kChannels}, kBias, "b");
  std::vector<int> t;
  for (int i = 0; i < 4; ++i) {
    t.push_back(m.AddTensor(kTfLiteFloat32, {1, kOut, kOut, kChannels}, "t" + std::to_string(i)));
  }
  m.AddOp(kTfLiteBuiltinConv2d, {x, w, b}, {t[0]},
          schema::CreateConv2DOptions(m.fbb(), schema::Padding::VALID, 1, 1));
  m.AddOp(kTfLiteBuiltinRelu, {t[0]}, {t[1]});
  m.AddOp(kTfLiteBuiltinAdd, {t[1], t[1]}, {t[2]}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinAbs, {t[2]}, {t[3]});
  m.SetInputs({x});
  m.SetOutputs({t[3]});
  return m.Finish();
}

std::vector<uint8_t> InMs() {
  ms::MsWriter w;
  const std::vector<int32_t> out = {1, kOut, kOut, kChannels};
  const uint32_t x = w.Input({1, kSize, kSize, kChannels});
  const uint32_t weights = w.Constant<float>({kChannels, 3, 3, kChannels}, kWeights);
  const uint32_t bias = w.Constant<float>({kChannels}, kBias);
  const uint32_t t0 = w.Tensor(out), t1 = w.Tensor(out), t2 = w.Tensor(out), y = w.Output(out);
  const auto kernel = w.Longs({3, 3}), ones = w.Longs({1, 1}), pads = w.Longs({0, 0, 0, 0});
  w.Node(ms::file::PrimitiveType_Conv2DFusion, {x, weights, bias}, {t0},
         ms::file::CreateConv2DFusion(w.fbb(), ms::file::Format_NHWC, kernel, ones, ones,
                                      ms::file::PadMode_VALID, pads, 0, 1, kChannels, kChannels,
                                      ms::file::ActivationType_NO_ACTIVATION));
  w.Node(ms::file::PrimitiveType_Activation, {t0}, {t1},
         ms::file::CreateActivation(w.fbb(), ms::file::ActivationType_RELU));
  w.Node(ms::file::PrimitiveType_AddFusion, {t1, t1}, {t2}, ms::file::CreateAddFusion(w.fbb()));
  w.Node(ms::file::PrimitiveType_Abs, {t2}, {y});
  return w.Finish();
}

// Computes the model's result with plain loops.
Floats Expected() {
  Floats result;
  for (int y = 0; y < kOut; ++y) {
    for (int x = 0; x < kOut; ++x) {
      for (int o = 0; o < kChannels; ++o) {
        float sum = kBias[static_cast<size_t>(o)];
        for (int i = 0; i < 9 * kChannels; ++i) {
          const int row = y + i / (3 * kChannels), rest = i % (3 * kChannels);
          sum += kInput[static_cast<size_t>((row * kSize + x) * kChannels + rest)] *
                 kWeights[static_cast<size_t>(o * 9 * kChannels + i)];
        }
        result.push_back(2 * std::max(sum, 0.0F));
      }
    }
  }
  return result;
}

Floats Predict(Model* model) {
  std::vector<MSTensor> inputs = model->GetInputs(), outputs;
  std::copy(kInput.begin(), kInput.end(), static_cast<float*>(inputs[0].MutableData()));
  EXPECT_EQ(model->Predict(inputs, &outputs), mindspore::kSuccess);
  const auto* values = static_cast<const float*>(outputs[0].Data().get());
  return {values, values + outputs[0].ElementNum()};
}

int NodesClaimed(const Model& model) {
  const DeputyDelegateInfo info = DelegateInfoOf(model.interpreter(), 0);
  return info.node_count;
}

std::shared_ptr<mindspore::Context> CpuContext() {
  auto context = std::make_shared<mindspore::Context>();
  context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
  return context;
}

TEST(MindSporeEngines, one_delegate_binary_runs_models_of_both_formats) {
  struct Row {
    const char* library;
    int nodes;  // number of nodes that the library claims
  };
  for (const Row& row : {Row{"examples/libmindspore_plugin.so", 3}, Row{"libdeputy_npu_stub.so", 4},
                         Row{"libdeputy_xnnpack.so", 4}}) {
    if (!std::filesystem::exists(BuildPath(row.library))) continue;  // XNNPACK is optional
    DeputyPlugin* plugin = DeputyPluginLoad(BuildPath(row.library).c_str());
    ASSERT_NE(plugin, nullptr) << DeputyLastError();
    std::vector<Floats> results;
    for (const std::vector<uint8_t>& bytes : {InTflite(), InMs()}) {
      TfLiteDelegate* delegate = DeputyPluginCreateDelegate(plugin, nullptr, nullptr, 0);
      const auto context = CpuContext();
      context->AddTfLiteDelegate(delegate);
      {
        Model model;
        ASSERT_EQ(model.Build(bytes.data(), bytes.size(), mindspore::kMindIR, context),
                  mindspore::kSuccess)
            << row.library;
        EXPECT_EQ(NodesClaimed(model), row.nodes) << row.library;
        results.push_back(Predict(&model));
      }
      DeputyPluginDeleteDelegate(delegate);
    }
    EXPECT_EQ(results[0], results[1]) << row.library;
    EXPECT_THAT(results[0], testing::Pointwise(testing::FloatNear(1e-5F), Expected()))
        << row.library;
    DeputyPluginRelease(plugin);
  }
}

// ---- Engines by name ----------------------------------------------------------------------------

std::shared_ptr<mindspore::Context> WithDevice(
    const std::shared_ptr<mindspore::DeviceInfoContext>& device, const std::string& library) {
  const auto context = CpuContext();
  device->SetProvider(library);
  context->MutableDeviceInfo().insert(context->MutableDeviceInfo().begin(), device);
  return context;
}

// The provider of an NPU device and of a GPU device is the path of an engine.
TEST(MindSporeEngines, devices_name_engines) {
  const std::vector<uint8_t> bytes = InTflite();
  const auto npu = std::make_shared<mindspore::KirinNPUDeviceInfo>();
  npu->SetFrequency(4);
  Model on_npu, on_engine;
  ASSERT_EQ(on_npu.Build(bytes.data(), bytes.size(), mindspore::kMindIR,
                         WithDevice(npu, BuildPath("libdeputy_npu_stub.so"))),
            mindspore::kSuccess);
  EXPECT_EQ(NodesClaimed(on_npu), 4);
  ASSERT_EQ(on_engine.Build(bytes.data(), bytes.size(), mindspore::kMindIR,
                            WithDevice(std::make_shared<mindspore::GPUDeviceInfo>(),
                                       BuildPath("examples/libmindspore_plugin.so"))),
            mindspore::kSuccess);
  EXPECT_EQ(NodesClaimed(on_engine), 3);
  for (Model* model : {&on_npu, &on_engine}) {
    EXPECT_THAT(Predict(model), testing::Pointwise(testing::FloatNear(1e-5F), Expected()));
  }
}

// Calls `function` and returns what the process writes to standard error meanwhile.
std::string WrittenToStderr(const std::function<void()>& function) {
  testing::internal::CaptureStderr();
  function();
  return testing::internal::GetCapturedStderr();
}

TEST(MindSporeEngines, unavailable_engines_are_only_logged) {
  Records lines;
  DeputyMSSetLogSink([](void* records, DeputyMSLogLevel,
                        const char* text) { static_cast<Records*>(records)->push_back(text); },
                     &lines);
  const std::vector<uint8_t> bytes = InTflite();
  const std::string no_library = testing::TempDir() + "/mindspore_engines_test.so";
  std::ofstream(no_library) << "no library";
  // A missing file, a file that is no library, and a library that creates no delegate.
  for (const std::string& library : {std::string("/nowhere/libengine.so"), no_library,
                                     BuildPath("tests/plugins/libnull_result.so")}) {
    lines.clear();
    const std::string written = WrittenToStderr([&] {
      Model model;
      EXPECT_EQ(model.Build(bytes.data(), bytes.size(), mindspore::kMindIR,
                            WithDevice(std::make_shared<mindspore::KirinNPUDeviceInfo>(), library)),
                mindspore::kSuccess);
      EXPECT_EQ(DeputyInterpreterGetDelegateCount(model.interpreter()), 0);
      EXPECT_THAT(Predict(&model), testing::Pointwise(testing::FloatNear(1e-5F), Expected()));
    });
    EXPECT_EQ(written, "");
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_THAT(lines[0], HasSubstr(library));
  }
  DeputyMSSetLogSink(nullptr, nullptr);
  std::filesystem::remove(no_library);
}

}  // namespace
}  // namespace deputy::mindspore_engines_test
