// SPDX-License-Identifier: Apache-2.0
#include "tools/certify/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <list>

namespace deputy::certify {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kNote = 'n', kResult = 't', kEnd = 'e';
constexpr size_t kMaxText = 2000;
constexpr int kSignals[] = {SIGINT, SIGTERM};

volatile sig_atomic_t interrupted = 0;

void Interrupt(int) { interrupted = 1; }

// Restores the default actions, so that signals end the child although its parent handles them.
void RestoreSignals() {
  for (const int number : kSignals) {
    struct sigaction action = {};
    if (sigaction(number, nullptr, &action) != 0 || action.sa_handler != Interrupt) continue;
    action.sa_handler = SIG_DFL;
    sigaction(number, &action, nullptr);
  }
}

struct Running {
  size_t number = 0;
  pid_t process = -1;
  int pipe = -1, output = -1;
  // The child is killed at the deadline, which each note extends.
  Clock::time_point start, deadline;
  std::chrono::seconds limit{0};
  std::string unread, note;
  Outcome outcome;
  bool has_ended = false;
};

// Runs the work in the child process, and does not return.
[[noreturn]] void RunWork(const Work& work, int pipe, int output) {
  setpgid(0, 0);
  RestoreSignals();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(null, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  Child child(pipe);
  try {
    work.run(&child);
  } catch (const std::exception& problem) {
    child.End(Status::kFail, problem.what());
  }
  if (work.ends_as_programs_do) std::exit(0);
  _exit(0);
}

bool Start(const std::vector<Work>& works, Running* running) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  running->output = memfd_create("output", MFD_CLOEXEC);
  running->start = Clock::now();
  running->limit = std::chrono::seconds(works[running->number].seconds);
  running->deadline = running->start + running->limit;
  running->process = fork();
  if (running->process == 0) {
    close(ends[0]);
    RunWork(works[running->number], ends[1], running->output);
  }
  close(ends[1]);
  running->pipe = ends[0];
  return running->process > 0;
}

void ReadLine(const std::string& line, Running* running) {
  if (line.empty()) return;
  const std::string text = line.substr(1);
  switch (line[0]) {
    case kNote:
      running->note = text;
      running->deadline = Clock::now() + running->limit;
      break;
    case kResult:
      running->outcome.results.push_back(text);
      break;
    case kEnd:
      running->has_ended = true;
      running->outcome.status = static_cast<Status>(text.empty() ? 0 : text[0] - '0');
      running->outcome.text = text.substr(std::min<size_t>(1, text.size()));
      break;
    default:
      break;
  }
}

// Reads what is in the pipe; returns false at its end.
bool Read(const Events& events, Running* running) {
  char buffer[4096];
  const ssize_t count = read(running->pipe, buffer, sizeof buffer);
  if (count < 0 && errno == EINTR) return true;
  if (count <= 0) return false;
  running->unread.append(buffer, static_cast<size_t>(count));
  for (size_t end; (end = running->unread.find('\n')) != std::string::npos;) {
    ReadLine(running->unread.substr(0, end), running);
    if (running->unread[0] == kNote) events.doing(running->number, running->note);
    running->unread.erase(0, end + 1);
  }
  return true;
}

std::string LastLine(int file) {
  char buffer[1024];
  const off_t size = lseek(file, 0, SEEK_END);
  const off_t from = std::max<off_t>(0, size - static_cast<off_t>(sizeof buffer));
  const ssize_t count = pread(file, buffer, sizeof buffer, from);
  std::string text(buffer, count < 0 ? 0 : static_cast<size_t>(count));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const size_t line = text.rfind('\n');
  return line == std::string::npos ? text : text.substr(line + 1);
}

std::string HowItEnded(int status) {
  if (WIFSIGNALED(status)) {
    return "signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
  }
  return "the process exited with code " + std::to_string(WEXITSTATUS(status));
}

void Kill(pid_t process) {
  kill(-process, SIGKILL);
  kill(process, SIGKILL);
}

// Waits until the child has ended and returns its wait status.
int End(Running* running) {
  int status = 0;
  while (waitpid(running->process, &status, 0) < 0 && errno == EINTR) {
  }
  kill(-running->process, SIGKILL);  // processes that the child may have started
  close(running->pipe);
  return status;
}

// Waits for a child that has closed its pipe or exceeded its time limit.
void Finish(bool is_late, Running* running) {
  Outcome& outcome = running->outcome;
  const std::string where = running->note.empty() ? "" : ", at: " + running->note;
  if (is_late) Kill(running->process);
  const int status = End(running);
  if (is_late) {
    outcome.status = Status::kTimeout;
    outcome.text = "no progress in " + std::to_string(running->limit.count()) + " s" + where;
  } else if (!running->has_ended || status != 0) {
    outcome.status = Status::kCrash;
    const std::string last = LastLine(running->output);
    outcome.text = HowItEnded(status) + (running->has_ended ? ", at program exit" : where) +
                   (last.empty() ? "" : "; it printed: " + last);
  }
  outcome.seconds = std::chrono::duration<double>(Clock::now() - running->start).count();
  close(running->output);
}

class Pool {
 public:
  Pool(const std::vector<Work>& works, size_t jobs, const Events& events)
      : works_(works), jobs_(jobs), events_(events) {}

  void Run(bool alone) {
    for (size_t i = 0; i < works_.size(); ++i) {
      if (works_[i].alone != alone) continue;
      while (running_.size() >= (alone ? 1 : jobs_)) Step();
      if (WasInterrupted()) break;
      running_.emplace_back().number = i;
      events_.doing(i, "");
      if (Start(works_, &running_.back())) continue;
      Outcome outcome;
      outcome.status = Status::kFail;
      outcome.text = "no process could be started";
      running_.pop_back();
      events_.done(i, outcome);
    }
    while (!running_.empty()) Step();
  }

 private:
  // Waits for an event, at most one second, after which signals are checked.
  void Step() {
    std::vector<pollfd> fds;
    auto nearest = Clock::time_point::max();
    for (const Running& running : running_) {
      fds.push_back({running.pipe, POLLIN, 0});
      nearest = std::min(nearest, running.deadline);
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(nearest - Clock::now()).count();
    poll(fds.data(), fds.size(), static_cast<int>(std::clamp<int64_t>(left + 1, 0, 1000)));
    if (WasInterrupted()) return Abandon();
    size_t i = 0;
    for (auto it = running_.begin(); it != running_.end(); ++i) {
      const bool is_late = Clock::now() >= it->deadline;
      const bool has_more = (fds[i].revents & (POLLIN | POLLHUP)) == 0 || Read(events_, &*it);
      if (!is_late && has_more) {
        ++it;
        continue;
      }
      // A child that closed its pipe is exiting; its destructors have until the deadline.
      while (!is_late && !HasExited(it->process) && Clock::now() < it->deadline) {
        if (WasInterrupted()) return Abandon();
        usleep(1000);
      }
      Finish(is_late || Clock::now() >= it->deadline, &*it);
      events_.done(it->number, it->outcome);
      it = running_.erase(it);
    }
  }

  void Abandon() {
    for (Running& running : running_) {
      Kill(running.process);
      End(&running);
      close(running.output);
    }
    running_.clear();
  }

  static bool HasExited(pid_t process) {
    siginfo_t info = {};
    return waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           info.si_pid != 0;
  }

  const std::vector<Work>& works_;
  const size_t jobs_;
  const Events& events_;
  std::list<Running> running_;
};

}  // namespace

const char* Name(Status status) {
  static const char* const kNames[] = {"pass", "remark", "skipped", "not run",
                                       "fail", "crash",  "timeout"};
  return kNames[static_cast<int>(status)];
}

bool IsBad(Status status) { return status >= Status::kFail; }

void Child::Note(const std::string& what) { Write(kNote, what); }
void Child::AddResult(const std::string& line) { Write(kResult, line); }
void Child::End(Status status, const std::string& text) {
  Write(kEnd, static_cast<char>('0' + static_cast<int>(status)) + text);
}

void Child::Write(char kind, const std::string& text) {
  std::string line = kind + text.substr(0, kMaxText);
  std::replace(line.begin(), line.end(), '\n', ' ');
  line += '\n';
  for (size_t at = 0; at < line.size();) {
    const ssize_t count = write(pipe_, line.data() + at, line.size() - at);
    if (count < 0 && errno != EINTR) return;
    if (count > 0) at += static_cast<size_t>(count);
  }
}

void RunAll(const std::vector<Work>& works, int jobs, const Events& events) {
  Pool pool(works, static_cast<size_t>(std::max(1, jobs)), events);
  pool.Run(false);
  pool.Run(true);
}

void StopOnSignals() {
  for (const int number : kSignals) {
    struct sigaction action = {};
    if (sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    action.sa_handler = Interrupt;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(number, &action, nullptr);
  }
}

bool WasInterrupted() { return interrupted != 0; }

}  // namespace deputy::certify
