// SPDX-License-Identifier: Apache-2.0
//
// Makes the regions of Copy operations.
#ifndef DEPUTY_COMPILER_COPY_H_
#define DEPUTY_COMPILER_COPY_H_

#include <cstdint>
#include <vector>

#include "compiler/graph.h"

namespace deputy::compiler {

// The same nest with as few loops as possible: loops of one step go, and neighbours become one
// where the outer one goes on where the inner one ends. With an extent of 0 there is one such loop.
CopyRegion Simplify(CopyRegion region);

// A box of an input that becomes a box of the output: from `from_start` and `to_start` on,
// `extents` along each axis, in steps of `from_steps` in the input. Axis n of the box is axis
// axes[n] of the input.
struct Box {
  int input = 0;
  Shape extents;
  std::vector<int> from_start, to_start;
  std::vector<int> from_steps;  // empty: 1
  std::vector<int> axes;        // empty: the same order
};
CopyRegion RegionOf(const Box& box, const Shape& from, const Shape& to);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_COPY_H_
