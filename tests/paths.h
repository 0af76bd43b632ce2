// SPDX-License-Identifier: Apache-2.0
//
// Where the sources and the products of this build lie, as absolute paths. One source file is
// compiled for a place; all others come from a compiler cache wherever they are built.
#ifndef DEPUTY_TESTS_PATHS_H_
#define DEPUTY_TESTS_PATHS_H_

#include <string>

namespace deputy {

// `relative` from the root of the sources, from that of the build, from tests/data.
std::string SourcePath(const std::string& relative);
std::string BuildPath(const std::string& relative);
std::string TestDataPath(const std::string& relative);

// The folder of the delegate libraries in tests/plugins.
std::string PluginFolder();
// libdeputy, and the drop-in.
std::string LibraryPath();
std::string DropInPath();

}  // namespace deputy

#endif  // DEPUTY_TESTS_PATHS_H_
