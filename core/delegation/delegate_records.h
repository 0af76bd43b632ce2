// SPDX-License-Identifier: Apache-2.0
//
// The records of the delegates that a subgraph was offered, in the order of their first time. They
// follow the graph: whatever takes delegates' nodes away, or puts them back, has them revised.
//
// Applied delegates keep their records; of the others the newest kMaxOthers are remembered, so that
// trying delegates does not take memory for ever.
#ifndef DEPUTY_CORE_DELEGATION_DELEGATE_RECORDS_H_
#define DEPUTY_CORE_DELEGATION_DELEGATE_RECORDS_H_

#include <cstddef>
#include <vector>

#include "core/delegation/delegate_record.h"

namespace deputy {

class DelegateRecords {
 public:
  static constexpr int kMaxOthers = 16;

  explicit DelegateRecords(Subgraph* subgraph) : subgraph_(subgraph) {}

  const std::vector<DelegateRecord>& all() const { return records_; }

  // ---- While a delegate is applied --------------------------------------------------------------
  // A new record, in place of an older one of the same delegate.
  void Begin(TfLiteDelegate* delegate);
  // Writes down what came of it. Whether it is applied now; if not, the newest report is the
  // reason.
  void End(bool applied);
  // Ends it without a word, if End has not.
  void Abandon() { current_ = kNone; }
  // Null while no delegate is applied.
  DelegateRecord* current() { return current_ == kNone ? nullptr : &records_[current_]; }
  // The current delegate's answer about a node; null without one, and for nodes that came later.
  NodeAnswer* AnswerOf(int node_index);

  // ---- When nodes of delegates have come or gone ------------------------------------------------
  // Holds all records against the plan and the list of delegates. `why` is what is said of nodes
  // that are the CPU's again and of delegates that are gone. Without memory less is corrected.
  void Revise(const std::vector<TfLiteDelegate*>& applied, const char* why) noexcept;

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  void Forget(const TfLiteDelegate* delegate, const TfLiteDelegate* inner);

  Subgraph* const subgraph_;
  std::vector<DelegateRecord> records_;
  size_t current_ = kNone;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_DELEGATE_RECORDS_H_
