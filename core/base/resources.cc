// SPDX-License-Identifier: Apache-2.0
#include "core/base/resources.h"

#include <cstring>

namespace deputy {

int Resources::Id(const std::string& container, const std::string& name) {
  return ids_.try_emplace({container, name}, static_cast<int>(ids_.size())).first->second;
}

const Resources::Variable* Resources::FindVariable(int id) const {
  const auto found = state_.variables.find(id);
  return found == state_.variables.end() ? nullptr : found->second.get();
}

bool Resources::Assign(int id, TfLiteType type, std::span<const int> dims,
                       std::span<const char> value, const Limits& limits) {
  const auto found = state_.variables.find(id);
  const bool known = found != state_.variables.end();
  if (!known && state_.variables.size() >= static_cast<size_t>(limits.max_tensors)) return false;
  const size_t others = bytes_ - (known ? found->second->bytes : 0);
  size_t total;
  if (!AddSizes(others, value.size(), &total) || total > limits.max_block_bytes) return false;

  std::vector<int> new_dims(dims.begin(), dims.end());
  const bool in_place = known && found->second.use_count() == 1;
  const std::shared_ptr<Variable> variable =
      in_place ? found->second : std::make_shared<Variable>();
  if (!variable->data.Reserve(value.size(), 0, limits)) return false;
  state_.variables[id] = variable;
  variable->type = type;
  variable->dims.swap(new_dims);
  variable->bytes = value.size();
  if (!value.empty()) memcpy(variable->data.data(), value.data(), value.size());
  bytes_ = total;
  return true;
}

const Resources::Table* Resources::FindTable(int id) const {
  const auto found = state_.tables.find(id);
  return found == state_.tables.end() ? nullptr : found->second.get();
}

bool Resources::CreateTable(int id, TfLiteType key_type, TfLiteType value_type,
                            const Limits& limits) {
  if (state_.tables.contains(id)) return true;
  if (state_.tables.size() >= static_cast<size_t>(limits.max_tensors)) return false;
  Table table;
  table.key_type = key_type;
  table.value_type = value_type;
  state_.tables[id] = std::make_shared<const Table>(std::move(table));
  return true;
}

bool Resources::FillTable(int id, Table filled, const Limits& limits) {
  const Table* old = FindTable(id);
  const size_t others = bytes_ - (old == nullptr ? 0 : old->bytes);
  size_t total;
  if (!AddSizes(others, filled.bytes, &total) || total > limits.max_block_bytes) return false;
  state_.tables[id] = std::make_shared<const Table>(std::move(filled));
  bytes_ = total;
  return true;
}

void Resources::Restore(Snapshot snapshot) {
  state_ = std::move(snapshot);
  bytes_ = 0;
  for (const auto& [id, variable] : state_.variables) bytes_ += variable->bytes;
  for (const auto& [id, table] : state_.tables) bytes_ += table->bytes;
}

}  // namespace deputy
