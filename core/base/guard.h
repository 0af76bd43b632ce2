// SPDX-License-Identifier: Apache-2.0
//
// Where exceptions end: around what C calls, and around a client's callbacks. Calls of delegates,
// kernels and plug-ins go through foreign_call.h instead, where observers are told of them.
#ifndef DEPUTY_CORE_BASE_GUARD_H_
#define DEPUTY_CORE_BASE_GUARD_H_

#include <type_traits>
#include <utility>

#include "core/base/error.h"

namespace deputy {

// Runs `body` and returns what it returns. When it throws, the result is `failure`: a value, after
// the report "out of memory", which is what an exception of our own means; or what the function
// `failure` returns, which says itself what there is to say. That function must not throw.
template <typename Failure, typename Body>
auto Guard(Failure&& failure, Body&& body) noexcept -> std::invoke_result_t<Body> {
  try {
    return std::forward<Body>(body)();
  } catch (...) {
    if constexpr (std::is_invocable_v<Failure>) {
      return std::forward<Failure>(failure)();
    } else {
      ReportOutOfMemory();
      return std::forward<Failure>(failure);
    }
  }
}

// The same for a body that returns nothing.
template <typename Body>
void Guard(Body&& body) noexcept {
  Guard(&ReportOutOfMemory, std::forward<Body>(body));
}

// As the failure of a guard: nothing is reported, where no reporter is at hand.
inline void Ignore() noexcept {}

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_GUARD_H_
