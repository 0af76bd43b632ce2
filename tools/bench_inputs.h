// SPDX-License-Identifier: Apache-2.0
//
// What a benchmark feeds the model: random values, random values within bounds, or files, in the
// forms of TFLite's benchmark_model. A backslash takes the next separator literally, so that a name
// may hold one: "input\:0".
#ifndef DEPUTY_TOOLS_BENCH_INPUTS_H_
#define DEPUTY_TOOLS_BENCH_INPUTS_H_

#include <string>
#include <vector>

#include "bench_config.h"
#include "session.h"

namespace deputy::tools {

// What an input was filled with.
struct InputReport {
  std::string name, type;
  std::vector<int> shape;
  std::string source;   // "random", "range" or the path of a file
  bool numeric = true;  // smallest and largest mean something
  double smallest = 0, largest = 0;
};

// Turns layers and shapes into shapes of the session. Ends the command with kExitUsage when their
// numbers differ.
void AddInputShapes(const BenchInputOptions& options, SessionOptions* session);

// Fills every input of the session. A file beats a range, a range beats plain random values. Ends
// the command with kExitUsage for unknown names, bounds that are none, and files that do not fit.
std::vector<InputReport> FillInputs(const BenchInputOptions& options, const Session& session);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_BENCH_INPUTS_H_
