// SPDX-License-Identifier: Apache-2.0
#include "core/fusion/absorbed_transposes.h"

#include <algorithm>

#include "core/fusion/row_layout.h"

namespace deputy {
namespace {

bool IsViewOperator(const RowPlan& plan, int node) {
  return plan.IsTranspose(node) || plan.IsReshape(node);
}

// Returns the TRANSPOSEs and RESHAPEs that compute the tensor, last one first, as long as the
// product is the only consumer of their results.
std::vector<int> ChainBefore(const RowPlan& plan, int product, int tensor) {
  std::vector<int> chain;
  while (tensor >= 0 && plan.TensorAt(tensor).use_count == 1) {
    const int node = plan.ProducerOf(tensor);
    const bool is_near = node >= 0 && node <= product && product - node <= kMaxGroupSpan;
    if (!is_near || !plan.IsFree(node) || !IsViewOperator(plan, node)) break;
    chain.push_back(node);
    tensor = plan.InputOf(node);
  }
  return chain;
}

// Returns the layout of a chain's output in its input; the last node of the chain comes first.
std::optional<StridedShape> LayoutThrough(const RowPlan& plan, std::span<const int> chain) {
  const int from = plan.InputOf(chain.back());
  std::optional<StridedShape> layout = StridedShape::Dense(plan.TensorAt(from).dims);
  for (size_t i = chain.size(); layout && i-- > 0;) {
    const int node = chain[i];
    layout = plan.IsTranspose(node) ? layout->Transposed(plan.OfferOf(node).axes)
                                    : layout->Reshaped(plan.TensorAt(plan.OutputOf(node)).dims);
  }
  return layout;
}

// Absorbs as many nodes before the product as one set of strides can express.
StridedOperand OperandOf(const RowPlan& plan, int product, int tensor) {
  std::vector<int> chain = ChainBefore(plan, product, tensor);
  for (; !chain.empty(); chain.pop_back()) {
    if (!plan.IsTranspose(chain.back())) continue;
    const std::optional<StridedShape> layout = LayoutThrough(plan, chain);
    if (layout) return {{plan.InputOf(chain.back()), *layout}, chain};
  }
  return {};
}

}  // namespace

StridedOperands AbsorbTransposes(RowPlan* plan) {
  StridedOperands operands;
  for (int n = 0; n < plan->node_count(); ++n) {
    if (!plan->IsFree(n) || !plan->IsProduct(n)) continue;
    for (size_t i = 0; i < kMaxComputedInputs; ++i) {
      if ((plan->OfferOf(n).strided_inputs >> i & 1) == 0) continue;
      StridedOperand operand = OperandOf(*plan, n, plan->InputsOf(n)[i]);
      if (operand.nodes.empty()) continue;
      plan->Take(operand.nodes);
      operands[n][i] = std::move(operand);
    }
  }
  return operands;
}

int ProductThatScatters(const RowPlan& plan, std::span<const int> nodes) {
  const int last = nodes.back();
  if (!plan.IsTranspose(last)) return -1;
  int tensor = plan.InputOf(last);
  while (plan.TensorAt(tensor).use_count == 1) {
    const int node = plan.ProducerOf(tensor);
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) break;
    if (plan.IsProduct(node)) {
      return plan.OfferOf(node).scatters && ScatteredRows(plan, node, last) ? node : -1;
    }
    if (!plan.IsReshape(node)) break;
    tensor = plan.InputOf(node);
  }
  return -1;
}

std::optional<StridedShape> ScatteredRows(const RowPlan& plan, int product, int transpose) {
  const std::span<const int> dims = plan.TensorAt(plan.OutputOf(product)).dims;
  const std::optional<StridedShape> layout = ScatteredBy(plan, transpose).Reshaped(dims);
  if (dims.size() < 2 || !layout) return std::nullopt;
  const size_t last = dims.size() - 1;
  return dims[last] == 1 || layout->strides[last] == 1 ? layout : std::nullopt;
}

}  // namespace deputy
