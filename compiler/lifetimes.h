// SPDX-License-Identifier: Apache-2.0
//
// From when to when a graph's values need memory, and which of them need none of their own.
#ifndef DEPUTY_COMPILER_LIFETIMES_H_
#define DEPUTY_COMPILER_LIFETIMES_H_

#include <vector>

#include "compiler/graph.h"

namespace deputy::compiler {

// Both are numbers of operations, inclusive. Inputs of the graph are there from the first one on,
// outputs up to the last.
struct Lifetime {
  int first = 0;
  int last = -1;

  bool empty() const { return last < first; }
  friend bool operator==(const Lifetime&, const Lifetime&) = default;
};

// By value.
struct Lifetimes {
  // The value whose memory it uses: itself, or what it is a view of. kNoValue for constants, and
  // for values that nobody makes.
  std::vector<ValueId> storage;
  // Of the memory, where it is the value's own; else empty.
  std::vector<Lifetime> of_storage;

  friend bool operator==(const Lifetimes&, const Lifetimes&) = default;
};

// A view shares its source's memory, with two exceptions, which a back end copies: views of
// constants, and views that are an output of the graph while their source's memory is the client's
// already, because it is an input or another output.
Lifetimes FindLifetimes(const Graph& graph);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_LIFETIMES_H_
