// SPDX-License-Identifier: Apache-2.0
//
// Work on numbered items by several threads, whose results are used in the order of the items.
#ifndef DEPUTY_TOOLS_ORDERED_WORK_H_
#define DEPUTY_TOOLS_ORDERED_WORK_H_

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace deputy::tools {

template <typename Result>
class OrderedWork {
 public:
  // Work on the items [begin, end) by `workers` threads, at least 1. At most kPerWorker results per
  // worker wait for their use, so that memory is bounded.
  OrderedWork(size_t begin, size_t end, size_t workers)
      : next_(begin), used_(begin), end_(end), workers_(workers), results_(kPerWorker * workers) {}

  // Calls run(worker, item) for each item on the worker's thread, and use(item, result) on the
  // calling thread in the order of the items. An exception of run() is thrown in the place of its
  // result; after an exception, the remaining items are skipped. With one worker, all calls are on
  // the calling thread.
  template <typename Run, typename Use>
  void Execute(const Run& run, const Use& use) {
    if (workers_ == 1) {
      for (size_t item = next_; item < end_; ++item) use(item, run(size_t{0}, item));
      return;
    }
    const Threads threads(this);
    for (size_t worker = 0; worker < workers_; ++worker) {
      threads.list.emplace_back([this, worker, &run] { Work(worker, run); });
    }
    for (size_t item = used_; item < end_; ++item) use(item, Take(item));
  }

 private:
  static constexpr size_t kPerWorker = 4;

  struct Outcome {
    std::optional<Result> result;
    std::exception_ptr failure;
    bool is_ready = false;
  };

  // RAII guard: stops and joins the threads.
  struct Threads {
    explicit Threads(OrderedWork* owner) : work(owner) {}
    ~Threads() {
      {
        const std::lock_guard lock(work->mutex_);
        work->is_stopped_ = true;
      }
      work->changed_.notify_all();
      for (std::thread& thread : list) thread.join();
    }
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;
    OrderedWork* const work;
    mutable std::vector<std::thread> list;
  };

  template <typename Run>
  void Work(size_t worker, const Run& run) {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(
          lock, [&] { return is_stopped_ || next_ >= end_ || next_ < used_ + results_.size(); });
      if (is_stopped_ || next_ >= end_) return;
      const size_t item = next_++;
      lock.unlock();
      Outcome outcome;
      try {
        outcome.result = run(worker, item);
      } catch (...) {
        outcome.failure = std::current_exception();
      }
      outcome.is_ready = true;
      lock.lock();
      results_[item % results_.size()] = std::move(outcome);
      changed_.notify_all();
    }
  }

  // Waits for the result of the item, which must be the first one that was not used.
  Result Take(size_t item) {
    std::unique_lock lock(mutex_);
    Outcome& slot = results_[item % results_.size()];
    changed_.wait(lock, [&] { return slot.is_ready; });
    Outcome outcome = std::move(slot);
    slot = Outcome();
    used_ = item + 1;
    lock.unlock();
    changed_.notify_all();
    if (outcome.failure != nullptr) std::rethrow_exception(outcome.failure);
    return std::move(*outcome.result);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  size_t next_;  // first item that no worker has begun
  size_t used_;  // first item whose result was not used
  const size_t end_, workers_;
  bool is_stopped_ = false;
  std::vector<Outcome> results_;  // outcomes of the items from used_ on, by item modulo the size
};

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_ORDERED_WORK_H_
