// SPDX-License-Identifier: Apache-2.0
//
// What the environment says. A misspelt name or value must not look as if it had been obeyed.
#ifndef DEPUTY_CORE_BASE_ENVIRONMENT_H_
#define DEPUTY_CORE_BASE_ENVIRONMENT_H_

#include <span>
#include <string>
#include <vector>

namespace deputy {

// The value of the environment variable `name` if it is one of `allowed`; "" if it is not set or
// empty, and if it is anything else, which is reported to the process-wide default reporter.
std::string EnvironmentChoice(const char* name, const std::vector<std::string>& allowed);

// The variables that Deputy and its delegates read, each without its "DEPUTY_".
std::span<const char* const> KnownVariables();

// The known variable that `name`, which is no known one, was probably meant to be; "" if it does
// not begin with "DEPUTY_" or is like none: others name variables of their plug-ins that way, too.
std::string LikelyVariable(const std::string& name);

// Reports each variable of the environment that looks like a misspelt one, once per process, to the
// process-wide default reporter.
void ReportMisspeltVariables();

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_ENVIRONMENT_H_
