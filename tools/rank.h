// SPDX-License-Identifier: Apache-2.0
//
// `deputy bench --all-delegates`: one model on the CPU and on every delegate there is, in one
// table.
#ifndef DEPUTY_TOOLS_RANK_H_
#define DEPUTY_TOOLS_RANK_H_

#include "bench_config.h"

namespace deputy::tools {

// Measures the CPU, our own delegates, those that `deputy plugins` lists and those of the options,
// each by itself in a process of its own with the same inputs, and prints who is fastest. One that
// is not available, or ends its process, has a row with the reason. Ends the command as BenchModel
// does where the CPU cannot run the model.
void RankDelegates(const BenchOptions& options);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_RANK_H_
