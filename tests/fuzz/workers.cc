// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/workers.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace deputy::fuzz {
namespace {

constexpr int kMaxOutcomes = 16;

double Seconds(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// State of a child process that its parent reads, in shared memory.
struct Progress {
  std::atomic<uint64_t> job;  // number of the job in progress
  std::atomic<bool> done;     // true when all jobs of the batch are done
  std::atomic<double> cpu_began, wall_began;
  std::atomic<uint64_t> slowest_job;
  std::atomic<double> slowest_seconds;
  std::atomic<uint64_t> outcomes[kMaxOutcomes];
};

struct Child {
  pid_t pid = 0;  // 0 if there is no process
  uint64_t first = 0, last = 0;
  Progress* progress = nullptr;
};

// Runs the jobs of a batch in a child process. Ends it by exit, so that the leak check runs.
[[noreturn]] void RunBatch(const Jobs& jobs, const Child& child) {
  Progress& progress = *child.progress;
  for (uint64_t job = child.first; job < child.last; ++job) {
    progress.cpu_began = Seconds(CLOCK_PROCESS_CPUTIME_ID);
    progress.wall_began = Seconds(CLOCK_MONOTONIC);
    progress.job = job;
    ++progress.outcomes[jobs.run(job)];
    const double seconds = Seconds(CLOCK_PROCESS_CPUTIME_ID) - progress.cpu_began;
    if (seconds > progress.slowest_seconds) {
      progress.slowest_seconds = seconds;
      progress.slowest_job = job;
    }
  }
  progress.done = true;
  exit(0);
}

class Pool {
 public:
  explicit Pool(const Jobs& jobs) : jobs_(jobs), next_(jobs.first) {
    report_.outcomes.resize(static_cast<size_t>(jobs.outcomes));
    children_.resize(static_cast<size_t>(jobs.processes));
    for (Child& child : children_) {
      void* memory = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
      if (memory == MAP_FAILED) abort();
      child.progress = new (memory) Progress{};
    }
  }
  ~Pool() {
    for (const Child& child : children_) munmap(child.progress, sizeof(Progress));
  }

  Report Run() {
    while (Step()) usleep(10'000);
    for (const Child& child : children_) {
      const Progress& progress = *child.progress;
      for (size_t i = 0; i < report_.outcomes.size(); ++i) {
        report_.outcomes[i] += progress.outcomes[i];
      }
      if (progress.slowest_seconds > report_.slowest_seconds) {
        report_.slowest_seconds = progress.slowest_seconds;
        report_.slowest_job = progress.slowest_job;
      }
    }
    return report_;
  }

 private:
  // Processes events of the children; returns true while a child is running.
  bool Step() {
    bool running = false;
    for (Child& child : children_) {
      if (child.pid != 0) Check(&child);
      const bool more = static_cast<int>(report_.failures.size()) < jobs_.max_failures;
      if (child.pid == 0 && next_ < jobs_.last && more) {
        const uint64_t first = next_;
        next_ = std::min(jobs_.last, first + jobs_.batch);
        Start(&child, first, next_);
      }
      running |= child.pid != 0;
    }
    return running;
  }

  void Start(Child* child, uint64_t first, uint64_t last) {
    child->first = first;
    child->last = last;
    child->progress->job = first;
    child->progress->done = false;
    child->progress->cpu_began = 0;
    child->progress->wall_began = Seconds(CLOCK_MONOTONIC);
    fflush(nullptr);
    child->pid = fork();
    if (child->pid == 0) RunBatch(jobs_, *child);
    if (child->pid < 0) abort();
  }

  void Check(Child* child) {
    int status = 0;
    if (waitpid(child->pid, &status, WNOHANG) == child->pid) return Ended(child, status, "");
    const Progress& progress = *child->progress;
    clockid_t cpu;
    if (clock_getcpuclockid(child->pid, &cpu) != 0) return;
    // Between two jobs `cpu_began` may belong to the previous one, so the job number is read before
    // and after it.
    const uint64_t job = progress.job;
    const bool late = Seconds(cpu) - progress.cpu_began > jobs_.cpu_seconds ||
                      Seconds(CLOCK_MONOTONIC) - progress.wall_began > jobs_.wall_seconds;
    if (!late || job != progress.job || progress.done) return;
    kill(child->pid, SIGKILL);
    waitpid(child->pid, &status, 0);
    Ended(child, status, "takes too long");
  }

  // Reports the exit of a child and restarts the remaining jobs of its batch.
  void Ended(Child* child, int status, std::string what) {
    child->pid = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    const uint64_t job = child->progress->job;
    if (what.empty() && WIFSIGNALED(status)) {
      what = std::string("died: ") + strsignal(WTERMSIG(status));
    } else if (what.empty()) {
      what = "exited with " + std::to_string(WEXITSTATUS(status));
    }
    if (child->progress->done) {
      report_.failures.push_back({child->first, child->last, what + " after its last job"});
      return;
    }
    report_.failures.push_back({job, job + 1, what});
    if (job + 1 < child->last) Start(child, job + 1, child->last);
  }

  const Jobs& jobs_;
  uint64_t next_;
  std::vector<Child> children_;
  Report report_;
};

}  // namespace

Report RunJobs(const Jobs& jobs) { return Pool(jobs).Run(); }

}  // namespace deputy::fuzz
