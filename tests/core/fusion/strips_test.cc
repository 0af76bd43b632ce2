// SPDX-License-Identifier: Apache-2.0
//
// Tests the selection of layers that are computed strip by strip, on plans built by hand;
// expectations are literals.
#include "core/fusion/strips.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include "tests/core/fusion/plan_builder.h"

namespace deputy::strips_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Size of the cache in bytes. Images have 40 rows of 10 bytes.
constexpr size_t kCache = 100;
FusionOffer LayerOf(const StripOffer& strip) { return {.role = HeadRole{.strip = strip}}; }
const FusionOffer k1x1 = LayerOf({.batches = 1, .rows = 40, .row_bytes = 10});
const FusionOffer k3x3 = LayerOf({.batches = 1, .rows = 40, .row_bytes = 10, .reach = 3});
const FusionOffer kHalf =
    LayerOf({.batches = 1, .rows = 20, .row_bytes = 5, .reach = 3, .stride = 2});
const FusionOffer kOther = {.role = HeadRole{}};  // a layer that does not support strips
const FusionOffer kRelu = {.role = ClampRole{.low = 0, .high = 6}};
const FusionOffer kSum = {.role = SumRole{.matching_inputs = 3}};
const FusionOffer kPad = {.role = PadRole{.margins = {.top = 1}}};
const FusionOffer kPadded = {
    .role = HeadRole{.absorbs_padding = true, .strip = std::get<HeadRole>(k3x3.role).strip}};

class Plan : public PlanBuilder {
 public:
  explicit Plan(size_t tensors) : PlanBuilder(tensors, {.elements = 100, .channels = 5}) {}

  std::vector<FusionGroup> Find(size_t cache = kCache) const {
    std::vector<FusionGroup> groups = FindFusionGroups(nodes(), tensors());
    JoinStrips(nodes(), tensors(), cache, &groups);
    return groups;
  }
  // Returns the positions of the layers of each group that is computed in strips.
  std::vector<std::vector<int>> Layers(size_t cache = kCache) const {
    std::vector<std::vector<int>> layers;
    for (const FusionGroup& group : Find(cache)) {
      const auto* const strips = std::get_if<StripRun>(&group.run);
      if (strips == nullptr) continue;
      layers.emplace_back();
      for (const StripLayer& layer : strips->layers) layers.back().push_back(layer.position);
    }
    return layers;
  }
};

// A plan of x -> 1x1 -> RELU -> 3x3 -> 1x1 -> + x.
Plan Block() {
  Plan plan(6);
  plan.Node({0}, 1, &k1x1).Node({1}, 2, &kRelu).Node({2}, 3, &k3x3).Node({3}, 4, &k1x1);
  plan.Node({4, 0}, 5, &kSum);
  return plan;
}

TEST(JoinStrips, a_block_is_one_group) {
  const Plan plan = Block();
  const std::vector<FusionGroup> groups = plan.Find();
  ASSERT_THAT(groups, SizeIs(1));
  const FusionGroup& group = groups[0];
  EXPECT_EQ(group.head, 0);
  EXPECT_THAT(group.nodes, ElementsAre(0, 1, 2, 3, 4));
  const StripRun& run = std::get<StripRun>(group.run);
  EXPECT_EQ(run.output, 5);
  ASSERT_THAT(run.layers, SizeIs(3));
  EXPECT_EQ(run.layers[0].run.high, 6);
  EXPECT_EQ(run.layers[1].run.output, 3);
  EXPECT_EQ(run.layers[2].run.addend, 0);
  // Strips of two rows need two rows of the last layer's output, two of its input, and four of the
  // input of the 3x3 layer: 80 bytes. Strips of three rows would need 110 bytes.
  EXPECT_EQ(run.rows, 2);
  EXPECT_THAT(UnwrittenBy(group, plan.nodes()), ElementsAre(1, 2, 3, 4));
  const std::vector<GroupRead> reads = ReadsOfLayers(run, plan.nodes(), plan.tensors());
  ASSERT_THAT(reads, SizeIs(2));
  for (const GroupRead& read : reads) {
    EXPECT_EQ(read.tensor, 0);
    EXPECT_FALSE(read.in_place);
  }
}

TEST(JoinStrips, strips_must_fit_into_the_cache) {
  // The first tensor has 400 bytes. Strips of one row take 20 to 50 bytes, depending on the layers.
  EXPECT_THAT(Block().Layers(535), ElementsAre(ElementsAre(0, 2, 3)));
  EXPECT_THAT(Block().Layers(536), IsEmpty());
  EXPECT_THAT(Block().Layers(50), ElementsAre(ElementsAre(0, 2, 3)));
  EXPECT_THAT(Block().Layers(49), ElementsAre(ElementsAre(0, 2)));
  EXPECT_THAT(Block().Layers(40), ElementsAre(ElementsAre(0, 2)));
  EXPECT_THAT(Block().Layers(39), ElementsAre(ElementsAre(2, 3)));
  EXPECT_THAT(Block().Layers(20), ElementsAre(ElementsAre(2, 3)));
  EXPECT_THAT(Block().Layers(19), IsEmpty());
  // A tensor of less than three quarters of the cache ends a chain.
  Plan plan(4);
  plan.Node({0}, 1, &k1x1).Node({1}, 2, &kHalf).Node({2}, 3, &k1x1);
  EXPECT_THAT(plan.Layers(135), ElementsAre(ElementsAre(0, 1, 2)));
  EXPECT_THAT(plan.Layers(136), ElementsAre(ElementsAre(0, 1)));
}

TEST(JoinStrips, a_tensor_of_one_mebibyte_is_large_in_any_cache) {
  constexpr int64_t kRowBytes = (1 << 20) / 64;
  const FusionOffer large = LayerOf({.batches = 1, .rows = 64, .row_bytes = kRowBytes});
  const FusionOffer small = LayerOf({.batches = 1, .rows = 64, .row_bytes = kRowBytes - 1});
  const auto layers_of = [](const FusionOffer& layer) {
    Plan plan(3);
    plan.Node({0}, 1, &layer).Node({1}, 2, &layer);
    return plan.Layers(size_t{1} << 30);
  };
  EXPECT_THAT(layers_of(large), ElementsAre(ElementsAre(0, 1)));
  EXPECT_THAT(layers_of(small), IsEmpty());
}

TEST(JoinStrips, values_with_other_consumers_are_stored) {
  Plan plan = Block();
  ++plan[3].use_count;
  EXPECT_THAT(plan.Layers(), ElementsAre(ElementsAre(0, 2)));
  ++plan[2].use_count;
  EXPECT_THAT(plan.Layers(), IsEmpty());
}

TEST(JoinStrips, fixed_tensors_and_other_layers_are_not_joined) {
  Plan fixed = Block();
  fixed[2].fixed = true;
  EXPECT_THAT(fixed.Layers(), ElementsAre(ElementsAre(2, 3)));
  Plan weights(6);
  weights.Node({0, 4}, 1, &k1x1).Node({1, 5}, 2, &k3x3);
  EXPECT_THAT(weights.Layers(), ElementsAre(ElementsAre(0, 1)));
  weights[5].fixed = true;
  EXPECT_THAT(weights.Layers(), IsEmpty());
  Plan other(4);
  other.Node({0}, 1, &k1x1).Node({1}, 2, &kOther).Node({2}, 3, &k1x1);
  EXPECT_THAT(other.Layers(), IsEmpty());
  // The node between the layers is not a layer.
  Plan between(4);
  between.Node({0}, 1, &k1x1).Node({1}, 2, nullptr).Node({2}, 3, &k3x3);
  EXPECT_THAT(between.Layers(), IsEmpty());
}

TEST(JoinStrips, a_layer_with_a_late_operand_is_not_joined) {
  // An addend that is computed between the layers is too late; one that is computed before them is
  // available.
  Plan late(6);
  late.Node({0}, 1, &k1x1).Node({0}, 2, nullptr).Node({1}, 3, &k3x3).Node({3, 2}, 4, &kSum);
  EXPECT_THAT(late.Layers(), IsEmpty());
  Plan early(6);
  early.Node({0}, 2, nullptr).Node({0}, 1, &k1x1).Node({1}, 3, &k3x3).Node({3, 2}, 4, &kSum);
  EXPECT_THAT(early.Layers(), ElementsAre(ElementsAre(1, 2)));
  // Weights that are computed once are available from the second inference on.
  Plan lasting(6);
  lasting.Node({0}, 1, &k1x1).Node({4}, 2, nullptr).Node({1, 2}, 3, &k3x3);
  EXPECT_THAT(lasting.Layers(), IsEmpty());
  lasting[2].computed_once = true;
  EXPECT_THAT(lasting.Layers(), ElementsAre(ElementsAre(0, 2)));
}

TEST(JoinStrips, a_delayed_group_is_not_joined) {
  Plan plan(6);
  plan.Node({0}, 1, &k1x1).Node({1}, 2, &k3x3).Node({0}, 3, nullptr).Node({2, 3}, 4, &kSum);
  plan.Node({4}, 5, &k1x1);
  EXPECT_THAT(plan.Layers(), IsEmpty());
}

TEST(JoinStrips, a_layer_absorbs_the_preceding_pad) {
  Plan plan(6);
  plan.Node({0}, 1, &k1x1).Node({1}, 2, &kPad).Node({2}, 3, &kPadded);
  const std::vector<FusionGroup> groups = plan.Find();
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_THAT(groups[0].nodes, ElementsAre(0, 1, 2));
  const StripRun& run = std::get<StripRun>(groups[0].run);
  ASSERT_THAT(run.layers, SizeIs(2));
  EXPECT_EQ(run.layers[0].run.input, -1);
  EXPECT_EQ(run.layers[1].run.input, 1);
  EXPECT_EQ(run.layers[1].run.margins.top, 1);
}

TEST(JoinStrips, subsampled_layers_are_not_joined) {
  const Plan plan = Block();
  std::vector<FusionGroup> groups = FindFusionGroups(plan.nodes(), plan.tensors());
  ASSERT_THAT(groups, SizeIs(2));
  groups[0].layer().output_stride = {2, 2};
  JoinStrips(plan.nodes(), plan.tensors(), kCache, &groups);
  ASSERT_THAT(groups, SizeIs(2));
  EXPECT_EQ(groups[0].layer().output_stride.y, 2);
  EXPECT_THAT(std::get<StripRun>(groups[1].run).layers, SizeIs(2));
}

TEST(JoinStrips, the_length_of_a_chain_is_limited) {
  Plan plan(14);
  for (int n = 0; n < 13; ++n) plan.Node({n}, n + 1, &k1x1);
  EXPECT_THAT(plan.Layers(), ElementsAre(SizeIs(8), SizeIs(5)));
  // The distance between the layers exceeds the limit of the search.
  Plan far(100);
  far.Node({0}, 1, &k1x1);
  for (int n = 0; n < kMaxGroupSpan; ++n) far.Node({0}, n + 10, nullptr);
  far.Node({1}, 2, &k3x3);
  EXPECT_THAT(far.Layers(), IsEmpty());
}

}  // namespace
}  // namespace deputy::strips_test
