// SPDX-License-Identifier: Apache-2.0
#include "core/base/back_off.h"

#include <algorithm>

namespace deputy {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// Loss after which workers are disabled. A scheduler's time slice takes milliseconds, while the
// normal wait for a tile or two is shorter than this.
constexpr BackOff::Time kMaxLoss = microseconds(300);

// Duration of the first and the longest back-off: a single stall must cost little. Next to a
// permanently busy process, one trial per second of one worker leaves 99 of 100 inferences of 10 ms
// without stalls.
constexpr BackOff::Time kMinBackOff = milliseconds(10);
constexpr BackOff::Time kMaxBackOff = milliseconds(1000);
// A stall that begins more than this number of times the newest back-off's duration, or more than a
// second, after the end of that back-off counts as unrelated to it.
constexpr int kBackOffsApart = 10;

}  // namespace

void BackOff::Reset() {
  allowed_ = workers_;
  lost_ = duration_ = resume_at_ = Time(0);
}

void BackOff::Resume(Time now) {
  if (now >= resume_at_) allowed_ = workers_;
}

void BackOff::JobEnded(Time now, Time saved) {
  lost_ = std::max(lost_ - saved, Time(0));
  if (lost_ < kMaxLoss) return;
  const Time max_distance = std::min(kBackOffsApart * duration_, kMaxBackOff);
  const bool again = duration_ > Time(0) && now - lost_ - resume_at_ < max_distance;
  duration_ = again ? std::min(2 * duration_, kMaxBackOff) : kMinBackOff;
  resume_at_ = now + duration_;
  lost_ = Time(0);
  allowed_ /= 2;
}

}  // namespace deputy
