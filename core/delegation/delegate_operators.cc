// SPDX-License-Identifier: Apache-2.0
#include "core/delegation/delegate_operators.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace deputy {

TfLiteOperator* DelegateOperators::Describe(const TfLiteRegistration& registration,
                                            int node_index) {
  const auto key =
      std::make_tuple(registration.builtin_code, registration.custom_name, registration.version);
  auto entry = descriptions_.find(key);
  if (entry == descriptions_.end()) {
    // The operator is allocated before its entry in the map, so that no entry is null if the
    // allocation fails.
    auto made = std::make_unique<TfLiteOperator>();
    made->builtin_code = registration.builtin_code;
    made->custom_name = registration.custom_name;
    made->version = registration.version;
    made->node_index = node_index;
    entry = descriptions_.emplace(key, std::move(made)).first;
  }
  const std::unique_ptr<TfLiteOperator>& op = entry->second;
  // Nodes are removed from the end, so the lowest one exists longest.
  op->node_index = std::min(op->node_index, node_index);
  return op.get();
}

TfLiteOperator* DelegateOperators::Adopt(const TfLiteDelegate* delegate,
                                         std::unique_ptr<TfLiteOperator> op, int node_count) {
  Adopted& adopted = adopted_[{delegate, op->builtin_code, op->custom_name, op->version}];
  if (adopted.op == nullptr) adopted = {std::move(op), node_count};
  return adopted.op.get();
}

bool DelegateOperators::HasAdopted(const TfLiteDelegate* delegate, const TfLiteOperator* op) const {
  return std::any_of(adopted_.begin(), adopted_.end(), [&](const auto& entry) {
    return std::get<const TfLiteDelegate*>(entry.first) == delegate && entry.second.op.get() == op;
  });
}

void DelegateOperators::ForgetNodesFrom(int node_count) noexcept {
  std::erase_if(descriptions_,
                [&](const auto& entry) { return entry.second->node_index >= node_count; });
  std::erase_if(adopted_, [&](const auto& entry) { return entry.second.first_node >= node_count; });
}

}  // namespace deputy
