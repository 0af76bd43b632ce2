// SPDX-License-Identifier: Apache-2.0
//
// The threads that XNNPACK uses. They do not exist in a forked child, where an inference or the
// pool's destruction would wait for them forever.
#ifndef DEPUTY_BRIDGES_XNNPACK_THREADS_H_
#define DEPUTY_BRIDGES_XNNPACK_THREADS_H_

#include <pthreadpool.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>

namespace deputy::xnnpack {

class Threads {
 public:
  // Creates a pool of `count` threads, at least 1, including the calling thread.
  explicit Threads(size_t count) : pool_(count > 1 ? pthreadpool_create(count) : nullptr) {}
  ~Threads() {
    if (pool_ != nullptr && !IsForkedChild()) pthreadpool_destroy(pool_);
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  // Returns the pool; null if only the calling thread is used.
  pthreadpool_t pool() const { return pool_; }
  bool IsForkedChild() const { return pool_ != nullptr && getpid() != process_; }

 private:
  const pthreadpool_t pool_;
  const pid_t process_ = getpid();
};

}  // namespace deputy::xnnpack

#endif  // DEPUTY_BRIDGES_XNNPACK_THREADS_H_
