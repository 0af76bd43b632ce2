// SPDX-License-Identifier: Apache-2.0
//
// Tests the reports of deputy.h about the runner of each node and the reasons for it, and the
// caller's constraints: pinning, excluding, requiring, and groups of nodes that are claimed only
// together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "c_api/include/c_api_experimental.h"
#include "c_api/include/deputy.h"
#include "c_api/include/deputy_plugin.h"
#include "tests/support/delegate_support.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/plugin_support.h"
#include "tests/support/scripted_delegate.h"
#include "tests/support/test_interpreter.h"

namespace deputy::delegate_explain_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TfLiteStatus Apply(TestInterpreter* t, Scripted* delegate) {
  return TfLiteInterpreterModifyGraphWithDelegate(t->get(), delegate->get());
}

DeputyNodeSupport SupportOf(TestInterpreter* t, int node, int delegate = 0) {
  DeputyNodeSupport support{};
  support.struct_size = sizeof support;
  EXPECT_EQ(DeputyInterpreterGetNodeSupport(t->get(), 0, node, delegate, &support), kTfLiteOk);
  return support;
}

std::vector<int> Reasons(TestInterpreter* t, int nodes, int delegate = 0) {
  std::vector<int> reasons;
  for (int i = 0; i < nodes; ++i) reasons.push_back(SupportOf(t, i, delegate).reason);
  return reasons;
}

// ---- Reports ------------------------------------------------------------------------------------

TEST(Explain, every_node_has_a_delegate_or_a_reason) {
  Scripted delegate({0, 1, 4});
  TestInterpreter t(Chain(6));
  ASSERT_EQ(Apply(&t, &delegate), kTfLiteOk);
  EXPECT_EQ(DeputyInterpreterGetDelegateCount(t.get()), 1);
  DeputyDelegateInfo info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(DeputyInterpreterGetDelegateInfo(t.get(), 0, &info), kTfLiteOk);
  EXPECT_EQ(info.delegate, delegate.get());
  EXPECT_STREQ(info.name, "Scripted");
  EXPECT_EQ(info.applied, 1);
  EXPECT_EQ(info.partition_count, 2);
  EXPECT_EQ(info.node_count, 3);
  for (int node : {0, 1, 4}) {
    EXPECT_EQ(SupportOf(&t, node).delegated, 1);
    EXPECT_EQ(SupportOf(&t, node).reason, kDeputyReasonNone);
    EXPECT_EQ(NodeRunOf(t.get(), node).delegate_index, 0);
  }
  EXPECT_EQ(NodeRunOf(t.get(), 0).runner, 6);
  EXPECT_EQ(NodeRunOf(t.get(), 4).runner, 7);
  for (int node : {2, 3, 5}) {
    EXPECT_EQ(SupportOf(&t, node).delegated, 0);
    EXPECT_EQ(SupportOf(&t, node).reason, kDeputyReasonNotClaimed);
    EXPECT_STREQ(SupportOf(&t, node).reason_name, "NOT_CLAIMED");
    EXPECT_THAT(SupportOf(&t, node).text, HasSubstr("no reason given"));
    EXPECT_EQ(NodeRunOf(t.get(), node).delegate_index, -1);
    EXPECT_EQ(NodeRunOf(t.get(), node).runner, node);
  }
  // Queries with invalid indices fail.
  DeputyNodeSupport support{};
  support.struct_size = sizeof support;
  EXPECT_EQ(DeputyInterpreterGetNodeSupport(t.get(), 0, 99, 0, &support), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterGetNodeSupport(t.get(), 0, 0, 1, &support), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterGetNodeSupport(t.get(), 1, 0, 0, &support), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterGetDelegateInfo(t.get(), 1, &info), kTfLiteError);
}

TEST(Explain, boundaries_are_counted) {
  Scripted delegate({1, 2});
  TestInterpreter t(Chain(4));
  ASSERT_EQ(Apply(&t, &delegate), kTfLiteOk);
  ASSERT_EQ(DeputyInterpreterGetPartitionCount(t.get(), 0), 1);
  DeputyPartition partition{};
  partition.struct_size = sizeof partition;
  ASSERT_EQ(DeputyInterpreterGetPartition(t.get(), 0, 0, &partition), kTfLiteOk);
  EXPECT_EQ(partition.node_index, 4);
  EXPECT_EQ(partition.plan_position, 1);
  EXPECT_EQ(partition.delegate_index, 0);
  EXPECT_THAT(std::vector<int>(partition.nodes, partition.nodes + partition.node_count),
              ElementsAre(1, 2));
  EXPECT_EQ(partition.input_count, 1);
  EXPECT_EQ(partition.input_bytes, 16u);
  EXPECT_EQ(partition.output_count, 1);
  EXPECT_EQ(partition.output_bytes, 16u);
  EXPECT_EQ(partition.constant_bytes, 16u);
  EXPECT_EQ(DeputyInterpreterGetPartition(t.get(), 0, 1, &partition), kTfLiteError);
}

// 20 random chains with random claims: the reports agree with brute force over the plan, and every
// node on the CPU has a reason.
TEST(Explain, random_claims_are_all_explained) {
  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    const int length = 1 + static_cast<int>(random() % 20);
    std::set<int> claims;
    for (int i = 0; i < length; ++i) {
      if (random() % 2 == 0) claims.insert(i);
    }
    Scripted delegate(claims);
    TestInterpreter t(Chain(length));
    ASSERT_EQ(Apply(&t, &delegate), kTfLiteOk);
    size_t boundary = 0;
    for (int i = 0; i < length; ++i) {
      const bool taken = claims.count(i) != 0;
      EXPECT_EQ(SupportOf(&t, i).delegated, taken);
      EXPECT_EQ(SupportOf(&t, i).reason == kDeputyReasonNone, taken);
      EXPECT_NE(SupportOf(&t, i).text[0] == '\0', !taken);
      // Each sequence of consecutive claimed nodes reads 16 bytes and writes 16.
      boundary += taken && claims.count(i - 1) == 0 ? 32 : 0;
    }
    size_t reported = 0;
    for (int p = 0; p < DeputyInterpreterGetPartitionCount(t.get(), 0); ++p) {
      DeputyPartition partition{};
      partition.struct_size = sizeof partition;
      ASSERT_EQ(DeputyInterpreterGetPartition(t.get(), 0, p, &partition), kTfLiteOk);
      reported += partition.input_bytes + partition.output_bytes;
    }
    EXPECT_EQ(reported, boundary);
  }
}

TEST(Explain, nodes_claimed_by_an_earlier_delegate_are_unavailable) {
  Scripted first({0, 1}), second({0, 1, 2});
  TestInterpreter t(Chain(4));
  ASSERT_EQ(Apply(&t, &first), kTfLiteOk);
  ASSERT_EQ(Apply(&t, &second), kTfLiteOk);
  EXPECT_EQ(DeputyInterpreterGetDelegateCount(t.get()), 2);
  EXPECT_THAT(Reasons(&t, 4, 0),
              ElementsAre(0, 0, kDeputyReasonNotClaimed, kDeputyReasonNotClaimed));
  EXPECT_EQ(NodeRunOf(t.get(), 1).delegate_index, 0);
  EXPECT_EQ(NodeRunOf(t.get(), 2).delegate_index, 1);
  // The nodes 0 and 1 and the first delegate's node, number 4, are not available to the second.
  for (int node : {0, 1, 4}) {
    EXPECT_EQ(SupportOf(&t, node, 1).reason, kDeputyReasonClaimedByOther) << node;
    EXPECT_STREQ(SupportOf(&t, node, 1).text, "claimed by another delegate: Scripted") << node;
  }
  EXPECT_EQ(SupportOf(&t, 3, 1).reason, kDeputyReasonNotClaimed);
}

TEST(Explain, a_failed_delegate_has_a_reason_for_every_node) {
  Scripted delegate({0, 2});
  delegate->failing_callback = kScriptedPrepareKernel;
  delegate->failure = kScriptedErrorStatus;
  TestInterpreter t(Chain(3));
  ASSERT_EQ(Apply(&t, &delegate), kTfLiteDelegateError);
  const DeputyDelegateInfo info = DelegateInfoOf(t.get(), 0);
  EXPECT_EQ(info.applied, 0);
  EXPECT_STRNE(info.failure, "");
  EXPECT_EQ(info.partition_count, 0);
  EXPECT_THAT(Reasons(&t, 3),
              ElementsAre(kDeputyReasonFailed, kDeputyReasonGraph, kDeputyReasonFailed));
}

// The failure that is reported is the delegate's own message, not messages that result from it.
TEST(Explain, reasons_quote_a_delegate_that_refuses_the_graph) {
  for (const bool hot : {false, true}) {
    Programmed delegate([](TfLiteContext* context, TfLiteDelegate*) {
      context->ReportError(context, "no device");
      context->ReportError(context, "looked for %d", 3);
      return kTfLiteDelegateError;
    });
    TestInterpreter t(Chain(2), [&](TfLiteInterpreterOptions* options) {
      if (hot) DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
    });
    ASSERT_NE(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &delegate.base), kTfLiteOk);
    const std::string closing = hot ? "the graph is unchanged"
                                    : "Restored original execution plan after delegate "
                                      "application failure.";
    const DeputyDelegateInfo info = DelegateInfoOf(t.get(), 0);
    EXPECT_THAT(info.failure, testing::StartsWith("no device; looked for 3; "));
    EXPECT_THAT(info.failure, testing::EndsWith(closing));
    EXPECT_STREQ(SupportOf(&t, 1).text, info.failure);
  }
}

TEST(Explain, unsupported_types_are_the_reason_by_default) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {4}), y = m.AddTensor(kTfLiteFloat32, {4});
  const int i = m.AddTensor(kTfLiteInt32, {4}), j = m.AddTensor(kTfLiteInt32, {4});
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinAdd, {i, i}, {j}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x, i});
  m.SetOutputs({y, j});
  Scripted delegate({0});
  TestInterpreter t(m.Finish());
  ASSERT_EQ(Apply(&t, &delegate), kTfLiteOk);
  EXPECT_EQ(SupportOf(&t, 1).reason, kDeputyReasonType);
  EXPECT_THAT(SupportOf(&t, 1).text, HasSubstr("INT32 INT32 -> INT32"));
}

TEST(Explain, costs_are_available_while_profiling) {
  Scripted delegate({0, 1});
  TestInterpreter t(Chain(3));
  ASSERT_EQ(Apply(&t, &delegate), kTfLiteOk);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(NodeRunOf(t.get(), 3).runs, 0);
  DeputyInterpreterSetProfileCallback(
      t.get(), [](void*, const DeputyOpEvent*) {}, nullptr);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(NodeRunOf(t.get(), 3).runs, 2);
  EXPECT_GT(NodeRunOf(t.get(), 3).total_ns, 0);
  EXPECT_EQ(NodeRunOf(t.get(), 2).runs, 2);
  EXPECT_EQ(NodeRunOf(t.get(), 0).runs, 0);
}

// ---- Reports after delegates are gone -----------------------------------------------------------

TEST(ExplainRemoval, a_failing_delegate_removes_earlier_ones) {
  Scripted first({0, 1}), second({3});
  TestInterpreter t(Chain(4));
  ASSERT_EQ(Apply(&t, &first), kTfLiteOk);
  second.FailAt(kScriptedPrepareKernel, 0);
  ASSERT_EQ(Apply(&t, &second), kTfLiteDelegateError);
  EXPECT_EQ(DelegateInfoOf(t.get(), 0).applied, 0);
  EXPECT_THAT(DelegateInfoOf(t.get(), 0).failure,
              HasSubstr("when a delegate could not be applied"));
  EXPECT_EQ(DelegateInfoOf(t.get(), 1).applied, 0);
  EXPECT_THAT(Reasons(&t, 4, 0), ElementsAre(kDeputyReasonRemoved, kDeputyReasonRemoved,
                                             kDeputyReasonNotClaimed, kDeputyReasonNotClaimed));
  for (int node = 0; node < 4; ++node) {
    EXPECT_EQ(SupportOf(&t, node, 0).delegated, 0);
    EXPECT_STRNE(SupportOf(&t, node, 0).text, "");
    EXPECT_EQ(NodeRunOf(t.get(), node).delegate_index, -1);
  }
  // The records of the delegates' own nodes were removed with these nodes.
  DeputyNodeSupport support{};
  support.struct_size = sizeof support;
  EXPECT_EQ(DeputyInterpreterGetNodeSupport(t.get(), 0, 4, 1, &support), kTfLiteError);
}

TEST(ExplainRemoval, the_cpu_fallback) {
  Scripted delegate({1});
  delegate.FailAt(kScriptedInvoke, 0);
  TestInterpreter t(Chain(3), [](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetEnableDelegateFallback(options, true);
  });
  ASSERT_EQ(Apply(&t, &delegate), kTfLiteOk);
  ASSERT_EQ(t.Invoke(), kTfLiteDelegateError);
  EXPECT_EQ(DelegateInfoOf(t.get(), 0).applied, 0);
  EXPECT_THAT(DelegateInfoOf(t.get(), 0).failure, HasSubstr("by the CPU fallback"));
  EXPECT_EQ(SupportOf(&t, 1).delegated, 0);
  EXPECT_STREQ(SupportOf(&t, 1).reason_name, "REMOVED");
}

TEST(ExplainRemoval, a_resize_removes_it_until_allocation) {
  Scripted delegate({1});
  TestInterpreter t(Chain(3));
  ASSERT_EQ(Apply(&t, &delegate), kTfLiteOk);
  ASSERT_EQ(t.Resize(0, {2, 4}), kTfLiteOk);
  EXPECT_EQ(DelegateInfoOf(t.get(), 0).applied, 1);
  EXPECT_EQ(SupportOf(&t, 1).reason, kDeputyReasonRemoved);
  EXPECT_THAT(SupportOf(&t, 1).text, HasSubstr("resize"));
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  EXPECT_EQ(SupportOf(&t, 1).delegated, 1);
  EXPECT_EQ(SupportOf(&t, 1).reason, kDeputyReasonNone);
}

void Hot(TfLiteInterpreterOptions* options) {
  DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
}

TEST(ExplainRemoval, hot_removes_a_delegate_from_every_subgraph) {
  ModelBuilder m;
  AddChain(&m, 3);
  m.AddSubgraph("second");
  AddChain(&m, 3);
  Scripted good({0}), bad({2});
  TestInterpreter t(m.Finish(), Hot);
  ASSERT_EQ(Apply(&t, &good), kTfLiteOk);
  bad.FailAt(kScriptedPrepareDelegate, 1);
  ASSERT_EQ(Apply(&t, &bad), kTfLiteDelegateError);
  EXPECT_EQ(DelegateInfoOf(t.get(), 0).applied, 1);
  EXPECT_EQ(SupportOf(&t, 0, 0).delegated, 1);
  EXPECT_EQ(DelegateInfoOf(t.get(), 1).applied, 0);
  EXPECT_EQ(SupportOf(&t, 2, 1).reason, kDeputyReasonRemoved);
  EXPECT_THAT(SupportOf(&t, 2, 1).text, HasSubstr("rolled back"));
}

TEST(ExplainRemoval, hot_keeps_the_nodes_of_a_delegate_whose_second_application_fails) {
  Scripted delegate({0});
  TestInterpreter t(Chain(3), Hot);
  ASSERT_EQ(Apply(&t, &delegate), kTfLiteOk);
  delegate->claims[2] = true;
  delegate.FailAt(kScriptedPrepareKernel, delegate->calls[kScriptedPrepareKernel]);
  ASSERT_EQ(Apply(&t, &delegate), kTfLiteDelegateError);
  EXPECT_EQ(DelegateInfoOf(t.get(), 0).applied, 1);
  EXPECT_EQ(SupportOf(&t, 0).delegated, 1);
  EXPECT_EQ(SupportOf(&t, 2).delegated, 0);
  EXPECT_NE(SupportOf(&t, 2).reason, kDeputyReasonNone);
}

TEST(ExplainRemoval, failed_delegates_may_be_deleted) {
  auto failed = std::make_unique<Scripted>(std::set<int>{});
  failed->FailAt(kScriptedPrepareDelegate, 0);
  Scripted good({1});
  TestInterpreter t(Chain(3));
  ASSERT_EQ(Apply(&t, failed.get()), kTfLiteDelegateError);
  ASSERT_EQ(Apply(&t, &good), kTfLiteOk);
  failed.reset();
  EXPECT_EQ(NodeRunOf(t.get(), 1).delegate_index, 1);
  EXPECT_EQ(DelegateInfoOf(t.get(), 0).applied, 0);
  EXPECT_EQ(DelegateInfoOf(t.get(), 1).node_count, 1);
  DeputyPartition partition{};
  partition.struct_size = sizeof partition;
  ASSERT_EQ(DeputyInterpreterGetPartition(t.get(), 0, 0, &partition), kTfLiteOk);
  EXPECT_EQ(partition.delegate_index, 1);
}

// The list has all applied delegates, and the newest 16 of those that failed or were removed.
TEST(ExplainRemoval, records_of_failed_delegates_are_limited) {
  std::vector<std::unique_ptr<Scripted>> failing;
  Scripted good({0});
  TestInterpreter t(Chain(3), Hot);
  ASSERT_EQ(Apply(&t, &good), kTfLiteOk);
  for (int i = 0; i < 100; ++i) {
    failing.push_back(std::make_unique<Scripted>(std::set<int>{1}));
    failing.back()->FailAt(kScriptedPrepareDelegate, 0);
    ASSERT_EQ(Apply(&t, failing.back().get()), kTfLiteDelegateError);
  }
  ASSERT_EQ(DeputyInterpreterGetDelegateCount(t.get()), 17);
  EXPECT_EQ(DelegateInfoOf(t.get(), 0).delegate, good.get());
  EXPECT_EQ(DelegateInfoOf(t.get(), 1).delegate, failing[84]->get());
  EXPECT_EQ(DelegateInfoOf(t.get(), 16).delegate, failing[99]->get());
}

// ---- Pinning and excluding ----------------------------------------------------------------------

DeputyPlacement Place(int selector, int node, const char* name, const TfLiteDelegate* delegate) {
  DeputyPlacement placement{};
  placement.struct_size = sizeof placement;
  placement.selector = selector;
  placement.subgraph_index = -1;
  placement.node_index = node;
  placement.name = name;
  placement.delegate = delegate;
  return placement;
}

TestInterpreter::Configure With(const std::vector<DeputyPlacement>& placements) {
  return [=](TfLiteInterpreterOptions* options) {
    for (const DeputyPlacement& placement : placements) {
      EXPECT_EQ(DeputyInterpreterOptionsAddPlacement(options, &placement), kTfLiteOk);
    }
  };
}

TEST(Placement, nodes_are_excluded_by_number_name_and_operator) {
  const std::vector<uint8_t> model = Chain(5);  // ADD at 0, 2, 4; MUL at 1, 3
  const struct {
    DeputyPlacement placement;
    std::set<int> excluded;
  } rows[] = {{Place(kDeputySelectIndex, 2, nullptr, nullptr), {2}},
              {Place(kDeputySelectOutputTensor, 0, "y3", nullptr), {3}},
              {Place(kDeputySelectOperator, 0, "ADD", nullptr), {0, 2, 4}}};
  for (const auto& row : rows) {
    Scripted delegate({0, 1, 2, 3, 4});
    TestInterpreter t(model, With({row.placement})), cpu(model);
    ASSERT_EQ(Apply(&t, &delegate), kTfLiteOk) << t.log();
    for (int i = 0; i < 5; ++i) {
      const bool excluded = row.excluded.count(i) != 0;
      EXPECT_EQ(NodeRunOf(t.get(), i).delegate_index, excluded ? -1 : 0);
      EXPECT_EQ(SupportOf(&t, i).reason, excluded ? kDeputyReasonExcluded : kDeputyReasonNone);
    }
    for (TestInterpreter* each : {&t, &cpu}) {
      ASSERT_EQ(each->Allocate(), kTfLiteOk);
      each->Set<float>(0, {1, 2, 3, 4});
      ASSERT_EQ(each->Invoke(), kTfLiteOk) << t.log();
    }
    EXPECT_EQ(t.Get<float>(0), cpu.Get<float>(0));
    EXPECT_EQ(delegate->nodes_computed, 5 - static_cast<int>(row.excluded.size()));
  }
}

TEST(Placement, nodes_are_pinned_by_number_name_and_operator) {
  for (int selector : {kDeputySelectIndex, kDeputySelectOutputTensor, kDeputySelectOperator}) {
    Scripted first({0, 1, 2}), second({0, 1, 2});
    TestInterpreter t(
        Chain(3),
        With({Place(selector, 1, selector == kDeputySelectOperator ? "MUL" : "y1", second.get())}));
    ASSERT_EQ(Apply(&t, &first), kTfLiteOk);
    ASSERT_EQ(Apply(&t, &second), kTfLiteOk) << t.log();
    EXPECT_THAT(Reasons(&t, 3, 0), ElementsAre(0, kDeputyReasonPinned, 0));
    EXPECT_EQ(NodeRunOf(t.get(), 0).delegate_index, 0);
    EXPECT_EQ(NodeRunOf(t.get(), 1).delegate_index, 1);
    EXPECT_EQ(NodeRunOf(t.get(), 2).delegate_index, 0);
  }
}

TEST(Placement, contradictions_and_missing_nodes_are_refused) {
  Scripted a({}), b({});
  const struct {
    std::vector<DeputyPlacement> placements;
    const char* message;
  } rows[] = {
      {{Place(kDeputySelectIndex, 1, nullptr, a.get()),
        Place(kDeputySelectOperator, 0, "MUL", b.get())},
       "placed twice"},
      {{Place(kDeputySelectIndex, 1, nullptr, a.get()),
        Place(kDeputySelectOutputTensor, 0, "y1", nullptr)},
       "placed twice"},
      {{Place(kDeputySelectIndex, 17, nullptr, nullptr)}, "Cannot place node 17"},
      {{Place(kDeputySelectOutputTensor, 0, "nothing", nullptr)}, "'nothing'"},
  };
  for (const auto& row : rows) {
    TestInterpreter t(Chain(3), With(row.placements));
    EXPECT_EQ(t.get(), nullptr);
    EXPECT_THAT(t.log(), HasSubstr(row.message));
  }
  // A constraint on an operator that the model does not have is not an error, nor is a repeated
  // constraint.
  TestInterpreter t(Chain(3), With({Place(kDeputySelectOperator, 0, "CONV_2D", nullptr),
                                    Place(kDeputySelectIndex, 1, nullptr, a.get()),
                                    Place(kDeputySelectOperator, 0, "MUL", a.get())}));
  EXPECT_NE(t.get(), nullptr) << t.log();
}

TEST(Placement, wrong_structs_are_refused) {
  TfLiteInterpreterOptions* options = TfLiteInterpreterOptionsCreate();
  DeputyPlacement placement = Place(kDeputySelectOperator, 0, nullptr, nullptr);
  EXPECT_EQ(DeputyInterpreterOptionsAddPlacement(options, &placement), kTfLiteError);
  placement = Place(9, 0, "x", nullptr);
  EXPECT_EQ(DeputyInterpreterOptionsAddPlacement(options, &placement), kTfLiteError);
  placement = Place(kDeputySelectIndex, 0, nullptr, nullptr);
  placement.struct_size -= 8;
  EXPECT_EQ(DeputyInterpreterOptionsAddPlacement(options, &placement), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterOptionsAddPlacement(options, nullptr), kTfLiteError);
  TfLiteInterpreterOptionsDelete(options);
}

// ---- Groups of nodes that are claimed only together ---------------------------------------------

TEST(Groups, are_claimed_completely_or_not_at_all) {
  // The model has ADD at 0, 2, 4 and MUL at 1, 3. The delegate supports `operators`; nodes with the
  // same letter in `groups` are claimed only together.
  const struct {
    const char* operators;
    const char* groups;
    std::set<int> taken;
  } rows[] = {{"0,18", "aa---", {0, 1, 2, 3, 4}},
              {"0,18", "a---a", {0, 1, 2, 3, 4}},
              {"0", "a-a--", {4}},        // the MUL between the ADDs is not supported
              {"0", "a-b-c", {0, 2, 4}},  // each group is independent
              {"0", "aa---", {2, 4}},     // the group's MUL is not supported
              {"0", "a-b-b", {0}},
              {"0,18", "-----", {0, 1, 2, 3, 4}}};
  for (const auto& row : rows) {
    const Handle delegate =
        External("described0", {{"ops", row.operators}, {"groups", row.groups}});
    ASSERT_NE(delegate, nullptr);
    TestInterpreter t(Chain(5)), cpu(Chain(5));
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
    for (int i = 0; i < 5; ++i) {
      const bool taken = row.taken.count(i) != 0;
      EXPECT_EQ(NodeRunOf(t.get(), i).delegate_index, taken ? 0 : -1)
          << row.groups << " node " << i;
      if (!taken && row.groups[i] != '-' && (i % 2 == 0)) {
        EXPECT_EQ(SupportOf(&t, i).reason, kDeputyReasonGroup) << row.groups << " node " << i;
        EXPECT_EQ(SupportOf(&t, i).group, row.groups[i]);
      }
      if (!taken && i % 2 == 1) {
        EXPECT_EQ(SupportOf(&t, i).reason, kDeputyReasonOperator);
      }
    }
    for (TestInterpreter* each : {&t, &cpu}) {
      ASSERT_EQ(each->Allocate(), kTfLiteOk);
      each->Set<float>(0, {1, 2, 3, 4});
      ASSERT_EQ(each->Invoke(), kTfLiteOk) << t.log();
    }
    EXPECT_EQ(t.Get<float>(0), cpu.Get<float>(0));
  }
}

TEST(Groups, random_groups_are_never_split) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    const int length = 2 + static_cast<int>(random() % 12);
    std::string groups;
    for (int i = 0; i < length; ++i) groups += "---abc"[random() % 6];
    const std::string operators = random() % 2 == 0 ? "0" : "0,18";
    const Handle delegate = External("described0", {{"ops", operators}, {"groups", groups}});
    TestInterpreter t(Chain(length));
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
    std::map<char, std::set<int>> runners;  // -1: the CPU, which may run any node
    for (int i = 0; i < length; ++i) {
      const DeputyNodeRun run = NodeRunOf(t.get(), i);
      const bool supported = operators == "0,18" || i % 2 == 0;
      const int runner = run.delegate_index < 0 ? -1 : run.runner;
      if (groups[static_cast<size_t>(i)] == '-') {
        EXPECT_EQ(runner >= 0, supported) << groups << " node " << i;
      } else {
        runners[groups[static_cast<size_t>(i)]].insert(runner);
      }
    }
    for (const auto& [group, where] : runners)
      EXPECT_EQ(where.size(), 1u) << groups << " " << group;
  }
}

// ---- Requiring ----------------------------------------------------------------------------------

TEST(Require, full_and_partial) {
  const struct {
    DeputyRequirement requirement;
    std::set<int> claims;
    bool accepted;
  } rows[] = {{kDeputyRequireNothing, {}, true},
              {kDeputyRequirePartial, {}, false},
              {kDeputyRequirePartial, {1}, true},
              {kDeputyRequireFull, {0, 1}, false},
              {kDeputyRequireFull, {0, 1, 2}, true}};
  for (const auto& row : rows) {
    Scripted delegate(row.claims);
    TestInterpreter t(Chain(3), [&](TfLiteInterpreterOptions* options) {
      TfLiteInterpreterOptionsAddDelegate(options, delegate.get());
      EXPECT_EQ(DeputyInterpreterOptionsRequireDelegation(options, row.requirement), kTfLiteOk);
    });
    EXPECT_EQ(t.get() != nullptr, row.accepted) << t.log();
    if (!row.accepted) {
      EXPECT_THAT(t.log(), HasSubstr("left on the CPU:\n  subgraph 0 node "));
    }
  }
}

TEST(Require, counts_nodes_and_lists_those_left) {
  Scripted delegate({0, 1});
  TestInterpreter t(Chain(3));
  ASSERT_EQ(Apply(&t, &delegate), kTfLiteOk);
  int32_t delegated = -1, total = -1;
  EXPECT_EQ(DeputyInterpreterCheckDelegation(t.get(), kDeputyRequirePartial, &delegated, &total),
            kTfLiteOk);
  EXPECT_EQ(delegated, 2);
  EXPECT_EQ(total, 3);
  EXPECT_EQ(DeputyInterpreterCheckDelegation(t.get(), kDeputyRequireFull, nullptr, nullptr),
            kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("found 2 of 3"));
  EXPECT_THAT(t.log(), HasSubstr("node 2 ADD"));
  EXPECT_THAT(t.log(), Not(HasSubstr("node 1 ")));
}

// ---- Queries without applying -------------------------------------------------------------------

using Texts = std::vector<std::string>;

// Queries a delegate's support. Writes "SUBGRAPH#NODE REASON text" for each node, only
// "SUBGRAPH#NODE" if the node would be claimed.
TfLiteStatus Check(TestInterpreter* t, TfLiteDelegate* delegate, Texts* out_texts) {
  return DeputyInterpreterCheckDelegate(
      t->get(), delegate,
      [](void* texts, int32_t subgraph, int32_t node, const DeputyNodeSupport* support) {
        std::string text = std::to_string(subgraph) + "#" + std::to_string(node);
        if (support->delegated == 0) {
          text += std::string(" ") + support->reason_name + " " + support->text;
        }
        static_cast<Texts*>(texts)->push_back(text);
      },
      out_texts);
}

TEST(Check, queries_a_delegate_without_applying_it) {
  const std::string log = ScratchFile("checked.log");
  WriteBytes(log, {});
  const Handle delegate = External("described0", {{"ops", "0"}, {"log", log}});
  TestInterpreter t(Chain(4));
  Texts texts;
  ASSERT_EQ(Check(&t, delegate.get(), &texts), kTfLiteOk) << t.log();
  EXPECT_THAT(texts, ElementsAre("0#0", "0#1 OPERATOR operator", "0#2", "0#3 OPERATOR operator"));
  EXPECT_EQ(DeputyInterpreterGetDelegateCount(t.get()), 0);
  EXPECT_EQ(DeputyInterpreterGetPartitionCount(t.get(), 0), 0);
  EXPECT_EQ(DeputyInterpreterGetNodeCount(t.get(), 0), 4);
  EXPECT_EQ(ReadText(log), "");  // the delegate has claimed and run nothing
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
  EXPECT_EQ(DeputyInterpreterGetPartitionCount(t.get(), 0), 2);
  EXPECT_NE(ReadText(log), "");
}

TEST(Check, fails_for_a_delegate_without_a_support_query) {
  Scripted delegate({0, 1, 2, 3});
  const Handle plain = External("elementwise");
  TestInterpreter t(Chain(4));
  Texts texts;
  EXPECT_EQ(Check(&t, delegate.get(), &texts), kTfLiteUnresolvedOps);
  EXPECT_THAT(t.log(), HasSubstr("no support query"));
  EXPECT_EQ(Check(&t, plain.get(), &texts), kTfLiteUnresolvedOps);
  EXPECT_TRUE(texts.empty());
  EXPECT_EQ(delegate->calls[kScriptedPrepareDelegate], 0);
  EXPECT_EQ(Check(&t, nullptr, &texts), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterCheckDelegate(nullptr, plain.get(), nullptr, nullptr), kTfLiteError);
}

}  // namespace
}  // namespace deputy::delegate_explain_test
