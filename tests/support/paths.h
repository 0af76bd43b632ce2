// SPDX-License-Identifier: Apache-2.0
//
// Absolute paths of the sources and the products of this build. Only this source file depends on
// the location of the build; a compiler cache can provide all others.
#ifndef DEPUTY_TESTS_SUPPORT_PATHS_H_
#define DEPUTY_TESTS_SUPPORT_PATHS_H_

#include <string>

namespace deputy {

// Absolute path of `relative` to the root of the sources, to the build folder, and to tests/data.
std::string SourcePath(const std::string& relative);
std::string BuildPath(const std::string& relative);
std::string TestDataPath(const std::string& relative);

// The folder of the delegate libraries in tests/plugins.
std::string PluginFolder();
// Paths of libdeputy and of the drop-in library.
std::string LibraryPath();
std::string DropInPath();

}  // namespace deputy

#endif  // DEPUTY_TESTS_SUPPORT_PATHS_H_
