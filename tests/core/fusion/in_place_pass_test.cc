// SPDX-License-Identifier: Apache-2.0
//
// Tests the pass that decides which outputs use an input's memory, on plans built by hand.
#include "core/fusion/in_place.h"

#include <gtest/gtest.h>

#include "c_api/include/common.h"

namespace deputy::in_place_pass_test {
namespace {

Arena::Slot Of(int first, int last, size_t bytes = 64) {
  return {kNoOffset, bytes, {first, last}, -1};
}

std::vector<int> OwnersAfter(const std::vector<InPlaceNode>& nodes,
                             std::vector<Arena::Slot>* tensors) {
  ShareInPlace(nodes, std::vector<bool>(tensors->size()), 0, tensors);
  std::vector<int> owners;
  for (const Arena::Slot& tensor : *tensors) owners.push_back(tensor.owner);
  return owners;
}

const int kZero[] = {0}, kOne[] = {1}, kTwo[] = {2}, kThree[] = {3};
const int kZeroAndOne[] = {0, 1};

TEST(InPlacePass, an_output_reuses_an_input_at_its_last_use) {
  std::vector<Arena::Slot> tensors = {Of(0, 1), Of(1, 3)};
  EXPECT_EQ(OwnersAfter({{1, kZero, kOne, kTfLiteInplaceOpInput0Shared}}, &tensors),
            (std::vector<int>{-1, 0}));
  EXPECT_EQ(tensors[0].lifetime.last, 3);
}

TEST(InPlacePass, a_chain_has_one_owner) {
  std::vector<Arena::Slot> tensors = {Of(0, 1), Of(1, 2), Of(2, 5)};
  EXPECT_EQ(OwnersAfter({{1, kZero, kOne, kTfLiteInplaceOpInput0Shared},
                         {2, kOne, kTwo, kTfLiteInplaceOpInput0Shared}},
                        &tensors),
            (std::vector<int>{-1, 0, 0}));
  EXPECT_EQ(tensors[0].lifetime.last, 5);
}

TEST(InPlacePass, an_input_that_is_used_later_keeps_its_memory) {
  std::vector<Arena::Slot> tensors = {Of(0, 2), Of(1, 3)};
  EXPECT_EQ(OwnersAfter({{1, kZero, kOne, kTfLiteInplaceOpInput0Shared}}, &tensors),
            (std::vector<int>{-1, -1}));
}

// An output may be a view of an input that is used later. A node that modifies either of the two
// must be the last to read both.
TEST(InPlacePass, unmodified_data_may_be_aliased) {
  constexpr uint64_t kView = kTfLiteInplaceOpInput0Shared | kTfLiteInplaceOpDataUnmodified;
  std::vector<Arena::Slot> tensors = {Of(0, 4), Of(1, 2), Of(2, 3)};
  EXPECT_EQ(OwnersAfter({{1, kZero, kOne, kView}, {2, kOne, kTwo, kTfLiteInplaceOpInput0Shared}},
                        &tensors),
            (std::vector<int>{-1, 0, -1}));
  tensors = {Of(0, 2), Of(1, 2), Of(2, 3)};
  EXPECT_EQ(OwnersAfter({{1, kZero, kOne, kView}, {2, kOne, kTwo, kTfLiteInplaceOpInput0Shared}},
                        &tensors),
            (std::vector<int>{-1, 0, 0}));
}

TEST(InPlacePass, the_second_input_is_reused_if_the_first_cannot_be) {
  constexpr uint64_t kEither = kTfLiteInplaceOpInput0Shared | kTfLiteInplaceOpInput1Shared;
  std::vector<Arena::Slot> tensors = {Of(0, 5), Of(0, 1), Of(1, 3)};
  EXPECT_EQ(OwnersAfter({{1, kZeroAndOne, kTwo, kEither}}, &tensors),
            (std::vector<int>{-1, -1, 1}));
}

TEST(InPlacePass, sharing_needs_permission) {
  const auto owner_of = [](Arena::Slot input, Arena::Slot output, uint64_t mask,
                           const std::vector<bool>& unshared = {false, false}) {
    std::vector<Arena::Slot> tensors = {input, output};
    ShareInPlace(std::vector<InPlaceNode>{{1, kZero, kOne, mask}}, unshared, 0, &tensors);
    return tensors[1].owner;
  };
  constexpr uint64_t kMask = kTfLiteInplaceOpInput0Shared;
  EXPECT_EQ(owner_of(Of(0, 1), Of(1, 2), kMask), 0);
  EXPECT_EQ(owner_of(Of(0, 1), Of(1, 2), kTfLiteInplaceOpNone), -1);
  EXPECT_EQ(owner_of(Of(0, 1), Of(1, 2), kTfLiteInplaceOpInput1Shared), -1);
  // Input and output have different sizes, as in a SOFTMAX from int8 to int16, or are empty.
  EXPECT_EQ(owner_of(Of(0, 1, 64), Of(1, 2, 128), kMask), -1);
  EXPECT_EQ(owner_of(Of(0, 1, 128), Of(1, 2, 64), kMask), -1);
  EXPECT_EQ(owner_of(Of(0, 1, 0), Of(1, 2, 0), kMask), -1);
  // Inputs and outputs of the graph are in memory that the caller can access.
  EXPECT_EQ(owner_of(Of(0, kForever), Of(1, 2), kMask), -1);
  EXPECT_EQ(owner_of(Of(0, 1), Of(0, kForever), kMask), -1);
  // Tensors of a delegate, and tensors outside of the arena, are not shared.
  EXPECT_EQ(owner_of(Of(0, 1), Of(1, 2), kMask, {true, false}), -1);
  EXPECT_EQ(owner_of(Of(0, 1), Of(1, 2), kMask, {false, true}), -1);
  // An input without a producer has no memory to share.
  EXPECT_EQ(owner_of({kNoOffset, 64, {}, -1}, Of(1, 2), kMask), -1);
}

// ---- Parts and their whole ----

ViewOffer Views(ViewOffer::Kind kind, size_t offset = 0) { return {kind, 0, offset}; }
constexpr auto kMade = ViewOffer::Kind::kInputsInOutput, kRead = ViewOffer::Kind::kOutputsInInput;

std::vector<size_t> OffsetsOf(const std::vector<Arena::Slot>& tensors) {
  std::vector<size_t> places;
  for (const Arena::Slot& tensor : tensors) places.push_back(tensor.owner_offset);
  return places;
}

TEST(InPlacePass, parts_are_computed_inside_their_whole) {
  std::vector<Arena::Slot> tensors = {Of(1, 5), Of(2, 5, 128), Of(5, 7, 192)};
  EXPECT_EQ(OwnersAfter({{5, kZeroAndOne, kTwo, 0, Views(kMade)}}, &tensors),
            (std::vector<int>{2, 2, -1}));
  EXPECT_EQ(OffsetsOf(tensors), (std::vector<size_t>{0, 64, 0}));
  EXPECT_EQ(tensors[2].lifetime.first, 1);
  // The whole is an output of the graph, which the caller can access.
  tensors = {Of(1, 5), Of(2, 5, 128), Of(0, kForever, 192)};
  EXPECT_EQ(OwnersAfter({{5, kZeroAndOne, kTwo, 0, Views(kMade)}}, &tensors),
            (std::vector<int>{2, 2, -1}));
}

TEST(InPlacePass, aliases_of_a_part_move_with_it) {
  // Tensor 1 uses the memory of tensor 0, both become a part of tensor 2, and tensor 2 a part of
  // tensor 3.
  std::vector<Arena::Slot> tensors = {Of(0, 1), Of(1, 2), Of(2, 3), Of(3, 9, 128), Of(1, 3)};
  const int kTwoAndFour[] = {2, 4};
  EXPECT_EQ(OwnersAfter({{1, kZero, kOne, kTfLiteInplaceOpInput0Shared},
                         {2, kOne, kTwo, 0, Views(kMade)},
                         {3, kTwoAndFour, kThree, 0, Views(kMade)}},
                        &tensors),
            (std::vector<int>{3, 3, 3, -1, 3}));
  EXPECT_EQ(OffsetsOf(tensors), (std::vector<size_t>{0, 0, 0, 0, 64}));
  EXPECT_EQ(tensors[3].lifetime.first, 0);
}

TEST(InPlacePass, parts_are_read_inside_their_whole) {
  std::vector<Arena::Slot> tensors = {Of(1, 2, 192), Of(2, 3), Of(2, 6, 128)};
  const int kOneAndTwo[] = {1, 2};
  EXPECT_EQ(OwnersAfter({{2, kZero, kOneAndTwo, 0, Views(kRead)}}, &tensors),
            (std::vector<int>{-1, 0, 0}));
  EXPECT_EQ(OffsetsOf(tensors), (std::vector<size_t>{0, 0, 64}));
  EXPECT_EQ(tensors[0].lifetime.last, 6);
  // Tensor 2 is a part of tensor 1, which is a part of tensor 0.
  tensors = {Of(1, 2, 256), Of(2, 3, 128), Of(3, 4)};
  EXPECT_EQ(
      OwnersAfter({{2, kZero, kOne, 0, Views(kRead, 128)}, {3, kOne, kTwo, 0, Views(kRead, 64)}},
                  &tensors),
      (std::vector<int>{-1, 0, 0}));
  EXPECT_EQ(OffsetsOf(tensors), (std::vector<size_t>{0, 128, 192}));
}

// If a part has no arena memory, the offset of the next part in the whole is unknown.
TEST(InPlacePass, parts_after_a_tensor_outside_the_arena_are_copied) {
  std::vector<Arena::Slot> tensors = {Of(1, 5, 128), {}, Of(2, 5)};
  const int kOneAndTwo[] = {1, 2};
  EXPECT_EQ(OwnersAfter({{2, kZero, kOneAndTwo, 0, Views(kRead)}}, &tensors),
            (std::vector<int>{-1, -1, -1}));
}

TEST(InPlacePass, a_part_is_overwritten_after_the_last_use_of_the_whole) {
  constexpr uint64_t kMask = kTfLiteInplaceOpInput0Shared;
  const auto owner_of_changed = [&](int last_use_of_whole) {
    std::vector<Arena::Slot> tensors = {Of(1, last_use_of_whole, 128), Of(2, 3), Of(3, 5)};
    return OwnersAfter({{2, kZero, kOne, 0, Views(kRead)}, {3, kOne, kTwo, kMask}}, &tensors)[2];
  };
  EXPECT_EQ(owner_of_changed(4), -1);
  EXPECT_EQ(owner_of_changed(3), 0);
}

// Parts that overlap may be overwritten together only if they are the same part; otherwise neither
// is overwritten while the other is still read.
TEST(InPlacePass, overlapping_parts_are_not_overwritten) {
  constexpr uint64_t kEither = kTfLiteInplaceOpInput0Shared | kTfLiteInplaceOpInput1Shared;
  const int kOneAndTwo[] = {1, 2};
  const auto owner_of_sum = [&](size_t first, size_t second, size_t bytes_of_second) {
    std::vector<Arena::Slot> tensors = {Of(1, 3, 512), Of(2, 4, 128), Of(3, 4, bytes_of_second),
                                        Of(4, 5, 128)};
    return OwnersAfter({{2, kZero, kOne, 0, Views(kRead, first)},
                        {3, kZero, kTwo, 0, Views(kRead, second)},
                        {4, kOneAndTwo, kThree, kEither}},
                       &tensors)[3];
  };
  EXPECT_EQ(owner_of_sum(0, 64, 128), -1);
  EXPECT_EQ(owner_of_sum(192, 128, 128), -1);
  EXPECT_EQ(owner_of_sum(0, 128, 128), 0);
  EXPECT_EQ(owner_of_sum(64, 64, 128), 0);
  // The operand of 64 bytes is a row that is broadcast over the others, so it must not be
  // overwritten.
  EXPECT_EQ(owner_of_sum(0, 0, 64), -1);
  EXPECT_EQ(owner_of_sum(0, 128, 64), 0);
}

TEST(InPlacePass, unsuitable_parts_are_copied) {
  const auto owner_of = [](Arena::Slot part, Arena::Slot whole, size_t offset, int first_new = 0,
                           const std::vector<bool>& unshared = {false, false}) {
    std::vector<Arena::Slot> tensors = {part, whole};
    ShareInPlace(std::vector<InPlaceNode>{{5, kZero, kOne, 0, Views(kMade, offset)}}, unshared,
                 first_new, &tensors);
    return tensors[0].owner;
  };
  EXPECT_EQ(owner_of(Of(1, 5), Of(5, 6, 128), 64), 1);
  EXPECT_EQ(owner_of(Of(1, 5), Of(5, 6, 128), 16), -1);
  EXPECT_EQ(owner_of(Of(1, 5), Of(5, 6, 128), 128), -1);
  // Not shared: the caller's memory, tensors that were planned before, and a delegate's tensors.
  EXPECT_EQ(owner_of(Of(0, kForever), Of(5, 6, 128), 0), -1);
  EXPECT_EQ(owner_of(Of(1, 5), Of(5, 6, 128), 0, 2), -1);
  EXPECT_EQ(owner_of(Of(1, 5), Of(5, 6, 128), 0, 0, {true, false}), -1);
  EXPECT_EQ(owner_of(Of(1, 5), Of(5, 6, 128), 0, 0, {false, true}), -1);
  // A part of another tensor stays there; a tensor that occurs twice is placed at the first of its
  // two positions.
  const int kOneAndOne[] = {1, 1};
  std::vector<Arena::Slot> tensors = {Of(1, 2, 128), Of(2, 5), Of(5, 6, 128)};
  EXPECT_EQ(OwnersAfter({{2, kZero, kOne, 0, Views(kRead)}, {5, kOneAndOne, kTwo, 0, Views(kMade)}},
                        &tensors),
            (std::vector<int>{-1, 0, -1}));
  tensors = {Of(0, 5), Of(1, 5), Of(5, 6, 128)};
  EXPECT_EQ(OwnersAfter({{5, kOneAndOne, kTwo, 0, Views(kMade)}}, &tensors),
            (std::vector<int>{-1, 2, -1}));
  EXPECT_EQ(tensors[1].owner_offset, 0u);
}

// In a hostile model parts are nested deeply. The pass must not traverse them again for each
// enclosing tensor.
TEST(InPlacePass, wholes_are_nested_deeply) {
  constexpr int kWholes = 200'000;
  std::vector<int> numbers;
  std::vector<Arena::Slot> tensors;
  std::vector<InPlaceNode> nodes;
  for (int i = 0; i <= kWholes; ++i) {
    numbers.push_back(i);
    tensors.push_back(Of(i, i + 1, 64 * (static_cast<size_t>(i) + 1)));
  }
  for (int i = 1; i <= kWholes; ++i) {
    const std::span<const int> all(numbers);
    nodes.push_back({i, all.subspan(static_cast<size_t>(i) - 1, 1),
                     all.subspan(static_cast<size_t>(i), 1), 0, Views(kMade, 64)});
  }
  const std::vector<int> owners = OwnersAfter(nodes, &tensors);
  for (const int i : {0, 1, kWholes / 2, kWholes - 1}) {
    const auto at = static_cast<size_t>(i);
    EXPECT_EQ(owners[at], kWholes);
    EXPECT_EQ(tensors[at].owner_offset, 64 * (kWholes - at));
  }
  EXPECT_EQ(tensors[kWholes].lifetime.first, 0);
}

TEST(InPlacePass, owners_of_an_earlier_layout_are_kept) {
  std::vector<Arena::Slot> tensors = {Of(0, 2), Of(1, 2), Of(2, 3), Of(3, 4)};
  tensors[1].owner = 0;
  EXPECT_EQ(OwnersAfter({{2, kOne, kTwo, kTfLiteInplaceOpInput0Shared},
                         {3, kTwo, kThree, kTfLiteInplaceOpInput0Shared}},
                        &tensors),
            (std::vector<int>{-1, 0, 0, 0}));
}

TEST(InPlacePass, masks_name_pairs_of_inputs_and_outputs) {
  EXPECT_TRUE(MaskAllows(kTfLiteInplaceOpInput2Shared, 2, 0));
  EXPECT_FALSE(MaskAllows(kTfLiteInplaceOpInput2Shared, 2, 1));
  EXPECT_FALSE(MaskAllows(kTfLiteInplaceOpInput2Shared, 1, 0));
  EXPECT_TRUE(MaskAllows(kTfLiteInplaceInputCanBeSharedWithCorrespondingOutput, 3, 3));
  EXPECT_FALSE(MaskAllows(kTfLiteInplaceInputCanBeSharedWithCorrespondingOutput, 0, 1));
  EXPECT_TRUE(MaskAllows(kTfLiteInplaceOpDataUnmodified, 0, 0));
  EXPECT_FALSE(MaskAllows(kTfLiteInplaceOpDataUnmodified, 1, 0));
}

}  // namespace
}  // namespace deputy::in_place_pass_test
