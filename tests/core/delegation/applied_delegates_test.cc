// SPDX-License-Identifier: Apache-2.0
//
// Tests the list of a subgraph's delegates, on a graph built by hand: properties of each delegate,
// which are applied, which are remembered, and the records of every node.
#include "core/delegation/applied_delegates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/hand_graph.h"

namespace deputy::applied_delegates_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TfLiteDelegate Plain(int64_t flags = kTfLiteDelegateFlagsNone) {
  TfLiteDelegate delegate = TfLiteDelegateCreate();
  delegate.flags = flags;
  delegate.Prepare = [](TfLiteContext*, TfLiteDelegate*) { return kTfLiteOk; };
  return delegate;
}

void Apply(AppliedDelegates* delegates, TfLiteDelegate* delegate) {
  const AppliedDelegates::Application application(delegates, delegate);
  delegates->AddCurrent();
  delegates->ConcludeCurrent("");
}

void FailToApply(AppliedDelegates* delegates, TfLiteDelegate* delegate, const char* why) {
  const AppliedDelegates::Application application(delegates, delegate);
  delegates->ConcludeCurrent(why);
}

std::vector<const TfLiteDelegate*> Known(const AppliedDelegates& delegates) {
  std::vector<const TfLiteDelegate*> handles;
  for (const AppliedDelegate& delegate : delegates.all()) handles.push_back(delegate.handle);
  return handles;
}

// ---- One delegate -------------------------------------------------------------------------------

TEST(AppliedDelegate, copies_the_fields_of_a_plain_delegate) {
  TfLiteDelegate delegate = Plain(kTfLiteDelegateFlagsAllowDynamicTensors);
  const AppliedDelegate applied(&delegate);
  delegate.flags = kTfLiteDelegateFlagsNone;  // changed too late to have an effect
  EXPECT_EQ(applied.handle, &delegate);
  EXPECT_EQ(applied.inner, &delegate);
  EXPECT_EQ(applied.builder, nullptr);
  EXPECT_TRUE(applied.Has(kTfLiteDelegateFlagsAllowDynamicTensors));
  EXPECT_FALSE(applied.Has(kTfLiteDelegateFlagsRequirePropagatedShapes));
  EXPECT_EQ(applied.name, "");
  EXPECT_EQ(applied.library, nullptr);
}

TEST(AppliedDelegate, of_an_opaque_delegate_has_the_flags_of_its_builder) {
  TfLiteOpaqueDelegateBuilder builder{};
  builder.flags = kTfLiteDelegateFlagsRequirePropagatedShapes;
  TfLiteDelegate delegate = TfLiteDelegateCreate();
  delegate.flags = kTfLiteDelegateFlagsAllowDynamicTensors;
  delegate.opaque_delegate_builder = &builder;
  const AppliedDelegate applied(&delegate);
  EXPECT_EQ(applied.builder, &builder);
  EXPECT_TRUE(applied.Has(kTfLiteDelegateFlagsRequirePropagatedShapes));
  EXPECT_FALSE(applied.Has(kTfLiteDelegateFlagsAllowDynamicTensors));
}

// ---- The list -----------------------------------------------------------------------------------

TEST(AppliedDelegates, are_listed_by_their_first_time_and_ordered_by_application) {
  HandGraph graph(1);
  AppliedDelegates delegates(&*graph);
  TfLiteDelegate a = Plain(), b = Plain();
  FailToApply(&delegates, &a, "no");
  Apply(&delegates, &b);
  EXPECT_FALSE(delegates.Find(&a)->record.applied);
  EXPECT_EQ(delegates.Find(&a)->record.failure, "no");
  Apply(&delegates, &a);
  EXPECT_THAT(Known(delegates), ElementsAre(&a, &b));
  EXPECT_THAT(delegates.applied_handles(), ElementsAre(&b, &a));
  EXPECT_TRUE(delegates.Find(&a)->record.applied);
  EXPECT_EQ(delegates.Find(&a)->record.failure, "");
  Apply(&delegates, &b);
  EXPECT_THAT(delegates.applied_handles(), ElementsAre(&b, &a, &b));
}

TEST(AppliedDelegates, a_delegate_is_current_only_while_it_is_applied) {
  HandGraph graph(1);
  AppliedDelegates delegates(&*graph);
  TfLiteDelegate outer = Plain(), inner = Plain();
  EXPECT_EQ(delegates.current(), nullptr);
  {
    const AppliedDelegates::Application application(&delegates, &outer);
    EXPECT_EQ(delegates.current()->handle, &outer);
    {
      const AppliedDelegates::Application nested(&delegates, &inner);
      EXPECT_EQ(delegates.current()->handle, &inner);
    }
    EXPECT_EQ(delegates.current()->handle, &outer);
  }
  EXPECT_EQ(delegates.current(), nullptr);
  EXPECT_EQ(delegates.SupportOf(0), nullptr);
}

TEST(AppliedDelegates, record_all_applied_delegates_and_a_limited_number_of_failed_ones) {
  HandGraph graph(1);
  AppliedDelegates delegates(&*graph);
  constexpr size_t kTried = AppliedDelegates::kMaxOthers + 4;
  TfLiteDelegate first = Plain();
  Apply(&delegates, &first);
  std::array<TfLiteDelegate, kTried> tried;
  for (TfLiteDelegate& delegate : tried) {
    delegate = Plain();
    FailToApply(&delegates, &delegate, "no");
  }
  EXPECT_EQ(delegates.all().size(), 1u + AppliedDelegates::kMaxOthers);
  EXPECT_NE(delegates.Find(&first), nullptr);
  EXPECT_EQ(delegates.Find(&tried[3]), nullptr);
  EXPECT_NE(delegates.Find(&tried[4]), nullptr);
}

TEST(AppliedDelegates, that_were_removed_have_a_reason) {
  HandGraph graph(1);
  AppliedDelegates delegates(&*graph);
  TfLiteDelegate a = Plain(), b = Plain();
  Apply(&delegates, &a);
  const AppliedDelegates::Order before = delegates.applied();
  Apply(&delegates, &b);
  delegates.SetApplied(before);
  delegates.Revise("undone");
  EXPECT_THAT(delegates.applied_handles(), ElementsAre(&a));
  EXPECT_TRUE(delegates.Find(&a)->record.applied);
  EXPECT_FALSE(delegates.Find(&b)->record.applied);
  EXPECT_EQ(delegates.Find(&b)->record.failure, "undone");
  delegates.ClearApplied();
  delegates.Revise("removed");
  EXPECT_EQ(delegates.Find(&a)->record.failure, "removed");
  EXPECT_EQ(delegates.Find(&b)->record.failure, "undone");
}

// ---- Nodes --------------------------------------------------------------------------------------

// Returns the reason recorded for each node.
std::vector<DeputyReason> Reasons(const AppliedDelegates& delegates,
                                  const TfLiteDelegate* delegate) {
  std::vector<DeputyReason> reasons;
  for (const NodeSupport& support : delegates.Find(delegate)->record.nodes) {
    reasons.push_back(support.reason);
  }
  return reasons;
}

std::vector<bool> Taken(const AppliedDelegates& delegates, const TfLiteDelegate* delegate) {
  std::vector<bool> taken;
  for (const NodeSupport& support : delegates.Find(delegate)->record.nodes) {
    taken.push_back(support.delegated);
  }
  return taken;
}

class DelegateRecords : public testing::Test {
 protected:
  // t0 -> node 0 -> t1 -> node 1 -> ... -> node 3 -> t4
  DelegateRecords() {
    for (int i = 0; i < 4; ++i) graph_.AddNode({i}, {i + 1});
  }
  // Applies the delegate; `prepare` is run in place of its Prepare.
  template <typename Prepare>
  void Apply(TfLiteDelegate* delegate, Prepare&& prepare) {
    const AppliedDelegates::Application application(&delegates_, delegate);
    prepare();
    delegates_.AddCurrent();
    delegates_.ConcludeCurrent("");
  }
  const NodeSupport& SupportOf(const TfLiteDelegate* delegate, int node) {
    return delegates_.Find(delegate)->record.nodes[static_cast<size_t>(node)];
  }

  HandGraph graph_{5};
  AppliedDelegates delegates_{&*graph_};
  TfLiteDelegate a_ = Plain(), b_ = Plain();
};

TEST_F(DelegateRecords, list_delegated_nodes_and_reasons_for_others) {
  graph_->registration(3)->version = 2;
  Apply(&a_, [&] {
    for (int node : {0, 1, 3}) delegates_.SupportOf(node)->inspected = true;
    graph_.Replace({0, 1}, &a_, {0}, {2});
  });
  EXPECT_THAT(Taken(delegates_, &a_), ElementsAre(true, true, false, false));
  EXPECT_THAT(Reasons(delegates_, &a_), ElementsAre(kDeputyReasonNone, kDeputyReasonNone,
                                                    kDeputyReasonNotQueried, kDeputyReasonVersion));
  EXPECT_THAT(SupportOf(&a_, 3).text, HasSubstr("version 2"));
}

TEST_F(DelegateRecords, compare_unclaimed_nodes_with_claimed_ones) {
  graph_->tensor(2)->type = kTfLiteInt8;
  graph_->tensor(4)->allocation_type = kTfLiteDynamic;
  Apply(&a_, [&] {
    for (int node = 0; node < 4; ++node) delegates_.SupportOf(node)->inspected = true;
    delegates_.SupportOf(2)->previewed = true;
    graph_.Replace({0}, &a_, {0}, {1});
  });
  EXPECT_THAT(Reasons(delegates_, &a_),
              ElementsAre(kDeputyReasonNone, kDeputyReasonType, kDeputyReasonPartitionTooSmall,
                          kDeputyReasonDynamicShape));
  EXPECT_THAT(SupportOf(&a_, 1).text, HasSubstr("here FLOAT32 -> INT8"));
}

TEST_F(DelegateRecords, keep_earlier_reasons) {
  Apply(&a_, [&] {
    delegates_.SupportOf(0)->reason = kDeputyReasonPinned;
    delegates_.SupportOf(1)->reason = kDeputyReasonShape;
    delegates_.SupportOf(1)->text = "too large";
    graph_.Replace({3}, &a_, {3}, {4});
  });
  EXPECT_THAT(Reasons(delegates_, &a_), ElementsAre(kDeputyReasonPinned, kDeputyReasonShape,
                                                    kDeputyReasonNotQueried, kDeputyReasonNone));
  EXPECT_EQ(SupportOf(&a_, 1).text, "too large");
}

TEST_F(DelegateRecords, of_a_failed_delegate_have_a_reason) {
  {
    const AppliedDelegates::Application application(&delegates_, &a_);
    delegates_.SupportOf(1)->claimed = true;
    delegates_.ConcludeCurrent("the device is gone");
  }
  EXPECT_THAT(Reasons(delegates_, &a_), ElementsAre(kDeputyReasonGraph, kDeputyReasonFailed,
                                                    kDeputyReasonGraph, kDeputyReasonGraph));
  EXPECT_EQ(SupportOf(&a_, 1).text, "the device is gone");
}

// If a delegate replaces the node of an earlier delegate, the nodes that the earlier one claimed
// stay recorded.
TEST_F(DelegateRecords, count_nodes_claimed_by_a_later_delegate) {
  int node_of_a = -1;
  Apply(&a_, [&] { node_of_a = graph_.Replace({1, 2}, &a_, {1}, {3}); });
  Apply(&b_, [&] { graph_.Replace({0, node_of_a}, &b_, {0}, {3}); });
  EXPECT_THAT(Taken(delegates_, &a_), ElementsAre(false, true, true, false));
  EXPECT_THAT(Taken(delegates_, &b_), ElementsAre(true, false, false, false, true));
  EXPECT_THAT(Reasons(delegates_, &b_),
              ElementsAre(kDeputyReasonNone, kDeputyReasonClaimedByOther,
                          kDeputyReasonClaimedByOther, kDeputyReasonNotQueried, kDeputyReasonNone));
  delegates_.Revise("gone");
  EXPECT_THAT(Taken(delegates_, &a_), ElementsAre(false, true, true, false));
}

TEST_F(DelegateRecords, are_updated_when_nodes_return_to_the_cpu) {
  Apply(&a_, [&] { graph_.Replace({1, 2}, &a_, {1}, {3}); });
  Apply(&b_, [&] { graph_.Replace({3}, &b_, {3}, {4}); });
  graph_.RemoveNodesFrom(4, {0, 1, 2, 3});
  delegates_.Revise("the input was resized");
  EXPECT_THAT(Taken(delegates_, &a_), ElementsAre(false, false, false, false));
  EXPECT_EQ(SupportOf(&a_, 1).reason, kDeputyReasonRemoved);
  EXPECT_EQ(SupportOf(&a_, 1).text, "the input was resized");
  EXPECT_THAT(Taken(delegates_, &b_), ElementsAre(false, false, false, false));
  EXPECT_EQ(SupportOf(&a_, 0).reason, kDeputyReasonNotQueried);
}

}  // namespace
}  // namespace deputy::applied_delegates_test
