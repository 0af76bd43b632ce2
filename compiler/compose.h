// SPDX-License-Identifier: Apache-2.0
//
// Composition of two copies into one.
#ifndef DEPUTY_COMPILER_COMPOSE_H_
#define DEPUTY_COMPILER_COMPOSE_H_

#include <cstdint>
#include <optional>

#include "compiler/graph.h"

namespace deputy::compiler {

// Returns whether the region is not empty and writes every element of an output of `count`
// elements.
bool WritesAll(const CopyRegion& region, int64_t count);

// Returns whether the region copies the first `count` elements of its input, in their order, to the
// start of the output.
bool KeepsOrder(const CopyRegion& region, int64_t count);

// Composes two copies: `outer` reads from the `count` elements that `inner` writes. The result
// reads the input of `inner` directly and writes what `outer` writes. Returns nullopt if `outer` is
// empty, if `inner` does not write all elements, or if the composition is not recognised as a
// single nest of loops.
std::optional<CopyRegion> Composed(const CopyRegion& outer, const CopyRegion& inner, int64_t count);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_COMPOSE_H_
