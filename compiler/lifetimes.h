// SPDX-License-Identifier: Apache-2.0
//
// Lifetimes of a graph's values, and aliasing of values that share memory.
#ifndef DEPUTY_COMPILER_LIFETIMES_H_
#define DEPUTY_COMPILER_LIFETIMES_H_

#include <vector>

#include "compiler/graph.h"

namespace deputy::compiler {

// First and last operation, both inclusive, during which memory is in use. Inputs of the graph live
// from the first operation on, outputs until the last.
struct Lifetime {
  int first = 0;
  int last = -1;

  bool empty() const { return last < first; }
  friend bool operator==(const Lifetime&, const Lifetime&) = default;
};

// Storage and lifetime of each value; both vectors are indexed by value.
struct Lifetimes {
  // Value whose memory the value uses: itself, or the source of a view. kNoValue for constants, and
  // for values that are neither inputs of the graph nor computed by an operation.
  std::vector<ValueId> storage;
  // Lifetime of the memory if the value owns it; else empty.
  std::vector<Lifetime> of_storage;

  friend bool operator==(const Lifetimes&, const Lifetimes&) = default;
};

// Computes the lifetimes. A view shares the memory of its source, with two exceptions, which a back
// end copies: views of constants, and views that are a graph output while the memory of their
// source is already the client's, because the source is an input or another output.
Lifetimes FindLifetimes(const Graph& graph);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_LIFETIMES_H_
