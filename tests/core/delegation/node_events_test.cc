// SPDX-License-Identifier: Apache-2.0
//
// Tests kTfLiteDelegateFlagsPerOperatorProfiling: events of the operators inside a delegate's
// partition, from correct and from hostile plug-ins.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "c_api/include/deputy.h"
#include "c_api/include/telemetry_profiler.h"
#include "tests/support/delegate_support.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::node_events_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Returns an event as text: "MUL 1 100+20 reporter/conv in 4" if a delegate reported it, otherwise
// "ADD 0".
std::string Text(const DeputyOpEvent& event) {
  EXPECT_EQ(event.struct_size, sizeof event);
  EXPECT_EQ(event.subgraph_index, 0);
  EXPECT_EQ(event.status, kTfLiteOk);
  std::string text = std::string(event.operator_name) + " " + std::to_string(event.node_index);
  if (event.delegate_node < 0) {
    EXPECT_STREQ(event.delegate_name, "");
    EXPECT_STREQ(event.detail, "");
    EXPECT_GT(event.begin_ns, 0);
    return text;
  }
  return text + " " + std::to_string(event.begin_ns) + "+" + std::to_string(event.duration_ns) +
         " " + event.delegate_name + "/" + event.detail + " in " +
         std::to_string(event.delegate_node);
}

void AddText(void* texts, const DeputyOpEvent* event) {
  static_cast<std::vector<std::string>*>(texts)->push_back(Text(*event));
}

class NodeEvents : public QuietTest {
 protected:
  // Applies a delegate that claims nodes 1 and 2 of the chain ADD, MUL, ADD, MUL as node 4.
  void Apply(Options options, const TestInterpreter::Configure& configure = {}) {
    options.emplace_back("nodes", "1 2");
    t_.reset();
    delegate_ = External("node_events", options);
    ASSERT_NE(delegate_, nullptr) << DeputyLastError();
    t_ = std::make_unique<TestInterpreter>(Chain(4), configure);
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t_->get(), delegate_.get()), kTfLiteOk)
        << t_->log();
    ASSERT_EQ(t_->Allocate(), kTfLiteOk) << t_->log();
    t_->Set<float>(0, {1, 2, 3, 4});
  }
  std::vector<std::string> Run() {
    std::vector<std::string> texts;
    DeputyInterpreterSetProfileCallback(t_->get(), &AddText, &texts);
    EXPECT_EQ(t_->Invoke(), kTfLiteOk) << t_->log();
    DeputyInterpreterSetProfileCallback(t_->get(), nullptr, nullptr);
    return texts;
  }
  DeputyNodeRun RunOf(int node) {
    const DeputyNodeRun run = NodeRunOf(t_->get(), node);
    return run;
  }

  Handle delegate_{nullptr, nullptr};
  std::unique_ptr<TestInterpreter> t_;
};

constexpr const char* kTwo = "1 100 20 mul;2 120 30 add";

TEST_F(NodeEvents, replace_the_event_of_the_node_if_the_delegate_has_the_flag) {
  Apply({{"flags", "4"}, {"events", kTwo}});
  for (int run = 0; run < 2; ++run) {
    EXPECT_THAT(Run(), ElementsAre("ADD 0", "MUL 1 100+20 reporter/mul in 4",
                                   "ADD 2 120+30 reporter/add in 4", "MUL 3"));
  }
  EXPECT_THAT(t_->log(), IsEmpty());
  EXPECT_EQ(RunOf(1).reported_ns, 40);
  EXPECT_EQ(RunOf(2).reported_ns, 60);
  EXPECT_EQ(RunOf(3).reported_ns, 0);
  EXPECT_EQ(RunOf(1).runs, 0);
  EXPECT_EQ(RunOf(4).runs, 2);
}

TEST_F(NodeEvents, are_not_used_without_the_flag) {
  for (const char* flags : {"0", "1", "3"}) {
    Apply({{"flags", flags}, {"events", kTwo}});
    EXPECT_THAT(Run(), ElementsAre("ADD 0", "Reporting 4", "MUL 3"));
    EXPECT_EQ(RunOf(1).reported_ns, 0);
  }
  Apply({{"flags", "5"}, {"events", "2 1 2 add"}});
  EXPECT_THAT(Run(), ElementsAre("ADD 0", "ADD 2 1+2 reporter/add in 4", "MUL 3"));
}

TEST_F(NodeEvents, of_a_delegate_without_events_are_those_of_the_node) {
  Apply({{"flags", "4"}});
  EXPECT_THAT(Run(), ElementsAre("ADD 0", "Reporting 4", "MUL 3"));
  EXPECT_THAT(t_->log(), IsEmpty());
  // A delegate that has the flag but reports no events, with or without a plug-in, gets the events
  // of its nodes only.
  const Scripted plain({1, 2}, kTfLiteDelegateFlagsPerOperatorProfiling);
  TestInterpreter t(Chain(4));
  std::vector<std::string> texts;
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &plain.script->base), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  DeputyInterpreterSetProfileCallback(t.get(), &AddText, &texts);
  t.Set<float>(0, {1, 2, 3, 4});
  EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(texts.size(), 3U);
}

TEST_F(NodeEvents, may_lack_a_name_and_may_be_about_the_partition) {
  Apply({{"flags", "4"}, {"events", "-1 5 1 copy;1 6 0 NULL;1 6 9223372036854775801 "}});
  EXPECT_THAT(Run(),
              ElementsAre("ADD 0", "Reporting 4 5+1 reporter/copy in 4", "MUL 1 6+0 reporter/ in 4",
                          "MUL 1 6+9223372036854775801 reporter/ in 4", "MUL 3"));
  EXPECT_EQ(RunOf(4).reported_ns, 1);
  EXPECT_EQ(Run().size(), 5U);
  EXPECT_EQ(RunOf(1).reported_ns, INT64_MAX);  // the sum of the times does not overflow
}

TEST_F(NodeEvents, have_names_of_255_bytes_at_most) {
  Apply({{"flags", "4"}, {"events", "1 5 1 " + std::string(400, 'n')}});
  EXPECT_EQ(Run()[1], "MUL 1 5+1 reporter/" + std::string(255, 'n') + " in 4");
}

TEST_F(NodeEvents, that_are_invalid_are_reported_once_and_discarded) {
  const std::vector<std::pair<Options, std::string>> cases = {
      {{{"events", "1 100 20 mul;0 1 1 "}}, "expected a node of the partition, found 0"},
      {{{"events", "4 1 1 "}}, "expected a node of the partition, found 4"},
      {{{"events", "1000000 1 1 "}}, "expected a node of the partition, found 1000000"},
      {{{"events", "-2 1 1 "}}, "expected a node of the partition, found -2"},
      {{{"events", "1 1 -1 "}}, "expected non-negative times, found 1 and a duration of -1"},
      {{{"events", "1 -1 1 "}}, "expected non-negative times, found -1 and a duration of 1"},
      {{{"events", "1 7 9223372036854775801 "}}, "expected non-negative times, found 7"},
      {{{"events", kTwo}, {"mode", "error"}}, "expected status 0, found 1"},
      {{{"events", kTwo}, {"mode", "throw"}}, "node_events threw an exception: of node_events"},
      {{{"events", kTwo}, {"mode", "null"}}, "expected an event with its size in struct_size"},
      {{{"events", kTwo}, {"mode", "small"}}, "expected an event with its size in struct_size"},
      {{{"events", kTwo}, {"mode", "excess"}}, "expected at most 65536 events"},
  };
  for (auto [options, problem] : cases) {
    options.emplace_back("flags", "4");
    Apply(options);
    EXPECT_THAT(Run(), ElementsAre("ADD 0", "Reporting 4", "MUL 3")) << problem;
    EXPECT_THAT(t_->log(),
                HasSubstr("delegate 'reporter', node_events of node 4 (Reporting): " + problem));
    EXPECT_EQ(RunOf(1).reported_ns, 0);
    t_->ClearLog();
    EXPECT_THAT(Run(), ElementsAre("ADD 0", "Reporting 4", "MUL 3")) << problem;
    EXPECT_THAT(t_->log(), IsEmpty());
  }
}

TEST_F(NodeEvents, may_be_65536_in_a_call) {
  Apply({{"events", kTwo}, {"mode", "maximum"}, {"flags", "4"}});
  EXPECT_GT(Run().size(), 65536u);
  EXPECT_THAT(t_->log(), IsEmpty());
}

TEST_F(NodeEvents, are_nested_in_the_event_of_the_node_in_telemetry) {
  struct Recorder {
    TfLiteTelemetryProfilerStruct profiler{};
    std::vector<std::string> log;
  } recorder;
  using Profiler = TfLiteTelemetryProfilerStruct;
  recorder.profiler.data = &recorder.log;
  static const auto add = [](Profiler* p, const std::string& text) {
    static_cast<std::vector<std::string>*>(p->data)->push_back(text);
  };
  recorder.profiler.ReportBeginOpInvokeEvent = [](Profiler* p, const char* name, int64_t,
                                                  int64_t) -> uint32_t {
    add(p, std::string("begin ") + name);
    return 7;
  };
  recorder.profiler.ReportEndOpInvokeEvent = [](Profiler* p, uint32_t) { add(p, "end"); };
  recorder.profiler.ReportOpInvokeEvent = [](Profiler* p, const char* name, uint64_t microseconds,
                                             int64_t node, int64_t subgraph) {
    add(p, std::string(name) + " " + std::to_string(microseconds) + " " + std::to_string(subgraph) +
               "." + std::to_string(node));
  };
  Apply({{"flags", "4"}, {"events", "1 100 2999 mul"}}, [&](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetTelemetryProfiler(options, &recorder.profiler);
  });
  EXPECT_EQ(t_->Invoke(), kTfLiteOk) << t_->log();
  EXPECT_THAT(recorder.log, ElementsAre("begin ADD", "end", "begin Reporting", "MUL 2 0.1", "end",
                                        "begin MUL", "end"));
}

TEST_F(NodeEvents, of_one_delegate_are_queried_by_one_thread_at_a_time) {
  Apply({{"flags", "4"}, {"events", kTwo}, {"mode", "overlap"}});
  const auto work = [&] {
    TestInterpreter t(Chain(4));
    std::vector<std::string> texts;
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate_.get()), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    t.Set<float>(0, {1, 2, 3, 4});
    DeputyInterpreterSetProfileCallback(t.get(), &AddText, &texts);
    for (int i = 0; i < 200; ++i) ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_EQ(texts.size(), 200U * 4U);
    EXPECT_THAT(t.log(), Not(HasSubstr("node_events")));
  };
  std::thread other(work);
  work();
  other.join();
}

}  // namespace
}  // namespace deputy::node_events_test
