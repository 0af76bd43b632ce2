// SPDX-License-Identifier: Apache-2.0
#include "core/exec/observer_list.h"

#include <algorithm>

namespace deputy {

void ObserverList::Add(Observer* observer) { observers_.push_back(observer); }

void ObserverList::AddOwned(std::unique_ptr<Observer> observer) {
  owned_.push_back(std::move(observer));
  Add(owned_.back().get());
}

// Removes an observer. Entries after its entry keep their indices, since a notification may be in
// progress.
void ObserverList::Remove(Observer* observer) noexcept {
  std::replace(observers_.begin(), observers_.end(), observer, static_cast<Observer*>(nullptr));
  while (!observers_.empty() && observers_.back() == nullptr) observers_.pop_back();
}

// Calls the function for each observer, by index, since the function may add an observer.
template <typename Function>
void ObserverList::ForEach(const Function& function) const {
  for (size_t i = 0; i < observers_.size(); ++i) {
    if (observers_[i] != nullptr) function(observers_[i]);
  }
}

uint32_t ObserverList::needs() const {
  uint32_t needs = kNeedsNothing;
  ForEach([&](const Observer* observer) { needs |= observer->needs(); });
  return needs;
}

size_t ObserverList::guard_bytes() const {
  size_t bytes = 0;
  ForEach([&](const Observer* observer) { bytes = std::max(bytes, observer->guard_bytes()); });
  return bytes;
}

void ObserverList::Begin(const ForeignCall& call) {
  ForEach([&](Observer* observer) { observer->Begin(call); });
}

void ObserverList::End(const ForeignCall& call, const CallResult& result) {
  for (size_t i = observers_.size(); i-- > 0;) {
    if (i < observers_.size() && observers_[i] != nullptr) observers_[i]->End(call, result);
  }
}

void ObserverList::TilesDone(std::span<const TileWork> work) {
  ForEach([&](Observer* observer) {
    if ((observer->needs() & kNeedsTiles) != 0) observer->TilesDone(work);
  });
}

bool ObserverList::EnterFunction(Subgraph* subgraph, const char* function) {
  bool valid = true;
  ForEach(
      [&](Observer* observer) { valid = observer->EnterFunction(subgraph, function) && valid; });
  return valid;
}

void ObserverList::ForbiddenFunction(Subgraph* subgraph, const char* function) {
  ForEach([&](Observer* observer) { observer->ForbiddenFunction(subgraph, function); });
}

void ObserverList::BeforeResize(Subgraph* subgraph, const TfLiteTensor* tensor,
                                const TfLiteIntArray* dims) {
  ForEach([&](Observer* observer) { observer->BeforeResize(subgraph, tensor, dims); });
}

void ObserverList::AfterResize(Subgraph* subgraph, const TfLiteTensor* tensor) {
  ForEach([&](Observer* observer) { observer->AfterResize(subgraph, tensor); });
}

void ObserverList::BeforeAddTensors(Subgraph* subgraph, int count) {
  ForEach([&](Observer* observer) { observer->BeforeAddTensors(subgraph, count); });
}

void ObserverList::AfterAddTensors(Subgraph* subgraph, int first) {
  ForEach([&](Observer* observer) { observer->AfterAddTensors(subgraph, first); });
}

void ObserverList::CheckNodeIndex(Subgraph* subgraph, int node, const char* function) {
  ForEach([&](Observer* observer) { observer->CheckNodeIndex(subgraph, node, function); });
}

void ObserverList::CheckTensorIndex(Subgraph* subgraph, int tensor, const char* function) {
  ForEach([&](Observer* observer) { observer->CheckTensorIndex(subgraph, tensor, function); });
}

void ObserverList::CheckSubgraphIndex(Subgraph* subgraph, int index, const char* function) {
  ForEach([&](Observer* observer) { observer->CheckSubgraphIndex(subgraph, index, function); });
}

void ObserverList::BeforePreview(Subgraph* subgraph, const TfLiteIntArray* nodes) {
  ForEach([&](Observer* observer) { observer->BeforePreview(subgraph, nodes); });
}

void ObserverList::BeforeReplace(Subgraph* subgraph, const TfLiteRegistration& registration,
                                 const TfLiteIntArray* nodes, TfLiteDelegate* delegate) {
  ForEach([&](Observer* observer) {
    observer->BeforeReplace(subgraph, registration, nodes, delegate);
  });
}

void ObserverList::AfterReplace(Subgraph* subgraph, TfLiteStatus status) {
  ForEach([&](Observer* observer) { observer->AfterReplace(subgraph, status); });
}

void ObserverList::ReleasedTooOften(Subgraph* subgraph) {
  ForEach([&](Observer* observer) { observer->ReleasedTooOften(subgraph); });
}

void ObserverList::EnterInterpreter(const char* function) {
  ForEach([&](Observer* observer) { observer->EnterInterpreter(function); });
}

void ObserverList::NodeFreed(Subgraph* subgraph, int node, const TfLiteRegistration& registration,
                             const void* user_data) {
  ForEach(
      [&](Observer* observer) { observer->NodeFreed(subgraph, node, registration, user_data); });
}

void ObserverList::HandleNotFreed(Subgraph* subgraph, int tensor) {
  ForEach([&](Observer* observer) { observer->HandleNotFreed(subgraph, tensor); });
}

void ObserverList::HandleSet(const TfLiteDelegate* delegate, TfLiteBufferHandle handle) {
  ForEach([&](Observer* observer) { observer->HandleSet(delegate, handle); });
}

}  // namespace deputy
