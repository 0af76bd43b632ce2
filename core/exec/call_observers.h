// SPDX-License-Identifier: Apache-2.0
//
// All observers of an interpreter's calls of foreign code, as one observer.
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

  bool wants_each_node() const { return timer_.wants_each_node(); }
  TileObserver* tile_observer() { return timer_.wants_tiles() ? &timer_ : nullptr; }
  // Itself, or null while there is no observer.
  CallObserver* active() { return observer_ != nullptr || timer_.has_listener() ? this : nullptr; }

  // The timer is the innermost: it measures the call and no other observer.
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
