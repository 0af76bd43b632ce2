// SPDX-License-Identifier: Apache-2.0
//
// Tests the telemetry callbacks in an interpreter's options: settings are reported once, calls with
// their status, and operators, including nodes of delegates, with their begin and end.
#include "c_api/include/telemetry_profiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "c_api/include/deputy.h"
#include "tests/support/model_builder.h"
#include "tests/support/scripted_delegate.h"
#include "tests/support/test_interpreter.h"

namespace deputy::telemetry_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string Text(const char* name, int64_t op, int64_t subgraph) {
  return std::string(name) + " " + std::to_string(subgraph) + "." + std::to_string(op);
}

// Records every callback as text.
struct Recorder {
  Recorder() {
    profiler.data = this;
    profiler.ReportTelemetryEvent = [](Profiler* p, const char* name, uint64_t status) {
      Of(p)->log.push_back(std::string(name) + " " + std::to_string(status));
    };
    profiler.ReportTelemetryOpEvent = [](Profiler* p, const char* name, int64_t op,
                                         int64_t subgraph, uint64_t) {
      Of(p)->log.push_back("op event " + Text(name, op, subgraph));
    };
    profiler.ReportSettings = [](Profiler* p, const char* name,
                                 const TfLiteTelemetrySettings* settings) {
      Of(p)->log.emplace_back(name);
      Of(p)->ReadSettings(settings);
    };
    profiler.ReportBeginOpInvokeEvent = [](Profiler* p, const char* name, int64_t op,
                                           int64_t subgraph) {
      Of(p)->log.push_back("begin " + Text(name, op, subgraph));
      return Of(p)->handles ? Of(p)->next++ : UINT32_MAX;
    };
    profiler.ReportEndOpInvokeEvent = [](Profiler* p, uint32_t handle) {
      Of(p)->log.push_back("end " + std::to_string(handle));
    };
    profiler.ReportOpInvokeEvent = [](Profiler* p, const char* name, uint64_t, int64_t op,
                                      int64_t subgraph) {
      Of(p)->log.push_back("took " + Text(name, op, subgraph));
    };
  }
  using Profiler = TfLiteTelemetryProfilerStruct;
  static Recorder* Of(Profiler* p) { return static_cast<Recorder*>(p->data); }

  void ReadSettings(const TfLiteTelemetrySettings* settings) {
    source = settings->source;
    const auto* own = static_cast<const TfLiteTelemetryInterpreterSettings*>(settings->data);
    has_conversion = TfLiteTelemetryInterpreterSettingsGetConversionMetadata(own) != nullptr;
    const TfLiteTelemetrySubgraphInfo* infos =
        TfLiteTelemetryInterpreterSettingsGetSubgraphInfo(own);
    subgraphs = TfLiteTelemetryInterpreterSettingsGetNumSubgraphInfo(own);
    // Upstream's getters take a pointer to non-const; they only read the first subgraph.
    auto* first = const_cast<TfLiteTelemetrySubgraphInfo*>(infos);
    const TfLiteQuantization* all = TfLiteTelemetrySubgraphInfoGetQuantizations(first);
    for (size_t i = 0; i < TfLiteTelemetrySubgraphInfoGetNumQuantizations(first); ++i) {
      scales.push_back(static_cast<const TfLiteAffineQuantization*>(all[i].params)->scale->data[0]);
    }
  }

  TestInterpreter::Configure Configure() {
    return [this](TfLiteInterpreterOptions* options) {
      TfLiteInterpreterOptionsSetTelemetryProfiler(options, &profiler);
    };
  }
  std::vector<std::string> Take() { return std::exchange(log, {}); }

  Profiler profiler = {};
  std::vector<std::string> log;
  bool handles = true;
  uint32_t next = 100;
  uint32_t source = 99;
  size_t subgraphs = 0;
  bool has_conversion = true;
  std::vector<float> scales;
};

constexpr const char* kSettings = "InterpreterBuilder::operator()";

// The sum x + x, then its square: ADD and MUL in float32.
std::vector<uint8_t> SmallModel() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {4}, "x");
  const int sum = m.AddTensor(kTfLiteFloat32, {4}, "sum");
  const int y = m.AddTensor(kTfLiteFloat32, {4}, "y");
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {sum}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinMul, {sum, sum}, {y}, schema::CreateMulOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  m.AddSignature("serve", {{"x", x}}, {{"y", y}});
  return m.Finish();
}

TfLiteStatus RunOnce(TestInterpreter* t) {
  EXPECT_EQ(t->Allocate(), kTfLiteOk) << t->log();
  t->Set<float>(0, {1, 2, 3, 4});
  return t->Invoke();
}

TEST(Telemetry, reports_settings_then_every_operator_and_the_call) {
  Recorder recorder;
  TestInterpreter t(SmallModel(), recorder.Configure());
  EXPECT_THAT(recorder.Take(), ElementsAre(kSettings));
  EXPECT_EQ(RunOnce(&t), kTfLiteOk);
  EXPECT_THAT(recorder.Take(),
              ElementsAre("begin ADD 0.0", "end 100", "begin MUL 0.1", "end 101", "Invoke 0"));
  EXPECT_THAT(t.Get<float>(0), ElementsAre(4, 16, 36, 64));
}

TEST(Telemetry, settings_describe_the_subgraphs) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteInt8, {4}, "x", {.scale = {0.5f}, .zero_point = {0}});
  const int y = m.AddTensor(kTfLiteInt8, {4}, "y", {.scale = {0.25f}, .zero_point = {1}});
  m.AddOp(kTfLiteBuiltinQuantize, {x}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  m.AddSubgraph("other");
  Recorder recorder;
  TestInterpreter t(m.Finish(), recorder.Configure());
  ASSERT_NE(t.get(), nullptr) << t.log();
  EXPECT_EQ(recorder.source, 0u);
  EXPECT_EQ(recorder.subgraphs, 2u);
  EXPECT_FALSE(recorder.has_conversion);
  EXPECT_THAT(recorder.scales, ElementsAre(0.5f, 0.25f));
}

TEST(Telemetry, reports_applied_delegates_and_their_nodes) {
  Recorder recorder;
  ScriptedDelegate delegate;
  ScriptedDelegateInit(&delegate, kTfLiteDelegateFlagsNone);
  delegate.claims[1] = true;
  {
    TestInterpreter t(SmallModel(), recorder.Configure());
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &delegate.base), kTfLiteOk);
    EXPECT_THAT(recorder.Take(), ElementsAre(kSettings, "ModifyGraphWithDelegate 0"));
    EXPECT_EQ(RunOnce(&t), kTfLiteOk);
    EXPECT_THAT(recorder.Take(), ElementsAre("begin ADD 0.0", "end 100", "begin Scripted 0.2",
                                             "end 101", "Invoke 0"));
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), nullptr), kTfLiteDelegateError);
    EXPECT_THAT(recorder.Take(), ElementsAre("ModifyGraphWithDelegate 2"));
  }
  TestInterpreter with_options(SmallModel(), [&](TfLiteInterpreterOptions* options) {
    recorder.Configure()(options);
    TfLiteInterpreterOptionsAddDelegate(options,
                                        reinterpret_cast<TfLiteOpaqueDelegate*>(&delegate.base));
  });
  EXPECT_THAT(recorder.Take(), ElementsAre(kSettings, "ModifyGraphWithDelegate 0"));
}

TEST(Telemetry, failures_have_a_status_and_end_open_events) {
  Recorder recorder;
  ScriptedDelegate delegate;
  ScriptedDelegateInit(&delegate, kTfLiteDelegateFlagsNone);
  delegate.claim_all = true;
  delegate.failing_callback = kScriptedInvoke;
  delegate.failure = kScriptedErrorStatus;
  TestInterpreter t(SmallModel(), [&](TfLiteInterpreterOptions* options) {
    recorder.Configure()(options);
    TfLiteInterpreterOptionsSetEnableDelegateFallback(options, true);
  });
  EXPECT_EQ(t.Invoke(), kTfLiteError);  // the tensors are not allocated
  EXPECT_THAT(recorder.Take(), ElementsAre(kSettings, "Invoke 1"));
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &delegate.base), kTfLiteOk);
  recorder.Take();
  // The delegate fails and the CPU computes its nodes, which the status reports.
  EXPECT_EQ(RunOnce(&t), kTfLiteDelegateError);
  EXPECT_THAT(recorder.Take(),
              ElementsAre("begin Scripted 0.2", "end 100", "Invoke 1", "begin ADD 0.0", "end 101",
                          "begin MUL 0.1", "end 102", "Invoke 0"));
}

TEST(Telemetry, operators_of_called_subgraphs_are_nested) {
  ModelBuilder m;
  const auto graph = [&](TfLiteBuiltinOperator code) {
    const int a = m.AddTensor(kTfLiteFloat32, {4}, "a"), b = m.AddTensor(kTfLiteFloat32, {4}, "b");
    if (code == kTfLiteBuiltinAdd) {
      m.AddOp(code, {a, a}, {b}, schema::CreateAddOptions(m.fbb()));
    } else {
      m.AddOp(code, {a, a}, {b}, schema::CreateMulOptions(m.fbb()));
    }
    m.SetInputs({a});
    m.SetOutputs({b});
  };
  const int condition = m.AddTensor(kTfLiteBool, {1}, "condition");
  const int x = m.AddTensor(kTfLiteFloat32, {4}, "x"), y = m.AddTensor(kTfLiteFloat32, {4}, "y");
  m.AddOp(kTfLiteBuiltinIf, {condition, x}, {y}, schema::CreateIfOptions(m.fbb(), 1, 2));
  m.SetInputs({condition, x});
  m.SetOutputs({y});
  m.AddSubgraph("then");
  graph(kTfLiteBuiltinAdd);
  m.AddSubgraph("else");
  graph(kTfLiteBuiltinMul);
  Recorder recorder;
  TestInterpreter t(m.Finish(), recorder.Configure());
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<uint8_t>(0, {0});
  t.Set<float>(1, {1, 2, 3, 4});
  recorder.Take();
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(recorder.Take(),
              ElementsAre("begin IF 0.0", "begin MUL 2.0", "end 101", "end 100", "Invoke 0"));
}

TEST(Telemetry, signatures_report_as_the_interpreter_does) {
  Recorder recorder;
  TestInterpreter t(SmallModel(), recorder.Configure());
  TfLiteSignatureRunner* runner = TfLiteInterpreterGetSignatureRunner(t.get(), "serve");
  ASSERT_NE(runner, nullptr);
  ASSERT_EQ(TfLiteSignatureRunnerAllocateTensors(runner), kTfLiteOk);
  recorder.Take();
  EXPECT_EQ(TfLiteSignatureRunnerInvoke(runner), kTfLiteOk);
  EXPECT_THAT(recorder.Take(),
              ElementsAre("begin ADD 0.0", "end 100", "begin MUL 0.1", "end 101", "Invoke 0"));
  TfLiteSignatureRunnerDelete(runner);
}

TEST(Telemetry, end_is_not_called_without_a_handle_nor_a_missing_function) {
  Recorder recorder;
  recorder.handles = false;
  TestInterpreter t(SmallModel(), recorder.Configure());
  recorder.Take();
  EXPECT_EQ(RunOnce(&t), kTfLiteOk);
  EXPECT_THAT(recorder.Take(), ElementsAre("begin ADD 0.0", "begin MUL 0.1", "Invoke 0"));
  recorder.profiler = {};
  TestInterpreter quiet(SmallModel(), recorder.Configure());
  EXPECT_EQ(RunOnce(&quiet), kTfLiteOk);
  EXPECT_THAT(recorder.Take(), IsEmpty());
}

TEST(Telemetry, and_the_profile_callback_receive_the_same_operators) {
  Recorder recorder;
  TestInterpreter t(SmallModel(), recorder.Configure());
  recorder.Take();
  std::vector<int> nodes;
  const auto callback = [](void* list, const DeputyOpEvent* event) {
    static_cast<std::vector<int>*>(list)->push_back(event->node_index);
  };
  ASSERT_EQ(DeputyInterpreterSetProfileCallback(t.get(), callback, &nodes), kTfLiteOk);
  EXPECT_EQ(RunOnce(&t), kTfLiteOk);
  EXPECT_THAT(nodes, ElementsAre(0, 1));
  EXPECT_EQ(recorder.Take().size(), 5u);
  ASSERT_EQ(DeputyInterpreterSetProfileCallback(t.get(), nullptr, nullptr), kTfLiteOk);
  EXPECT_EQ(RunOnce(&t), kTfLiteOk);
  EXPECT_EQ(nodes.size(), 2u);
  EXPECT_EQ(recorder.Take().size(), 5u);
}

TEST(Telemetry, client_exceptions_are_contained) {
  Recorder recorder;
  recorder.profiler.ReportBeginOpInvokeEvent = [](TfLiteTelemetryProfilerStruct*, const char*,
                                                  int64_t, int64_t) -> uint32_t {
    throw std::runtime_error("client");
  };
  TestInterpreter t(SmallModel(), recorder.Configure());
  EXPECT_EQ(RunOnce(&t), kTfLiteOk);
  EXPECT_THAT(recorder.Take(), ElementsAre(kSettings, "Invoke 0"));
}

}  // namespace
}  // namespace deputy::telemetry_test
