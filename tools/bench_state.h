// SPDX-License-Identifier: Apache-2.0
//
// --print_preinvoke_state and --print_postinvoke_state: what is in an interpreter, tensor by
// tensor.
#ifndef DEPUTY_TOOLS_BENCH_STATE_H_
#define DEPUTY_TOOLS_BENCH_STATE_H_

#include <string>

#include "bench_config.h"
#include "session.h"

namespace deputy::tools {

// To standard output, per subgraph: a row per tensor with its memory, then the nodes in the order
// in which they run. `when` is "pre-invoke" or "post-invoke".
void PrintState(const Session& session, const std::string& when, const StateColumns& columns);

// The keys of the model's signatures, with their inputs and outputs, a line each.
void PrintSignatures(const Session& session);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_BENCH_STATE_H_
