// SPDX-License-Identifier: Apache-2.0
#include "core/async/run_queue.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/guard.h"

namespace deputy {
namespace {

// Queue whose callback is running on this thread; null: none.
thread_local const RunQueue* calling_queue = nullptr;

}  // namespace

RunSlot* RunQueue::SlotList::TakeFirst() {
  RunSlot* const first = slots_[0];
  std::move(slots_.begin() + 1, slots_.end(), slots_.begin());
  --count_;
  return first;
}

RunSlot* RunQueue::SlotList::Remove(const AsyncRun* run) {
  const auto end = slots_.begin() + static_cast<ptrdiff_t>(count_);
  const auto found = std::find_if(slots_.begin(), end,
                                  [run](const RunSlot* slot) { return slot->run.get() == run; });
  if (found == end) return nullptr;
  RunSlot* const slot = *found;
  std::move(found + 1, end, found);
  --count_;
  return slot;
}

RunQueue::RunQueue(Interpreter* interpreter, std::function<TfLiteStatus()> invoke)
    : interpreter_(interpreter), invoke_(std::move(invoke)), gate_(interpreter->run_gate()) {
  for (RunSlot& slot : slots_) free_.Add(&slot);
}

void RunQueue::Start() {
  threads_[0] = std::thread([this] { CopyInputs(); });
  threads_[1] = std::thread([this] { Compute(); });
  threads_[2] = std::thread([this] { CopyOutputs(); });
  for (size_t i = 0; i < threads_.size(); ++i) thread_ids_[i] = threads_[i].get_id();
  interpreter_->EnableCancellation();
}

bool RunQueue::IsInCallback() const {
  return calling_queue == this || std::find(thread_ids_.begin(), thread_ids_.end(),
                                            std::this_thread::get_id()) != thread_ids_.end();
}

// ---- Submission ---------------------------------------------------------------------------------

// Adapts the slots to the present shapes. Called while no run is in flight.
TfLiteStatus RunQueue::FitSlots(AsyncRun* run) {
  Subgraph& subgraph = interpreter_->primary();
  if (interpreter_->is_running()) {
    return run->Fail(kTfLiteError, "expected an interpreter that does not run");
  }
  if (!subgraph.ready()) {
    return run->Fail(kTfLiteError, "expected an interpreter with allocated tensors");
  }
  tensors_ = std::make_unique<SlotTensors>(&subgraph);
  for (RunSlot& slot : slots_) {
    if (!slot.Fit(*tensors_, interpreter_->limits())) {
      return run->Fail(kTfLiteError, "out of memory for %zu copies of inputs and outputs", kSlots);
    }
  }
  return kTfLiteOk;
}

TfLiteStatus RunQueue::CheckSizes(AsyncRun* run) const {
  const auto expect = [run](const char* what, size_t expected, size_t found) {
    return expected == found
               ? kTfLiteOk
               : run->Fail(kTfLiteError, "expected %zu %s, found %zu", expected, what, found);
  };
  if (run->request.copy_in == nullptr) {
    TF_LITE_ENSURE_STATUS(expect("inputs", tensors_->inputs.size(), run->inputs.size()));
  }
  if (run->request.copy_out == nullptr) {
    TF_LITE_ENSURE_STATUS(expect("outputs", tensors_->outputs.size(), run->outputs.size()));
  }
  for (size_t i = 0; i < run->inputs.size(); ++i) {
    const DeputyRunInput& input = run->inputs[i];
    const size_t bytes = tensors_->inputs[i].has_size ? tensors_->inputs[i].bytes : input.size;
    if (input.size == bytes && (input.data != nullptr || bytes == 0)) continue;
    return run->Fail(kTfLiteError, "input %zu: expected %zu bytes, found %zu at %p", i, bytes,
                     input.size, input.data);
  }
  for (size_t i = 0; i < run->outputs.size(); ++i) {
    const DeputyRunOutput& output = run->outputs[i];
    const SlotTensor& tensor = tensors_->outputs[i];
    if (output.data == nullptr || !tensor.has_size || output.size == tensor.bytes) continue;
    return run->Fail(kTfLiteError, "output %zu: expected %zu bytes, found %zu", i, tensor.bytes,
                     output.size);
  }
  return kTfLiteOk;
}

TfLiteStatus RunQueue::Submit(const Run& run) {
  const Lock lock(mutex_);
  if (stopping_) {
    return run->Fail(kTfLiteError, "expected an interpreter that is not being deleted");
  }
  const int in_flight = gate_->runs();
  if (in_flight >= kDeputyMaxRuns) {
    return run->Fail(kTfLiteError, "expected fewer than %d runs in flight", kDeputyMaxRuns);
  }
  if (in_flight == 0) TF_LITE_ENSURE_STATUS(FitSlots(run.get()));
  TF_LITE_ENSURE_STATUS(CheckSizes(run.get()));
  waiting_.push_back(run);
  gate_->Begin();
  changed_.notify_all();
  return kTfLiteOk;
}

// ---- Stages -------------------------------------------------------------------------------------

void RunQueue::CopyInputs() {
  Lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || (!waiting_.empty() && !free_.empty()); });
    if (stopping_) break;
    RunSlot* const slot = free_.TakeFirst();
    slot->run = std::move(waiting_.front());
    waiting_.pop_front();
    AsyncRun* const run = slot->run.get();
    run->stage = RunStage::kCopyingIn;
    lock.unlock();
    const TfLiteStatus status = slot->CopyIn(*tensors_);
    lock.lock();
    if (status != kTfLiteOk || run->cancelled || stopping_) {
      End(&lock, Release(slot), status != kTfLiteOk ? status : kTfLiteCancelled);
      continue;
    }
    run->stage = RunStage::kReady;
    ready_.Add(slot);
    changed_.notify_all();
  }
  copied_all_ = true;
  changed_.notify_all();
}

void RunQueue::Compute() {
  gate_->Own();
  Lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return copied_all_ || !ready_.empty(); });
    if (ready_.empty()) break;
    RunSlot* const slot = ready_.TakeFirst();
    if (stopping_) {
      End(&lock, Release(slot), kTfLiteCancelled);
      continue;
    }
    slot->run->stage = RunStage::kComputing;
    interpreter_->Arm();
    lock.unlock();
    const TfLiteStatus status = slot->Compute(*tensors_, &interpreter_->primary(), invoke_);
    lock.lock();
    if (status != kTfLiteOk && status != kTfLiteDelegateError) {
      End(&lock, Release(slot), status);
      continue;
    }
    slot->run->stage = RunStage::kCopyingOut;
    slot->run->status = status;
    computed_.Add(slot);
    changed_.notify_all();
  }
  computed_all_ = true;
  changed_.notify_all();
}

void RunQueue::CopyOutputs() {
  Lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return computed_all_ || !computed_.empty(); });
    if (computed_.empty()) break;
    RunSlot* const slot = computed_.TakeFirst();
    lock.unlock();
    const TfLiteStatus copied = slot->CopyOut(*tensors_);
    lock.lock();
    const TfLiteStatus computed = slot->run->status;
    End(&lock, Release(slot), copied != kTfLiteOk ? copied : computed);
  }
}

RunQueue::Run RunQueue::Release(RunSlot* slot) {
  free_.Add(slot);
  changed_.notify_all();
  return std::move(slot->run);
}

void RunQueue::End(Lock* lock, const Run& run, TfLiteStatus status) {
  run->stage = RunStage::kEnding;
  run->status = status;
  if (status != kTfLiteOk && run->error[0] == '\0') {
    run->Fail(status, status == kTfLiteCancelled ? "cancelled" : "failed");
  }
  if (run->request.done != nullptr) {
    lock->unlock();
    const RunQueue* const outer = std::exchange(calling_queue, this);
    Guard(Ignore, [&] { run->request.done(run->request.user_data, status); });
    calling_queue = outer;
    lock->lock();
  }
  gate_->End();
  run->stage = RunStage::kEnded;
  run->events.Signal();
  run->ended.notify_all();
  changed_.notify_all();
}

// ---- Clients ------------------------------------------------------------------------------------

bool RunQueue::Wait(AsyncRun* run, int64_t timeout_us, TfLiteStatus* status) {
  using std::chrono::steady_clock;
  // A longer time would overflow the clock; 100 years.
  constexpr int64_t kLongest = int64_t{100} * 365 * 24 * 3600 * 1'000'000;
  Lock lock(mutex_);
  const auto has_ended = [run] { return run->stage == RunStage::kEnded; };
  if (IsInCallback()) timeout_us = 0;
  if (timeout_us < 0) {
    run->ended.wait(lock, has_ended);
  } else {
    const auto limit = std::chrono::microseconds(std::min(timeout_us, kLongest));
    if (!run->ended.wait_until(lock, steady_clock::now() + limit, has_ended)) return false;
  }
  if (status != nullptr) *status = run->status;
  return true;
}

bool RunQueue::Cancel(AsyncRun* run) {
  Lock lock(mutex_);
  switch (run->stage) {
    case RunStage::kWaiting: {
      const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                      [run](const Run& other) { return other.get() == run; });
      const Run removed = std::move(*found);
      waiting_.erase(found);
      End(&lock, removed, kTfLiteCancelled);
      return true;
    }
    case RunStage::kReady:
      End(&lock, Release(ready_.Remove(run)), kTfLiteCancelled);
      return true;
    case RunStage::kCopyingIn:
      run->cancelled = true;
      return true;
    case RunStage::kComputing:
      interpreter_->Cancel();
      return true;
    default:
      return false;
  }
}

void RunQueue::Shutdown() {
  Lock lock(mutex_);
  stopping_ = true;
  while (!waiting_.empty()) {
    const Run run = std::move(waiting_.front());
    waiting_.pop_front();
    End(&lock, run, kTfLiteCancelled);
  }
  if (threads_[0].joinable()) interpreter_->Cancel();
  changed_.notify_all();
  lock.unlock();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
  // A run may be ending on the thread that has cancelled it.
  lock.lock();
  changed_.wait(lock, [this] { return gate_->runs() == 0; });
}

}  // namespace deputy
