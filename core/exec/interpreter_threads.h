// SPDX-License-Identifier: Apache-2.0
//
// The thread pool of an interpreter, its own or one that several interpreters share, and the
// decision whether an inference uses its workers.
#ifndef DEPUTY_CORE_EXEC_INTERPRETER_THREADS_H_
#define DEPUTY_CORE_EXEC_INTERPRETER_THREADS_H_

#include <memory>

#include "core/base/help_trial.h"
#include "core/base/thread_pool.h"

namespace deputy {

class InterpreterThreads {
 public:
  // Uses the given pool; if it is null, the first use creates one.
  explicit InterpreterThreads(std::shared_ptr<ThreadPool> pool)
      : is_shared_(pool != nullptr), pool_(std::move(pool)) {}

  // Sets the number of threads of the interpreter's own pool, which has at most as many as there
  // are fast processors (processors.h) for the thread that creates it; has no effect on a shared
  // one. Must not be called during an inference. Returns true if a pool that was in use is
  // replaced: nodes must be prepared again.
  bool SetCount(int count);

  // Returns the pool of all threads; during a timed inference perhaps a pool without workers, if
  // the workers cost more than they save. `is_preparing` excludes that: prepare announces memory
  // for all threads, whichever pool later runs the nodes.
  ThreadPool& pool(bool is_preparing);
  // Returns the pool of all threads, to share it with another interpreter.
  std::shared_ptr<ThreadPool> shared_pool() {
    pool(true);
    return pool_;
  }

  // RAII guard: measures an inference, to decide whether the pool's workers make it faster. Has no
  // effect within another one, before the first use of the pool (also after SetCount), and with a
  // pool of one thread.
  class TimedInference {
   public:
    // Begins the measurement of an inference. `threads` may be null: the inference is then not
    // measured and uses all threads.
    explicit TimedInference(InterpreterThreads* threads);
    ~TimedInference();
    TimedInference(const TimedInference&) = delete;
    TimedInference& operator=(const TimedInference&) = delete;

   private:
    InterpreterThreads* threads_;  // null: the inference is not measured
    HelpTrial::Time began_{0};
  };

 private:
  int count_ = 1;
  const bool is_shared_;
  std::shared_ptr<ThreadPool> pool_;
  std::unique_ptr<ThreadPool> single_;  // pool without workers, created by the first call of pool()
  HelpTrial trial_;
  // True while an inference is measured, and while it runs without workers.
  bool timed_ = false, alone_ = false;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_INTERPRETER_THREADS_H_
