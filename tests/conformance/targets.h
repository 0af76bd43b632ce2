// SPDX-License-Identifier: Apache-2.0
//
// Table of the targets that run operator cases and golden rows. To add a target, add a row in
// targets.cc.
#ifndef DEPUTY_TESTS_CONFORMANCE_TARGETS_H_
#define DEPUTY_TESTS_CONFORMANCE_TARGETS_H_

#include <map>
#include <string>
#include <vector>

#include "tests/conformance/plugin_target.h"
#include "tests/conformance/target.h"

namespace deputy::conformance {

struct TargetRow {
  // Either a table of CPU kernels and a number of threads, or the path of a delegate library in the
  // build folder and the delegate's options; the option "library" is a path in the build folder,
  // too.
  const char* name;
  const char* table;
  int threads;
  const char* library;
  PluginOptions options;
  MayRefuse may_refuse;
  // Minimum number of operator cases and golden rows of which the delegate runs a part. Equal
  // results alone could mean that the delegate was never used.
  int min_cases, min_rows;
  // See Target::known_differences.
  std::map<std::string, std::string> known_differences;
  // The delegate compiles for a device, which may be absent, and takes minutes for the golden rows.
  bool on_device = false;
  // The delegate needs a third-party library and is not built if that is missing.
  bool optional = false;
  // All rows take many minutes: a sample runs unless DEPUTY_ALL_ROWS is set.
  bool sampled = false;
  // Each operator that the library lists must run in a case, so that the test notices a delegate
  // that stops claiming an operator.
  bool all_listed = false;
};

const std::vector<TargetRow>& TargetRows();

// Returns true if the target can run here: the machine may lack the instructions of a table, and
// `build_folder` may lack an optional library.
bool IsAvailable(const TargetRow& row, const std::string& build_folder);

// `build_folder` contains the libraries.
Target MakeTarget(const TargetRow& row, const std::string& build_folder);

}  // namespace deputy::conformance

#endif  // DEPUTY_TESTS_CONFORMANCE_TARGETS_H_
