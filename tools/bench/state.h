// SPDX-License-Identifier: Apache-2.0
//
// --print_preinvoke_state and --print_postinvoke_state: lists the tensors and nodes of an
// interpreter.
#ifndef DEPUTY_TOOLS_BENCH_STATE_H_
#define DEPUTY_TOOLS_BENCH_STATE_H_

#include <string>

#include "tools/bench/config.h"
#include "tools/session.h"

namespace deputy::tools {

// Prints to standard output, per subgraph, one row per tensor with its memory, then the nodes in
// execution order. `when` is "pre-invoke" or "post-invoke".
void PrintState(const Session& session, const std::string& when, const StateColumns& columns);

// Prints the keys of the model's signatures with their inputs and outputs, one per line.
void PrintSignatures(const Session& session);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_BENCH_STATE_H_
