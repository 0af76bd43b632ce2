// SPDX-License-Identifier: Apache-2.0
//
// Tests which pixels need not be computed because no node reads them, on plans built by hand;
// expectations are literals.
#include "core/fusion/subsampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include "tests/core/fusion/plan_builder.h"

namespace deputy::subsampling_test {
namespace {

using testing::ElementsAre;

// Layers that support subsampling, named by filter size and stride.
const FusionOffer k1x1 = {.role = HeadRole{.subsamples = true, .pointwise = true}};
const FusionOffer k1x1Stride2 = {
    .role = HeadRole{.subsamples = true, .pointwise = true, .stride = {2, 2}}};
const FusionOffer k1x1Stride3 = {
    .role = HeadRole{.subsamples = true, .pointwise = true, .stride = {3, 3}}};
const FusionOffer k3x3 = {.role = HeadRole{.subsamples = true}};
const FusionOffer kOther = {.role = HeadRole{}};  // a layer that does not support subsampling
const FusionOffer kSum = {.role = SumRole{.matching_inputs = 3}};

// A plan of nodes that read and write tensors. Strides() returns the stride of the computed pixels
// of each tensor.
class Plan : public PlanBuilder {
 public:
  explicit Plan(size_t tensors) : PlanBuilder(tensors, {.elements = 72, .channels = 2}) {}

  std::vector<FusionGroup> Find() const {
    std::vector<FusionGroup> groups = FindFusionGroups(nodes(), tensors());
    SubsampleGroups(nodes(), tensors(), &groups);
    return groups;
  }
  // Returns the stride by tensor; 1 if all pixels are computed.
  std::vector<int> Strides() const {
    std::vector<int> strides(tensors().size(), 1);
    for (const FusionGroup& group : Find()) {
      strides[static_cast<size_t>(group.layer().output)] = group.layer().output_stride.y;
    }
    return strides;
  }
};

TEST(Subsample, the_layer_before_a_stride_skips_unread_pixels) {
  Plan plan(3);
  plan.Node({0}, 1, &k3x3).Node({1}, 2, &k1x1Stride2);
  const std::vector<FusionGroup> groups = plan.Find();
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_THAT(groups[0].nodes, ElementsAre(0));
  EXPECT_EQ(groups[0].layer().output, 1);
  EXPECT_EQ(groups[0].layer().output_stride, (PixelStride{2, 2}));
  EXPECT_FALSE(groups[0].layer().input_stride.any());
  EXPECT_EQ(groups[1].layer().input_stride, (PixelStride{2, 2}));
  EXPECT_FALSE(groups[1].layer().output_stride.any());
}

TEST(Subsample, a_pointwise_layer_propagates_the_stride) {
  Plan plan(6);
  plan.Node({0}, 1, &k3x3).Node({1}, 2, &k1x1).Node({2}, 3, &k1x1Stride3);
  EXPECT_THAT(plan.Strides(), ElementsAre(1, 3, 3, 1, 1, 1));
  // The strides of consecutive layers multiply.
  Plan twice(6);
  twice.Node({0}, 1, &k3x3).Node({1}, 2, &k1x1Stride2).Node({2}, 3, &k1x1Stride3);
  EXPECT_THAT(twice.Strides(), ElementsAre(1, 6, 3, 1, 1, 1));
}

// Models are not trusted: two strides of 2^16 overflow an int.
TEST(Subsample, strides_larger_than_the_image_are_ignored) {
  const FusionOffer huge = {
      .role = HeadRole{.subsamples = true, .pointwise = true, .stride = {1 << 16, 1 << 16}}};
  Plan plan(4);
  plan.Node({0}, 1, &k3x3).Node({1}, 2, &huge).Node({2}, 3, &huge);
  EXPECT_THAT(plan.Strides(), ElementsAre(1, 1, 1, 1));
  // The product of many small strides is limited, too: 3^19 is above the limit of 2^15.
  Plan chain(21);
  chain.Node({0}, 1, &k3x3);
  for (int i = 1; i < 20; ++i) chain.Node({i}, i + 1, &k1x1Stride3);
  for (int stride : chain.Strides()) {
    EXPECT_GE(stride, 1);
    EXPECT_LE(stride, 1 << 15);
  }
}

// A pointwise layer can only be subsampled if its input is.
TEST(Subsample, a_pointwise_layer_needs_a_subsampling_producer) {
  Plan of_input(3);
  of_input.Node({0}, 1, &k1x1).Node({1}, 2, &k1x1Stride2);
  EXPECT_THAT(of_input.Strides(), ElementsAre(1, 1, 1));
  Plan of_other(4);
  of_other.Node({0}, 1, &kOther).Node({1}, 2, &k1x1).Node({2}, 3, &k1x1Stride2);
  EXPECT_THAT(of_other.Strides(), ElementsAre(1, 1, 1, 1));
}

TEST(Subsample, all_consumers_must_agree) {
  Plan same(4);
  same.Node({0}, 1, &k3x3).Node({1}, 2, &k1x1Stride2).Node({1}, 3, &k1x1Stride2);
  EXPECT_THAT(same.Strides(), ElementsAre(1, 2, 1, 1));
  Plan differ(4);
  differ.Node({0}, 1, &k3x3).Node({1}, 2, &k1x1Stride2).Node({1}, 3, &k1x1Stride3);
  EXPECT_THAT(differ.Strides(), ElementsAre(1, 1, 1, 1));
  Plan with_all_pixels(4);
  with_all_pixels.Node({0}, 1, &k3x3).Node({1}, 2, &k1x1Stride2).Node({1}, 3, &k3x3);
  EXPECT_THAT(with_all_pixels.Strides(), ElementsAre(1, 1, 1, 1));
  // The tensor has a further use: the caller, or a client that provides the memory, can read it.
  Plan seen(3);
  seen.Node({0}, 1, &k3x3).Node({1}, 2, &k1x1Stride2);
  ++seen[1].use_count;
  EXPECT_THAT(seen.Strides(), ElementsAre(1, 1, 1));
  Plan fixed(3);
  fixed.Node({0}, 1, &k3x3).Node({1}, 2, &k1x1Stride2);
  fixed[1].fixed = true;
  EXPECT_THAT(fixed.Strides(), ElementsAre(1, 1, 1));
}

// In the block before a stage of ResNet-50 the outputs of the 3x3 layer and of the sum are
// subsampled; the input of the 3x3 layer and the addend are computed completely.
TEST(Subsample, a_sum_is_subsampled_with_its_layer) {
  Plan plan(8);
  plan.Node({0}, 1, &k1x1).Node({1}, 2, &k3x3).Node({2}, 3, &k1x1).Node({3, 0}, 4, &kSum);
  plan.Node({4}, 5, &k1x1Stride2).Node({4}, 6, &k1x1Stride2);
  EXPECT_THAT(plan.Strides(), ElementsAre(1, 1, 2, 1, 2, 1, 1, 1));
  // A sum whose addend has another number of channels is not subsampled.
  plan[0].elements = 36;
  plan[0].channels = 1;
  EXPECT_THAT(plan.Strides()[4], 1);
}

TEST(ExpandPixels, computed_pixels_move_to_their_positions) {
  // Two images of 3x4 pixels with two values each, of which 2x2 pixels are computed.
  std::vector<int16_t> image(2 * 3 * 4 * 2, -1);
  for (size_t i = 0; i < 16; ++i) image[i] = static_cast<int16_t>(i);
  ExpandPixels({2, 3, 4, 4}, {2, 2}, image.data());
  const auto pixel = [&](size_t b, size_t y, size_t x) {
    const size_t at = ((b * 3 + y) * 4 + x) * 2;
    return std::vector<int16_t>(image.begin() + static_cast<int64_t>(at),
                                image.begin() + static_cast<int64_t>(at) + 2);
  };
  EXPECT_THAT(pixel(0, 0, 0), ElementsAre(0, 1));
  EXPECT_THAT(pixel(0, 0, 2), ElementsAre(2, 3));
  EXPECT_THAT(pixel(0, 2, 0), ElementsAre(4, 5));
  EXPECT_THAT(pixel(0, 2, 2), ElementsAre(6, 7));
  EXPECT_THAT(pixel(1, 0, 0), ElementsAre(8, 9));
  EXPECT_THAT(pixel(1, 2, 2), ElementsAre(14, 15));
}

}  // namespace
}  // namespace deputy::subsampling_test
