// SPDX-License-Identifier: Apache-2.0
//
// Calls a function from another thread if the scope takes too long, as a client does to cancel an
// endless loop.
#ifndef DEPUTY_TESTS_FUZZ_DEADLINE_H_
#define DEPUTY_TESTS_FUZZ_DEADLINE_H_

#include <functional>

namespace deputy::fuzz {

class Deadline {
 public:
  // Calls `late` after this time, and again every few milliseconds until the scope ends, because
  // Cancel has no effect before Invoke has begun.
  Deadline(int milliseconds, std::function<void()> late);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
};

}  // namespace deputy::fuzz

#endif  // DEPUTY_TESTS_FUZZ_DEADLINE_H_
