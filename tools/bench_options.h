// SPDX-License-Identifier: Apache-2.0
//
// The command line of `deputy bench`. Every option that TFLite's benchmark_model has is spelled the
// same here, beside our own spelling with dashes.
#ifndef DEPUTY_TOOLS_BENCH_OPTIONS_H_
#define DEPUTY_TOOLS_BENCH_OPTIONS_H_

#include "bench_config.h"

namespace CLI {
class App;
}

namespace deputy::tools {

// Adds the options that no other subcommand has.
void AddBenchOptions(CLI::App* command, BenchOptions* options);

// Once the command line is read: the delegates in its order, and shapes for the session. Ends the
// command with kExitUsage when options contradict each other.
void FinishBenchOptions(const CLI::App& command, BenchOptions* options);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_BENCH_OPTIONS_H_
