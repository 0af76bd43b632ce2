// SPDX-License-Identifier: Apache-2.0
//
// Everything that the operator cases and the golden rows run on, in one table. A new target is a
// row in targets.cc.
#ifndef DEPUTY_TESTS_CONFORMANCE_TARGETS_H_
#define DEPUTY_TESTS_CONFORMANCE_TARGETS_H_

#include <map>
#include <string>
#include <vector>

#include "tests/conformance/plugin_target.h"
#include "tests/conformance/target.h"

namespace deputy::conformance {

struct TargetRow {
  // A table of CPU kernels and a number of threads, or the path of a library in the build folder
  // with the options of its delegate, of which "library" is a path there, too.
  const char* name;
  const char* table;
  int threads;
  const char* library;
  PluginOptions options;
  MayRefuse may_refuse;
  // How many operator cases and golden rows the delegate runs a part of, at least. Equal results
  // alone may mean that it was never used.
  int least_cases, least_rows;
  // Target::known_differences.
  std::map<std::string, std::string> known_differences;
  // It compiles for a device, which may not be here, and takes minutes for the golden rows.
  bool on_device = false;
  // It needs a library of others, and is not built where that is missing.
  bool optional = false;
  // All of it takes many minutes: a sample runs, unless DEPUTY_ALL_ROWS is set.
  bool rarely = false;
  // Each operator that its library lists has to run in a case, so that a delegate which stops
  // claiming an operator is noticed.
  bool all_listed = false;
};

const std::vector<TargetRow>& TargetRows();

// Whether the target can run here: this machine may lack the instructions of a table, and an
// optional library may not be in `build_folder`.
bool IsHere(const TargetRow& row, const std::string& build_folder);

// `build_folder` is where libraries are found.
Target MakeTarget(const TargetRow& row, const std::string& build_folder);

}  // namespace deputy::conformance

#endif  // DEPUTY_TESTS_CONFORMANCE_TARGETS_H_
