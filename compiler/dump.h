// SPDX-License-Identifier: Apache-2.0
//
// Graphs as text, for people and for tests.
#ifndef DEPUTY_COMPILER_DUMP_H_
#define DEPUTY_COMPILER_DUMP_H_

#include <string>

#include "compiler/graph.h"

namespace deputy::compiler {

// Returns one line per input, operation and output:
//   input %0 FLOAT32[1,4] 'x'
//   %2 = elementwise(%0, %1) max((a + b), 0) FLOAT32[1,4] 'y'  # node 0
//   output %2
// Constants are written as %1{FLOAT32[4]}. An epilogue is appended after "then".
std::string ToText(const Graph& graph);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_DUMP_H_
