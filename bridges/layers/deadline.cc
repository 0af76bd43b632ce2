// SPDX-License-Identifier: Apache-2.0
#include "bridges/layers/deadline.h"

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "bridges/layers/values.h"
#include "core/support/option_list.h"

namespace deputy::layers {
namespace {

using Clock = std::chrono::steady_clock;

// Reports the calls whose deadlines pass while they run, on a thread of its own.
class Watchdog {
 public:
  struct Watched {
    CallKind kind;
    int kernel;
    std::chrono::milliseconds limit;
    Clock::time_point deadline;
    bool reported = false;
  };
  using Handle = std::list<Watched>::iterator;

  Watchdog() : thread_([this] { Run(); }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  Handle Begin(const Watched& call) {
    std::unique_lock lock(mutex_);
    calls_.push_front(call);
    const Handle handle = calls_.begin();
    const bool is_earlier = call.deadline < wake_;
    lock.unlock();
    if (is_earlier) changed_.notify_one();
    return handle;
  }
  void End(Handle call) {
    const std::lock_guard lock(mutex_);
    calls_.erase(call);
  }

 private:
  void Run() {
    std::unique_lock lock(mutex_);
    while (!stop_) {
      wake_ = Clock::time_point::max();
      const Clock::time_point now = Clock::now();
      for (Watched& call : calls_) {
        if (!call.reported && call.deadline <= now) Report(&call);
        if (!call.reported) wake_ = std::min(wake_, call.deadline);
      }
      if (wake_ == Clock::time_point::max()) {
        changed_.wait(lock);
      } else {
        changed_.wait_until(lock, wake_);
      }
    }
  }
  static void Report(Watched* call) {
    call->reported = true;
    std::fprintf(stderr, "layer deadline: %s of kernel %d has not returned within %lld ms\n",
                 NameOf(call->kind), call->kernel, static_cast<long long>(call->limit.count()));
  }

  std::mutex mutex_;  // guards the following members
  std::condition_variable changed_;
  std::list<Watched> calls_;
  Clock::time_point wake_ = Clock::time_point::max();
  bool stop_ = false;
  std::thread thread_;  // the last member: it uses the others
};

class DeadlineLayer final : public Layer {
 public:
  explicit DeadlineLayer(const Deadlines& deadlines) : deadlines_(deadlines) {}

  TfLiteStatus Around(const LayerCall& call, const Rest& rest) override {
    const std::chrono::milliseconds limit = deadlines_[static_cast<size_t>(call.kind)];
    if (limit.count() == 0) return rest();
    const Clock::time_point begin = Clock::now();
    TfLiteStatus status = kTfLiteError;
    {
      const Watch watch(&watchdog_, {call.kind, call.kernel, limit, begin + limit});
      status = rest();
    }
    const auto taken = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin);
    if (taken > limit) {
      call.context->ReportError(
          call.context,
          "layer deadline: %s of kernel %d took %lld.%03lld ms, "
          "the deadline is %lld ms",
          NameOf(call.kind), call.kernel, static_cast<long long>(taken.count() / 1000),
          static_cast<long long>(taken.count() % 1000), static_cast<long long>(limit.count()));
    }
    return status;
  }

 private:
  // RAII guard: the watchdog watches the call.
  class Watch {
   public:
    Watch(Watchdog* watchdog, const Watchdog::Watched& call)
        : watchdog_(watchdog), handle_(watchdog->Begin(call)) {}
    ~Watch() { watchdog_->End(handle_); }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    Watchdog* const watchdog_;
    const Watchdog::Handle handle_;
  };

  const Deadlines deadlines_;
  Watchdog watchdog_;
};

}  // namespace

std::string ParseDeadlines(const std::string& text, Deadlines* deadlines) {
  const std::vector<std::string> parts = SplitOptions(text, ',');
  bool is_valid = !parts.empty();
  for (const std::string& part : parts) {
    const size_t colon = part.find(':');
    const auto time = ParseMilliseconds(part.substr(colon == std::string::npos ? 0 : colon + 1));
    const auto kind =
        colon == std::string::npos ? std::nullopt : ParseCallKind(part.substr(0, colon));
    is_valid = is_valid && time && (colon == std::string::npos || kind);
    if (!is_valid) break;
    if (kind) {
      (*deadlines)[static_cast<size_t>(*kind)] = *time;
    } else {
      deadlines->fill(*time);
    }
  }
  if (is_valid) return "";
  return "layer 'deadline': expected TIME or CALL:TIME,CALL:TIME such as 50ms or "
         "invoke:50ms,prepare:2s, found '" +
         text + "'";
}

std::unique_ptr<Layer> MakeDeadline(const Deadlines& deadlines) {
  return std::make_unique<DeadlineLayer>(deadlines);
}

}  // namespace deputy::layers
