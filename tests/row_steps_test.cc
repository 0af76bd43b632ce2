// SPDX-License-Identifier: Apache-2.0
//
// Which nodes run as a step by rows, on plans made by hand: expectations are written down, not
// computed.
#include "core/exec/row_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace deputy::row_steps_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Kernels, of which the pass sees the addresses alone.
void Compute(TfLiteContext*, TfLiteNode*, const StepRows&) {}
constexpr RowKernel kComputes = {.rows = &Compute}, kRenames = {};

StepOffer OfferOf(RowKind kind, uint32_t made, uint32_t row_values = 0,
                  const RowKernel* kernel = &kComputes) {
  StepOffer offer;
  offer.by_rows = {kernel, kind, made, row_values};
  return offer;
}
const StepOffer kProduct = OfferOf(RowKind::kProduct, 1);
const StepOffer kMap = OfferOf(RowKind::kElements, 1), kSum = OfferOf(RowKind::kElements, 3);
const StepOffer kShift = OfferOf(RowKind::kElements, 1, 2);
const StepOffer kSoftmax = OfferOf(RowKind::kAlong, 1), kMean = OfferOf(RowKind::kFold, 1);
const StepOffer kReshape = OfferOf(RowKind::kElements, 1, 0, &kRenames);

// Plans over tensors of 6 rows of 5, of which `outputs` are the caller's.
class Plan {
 public:
  explicit Plan(size_t tensors, const std::vector<int>& outputs)
      : tensors_(tensors, StepTensor{.elements = 30, .channels = 5}) {
    for (int output : outputs) ++(*this)[output].readers;
  }

  Plan& Node(std::vector<int> inputs, int output, const StepOffer* offer) {
    for (int input : inputs) ++(*this)[input].readers;
    arrays_.push_back(std::move(inputs));
    arrays_.push_back({output});
    offers_.push_back(offer);
    return *this;
  }
  StepTensor& operator[](int tensor) { return tensors_[static_cast<size_t>(tensor)]; }

  std::vector<StepNode> nodes() const {
    std::vector<StepNode> nodes;
    for (size_t n = 0; n < offers_.size(); ++n) {
      nodes.push_back({arrays_[2 * n], arrays_[2 * n + 1], offers_[n]});
    }
    return nodes;
  }
  std::vector<Step> Find(std::vector<Step> steps = {}) const {
    AddRowSteps(nodes(), tensors_, &steps);
    return steps;
  }
  // The nodes of each step.
  std::vector<std::vector<int>> Nodes() const {
    std::vector<std::vector<int>> nodes;
    for (const Step& step : Find()) nodes.push_back(step.nodes);
    return nodes;
  }

 private:
  std::vector<StepTensor> tensors_;
  std::vector<std::vector<int>> arrays_;
  std::vector<const StepOffer*> offers_;
};

// Product, sum with a mask, SOFTMAX, product with what a node between makes.
Plan Attention() {
  Plan plan(9, {8});
  plan.Node({0, 1}, 2, &kProduct).Node({2, 3}, 4, &kSum).Node({4}, 5, &kSoftmax);
  plan.Node({6}, 7, nullptr).Node({5, 7}, 8, &kProduct);
  return plan;
}

TEST(RowStepPlan, attention_is_headed_by_its_last_product) {
  const std::vector<Step> steps = Attention().Find();
  ASSERT_THAT(steps, SizeIs(1));
  EXPECT_EQ(steps[0].head, 4);
  EXPECT_THAT(steps[0].nodes, ElementsAre(0, 1, 2, 4));
  EXPECT_EQ(steps[0].run.output, 8);
  const RowProgram& rows = steps[0].run.rows;
  EXPECT_EQ(rows.rows, 6);
  ASSERT_THAT(rows.ops, SizeIs(4));
  // In place, all in one slot.
  EXPECT_THAT(rows.slot_columns, ElementsAre(5));
  EXPECT_EQ(rows.ops[0].made[0], -1);
  EXPECT_EQ(rows.ops[1].made[0], 0);
  EXPECT_EQ(rows.ops[1].made[1], -1);
  EXPECT_EQ(rows.ops[1].out, 0);
  EXPECT_EQ(rows.ops[3].made[0], 0);
  EXPECT_EQ(rows.ops[3].out, -1);
}

TEST(RowStepPlan, reads_are_those_of_all_nodes) {
  const Plan plan = Attention();
  std::vector<int> tensors;
  for (const StepRead& read : RowReadsOf(plan.Find()[0].run.rows, plan.nodes())) {
    EXPECT_FALSE(read.in_place);
    tensors.push_back(read.tensor);
  }
  EXPECT_THAT(tensors, ElementsAre(0, 1, 3, 7));
}

TEST(RowStepPlan, what_others_read_ends_a_step) {
  Plan plan = Attention();
  ++plan[5].readers;
  const std::vector<Step> steps = plan.Find();
  ASSERT_THAT(steps, SizeIs(1));
  EXPECT_EQ(steps[0].head, 0);
  EXPECT_THAT(steps[0].nodes, ElementsAre(0, 1, 2));
  EXPECT_EQ(steps[0].run.output, 5);
}

// Behind its head a step cannot wait for what is made there.
TEST(RowStepPlan, nodes_behind_the_head_read_what_is_there) {
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

// x * f(x): two nodes of the step read x.
TEST(RowStepPlan, several_nodes_may_read_a_value) {
  Plan plan(5, {4});
  plan.Node({0}, 1, &kProduct).Node({1}, 2, &kMap).Node({1, 2}, 3, &kSum).Node({3}, 4, &kProduct);
  const std::vector<Step> steps = plan.Find();
  ASSERT_THAT(steps, SizeIs(1));
  EXPECT_EQ(steps[0].head, 3);
  const RowProgram& rows = steps[0].run.rows;
  EXPECT_THAT(rows.slot_columns, ElementsAre(5, 5));
  EXPECT_EQ(rows.ops[1].made[0], 0);
  EXPECT_EQ(rows.ops[1].out, 1);
  EXPECT_EQ(rows.ops[2].made[0], 0);
  EXPECT_EQ(rows.ops[2].made[1], 1);
}

// The mean of rows, taken off the rows, in front of a product.
TEST(RowStepPlan, a_mean_begins_a_step) {
  Plan plan(5, {4});
  plan[1] = {.elements = 6, .channels = 6};
  plan[2] = {.elements = 6, .channels = 1};
  for (int tensor : {1, 2}) plan[tensor].readers = 0;
  plan.Node({0}, 1, &kMean)
      .Node({1}, 2, &kReshape)
      .Node({0, 2}, 3, &kShift)
      .Node({3}, 4, &kProduct);
  const std::vector<Step> steps = plan.Find();
  ASSERT_THAT(steps, SizeIs(1));
  EXPECT_THAT(steps[0].nodes, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(steps[0].head, 3);
  const RowProgram& rows = steps[0].run.rows;
  // RESHAPE only renames.
  ASSERT_THAT(rows.ops, SizeIs(3));
  EXPECT_EQ(rows.ops[0].out_columns, 1);
  // Rows of other lengths have slots of their own.
  EXPECT_THAT(rows.slot_columns, ElementsAre(1, 5));
  EXPECT_EQ(rows.ops[1].made[1], rows.ops[0].out);
  EXPECT_EQ(rows.ops[1].made_columns[1], 1);
}

TEST(RowStepPlan, without_a_product_there_is_no_step) {
  Plan plan(3, {2});
  plan.Node({0}, 1, &kSoftmax).Node({1}, 2, &kMap);
  EXPECT_THAT(plan.Nodes(), IsEmpty());
}

// The rows of a product are none of what a RESHAPE has made of them.
TEST(RowStepPlan, other_rows_end_a_step) {
  Plan plan(5, {4});
  plan[2] = {.elements = 30, .channels = 10};
  plan.Node({0}, 1, &kProduct).Node({1}, 2, &kReshape).Node({2}, 3, &kSoftmax);
  plan.Node({3}, 4, &kMap);
  EXPECT_THAT(plan.Nodes(), IsEmpty());
}

TEST(RowStepPlan, what_is_not_ours_is_left_alone) {
  for (int way = 0; way < 4; ++way) {
    Plan plan(5, {4});
    plan.Node({0}, 1, &kProduct).Node({1, 2}, 3, &kSum).Node({3}, 4, &kProduct);
    if (way == 0) plan[3].fixed = true;
    if (way == 1) plan[2].fixed = true;
    if (way == 2) plan[3].lasting = true;
    // A client that holds it.
    if (way == 3) ++plan[1].readers;
    EXPECT_THAT(plan.Nodes(), IsEmpty()) << way;
  }
}

// The only follower is at the same time its own summand: an input that may not be made.
TEST(RowStepPlan, inputs_that_may_not_be_made_are_not) {
  Plan plan(4, {3});
  const StepOffer first_only = OfferOf(RowKind::kElements, 1);
  plan.Node({0}, 1, &kProduct).Node({2, 1}, 3, &first_only);
  EXPECT_THAT(plan.Nodes(), IsEmpty());
}

TEST(RowStepPlan, rows_that_would_fill_the_cache_make_none) {
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

TEST(RowStepPlan, nodes_of_other_steps_are_taken) {
  Step other;
  other.head = 1;
  other.nodes = {1, 2};
  const std::vector<Step> steps = Attention().Find({other});
  EXPECT_THAT(steps, SizeIs(1));
}

}  // namespace
}  // namespace deputy::row_steps_test
