// SPDX-License-Identifier: Apache-2.0
//
// Times of the newest calls of a process, and of the delegate's own part in them.
#ifndef DEPUTY_BRIDGES_SANDBOX_CALL_TIMES_H_
#define DEPUTY_BRIDGES_SANDBOX_CALL_TIMES_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>

namespace deputy::sandbox {

// Not thread-safe.
class CallTimes {
 public:
  // Adds a call that took `call_ns` in the program, and by the untrusted report of the process
  // `delegate_ns` in the delegate.
  void Add(int64_t call_ns, int64_t delegate_ns) {
    Times& times = newest_[count_++ % kKept];
    times.call_ns = call_ns;
    times.delegate_ns = std::clamp<int64_t>(delegate_ns, 0, call_ns);
  }

  // Returns the medians of the newest calls as a part of a report, which begins with "; "; "" if
  // there is none.
  std::string Text() const {
    const auto median = [this](const auto& get) {
      std::array<int64_t, kKept> values{};
      const size_t count = std::min(count_, kKept);
      std::transform(newest_.begin(), newest_.begin() + count, values.begin(), get);
      std::nth_element(values.begin(), values.begin() + count / 2, values.begin() + count);
      return 1e-3 * static_cast<double>(values[count / 2]);
    };
    if (count_ == 0) return "";
    char text[160];
    std::snprintf(text, sizeof text,
                  "; medians of %zu calls: %.1f us, delegate %.1f us, process %.1f us",
                  std::min(count_, kKept), median([](const Times& t) { return t.call_ns; }),
                  median([](const Times& t) { return t.delegate_ns; }),
                  median([](const Times& t) { return t.call_ns - t.delegate_ns; }));
    return text;
  }

 private:
  static constexpr size_t kKept = 64;
  struct Times {
    int64_t call_ns = 0, delegate_ns = 0;
  };

  std::array<Times, kKept> newest_{};
  size_t count_ = 0;
};

}  // namespace deputy::sandbox

#endif  // DEPUTY_BRIDGES_SANDBOX_CALL_TIMES_H_
