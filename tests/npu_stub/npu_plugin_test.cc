// SPDX-License-Identifier: Apache-2.0
//
// Tests the NPU stub as a plug-in: descriptions of itself, its device, nodes and partitions; and
// its table of operators, each of which must run, and be refused, in at least one golden row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "c_api/include/deputy.h"
#include "npu_stub/support.h"
#include "tests/conformance/check.h"
#include "tests/conformance/golden_reader.h"
#include "tests/conformance/plugin_target.h"
#include "tests/npu_stub/npu_models.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::npu_plugin_test {
namespace {

using testing::HasSubstr;

class NpuPlugin : public QuietTest {
 protected:
  void SetUp() override {
    QuietTest::SetUp();
    plugin_.reset(DeputyPluginLoad(BuildPath("libdeputy_npu_stub.so").c_str()));
    ASSERT_NE(plugin_, nullptr) << DeputyLastError();
  }
  Handle Create(const Options& options = {}) {
    std::vector<const char*> keys, values;
    for (const auto& [key, value] : options) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
    return {DeputyPluginCreateDelegate(plugin_.get(), keys.data(), values.data(), keys.size()),
            &DeputyPluginDeleteDelegate};
  }
  struct Release {
    void operator()(DeputyPlugin* plugin) const { DeputyPluginRelease(plugin); }
  };
  std::unique_ptr<DeputyPlugin, Release> plugin_;
};

DeputyNodeSupport SupportOf(const TestInterpreter& t, int node) {
  DeputyNodeSupport support{};
  support.struct_size = sizeof support;
  EXPECT_EQ(DeputyInterpreterGetNodeSupport(t.get(), 0, node, 0, &support), kTfLiteOk);
  return support;
}

TEST_F(NpuPlugin, describes_itself) {
  DeputyPluginInfo info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(DeputyPluginDescribe(plugin_.get(), &info), kTfLiteOk);
  EXPECT_STREQ(info.name, "npu_stub");
  EXPECT_EQ(info.option_count, 11u);
  EXPECT_STREQ(info.options[1].name, "frequency");
  EXPECT_STREQ(info.options[1].default_value, "3");
}

TEST_F(NpuPlugin, lists_its_device_or_reports_why_it_is_absent) {
  std::string name;
  const auto note = [](void* text, const DeputyDeviceInfo* device) {
    *static_cast<std::string*>(text) = std::string(device->name) + ", " + device->type;
    EXPECT_EQ(device->preferred_layout, kDeputyLayoutNchw);
    EXPECT_EQ(device->power_class, kDeputyPowerMedium);
  };
  EXPECT_EQ(DeputyPluginListDevices(plugin_.get(), note, &name), kTfLiteOk);
  EXPECT_EQ(name, "pretended NPU, simulated NPU");
  setenv("DEPUTY_NPU", "absent", 1);
  EXPECT_EQ(DeputyPluginListDevices(plugin_.get(), note, &name), kTfLiteError);
  unsetenv("DEPUTY_NPU");
  EXPECT_THAT(DeputyLastError(), HasSubstr("there is no NPU (DEPUTY_NPU=absent)"));
}

TEST_F(NpuPlugin, reports_reasons_for_unclaimed_nodes) {
  const Handle npu = Create();
  TestInterpreter t(MixedChain(3, {0, 2}));
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), npu.get()), kTfLiteOk);
  EXPECT_NE(SupportOf(t, 0).delegated, 0);
  EXPECT_EQ(SupportOf(t, 1).delegated, 0);
  EXPECT_EQ(SupportOf(t, 1).reason, kDeputyReasonOperator);
  EXPECT_STREQ(SupportOf(t, 1).text, "the operator is not supported by the NPU");
  const Handle absent = Create({{"faults", "absent"}});
  TestInterpreter u(MixedChain(1, {0}));
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(u.get(), absent.get()), kTfLiteOk);
  EXPECT_STREQ(SupportOf(u, 0).text, "there is no NPU (simulated fault)");
}

TEST_F(NpuPlugin, reads_float16_weights_directly) {
  // Every node is supported or is the DEQUANTIZE of the weights, so all are claimed, unless they
  // are fewer than min_nodes.
  for (const char* const min_nodes : {"1", "99"}) {
    const Handle npu = Create({{"min_nodes", min_nodes}});
    TestInterpreter t(HalfModel());
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), npu.get()), kTfLiteOk);
    EXPECT_EQ(SupportOf(t, 1).delegated != 0, min_nodes == std::string_view("1")) << min_nodes;
  }
}

// ---- Rules of refusal ---------------------------------------------------------------------------

struct RefusalCase {
  const char* name;
  std::vector<uint8_t> model;
  int32_t reason;
  std::string text;
};

std::vector<uint8_t> OneUnary(TfLiteBuiltinOperator op, TfLiteType type,
                              const std::vector<int32_t>& dims) {
  ModelBuilder m;
  const int x = m.AddTensor(type, dims), y = m.AddTensor(type, dims);
  m.AddOp(op, {x}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// A model of a convolution whose weights are an input of the model.
std::vector<uint8_t> FedWeights() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 4, 4, 1});
  const int w = m.AddTensor(kTfLiteFloat32, {1, 3, 3, 1});
  const int y = m.AddTensor(kTfLiteFloat32, {1, 4, 4, 1});
  m.AddOp(kTfLiteBuiltinConv2d, {x, w}, {y},
          schema::CreateConv2DOptions(m.fbb(), schema::Padding::SAME, 1, 1));
  m.SetInputs({x, w});
  m.SetOutputs({y});
  return m.Finish();
}

std::vector<uint8_t> SumWith(schema::ActivationFunctionType activation) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {4}), y = m.AddTensor(kTfLiteFloat32, {4});
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y}, schema::CreateAddOptions(m.fbb(), activation));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

TEST_F(NpuPlugin, refuses_by_rule_and_never_fails) {
  const std::vector<RefusalCase> kCases = {
      {"operator", OneUnary(kTfLiteBuiltinZerosLike, kTfLiteFloat32, {2}), kDeputyReasonOperator,
       "the operator is not supported by the NPU"},
      {"type", OneUnary(kTfLiteBuiltinReshape, kTfLiteInt64, {2}), kDeputyReasonType,
       "RESHAPE: expected FLOAT32 INT32, found type 4"},
      {"rank", OneUnary(kTfLiteBuiltinAbs, kTfLiteFloat32, {1, 1, 1, 1, 2}), kDeputyReasonShape,
       "input 0: expected rank 4 at most, found 5"},
      {"empty", OneUnary(kTfLiteBuiltinAbs, kTfLiteFloat32, {2, 0}), kDeputyReasonShape,
       "input 0: dimension 1 is 0"},
      {"weights", FedWeights(), kDeputyReasonNotConstant, "expected constant weights (input 1)"},
      {"activation", SumWith(schema::ActivationFunctionType::SIGN_BIT), kDeputyReasonParameter,
       "fused activation 5"},
  };
  for (const RefusalCase& row : kCases) {
    // The delegate is applied without the CPU's checks, because the runtime does not offer a static
    // delegate nodes that the CPU refuses.
    const Handle npu = Create({{"resize", "refuse"}});
    TestInterpreter t(row.model);
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), npu.get()), kTfLiteOk) << row.name;
    EXPECT_EQ(SupportOf(t, 0).delegated, 0) << row.name;
    EXPECT_EQ(SupportOf(t, 0).reason, row.reason) << row.name;
    EXPECT_EQ(SupportOf(t, 0).text, row.text) << row.name;
    EXPECT_EQ(t.log(), "") << row.name;
  }
}

// Nodes after a shape that is known only at run time are not claimed.
TEST_F(NpuPlugin, leaves_nodes_after_a_dynamic_shape) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {4});
  const int size = m.AddTensor(kTfLiteInt32, {1});
  const int first = m.AddTensor(kTfLiteFloat32, {4});
  const int shaped = m.AddTensor(kTfLiteFloat32, {4});
  const int y = m.AddTensor(kTfLiteFloat32, {4});
  m.AddOp(kTfLiteBuiltinAbs, {x}, {first});
  m.AddOp(kTfLiteBuiltinReshape, {first, size}, {shaped});
  m.AddOp(kTfLiteBuiltinAbs, {shaped}, {y});
  m.SetInputs({x, size});
  m.SetOutputs({y});
  const Handle npu = Create({{"resize", "refuse"}});
  TestInterpreter t(m.Finish());
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), npu.get()), kTfLiteOk) << t.log();
  EXPECT_NE(SupportOf(t, 0).delegated, 0);
  EXPECT_EQ(SupportOf(t, 1).reason, kDeputyReasonDynamicShape);
  EXPECT_EQ(SupportOf(t, 2).reason, kDeputyReasonDynamicShape);
}

// ---- The table of operators ---------------------------------------------------------------------

// Names of the operators that ran in the NPU, and of those that were refused with a reason.
struct Coverage {
  std::set<std::string> ran, left;
};

Coverage RunGoldenRows() {
  const conformance::Target target = conformance::PluginTarget(
      "npu", BuildPath("libdeputy_npu_stub.so"), {}, conformance::ReportedReason);
  Coverage met;
  for (const auto& entry : std::filesystem::directory_iterator(TestDataPath("golden"))) {
    std::vector<golden::Row> rows;
    std::string error;
    EXPECT_TRUE(golden::ReadGolden(entry.path().string(), &rows, &error)) << error;
    for (const golden::Row& row : rows) {
      const conformance::Result result = RunRow(row, target, kDeputyArithmeticDefault);
      if (result.delegated > 0) met.ran.insert(row.op);
      if (!result.left.empty()) met.left.insert(row.op);
    }
  }
  return met;
}

TEST(NpuTable, every_operator_has_accepted_and_refused_rows) {
  const Coverage met = RunGoldenRows();
  std::set<std::string> names;
  const char* name = nullptr;
  int32_t version = 0;
  for (size_t i = 0; NpuSupportedOperator(i, &name, &version) >= 0; ++i) {
    EXPECT_TRUE(names.insert(name).second) << name << " is in the table twice";
    EXPECT_TRUE(met.ran.count(name) != 0) << name << " never ran";
    EXPECT_TRUE(met.left.count(name) != 0) << name << " was never refused";
  }
}

}  // namespace
}  // namespace deputy::npu_plugin_test
