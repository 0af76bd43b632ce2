// SPDX-License-Identifier: Apache-2.0
#include "bridges/sandbox/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

namespace deputy::sandbox {
namespace {

// A process that does not end within this time after SIGKILL, because a driver blocks it in the
// kernel, is left to the system.
constexpr int kKillMilliseconds = 2000;
// Descriptors that a child gets are duplicated from this number on, above those of the child.
constexpr int kMinSourceFd = kFdEnd + 8;

std::string ErrnoText(const char* what) { return std::string(what) + ": " + std::strerror(errno); }

std::string DescribeEnd(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED) return "exit status " + std::to_string(info.si_status);
  const char* const name = strsignal(info.si_status);
  return "signal " + std::to_string(info.si_status) + " (" + (name == nullptr ? "?" : name) + ")";
}

// Arguments of posix_spawn.
struct SpawnSettings {
  SpawnSettings() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  // The child has default signal handling and a process group of its own, so that a terminal's
  // interrupt reaches the host alone.
  void SetSignals() {
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  }

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

}  // namespace

Fd::~Fd() {
  if (fd_ >= 0) close(fd_);
}

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) close(fd_);
    fd_ = other.Release();
  }
  return *this;
}

int Fd::Release() { return std::exchange(fd_, -1); }

std::unique_ptr<Process> Process::Start(const std::string& program, int model_fd, int inputs_fd,
                                        std::string* problem) {
  std::unique_ptr<Process> process(new Process);
  if (!process->CreateDescriptors(problem)) return nullptr;
  if (!process->Spawn(program, model_fd, inputs_fd, problem)) return nullptr;
  return process;
}

Process::~Process() {
  Kill();
  if (memory_ != nullptr) munmap(memory_, static_cast<size_t>(memory_bytes_));
}

bool Process::CreateDescriptors(std::string* problem) {
  int sockets[2] = {-1, -1};
  const int created = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets);
  socket_ = Fd(sockets[0]);
  child_socket_ = Fd(sockets[1]);
  memory_fd_ = Fd(memfd_create("deputy-sandbox", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  request_ = Fd(eventfd(0, EFD_CLOEXEC));
  reply_ = Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (created == 0 && memory_fd_.valid() && request_.valid() && reply_.valid()) return true;
  *problem = ErrnoText("cannot create the descriptors of a process");
  return false;
}

bool Process::Spawn(const std::string& program, int model_fd, int inputs_fd, std::string* problem) {
  SpawnSettings settings;
  settings.SetSignals();
  // Sources above all targets, so that no target overwrites a source.
  Fd sources[kFdEnd - kSocketFd];
  const int originals[] = {child_socket_.get(), memory_fd_.get(), request_.get(),
                           reply_.get(),        model_fd,         inputs_fd};
  for (int i = 0; i < kFdEnd - kSocketFd; ++i) {
    if (originals[i] < 0) continue;
    sources[i] = Fd(fcntl(originals[i], F_DUPFD_CLOEXEC, kMinSourceFd));
    if (!sources[i].valid()) {
      *problem = ErrnoText("cannot duplicate a descriptor");
      return false;
    }
    posix_spawn_file_actions_adddup2(&settings.actions, sources[i].get(), kSocketFd + i);
  }
  // Standard output belongs to the host program alone.
  posix_spawn_file_actions_adddup2(&settings.actions, STDERR_FILENO, STDOUT_FILENO);
  std::string name = program;
  char* arguments[] = {name.data(), nullptr};
  const int error = posix_spawn(&pid_, program.c_str(), &settings.actions, &settings.attributes,
                                arguments, environ);
  child_socket_ = Fd();
  if (error != 0) {
    pid_ = -1;
    *problem = "cannot start '" + program + "': " + std::strerror(error);
    return false;
  }
  ended_ = Fd(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  if (ended_.valid()) return true;
  *problem = ErrnoText("cannot watch the process");
  return false;
}

std::string Process::Explain(Receipt receipt) {
  switch (receipt) {
    case Receipt::kDeadline:
      Kill();
      return "the process did not reply before its deadline and was killed";
    case Receipt::kInvalid:
      Kill();
      return "the process sent an invalid message";
    default:
      return "the process ended: " + Kill();
  }
}

bool Process::Send(std::string_view message, Clock::time_point deadline, std::string* problem) {
  const Receipt receipt = SendMessage(socket_.get(), message, ended_.get(), deadline);
  if (receipt == Receipt::kMessage) return true;
  *problem = Explain(receipt);
  return false;
}

bool Process::Receive(Clock::time_point deadline, std::string* out_message, std::string* problem) {
  const Receipt receipt = ReceiveMessage(socket_.get(), ended_.get(), deadline, out_message);
  if (receipt == Receipt::kMessage) return true;
  *problem = Explain(receipt);
  return false;
}

bool Process::MapMemory(int64_t bytes, std::string* problem) {
  // Without the seals the process could truncate the memory, and an access would end the host.
  void* const mapped =
      ftruncate(memory_fd_.get(), bytes) == 0 &&
              fcntl(memory_fd_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0
          ? mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED,
                 memory_fd_.get(), 0)
          : MAP_FAILED;
  if (mapped == MAP_FAILED) {
    *problem = ErrnoText("cannot create the shared memory");
    return false;
  }
  memory_ = static_cast<char*>(mapped);
  memory_bytes_ = bytes;
  return true;
}

bool Process::SignalRequest() {
  const uint64_t one = 1;
  return write(request_.get(), &one, sizeof one) == sizeof one;
}

CallEnd Process::WaitForReply(Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    const int wait =
        deadline == Clock::time_point::max()
            ? -1
            : static_cast<int>(std::clamp<int64_t>(left, 0, std::numeric_limits<int>::max()));
    pollfd polled[] = {{reply_.get(), POLLIN, 0}, {ended_.get(), POLLIN, 0}};
    const int ready = poll(polled, 2, wait);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) return CallEnd::kDeadline;
    uint64_t count = 0;
    if ((polled[0].revents & POLLIN) != 0 && read(reply_.get(), &count, sizeof count) > 0) {
      return CallEnd::kReply;
    }
    if (ready < 0 || polled[1].revents != 0) return CallEnd::kEnded;
  }
}

void Process::RequestEnd() const {
  (void)syscall(SYS_pidfd_send_signal, ended_.get(), SIGKILL, nullptr, 0u);
}

std::string Process::Kill() {
  if (pid_ < 0) return end_;
  pollfd ended = {ended_.get(), POLLIN, 0};
  kill(pid_, SIGKILL);
  siginfo_t info{};
  if (ended_.valid() && poll(&ended, 1, kKillMilliseconds) == 0) {
    end_ = "not ended by SIGKILL, left to the system";
  } else if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED) == 0) {
    end_ = DescribeEnd(info);
  } else {
    end_ = "unknown";  // the host program has waited for the process
  }
  pid_ = -1;
  return end_;
}

}  // namespace deputy::sandbox
