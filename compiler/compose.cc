// SPDX-License-Identifier: Apache-2.0
#include "compiler/compose.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "compiler/copy.h"

namespace deputy::compiler {
namespace {

// Returns the region's loops by decreasing target stride.
std::vector<CopyLoop> ByTarget(const CopyRegion& region) {
  std::vector<CopyLoop> loops = Simplify(region).loops;
  std::sort(loops.begin(), loops.end(),
            [](const CopyLoop& a, const CopyLoop& b) { return a.to_stride > b.to_stride; });
  return loops;
}

// Treats an index into the output of `inner` as a number in a mixed radix: each loop of `inner` is
// one digit. A loop of `outer` advances one digit, or is split into several loops, each of which
// advances one digit.
class Composition {
 public:
  Composition(const CopyRegion& outer, const CopyRegion& inner)
      : digits_(ByTarget(inner)), result_(inner) {
    result_.loops.clear();
    result_.to = outer.to;
    for (const CopyLoop& digit : digits_) {
      const int64_t index = outer.from / digit.to_stride % digit.extent;
      result_.from += index * digit.from_stride;
      min_.push_back(index);
      max_.push_back(index);
    }
  }

  // Returns false if the loop is not a sequence of steps in single digits.
  bool Add(CopyLoop loop) {
    std::vector<CopyLoop> cut;  // innermost first
    while (loop.extent > 1) {
      if (!CutOff(&loop, &cut)) return false;
    }
    result_.loops.insert(result_.loops.end(), cut.rbegin(), cut.rend());
    return true;
  }

  // Returns whether no digit overflows into the next one.
  bool StaysWithinDigits() const {
    for (size_t i = 0; i < digits_.size(); ++i) {
      if (min_[i] < 0 || max_[i] >= digits_[i].extent) return false;
    }
    return true;
  }

  CopyRegion Take() { return Simplify(std::move(result_)); }

 private:
  // Returns the digit with the largest weight that divides the stride, or digits_.size() if there
  // is none.
  size_t DigitOf(int64_t stride) const {
    size_t i = 0;
    while (i < digits_.size() && (std::abs(stride) < digits_[i].to_stride ||
                                  std::abs(stride) % digits_[i].to_stride != 0)) {
      ++i;
    }
    return i;
  }

  // Splits off the innermost part of a loop: as many iterations as one digit holds.
  bool CutOff(CopyLoop* loop, std::vector<CopyLoop>* cut) {
    if (loop->from_stride == 0) {
      cut->push_back(*loop);
      loop->extent = 1;
      return true;
    }
    const size_t i = DigitOf(loop->from_stride);
    if (i == digits_.size()) return false;
    const CopyLoop& digit = digits_[i];
    const int64_t step = loop->from_stride / digit.to_stride;
    int64_t steps = loop->extent;
    if (std::abs(step) * (steps - 1) >= digit.extent) {
      steps = digit.extent / std::abs(step);
      if (steps < 2 || digit.extent % step != 0 || loop->extent % steps != 0) return false;
    }
    (step > 0 ? max_ : min_)[i] += step * (steps - 1);
    cut->push_back({steps, step * digit.from_stride, loop->to_stride});
    *loop = {loop->extent / steps, loop->from_stride * steps, loop->to_stride * steps};
    return true;
  }

  std::vector<CopyLoop> digits_;
  std::vector<int64_t> min_, max_;  // smallest and largest value of each digit, over all loops
  CopyRegion result_;
};

bool IsEmpty(const CopyRegion& region) {
  return std::any_of(region.loops.begin(), region.loops.end(),
                     [](const CopyLoop& loop) { return loop.extent == 0; });
}

}  // namespace

bool WritesAll(const CopyRegion& region, int64_t count) {
  if (IsEmpty(region)) return false;
  const std::vector<CopyLoop> loops = ByTarget(region);
  int64_t weight = 1;
  for (size_t i = loops.size(); i-- > 0;) {
    if (loops[i].to_stride != weight) return false;
    weight *= loops[i].extent;
  }
  return weight == count;
}

bool KeepsOrder(const CopyRegion& region, int64_t count) {
  const CopyRegion simple = Simplify(region);
  if (simple.from != 0 || simple.to != 0) return false;
  if (simple.loops.empty()) return count == 1;
  return simple.loops == std::vector<CopyLoop>{{count, 1, 1}};
}

std::optional<CopyRegion> Composed(const CopyRegion& outer, const CopyRegion& inner,
                                   int64_t count) {
  if (IsEmpty(outer) || !WritesAll(inner, count)) return std::nullopt;
  Composition composition(outer, inner);
  for (const CopyLoop& loop : outer.loops) {
    if (!composition.Add(loop)) return std::nullopt;
  }
  if (!composition.StaysWithinDigits()) return std::nullopt;
  return composition.Take();
}

}  // namespace deputy::compiler
