// SPDX-License-Identifier: Apache-2.0
//
// Absolute paths of the sources and the products of this build. Only paths.cc depends on the
// location of the build; a compiler cache can provide all other files.
#ifndef DEPUTY_TESTS_SUPPORT_PATHS_H_
#define DEPUTY_TESTS_SUPPORT_PATHS_H_

#include <string>

namespace deputy {

// Each function returns the absolute path of a file that is given relative to the root of the
// sources, to the build folder, or to tests/data.
std::string SourcePath(const std::string& relative);
std::string BuildPath(const std::string& relative);
std::string TestDataPath(const std::string& relative);

// Returns the folder of the delegate libraries of tests/plugins.
std::string PluginFolder();
// Returns the path of libdeputy; DropInPath returns that of the drop-in library.
std::string LibraryPath();
std::string DropInPath();

}  // namespace deputy

#endif  // DEPUTY_TESTS_SUPPORT_PATHS_H_
