// SPDX-License-Identifier: Apache-2.0
//
// Tests run_start and run_end of plug-ins: their order, the runs that they surround, and their
// failures under both policies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "c_api/include/deputy.h"
#include "c_api/include/deputy_graph.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/run_case.h"
#include "tests/support/scoped_environment.h"
#include "tests/support/test_interpreter.h"

namespace deputy::run_hooks_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// y = TANH(x + x), z = y + y. The delegates claim the nodes 0 and 2.
std::vector<uint8_t> Model() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2}, "x");
  const int t = m.AddTensor(kTfLiteFloat32, {2}, "t");
  const int y = m.AddTensor(kTfLiteFloat32, {2}, "y");
  const int z = m.AddTensor(kTfLiteFloat32, {2}, "z");
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {t}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinTanh, {t}, {y});
  m.AddOp(kTfLiteBuiltinAdd, {y, y}, {z}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({z});
  return m.Finish();
}

class RunHooks : public QuietTest {
 protected:
  RunHooks() { std::filesystem::remove(log_); }

  // Returns a delegate that claims the node `node` and has this name in the log.
  Handle Delegate(const std::string& name, const char* node, const char* fault = "") {
    return External("hooks",
                    {{"name", name + " "}, {"node", node}, {"log", log_}, {"fault", fault}});
  }
  // Returns the calls in the log and clears it.
  std::string Calls() {
    const std::string calls = std::filesystem::exists(log_) ? ReadText(log_) : "";
    std::filesystem::remove(log_);
    return calls;
  }

  const std::string log_ = ScratchFile("hooks");
  const ScopedEnvironment folder_{"DEPUTY_PLUGIN_PATH", BuildPath("").c_str()};
};

void Apply(TfLiteDelegate* delegate, TestInterpreter* t) {
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t->get(), delegate), kTfLiteOk) << t->log();
}

void Begin(TestInterpreter* t) {
  ASSERT_EQ(t->Allocate(), kTfLiteOk) << t->log();
  t->Set<float>(0, {0, 0.25f});
}

// Results of the model on the CPU for the inputs of Begin.
const std::vector<float> kExpected = {0, 0.92423431f};

void ExpectResult(TestInterpreter* t) {
  const std::vector<float> found = t->Get<float>(0);
  ASSERT_EQ(found.size(), kExpected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], kExpected[i], 1e-6) << i;
}

void UseHot(TfLiteInterpreterOptions* options) {
  ASSERT_EQ(DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot), kTfLiteOk);
}

DeputyDelegationStatus StatusOf(TestInterpreter* t) {
  DeputyDelegationStatus status = {};
  status.struct_size = sizeof status;
  EXPECT_EQ(DeputyInterpreterGetDelegationStatus(t->get(), &status), kTfLiteOk);
  return status;
}

TEST_F(RunHooks, they_surround_each_run_in_the_order_of_application) {
  const Handle a = Delegate("A", "0"), b = Delegate("B", "2");
  TestInterpreter t(Model());
  Apply(b.get(), &t);
  Apply(a.get(), &t);
  Begin(&t);
  EXPECT_EQ(Calls(), "");
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    ExpectResult(&t);
    EXPECT_EQ(Calls(), "B run_start; A run_start; A node; B node; A run_end 0; B run_end 0; ");
  }
}

TEST_F(RunHooks, delegates_that_are_not_applied_are_not_called) {
  const Handle a = Delegate("A", "0"), b = Delegate("B", "2");
  TestInterpreter t(Model());
  Apply(a.get(), &t);
  Begin(&t);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(Calls(), "A run_start; A node; A run_end 0; ");
  ASSERT_EQ(DeputyInterpreterReplaceDelegate(t.get(), a.get(), b.get()), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(Calls(), "B run_start; B node; B run_end 0; ");
  ASSERT_EQ(DeputyInterpreterRemoveDelegates(t.get()), kTfLiteOk) << t.log();
  Begin(&t);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  ExpectResult(&t);
  EXPECT_EQ(Calls(), "");
}

TEST_F(RunHooks, a_delegate_of_several_subgraphs_is_called_once_for_each_run) {
  ModelBuilder m;
  for (const char* const body : {"", "body"}) {
    if (*body != '\0') m.AddSubgraph(body);
    const int x = m.AddTensor(kTfLiteFloat32, {2}, "x");
    const int y = m.AddTensor(kTfLiteFloat32, {2}, "y");
    m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y}, schema::CreateAddOptions(m.fbb()));
    m.SetInputs({x});
    m.SetOutputs({y});
  }
  const Handle a = Delegate("A", "0");
  TestInterpreter t(m.Finish());
  Apply(a.get(), &t);
  for (int subgraph = 0; subgraph < 2; ++subgraph) {
    EXPECT_EQ(DeputyInterpreterGetPartitionCount(t.get(), subgraph), 1);
    ASSERT_EQ(DeputyInterpreterAllocateSubgraph(t.get(), subgraph), kTfLiteOk) << t.log();
    ASSERT_EQ(DeputyInterpreterInvokeSubgraph(t.get(), subgraph), kTfLiteOk) << t.log();
    EXPECT_EQ(Calls(), "A run_start; A node; A run_end 0; ");
  }
}

TEST_F(RunHooks, a_resize_applies_the_delegate_again_and_keeps_its_functions) {
  const Handle a = Delegate("A", "0");
  TestInterpreter t(Model());
  Apply(a.get(), &t);
  Begin(&t);
  ASSERT_EQ(t.Resize(0, {1}), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<float>(0, {0});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(Calls(), "A run_start; A node; A run_end 0; ");
}

TEST_F(RunHooks, an_interpreter_that_is_not_ready_calls_none) {
  const Handle a = Delegate("A", "0");
  TestInterpreter t(Model());
  Apply(a.get(), &t);
  ASSERT_EQ(t.Resize(0, {1}), kTfLiteOk);
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_EQ(Calls(), "");
}

TEST_F(RunHooks, run_end_gets_the_status_of_a_failed_run) {
  const Handle a = Delegate("A", "0", "node");
  TestInterpreter t(Model());
  Apply(a.get(), &t);
  Begin(&t);
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_EQ(Calls(), "A run_start; A node; A run_end 1; ");
}

TEST_F(RunHooks, a_single_node_is_a_run) {
  const Handle a = Delegate("A", "0");
  TestInterpreter t(Model());
  Apply(a.get(), &t);
  Begin(&t);
  DeputyPartition partition = {};
  partition.struct_size = sizeof partition;
  ASSERT_EQ(DeputyInterpreterGetPartition(t.get(), 0, 0, &partition), kTfLiteOk);
  ASSERT_EQ(DeputyInterpreterInvokeNode(t.get(), 0, partition.node_index), kTfLiteOk) << t.log();
  EXPECT_EQ(Calls(), "A run_start; A node; A run_end 0; ");
}

TEST_F(RunHooks, an_asynchronous_run_is_a_run) {
  const Handle a = Delegate("A", "0");
  TestInterpreter t(Model());
  Apply(a.get(), &t);
  Begin(&t);
  run_case::TestRun run({{0, 0.25f}}, {2});
  ASSERT_EQ(run.Start(t.get()), kTfLiteOk) << t.log();
  EXPECT_EQ(run.Wait(), kTfLiteOk);
  EXPECT_EQ(Calls(), "A run_start; A node; A run_end 0; ");
}

TEST_F(RunHooks, a_background_plan_calls_them) {
  const Handle a = Delegate("A", "0");
  TestInterpreter t(Model());
  Begin(&t);
  TfLiteDelegate* delegate = a.get();
  ASSERT_EQ(DeputyInterpreterApplyInBackground(t.get(), &delegate, 1, nullptr), kTfLiteOk);
  ASSERT_EQ(DeputyInterpreterWaitForBackground(t.get(), -1), kTfLiteOk);
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  ExpectResult(&t);
  EXPECT_EQ(Calls(), "A run_start; A node; A run_end 0; ");
}

// ---- Failures -----------------------------------------------------------------------------------

struct Failure {
  const char* fault;
  const char* message;
  const char* calls;      // log of an inference under kDeputyPolicyTfLite
  const char* hot_calls;  // log of an inference under kDeputyPolicyHot
  int recomputed;         // number of nodes that the CPU computes under kDeputyPolicyHot
};

constexpr Failure kFailures[] = {
    {"run_start", "subgraph 0: delegate 'hooks': run_start failed",
     "B run_start; A run_start; B run_end 1; ", "B run_start; A run_start; B node; B run_end 0; ",
     1},
    {"!run_start", "subgraph 0: delegate 'hooks': run_start threw an exception: as requested",
     "B run_start; A run_start; B run_end 1; ", "B run_start; A run_start; B node; B run_end 0; ",
     1},
    {"run_end", "subgraph 0: delegate 'hooks': run_end failed",
     "B run_start; A run_start; A node; B node; A run_end 0; B run_end 0; ",
     "B run_start; A run_start; A node; B node; A run_end 0; B run_end 0; ", 0},
    {"!run_end", "subgraph 0: delegate 'hooks': run_end threw an exception: as requested",
     "B run_start; A run_start; A node; B node; A run_end 0; B run_end 0; ",
     "B run_start; A run_start; A node; B node; A run_end 0; B run_end 0; ", 0},
};

TEST_F(RunHooks, a_failure_fails_the_run_and_the_next_one_works) {
  for (const Failure& row : kFailures) {
    SCOPED_TRACE(row.fault);
    const Handle a = Delegate("A", "0", row.fault), b = Delegate("B", "2");
    TestInterpreter t(Model());
    Apply(b.get(), &t);
    Apply(a.get(), &t);
    Begin(&t);
    EXPECT_EQ(t.Invoke(), kTfLiteError);
    EXPECT_THAT(t.log(), HasSubstr(row.message));
    EXPECT_EQ(Calls(), row.calls);
    const char* const key = "fault";
    const char* const value = "";
    ASSERT_EQ(DeputyPluginSetDelegateOptions(a.get(), &key, &value, 1), kTfLiteOk);
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    ExpectResult(&t);
    Calls();
  }
}

TEST_F(RunHooks, under_hot_the_cpu_computes_the_nodes_of_a_delegate_that_cannot_start) {
  for (const Failure& row : kFailures) {
    SCOPED_TRACE(row.fault);
    const Handle a = Delegate("A", "0", row.fault), b = Delegate("B", "2");
    TestInterpreter t(Model(), &UseHot);
    Apply(b.get(), &t);
    Apply(a.get(), &t);
    Begin(&t);
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    ExpectResult(&t);
    EXPECT_THAT(t.log(), HasSubstr(row.message));
    EXPECT_EQ(Calls(), row.hot_calls);
    EXPECT_EQ(StatusOf(&t).recomputed_nodes, row.recomputed);
    EXPECT_EQ(StatusOf(&t).degraded, row.recomputed);
    const char* const key = "fault";
    const char* const value = "";
    ASSERT_EQ(DeputyPluginSetDelegateOptions(a.get(), &key, &value, 1), kTfLiteOk);
    Calls();
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    ExpectResult(&t);
    EXPECT_EQ(Calls(), "B run_start; A run_start; A node; B node; A run_end 0; B run_end 0; ");
    EXPECT_EQ(StatusOf(&t).degraded, 0);
  }
}

TEST_F(RunHooks, the_fallback_of_tensorflow_lite_removes_the_delegates) {
  const Handle a = Delegate("A", "0", "run_start");
  TestInterpreter t(Model(), [](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetEnableDelegateFallback(options, true);
  });
  Apply(a.get(), &t);
  Begin(&t);
  EXPECT_EQ(t.Invoke(), kTfLiteDelegateError);
  ExpectResult(&t);
  EXPECT_EQ(Calls(), "A run_start; ");
  EXPECT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(Calls(), "");
}

// ---- Wrappers -----------------------------------------------------------------------------------

TEST_F(RunHooks, layers_and_processes_pass_them_on) {
  // In a process of its own, each call of a partition is a run.
  for (const auto& [variable, value] : {std::pair("DEPUTY_LAYERS", "deadline=60s"),
                                        {"DEPUTY_ISOLATE", "none"},
                                        {"DEPUTY_LAYERS", "isolate=none;deadline=60s"}}) {
    SCOPED_TRACE(value);
    const ScopedEnvironment wrapper(variable, value);
    const Handle a = Delegate("A", "0");
    ASSERT_NE(a, nullptr) << DeputyLastError();
    TestInterpreter t(Model());
    Apply(a.get(), &t);
    Begin(&t);
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    ExpectResult(&t);
    EXPECT_EQ(Calls(), "A run_start; A node; A run_end 0; ");
    const char* const key = "fault";
    const char* const fault = "run_start";
    ASSERT_EQ(DeputyPluginSetDelegateOptions(a.get(), &key, &fault, 1), kTfLiteOk)
        << DeputyLastError();
    EXPECT_EQ(t.Invoke(), kTfLiteError);
    EXPECT_THAT(t.log(), HasSubstr("run_start failed"));
    Calls();
  }
}

TEST_F(RunHooks, threads_may_share_a_delegate) {
  const Handle a = Delegate("A", "0");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      TestInterpreter t(Model());
      Apply(a.get(), &t);
      Begin(&t);
      for (int run = 0; run < 25; ++run) EXPECT_EQ(t.Invoke(), kTfLiteOk);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace deputy::run_hooks_test
