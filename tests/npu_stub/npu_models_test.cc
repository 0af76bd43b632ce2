// SPDX-License-Identifier: Apache-2.0
//
// Runs small models (npu_models.h), those of the examples and those of ../shared/models if present
// with the NPU stub enabled, absent, failing to compile, to load and to run, slow, and crashing in
// a child process: the result is the CPU's, or a status reports the failure. Nodes that ran in the
// NPU are counted. npu_random_test does the same with random graphs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/npu_stub/npu_delegate_support.h"
#include "tests/npu_stub/npu_models.h"
#include "tests/support/paths.h"

namespace deputy::npu_models_test {
namespace {

struct NamedModel {
  std::string name;
  std::vector<uint8_t> bytes;
};

std::vector<NamedModel> Models() {
  std::vector<NamedModel> models = {{"conv", ConvModel()},
                                    {"two inputs", TwoInputsModel()},
                                    {"half", HalfModel()},
                                    {"early half", EarlyHalfModel()}};
  std::vector<std::filesystem::path> paths = {SourcePath("examples/conv_mean.tflite"),
                                              SourcePath("examples/digits/digits_float.tflite"),
                                              SourcePath("examples/digits/digits_int8.tflite")};
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(SourcePath("../shared/models"), error)) {
    if (entry.path().extension() == ".tflite") paths.push_back(entry.path());
  }
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    models.push_back({path.filename().string(), {std::istreambuf_iterator<char>(file), {}}});
  }
  return models;
}

// Fills inputs with the same values in every run: floats between -1 and 1, any int8, and zeros of
// other types.
void FillAll(TestInterpreter* t) {
  std::mt19937 random(3);
  for (int32_t i = 0; i < TfLiteInterpreterGetInputTensorCount(t->get()); ++i) {
    const TfLiteTensor* tensor = TfLiteInterpreterGetInputTensor(t->get(), i);
    std::vector<uint8_t> bytes(TfLiteTensorByteSize(tensor), 0);
    if (TfLiteTensorType(tensor) == kTfLiteFloat32) {
      auto* values = reinterpret_cast<float*>(bytes.data());
      for (size_t k = 0; k < bytes.size() / sizeof(float); ++k) {
        values[k] = static_cast<float>(random() % 2001) / 1000.0F - 1.0F;
      }
    } else if (TfLiteTensorType(tensor) == kTfLiteInt8) {
      for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    }
    t->Set(i, bytes);
  }
}

struct Output {
  TfLiteType type;
  std::vector<uint8_t> bytes;
};

std::vector<Output> OutputsOf(TestInterpreter* t) {
  std::vector<Output> outputs;
  for (int32_t i = 0; i < TfLiteInterpreterGetOutputTensorCount(t->get()); ++i) {
    outputs.push_back(
        {TfLiteTensorType(TfLiteInterpreterGetOutputTensor(t->get(), i)), t->Get<uint8_t>(i)});
  }
  return outputs;
}

// Returns the difference of outputs, "" if there is none: floats may differ by 1e-4 of the output's
// greatest magnitude, because networks are deep; others must be equal.
std::string Difference(const std::vector<Output>& expected, const std::vector<Output>& found) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const Output &a = expected[i], &b = found[i];
    if (a.bytes.size() != b.bytes.size()) return "another size";
    if (a.type != kTfLiteFloat32) {
      if (a.bytes != b.bytes) return "output " + std::to_string(i) + " differs";
      continue;
    }
    const auto* x = reinterpret_cast<const float*>(a.bytes.data());
    const auto* y = reinterpret_cast<const float*>(b.bytes.data());
    const size_t count = a.bytes.size() / sizeof(float);
    float greatest = 0;
    for (size_t k = 0; k < count; ++k) greatest = std::max(greatest, std::abs(x[k]));
    for (size_t k = 0; k < count; ++k) {
      if (std::abs(x[k] - y[k]) <= 1e-4F * greatest + 1e-6F) continue;
      return "output " + std::to_string(i) + " element " + std::to_string(k) + ": " +
             std::to_string(y[k]) + ", expected " + std::to_string(x[k]);
    }
  }
  return "";
}

// Result of one life cycle: "" and outputs, or the stage that failed.
struct LifeCycle {
  std::string end;
  int nodes = 0;  // number of nodes that ran in the NPU
  std::vector<Output> outputs;
};

LifeCycle RunLifeCycle(const std::vector<uint8_t>& model, const char* faults,
                       DeputyDelegatePolicy policy) {
  LifeCycle life;
  const bool is_slow = std::string(faults) == "slow";
  const NpuTestDelegate npu(
      NpuOptionTexts{{"faults", faults}, {"time_limit_ms", is_slow ? "1" : "60000"}});
  TestInterpreter t(model, [policy](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetDelegatePolicy(options, policy);
  });
  // The status is ignored: with dynamic shapes, or if the apply fails, the CPU runs the model.
  (void)TfLiteInterpreterModifyGraphWithDelegate(t.get(), npu.get());
  DeputyDelegateInfo info = {};
  info.struct_size = sizeof info;
  if (DeputyInterpreterGetDelegateInfo(t.get(), 0, &info) == kTfLiteOk) {
    life.nodes = info.applied != 0 ? info.node_count : 0;
  }
  if (t.Allocate() != kTfLiteOk) return {"allocate: " + t.log(), life.nodes, {}};
  FillAll(&t);
  if (t.Invoke() != kTfLiteOk) return {"invoke", life.nodes, {}};
  life.outputs = OutputsOf(&t);
  return life;
}

// Returns the model's outputs on the CPU; nothing if the model has custom operators that the CPU
// does not support.
std::vector<Output> OnTheCpu(const std::vector<uint8_t>& model) {
  TestInterpreter t(model);
  if (t.get() == nullptr || t.Allocate() != kTfLiteOk) return {};
  FillAll(&t);
  return t.Invoke() == kTfLiteOk ? OutputsOf(&t) : std::vector<Output>();
}

// Runs a model in a child process in which the device crashes. Returns true if the child was ended
// by a signal, or normally if the model has no nodes for the device.
bool ExitsOrIsKilledBySignal(const std::vector<uint8_t>& model, bool has_nodes) {
  const pid_t child = fork();
  if (child == 0) {
    const LifeCycle life = RunLifeCycle(model, "crash", kDeputyPolicyHot);
    _exit(life.end.empty() ? 0 : 1);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return false;
  return has_nodes ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(NpuModels, agree_with_the_cpu_or_report_failure) {
  int nodes = 0;
  for (const NamedModel& model : Models()) {
    SCOPED_TRACE(model.name);
    const std::vector<Output> expected = OnTheCpu(model.bytes);
    if (expected.empty()) continue;
    const LifeCycle on = RunLifeCycle(model.bytes, "", kDeputyPolicyTfLite);
    EXPECT_EQ(on.end, "");
    EXPECT_EQ(Difference(expected, on.outputs), "");
    nodes += on.nodes;
    for (const auto policy : {kDeputyPolicyTfLite, kDeputyPolicyHot}) {
      for (const char* faults : {"absent", "compile", "load"}) {
        const LifeCycle life = RunLifeCycle(model.bytes, faults, policy);
        EXPECT_EQ(life.end, "") << faults;
        EXPECT_EQ(life.nodes, 0) << faults;
        EXPECT_EQ(Difference(expected, life.outputs), "") << faults;
      }
    }
    for (const char* faults : {"run", "slow"}) {
      const LifeCycle plain = RunLifeCycle(model.bytes, faults, kDeputyPolicyTfLite);
      EXPECT_EQ(plain.end, on.nodes > 0 ? "invoke" : "") << faults;
      const LifeCycle hot = RunLifeCycle(model.bytes, faults, kDeputyPolicyHot);
      EXPECT_EQ(hot.end, "") << faults;
      EXPECT_EQ(hot.nodes, on.nodes) << faults;
      EXPECT_EQ(Difference(expected, hot.outputs), "") << faults;
    }
    EXPECT_TRUE(ExitsOrIsKilledBySignal(model.bytes, on.nodes > 0));
    std::printf("%5d nodes in the NPU: %s\n", on.nodes, model.name.c_str());
  }
  // The lower bound is the sum over the models: ConvModel has 6 nodes, TwoInputsModel 2, HalfModel
  // 3, EarlyHalfModel 2, conv_mean 5, the float digits 16.
  EXPECT_GE(nodes, 34);
}

}  // namespace
}  // namespace deputy::npu_models_test
