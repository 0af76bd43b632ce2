// SPDX-License-Identifier: Apache-2.0
//
// What is tried on a library, a row of the report each: its life (tests/conformance/lifecycle.h) on
// models of operators that it takes, and every operator's cases.
#ifndef DEPUTY_TOOLS_CERTIFY_ROWS_H_
#define DEPUTY_TOOLS_CERTIFY_ROWS_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tools/certify/child.h"

namespace deputy::certify {

struct Settings {
  std::string library;  // a path
  std::vector<std::pair<std::string, std::string>> options;
  std::vector<std::string> models;  // files, in place of the models made here
  std::string only;                 // of rows by name, those that contain it
  int jobs = 1;
  int seconds = 60;         // for a step of a row: an inference, a case of an operator
  double max_slowdown = 0;  // 0: any
};

struct Row {
  std::string group;    // "library", "life", "operators", "speed"
  std::string name;     // "life/CONV_2D float32/resize"
  std::string expects;  // in a sentence
  Work work;
  Outcome outcome;
};

// All rows. To know on which operators the life can be tried the library is run, in a child, whose
// steps `doing` is told; what came of that is the row library/takes, which has no work left. Throws
// std::runtime_error if a model cannot be read.
using Doing = std::function<void(const std::string& name, const std::string& note)>;
std::vector<Row> MakeRows(const Settings& settings, const Doing& doing);

// What a row of the group "operators" counted: cases that ran in the delegate, that it left to the
// CPU or refused rightly, and that differ.
struct CaseCounts {
  int ran = 0, left = 0, differ = 0;
};
CaseCounts CountsOf(const Outcome& outcome);

}  // namespace deputy::certify

#endif  // DEPUTY_TOOLS_CERTIFY_ROWS_H_
