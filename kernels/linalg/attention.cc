// SPDX-License-Identifier: Apache-2.0
#include "kernels/linalg/attention.h"

#include <algorithm>
#include <array>
#include <span>

#include "core/support/int_math.h"
#include "kernels/common/kernel.h"
#include "kernels/cpu/cpu.h"

namespace deputy {
namespace {

// Scores of a tile may have this size, so that they stay in the second-level cache.
constexpr size_t kMaxScoreBytes = 128 * 1024;
constexpr int kMaxLanes = 16;

// Returns true if the operation reads the output of the one before it as its only computed input.
bool Continues(const RowOp& op, const RowOp& before) {
  const bool reads_first = op.computed[0] == before.out && op.computed[1] < 0;
  const bool reads_second = op.computed[1] == before.out && op.computed[0] < 0;
  return before.out >= 0 && (reads_first || reads_second);
}

// Returns true if an operation from `next` on reads a value that an operation of [first, last)
// stores. Slots are reused, so that a later value of a slot does not count.
bool IsReadLater(std::span<const RowOp> ops, size_t first, size_t last, size_t next) {
  std::vector<int> slots;
  for (size_t i = first; i < last; ++i) slots.push_back(ops[i].out);
  for (size_t i = next; i < ops.size(); ++i) {
    for (int read : ops[i].computed) {
      if (read >= 0 && std::count(slots.begin(), slots.end(), read) > 0) return true;
    }
    slots.erase(std::remove(slots.begin(), slots.end(), ops[i].out), slots.end());
  }
  return false;
}

// Returns the strides with which rows of `output` read `input`, which is broadcast; none if their
// last dimensions differ or the rank is too large.
std::optional<StridedShape> RowsOfAddend(const TfLiteTensor* input, const TfLiteTensor* output) {
  const int rank = Rank(output), own = Rank(input);
  if (rank < 1 || rank > kMaxStridedRank || own < 1 || own > rank) return std::nullopt;
  int64_t stride = Dim(input, own - 1);
  if (stride != Dim(output, rank - 1)) return std::nullopt;
  StridedShape rows;
  rows.rank = rank - 1;
  for (int axis = rank - 2; axis >= 0; --axis) {
    const int at = axis - (rank - own), extent = at < 0 ? 1 : Dim(input, at);
    rows.dims[axis] = Dim(output, axis);
    rows.strides[axis] = extent == 1 ? 0 : stride;
    stride *= extent;
  }
  return rows;
}

int Padded(int count, int unit) { return RoundUp(count, unit); }

}  // namespace

std::optional<Attention> Attention::Find(TfLiteContext* context, Runtime* runtime,
                                         const RowProgram& program, int64_t rows_of_matrix) {
  const std::vector<RowOp>& ops = program.ops;
  Attention found;
  found.cpu_ = &CpuOf(context);
  const int lanes = found.lanes();
  if (lanes == 0 || lanes > kMaxLanes || RoundUp(rows_of_matrix, lanes) * 4 > rows_of_matrix * 5) {
    return {};
  }
  const auto softmax = std::find_if(ops.begin(), ops.end(), [](const RowOp& op) {
    return op.chain.empty() && op.kernel->softmax_beta != nullptr;
  });
  if (softmax == ops.begin() || ops.end() - softmax < 2) return {};
  size_t at = static_cast<size_t>(softmax - ops.begin());
  found.last_ = at + 1;
  for (size_t i = at; i <= found.last_; ++i) {
    if (!Continues(ops[i], ops[i - 1])) return {};
  }
  while (at > 0 && !ops[at - 1].is_product) {
    --at;
    if (at == 0 || !Continues(ops[at], ops[at - 1])) return {};
  }
  found.first_ = at - 1;
  found.scores_op_ = &ops[found.first_];
  found.out_op_ = &ops[found.last_];
  if (found.scores_op_->kernel->product == nullptr || found.out_op_->kernel->product == nullptr ||
      found.out_op_->computed[0] != softmax->out ||
      IsReadLater(ops, found.first_, found.last_, found.last_ + 1)) {
    return {};
  }
  for (auto op = ops.begin() + static_cast<ptrdiff_t>(at); op != softmax; ++op) {
    if (!found.AddStep(context, runtime, *op)) return {};
  }
  found.scores_node_ = runtime->group_node(found.scores_op_->node);
  found.out_node_ = runtime->group_node(found.out_op_->node);
  found.beta_ = softmax->kernel->softmax_beta(runtime->group_node(softmax->node));
  found.keys_ = found.scores_op_->out_columns;
  found.columns_ = found.out_op_->out_columns;
  ProductRows scores;
  GroupRows first = {.count = 1, .op = found.scores_op_};
  found.scores_op_->kernel->product(found.scores_node_, first, &scores);
  found.depth_ = scores.product->depth;
  const size_t score_bytes =
      static_cast<size_t>(found.keys_) * static_cast<size_t>(lanes) * sizeof(float);
  if (score_bytes > kMaxScoreBytes || found.keys_ < lanes) return {};
  return found;
}

int Attention::lanes() const {
  return cpu_->attention.multiply == nullptr ? 0 : cpu_->attention.lanes;
}

size_t Attention::floats() const {
  const int panel = cpu_->gemm_f32.columns;
  return static_cast<size_t>(lanes()) *
         static_cast<size_t>(depth_ + Padded(keys_, panel) + Padded(columns_, panel));
}

bool Attention::AddStep(TfLiteContext* context, Runtime* runtime, const RowOp& op) {
  Step step;
  for (const ChainedNode& chained : op.chain) {
    step.chain.push_back(
        chained.kernel->element(context, runtime->group_node(chained.node), chained));
  }
  if (step.chain.empty()) {
    if (op.kernel->element == nullptr) return false;
    TfLiteNode* const node = runtime->group_node(op.node);
    const ChainedNode alone = {
        .node = op.node, .kernel = op.kernel, .computed = op.computed[0] >= 0 ? 0 : 1};
    const ElementOp element = op.kernel->element(context, node, alone);
    const TfLiteTensor* const other =
        node->inputs->size == 2 ? Input(context, node, 1 - alone.computed) : nullptr;
    if (other == nullptr || ElementCount(other) == 1) {
      step.chain.push_back(element);
    } else {
      const auto rows = RowsOfAddend(other, Output(context, node, 0));
      if (element.kind != ElementOpKind::kAdd || !rows) return false;
      step.addend = Data<const float>(other);
      step.addend_rows = *rows;
      step.range = {element.low, element.high};
    }
  }
  steps_.push_back(std::move(step));
  return true;
}

void Attention::Add(const Step& step, int64_t row, int count, float* scores) const {
  if (!step.chain.empty()) {
    cpu_->vector.chain(scores, int64_t{keys_} * lanes(), step.chain.data(),
                       static_cast<int>(step.chain.size()), scores);
    return;
  }
  std::array<const float*, kMaxLanes> rows;
  for (int l = 0; l < lanes(); ++l) {
    rows[static_cast<size_t>(l)] =
        step.addend + step.addend_rows.OffsetOf(row + std::min(l, count - 1));
  }
  cpu_->attention.add({.rows = rows.data(),
                       .count = keys_,
                       .low = step.range.low,
                       .high = step.range.high,
                       .values = scores});
}

void Attention::Run(GroupRows queries, GroupRows out, float* memory) const {
  const auto lanes = static_cast<size_t>(this->lanes());
  float* const left = memory;
  float* const scores = left + lanes * static_cast<size_t>(depth_);
  float* const sums = scores + lanes * static_cast<size_t>(Padded(keys_, cpu_->gemm_f32.columns));
  const auto multiply = [&](const ProductRows& rows, const float* values, float* to) {
    const RowProduct& product = *rows.product;
    cpu_->attention.multiply({.panels = product.weights->Panel(rows.group, 0),
                              .panel_stride = product.weights->panel_stride(),
                              .panel_columns = cpu_->gemm_f32.columns,
                              .columns = product.columns,
                              .depth = product.depth,
                              .left = values,
                              .low = product.range.low,
                              .high = product.range.high,
                              .out = to});
  };
  while (queries.count > 0) {
    ProductRows first, last;
    scores_op_->kernel->product(scores_node_, queries, &first);
    out_op_->kernel->product(out_node_, out, &last);
    const int count = std::min({first.count, last.count, this->lanes()});
    for (size_t l = 0; l < lanes; ++l) {
      const size_t row = std::min(l, static_cast<size_t>(count - 1));
      for (size_t d = 0; d < static_cast<size_t>(depth_); ++d) {
        left[d * lanes + l] = first.left[row * static_cast<size_t>(depth_) + d];
      }
    }
    multiply(first, left, scores);
    for (const Step& step : steps_) Add(step, queries.first, count, scores);
    cpu_->attention.softmax(scores, keys_, beta_);
    multiply(last, scores, sums);
    for (int l = 0; l < count; ++l) {
      float* const to = last.out + l * last.out_step;
      for (int c = 0; c < columns_; ++c)
        to[c] = sums[static_cast<size_t>(c) * lanes + static_cast<size_t>(l)];
    }
    for (GroupRows* rows : {&queries, &out}) {
      rows->first += count;
      rows->count -= count;
    }
    if (queries.computed[0] != nullptr) queries.computed[0] += int64_t{count} * depth_;
    if (out_op_->scattered.rank == 0) out.out += int64_t{count} * columns_;
  }
}

}  // namespace deputy
