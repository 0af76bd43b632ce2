// SPDX-License-Identifier: Apache-2.0
#include "core/fusion/row_layout.h"

namespace deputy {
namespace {

bool Has(uint32_t bits, size_t i) { return (bits >> i & 1) != 0; }

// Returns true if the layout's axes are those of the tensor.
bool HasAxesOf(const PlanTensor& tensor, const StridedShape& layout) {
  return static_cast<size_t>(layout.rank) == tensor.dims.size();
}

// Returns the layout after a SLICE of the same columns of each row; a row is the one sliced axis.
std::optional<StridedShape> LayoutOfPart(const RowOffer& offer, int64_t columns, int out_columns,
                                         const StridedShape& layout) {
  if (layout.dims[offer.part_axis] != columns) return std::nullopt;
  return layout.WithRowSlice(offer.part_axis, out_columns);
}

// Returns true if rows of a dense input are the rows that the node needs for the same rows of its
// output.
bool ComputesRows(const RowPlan& plan, int node, size_t i, int64_t columns, int64_t out_columns) {
  const RowOffer& offer = plan.OfferOf(node);
  const PlanTensor& input = plan.TensorAt(plan.InputsOf(node)[i]);
  const PlanTensor& output = plan.TensorAt(plan.OutputOf(node));
  switch (offer.kind) {
    case RowKind::kElementwise:
      return Has(offer.computed_inputs, i) ||
             (Has(offer.row_values, i) && columns == 1 && out_columns == output.channels);
    case RowKind::kRowReduce:
      return Has(offer.computed_inputs, i) && columns == input.channels && out_columns == 1;
    default:
      return Has(offer.computed_inputs, i) && columns == input.channels &&
             out_columns == output.channels;
  }
}

// Returns the output's layout if the node can be computed from rows of its i-th input. The input
// must be dense, unless the node only moves elements.
std::optional<StridedShape> LayoutFromRows(const RowPlan& plan, int node, size_t i, int64_t rows,
                                           const StridedShape& layout) {
  const RowOffer& offer = plan.OfferOf(node);
  const int input = plan.InputsOf(node)[i], output = plan.OutputOf(node);
  const int64_t columns = plan.ColumnsOf(input, rows), out_columns = plan.ColumnsOf(output, rows);
  if (columns == 0 || out_columns == 0 || out_columns > INT32_MAX) return std::nullopt;
  if (offer.kind == RowKind::kTranspose || offer.kind == RowKind::kColumnSlice) {
    if (!Has(offer.computed_inputs, i) || !HasAxesOf(plan.TensorAt(input), layout)) {
      return std::nullopt;
    }
    return offer.kind == RowKind::kTranspose
               ? layout.Transposed(offer.axes)
               : LayoutOfPart(offer, columns, static_cast<int>(out_columns), layout);
  }
  if (!ComputesRows(plan, node, i, columns, out_columns)) return std::nullopt;
  return DenseLayout(plan, output);
}

// Returns the output's layout for an input that is not dense: the node must be element-wise, with
// all its inputs in the same layout or scalars.
std::optional<StridedShape> LayoutFromElements(const RowPlan& plan, int node,
                                               const StridedShape& layout,
                                               const ComputedValues& computed) {
  const RowOffer& offer = plan.OfferOf(node);
  if (offer.kind != RowKind::kElementwise) return std::nullopt;
  const std::span<const int> inputs = plan.InputsOf(node);
  for (size_t i = 0; i < inputs.size() && !plan.IsReshape(node); ++i) {
    const auto value = computed.find(inputs[i]);
    const bool fits = value != computed.end()
                          ? Has(offer.computed_inputs, i) && value->second.layout == layout
                          : inputs[i] < 0 || plan.TensorAt(inputs[i]).elements == 1;
    if (!fits) return std::nullopt;
  }
  return layout.Reshaped(plan.TensorAt(plan.OutputOf(node)).dims);
}

}  // namespace

StridedShape DenseLayout(const RowPlan& plan, int tensor) {
  return StridedShape::Dense(plan.TensorAt(tensor).dims).value_or(StridedShape());
}

StridedShape GatheredBy(const RowPlan& plan, int transpose) {
  return DenseLayout(plan, plan.InputOf(transpose)).Transposed(plan.OfferOf(transpose).axes);
}

StridedShape ScatteredBy(const RowPlan& plan, int transpose) {
  const StridedShape output = DenseLayout(plan, plan.OutputOf(transpose));
  int8_t inverse[kMaxStridedRank] = {};
  for (int axis = 0; axis < output.rank; ++axis) {
    inverse[plan.OfferOf(transpose).axes[axis]] = static_cast<int8_t>(axis);
  }
  return output.Transposed(inverse);
}

std::optional<StridedShape> LayoutAfter(const RowPlan& plan, int node, int64_t rows,
                                        const ComputedValues& computed) {
  const RowKind kind = plan.OfferOf(node).kind;
  const bool may_be_strided = kind == RowKind::kTranspose || kind == RowKind::kColumnSlice;
  const std::span<const int> inputs = plan.InputsOf(node);
  std::optional<StridedShape> result;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto value = computed.find(inputs[i]);
    if (value == computed.end()) continue;
    if (i >= kMaxComputedInputs) return std::nullopt;
    const StridedShape& layout = value->second.layout;
    result = layout.IsDense() || may_be_strided ? LayoutFromRows(plan, node, i, rows, layout)
                                                : LayoutFromElements(plan, node, layout, computed);
    if (!result) return std::nullopt;
  }
  return result;
}

}  // namespace deputy
