// SPDX-License-Identifier: Apache-2.0
//
// Memory that the program can write and the delegate's process can only read. It contains tensors
// of the runtime, so that inputs of partitions need no copy.
#ifndef DEPUTY_BRIDGES_SANDBOX_SHARED_INPUTS_H_
#define DEPUTY_BRIDGES_SANDBOX_SHARED_INPUTS_H_

#include <cstdint>
#include <memory>

#include "bridges/sandbox/process.h"

namespace deputy::sandbox {

class SharedInputs {
 public:
  // Reserves addresses for at most `max_bytes`. Returns null if that fails, or if the kernel cannot
  // prevent writes of other processes (Linux before 5.1).
  static std::shared_ptr<SharedInputs> Create(int64_t max_bytes);
  ~SharedInputs();
  SharedInputs(const SharedInputs&) = delete;
  SharedInputs& operator=(const SharedInputs&) = delete;

  // Sets the final size. Returns false on failure; a second call fails.
  bool SetSize(int64_t bytes);
  int fd() const { return fd_.get(); }
  char* memory() const { return memory_; }

 private:
  SharedInputs(Fd fd, char* memory, int64_t max_bytes)
      : fd_(std::move(fd)), memory_(memory), max_bytes_(max_bytes) {}

  const Fd fd_;
  char* const memory_;
  const int64_t max_bytes_;
};

}  // namespace deputy::sandbox

#endif  // DEPUTY_BRIDGES_SANDBOX_SHARED_INPUTS_H_
