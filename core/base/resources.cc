// SPDX-License-Identifier: Apache-2.0
#include "core/base/resources.h"

#include <cstring>

namespace deputy {

int Resources::Id(const std::string& container, const std::string& name) {
  return ids_.try_emplace({container, name}, static_cast<int>(ids_.size())).first->second;
}

const Resources::Variable* Resources::FindVariable(int id) const {
  const auto found = variables_.find(id);
  return found == variables_.end() ? nullptr : found->second.get();
}

bool Resources::Assign(int id, TfLiteType type, std::span<const int> dims,
                       std::span<const char> value, const Limits& limits) {
  const auto found = variables_.find(id);
  const bool known = found != variables_.end();
  if (!known && variables_.size() >= static_cast<size_t>(limits.max_tensors)) return false;
  const size_t others = bytes_ - (known ? found->second->bytes : 0);
  size_t total;
  if (!AddSizes(others, value.size(), &total) || total > limits.max_block_bytes) return false;

  std::vector<int> new_dims(dims.begin(), dims.end());
  const bool in_place = known && found->second.use_count() == 1;
  const std::shared_ptr<Variable> variable =
      in_place ? found->second : std::make_shared<Variable>();
  if (!variable->data.Reserve(value.size(), 0, limits)) return false;
  variables_[id] = variable;
  variable->type = type;
  variable->dims.swap(new_dims);
  variable->bytes = value.size();
  if (!value.empty()) memcpy(variable->data.data(), value.data(), value.size());
  bytes_ = total;
  return true;
}

void Resources::Restore(Snapshot snapshot) {
  variables_ = std::move(snapshot);
  bytes_ = 0;
  for (const auto& [id, variable] : variables_) bytes_ += variable->bytes;
}

}  // namespace deputy
