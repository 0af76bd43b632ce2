// SPDX-License-Identifier: Apache-2.0
//
// `deputy bench --all-delegates`: compares the CPU and every available delegate on one model in one
// table.
#ifndef DEPUTY_TOOLS_RANK_H_
#define DEPUTY_TOOLS_RANK_H_

#include "tools/bench/config.h"

namespace deputy::tools {

// Measures the CPU, Deputy's own delegates, those listed by `deputy plugins` and those of the
// options, each in a separate process with the same inputs, and prints a ranking. A delegate that
// is not available or whose process dies gets a row with the reason. If the CPU cannot run
// the model, ends the command with the exit code and the message of the CPU's process.
void RankDelegates(const BenchOptions& options);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_RANK_H_
