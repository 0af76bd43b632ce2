// SPDX-License-Identifier: Apache-2.0
#include "core/delegation/delegate_records.h"

#include <algorithm>
#include <utility>

#include "core/exec/interpreter_state.h"
#include "core/exec/subgraph.h"
#include "core/plugin/plugin_delegate.h"

namespace deputy {

void DelegateRecords::Begin(TfLiteDelegate* delegate) {
  DelegateRecord record;
  record.delegate = delegate;
  record.inner = InnerDelegate(delegate);
  record.name = DelegateName(delegate);
  record.nodes.resize(static_cast<size_t>(subgraph_->node_count()));
  Forget(delegate, record.inner);
  const auto known = std::find_if(records_.begin(), records_.end(),
                                  [&](const auto& other) { return other.delegate == delegate; });
  current_ = static_cast<size_t>(known - records_.begin());
  if (known == records_.end()) {
    records_.push_back(std::move(record));
  } else {
    *known = std::move(record);
  }
}

// Drops records that can no longer be told from the delegate's, since theirs was deleted and its
// address is in use again, and the oldest of those that are too many.
void DelegateRecords::Forget(const TfLiteDelegate* delegate, const TfLiteDelegate* inner) {
  std::erase_if(records_, [&](const DelegateRecord& other) {
    const bool same_address =
        other.delegate == inner || other.inner == delegate || other.inner == inner;
    return !other.applied && other.delegate != delegate && same_address;
  });
  const auto not_applied = [](const DelegateRecord& record) { return !record.applied; };
  auto others = std::count_if(records_.begin(), records_.end(), not_applied);
  for (; others >= kMaxOthers; --others) {
    records_.erase(std::find_if(records_.begin(), records_.end(), not_applied));
  }
}

void DelegateRecords::End(bool applied) {
  DelegateRecord& record = records_[std::exchange(current_, kNone)];
  record.applied = applied;
  if (!applied) record.failure = subgraph_->interpreter()->reporter()->last_error();
  Conclude(subgraph_, &record);
}

NodeAnswer* DelegateRecords::AnswerOf(int node_index) {
  if (current_ == kNone || node_index < 0) return nullptr;
  std::vector<NodeAnswer>& answers = records_[current_].nodes;
  const size_t index = static_cast<size_t>(node_index);
  return index < answers.size() ? &answers[index] : nullptr;
}

void DelegateRecords::Revise(const std::vector<TfLiteDelegate*>& applied, const char* why) noexcept
    try {
  const size_t node_count = static_cast<size_t>(subgraph_->node_count());
  for (DelegateRecord& record : records_) {
    if (record.nodes.size() > node_count) record.nodes.resize(node_count);
    const std::vector<bool> runs = NodesRunBy(subgraph_, record);
    for (size_t i = 0; i < record.nodes.size(); ++i) {
      NodeAnswer& answer = record.nodes[i];
      if (answer.taken == runs[i]) continue;
      answer.taken = runs[i];
      answer.reason = answer.taken ? kDeputyReasonNone : kDeputyReasonRemoved;
      answer.text = answer.taken ? "" : why;
    }
    const bool gone = std::find(applied.begin(), applied.end(), record.delegate) == applied.end();
    if (!record.applied || !gone) continue;
    record.applied = false;
    record.failure = why;
  }
} catch (...) {
  // Reports are not worth failing for.
}

}  // namespace deputy
