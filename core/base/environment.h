// SPDX-License-Identifier: Apache-2.0
//
// What the environment says. A misspelt value must not look as if it had been obeyed.
#ifndef DEPUTY_CORE_BASE_ENVIRONMENT_H_
#define DEPUTY_CORE_BASE_ENVIRONMENT_H_

#include <string>
#include <vector>

namespace deputy {

// The value of the environment variable `name` if it is one of `allowed`; "" if it is not set or
// empty, and if it is anything else, which is reported to the process-wide default reporter.
std::string EnvironmentChoice(const char* name, const std::vector<std::string>& allowed);

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_ENVIRONMENT_H_
