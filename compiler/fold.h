// SPDX-License-Identifier: Apache-2.0
//
// Constant folding, with limits on memory and time: a model of a few bytes could otherwise require
// gigabytes and hours.
#ifndef DEPUTY_COMPILER_FOLD_H_
#define DEPUTY_COMPILER_FOLD_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/graph.h"

namespace deputy::compiler {

// Returns whether `bytes` of contents may be added to those that the graph keeps. The limit on
// their sum is 256 MiB plus 16 times the bytes of the model's constants.
bool CanKeep(const Graph& graph, size_t bytes);

// Returns an estimate of the reference implementation's work on an operation: number of elements
// read, plus elements written times input elements per output element. Saturates at INT64_MAX.
int64_t StepsOf(const Graph& graph, const Operation& operation);

// Computes an operation, epilogue included, whose inputs are all constants, and returns the
// contents of its outputs. Returns false if an input is not constant, if a value is invalid, or if
// folding exceeds a limit: outputs larger than both 1 MiB and four times the inputs' bytes,
// contents that the graph may not keep (CanKeep), or too many steps, in this operation or in total.
// Takes time independent of the rest of the graph.
bool Fold(Graph* graph, const Operation& operation,
          std::vector<std::vector<std::byte>>* out_contents);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_FOLD_H_
