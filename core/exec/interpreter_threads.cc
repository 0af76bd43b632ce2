// SPDX-License-Identifier: Apache-2.0
#include "core/exec/interpreter_threads.h"

#include <algorithm>

#include "core/base/log.h"
#include "core/base/processors.h"

namespace deputy {

bool InterpreterThreads::SetCount(int count) {
  if (is_shared_ || count == count_) return false;
  count_ = count;
  const bool replaces = pool_ != nullptr;
  pool_.reset();
  trial_ = HelpTrial();
  return replaces;
}

ThreadPool& InterpreterThreads::pool(bool is_preparing) {
  if (pool_ == nullptr) {
    // The limit is not read for one thread: the files of control groups take 0.1 ms.
    const int limit = count_ > 1 ? MaxUsefulThreads() : 1;
    if (count_ > limit)
      Log(kDeputyLogInfo, "threads: expected at most %d, found %d; %d are used", limit, count_,
          limit);
    pool_ = std::make_shared<ThreadPool>(std::min(count_, limit));
  }
  if (single_ == nullptr) single_ = std::make_unique<ThreadPool>(1);
  return alone_ && !is_preparing ? *single_ : *pool_;
}

InterpreterThreads::TimedInference::TimedInference(InterpreterThreads* threads)
    : threads_(threads) {
  if (threads == nullptr || threads->pool_ == nullptr || threads->single_ == nullptr ||
      threads->pool_->threads() < 2 || threads->timed_) {
    threads_ = nullptr;
    return;
  }
  threads->timed_ = true;
  threads->alone_ = threads->trial_.alone();
  began_ = ThreadPool::SteadyClock();
}

InterpreterThreads::TimedInference::~TimedInference() {
  if (threads_ == nullptr) return;
  const HelpTrial::Time now = ThreadPool::SteadyClock();
  threads_->trial_.Ended(now, now - began_);
  threads_->alone_ = threads_->timed_ = false;
}

}  // namespace deputy
