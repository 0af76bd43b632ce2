// SPDX-License-Identifier: Apache-2.0
//
// A child process that runs a delegate, with the descriptors of messages.h.
#ifndef DEPUTY_BRIDGES_SANDBOX_PROCESS_H_
#define DEPUTY_BRIDGES_SANDBOX_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <string>

#include "bridges/sandbox/messages.h"
#include "bridges/sandbox/wire.h"

namespace deputy::sandbox {

// A file descriptor that is closed by the destructor. -1: none.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  ~Fd();
  Fd(Fd&& other) noexcept : fd_(other.Release()) {}
  Fd& operator=(Fd&& other) noexcept;
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release();

 private:
  int fd_;
};

// Result of a wait for the process.
enum class CallEnd { kReply, kEnded, kDeadline };

class Process {
 public:
  // Starts `program` with the files of the model and of the shared inputs (-1: none), which the
  // caller may close after the call. Returns null and the reason in `*problem` on failure.
  static std::unique_ptr<Process> Start(const std::string& program, int model_fd, int inputs_fd,
                                        std::string* problem);
  // Kills the process and waits for its end.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Exchange messages. On failure `*problem` has the reason.
  bool Send(std::string_view message, Clock::time_point deadline, std::string* problem);
  bool Receive(Clock::time_point deadline, std::string* out_message, std::string* problem);

  // Sets the size of the shared memory, maps it and forbids other sizes.
  bool MapMemory(int64_t bytes, std::string* problem);
  char* memory() const { return memory_; }

  // Announces a call, and waits for its reply.
  bool SignalRequest();
  CallEnd WaitForReply(Clock::time_point deadline);

  // Kills the process and returns how it ended: "signal 11 (Segmentation fault)", "exit status 0".
  // An end before the call is reported as such.
  std::string Kill();
  // Sends SIGKILL. Thread-safe: a thread that waits for the process notices the end.
  void RequestEnd() const;

 private:
  Process() = default;
  bool CreateDescriptors(std::string* problem);
  bool Spawn(const std::string& program, int model_fd, int inputs_fd, std::string* problem);
  std::string Explain(Receipt receipt);

  pid_t pid_ = -1;
  Fd socket_, child_socket_, memory_fd_, request_, reply_, ended_;
  char* memory_ = nullptr;
  int64_t memory_bytes_ = 0;
  std::string end_;  // how the process ended; "" while it runs
};

}  // namespace deputy::sandbox

#endif  // DEPUTY_BRIDGES_SANDBOX_PROCESS_H_
