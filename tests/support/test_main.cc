// SPDX-License-Identifier: Apache-2.0
//
// The main function of test programs. A program contains many test files; if it is called by the
// name of one of them, through a symbolic link next to the program, it runs the tests of that file.
#include <fnmatch.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <sstream>
#include <string>

namespace {

bool MatchesOneOf(const std::string& patterns, const std::string& name) {
  std::istringstream list(patterns);
  for (std::string pattern; std::getline(list, pattern, ':');) {
    if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0) return true;
  }
  return false;
}

// Returns true if the name matches a filter like that of --gtest_filter: patterns, and after a
// minus sign the excluded patterns.
bool Passes(const std::string& filter, const std::string& name) {
  const size_t minus = filter.find('-');
  const std::string wanted = filter.substr(0, minus);
  const std::string unwanted = minus == std::string::npos ? "" : filter.substr(minus + 1);
  return (wanted.empty() || MatchesOneOf(wanted, name)) && !MatchesOneOf(unwanted, name);
}

// Restricts the filter to the tests of file NAME.cc; returns false if the file has no tests.
bool RunOnly(const std::string& name) {
  const std::string given = GTEST_FLAG_GET(filter);
  std::string filter;
  bool any = false;
  const testing::UnitTest& program = *testing::UnitTest::GetInstance();
  for (int i = 0; i < program.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *program.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const testing::TestInfo& test = *suite.GetTestInfo(j);
      if (std::filesystem::path(test.file()).stem() != name) continue;
      any = true;
      const std::string full = std::string(suite.name()) + "." + test.name();
      if (Passes(given, full)) filter += full + ":";
    }
  }
  GTEST_FLAG_SET(filter, filter.empty() ? "-*" : filter);
  return any;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  const std::string name = std::filesystem::path(argv[0]).filename();
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").filename();
  if (name != program && !RunOnly(name)) {
    std::fprintf(stderr, "%s holds no tests of a file %s.cc\n", program.c_str(), name.c_str());
    return 1;
  }
  return RUN_ALL_TESTS();
}
