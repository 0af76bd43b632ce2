// SPDX-License-Identifier: Apache-2.0
#include "core/base/environment.h"

#include <algorithm>
#include <cstdlib>

#include "core/base/error.h"

namespace deputy {

std::string EnvironmentChoice(const char* name, const std::vector<std::string>& allowed) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return "";
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return value;
  std::string expected;
  for (size_t i = 0; i < allowed.size(); ++i) {
    const bool last = i > 0 && i + 1 == allowed.size();
    expected += (i == 0 ? "" : last ? " or " : ", ") + allowed[i];
  }
  ErrorReporter().Report("%s: expected %s, found '%s'; it is ignored", name, expected.c_str(),
                         value);
  return "";
}

}  // namespace deputy
