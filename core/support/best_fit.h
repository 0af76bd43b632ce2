// SPDX-License-Identifier: Apache-2.0
//
// Common parts of memory planners (core/base/planner, compiler/memory_plan): the choice of a gap
// between blocks that are alive at the same time, and the lower bound of all plans.
#ifndef DEPUTY_CORE_SUPPORT_BEST_FIT_H_
#define DEPUTY_CORE_SUPPORT_BEST_FIT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace deputy {

// Returns the smallest multiple of `alignment`, a power of two, that is at least `bytes`; nothing
// on overflow.
inline std::optional<size_t> CheckedRoundUp(size_t bytes, size_t alignment) {
  const size_t mask = alignment - 1;
  if (bytes > SIZE_MAX - mask) return std::nullopt;
  return (bytes + mask) & ~mask;
}

// Half-open range of bytes.
struct Extent {
  size_t begin, end;
};

// Searches the smallest gap of at least `bytes` > 0 between extents that are passed in ascending
// order of begin; of equal gaps, the one with the lowest begin.
class GapSearch {
 public:
  explicit GapSearch(size_t bytes) : bytes_(bytes) {}

  // Considers the gap before `extent`, which may overlap earlier ones.
  void Pass(Extent extent) {
    if (extent.begin > covered_) Offer({covered_, extent.begin});
    covered_ = std::max(covered_, extent.end);
  }
  // Ignores the bytes before `begin`.
  void SkipTo(size_t begin) { covered_ = std::max(covered_, begin); }
  // Considers the bytes between the last extent and `end`.
  void EndAt(size_t end) {
    if (end > covered_) Offer({covered_, end});
  }
  // Considers a gap at any position.
  void Offer(Extent gap) {
    const size_t bytes = gap.end - gap.begin;
    if (bytes < bytes_) return;
    if (gap_ != 0 && std::pair(bytes, gap.begin) >= std::pair(gap_, begin_)) return;
    gap_ = bytes;
    begin_ = gap.begin;
  }

  // Size of the chosen gap; 0 if none suffices.
  size_t gap() const { return gap_; }
  // Begin of the chosen gap, else the end of all bytes that were passed or skipped.
  size_t offset() const { return gap_ != 0 ? begin_ : covered_; }

 private:
  const size_t bytes_;
  size_t covered_ = 0;  // end of the bytes that were passed or skipped so far
  size_t gap_ = 0, begin_ = 0;
};

// Maps steps to ranks: only the order of the first and last steps matters, and clients may use
// INT_MAX for "to the end". Requests have members `first` and `last`, both inclusive.
class Timeline {
 public:
  template <typename Requests>
  explicit Timeline(const Requests& requests) {
    steps_.reserve(2 * requests.size());
    for (const auto& request : requests) {
      steps_.push_back(request.first);
      steps_.push_back(request.last);
    }
    std::sort(steps_.begin(), steps_.end());
    steps_.erase(std::unique(steps_.begin(), steps_.end()), steps_.end());
  }
  int size() const { return static_cast<int>(steps_.size()); }
  int Rank(int step) const {
    return static_cast<int>(std::lower_bound(steps_.begin(), steps_.end(), step) - steps_.begin());
  }

 private:
  std::vector<int> steps_;
};

// Returns the maximum number of bytes alive at one step, sizes rounded up to `alignment`: no plan
// can be smaller. SIZE_MAX if the sum overflows from one step to the next; if the sizes that begin
// at one step overflow, no plan exists and the result is unspecified. Requests also have a member
// `bytes`.
template <typename Requests>
size_t LivenessBound(const Requests& requests, size_t alignment) {
  const Timeline timeline(requests);
  std::vector<size_t> begins(timeline.size(), 0), ends_after(timeline.size(), 0);
  for (const auto& request : requests) {
    const std::optional<size_t> bytes = CheckedRoundUp(request.bytes, alignment);
    if (!bytes) return SIZE_MAX;
    // The sums of one step may wrap around; the running sum is checked for overflow.
    begins[timeline.Rank(request.first)] += *bytes;
    ends_after[timeline.Rank(request.last)] += *bytes;
  }
  size_t alive = 0, maximum = 0;
  for (int step = 0; step < timeline.size(); ++step) {
    if (begins[step] > SIZE_MAX - alive) return SIZE_MAX;
    alive += begins[step];
    maximum = std::max(maximum, alive);
    alive -= ends_after[step];
  }
  return maximum;
}

}  // namespace deputy

#endif  // DEPUTY_CORE_SUPPORT_BEST_FIT_H_
