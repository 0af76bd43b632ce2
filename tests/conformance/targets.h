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
  // A row has either a table of CPU kernels and a number of threads, or the path of a delegate
  // library in the build folder and the delegate's options; the value of the option "library" is a
  // path in the build folder, too.
  const char* name;
  const char* table;
  int threads;
  const char* library;
  PluginOptions options;
  MayRefuse may_refuse;
  // Minimum number of operator cases, and of golden rows, in which the delegate runs at least one
  // node. Equal results alone could mean that the delegate was never used.
  int min_cases, min_rows;
  // Differences that the target may have; see Target::known_differences.
  std::map<std::string, std::string> known_differences;
  // True if the delegate compiles for a device, which may be absent, and takes minutes for the
  // golden rows.
  bool on_device = false;
  // True if the delegate needs a third-party library, without which it is not built.
  bool optional = false;
  // True if all rows take many minutes: then a sample runs unless DEPUTY_ALL_ROWS is set.
  bool sampled = false;
  // True if each operator that the library lists must run in a case, so that the test detects a
  // delegate that stops claiming an operator.
  bool all_listed = false;
  // Environment variable that must name a third-party library; "": none.
  const char* variable = "";
};

const std::vector<TargetRow>& TargetRows();

// Returns true if the target can run here: the machine may lack the instructions of a table,
// `build_folder` may lack an optional library, and the environment may lack the row's variable.
bool IsAvailable(const TargetRow& row, const std::string& build_folder);

// Creates the target of a row; `build_folder` contains the delegates' libraries.
Target MakeTarget(const TargetRow& row, const std::string& build_folder);

}  // namespace deputy::conformance

#endif  // DEPUTY_TESTS_CONFORMANCE_TARGETS_H_
