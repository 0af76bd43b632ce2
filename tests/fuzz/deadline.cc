// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/deadline.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace deputy::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

// The thread that waits for deadlines. One thread serves all scopes of a process, because a thread
// per scope would cost more than most mutants. The first scope starts it, because the parent
// process forks and must not have a second thread.
class Watch {
 public:
  static Watch& Get() {
    static Watch* watch = new Watch;  // never destroyed, because its thread runs until exit
    return *watch;
  }

  void Begin(int milliseconds, std::function<void()> late) {
    const std::lock_guard lock(mutex_);
    late_ = std::move(late);
    next_call_ = Clock::now() + std::chrono::milliseconds(milliseconds);
    changed_.notify_one();
  }
  void End() {
    const std::lock_guard lock(mutex_);
    late_ = nullptr;
  }

 private:
  Watch() { std::thread(&Watch::Run, this).detach(); }

  void Run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (late_ == nullptr) {
        changed_.wait(lock);
      } else if (Clock::now() < next_call_) {
        changed_.wait_until(lock, next_call_);
      } else {
        late_();
        next_call_ = Clock::now() + std::chrono::milliseconds(5);
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> late_;
  Clock::time_point next_call_;
};

}  // namespace

Deadline::Deadline(int milliseconds, std::function<void()> late) {
  Watch::Get().Begin(milliseconds, std::move(late));
}

Deadline::~Deadline() { Watch::Get().End(); }

}  // namespace deputy::fuzz
