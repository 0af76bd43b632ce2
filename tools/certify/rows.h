// SPDX-License-Identifier: Apache-2.0
//
// The tests that are run on a delegate library, one row of the report each: its lifecycle
// (tests/conformance/lifecycle.h) on models of operators that it claims, and the cases of every
// operator.
#ifndef DEPUTY_TOOLS_CERTIFY_ROWS_H_
#define DEPUTY_TOOLS_CERTIFY_ROWS_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tools/certify/child.h"

namespace deputy::certify {

struct Settings {
  std::string library;  // path of the delegate library
  std::vector<std::pair<std::string, std::string>> options;
  std::vector<std::string> models;  // files that replace the generated models
  std::string only;                 // run only rows whose name contains this text
  int jobs = 1;
  int seconds = 60;         // time limit for one operation: an inference, a case of an operator
  double max_slowdown = 0;  // relative to the CPU; 0: unlimited
};

struct Row {
  std::string group;    // "library", "life", "operators", "speed"
  std::string name;     // "life/CONV_2D float32/resize"
  std::string expects;  // the expected behaviour, as a sentence
  Work work;
  Outcome outcome;
};

// Callback that receives the notes of a child: the name of its row, and the operation that begins.
using Doing = std::function<void(const std::string& name, const std::string& note)>;
// Returns the rows that Settings::only selects. First runs the library in a child to find the
// operators on which the lifecycle can be tested; `doing` is called with the child's notes. The
// result of this run is the row library/takes, which has no work left. Throws std::runtime_error if
// a model cannot be read.
std::vector<Row> MakeRows(const Settings& settings, const Doing& doing);

// Counts of a row of the group "operators": cases that ran in the delegate, cases that it left to
// the CPU or rejected correctly, and cases with different results or with errors that the
// validation layer found. `claimed`: those of `ran` in which the delegate ran the operator itself,
// and not only other nodes of the case, such as those in a branch of IF.
struct CaseCounts {
  int ran = 0, left = 0, differ = 0, claimed = 0;
};
CaseCounts CountsOf(const Outcome& outcome);

}  // namespace deputy::certify

#endif  // DEPUTY_TOOLS_CERTIFY_ROWS_H_
