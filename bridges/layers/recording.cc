// SPDX-License-Identifier: Apache-2.0
#include "bridges/layers/recording.h"

#include <algorithm>

namespace deputy::layers {

Recording::Recording(record::Record record) : record_(std::move(record)) {
  for (const record::Call& call : record_.calls) {
    queues_[KeyOf(call.begin.function, call.begin.kernel, call.begin.tensor)].calls.push_back(
        &call);
  }
}

Recording::Key Recording::KeyOf(record::Function function, int32_t kernel, int32_t tensor) {
  return {function, kernel, function == record::Function::kResizeTensor ? tensor : -1};
}

const record::Call* Recording::Next(record::Function function, int32_t kernel, int32_t tensor) {
  const std::lock_guard lock(mutex_);
  const auto found = queues_.find(KeyOf(function, kernel, tensor));
  if (found == queues_.end()) return nullptr;
  Queue& queue = found->second;
  return queue.next < queue.calls.size() ? queue.calls[queue.next++] : nullptr;
}

const record::Call* Recording::NextOrLast(record::Function function, int32_t kernel,
                                          int32_t tensor) {
  const record::Call* const next = Next(function, kernel, tensor);
  if (next != nullptr) return next;
  const auto found = queues_.find(KeyOf(function, kernel, tensor));
  return found == queues_.end() ? nullptr : found->second.calls.back();
}

std::vector<const record::Call*> Recording::ReplacementsIn(
    const record::Call& delegate_prepare) const {
  std::vector<const record::Call*> replacements;
  const auto begin = static_cast<size_t>(&delegate_prepare - record_.calls.data());
  for (size_t i = begin + 1; i < record_.calls.size(); ++i) {
    const record::Function function = record_.calls[i].begin.function;
    if (function == record::Function::kDelegatePrepare) break;
    if (function == record::Function::kReplace) replacements.push_back(&record_.calls[i]);
  }
  return replacements;
}

std::vector<const record::Call*> Recording::Remaining() const {
  const std::lock_guard lock(mutex_);
  std::vector<const record::Call*> remaining;
  for (const auto& [key, queue] : queues_) {
    remaining.insert(remaining.end(), queue.calls.begin() + static_cast<ptrdiff_t>(queue.next),
                     queue.calls.end());
  }
  std::sort(remaining.begin(), remaining.end());  // the calls are in one array, in their order
  return remaining;
}

std::string Recording::EndText() const {
  if (record_.limit_reached) return "the record has reached the limit of its size";
  return record_.cut.empty() ? "the record ends" : "the record is cut";
}

}  // namespace deputy::layers
