// SPDX-License-Identifier: Apache-2.0
//
// Runs work in a forked process, which sends its result through a pipe: one character for the exit
// code, '0' for a result, then the result's bytes or the error text.
#include "in_child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>

#include "text.h"

namespace deputy::tools {
namespace {

std::string Encoded(const std::function<std::string()>& work) {
  try {
    return "0" + work();
  } catch (const ToolError& error) {
    return std::to_string(error.exit_code) + error.what();
  } catch (const std::exception& error) {
    return std::to_string(kExitFailed) + error.what();
  }
}

// Runs the work in the child process. Exits without static destructors, which only the parent may
// run.
[[noreturn]] void RunWork(const std::function<std::string()>& work, int pipe) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  const std::string message = Encoded(work);
  std::fflush(nullptr);
  for (size_t at = 0; at < message.size();) {
    const ssize_t written = write(pipe, message.data() + at, message.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) _exit(kExitFailed);
    at += static_cast<size_t>(written);
  }
  _exit(0);
}

std::string ReadAll(int pipe) {
  std::string bytes;
  char block[65536];
  for (;;) {
    const ssize_t count = read(pipe, block, sizeof block);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return bytes;
    bytes.append(block, static_cast<size_t>(count));
  }
}

std::string EndText(int status) {
  if (WIFSIGNALED(status)) {
    return Format("the process ended by signal %d (%s)", WTERMSIG(status),
                  strsignal(WTERMSIG(status)));
  }
  return Format("the process ended with exit code %d", WEXITSTATUS(status));
}

}  // namespace

ChildResult RunInChild(const std::function<std::string()>& work) {
  std::fflush(nullptr);  // otherwise both processes would write the buffered output
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) FailWork("no pipe: %s", std::strerror(errno));
  const pid_t process = fork();
  if (process == 0) {
    close(ends[0]);
    RunWork(work, ends[1]);
  }
  const int fork_error = errno;
  close(ends[1]);
  if (process < 0) {
    close(ends[0]);
    FailWork("no process: %s", std::strerror(fork_error));
  }
  const std::string message = ReadAll(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  if (message.empty() || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return {"", EndText(status), kExitFailed};
  }
  const int code = message[0] - '0';
  if (code != 0) return {"", message.substr(1), code};
  return {message.substr(1), "", 0};
}

}  // namespace deputy::tools
