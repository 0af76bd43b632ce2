// SPDX-License-Identifier: Apache-2.0
//
// The command line of `deputy bench`. Accepts every option of TFLite's benchmark_model under its
// original spelling, in addition to Deputy's own spelling with dashes.
#ifndef DEPUTY_TOOLS_BENCH_OPTIONS_H_
#define DEPUTY_TOOLS_BENCH_OPTIONS_H_

#include "tools/bench/config.h"

namespace CLI {
class App;
}

namespace deputy::tools {

// Adds the options that only `bench` has.
void AddBenchOptions(CLI::App* command, BenchOptions* options);

// Stores the delegates in the order of the command line and the shapes for the session, after
// parsing. Ends the command with kExitUsage if options contradict each other.
void FinishBenchOptions(const CLI::App& command, BenchOptions* options);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_BENCH_OPTIONS_H_
