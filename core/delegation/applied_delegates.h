// SPDX-License-Identifier: Apache-2.0
//
// The delegates that a subgraph was offered: what there is to know of each, found out once, when it
// is offered; which of them are applied, in which order; and what became of each node. The records
// follow the graph: whatever removes delegates' nodes, or puts them back, has them revised.
//
// Applied delegates stay in the list; of the others the newest kMaxOthers are remembered, so that
// trying delegates does not take memory for ever.
#ifndef DEPUTY_CORE_DELEGATION_APPLIED_DELEGATES_H_
#define DEPUTY_CORE_DELEGATION_APPLIED_DELEGATES_H_

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "c_api/include/common.h"
#include "core/delegation/delegate_record.h"

namespace deputy {

class Graph;
class PluginLibrary;

struct AppliedDelegate {
  // Looks at the delegate, once for all.
  explicit AppliedDelegate(TfLiteDelegate* delegate);

  bool Is(const TfLiteDelegate* other) const { return other == handle || other == inner; }
  bool Has(TfLiteDelegateFlags flag) const { return (flags & flag) != 0; }

  // What is pointed at may be deleted by now, unless the delegate is applied.
  TfLiteDelegate* handle;                      // as the client knows it
  TfLiteDelegate* inner;                       // as its nodes and tensors carry it
  const TfLiteOpaqueDelegateBuilder* builder;  // of the inner one; null: it is plain
  int64_t flags;                               // TfLiteDelegateFlags
  std::string name;  // its plug-in's or library's; else its nodes', "" before it has any
  std::shared_ptr<const PluginLibrary> library;  // null: it comes from none
  // False once the delegate has returned wrong events.
  mutable bool reports_events;
  DelegateRecord record;
};

class AppliedDelegates {
 public:
  static constexpr int kMaxOthers = 16;
  // Delegates of the list, in the order of their application; one may be applied twice.
  using Order = std::vector<AppliedDelegate*>;

  explicit AppliedDelegates(const Graph* graph) : graph_(graph) {}

  // In the order of their first time.
  const std::list<AppliedDelegate>& all() const { return all_; }
  // By either of its pointers; null when it is unknown.
  const AppliedDelegate* Find(const TfLiteDelegate* delegate) const;

  const Order& applied() const { return applied_; }
  std::vector<TfLiteDelegate*> applied_handles() const;
  bool IsApplied(const AppliedDelegate& delegate) const;
  // The delegates stay in the list, with their records.
  void SetApplied(Order applied) noexcept { applied_ = std::move(applied); }
  void ClearApplied() noexcept { applied_.clear(); }

  // ---- While a delegate is applied --------------------------------------------------------------
  // RAII guard: a delegate is being applied. It gets a new record, in place of an older one of its
  // own.
  class Application {
   public:
    Application(AppliedDelegates* delegates, TfLiteDelegate* handle)
        : delegates_(delegates), outer_(delegates->current_) {
      delegates_->current_ = delegates_->Offer(handle);
    }
    ~Application() { delegates_->current_ = outer_; }
    Application(const Application&) = delete;
    Application& operator=(const Application&) = delete;

   private:
    AppliedDelegates* const delegates_;
    AppliedDelegate* const outer_;
  };

  // Null while no delegate is being applied.
  AppliedDelegate* current() const { return current_; }
  // It is applied from now on, behind the others. There is room: this does not throw.
  void AddCurrent() { applied_.push_back(current_); }
  // Notes what came of it, `failure` if it is not applied.
  void ConcludeCurrent(const char* failure);
  // The current delegate's record of a node; null without a current delegate and for later nodes.
  NodeSupport* SupportOf(int node_index);

  // ---- When nodes of delegates have come or gone ------------------------------------------------
  // Compares all records with the plan and with what is applied. `why` is what is said of nodes
  // that are the CPU's again and of delegates that are gone. Without memory less is corrected.
  void Revise(const char* why) noexcept;

 private:
  AppliedDelegate* Offer(TfLiteDelegate* handle);
  bool MayForget(const AppliedDelegate& delegate) const;
  void ForgetOthers(const AppliedDelegate& offered);

  const Graph* const graph_;
  std::list<AppliedDelegate> all_;
  Order applied_;
  AppliedDelegate* current_ = nullptr;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_APPLIED_DELEGATES_H_
