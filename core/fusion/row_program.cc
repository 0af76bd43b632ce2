// SPDX-License-Identifier: Apache-2.0
#include "core/fusion/row_program.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/fusion/row_layout.h"

namespace deputy {
namespace {

// Allocator for the slots of a block. A slot holds rows of one width only: rows of a value may be
// written while a value of another width is still read from the same slot.
class Slots {
 public:
  int Take(int columns) {
    size_t slot = 0;
    while (slot < used_.size() && (used_[slot] || columns_[slot] != columns)) ++slot;
    if (slot == used_.size()) {
      used_.push_back(false);
      columns_.push_back(columns);
    }
    used_[slot] = true;
    return static_cast<int>(slot);
  }
  void Free(std::span<const int> slots) {
    for (int slot : slots) used_[static_cast<size_t>(slot)] = false;
  }
  const std::vector<int>& columns() const { return columns_; }

 private:
  std::vector<bool> used_;
  std::vector<int> columns_;
};

class Builder {
 public:
  Builder(const RowPlan& plan, const RowCandidate& candidate, const StridedOperands& operands)
      : plan_(plan), candidate_(candidate), operands_(operands) {}

  RowProgram Build() {
    const std::vector<int>& nodes = candidate_.nodes;
    const auto computes = [this](int node) { return !IsNoOp(node); };
    const int last = *std::find_if(nodes.rbegin(), nodes.rend(), computes);
    for (size_t i = 0; i < nodes.size();) {
      const std::vector<ChainedNode> chain = ChainFrom(i);
      if (chain.size() > 1) {
        AddChain(chain, chain.back().node == last);
      } else if (IsNoOp(nodes[i])) {
        AddAlias(nodes[i]);
      } else {
        AddOp(nodes[i], nodes[i] == last);
      }
      i += std::max<size_t>(chain.size(), 1);
    }
    // The last computing node writes the output; if its value has a slot instead, there is no
    // program.
    const size_t output = value_of_.at(plan_.OutputOf(nodes.back()));
    if (values_[output].slot >= 0) return {};
    program_.rows = candidate_.rows;
    program_.slot_columns = slots_.columns();
    return std::move(program_);
  }

 private:
  // A value that the group computes, shared by all tensors that have the same rows.
  struct Value {
    int slot = -1;  // slot of the value's rows; -1: they are the group's output
    int columns = 0;
    int consumers_left = 0;
  };

  // Returns true for nodes that compute nothing: RESHAPEs, and TRANSPOSEs except one at the begin
  // of the group, which gathers.
  bool IsNoOp(int node) const {
    return plan_.IsTranspose(node) ? node != candidate_.nodes.front() : plan_.IsReshape(node);
  }

  void AddAlias(int node) {
    const int output = plan_.OutputOf(node);
    const size_t value = value_of_.at(plan_.InputOf(node));
    values_[value].consumers_left += plan_.TensorAt(output).use_count - 1;
    value_of_[output] = value;
  }

  void AddOp(int node, bool is_last) {
    const int output = plan_.OutputOf(node);
    RowOp op = {
        .node = node, .kernel = plan_.OfferOf(node).kernel, .is_product = plan_.IsProduct(node)};
    op.part_begin = plan_.OfferOf(node).part_begin;
    op.out_columns = static_cast<int>(plan_.ColumnsOf(output, candidate_.rows));
    DescribeStrides(&op);
    const std::vector<int> freed = ReadValues(&op);
    // The output may reuse an input's slot, unless the node is a product.
    if (!op.is_product) slots_.Free(freed);
    if (!is_last) op.out = slots_.Take(op.out_columns);
    if (op.is_product) slots_.Free(freed);
    value_of_[output] = values_.size();
    values_.push_back({op.out, op.out_columns, plan_.TensorAt(output).use_count});
    program_.ops.push_back(op);
  }

  // ---- Chains ----------------------------------------------------------------------------------

  // Returns the chain of element-wise nodes from the candidate's i-th node on. It begins with a
  // value of the group.
  std::vector<ChainedNode> ChainFrom(size_t i) const {
    std::vector<ChainedNode> chain;
    const std::vector<int>& nodes = candidate_.nodes;
    int first = -1, newest = -1;
    for (; i < nodes.size() && chain.size() < size_t{kMaxChainedOps}; ++i) {
      if (chain.empty()) first = newest = FirstComputedInputOf(nodes[i]);
      const std::optional<ChainedNode> next = NextInChain(nodes[i], first, newest);
      if (!next) break;
      chain.push_back(*next);
      newest = plan_.OutputOf(nodes[i]);
      if (plan_.TensorAt(newest).use_count != 1) break;
    }
    return chain;
  }

  int FirstComputedInputOf(int node) const {
    for (int tensor : plan_.InputsOf(node)) {
      if (value_of_.count(tensor) != 0) return tensor;
    }
    return -1;
  }

  // Returns the node as a link of the chain, if it is element-wise over `newest`, the result of the
  // node before it.
  std::optional<ChainedNode> NextInChain(int node, int first, int newest) const {
    const std::span<const int> inputs = plan_.InputsOf(node);
    const RowOffer& offer = plan_.OfferOf(node);
    if (newest < 0 || offer.kind != RowKind::kElementwise || offer.kernel->element == nullptr ||
        inputs.size() > 2) {
      return std::nullopt;
    }
    const int computed = inputs[0] == newest ? 0 : 1;
    const auto has_elements = [&](int tensor) {
      return plan_.TensorAt(tensor).elements == plan_.TensorAt(plan_.OutputOf(node)).elements;
    };
    if (computed >= static_cast<int>(inputs.size()) ||
        inputs[static_cast<size_t>(computed)] != newest || !has_elements(newest)) {
      return std::nullopt;
    }
    ChainedNode chained = {.node = node, .kernel = offer.kernel, .computed = computed};
    if (inputs.size() == 1) return chained;
    const int other = inputs[static_cast<size_t>(1 - computed)];
    chained.uses_first = other == first;
    const bool is_number =
        other >= 0 && value_of_.count(other) == 0 && plan_.TensorAt(other).elements == 1;
    return chained.uses_first || is_number ? std::optional(chained) : std::nullopt;
  }

  void AddChain(const std::vector<ChainedNode>& chain, bool is_last) {
    const int first = plan_.InputsOf(chain[0].node)[static_cast<size_t>(chain[0].computed)];
    const int output = plan_.OutputOf(chain.back().node);
    Value& value = values_[value_of_.at(first)];
    RowOp op = {.node = chain.back().node, .kernel = plan_.OfferOf(chain.back().node).kernel};
    op.computed[0] = value.slot;
    op.computed_columns[0] = value.columns;
    op.out_columns = value.columns;
    op.chain = chain;
    --value.consumers_left;
    for (const ChainedNode& chained : chain) value.consumers_left -= chained.uses_first ? 1 : 0;
    if (value.consumers_left == 0) slots_.Free(std::array{value.slot});
    if (!is_last) op.out = slots_.Take(op.out_columns);
    value_of_[output] = values_.size();
    values_.push_back({op.out, op.out_columns, plan_.TensorAt(output).use_count});
    program_.ops.push_back(std::move(op));
  }

  // Sets the slots from which the operation reads its inputs. Returns the slots that are free after
  // the operation.
  std::vector<int> ReadValues(RowOp* op) {
    std::vector<int> freed;
    const std::span<const int> inputs = plan_.InputsOf(op->node);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto computed = value_of_.find(inputs[i]);
      if (computed == value_of_.end()) continue;
      Value& value = values_[computed->second];
      op->computed[i] = value.slot;
      op->computed_columns[i] = value.columns;
      if (--value.consumers_left == 0) freed.push_back(value.slot);
    }
    return freed;
  }

  // Sets the strides by which the operation replaces TRANSPOSEs.
  void DescribeStrides(RowOp* op) const {
    const int node = op->node;
    const auto operands = operands_.find(node);
    for (size_t i = 0; operands != operands_.end() && i < kMaxComputedInputs; ++i) {
      op->strided[i] = operands->second[i].input;
    }
    if (node == candidate_.scatters) {
      op->scattered = *ScatteredRows(plan_, node, candidate_.nodes.back());
    }
    if (!plan_.IsTranspose(node)) return;
    const int input = plan_.InputOf(node);
    op->strided[0] = {
        input, candidate_.undoes_transpose ? DenseLayout(plan_, input) : GatheredBy(plan_, node)};
  }

  const RowPlan& plan_;
  const RowCandidate& candidate_;
  const StridedOperands& operands_;
  RowProgram program_;
  Slots slots_;
  std::vector<Value> values_;
  std::map<int, size_t> value_of_;  // by tensor: index of its value
};

}  // namespace

RowProgram ProgramOf(const RowPlan& plan, const RowCandidate& candidate,
                     const StridedOperands& operands) {
  return Builder(plan, candidate, operands).Build();
}

int64_t RowBytes(const RowProgram& program) {
  int64_t bytes = 0;
  for (int columns : program.slot_columns) bytes += int64_t{columns} * int64_t{sizeof(float)};
  return bytes;
}

}  // namespace deputy
