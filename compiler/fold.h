// SPDX-License-Identifier: Apache-2.0
//
// What is computed while a graph is made and not each time it runs: within bounds, as a model of a
// few bytes could ask for gigabytes and hours.
#ifndef DEPUTY_COMPILER_FOLD_H_
#define DEPUTY_COMPILER_FOLD_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/graph.h"

namespace deputy::compiler {

// Whether so many bytes of contents may be added to those that the graph keeps: in all no more than
// 256 MiB and 16 times what the model's constants have.
bool MayKeep(const Graph& graph, size_t bytes);

// What the reference takes for an operation, roughly: elements read, and those written as often as
// each takes elements of an input. INT64_MAX where it would be more.
int64_t StepsOf(const Graph& graph, const Operation& operation);

// Computes an operation whose inputs are all constants, epilogue included: the contents of its
// outputs. False if one is no constant, if a value makes no sense, or if it costs too much: more
// than 1 MiB and four times the inputs' bytes, or too many steps, alone or with all that was
// computed before. The price does not depend on the rest of the graph.
bool Fold(Graph* graph, const Operation& operation,
          std::vector<std::vector<std::byte>>* out_contents);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_FOLD_H_
