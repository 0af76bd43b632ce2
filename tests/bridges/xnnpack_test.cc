// SPDX-License-Identifier: Apache-2.0
//
// Tests libdeputy_xnnpack.so, if it is built: nodes run in it, results are the CPU's, and models
// cannot trigger XNNPACK's assertions. conformance_test runs all operator cases and golden rows on
// it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "c_api/include/deputy.h"
#include "c_api/include/deputy_plugin.h"
#include "tests/bridges/damaged_models.h"
#include "tests/npu_stub/npu_delegate_support.h"
#include "tests/npu_stub/npu_models.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/test_interpreter.h"

namespace deputy::xnnpack_test {
namespace {

using testing::HasSubstr;

class Xnnpack : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path = BuildPath("libdeputy_xnnpack.so");
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "Deputy is built without XNNPACK";
    plugin_ = DeputyPluginLoad(path.c_str());
    ASSERT_NE(plugin_, nullptr) << DeputyLastError();
  }
  void TearDown() override { DeputyPluginRelease(plugin_); }

  using Delegate = std::unique_ptr<TfLiteDelegate, void (*)(TfLiteDelegate*)>;
  Delegate Create(const char* threads = "1") const {
    const char* key = "num_threads";
    return {DeputyPluginCreateDelegate(plugin_, &key, &threads, 1), &DeputyPluginDeleteDelegate};
  }

  // Runs the model once with the delegate; the number of claimed nodes is added to `out_nodes`.
  // Returns "" or the difference from the CPU.
  std::string Run(const std::vector<uint8_t>& model, size_t* out_nodes,
                  const std::vector<int>& dims = {}, const char* threads = "1") const {
    const Delegate delegate = Create(threads);
    TestInterpreter t(model);
    if (TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()) != kTfLiteOk) {
      return "apply: " + t.log();
    }
    if (!dims.empty() && t.Resize(0, dims) != kTfLiteOk) return "resize: " + t.log();
    if (t.Allocate() != kTfLiteOk) return "allocate: " + t.log();
    *out_nodes += NodesClaimed(t);
    FillInputs(&t);
    if (t.Invoke() != kTfLiteOk) return "invoke: " + t.log();
    return Compare(OnCpu(model, dims), Outputs(&t));
  }

  static size_t NodesClaimed(const TestInterpreter& t) {
    const DeputyDelegateInfo info = DelegateInfoOf(t.get(), 0);
    return static_cast<size_t>(info.node_count);
  }

  // Returns the delegate's reason for node `index`.
  std::string SupportReason(const std::vector<uint8_t>& model, int index) const {
    const Delegate delegate = Create();
    TestInterpreter t(model);
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
    DeputyNodeSupport support = {};
    support.struct_size = sizeof support;
    EXPECT_EQ(DeputyInterpreterGetNodeSupport(t.get(), 0, index, 0, &support), kTfLiteOk);
    return support.text == nullptr ? "" : support.text;
  }

  DeputyPlugin* plugin_ = nullptr;
};

std::vector<uint8_t> ReadModel(const std::string& path) {
  std::ifstream file(SourcePath(path), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(Xnnpack, runs_a_whole_network) {
  size_t nodes = 0;
  EXPECT_EQ(Run(ReadModel("examples/digits/digits_float.tflite"), &nodes), "");
  EXPECT_EQ(nodes, 16U);
  nodes = 0;
  EXPECT_EQ(Run(ReadModel("examples/digits/digits_float.tflite"), &nodes, {}, "3"), "");
  EXPECT_EQ(nodes, 16U);
}

// The delegate's threads do not exist in a forked child, which must not wait for them, neither in
// invoke nor in delete.
TEST_F(Xnnpack, forked_child_computes_on_the_cpu_or_fails) {
  const std::vector<uint8_t> model = ReadModel("examples/digits/digits_float.tflite");
  for (const DeputyDelegatePolicy policy : {kDeputyPolicyTfLite, kDeputyPolicyHot}) {
    Delegate delegate = Create("3");
    auto t = std::make_unique<TestInterpreter>(model, [=](TfLiteInterpreterOptions* options) {
      DeputyInterpreterOptionsSetDelegatePolicy(options, policy);
    });
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t->get(), delegate.get()), kTfLiteOk);
    ASSERT_EQ(t->Allocate(), kTfLiteOk) << t->log();
    FillInputs(t.get());
    ASSERT_EQ(t->Invoke(), kTfLiteOk) << t->log();
    const pid_t child = fork();
    if (child == 0) {
      constexpr unsigned kTimeoutSeconds = 60;
      alarm(kTimeoutSeconds);
      const bool computes =
          t->Invoke() == kTfLiteOk && Compare(OnCpu(model), Outputs(t.get())).empty();
      t = nullptr;
      delegate = nullptr;
      _exit(computes == (policy == kDeputyPolicyHot) ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << policy;
    EXPECT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  }
}

TEST_F(Xnnpack, is_rebuilt_after_a_resize) {
  size_t nodes = 0;
  EXPECT_EQ(Run(ResizableModel(), &nodes, {3, 10, 12, 2}), "");
  EXPECT_EQ(nodes, 2U);
}

TEST_F(Xnnpack, random_graphs_agree_with_the_cpu) {
  size_t nodes = 0;
  constexpr uint32_t kGraphs = 300;
  for (uint32_t seed = 0; seed < kGraphs; ++seed) {
    ASSERT_EQ(Run(RandomModel(seed), &nodes), "") << seed;
  }
  EXPECT_GT(nodes, size_t{2} * kGraphs);
}

// y = -x is an output of the graph and also the input of z = |y|.
TEST_F(Xnnpack, outputs_that_are_also_read_are_written) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 4}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {1, 4}, "y");
  const int z = m.AddTensor(kTfLiteFloat32, {1, 4}, "z");
  m.AddOp(kTfLiteBuiltinNeg, {x}, {y});
  m.AddOp(kTfLiteBuiltinAbs, {y}, {z});
  m.SetInputs({x});
  m.SetOutputs({z, y});
  size_t nodes = 0;
  EXPECT_EQ(Run(m.Finish(), &nodes), "");
  EXPECT_EQ(nodes, 2U);
}

TEST_F(Xnnpack, refuses_with_a_reason) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 4}, "x");
  const int scalar = m.AddTensor(kTfLiteFloat32, {}, "scalar");
  std::vector<int> y;
  for (int i = 0; i < 5; ++i) y.push_back(m.AddTensor(kTfLiteFloat32, {1, 4}, "y"));
  const int last = m.AddTensor(kTfLiteFloat32, {}, "last");
  m.AddOp(kTfLiteBuiltinExp, {x}, {y[0]});
  m.AddOp(kTfLiteBuiltinSoftmax, {x}, {y[1]}, schema::CreateSoftmaxOptions(m.fbb(), 2.0F));
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y[2]},
          schema::CreateAddOptions(m.fbb(), schema::ActivationFunctionType::TANH));
  m.AddOp(kTfLiteBuiltinPrelu, {x, x}, {y[3]});
  m.AddOp(kTfLiteBuiltinNeg, {scalar}, {last});
  m.AddOp(kTfLiteBuiltinNeg, {x}, {y[4]});
  m.SetInputs({x, scalar});
  m.SetOutputs({y[0], y[1], y[2], y[3], y[4], last});
  const std::vector<uint8_t> model = m.Finish();
  const char* expected[] = {"the operator is not supported with XNNPACK",
                            "beta: expected 1, found 2",
                            "fused activation: expected RELU, RELU6 or RELU_N1_TO_1",
                            "tensor 'x': expected a constant",
                            "expected a dimension, found a scalar",
                            ""};
  for (int node = 0; node < 6; ++node)
    EXPECT_EQ(SupportReason(model, node), expected[node]) << node;
}

TEST_F(Xnnpack, options_are_checked) {
  for (const char* threads : {"0", "-1", "1025"}) {
    EXPECT_EQ(Create(threads), nullptr);
    EXPECT_THAT(DeputyLastError(), HasSubstr("option 'num_threads': expected 1 to 1024, found"));
  }
  EXPECT_EQ(Create("two"), nullptr);
}

// MAX_POOL_2D with windows of up to INT32_MAX x INT32_MAX elements must not crash; its results are
// not compared.
TEST_F(Xnnpack, huge_windows_are_rejected_safely) {
  for (const int32_t size : {1000, 70000, 1 << 20, INT32_MAX}) {
    for (const auto padding : {schema::Padding::SAME, schema::Padding::VALID}) {
      ModelBuilder m;
      const int x = m.AddTensor(kTfLiteFloat32, {1, 3, 3, 2}, "x");
      const int y = m.AddTensor(kTfLiteFloat32, {1, 3, 3, 2}, "y");
      m.AddOp(kTfLiteBuiltinMaxPool2d, {x}, {y},
              schema::CreatePool2DOptions(m.fbb(), padding, 1, 1, size, size));
      m.SetInputs({x});
      m.SetOutputs({y});
      const std::vector<uint8_t> model = m.Finish();
      const Delegate delegate = Create();
      TestInterpreter t(model);
      if (t.get() == nullptr) continue;
      if (size == 1000 && padding == schema::Padding::SAME) {
        EXPECT_EQ(SupportReason(model, 0), "a window of 1000000 elements is too large");
      }
      (void)TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get());
      if (t.Allocate() == kTfLiteOk && size <= 70000) {
        FillInputs(&t);
        (void)t.Invoke();
      }
    }
  }
}

TEST_F(Xnnpack, damaged_models_are_rejected_safely) {
  ExpectDamagedModelsDoNoHarm([this] { return Create(); });
}

}  // namespace
}  // namespace deputy::xnnpack_test
