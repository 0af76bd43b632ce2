// SPDX-License-Identifier: Apache-2.0
//
// Runs a function in a child process. The child writes a byte to a pipe when the function has
// returned. Its exit status is only used in the message: a program that waits for all its children,
// or ignores SIGCHLD, may consume it.
#include "core/plugin/plugin_probe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "core/base/environment.h"
#include "core/base/guard.h"

namespace deputy {
namespace {

using Clock = std::chrono::steady_clock;

// Isolates the child: it must not run the program's crash handlers, dump core, write to its
// standard streams, or outlive it.
void IsolateChild() {
  for (const int fatal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS}) {
    signal(fatal, SIG_DFL);
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int standard = 0; nothing >= 0 && standard < 3; ++standard) dup2(nothing, standard);
}

[[noreturn]] void RunChild(const std::function<void()>& load, int done) noexcept {
  IsolateChild();
  Guard(Ignore, load);  // without the child, the program would have caught the exception as well
  const char byte = 1;
  _exit(write(done, &byte, 1) == 1 ? 0 : 1);
}

enum class End { kDone, kExited, kTimedOut };

End WaitFor(int done, Clock::time_point deadline) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left < 0) return End::kTimedOut;
    pollfd wanted = {done, POLLIN, 0};
    // The call of poll was interrupted or timed out.
    if (poll(&wanted, 1, static_cast<int>(left) + 1) <= 0) continue;
    char byte = 0;
    const ssize_t count = read(done, &byte, 1);
    if (count < 0 && errno == EINTR) continue;
    return count == 1 ? End::kDone : End::kExited;
  }
}

// Returns the exit status, -1 if other code of the program has reaped the child. The child's pid
// may then belong to another process, so it is not killed.
int Reap(pid_t child, bool kill_it) {
  int status = -1;
  pid_t ended = waitpid(child, &status, WNOHANG);
  if (ended == 0 && kill_it) kill(child, SIGKILL);
  while (ended == 0 || (ended < 0 && errno == EINTR)) ended = waitpid(child, &status, 0);
  return ended == child ? status : -1;
}

std::string Describe(int status) {
  std::string text = "ended a child process that loaded it first";
  if (status == -1) return text;
  if (WIFSIGNALED(status)) return text + ", with signal " + std::to_string(WTERMSIG(status));
  return text + ", with exit code " + std::to_string(WEXITSTATUS(status));
}

std::string ForkProblem(int error) {
  return "cannot be loaded in a child process first: " + std::generic_category().message(error);
}

}  // namespace

bool IsPluginProbeEnabled() { return EnvironmentChoice("DEPUTY_PLUGIN_PROBE", {"0", "1"}) == "1"; }

std::string ProbeInChild(const std::function<void()>& load, int timeout_ms) {
  std::array<int, 2> ends = {};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return ForkProblem(errno);
  const pid_t child = fork();
  const int error = errno;
  if (child == 0) RunChild(load, ends[1]);
  close(ends[1]);
  End end = End::kExited;
  if (child > 0) end = WaitFor(ends[0], Clock::now() + std::chrono::milliseconds(timeout_ms));
  close(ends[0]);
  if (child < 0) return ForkProblem(error);
  // A child that closed the pipe may still be running.
  const int status = Reap(child, end != End::kDone);
  if (end == End::kDone) return "";
  if (end == End::kExited) return Describe(status);
  return "did not finish loading within " + std::to_string(timeout_ms) + " ms in a child process";
}

}  // namespace deputy
