// SPDX-License-Identifier: Apache-2.0
//
// absl::StrContains.
#ifndef DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_ABSL_STRINGS_MATCH_H_
#define DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_ABSL_STRINGS_MATCH_H_

#include <string_view>

namespace absl {

inline bool StrContains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace absl

#endif  // DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_ABSL_STRINGS_MATCH_H_
