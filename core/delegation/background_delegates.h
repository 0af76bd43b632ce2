// SPDX-License-Identifier: Apache-2.0
//
// Delegates that are prepared on another thread while the CPU runs the model.
//
// The delegates are applied to a second interpreter of the model, which shares its constants and
// packed weights. The client's interpreter keeps its graph, its tensors and its CPU plan: no
// pointer that the client has becomes invalid, and a failure of the delegate leaves it unchanged.
// When the second interpreter is ready, inferences of the client's run there. Its inputs, outputs
// and variables then have the memory of the client's tensors, as custom allocations, so that
// nothing is copied and state is continued.
//
// One such plan belongs to one set of input shapes. A bounded number of plans is kept, and shapes
// that could not be prepared are remembered. Everything but the preparation itself happens on the
// client's thread.
#ifndef DEPUTY_CORE_DELEGATION_BACKGROUND_DELEGATES_H_
#define DEPUTY_CORE_DELEGATION_BACKGROUND_DELEGATES_H_

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "core/delegation/background_preparation.h"
#include "core/exec/background_plans.h"
#include "core/exec/interpreter.h"

namespace deputy {

class BackgroundDelegates final : public BackgroundPlans {
 public:
  enum class State { kWaiting, kPreparing, kReady, kActive, kFailed, kTimedOut };

  struct Settings {
    std::vector<TfLiteDelegate*> delegates;
    size_t max_plans = 1;                     // upper bound on plans that are kept
    std::chrono::milliseconds time_limit{0};  // of one preparation; 0: none
  };

  struct Statistics {
    int64_t preparations = 0;                 // number of preparations that were begun
    int64_t cpu_inferences = 0;               // inferences that the client's own plan has run
    int64_t delegate_inferences = 0;          // inferences that other plans have run
    int64_t first_inference = 0;              // index of the first of the latter; 0: none
    std::chrono::nanoseconds prepared_in{0};  // duration of the newest preparation that has ended
  };

  // Begins the preparation if `owner` is allocated. `owner` must outlive this object, the delegates
  // must, too.
  BackgroundDelegates(Interpreter* owner, Settings settings, BackgroundTask::MakeInterpreter make);
  // Waits for a preparation in progress, except after its time limit.
  ~BackgroundDelegates() override;

  // Returns the reason why delegates cannot be applied to this interpreter in the background; ""
  // if they can.
  static std::string RefusalOf(Interpreter* interpreter);

  // Waits until no preparation for the present shapes is in progress, and selects its plan. Returns
  // false if that takes longer than `timeout`; negative: no limit.
  bool Wait(std::chrono::milliseconds timeout);
  State state() const;
  // Returns the reason why the CPU runs the model; "" unless the state is kFailed or kTimedOut.
  const char* failure() const;
  const Statistics& statistics() const { return statistics_; }
  size_t plan_count() const;

  // ---- BackgroundPlans -------------------------------------------------------------------------
  void Update() noexcept override;
  Interpreter* Select(const Subgraph& subgraph) override;
  Interpreter* current() const override {
    return current_ == nullptr ? nullptr : current_->plan.interpreter.get();
  }
  void PrepareAgain() noexcept override;
  void AddOpListener(OpListener* listener) override;
  void RemoveOpListener(OpListener* listener) noexcept override;

 private:
  struct TensorIndex {
    int subgraph, tensor;
  };
  struct Variant {
    std::vector<RootShapes> shapes;
    BackgroundPlan plan;
    std::vector<TensorIndex> shared;  // tensors with the memory of the client's
  };

  bool Collect();
  void TakeResult();
  void Adopt(BackgroundPlan* plan);
  void SelectVariant();
  void BeginIfNeeded();
  void ReportFailure(const std::string& text);
  std::vector<RootShapes> PresentShapes() const;
  std::string ShareTensors(Variant* variant) const;
  std::string ShareTensor(const TensorIndex& index, Variant* variant) const;
  bool PointTensors(Variant* variant) const;
  // Removes the least recently used plans, or failures if `failed`, beyond `count`.
  void Trim(size_t count, bool failed);

  Interpreter* const owner_;
  const Settings settings_;
  const BackgroundTask::MakeInterpreter make_;
  std::shared_ptr<BackgroundPreparation> preparation_;  // null: none is in progress
  std::list<Variant> variants_;                         // least recently used first
  Variant* current_ = nullptr;  // the plan for the present shapes; null: there is none
  std::string failure_;         // reason of the newest failure for the present shapes
  // Text of a preparation that exceeded its time limit, after which none is begun; "": none did.
  std::string time_out_;
  bool outdated_ = false;  // the preparation in progress must be discarded
  Statistics statistics_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_BACKGROUND_DELEGATES_H_
