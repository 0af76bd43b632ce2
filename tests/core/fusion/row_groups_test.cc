// SPDX-License-Identifier: Apache-2.0
//
// Tests the selection of nodes for row-wise fusion groups, on plans built by hand; expectations are
// literals.
#include "core/fusion/row_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include "tests/core/fusion/plan_builder.h"

namespace deputy::row_groups_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Kernels that are never called; the pass only compares their addresses.
void Compute(TfLiteContext*, TfLiteNode*, const GroupRows&) {}
ElementOp Element(TfLiteContext*, TfLiteNode*, const ChainedNode&) { return {}; }
constexpr RowKernel kComputes = {.rows = &Compute}, kRenames = {};
constexpr RowKernel kChains = {.rows = &Compute, .element = &Element};

FusionOffer OfferOf(RowKind kind, uint32_t made, uint32_t row_values = 0,
                    const RowKernel* kernel = &kComputes) {
  FusionOffer offer;
  offer.by_rows = {kernel, kind, made, row_values};
  return offer;
}
const FusionOffer kProduct = OfferOf(RowKind::kProduct, 1);
const FusionOffer kMap = OfferOf(RowKind::kElementwise, 1),
                  kSum = OfferOf(RowKind::kElementwise, 3);
const FusionOffer kActivation = OfferOf(RowKind::kElementwise, 1, 0, &kChains);
const FusionOffer kPair = OfferOf(RowKind::kElementwise, 3, 0, &kChains);
const FusionOffer kShift = OfferOf(RowKind::kElementwise, 1, 2);
const FusionOffer kSoftmax = OfferOf(RowKind::kRowWise, 1), kMean = OfferOf(RowKind::kRowReduce, 1);
const FusionOffer kReshape = OfferOf(RowKind::kElementwise, 1, 0, &kRenames);
FusionOffer TransposeOf(std::vector<int8_t> axes) {
  FusionOffer offer = OfferOf(RowKind::kTranspose, 1);
  std::copy(axes.begin(), axes.end(), offer.by_rows.axes);
  return offer;
}
const FusionOffer kSwap = TransposeOf({0, 2, 1}), kRotate = TransposeOf({1, 2, 0});
const FusionOffer kStridedProduct = [] {
  FusionOffer offer = kProduct;
  offer.by_rows.strided_inputs = 2;
  offer.by_rows.scatters = true;
  return offer;
}();

// A plan over tensors with 6 rows of 5. `outputs` are outputs of the graph.
class Plan : public PlanBuilder {
 public:
  explicit Plan(size_t tensors, const std::vector<int>& outputs)
      : PlanBuilder(tensors, {.elements = 30, .channels = 5}, outputs) {}

  std::vector<FusionGroup> Find(std::vector<FusionGroup> groups = {}) const {
    AddRowGroups(nodes(), tensors(), &groups);
    return groups;
  }
  // Returns the nodes of each group.
  std::vector<std::vector<int>> Nodes() const {
    std::vector<std::vector<int>> nodes;
    for (const FusionGroup& group : Find()) nodes.push_back(group.nodes);
    return nodes;
  }
};

// A plan of a product, a sum with a mask, a SOFTMAX, and a product with the output of a node in
// between.
Plan Attention() {
  Plan plan(9, {8});
  plan.Node({0, 1}, 2, &kProduct).Node({2, 3}, 4, &kSum).Node({4}, 5, &kSoftmax);
  plan.Node({6}, 7, nullptr).Node({5, 7}, 8, &kProduct);
  return plan;
}

TEST(RowGroups, attention_is_headed_by_its_last_product) {
  const std::vector<FusionGroup> groups = Attention().Find();
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_EQ(groups[0].head, 4);
  EXPECT_THAT(groups[0].nodes, ElementsAre(0, 1, 2, 4));
  EXPECT_EQ(OutputOf(groups[0].run), 8);
  const RowProgram& rows = std::get<RowRun>(groups[0].run).program;
  EXPECT_EQ(rows.rows, 6);
  ASSERT_THAT(rows.ops, SizeIs(4));
  // All operations work in place, in one slot of 5 columns.
  EXPECT_THAT(rows.slot_columns, ElementsAre(5));
  EXPECT_EQ(rows.ops[0].computed[0], -1);
  EXPECT_EQ(rows.ops[1].computed[0], 0);
  EXPECT_EQ(rows.ops[1].computed[1], -1);
  EXPECT_EQ(rows.ops[1].out, 0);
  EXPECT_EQ(rows.ops[3].computed[0], 0);
  EXPECT_EQ(rows.ops[3].out, -1);
}

TEST(RowGroups, the_inputs_are_those_of_all_nodes) {
  const Plan plan = Attention();
  std::vector<int> tensors;
  for (const GroupRead& read :
       RowReadsOf(std::get<RowRun>(plan.Find()[0].run).program, plan.nodes())) {
    EXPECT_FALSE(read.in_place);
    tensors.push_back(read.tensor);
  }
  EXPECT_THAT(tensors, ElementsAre(0, 1, 3, 7));
}

TEST(RowGroups, a_value_with_other_consumers_ends_a_group) {
  Plan plan = Attention();
  ++plan[5].use_count;
  const std::vector<FusionGroup> groups = plan.Find();
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_EQ(groups[0].head, 0);
  EXPECT_THAT(groups[0].nodes, ElementsAre(0, 1, 2));
  EXPECT_EQ(OutputOf(groups[0].run), 5);
}

// Nodes after the head need operands that are available when the head runs: a group cannot wait for
// later operands.
TEST(RowGroups, nodes_after_the_head_read_available_values) {
  for (const bool late : {false, true}) {
    Plan plan(5, {4});
    if (!late) plan.Node({3}, 2, nullptr);
    plan.Node({0}, 1, &kProduct);
    if (late) plan.Node({3}, 2, nullptr);
    plan.Node({1, 2}, 4, &kSum);
    using Nodes = std::vector<std::vector<int>>;
    EXPECT_EQ(plan.Nodes(), late ? Nodes{} : (Nodes{{1, 2}}));
  }
}

// In x * f(x), two nodes of the group read x.
TEST(RowGroups, several_nodes_may_read_a_value) {
  Plan plan(5, {4});
  plan.Node({0}, 1, &kProduct).Node({1}, 2, &kMap).Node({1, 2}, 3, &kSum).Node({3}, 4, &kProduct);
  const std::vector<FusionGroup> groups = plan.Find();
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_EQ(groups[0].head, 3);
  const RowProgram& rows = std::get<RowRun>(groups[0].run).program;
  EXPECT_THAT(rows.slot_columns, ElementsAre(5, 5));
  EXPECT_EQ(rows.ops[1].computed[0], 0);
  EXPECT_EQ(rows.ops[1].out, 1);
  EXPECT_EQ(rows.ops[2].computed[0], 0);
  EXPECT_EQ(rows.ops[2].computed[1], 1);
}

// The plan computes the mean of each row, subtracts it from the row, and multiplies matrices.
TEST(RowGroups, a_mean_begins_a_group) {
  Plan plan(5, {4});
  plan[1] = {.elements = 6, .channels = 6};
  plan[2] = {.elements = 6, .channels = 1};
  for (int tensor : {1, 2}) plan[tensor].use_count = 0;
  plan.Node({0}, 1, &kMean)
      .Node({1}, 2, &kReshape)
      .Node({0, 2}, 3, &kShift)
      .Node({3}, 4, &kProduct);
  const std::vector<FusionGroup> groups = plan.Find();
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_THAT(groups[0].nodes, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(groups[0].head, 3);
  const RowProgram& rows = std::get<RowRun>(groups[0].run).program;
  // The RESHAPE only renames the tensor, so it is no operation of the group.
  ASSERT_THAT(rows.ops, SizeIs(3));
  EXPECT_EQ(rows.ops[0].out_columns, 1);
  // Rows of another length need a separate slot.
  EXPECT_THAT(rows.slot_columns, ElementsAre(1, 5));
  EXPECT_EQ(rows.ops[1].computed[1], rows.ops[0].out);
  EXPECT_EQ(rows.ops[1].computed_columns[1], 1);
}

TEST(RowGroups, groups_need_a_product) {
  Plan plan(3, {2});
  plan.Node({0}, 1, &kSoftmax).Node({1}, 2, &kMap);
  EXPECT_THAT(plan.Nodes(), IsEmpty());
}

// A RESHAPE that changes the rows of a product ends the group.
TEST(RowGroups, other_rows_end_a_group) {
  Plan plan(5, {4});
  plan[2] = {.elements = 30, .channels = 10};
  plan.Node({0}, 1, &kProduct).Node({1}, 2, &kReshape).Node({2}, 3, &kSoftmax);
  plan.Node({3}, 4, &kMap);
  EXPECT_THAT(plan.Nodes(), IsEmpty());
}

TEST(RowGroups, fixed_and_shared_tensors_are_not_fused) {
  for (int variant = 0; variant < 4; ++variant) {
    Plan plan(5, {4});
    plan.Node({0}, 1, &kProduct).Node({1, 2}, 3, &kSum).Node({3}, 4, &kProduct);
    if (variant == 0) plan[3].fixed = true;
    if (variant == 1) plan[2].fixed = true;
    if (variant == 2) plan[3].computed_once = true;
    // An additional use of tensor 1, as for memory of a client.
    if (variant == 3) ++plan[1].use_count;
    EXPECT_THAT(plan.Nodes(), IsEmpty()) << variant;
  }
}

// The only node after the head reads the head's output as its second operand, but supports internal
// tensors as its first operand only.
TEST(RowGroups, an_input_that_must_be_stored_is_not_fused) {
  Plan plan(4, {3});
  const FusionOffer first_only = OfferOf(RowKind::kElementwise, 1);
  plan.Node({0}, 1, &kProduct).Node({2, 1}, 3, &first_only);
  EXPECT_THAT(plan.Nodes(), IsEmpty());
}

TEST(RowGroups, rows_that_exceed_the_cache_are_not_fused) {
  for (const int columns : {4096, 4097}) {
    Plan plan(4, {3});
    for (int tensor : {1, 2}) {
      plan[tensor].elements = 6 * columns;
      plan[tensor].channels = columns;
    }
    plan.Node({0}, 1, &kProduct).Node({1}, 2, &kSoftmax).Node({2}, 3, &kProduct);
    EXPECT_EQ(plan.Find().size(), columns == 4096 ? 1u : 0u);
  }
}

// ---- TRANSPOSE ----------------------------------------------------------------------------------

using Nodes = std::vector<std::vector<int>>;

std::vector<int64_t> StepsOf(const StridedShape& shape) {
  return {shape.strides, shape.strides + shape.rank};
}

// A plan in which heads that are contiguous in each row, [rows][heads][depth], become the right
// operands of a batched product.
Plan Heads(const FusionOffer* product = &kStridedProduct) {
  Plan plan(6, {5});
  plan.Shape({1}, {7, 6, 4}).Shape({2}, {6, 4, 7}).Shape({3}, {2, 3, 4, 7});
  plan.Shape({4}, {2, 3, 5, 4}).Shape({5}, {2, 3, 5, 7});
  plan.Node({1}, 2, &kRotate).Node({2}, 3, &kReshape).Node({4, 3}, 5, product);
  return plan;
}

TEST(RowGroups, a_product_reads_through_transposes) {
  const Plan plan = Heads();
  const std::vector<FusionGroup> groups = plan.Find();
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_EQ(groups[0].head, 2);
  EXPECT_THAT(groups[0].nodes, ElementsAre(0, 1, 2));
  const RowProgram& rows = std::get<RowRun>(groups[0].run).program;
  ASSERT_THAT(rows.ops, SizeIs(1));
  EXPECT_EQ(rows.ops[0].strided[0].tensor, -1);
  EXPECT_EQ(rows.ops[0].strided[1].tensor, 1);
  EXPECT_THAT(StepsOf(rows.ops[0].strided[1].shape), ElementsAre(12, 4, 1, 24));
  std::vector<int> reads;
  for (const GroupRead& read : RowReadsOf(rows, plan.nodes())) reads.push_back(read.tensor);
  EXPECT_THAT(reads, ElementsAre(4, 1));
}

TEST(RowGroups, transposes_with_other_consumers_run) {
  for (int variant = 0; variant < 7; ++variant) {
    Plan plan = Heads(variant == 6 ? &kProduct : &kStridedProduct);
    // Variants 0 and 1: tensor 2 or 3 has a second use, by another node or as an output of the
    // graph.
    if (variant < 2) ++plan[2 + variant].use_count;
    // Variants 2 and 3: tensor 2 or 1 is fixed, like a variable or a tensor of unknown shape.
    if (variant == 2) plan[2].fixed = true;
    if (variant == 3) plan[1].fixed = true;
    // Variant 4: the tensor is computed once.
    if (variant == 4) plan[2].computed_once = true;
    // Variant 5: the elements are not at regular strides.
    if (variant == 5) plan.Shape({3}, {2, 3, 14, 2});
    EXPECT_THAT(plan.Nodes(), IsEmpty()) << variant;
  }
}

// A TRANSPOSE has no offer if its type is not supported, or if a delegate claims it.
TEST(RowGroups, transposes_without_an_offer_run) {
  Plan plan(4, {3});
  plan.Shape({0, 1}, {2, 9, 10}).Shape({2}, {2, 10, 9}).Shape({3}, {2, 9, 9});
  plan.Node({0}, 2, nullptr).Node({1, 2}, 3, &kStridedProduct);
  EXPECT_THAT(plan.Nodes(), IsEmpty());
}

// A plan of f(x), a TRANSPOSE, f of the result, and the TRANSPOSE `back`.
Plan Pair(const FusionOffer* back) {
  Plan plan(5, {4});
  plan.Shape({0, 1}, {2, 9, 10}).Shape({2, 3}, {2, 10, 9});
  plan.Shape({4}, back == &kSwap ? std::vector<int>{2, 9, 10} : std::vector<int>{10, 9, 2});
  plan.Node({0}, 1, &kMap).Node({1}, 2, &kSwap).Node({2}, 3, &kMap).Node({3}, 4, back);
  return plan;
}

TEST(RowGroups, transposes_that_undo_each_other_move_nothing) {
  const std::vector<FusionGroup> groups = Pair(&kSwap).Find();
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_EQ(groups[0].head, 3);
  EXPECT_THAT(groups[0].nodes, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(OutputOf(groups[0].run), 4);
  const RowProgram& rows = std::get<RowRun>(groups[0].run).program;
  EXPECT_EQ(rows.rows, 18);
  ASSERT_THAT(rows.ops, SizeIs(2));
  EXPECT_EQ(rows.ops[0].node, 0);
  EXPECT_EQ(rows.ops[1].node, 2);
  EXPECT_EQ(rows.ops[1].computed[0], 0);
  EXPECT_EQ(rows.ops[1].out, -1);
  EXPECT_EQ(rows.ops[1].out_columns, 10);
}

TEST(RowGroups, transposes_that_do_not_undo_each_other_run) {
  const std::vector<FusionGroup> groups = Pair(&kRotate).Find();
  ASSERT_THAT(groups, SizeIs(1));
  // The first TRANSPOSE is in the group, which reads its rows with strides; the second one is not.
  EXPECT_THAT(groups[0].nodes, ElementsAre(1, 2));
  const RowProgram& rows = std::get<RowRun>(groups[0].run).program;
  ASSERT_THAT(rows.ops, SizeIs(2));
  EXPECT_EQ(rows.rows, 20);
  EXPECT_EQ(rows.ops[0].strided[0].tensor, 1);
  EXPECT_THAT(StepsOf(rows.ops[0].strided[0].shape), ElementsAre(90, 1, 10));
}

TEST(RowGroups, values_read_in_between_are_stored) {
  for (int value : {2, 3}) {
    Plan plan = Pair(&kSwap);
    ++plan[value].use_count;
    for (const FusionGroup& group : plan.Find()) EXPECT_THAT(group.nodes, SizeIs(2)) << value;
  }
}

// Operands that are broadcast (other than single elements), values per row, and row-wise operations
// need the elements in their original order.
TEST(RowGroups, only_elementwise_nodes_may_be_permuted) {
  for (int variant = 0; variant < 4; ++variant) {
    Plan plan(6, {4});
    plan.Shape({0, 1}, {2, 9, 10}).Shape({2, 3}, {2, 10, 9}).Shape({4}, {2, 9, 10});
    plan.Shape({5}, variant == 1 ? std::vector<int>{9} : std::vector<int>{1});
    plan.Node({0}, 1, &kMap).Node({1}, 2, &kSwap);
    if (variant < 2) plan.Node({2, 5}, 3, &kMap);
    if (variant == 2) plan.Node({2}, 3, &kSoftmax);
    if (variant == 3) plan.Node({5, 2}, 3, &kShift);
    plan.Node({3}, 4, &kSwap);
    const bool undoes = std::ranges::any_of(plan.Find(), [](const FusionGroup& group) {
      return group.nodes == std::vector<int>{0, 1, 2, 3};
    });
    EXPECT_EQ(undoes, variant == 0) << variant;
  }
}

// Computes x[half] * f(x[other half]) of channels that a TRANSPOSE has moved to the front.
TEST(RowGroups, parts_are_columns_of_rows) {
  FusionOffer halves[2];
  for (int half : {0, 1}) {
    halves[half] = OfferOf(RowKind::kColumnSlice, 1);
    halves[half].by_rows.part_axis = 1;
    halves[half].by_rows.part_begin = 10 * half;
  }
  Plan plan(8, {7});
  plan.Shape({0, 1}, {2, 9, 20}).Shape({2}, {2, 20, 9}).Shape({3, 4, 5, 6}, {2, 10, 9});
  plan.Shape({7}, {2, 9, 10});
  plan.Node({0}, 1, &kMap).Node({1}, 2, &kSwap).Node({2}, 3, &halves[0]);
  plan.Node({2}, 4, &halves[1]).Node({4}, 5, &kMap).Node({3, 5}, 6, &kSum).Node({6}, 7, &kSwap);
  const std::vector<FusionGroup> groups = plan.Find();
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_THAT(groups[0].nodes, SizeIs(7));
  const RowProgram& rows = std::get<RowRun>(groups[0].run).program;
  ASSERT_THAT(rows.ops, SizeIs(5));
  EXPECT_EQ(rows.ops[1].part_begin, 0);
  EXPECT_EQ(rows.ops[2].part_begin, 10);
  EXPECT_EQ(rows.ops[2].computed_columns[0], 20);
  EXPECT_EQ(rows.ops[2].out_columns, 10);
}

// Slices of two of five columns, twice in each row.
TEST(RowGroups, slices_within_a_row_are_stored) {
  FusionOffer part = OfferOf(RowKind::kColumnSlice, 1);
  part.by_rows.part_axis = 2;
  Plan plan(5, {4});
  plan.Shape({0, 1}, {6, 10}).Shape({2}, {6, 2, 5}).Shape({3, 4}, {6, 2, 2});
  plan.Node({0}, 1, &kProduct).Node({1}, 2, &kReshape).Node({2}, 3, &part).Node({3}, 4, &kMap);
  EXPECT_THAT(plan.Nodes(), IsEmpty());
}

TEST(RowGroups, a_transpose_gathers_rows_for_a_mean) {
  Plan plan(5, {4});
  plan.Shape({0}, {9, 2, 10}).Shape({1}, {2, 9, 10}).Shape({2}, {18, 10}).Shape({3}, {18});
  plan.Shape({4}, {18, 10});
  const FusionOffer swap = TransposeOf({1, 0, 2});
  plan.Node({0}, 1, &swap).Node({1}, 2, &kReshape).Node({2}, 3, &kMean).Node({2, 3}, 4, &kShift);
  const std::vector<FusionGroup> groups = plan.Find();
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_THAT(groups[0].nodes, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(groups[0].head, 0);
  const RowOp& gather = std::get<RowRun>(groups[0].run).program.ops[0];
  EXPECT_EQ(gather.strided[0].tensor, 0);
  EXPECT_THAT(StepsOf(gather.strided[0].shape), ElementsAre(10, 20, 1));
  EXPECT_EQ(gather.out_columns, 10);
}

TEST(RowGroups, a_product_stores_rows_in_transposed_order) {
  for (int variant = 0; variant < 4; ++variant) {
    Plan plan(5, {4});
    plan.Shape({0, 1, 2}, {6, 9, 9}).Shape({3}, {2, 3, 9, 9}).Shape({4}, {9, 2, 3, 9});
    FusionOffer move = TransposeOf({2, 0, 1, 3});
    if (variant == 1) ++plan[3].use_count;
    // Variant 2: the TRANSPOSE separates the columns.
    if (variant == 2) move = TransposeOf({3, 0, 1, 2});
    plan.Node({0, 1}, 2, variant == 3 ? &kProduct : &kStridedProduct).Node({2}, 3, &kReshape);
    plan.Node({3}, 4, &move);
    const std::vector<FusionGroup> groups = plan.Find();
    if (variant > 0) {
      EXPECT_THAT(groups, IsEmpty()) << variant;
      continue;
    }
    ASSERT_THAT(groups, SizeIs(1));
    EXPECT_EQ(groups[0].head, 0);
    EXPECT_THAT(groups[0].nodes, ElementsAre(0, 1, 2));
    EXPECT_EQ(OutputOf(groups[0].run), 4);
    ASSERT_THAT(std::get<RowRun>(groups[0].run).program.ops, SizeIs(1));
    EXPECT_THAT(StepsOf(std::get<RowRun>(groups[0].run).program.ops[0].scattered),
                ElementsAre(9, 54, 1));
  }
}

// ---- Independent products in a group -----------------------------------------------------------

// A plan of f(A x B) * (C x D), followed by a product.
Plan Gated() {
  Plan plan(10, {9});
  plan.Node({0, 1}, 2, &kProduct).Node({2}, 3, &kMap).Node({4, 5}, 6, &kProduct);
  plan.Node({3, 6}, 7, &kSum).Node({7, 8}, 9, &kProduct);
  return plan;
}

TEST(RowGroups, a_gate_is_computed_with_the_gated_value) {
  const std::vector<FusionGroup> groups = Gated().Find();
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_EQ(groups[0].head, 4);
  EXPECT_THAT(groups[0].nodes, ElementsAre(0, 1, 2, 3, 4));
  const RowProgram& rows = std::get<RowRun>(groups[0].run).program;
  ASSERT_THAT(rows.ops, SizeIs(5));
  EXPECT_EQ(rows.ops[2].node, 2);
  EXPECT_EQ(rows.ops[2].computed[0], -1);
  EXPECT_EQ(rows.ops[3].computed[0], rows.ops[1].out);
  EXPECT_EQ(rows.ops[3].computed[1], rows.ops[2].out);
  EXPECT_NE(rows.ops[1].out, rows.ops[2].out);
}

TEST(RowGroups, a_gate_with_other_consumers_is_stored) {
  Plan plan = Gated();
  ++plan[6].use_count;
  EXPECT_THAT(plan.Nodes(), ElementsAre(ElementsAre(0, 1, 3, 4)));
}

TEST(RowGroups, a_gate_of_other_rows_is_not_fused) {
  Plan plan = Gated();
  plan[6].channels = 10;
  EXPECT_THAT(plan.Nodes(), ElementsAre(ElementsAre(0, 1, 3, 4)));
}

// The cache holds one row of 10 000 bytes, but not two.
TEST(RowGroups, a_gate_that_exceeds_the_cache_runs_alone) {
  Plan plan = Gated();
  for (int tensor : {2, 3, 6, 7, 9}) plan[tensor].elements = 6 * 2500;
  for (int tensor : {2, 3, 6, 7, 9}) plan[tensor].channels = 2500;
  EXPECT_THAT(plan.Nodes(), ElementsAre(ElementsAre(0, 1, 3, 4)));
}

// If the gate is the last product, it is the head.
TEST(RowGroups, a_gate_can_be_the_head) {
  Plan plan(8, {7});
  plan.Node({0, 1}, 2, &kProduct).Node({2}, 3, &kMap).Node({4, 5}, 6, &kProduct);
  plan.Node({3, 6}, 7, &kSum);
  const std::vector<FusionGroup> groups = plan.Find();
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_EQ(groups[0].head, 2);
  EXPECT_THAT(groups[0].nodes, ElementsAre(0, 1, 2, 3));
}

// A gate precedes the TRANSPOSEs that headed the group before it joined.
TEST(RowGroups, a_gate_is_the_head_of_a_group_with_transposes) {
  for (const bool available : {true, false}) {
    Plan plan(11, {8});
    plan.Shape({0}, {9, 2, 10}).Shape({1, 2, 4, 7, 8, 9, 10}, {2, 9, 10}).Shape({3}, {2, 10, 9});
    const FusionOffer gather = TransposeOf({1, 0, 2});
    plan.Node({0}, 1, &gather).Node({5, 6}, 7, &kProduct).Node({9}, 10, nullptr);
    plan.Node({1, available ? 9 : 10}, 2, &kSum);
    plan.Node({2}, 3, &kSwap).Node({3}, 4, &kSwap).Node({4, 7}, 8, &kSum);
    const std::vector<FusionGroup> groups = plan.Find();
    ASSERT_THAT(groups, SizeIs(1));
    EXPECT_EQ(groups[0].head, available ? 1 : 5);
    EXPECT_EQ(groups[0].nodes,
              available ? (std::vector<int>{0, 1, 3, 4, 5, 6}) : (std::vector<int>{0, 3, 4, 5}));
  }
}

// A tensor that is computed after the gate is available to a later product, but not if the gate is
// the head.
TEST(RowGroups, a_head_outside_the_chain_needs_the_inputs_of_preceding_nodes) {
  for (const bool later : {false, true}) {
    Plan plan(13, {later ? 12 : 9});
    plan.Node({0, 1}, 2, &kProduct).Node({3, 4}, 5, &kProduct).Node({6}, 7, nullptr);
    plan.Node({2, 7}, 8, &kSum).Node({8, 5}, 9, &kSum);
    if (later) plan.Node({9, 10}, 12, &kProduct);
    EXPECT_EQ(plan.Nodes(), later ? (Nodes{{0, 1, 3, 4, 5}}) : Nodes{});
  }
}

// ---- Chains -----------------------------------------------------------------------------------

// x * 0.5 * (TANH((x * x * x * 0.04 + x) * 0.8) + 1) after a product, as converters write it.
// Tensors 20 to 23 are the constants.
Plan Gelu() {
  Plan plan(24, {12});
  for (int number : {20, 21, 22, 23}) plan[number] = {.elements = 1, .channels = 1};
  plan.Node({0, 1}, 2, &kProduct);
  plan.Node({2, 2}, 3, &kPair).Node({3, 2}, 4, &kPair).Node({20, 4}, 5, &kPair);
  plan.Node({2, 5}, 6, &kPair).Node({6, 21}, 7, &kPair).Node({7}, 8, &kActivation);
  plan.Node({8, 22}, 9, &kPair).Node({9, 23}, 10, &kPair).Node({2, 10}, 11, &kPair);
  plan.Node({11, 13}, 12, &kProduct);
  return plan;
}

TEST(RowGroups, elements_pass_from_node_to_node_in_a_chain) {
  const Plan plan = Gelu();
  const std::vector<FusionGroup> groups = plan.Find();
  ASSERT_THAT(groups, SizeIs(1));
  const RowProgram& rows = std::get<RowRun>(groups[0].run).program;
  ASSERT_THAT(rows.ops, SizeIs(3));
  const RowOp& op = rows.ops[1];
  EXPECT_EQ(op.node, 9);
  EXPECT_EQ(op.computed[0], 0);
  EXPECT_EQ(op.out, 0);  // the result overwrites x, which is not read later
  EXPECT_THAT(rows.slot_columns, ElementsAre(5));
  std::vector<int> made, takes_first;
  for (const ChainedNode& node : op.chain) {
    made.push_back(node.computed);
    if (node.uses_first) takes_first.push_back(node.node);
  }
  EXPECT_THAT(made, ElementsAre(0, 0, 1, 1, 0, 0, 0, 0, 1));
  EXPECT_THAT(takes_first, ElementsAre(1, 2, 4, 9));
  std::vector<int> reads;
  for (const GroupRead& read : RowReadsOf(rows, plan.nodes())) reads.push_back(read.tensor);
  EXPECT_THAT(reads, ElementsAre(0, 1, 20, 21, 22, 23, 13));
}

std::vector<size_t> ChainsOf(const Plan& plan) {
  std::vector<size_t> lengths;
  for (const FusionGroup& group : plan.Find()) {
    for (const RowOp& op : std::get<RowRun>(group.run).program.ops)
      lengths.push_back(op.chain.size());
  }
  return lengths;
}

TEST(RowGroups, tensor_0_may_be_the_scalar_of_a_chain) {
  Plan plan(7, {6});
  plan[0] = {.elements = 1, .channels = 1};
  plan.Node({1, 2}, 3, &kProduct).Node({3, 0}, 4, &kPair).Node({4}, 5, &kActivation);
  plan.Node({5, 2}, 6, &kProduct);
  EXPECT_THAT(ChainsOf(plan), ElementsAre(0, 2, 0));
}

TEST(RowGroups, chains_end_where_a_value_is_read_twice) {
  Plan plan(6, {5});
  plan.Node({0, 1}, 2, &kProduct).Node({2}, 3, &kActivation).Node({3}, 4, &kActivation);
  plan.Node({3, 4}, 5, &kPair);
  // Op 2, the first of the second chain, reads tensor 3, where the first chain ends.
  EXPECT_THAT(ChainsOf(plan), ElementsAre(0, 0, 2));
}

TEST(RowGroups, chains_end_where_rows_of_others_are_read) {
  Plan plan(8, {7});
  plan.Node({0, 1}, 2, &kProduct).Node({2}, 3, &kActivation).Node({3, 4}, 5, &kPair);
  plan.Node({5}, 6, &kActivation).Node({6}, 7, &kActivation);
  EXPECT_THAT(ChainsOf(plan), ElementsAre(0, 0, 0, 2));
}

TEST(RowGroups, the_length_of_a_chain_is_limited) {
  Plan plan(40, {33});
  plan.Node({0, 1}, 2, &kProduct);
  for (int tensor = 2; tensor < 33; ++tensor) plan.Node({tensor}, tensor + 1, &kActivation);
  EXPECT_THAT(ChainsOf(plan), ElementsAre(0, kMaxChainedOps, 15));
}

TEST(RowGroups, nodes_of_other_groups_are_not_fused_again) {
  FusionGroup other;
  other.head = 1;
  other.nodes = {1, 2};
  const std::vector<FusionGroup> groups = Attention().Find({other});
  EXPECT_THAT(groups, SizeIs(1));
}

}  // namespace
}  // namespace deputy::row_groups_test
