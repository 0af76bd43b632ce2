// SPDX-License-Identifier: Apache-2.0
#include "compiler/copy.h"

#include <algorithm>

namespace deputy::compiler {
namespace {

bool AreContiguous(const CopyLoop& outer, const CopyLoop& inner) {
  return outer.from_stride == inner.extent * inner.from_stride &&
         outer.to_stride == inner.extent * inner.to_stride;
}

}  // namespace

CopyRegion Simplify(CopyRegion region) {
  const auto is_empty = [](const CopyLoop& loop) { return loop.extent == 0; };
  if (std::any_of(region.loops.begin(), region.loops.end(), is_empty)) {
    region.loops = {{0, 0, 0}};
    return region;
  }
  std::vector<CopyLoop> loops;
  for (const CopyLoop& loop : region.loops) {
    if (loop.extent == 1) continue;
    if (!loops.empty() && AreContiguous(loops.back(), loop)) {
      loops.back() = {loops.back().extent * loop.extent, loop.from_stride, loop.to_stride};
    } else {
      loops.push_back(loop);
    }
  }
  region.loops.swap(loops);
  return region;
}

CopyRegion RegionOf(const Box& box, const Shape& from, const Shape& to) {
  const std::vector<int64_t> from_strides = Strides(from), to_strides = Strides(to);
  CopyRegion region;
  region.input = box.input;
  for (size_t n = 0; n < box.extents.size(); ++n) {
    const size_t axis = box.axes.empty() ? n : static_cast<size_t>(box.axes[n]);
    const int step = box.from_steps.empty() ? 1 : box.from_steps[n];
    region.from += box.from_start[n] * from_strides[axis];
    region.to += box.to_start[n] * to_strides[n];
    region.loops.push_back({box.extents[n], step * from_strides[axis], to_strides[n]});
  }
  return Simplify(std::move(region));
}

}  // namespace deputy::compiler
