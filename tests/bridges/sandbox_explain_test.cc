// SPDX-License-Identifier: Apache-2.0
//
// Tests that reports about a delegate in a process of its own equal those about the same delegate
// in this process.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "c_api/include/c_api.h"
#include "c_api/include/deputy.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/scoped_environment.h"
#include "tests/support/test_interpreter.h"

namespace deputy::sandbox_explain_test {
namespace {

// Nodes 0 to 3: ADD, MUL, NEG, ADD.
std::vector<uint8_t> Model() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2}, "x");
  const int a = m.AddTensor(kTfLiteFloat32, {2}, "a");
  const int b = m.AddTensor(kTfLiteFloat32, {2}, "b");
  const int c = m.AddTensor(kTfLiteFloat32, {2}, "c");
  const int d = m.AddTensor(kTfLiteFloat32, {2}, "d");
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {a}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinMul, {a, x}, {b}, schema::CreateMulOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinNeg, {b}, {c});
  m.AddOp(kTfLiteBuiltinAdd, {c, x}, {d}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({d});
  return m.Finish();
}

// A delegate, isolated or not, with layers.
class Delegate {
 public:
  Delegate(const std::string& library, const Options& options, bool isolated,
           const char* layers = "")
      : isolate_("DEPUTY_ISOLATE", isolated ? "strict" : "0"),
        layers_("DEPUTY_LAYERS", layers),
        handle_(CreateExternal(Library(library), options), &DeputyPluginDeleteDelegate) {}

  TfLiteDelegate* get() const { return handle_.get(); }

 private:
  const ScopedEnvironment folder_{"DEPUTY_PLUGIN_PATH", BuildPath("").c_str()};
  const ScopedEnvironment isolate_, layers_;
  const Handle handle_;
};

using Reasons = std::vector<std::pair<std::string, std::string>>;

// Returns name and text of the reason of each node after the delegate was applied.
Reasons ReasonsAfter(const Delegate& delegate) {
  TestInterpreter t(Model());
  EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk)
      << t.log();
  Reasons reasons;
  for (int node = 0; node < 4; ++node) {
    DeputyNodeSupport support = {};
    support.struct_size = sizeof support;
    EXPECT_EQ(DeputyInterpreterGetNodeSupport(t.get(), 0, node, 0, &support), kTfLiteOk);
    reasons.emplace_back(support.delegated != 0 ? "delegated" : support.reason_name, support.text);
  }
  return reasons;
}

const Options kOnlyAdd = {{"ops", "0"}};

class SandboxExplain : public QuietTest {
 protected:
  void TearDown() override {
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
    QuietTest::TearDown();
  }
};

TEST_F(SandboxExplain, reasons_of_the_delegate_are_those_in_this_process) {
  struct Row {
    const char* library;
    Options options;
  };
  for (const Row& row :
       {Row{"described0", {{"ops", "0"}}}, Row{"described0", {{"ops", "18"}}}, Row{"faulty", {}}}) {
    SCOPED_TRACE(row.library);
    const Reasons here = ReasonsAfter(Delegate(row.library, row.options, false));
    EXPECT_NE(here[2].first, "delegated");
    EXPECT_NE(here[2].second, "");
    EXPECT_EQ(ReasonsAfter(Delegate(row.library, row.options, true)), here);
    EXPECT_EQ(ReasonsAfter(Delegate(row.library, row.options, true, "deadline=60s")), here);
    EXPECT_EQ(ReasonsAfter(Delegate(row.library, row.options, false, "isolate;deadline=60s")),
              here);
  }
}

// Only the runtime may give the reason GROUP, so that its text has the reason OTHER.
TEST_F(SandboxExplain, the_text_about_a_group_is_passed_on) {
  const Options options = {{"ops", "0"}, {"groups", "1--1"}};
  const Reasons here = ReasonsAfter(Delegate("described0", options, false));
  const Reasons isolated = ReasonsAfter(Delegate("described0", options, true));
  EXPECT_EQ(here[0].first, "GROUP");
  EXPECT_EQ(isolated[0].first, "OTHER");
  for (size_t i = 0; i < here.size(); ++i) EXPECT_EQ(isolated[i].second, here[i].second) << i;
}

// A query starts a process, too, which ends with the delegate at the latest.
TEST_F(SandboxExplain, a_query_has_the_reasons) {
  const Delegate delegate("described0", kOnlyAdd, true);
  TestInterpreter t(Model());
  Reasons reasons;
  ASSERT_EQ(DeputyInterpreterCheckDelegate(
                t.get(), delegate.get(),
                [](void* data, int32_t, int32_t, const DeputyNodeSupport* support) {
                  static_cast<Reasons*>(data)->emplace_back(support->reason_name, support->text);
                },
                &reasons),
            kTfLiteOk)
      << t.log();
  EXPECT_EQ(reasons[0].first, "NONE");
  EXPECT_EQ(reasons[2].first, "OPERATOR");
  EXPECT_EQ(reasons[2], ReasonsAfter(Delegate("described0", kOnlyAdd, false))[2]);
  // The process of the query is not that of the application by another interpreter.
  EXPECT_EQ(ReasonsAfter(delegate)[2], reasons[2]);
}

// The program that replaces deputy-delegate-host counts its starts in a file.
TEST_F(SandboxExplain, a_failed_start_is_not_repeated) {
  const std::string model = ScratchFile("explain.tflite"), starts = ScratchFile("explain.starts"),
                    program = ScratchFile("explain.sh");
  const std::string script = "#!/bin/sh\necho start >> " + starts + "\n";
  WriteBytes(model, Model());
  WriteBytes(program, std::vector<uint8_t>(script.begin(), script.end()));
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const Handle delegate(
      CreateExternal(BuildPath("libdeputy_sandbox.so"),
                     {{"library", Library("faulty")}, {"model", model}, {"program", program}}),
      &DeputyPluginDeleteDelegate);
  TestInterpreter t(Model());
  EXPECT_NE(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
  EXPECT_NE(t.log().find("the process ended: exit status 0"), std::string::npos) << t.log();
  EXPECT_EQ(ReadText(starts), "start\n");
  for (const std::string& file : {model, starts, program}) std::filesystem::remove(file);
}

// Interpreters on several threads share the delegate.
TEST_F(SandboxExplain, threads_do_not_share_what_a_query_has_started) {
  const Delegate delegate("described0", kOnlyAdd, true);
  const Reasons expected = ReasonsAfter(Delegate("described0", kOnlyAdd, false));
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { EXPECT_EQ(ReasonsAfter(delegate), expected); });
  }
  for (std::thread& thread : threads) thread.join();
}

// ---- Events and texts ---------------------------------------------------------------------------

using Events = std::vector<std::string>;

// Returns the events of three inferences, without the times of whole nodes.
Events EventsOf(const Delegate& delegate) {
  TestInterpreter t(Model());
  EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk)
      << t.log();
  EXPECT_EQ(t.Allocate(), kTfLiteOk);
  t.Set<float>(0, {1, 2});
  Events events;
  const auto add = [](void* data, const DeputyOpEvent* event) {
    if (event->delegate_node < 0) return;
    static_cast<Events*>(data)->push_back(
        std::to_string(event->delegate_node) + " " + std::to_string(event->node_index) + " " +
        event->operator_name + " " + event->detail + " " + std::to_string(event->begin_ns) + "+" +
        std::to_string(event->duration_ns));
  };
  EXPECT_EQ(DeputyInterpreterSetProfileCallback(t.get(), add, &events), kTfLiteOk);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(t.log(), "");
  return events;
}

TEST_F(SandboxExplain, node_events_are_those_in_this_process) {
  const Options options = {
      {"nodes", "0 1"}, {"flags", "4"}, {"events", "0 100 20 conv\t2d;-1 120 5 NULL;1 130 6 mul"}};
  const Events here = EventsOf(Delegate("node_events", options, false));
  Events isolated = EventsOf(Delegate("node_events", options, true));
  ASSERT_EQ(here.size(), 9u);
  ASSERT_EQ(isolated.size(), 9u);
  EXPECT_EQ(here[0], "4 0 ADD conv\t2d 100+20");
  EXPECT_EQ(isolated[0], "4 0 ADD conv 2d 100+20");  // control characters are replaced
  EXPECT_EQ(isolated[1], "4 4 DeputySandbox  120+5");
  EXPECT_EQ(isolated[8], "4 1 MUL mul 130+6");
  EXPECT_EQ(isolated[8], here[8]);
}

TEST_F(SandboxExplain, a_delegate_without_node_events_has_the_event_of_its_node) {
  EXPECT_EQ(EventsOf(Delegate("described0", kOnlyAdd, true)), Events());
  EXPECT_EQ(EventsOf(Delegate("node_events", {{"events", "0 100 20 conv"}}, true)), Events());
}

// Returns texts about the partitions and events of the device, after one inference.
Events TextsOf(const Delegate& delegate) {
  TestInterpreter t(Model());
  EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
  EXPECT_EQ(t.Allocate(), kTfLiteOk);
  t.Set<float>(0, {1, 2});
  EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  Events texts;
  const auto add_text = [](void* data, int32_t first, const char* stage, const char* text) {
    static_cast<Events*>(data)->push_back(std::to_string(first) + " " + stage + " " + text);
  };
  const auto add_event = [](void* data, const DeputyDeviceEvent* event) {
    static_cast<Events*>(data)->push_back(std::to_string(event->first_node) + " " + event->name);
  };
  EXPECT_EQ(DeputyPluginDescribePartitions(delegate.get(), add_text, &texts), kTfLiteOk);
  EXPECT_EQ(DeputyPluginTakeEvents(delegate.get(), add_event, &texts), kTfLiteOk);
  return texts;
}

TEST_F(SandboxExplain, texts_and_device_events_are_those_in_this_process) {
  const Events here = TextsOf(Delegate("described0", kOnlyAdd, false));
  EXPECT_EQ(here, (Events{"-1 counted 2 nodes", "-1 node", "-1 node"}));
  EXPECT_EQ(TextsOf(Delegate("described0", kOnlyAdd, true)), here);
  EXPECT_EQ(TextsOf(Delegate("described0", kOnlyAdd, false, "isolate;deadline=60s")), here);
  EXPECT_EQ(TextsOf(Delegate("faulty", {}, true)), Events());
}

}  // namespace
}  // namespace deputy::sandbox_explain_test
