// SPDX-License-Identifier: Apache-2.0
//
// Fills the inputs of a benchmark: random values, random values within a range, or files, in the
// syntax of TFLite's benchmark_model. A backslash escapes the next separator, so that a name may
// contain one: "input\:0".
#ifndef DEPUTY_TOOLS_BENCH_INPUTS_H_
#define DEPUTY_TOOLS_BENCH_INPUTS_H_

#include <string>
#include <vector>

#include "tools/bench/config.h"
#include "tools/session.h"

namespace deputy::tools {

// Describes the values with which an input was filled.
struct InputReport {
  std::string name, type;
  std::vector<int> shape;
  std::string source;   // "random", "range" or the path of a file
  bool numeric = true;  // `smallest` and `largest` are valid
  double smallest = 0, largest = 0;
};

// Converts layers and shapes into shapes of the session. Ends the command with kExitUsage if there
// are shapes, but not as many as layers.
void AddInputShapes(const BenchInputOptions& options, SessionOptions* session);

// Fills every input of the session. A file has priority over a range, and a range over unrestricted
// random values. Ends the command with kExitUsage for unknown names, invalid ranges and files that
// do not match the input.
std::vector<InputReport> FillInputs(const BenchInputOptions& options, const Session& session);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_BENCH_INPUTS_H_
