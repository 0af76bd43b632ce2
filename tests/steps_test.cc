// SPDX-License-Identifier: Apache-2.0
//
// Which nodes run as one step, on plans made by hand: expectations are written down, not computed.
#include "core/exec/steps.h"

#include <gtest/gtest.h>

#include <map>

namespace deputy {
namespace {

void Nothing(TfLiteContext*, TfLiteNode*, int64_t, int64_t) {}

// A convolution, say: others can follow it.
const StepOffer kHead = {.finishes = true};
// One input that flows, and perhaps a second of any size.
const StepOffer kMap = {.run_range = &Nothing, .finishes = true, .matching_inputs = 1};
// Two inputs that flow.
const StepOffer kSum = {.run_range = &Nothing, .finishes = true, .matching_inputs = 3};
// It can follow, but nobody can follow it alone.
const StepOffer kLast = {.run_range = &Nothing, .matching_inputs = 1};

// Plans of a few nodes over tensors of 10 elements.
class Plan {
 public:
  explicit Plan(size_t tensors) : tensors_(tensors, StepTensor{.elements = 10}) {}

  Plan& Node(std::vector<int> inputs, int output, const StepOffer* offer) {
    arrays_.push_back(std::move(inputs));
    arrays_.push_back({output});
    offers_.push_back(offer);
    return *this;
  }
  StepTensor& operator[](size_t tensor) { return tensors_[tensor]; }

  std::vector<StepNode> nodes() const {
    std::vector<StepNode> nodes;
    for (size_t n = 0; n < offers_.size(); ++n) {
      nodes.push_back({arrays_[2 * n], arrays_[2 * n + 1], offers_[n]});
    }
    return nodes;
  }
  std::vector<int> Heads() const { return FindSteps(nodes(), tensors_); }

 private:
  std::vector<StepTensor> tensors_;
  std::vector<std::vector<int>> arrays_;
  std::vector<const StepOffer*> offers_;
};

using Heads = std::vector<int>;

TEST(FindSteps, a_chain_behind_a_head_is_one_step) {
  Plan plan(4);
  plan.Node({0}, 1, &kHead).Node({1}, 2, &kMap).Node({2}, 3, &kMap);
  EXPECT_EQ(plan.Heads(), (Heads{0, 0, 0}));
}

TEST(FindSteps, element_by_element_nodes_need_no_other_head) {
  Plan plan(3);
  plan.Node({0}, 1, &kMap).Node({1}, 2, &kMap);
  EXPECT_EQ(plan.Heads(), (Heads{0, 0}));
}

TEST(FindSteps, heads_follow_nobody) {
  Plan plan(3);
  plan.Node({0}, 1, &kHead).Node({1}, 2, &kHead);
  EXPECT_EQ(plan.Heads(), (Heads{0, 1}));
}

TEST(FindSteps, what_offers_nothing_neither_leads_nor_follows) {
  Plan plan(4);
  plan.Node({0}, 1, nullptr).Node({1}, 2, &kMap).Node({2}, 3, nullptr);
  EXPECT_EQ(plan.Heads(), (Heads{0, 1, 2}));
  Plan last(4);
  last.Node({0}, 1, &kLast).Node({1}, 2, &kMap);
  EXPECT_EQ(last.Heads(), (Heads{0, 1}));
}

// 0 -> 1, 0 -> 2, 1 + 2 -> 3: the sum goes with the later of both; the earlier is complete by then.
TEST(FindSteps, a_sum_goes_with_the_step_that_begins_last) {
  Plan plan(4);
  plan.Node({0}, 1, &kHead).Node({0}, 2, &kHead).Node({1, 2}, 3, &kSum);
  EXPECT_EQ(plan.Heads(), (Heads{0, 1, 1}));
}

// The second operand is made behind the head, by a node of no step.
TEST(FindSteps, an_operand_that_comes_too_late_keeps_a_node_out) {
  Plan plan(4);
  plan.Node({0}, 1, &kHead).Node({0}, 2, nullptr).Node({1, 2}, 3, &kSum);
  EXPECT_EQ(plan.Heads(), (Heads{0, 1, 2}));
  // It lasts from the first inference on.
  plan[2].lasting = true;
  EXPECT_EQ(plan.Heads(), (Heads{0, 1, 0}));
}

// A follower runs as early as its head, but not always: steps can also run node by node.
TEST(FindSteps, what_a_follower_makes_is_complete_in_its_own_time) {
  Plan plan(6);
  plan.Node({0}, 1, &kHead).Node({0}, 2, &kHead).Node({1}, 3, &kMap).Node({2, 3}, 4, &kSum);
  EXPECT_EQ(plan.Heads(), (Heads{0, 1, 0, 3}));
}

// x * f(x), both of one step.
TEST(FindSteps, branches_may_meet_again_in_a_step) {
  Plan plan(4);
  plan.Node({0}, 1, &kHead).Node({1}, 2, &kMap).Node({1, 2}, 3, &kSum);
  EXPECT_EQ(plan.Heads(), (Heads{0, 0, 0}));
}

// The second input flows nowhere: all of it must be there.
TEST(FindSteps, what_is_read_as_a_whole_must_be_complete) {
  Plan plan(4);
  plan.Node({0}, 1, &kHead).Node({1}, 2, &kMap).Node({1, 2}, 3, &kMap);
  EXPECT_EQ(plan.Heads(), (Heads{0, 0, 2}));
}

TEST(FindSteps, sizes_have_to_agree) {
  Plan plan(3);
  plan.Node({0}, 1, &kHead).Node({1}, 2, &kMap);
  plan[2].elements = 11;
  EXPECT_EQ(plan.Heads(), (Heads{0, 1}));
}

TEST(FindSteps, fixed_tensors_are_left_alone) {
  for (size_t tensor : {1, 2}) {
    Plan plan(3);
    plan.Node({0}, 1, &kHead).Node({1}, 2, &kMap);
    plan[tensor].fixed = true;
    EXPECT_EQ(plan.Heads(), (Heads{0, 1})) << tensor;
  }
  Plan operand(4);
  operand.Node({0}, 1, &kHead).Node({1, 3}, 2, &kMap);
  EXPECT_EQ(operand.Heads(), (Heads{0, 0}));
  operand[3].fixed = true;
  EXPECT_EQ(operand.Heads(), (Heads{0, 1}));
}

TEST(FindSteps, the_newest_maker_counts) {
  Plan plan(3);
  plan.Node({0}, 1, &kHead).Node({0}, 1, nullptr).Node({1}, 2, &kMap);
  EXPECT_EQ(plan.Heads(), (Heads{0, 1, 2}));
}

TEST(FindSteps, a_step_has_an_end) {
  Plan plan(40);
  plan.Node({0}, 1, &kHead);
  for (int n = 1; n < 39; ++n) plan.Node({n}, n + 1, &kMap);
  const Heads heads = plan.Heads();
  EXPECT_EQ(heads[kMaxFollowers], 0);
  EXPECT_EQ(heads[kMaxFollowers + 1], kMaxFollowers + 1);
}

// ---- Memory -------------------------------------------------------------------------------------

// conv(0) -> 1, 1 + 0 -> 2: the sum must not write where the convolution still reads.
TEST(KeptInStep, inputs_of_the_head_stay) {
  Plan plan(3);
  plan.Node({0}, 1, &kHead).Node({1, 0}, 2, &kSum);
  EXPECT_EQ(KeptInStep(plan.nodes(), 1), (std::vector<int>{0}));
}

// f(0) -> 1, 1 + 0 -> 2, element by element: 1 must not lie on 0, which is read again; 2 may.
TEST(KeptInStep, what_a_later_node_reads_stays) {
  Plan plan(3);
  plan.Node({0}, 1, &kMap).Node({1, 0}, 2, &kSum);
  EXPECT_EQ(KeptInStep(plan.nodes(), 0), (std::vector<int>{0}));
  EXPECT_EQ(KeptInStep(plan.nodes(), 1), (std::vector<int>{}));
}

class Fits : public testing::Test {
 protected:
  // Tensors of 10 bytes at those places.
  static bool At(const Plan& plan, const std::vector<int>& places) {
    static char memory[100];
    return StepFits(plan.nodes(), [&](int tensor) -> StepMemory {
      return {memory + places[static_cast<size_t>(tensor)], 10};
    });
  }
};

TEST_F(Fits, a_sum_behind_a_head) {
  Plan plan(4);
  plan.Node({0}, 1, &kHead).Node({1, 3}, 2, &kSum);
  EXPECT_TRUE(At(plan, {0, 10, 20, 30}));
  EXPECT_TRUE(At(plan, {0, 10, 10, 30}));   // in place of what the head makes
  EXPECT_TRUE(At(plan, {0, 10, 30, 30}));   // or of the other operand
  EXPECT_FALSE(At(plan, {0, 10, 0, 30}));   // where the head reads
  EXPECT_FALSE(At(plan, {0, 10, 9, 30}));   // half over it
  EXPECT_FALSE(At(plan, {0, 10, 15, 30}));  // half over what the head makes
  EXPECT_FALSE(At(plan, {0, 10, 20, 10}));  // the operand lies where the head writes
}

TEST_F(Fits, a_chain_in_one_place) {
  Plan plan(5);
  plan.Node({0}, 1, &kHead).Node({1}, 2, &kMap).Node({2, 4}, 3, &kSum);
  EXPECT_TRUE(At(plan, {0, 10, 10, 10, 20}));
  EXPECT_TRUE(At(plan, {0, 10, 10, 20, 20}));
  EXPECT_FALSE(At(plan, {0, 10, 10, 20, 10}));
}

TEST_F(Fits, a_tensor_that_is_read_twice) {
  Plan plan(4);
  plan.Node({0}, 1, &kHead).Node({1}, 2, &kMap).Node({1, 2}, 3, &kSum);
  EXPECT_TRUE(At(plan, {0, 10, 20, 10}));
  EXPECT_TRUE(At(plan, {0, 10, 20, 20}));
  EXPECT_FALSE(At(plan, {0, 10, 10, 20}));
}

TEST(PlanSteps, are_found_by_their_positions) {
  PlanSteps steps;
  EXPECT_EQ(steps.HeadOf(0), -1);
  steps.Add({1, 2, 5}, 8);
  steps.Add({3, 4}, 8);
  const std::map<int, int> expected = {{0, -1}, {1, 1}, {2, 1}, {3, 3}, {4, 3}, {5, 1}, {7, -1}};
  for (const auto& [position, head] : expected) EXPECT_EQ(steps.HeadOf(position), head) << position;
  ASSERT_NE(steps.Beginning(1), nullptr);
  EXPECT_EQ(*steps.Beginning(1), (StepPositions{1, 2, 5}));
  EXPECT_EQ(steps.Beginning(2), nullptr);
  EXPECT_EQ(steps.Beginning(8), nullptr);
}

TEST(PlanSteps, followers_are_done_until_they_are_not) {
  PlanSteps steps;
  steps.Add({1, 2, 5}, 8);
  steps.SetDone(*steps.Beginning(1), true);
  EXPECT_FALSE(steps.IsDone(1));
  EXPECT_TRUE(steps.IsDone(2));
  EXPECT_FALSE(steps.IsDone(3));
  EXPECT_TRUE(steps.IsDone(5));
  steps.SetDone(*steps.Beginning(1), false);
  EXPECT_FALSE(steps.IsDone(5));
}

TEST(PlanSteps, later_ones_are_forgotten) {
  PlanSteps steps;
  steps.Add({1, 6}, 8);
  steps.Add({3, 4}, 8);
  steps.SetDone(*steps.Beginning(1), true);
  steps.ForgetFrom(2);
  EXPECT_EQ(steps.HeadOf(3), -1);
  EXPECT_EQ(steps.HeadOf(6), 1);
  EXPECT_TRUE(steps.IsDone(6));
  steps.ForgetFrom(0);
  EXPECT_EQ(steps.count(), 0u);
  EXPECT_FALSE(steps.IsDone(6));
}

}  // namespace
}  // namespace deputy
