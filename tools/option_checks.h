// SPDX-License-Identifier: Apache-2.0
//
// Checks of numbers on the command line. CLI11's own name bounds of 309 digits. For the files that
// include CLI11 anyway.
#ifndef DEPUTY_TOOLS_OPTION_CHECKS_H_
#define DEPUTY_TOOLS_OPTION_CHECKS_H_

#include <CLI/CLI.hpp>
#include <string>

namespace deputy::tools {

// A number that is not smaller than `least`.
inline CLI::Validator AtLeast(int least) {
  return CLI::Validator(
      [least](std::string& text) {
        double value = 0;
        const bool fits = CLI::detail::lexical_cast(text, value) && value >= least;
        return fits ? std::string()
                    : "expected at least " + std::to_string(least) + ", found '" + text + "'";
      },
      "");
}

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_OPTION_CHECKS_H_
