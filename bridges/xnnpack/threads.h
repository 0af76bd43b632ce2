// SPDX-License-Identifier: Apache-2.0
//
// The threads that XNNPACK works with. They do not exist in a forked child, where an inference
// would wait for them for ever, and so would their destruction.
#ifndef DEPUTY_BRIDGES_XNNPACK_THREADS_H_
#define DEPUTY_BRIDGES_XNNPACK_THREADS_H_

#include <pthreadpool.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>

namespace deputy::xnnpack {

class Threads {
 public:
  // `count` threads, from 1, the caller's among them.
  explicit Threads(size_t count) : pool_(count > 1 ? pthreadpool_create(count) : nullptr) {}
  ~Threads() {
    if (pool_ != nullptr && !AreLost()) pthreadpool_destroy(pool_);
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  // Null: the caller's thread alone.
  pthreadpool_t pool() const { return pool_; }
  bool AreLost() const { return pool_ != nullptr && getpid() != process_; }

 private:
  const pthreadpool_t pool_;
  const pid_t process_ = getpid();
};

}  // namespace deputy::xnnpack

#endif  // DEPUTY_BRIDGES_XNNPACK_THREADS_H_
