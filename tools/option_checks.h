// SPDX-License-Identifier: Apache-2.0
//
// Validators of numbers on the command line. Those of CLI11 print bounds of 309 digits. Included
// only by files that include CLI11 anyway.
#ifndef DEPUTY_TOOLS_OPTION_CHECKS_H_
#define DEPUTY_TOOLS_OPTION_CHECKS_H_

#include <CLI/CLI.hpp>
#include <string>

namespace deputy::tools {

// Accepts numbers that are at least `min`.
inline CLI::Validator AtLeast(int min) {
  return CLI::Validator(
      [min](std::string& text) {
        double value = 0;
        const bool fits = CLI::detail::lexical_cast(text, value) && value >= min;
        return fits ? std::string()
                    : "expected at least " + std::to_string(min) + ", found '" + text + "'";
      },
      "");
}

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_OPTION_CHECKS_H_
