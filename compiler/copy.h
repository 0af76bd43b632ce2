// SPDX-License-Identifier: Apache-2.0
//
// Construction and simplification of the regions of Copy operations.
#ifndef DEPUTY_COMPILER_COPY_H_
#define DEPUTY_COMPILER_COPY_H_

#include <cstdint>
#include <vector>

#include "compiler/graph.h"

namespace deputy::compiler {

// Returns the same nest with the fewest loops: removes loops of one iteration and joins
// neighbouring loops where the outer one continues where the inner one ends. A region with an
// extent of 0 becomes a single loop of extent 0.
CopyRegion Simplify(CopyRegion region);

// A box of an input that is copied to a box of the output. It begins at `from_start` in the input
// and `to_start` in the output, has `extents` elements along each axis, and advances by
// `from_steps` in the input. Axis n of the box is axis axes[n] of the input.
struct Box {
  int input = 0;
  Shape extents;
  std::vector<int> from_start, to_start;
  std::vector<int> from_steps;  // step along each axis; empty: 1
  std::vector<int> axes;        // empty: the axes in their order
};
CopyRegion RegionOf(const Box& box, const Shape& from, const Shape& to);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_COPY_H_
