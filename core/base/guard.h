// SPDX-License-Identifier: Apache-2.0
//
// Exception barriers for functions that C calls, and around a client's callbacks. Calls of
// delegates, kernels and plug-ins use foreign_call.h instead, which notifies observers.
#ifndef DEPUTY_CORE_BASE_GUARD_H_
#define DEPUTY_CORE_BASE_GUARD_H_

#include <type_traits>
#include <utility>

#include "core/base/error.h"

namespace deputy {

// Runs `body` and returns its result. If it throws, the result is `failure`: a value, after the
// report "out of memory", since our own code throws nothing but bad_alloc; or the result of the
// function `failure`, which reports the error itself and must not throw.
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

// Runs a body that returns nothing; otherwise like the overload with a result.
template <typename Body>
void Guard(Body&& body) noexcept {
  Guard(&ReportOutOfMemory, std::forward<Body>(body));
}

// Failure function of a guard that reports nothing, where no reporter is available.
inline void Ignore() noexcept {}

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_GUARD_H_
