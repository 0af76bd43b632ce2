// SPDX-License-Identifier: Apache-2.0
//
// The delegates that a subgraph was offered: their properties, collected once when they are
// offered; which are applied, in which order; and the state of each node. The records follow the
// graph: code that removes or restores delegate nodes must call Revise.
//
// Applied delegates stay in the list; of the others the newest kMaxOthers are remembered, so that
// memory is bounded.
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
  // Collects the delegate's properties.
  explicit AppliedDelegate(TfLiteDelegate* delegate);

  bool Is(const TfLiteDelegate* other) const { return other == handle || other == inner; }
  bool Has(TfLiteDelegateFlags flag) const { return (flags & flag) != 0; }

  // The three pointers may be dangling unless the delegate is applied.
  TfLiteDelegate* handle;  // pointer that the client passed
  TfLiteDelegate* inner;   // pointer by which nodes and tensors refer to the delegate
  // Builder of the inner delegate; null: that delegate is plain.
  const TfLiteOpaqueDelegateBuilder* builder;
  int64_t flags;  // bits of TfLiteDelegateFlags
  // Name of the delegate's plug-in or library, or of a NoOpDelegate, else of its nodes; "" before
  // the delegate has nodes.
  std::string name;
  std::shared_ptr<const PluginLibrary> library;  // library that created the delegate; null: none
  bool computes_in_nchw;                         // the plug-in has kDeputyPluginNchw
  // True if the delegate's plug-in reports events of nodes; set to false if it returns invalid
  // ones.
  mutable bool reports_events;
  DelegateRecord record;
};

class AppliedDelegates {
 public:
  static constexpr int kMaxOthers = 16;
  // Delegates of the list, in the order of application; one may occur twice.
  using Order = std::vector<AppliedDelegate*>;

  explicit AppliedDelegates(const Graph* graph) : graph_(graph) {}

  // Returns all delegates, in the order of their first offer.
  const std::list<AppliedDelegate>& all() const { return all_; }
  // Finds a delegate by either of its pointers; null if it is unknown.
  const AppliedDelegate* Find(const TfLiteDelegate* delegate) const;

  const Order& applied() const { return applied_; }
  std::vector<TfLiteDelegate*> applied_handles() const;
  bool IsApplied(const AppliedDelegate& delegate) const;
  // Delegates that are no longer applied stay in the list, with their records.
  void SetApplied(Order applied) noexcept { applied_ = std::move(applied); }
  void ClearApplied() noexcept { applied_.clear(); }

  // ---- While a delegate is applied --------------------------------------------------------------
  // RAII guard: a delegate is being applied. It gets a new record, which replaces its previous one.
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

  // Returns the delegate that is being applied; null if there is none.
  AppliedDelegate* current() const { return current_; }
  // Marks the current delegate as applied, after the others. Memory was reserved when the delegate
  // was offered.
  void AddCurrent() { applied_.push_back(current_); }
  // Completes the record of the current delegate; `failure` is the reason if it is not applied.
  void ConcludeCurrent(const char* failure);
  // Returns the current delegate's record of a node; null without a current delegate and for nodes
  // that were added later.
  NodeSupport* SupportOf(int node_index);

  // ---- After delegate nodes were added or removed -----------------------------------------------
  // Updates all records to the plan and the applied delegates. `why` is the reason for nodes that
  // run on the CPU again and for delegates that were removed. If out of memory, records may stay
  // outdated.
  void Revise(const char* why) noexcept;

 private:
  AppliedDelegate* Offer(TfLiteDelegate* handle);
  bool CanDrop(const AppliedDelegate& delegate) const;
  void DropOldRecords(const AppliedDelegate& offered);

  const Graph* const graph_;
  std::list<AppliedDelegate> all_;
  Order applied_;
  AppliedDelegate* current_ = nullptr;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_APPLIED_DELEGATES_H_
