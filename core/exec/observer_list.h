// SPDX-License-Identifier: Apache-2.0
//
// All observers of an interpreter as one.
#ifndef DEPUTY_CORE_EXEC_OBSERVER_LIST_H_
#define DEPUTY_CORE_EXEC_OBSERVER_LIST_H_

#include <memory>
#include <vector>

#include "core/exec/observer.h"

namespace deputy {

// Observers may be added and removed while they are notified.
class ObserverList final : public Observer, public TileObserver {
 public:
  // Adds an observer, which must outlive this object or be removed before. Strong exception
  // guarantee.
  void Add(Observer* observer);
  // Adds an observer that lives as long as the list.
  void AddOwned(std::unique_ptr<Observer> observer);
  // Removes an observer; has no effect if it is not in the list. A removed observer is not notified
  // of the end of a call that is in progress.
  void Remove(Observer* observer) noexcept;

  // Returns this list, or null if it is empty.
  ObserverList* active() { return observers_.empty() ? nullptr : this; }
  TileObserver* tile_observer() { return (needs() & kNeedsTiles) == 0 ? nullptr : this; }

  // ---- Observer --------------------------------------------------------------------------------
  uint32_t needs() const override;
  // Returns the largest number of guard bytes that an observer requires.
  size_t guard_bytes() const override;
  // Begin notifies the observers in the order in which they were added, End in the reverse order.
  void Begin(const ForeignCall& call) override;
  void End(const ForeignCall& call, const CallResult& result) override;
  void TilesDone(std::span<const TileWork> work) override;
  // Returns false if one of the observers considers the call invalid.
  bool EnterFunction(Subgraph* subgraph, const char* function) override;
  void ForbiddenFunction(Subgraph* subgraph, const char* function) override;
  void BeforeResize(Subgraph* subgraph, const TfLiteTensor* tensor,
                    const TfLiteIntArray* dims) override;
  void AfterResize(Subgraph* subgraph, const TfLiteTensor* tensor) override;
  void BeforeAddTensors(Subgraph* subgraph, int count) override;
  void AfterAddTensors(Subgraph* subgraph, int first) override;
  void CheckNodeIndex(Subgraph* subgraph, int node, const char* function) override;
  void CheckTensorIndex(Subgraph* subgraph, int tensor, const char* function) override;
  void CheckSubgraphIndex(Subgraph* subgraph, int index, const char* function) override;
  void BeforePreview(Subgraph* subgraph, const TfLiteIntArray* nodes) override;
  void BeforeReplace(Subgraph* subgraph, const TfLiteRegistration& registration,
                     const TfLiteIntArray* nodes, TfLiteDelegate* delegate) override;
  void AfterReplace(Subgraph* subgraph, TfLiteStatus status) override;
  void ReleasedTooOften(Subgraph* subgraph) override;
  void EnterInterpreter(const char* function) override;
  void NodeFreed(Subgraph* subgraph, int node, const TfLiteRegistration& registration,
                 const void* user_data) override;
  void HandleNotFreed(Subgraph* subgraph, int tensor) override;
  void HandleSet(const TfLiteDelegate* delegate, TfLiteBufferHandle handle) override;

 private:
  template <typename Function>
  void ForEach(const Function& function) const;

  std::vector<std::unique_ptr<Observer>> owned_;
  std::vector<Observer*> observers_;  // null: the observer was removed; the last entry is not null
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_OBSERVER_LIST_H_
