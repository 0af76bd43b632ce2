// SPDX-License-Identifier: Apache-2.0
//
// Copies of copies.
#ifndef DEPUTY_COMPILER_COMPOSE_H_
#define DEPUTY_COMPILER_COMPOSE_H_

#include <cstdint>
#include <optional>

#include "compiler/graph.h"

namespace deputy::compiler {

// Whether a region writes every element of an output of `count` elements.
bool WritesAll(const CopyRegion& region, int64_t count);

// Whether it writes them in the order in which it reads all of an input that is as large.
bool KeepsOrder(const CopyRegion& region, int64_t count);

// `outer` reads what `inner` has written, which is `count` elements, all of them. The region that
// reads what `inner` reads: its input is that of `inner`. Nothing if that is no nest of loops, or
// not seen to be one.
std::optional<CopyRegion> Composed(const CopyRegion& outer, const CopyRegion& inner, int64_t count);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_COMPOSE_H_
