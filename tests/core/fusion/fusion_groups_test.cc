// SPDX-License-Identifier: Apache-2.0
//
// Tests the selection of nodes for fusion groups, on plans built by hand; expectations are
// literals.
#include "core/fusion/fusion_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include "tests/core/fusion/plan_builder.h"

namespace deputy::fusion_groups_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const FusionOffer kHead = {.role = HeadRole{.absorbs_padding = true}};
const FusionOffer kPixelHead = {.role = HeadRole{}};
const FusionOffer kRelu = {.role = ClampRole{.low = 0, .high = 6}};
const FusionOffer kSum = {.role = SumRole{.low = -9, .high = 9, .matching_inputs = 3}};
const FusionOffer kPrelu = {.role = PreluRole{}};
const FusionOffer kSwish = {.role = HardSwishRole{}};
const FusionOffer kFactorHead = {.role = HeadRole{.absorbs_factors = true}};
const FusionOffer kScale = {.role = ScaleRole{.matching_inputs = 1}};
const FusionOffer kScaleSwapped = {.role = ScaleRole{.matching_inputs = 2}};
const FusionOffer kPadAround = {.role = PadRole{.margins = {.top = 1, .left = 2}}};
const FusionOffer kPadChannels = {.role = PadRole{.margins = {.channels = 3}}};

// A plan of a few nodes over tensors of 20 elements in 5 channels. `outputs` are outputs of the
// graph.
class Plan : public PlanBuilder {
 public:
  explicit Plan(size_t tensors, const std::vector<int>& outputs = {})
      : PlanBuilder(tensors, {.elements = 20, .channels = 5}, outputs) {}

  std::vector<FusionGroup> Find() const { return FindFusionGroups(nodes(), tensors()); }
  // Returns the nodes of each group.
  std::vector<std::vector<int>> Nodes() const {
    std::vector<std::vector<int>> nodes;
    for (const FusionGroup& group : Find()) nodes.push_back(group.nodes);
    return nodes;
  }
};

// A plan of x -> conv -> + y -> PRELU, where tensor 4 holds the slopes.
Plan Residual() {
  Plan plan(7, {6});
  plan[4] = {.elements = 5, .channels = 5};
  plan.Node({0}, 1, &kHead).Node({1, 3}, 2, &kSum).Node({2, 4}, 6, &kPrelu);
  return plan;
}

TEST(FindFusionGroups, a_chain_after_a_layer_is_one_group) {
  const std::vector<FusionGroup> groups = Residual().Find();
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_EQ(groups[0].head, 0);
  EXPECT_THAT(groups[0].nodes, ElementsAre(0, 1, 2));
  const LayerRun& run = groups[0].layer();
  EXPECT_EQ(run.input, -1);
  EXPECT_EQ(run.addend, 3);
  EXPECT_EQ(run.sum_low, -9);
  EXPECT_EQ(run.sum_high, 9);
  EXPECT_EQ(run.activation, LayerRun::Activation::kPrelu);
  EXPECT_EQ(run.slopes, 4);
  EXPECT_EQ(run.output, 6);
}

TEST(FindFusionGroups, clamps_become_one) {
  const FusionOffer narrow = {.role = ClampRole{.low = -1, .high = 1}};
  const FusionOffer above = {.role = ClampRole{.low = 3, .high = 4}};
  Plan plan(6, {5});
  plan.Node({0}, 1, &kHead).Node({1}, 2, &kRelu).Node({2}, 3, &narrow).Node({3, 0}, 4, &kSum);
  plan.Node({4}, 5, &above);
  const std::vector<FusionGroup> groups = plan.Find();
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_THAT(groups[0].nodes, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(groups[0].layer().low, 0);
  EXPECT_EQ(groups[0].layer().high, 1);
  EXPECT_EQ(groups[0].layer().sum_low, 3);
  EXPECT_EQ(groups[0].layer().sum_high, 4);
}

// A layer's epilogue has a fixed order: clamps, a sum, clamps, an activation.
TEST(FindFusionGroups, nodes_in_another_order_are_not_fused) {
  Plan plan(5, {4});
  plan.Node({0}, 1, &kHead).Node({1}, 2, &kSwish).Node({2}, 3, &kRelu).Node({3, 0}, 4, &kSum);
  EXPECT_THAT(plan.Nodes(), ElementsAre(ElementsAre(0, 1)));
  Plan sums(4, {3});
  sums.Node({0}, 1, &kHead).Node({1, 0}, 2, &kSum).Node({2, 0}, 3, &kSum);
  EXPECT_THAT(sums.Nodes(), ElementsAre(ElementsAre(0, 1)));
}

TEST(FindFusionGroups, a_single_node_is_no_group) {
  Plan plan(5, {4});
  plan.Node({0}, 1, &kHead).Node({1}, 2, &kHead).Node({2}, 3, nullptr).Node({3}, 4, &kRelu);
  EXPECT_THAT(plan.Nodes(), IsEmpty());
}

TEST(FindFusionGroups, values_with_other_consumers_are_stored) {
  for (const bool by_caller : {false, true}) {
    Plan plan(4, {2});
    plan.Node({0}, 1, &kHead).Node({1}, 2, &kRelu);
    EXPECT_THAT(plan.Nodes(), ElementsAre(ElementsAre(0, 1)));
    if (by_caller) {
      ++plan[1].use_count;
    } else {
      plan.Node({1}, 3, nullptr);
    }
    EXPECT_THAT(plan.Nodes(), IsEmpty()) << by_caller;
  }
  // The sum reads the layer's output twice, as x + x.
  Plan twice(3, {2});
  twice.Node({0}, 1, &kHead).Node({1, 1}, 2, &kSum);
  EXPECT_THAT(twice.Nodes(), IsEmpty());
  // The last output of a group may have any number of consumers.
  Plan end(5, {2});
  end.Node({0}, 1, &kHead).Node({1}, 2, &kRelu).Node({2}, 3, nullptr).Node({2}, 4, nullptr);
  EXPECT_THAT(end.Nodes(), ElementsAre(ElementsAre(0, 1)));
}

// Layers 0 -> 1 and 0 -> 2, and the sum 1 + 2 -> 3. The sum is fused with the later layer, because
// the earlier layer is complete by then.
TEST(FindFusionGroups, a_sum_is_fused_with_the_later_layer) {
  Plan plan(4, {3});
  plan.Node({0}, 1, &kHead).Node({0}, 2, &kHead).Node({1, 2}, 3, &kSum);
  EXPECT_THAT(plan.Nodes(), ElementsAre(ElementsAre(1, 2)));
  EXPECT_EQ(plan.Find()[0].layer().addend, 1);
}

// The second operand of the sum is computed after the head, by a node outside of the group.
TEST(FindFusionGroups, a_node_with_a_late_operand_is_not_fused) {
  Plan plan(5, {4});
  plan.Node({0}, 1, &kHead).Node({1}, 2, &kRelu).Node({0}, 3, nullptr).Node({2, 3}, 4, &kSum);
  EXPECT_THAT(plan.Nodes(), ElementsAre(ElementsAre(0, 1)));
  // If the operand is computed once, it is available in every inference after the first.
  plan[3].computed_once = true;
  EXPECT_THAT(plan.Nodes(), ElementsAre(ElementsAre(0, 1, 3)));
  EXPECT_EQ(plan.Find()[0].delay, 0);
}

TEST(FindFusionGroups, a_single_head_is_delayed_until_the_addend_is_computed) {
  Plan plan(6, {5});
  plan.Node({0}, 1, &kHead).Node({0}, 2, nullptr).Node({2}, 3, nullptr);
  plan.Node({1, 3}, 4, &kSum).Node({4}, 5, &kRelu);
  const std::vector<FusionGroup> groups = plan.Find();
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_EQ(groups[0].head, 0);
  EXPECT_EQ(groups[0].position(), 3);
  EXPECT_THAT(groups[0].nodes, ElementsAre(0, 3, 4));
  EXPECT_EQ(groups[0].layer().addend, 3);
  EXPECT_EQ(groups[0].layer().output, 5);
}

// A later node may write a fixed input, such as a variable, before the delayed head reads it.
TEST(FindFusionGroups, a_head_with_a_fixed_input_is_not_delayed) {
  for (const int fixed : {0, 6}) {
    Plan plan(7, {5});
    plan.Node({0, 6}, 1, &kHead).Node({0}, 2, nullptr).Node({2}, 3, nullptr);
    plan.Node({1, 3}, 4, &kSum).Node({4}, 5, &kRelu);
    EXPECT_THAT(plan.Nodes(), ElementsAre(ElementsAre(0, 3, 4)));
    plan[fixed].fixed = true;
    EXPECT_THAT(plan.Nodes(), IsEmpty()) << fixed;
  }
}

TEST(FindFusionGroups, a_head_is_delayed_until_channels_are_padded) {
  Plan plan(6, {5});
  plan[2].channels = 2;
  plan.Node({0}, 1, &kHead).Node({0}, 2, nullptr).Node({2}, 3, &kPadChannels);
  plan.Node({3, 1}, 5, &kSum);
  const std::vector<FusionGroup> groups = plan.Find();
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_EQ(groups[0].position(), 3);
  EXPECT_THAT(groups[0].nodes, ElementsAre(0, 2, 3));
  EXPECT_EQ(groups[0].layer().addend, 2);
}

TEST(FindFusionGroups, the_later_of_two_layers_adds_in_its_epilogue) {
  Plan plan(4, {3});
  plan.Node({0}, 1, &kHead).Node({0}, 2, &kHead).Node({1, 2}, 3, &kSum);
  const std::vector<FusionGroup> groups = plan.Find();
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_EQ(groups[0].head, 1);
  EXPECT_EQ(groups[0].delay, 0);
}

TEST(FindFusionGroups, the_delay_of_a_head_is_limited) {
  for (const int between : {kMaxGroupSpan - 1, kMaxGroupSpan}) {
    Plan plan(static_cast<size_t>(between) + 4, {between + 3});
    plan.Node({0}, between + 2, &kHead);
    for (int n = 0; n < between; ++n) plan.Node({n}, n + 1, nullptr);
    plan.Node({between + 2, between}, between + 3, &kSum);
    EXPECT_THAT(plan.Nodes(), SizeIs(between < kMaxGroupSpan ? 1 : 0));
  }
}

TEST(FindFusionGroups, shapes_must_agree) {
  Plan plan(3, {2});
  plan.Node({0}, 1, &kHead).Node({1}, 2, &kRelu);
  plan[2].elements = 21;
  EXPECT_THAT(plan.Nodes(), IsEmpty());
  Plan slopes = Residual();
  slopes[4] = {.elements = 20, .channels = 5};
  EXPECT_THAT(slopes.Nodes(), ElementsAre(ElementsAre(0, 1)));
  const FusionOffer broadcast = {.role = SumRole{.matching_inputs = 1}};
  Plan sum(4, {3});
  sum.Node({0}, 1, &kHead).Node({1, 2}, 3, &broadcast);
  EXPECT_THAT(sum.Nodes(), IsEmpty());
}

TEST(FindFusionGroups, fixed_tensors_are_not_fused) {
  for (int tensor : {1, 2, 3}) {
    Plan plan(4, {2});
    plan.Node({0}, 1, &kHead).Node({1, 3}, 2, &kSum);
    EXPECT_THAT(plan.Nodes(), SizeIs(1));
    plan[tensor].fixed = true;
    EXPECT_THAT(plan.Nodes(), IsEmpty()) << tensor;
  }
}

TEST(FindFusionGroups, the_length_of_a_group_is_limited) {
  Plan plan(200, {199});
  plan.Node({0}, 1, &kHead);
  for (int n = 1; n < 199; ++n) plan.Node({n}, n + 1, &kRelu);
  ASSERT_THAT(plan.Nodes(), SizeIs(1));
  EXPECT_THAT(plan.Nodes()[0], SizeIs(kMaxGroupSpan + 1));
}

// ---- PAD ----------------------------------------------------------------------------------------

TEST(FindFusionGroups, a_layer_absorbs_the_preceding_pad) {
  Plan plan(4, {3});
  plan.Node({0}, 1, &kPadAround).Node({0}, 2, nullptr).Node({1}, 3, &kHead);
  const std::vector<FusionGroup> groups = plan.Find();
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_EQ(groups[0].head, 2);
  EXPECT_THAT(groups[0].nodes, ElementsAre(0, 2));
  EXPECT_EQ(groups[0].layer().input, 0);
  EXPECT_EQ(groups[0].layer().margins.top, 1);
  EXPECT_EQ(groups[0].layer().margins.left, 2);
  EXPECT_EQ(groups[0].layer().output, 3);
}

TEST(FindFusionGroups, some_pads_are_stored) {
  for (const FusionOffer* head : {&kHead, &kPixelHead}) {
    for (const FusionOffer* pad : {&kPadAround, &kPadChannels}) {
      Plan plan(3, {2});
      plan.Node({0}, 1, pad).Node({1}, 2, head);
      const size_t expected = head == &kHead && pad == &kPadAround ? 1 : 0;
      EXPECT_THAT(plan.Nodes(), SizeIs(expected));
      // A padded image that another node reads must be stored.
      ++plan[1].use_count;
      EXPECT_THAT(plan.Nodes(), IsEmpty());
    }
  }
}

TEST(FindFusionGroups, a_sum_reads_an_addend_with_fewer_channels) {
  Plan plan(5, {4});
  plan[0].channels = 2;
  plan.Node({1}, 2, &kHead).Node({0}, 3, &kPadChannels).Node({3, 2}, 4, &kSum);
  const std::vector<FusionGroup> groups = plan.Find();
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_EQ(groups[0].head, 0);
  EXPECT_THAT(groups[0].nodes, ElementsAre(0, 1, 2));
  EXPECT_EQ(groups[0].layer().addend, 0);
  EXPECT_EQ(groups[0].layer().output, 4);
  // A PAD around the image moves the elements of the addend, so it runs separately before the sum.
  Plan around(5, {4});
  around.Node({1}, 2, &kHead).Node({0}, 3, &kPadAround).Node({3, 2}, 4, &kSum);
  EXPECT_THAT(around.Nodes(), ElementsAre(ElementsAre(0, 2)));
  EXPECT_EQ(around.Find()[0].layer().addend, 3);
}

// ---- MUL ----------------------------------------------------------------------------------------

// A plan of x -> MUL by 5 factors, which LOGISTIC computes -> conv.
Plan ChannelScaled(const FusionOffer* scale, const FusionOffer* head) {
  Plan plan(5, {4});
  plan[1] = plan[2] = {.elements = 5, .channels = 5};
  const bool swapped = scale == &kScaleSwapped;
  plan.Node({1}, 2, nullptr).Node({swapped ? 2 : 0, swapped ? 0 : 2}, 3, scale).Node({3}, 4, head);
  return plan;
}

TEST(FindFusionGroups, a_layer_absorbs_the_preceding_factors) {
  for (const FusionOffer* scale : {&kScale, &kScaleSwapped}) {
    const std::vector<FusionGroup> groups = ChannelScaled(scale, &kFactorHead).Find();
    ASSERT_THAT(groups, SizeIs(1));
    EXPECT_EQ(groups[0].head, 2);
    EXPECT_THAT(groups[0].nodes, ElementsAre(1, 2));
    EXPECT_EQ(groups[0].layer().input, 0);
    EXPECT_EQ(groups[0].layer().factors, 2);
    EXPECT_EQ(groups[0].layer().output, 4);
  }
}

TEST(FindFusionGroups, some_products_are_stored) {
  EXPECT_THAT(ChannelScaled(&kScale, &kHead).Nodes(), IsEmpty());
  // Factors per pixel cannot be fused.
  Plan plan = ChannelScaled(&kScale, &kFactorHead);
  plan[2] = {.elements = 4, .channels = 1};
  EXPECT_THAT(plan.Nodes(), IsEmpty());
  // Factors per batch element cannot be fused.
  plan[2] = {.elements = 10, .channels = 5};
  EXPECT_THAT(plan.Nodes(), IsEmpty());
  // The MUL is not fused if another node reads the product, or if a node may modify the image.
  plan = ChannelScaled(&kScale, &kFactorHead);
  ++plan[3].use_count;
  EXPECT_THAT(plan.Nodes(), IsEmpty());
  plan = ChannelScaled(&kScale, &kFactorHead);
  plan[0].fixed = true;
  EXPECT_THAT(plan.Nodes(), IsEmpty());
}

// ---- Memory -------------------------------------------------------------------------------------

class Fits : public testing::Test {
 protected:
  // Returns whether the first group may run fused with tensors of 10 bytes at the given offsets.
  static bool At(const Plan& plan, const std::vector<int>& places) {
    static char memory[100];
    const FusionGroup group = plan.Find().at(0);
    const std::vector<GroupNode> nodes = plan.nodes();
    const auto reads =
        ReadsOf(group.layer(), nodes[static_cast<size_t>(group.head)], plan.tensors());
    return IsAliasFree(reads, group.layer().output, [&](int tensor) -> MemoryRange {
      return {memory + places[static_cast<size_t>(tensor)], 10};
    });
  }
};

TEST_F(Fits, an_output_in_the_memory_of_the_addend) {
  // Tensors: the layer is 0 -> 1, the addend 3, the sum 2, the slopes 4, the result 6.
  const Plan plan = Residual();
  EXPECT_TRUE(At(plan, {0, 10, 20, 30, 40, 50, 60}));
  EXPECT_TRUE(At(plan, {0, 10, 20, 30, 40, 50, 30}));   // the result overwrites the addend
  EXPECT_TRUE(At(plan, {0, 10, 20, 30, 40, 50, 10}));   // internal tensors are not written
  EXPECT_FALSE(At(plan, {0, 10, 20, 30, 40, 50, 35}));  // overlaps the addend partially
  EXPECT_FALSE(At(plan, {0, 10, 20, 30, 40, 50, 0}));   // overlaps the head's input
  EXPECT_FALSE(At(plan, {0, 10, 20, 30, 40, 50, 40}));  // overlaps the slopes
}

TEST_F(Fits, a_narrow_addend_has_other_positions) {
  Plan plan(5, {4});
  plan[0] = {.elements = 8, .channels = 2};
  plan.Node({1}, 2, &kHead).Node({0}, 3, &kPadChannels).Node({3, 2}, 4, &kSum);
  EXPECT_TRUE(At(plan, {0, 10, 20, 30, 40}));
  EXPECT_FALSE(At(plan, {0, 10, 20, 30, 0}));
}

TEST_F(Fits, an_input_without_its_margins) {
  Plan plan(3, {2});
  plan.Node({0}, 1, &kPadAround).Node({1}, 2, &kHead);
  EXPECT_TRUE(At(plan, {0, 10, 10}));
  EXPECT_FALSE(At(plan, {0, 10, 0}));
}

TEST_F(Fits, an_image_and_its_factors) {
  const Plan plan = ChannelScaled(&kScale, &kFactorHead);
  EXPECT_TRUE(At(plan, {0, 10, 20, 30, 40}));
  EXPECT_TRUE(At(plan, {0, 10, 20, 30, 30}));   // internal tensors are not written
  EXPECT_FALSE(At(plan, {0, 10, 20, 30, 0}));   // overlaps the image
  EXPECT_FALSE(At(plan, {0, 10, 20, 30, 25}));  // overlaps the factors
}

// ---- In a plan ----------------------------------------------------------------------------------

PlannedGroup Planned(int head, std::vector<int> nodes) {
  PlannedGroup group;
  group.head = head;
  group.nodes = std::move(nodes);
  return group;
}

TEST(PlanGroups, are_found_by_their_positions) {
  PlanGroups groups;
  EXPECT_EQ(groups.At(0), nullptr);
  groups.Add(Planned(2, {1, 2, 5}), 8);
  groups.Add(Planned(3, {3, 4}), 8);
  for (int position : {0, 6, 7, 8}) EXPECT_EQ(groups.At(position), nullptr) << position;
  for (int position : {1, 2, 5}) EXPECT_EQ(groups.At(position)->head, 2) << position;
  for (int position : {3, 4}) EXPECT_EQ(groups.At(position)->head, 3) << position;
  EXPECT_EQ(groups.RunningAt(1), nullptr);
  EXPECT_EQ(groups.RunningAt(8), nullptr);
  ASSERT_NE(groups.RunningAt(2), nullptr);
  EXPECT_THAT(groups.RunningAt(2)->nodes, ElementsAre(1, 2, 5));
}

TEST(PlanGroups, a_delayed_group_has_a_later_position) {
  PlanGroups groups;
  PlannedGroup group = Planned(1, {1, 3, 4});
  group.delay = 2;
  groups.Add(std::move(group), 8);
  EXPECT_EQ(groups.RunningAt(1), nullptr);
  ASSERT_NE(groups.RunningAt(3), nullptr);
  EXPECT_EQ(groups.RunningAt(3)->head, 1);
}

TEST(PlanGroups, a_group_with_a_later_node_is_dropped) {
  PlanGroups groups;
  groups.Add(Planned(1, {1, 6}), 8);
  groups.Add(Planned(3, {3, 4}), 8);
  groups.SetState(6, PlanGroups::State::kDone);
  groups.ForgetFrom(5);
  EXPECT_EQ(groups.At(1), nullptr);
  EXPECT_EQ(groups.StateOf(6), PlanGroups::State::kOpen);
  ASSERT_NE(groups.RunningAt(3), nullptr);
  groups.ForgetFrom(0);
  EXPECT_EQ(groups.At(3), nullptr);
}

}  // namespace
}  // namespace deputy::fusion_groups_test
