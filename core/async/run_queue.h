// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous inferences of one interpreter. Three threads are the stages of a pipeline: inputs
// are copied to a slot, the slot is computed, its outputs are copied out. Each stage takes the runs
// in the order of their submission, one at a time.
//
// One mutex protects the runs and the lists of slots; it is not locked while anything is copied,
// computed, reported or called back. Another thread may use the interpreter only if no run is in
// flight (RunGate).
#ifndef DEPUTY_CORE_ASYNC_RUN_QUEUE_H_
#define DEPUTY_CORE_ASYNC_RUN_QUEUE_H_

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "core/async/async_run.h"
#include "core/async/run_slot.h"
#include "core/exec/interpreter.h"

namespace deputy {

// Functions are thread-safe and throw nothing unless they say so. The queue may outlive the
// interpreter once Shutdown has returned.
class RunQueue {
 public:
  // `invoke` runs the interpreter's first subgraph, as InvokeArmed.
  RunQueue(Interpreter* interpreter, std::function<TfLiteStatus()> invoke);
  ~RunQueue() { Shutdown(); }
  RunQueue(const RunQueue&) = delete;
  RunQueue& operator=(const RunQueue&) = delete;

  // Starts the threads. Called once, by the creating thread. Throws system_error.
  void Start();
  // Adds a run. Returns an error if it cannot be started; run->error has the reason. May throw
  // bad_alloc.
  TfLiteStatus Submit(const std::shared_ptr<AsyncRun>& run);
  // Returns true if the run will end early, unless its computation completes nevertheless.
  bool Cancel(AsyncRun* run);
  // Waits for the end of a run for `timeout_us` microseconds, without limit if it is negative; does
  // not wait in a callback. Returns true and sets `status`, unless it is null, if the run has
  // ended.
  bool Wait(AsyncRun* run, int64_t timeout_us, TfLiteStatus* status);
  // Calls use(run->events) under the mutex.
  template <typename Use>
  auto WithEvents(AsyncRun* run, const Use& use) {
    const std::lock_guard lock(mutex_);
    return use(&run->events);
  }
  bool HasEnded(const AsyncRun& run) {
    const std::lock_guard lock(mutex_);
    return run.stage == RunStage::kEnded;
  }

  // Returns true if a callback of a run, or of a node that is computed, is running on this thread.
  bool IsInCallback() const;
  // Cancels all runs and waits for their end and that of the threads. Must not be called in a
  // callback.
  void Shutdown();

 private:
  // One slot for each stage.
  static constexpr size_t kSlots = 3;
  using Lock = std::unique_lock<std::mutex>;
  using Run = std::shared_ptr<AsyncRun>;

  // First-in-first-out list of slots.
  class SlotList {
   public:
    bool empty() const { return count_ == 0; }
    void Add(RunSlot* slot) { slots_[count_++] = slot; }
    RunSlot* TakeFirst();
    // Returns the slot of the run after its removal; null if there is none.
    RunSlot* Remove(const AsyncRun* run);

   private:
    std::array<RunSlot*, kSlots> slots_{};
    size_t count_ = 0;
  };

  TfLiteStatus FitSlots(AsyncRun* run);
  TfLiteStatus CheckSizes(AsyncRun* run) const;
  void CopyInputs();
  void Compute();
  void CopyOutputs();
  // Returns the run of a slot that becomes free.
  Run Release(RunSlot* slot);
  // Calls the run's callback without the lock, then makes its end visible.
  void End(Lock* lock, const Run& run, TfLiteStatus status);

  Interpreter* const interpreter_;
  const std::function<TfLiteStatus()> invoke_;
  const std::shared_ptr<RunGate> gate_;
  std::mutex mutex_;
  std::condition_variable changed_;  // signals changes of the following members
  std::deque<Run> waiting_;
  SlotList free_, ready_, computed_;
  bool stopping_ = false;
  bool copied_all_ = false, computed_all_ = false;  // the threads of these stages have ended
  std::unique_ptr<SlotTensors> tensors_;            // changes only while no run is in flight
  std::array<RunSlot, kSlots> slots_;
  std::array<std::thread, 3> threads_;
  std::array<std::thread::id, 3> thread_ids_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_ASYNC_RUN_QUEUE_H_
