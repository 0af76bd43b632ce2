// SPDX-License-Identifier: Apache-2.0
#include "core/fusion/row_plan.h"

#include <algorithm>

namespace deputy {

RowPlan::RowPlan(std::span<const GroupNode> nodes, std::span<const PlanTensor> tensors,
                 std::span<const FusionGroup> groups)
    : nodes_(nodes),
      tensors_(tensors),
      producer_(ProducersOf(nodes, tensors.size())),
      last_consumer_(tensors.size(), -1),
      claimed_(nodes.size()) {
  for (const FusionGroup& group : groups) Take(group.nodes);
  for (size_t n = 0; n < nodes.size(); ++n) {
    for (int tensor : nodes[n].inputs) {
      if (tensor >= 0) last_consumer_[static_cast<size_t>(tensor)] = static_cast<int>(n);
    }
  }
}

bool RowPlan::IsFree(int node) const {
  const GroupNode& at = NodeAt(node);
  if (claimed_[static_cast<size_t>(node)] || at.offer == nullptr ||
      at.offer->by_rows.kernel == nullptr || at.inputs.empty() || at.inputs[0] < 0 ||
      at.outputs.size() != 1 || at.outputs[0] < 0) {
    return false;
  }
  const PlanTensor& output = TensorAt(at.outputs[0]);
  const auto can_be_read = [this](int tensor) { return tensor < 0 || !TensorAt(tensor).fixed; };
  return !output.fixed && !output.computed_once && output.elements > 0 &&
         std::all_of(at.inputs.begin(), at.inputs.end(), can_be_read);
}

void RowPlan::Take(std::span<const int> nodes) {
  for (int node : nodes) claimed_[static_cast<size_t>(node)] = true;
}

int64_t RowPlan::RowsOf(int tensor) const {
  const PlanTensor& value = TensorAt(tensor);
  return value.channels > 0 ? value.elements / value.channels : 0;
}

int64_t RowPlan::ColumnsOf(int tensor, int64_t rows) const {
  const int64_t elements = TensorAt(tensor).elements;
  return elements % rows == 0 ? elements / rows : 0;
}

}  // namespace deputy
