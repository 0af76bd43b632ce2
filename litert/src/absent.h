// SPDX-License-Identifier: Apache-2.0
//
// Members of function tables whose functions the library does not have.
#ifndef DEPUTY_LITERT_SRC_ABSENT_H_
#define DEPUTY_LITERT_SRC_ABSENT_H_

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "litert/src/log.h"

namespace deputy::litert {

// A function's name as a template argument.
template <size_t kSize>
struct FunctionName {
  // NOLINTNEXTLINE(google-explicit-constructor): names are written as literals
  constexpr FunctionName(const char (&name)[kSize]) { std::copy_n(name, kSize, text); }
  char text[kSize] = {};
};

// Converts to a pointer to a function of any type. That function logs the name and returns
// kLiteRtStatusErrorUnsupported, or nothing.
template <FunctionName kName>
class Absent {
  template <typename Result, typename... Args>
  using Function = Result (*)(Args...);

  template <typename Result, typename... Args>
  static Result Refuse(Args...) {
    Log(kLiteRtLogSeverityError, "%s is not supported", kName.text);
    if constexpr (!std::is_void_v<Result>) return kLiteRtStatusErrorUnsupported;
  }

 public:
  template <typename Result, typename... Args>
  // NOLINTNEXTLINE(google-explicit-constructor): members of tables are pointers
  constexpr operator Function<Result, Args...>() const {
    return &Refuse<Result, Args...>;
  }
};

}  // namespace deputy::litert

#endif  // DEPUTY_LITERT_SRC_ABSENT_H_
