// SPDX-License-Identifier: Apache-2.0
#include "core/fusion/row_candidate.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/fusion/absorbed_transposes.h"
#include "core/fusion/row_layout.h"

namespace deputy {
namespace {

// Minimum row length, in elements, of groups that begin with a TRANSPOSE or an element-wise node,
// so that the work outweighs a function call per row.
constexpr int64_t kMinColumns = 8;
// Maximum row length, in elements, for a gather of single elements.
constexpr int64_t kMaxGatheredColumns = 192;

// Grows a candidate from its first node, and keeps the longest prefix that can be a group.
class CandidateBuilder {
 public:
  CandidateBuilder(const RowPlan& plan, RowCandidate candidate, const StridedShape& layout,
                   SideProducts side_products)
      : plan_(plan),
        side_products_(side_products),
        nodes_(candidate.nodes),
        head_(candidate.head),
        transposes_(candidate.undoes_transpose && plan.IsTranspose(nodes_[0]) ? 1 : 0),
        longest_(std::move(candidate)) {
    AddValue(nodes_[0], layout);
    if (longest_.undoes_transpose) longest_.nodes.clear();
  }

  RowCandidate Run() {
    const int first = nodes_[0];
    const int end = std::min(plan_.node_count(), first + kMaxGroupSpan);
    for (int n = first + 1; n < end; ++n) {
      if (!plan_.IsFree(n)) continue;
      const std::optional<StridedShape> layout = LayoutAfter(plan_, n, longest_.rows, computed_);
      if (!layout) continue;
      if (const int product = SideProductOf(n); product >= 0) JoinSideProduct(product);
      Join(n, *layout);
      RecordIfComplete(*layout);
    }
    return std::move(longest_);
  }

 private:
  void AddValue(int node, const StridedShape& layout) {
    const int output = plan_.OutputOf(node);
    computed_[output] = {plan_.TensorAt(output).use_count, layout};
  }

  void Join(int node, const StridedShape& layout) {
    const bool product_leads = head_ >= 0 && plan_.IsProduct(head_);
    if (plan_.IsProduct(node) || (plan_.IsTranspose(node) && !product_leads)) {
      head_ = node;
    }
    for (int tensor : plan_.InputsOf(node)) {
      const auto value = computed_.find(tensor);
      if (value != computed_.end()) {
        --value->second.consumers_left;
      } else {
        RequireExternal(tensor);
      }
    }
    nodes_.push_back(node);
    AddValue(node, layout);
    transposes_ += plan_.IsTranspose(node) ? 1 : 0;
  }

  // Returns the side product to join for the node, one of whose two inputs the group computes; or
  // -1.
  int SideProductOf(int node) const {
    const std::span<const int> inputs = plan_.InputsOf(node);
    const bool may_have = side_products_ == SideProducts::kJoin && inputs.size() == 2 &&
                          plan_.OfferOf(node).kind == RowKind::kElementwise;
    for (size_t i = 0; i < inputs.size() && may_have; ++i) {
      const auto other = computed_.find(inputs[1 - i]);
      if (other == computed_.end() || !other->second.layout.IsDense()) continue;
      if (const int product = SideProductFor(node, i); product >= 0) return product;
    }
    return -1;
  }

  // Returns the product that computes the node's i-th input, with the rows of the group and no
  // other consumer; or -1.
  int SideProductFor(int node, size_t i) const {
    const int tensor = plan_.InputsOf(node)[i];
    const bool may_be_computed = (plan_.OfferOf(node).computed_inputs >> i & 1) != 0;
    if (tensor < 0 || computed_.count(tensor) != 0 || !may_be_computed) return -1;
    const int product = plan_.ProducerOf(tensor);
    const bool is_free = product > nodes_[0] && plan_.IsFree(product) && plan_.IsProduct(product) &&
                         !ReadsComputedValues(product);
    const PlanTensor &rows = plan_.TensorAt(tensor), &output = plan_.TensorAt(plan_.OutputOf(node));
    const bool has_group_rows = rows.use_count == 1 && rows.elements == output.elements &&
                                plan_.RowsOf(tensor) == longest_.rows;
    // A row of the side product and a row of the node's output must have at most kMaxRowBytes
    // together.
    const bool fits = 2 * rows.channels * int64_t{sizeof(float)} <= kMaxRowBytes;
    return is_free && has_group_rows && fits ? product : -1;
  }

  bool ReadsComputedValues(int node) const {
    const std::span<const int> inputs = plan_.InputsOf(node);
    return std::any_of(inputs.begin(), inputs.end(),
                       [this](int tensor) { return computed_.count(tensor) != 0; });
  }

  void JoinSideProduct(int product) {
    nodes_.push_back(product);
    AddValue(product, DenseLayout(plan_, plan_.OutputOf(product)));
    has_side_products_ = true;
    // A TRANSPOSE is the head only of a group without products.
    head_ = head_ >= 0 && plan_.IsProduct(head_) ? std::max(head_, product) : product;
  }

  void RequireExternal(int tensor) {
    if (tensor >= 0) last_external_ = std::max(last_external_, plan_.ProducerOf(tensor));
  }

  // Records the nodes so far if they can be a group: the group's output must have the layout of its
  // tensor, or a product must be able to store it so.
  void RecordIfComplete(const StridedShape& layout) {
    if (head_ < 0 || last_external_ >= head_ || !OnlyNewestIsRead()) return;
    int scatters = -1;
    if (longest_.undoes_transpose) {
      if (!layout.IsDense() || transposes_ < 2) return;
    } else if (!layout.IsDense()) {
      scatters = ProductThatScatters(plan_, nodes_);
      if (scatters < 0) return;
    }
    longest_.nodes = nodes_;
    longest_.head = head_;
    longest_.scatters = scatters;
    longest_.has_side_products = has_side_products_;
  }

  bool OnlyNewestIsRead() const {
    const int newest = plan_.OutputOf(nodes_.back());
    return std::all_of(computed_.begin(), computed_.end(), [newest](const auto& value) {
      return value.first == newest || value.second.consumers_left == 0;
    });
  }

  const RowPlan& plan_;
  const SideProducts side_products_;
  std::vector<int> nodes_;
  int head_;
  bool has_side_products_ = false;
  int transposes_;          // number of the candidate's TRANSPOSEs that leave elements in place
  int last_external_ = -1;  // position of the last external producer, which must precede the head
  ComputedValues computed_;
  RowCandidate longest_;
};

// Returns true if a TRANSPOSE's output can be gathered as `rows` rows: each row consists of whole
// axes, and its elements are contiguous in the input or few enough to be gathered one by one.
bool GathersRows(const RowPlan& plan, int transpose, int64_t rows) {
  const int output = plan.OutputOf(transpose);
  const int64_t columns = plan.TensorAt(output).elements / rows;
  if (DenseLayout(plan, output).AxesBeforeRows(columns) < 0) return false;
  const StridedShape strided = GatheredBy(plan, transpose);
  int last = strided.rank - 1;
  while (last >= 0 && strided.dims[last] == 1) --last;
  return last < 0 || strided.strides[last] == 1 || columns <= kMaxGatheredColumns;
}

// Follows RESHAPEs after a TRANSPOSE and returns the rows of the result if the TRANSPOSE can gather
// them; else 0.
int64_t RowsAfterTranspose(const RowPlan& plan, int transpose) {
  int tensor = plan.OutputOf(transpose);
  for (int hops = 0; hops < kMaxGroupSpan && plan.TensorAt(tensor).use_count == 1; ++hops) {
    const int reader = plan.LastConsumerOf(tensor);
    if (reader < 0 || !plan.IsFree(reader) || !plan.IsReshape(reader)) break;
    tensor = plan.OutputOf(reader);
  }
  const int64_t rows = plan.RowsOf(tensor);
  if (rows <= 0 || plan.TensorAt(tensor).channels < kMinColumns) return 0;
  return GathersRows(plan, transpose, rows) ? rows : 0;
}

// Returns the number of rows of a group that begins with the node; 0 if it cannot begin one.
int64_t RowsFrom(const RowPlan& plan, int node) {
  switch (plan.OfferOf(node).kind) {
    case RowKind::kRowReduce:
      return plan.TensorAt(plan.OutputOf(node)).elements;
    case RowKind::kTranspose:
      return RowsAfterTranspose(plan, node);
    case RowKind::kProduct:
      return plan.RowsOf(plan.OutputOf(node));
    default:
      return 0;
  }
}

}  // namespace

RowCandidate CandidateAroundTransposes(const RowPlan& plan, int first) {
  const bool transpose = plan.IsTranspose(first);
  const bool maps = plan.OfferOf(first).kind == RowKind::kElementwise && !plan.IsReshape(first);
  if (!transpose && !maps) return {};
  const int tensor = transpose ? plan.InputOf(first) : plan.OutputOf(first);
  const int64_t rows = plan.RowsOf(tensor);
  if (rows <= 0 || plan.TensorAt(tensor).channels < kMinColumns) return {};
  const StridedShape layout = transpose ? GatheredBy(plan, first) : DenseLayout(plan, tensor);
  if (transpose && layout.IsDense()) return {};
  RowCandidate candidate = {.rows = rows, .undoes_transpose = true, .nodes = {first}};
  if (transpose) candidate.head = first;
  return CandidateBuilder(plan, std::move(candidate), layout, SideProducts::kNone).Run();
}

RowCandidate CandidateAlone(const RowPlan& plan, int node) {
  const int64_t rows = RowsFrom(plan, node);
  if (rows <= 0) return {};
  const bool leads = plan.IsProduct(node) || plan.IsTranspose(node);
  return {.rows = rows, .nodes = {node}, .head = leads ? node : -1};
}

RowCandidate CandidateFromRows(const RowPlan& plan, int first, SideProducts side_products) {
  RowCandidate candidate = CandidateAlone(plan, first);
  if (candidate.nodes.empty()) return candidate;
  const StridedShape layout = DenseLayout(plan, plan.OutputOf(first));
  return CandidateBuilder(plan, std::move(candidate), layout, side_products).Run();
}

}  // namespace deputy
