// SPDX-License-Identifier: Apache-2.0
//
// Composition of two copies into one.
#ifndef DEPUTY_COMPILER_COMPOSE_H_
#define DEPUTY_COMPILER_COMPOSE_H_

#include <cstdint>
#include <optional>

#include "compiler/graph.h"

namespace deputy::compiler {

// Returns whether the region writes every element of an output of `count` elements.
bool WritesAll(const CopyRegion& region, int64_t count);

// Returns whether the region writes elements in the order in which it reads them, covering all of
// an input of `count` elements.
bool KeepsOrder(const CopyRegion& region, int64_t count);

// Composes two copies: `outer` reads the `count` elements that `inner` has written, all of them.
// The result reads the input of `inner` directly and writes what `outer` writes. Returns nullopt if
// the composition is not a single nest of loops, or is not recognised as one.
std::optional<CopyRegion> Composed(const CopyRegion& outer, const CopyRegion& inner, int64_t count);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_COMPOSE_H_
