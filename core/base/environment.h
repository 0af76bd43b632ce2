// SPDX-License-Identifier: Apache-2.0
//
// Environment variables. Misspelt names and values are reported instead of being ignored silently.
#ifndef DEPUTY_CORE_BASE_ENVIRONMENT_H_
#define DEPUTY_CORE_BASE_ENVIRONMENT_H_

#include <string>
#include <vector>

namespace deputy {

// Returns the value of the environment variable `name` if it is one of `allowed`; "" if it is
// unset, empty or invalid. An invalid value is reported to the process-wide default reporter.
std::string EnvironmentChoice(const char* name, const std::vector<std::string>& allowed);

// Returns the known variable that the unknown `name` is probably a misspelling of; "" if `name`
// does not begin with "DEPUTY_" or resembles none: plug-ins may define variables with that prefix,
// too.
std::string LikelyVariable(const std::string& name);

// Reports each misspelt variable of the environment, once per process, to the process-wide default
// reporter.
void ReportMisspeltVariables();

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_ENVIRONMENT_H_
