// SPDX-License-Identifier: Apache-2.0
//
// Calls a function from another thread if the scope takes too long: what a client does that cancels
// an endless loop.
#ifndef DEPUTY_TESTS_FUZZ_DEADLINE_H_
#define DEPUTY_TESTS_FUZZ_DEADLINE_H_

#include <functional>

namespace deputy::fuzz {

class Deadline {
 public:
  // `late` is called again and again, a few milliseconds apart, until the scope ends: Cancel calls
  // that come before Invoke has begun are forgotten.
  Deadline(int milliseconds, std::function<void()> late);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
};

}  // namespace deputy::fuzz

#endif  // DEPUTY_TESTS_FUZZ_DEADLINE_H_
