// SPDX-License-Identifier: Apache-2.0
//
// Implements paths.h. The build defines the DEPUTY_* paths for this file alone.
#include "tests/support/paths.h"

namespace deputy {

std::string SourcePath(const std::string& relative) { return DEPUTY_SOURCE_DIR "/" + relative; }
std::string BuildPath(const std::string& relative) { return DEPUTY_BINARY_DIR "/" + relative; }
std::string TestDataPath(const std::string& relative) {
  return SourcePath("tests/data/" + relative);
}
std::string PluginFolder() { return BuildPath("tests/plugins"); }
std::string LibraryPath() { return DEPUTY_LIBRARY_PATH; }
std::string DropInPath() { return DEPUTY_DROP_IN_PATH; }

}  // namespace deputy
