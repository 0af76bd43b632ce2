// SPDX-License-Identifier: Apache-2.0
//
// Combines all observers of an interpreter's calls of foreign code into one.
#ifndef DEPUTY_CORE_EXEC_CALL_OBSERVERS_H_
#define DEPUTY_CORE_EXEC_CALL_OBSERVERS_H_

#include "core/exec/observer.h"
#include "core/exec/op_listener.h"

namespace deputy {

class CallObservers final : public CallObserver {
 public:
  ~CallObservers() = default;

  void SetObserver(Observer* observer) { observer_ = observer; }
  OpTimer* timer() { return &timer_; }

  bool needs_each_node() const { return timer_.needs_each_node(); }
  TileObserver* tile_observer() { return timer_.needs_tiles() ? &timer_ : nullptr; }
  // Returns this object, or null if it has no observer and no listener.
  CallObserver* active() { return observer_ != nullptr || timer_.has_listener() ? this : nullptr; }

  // The timer is called innermost, so that it measures the call without the other observer.
  void Begin(const ForeignCall& call) override {
    if (observer_ != nullptr) observer_->Begin(call);
    timer_.Begin(call);
  }
  void End(const ForeignCall& call, const CallResult& result) override {
    timer_.End(call, result);
    if (observer_ != nullptr) observer_->End(call, result);
  }

 private:
  Observer* observer_ = nullptr;
  OpTimer timer_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_CALL_OBSERVERS_H_
