// SPDX-License-Identifier: Apache-2.0
//
// Affinity of a model's threads. The interpreter starts its threads during a call, and a thread
// inherits the mask of the one that starts it: the calling thread has the model's mask during
// calls.
#ifndef DEPUTY_MINDSPORE_SRC_AFFINITY_H_
#define DEPUTY_MINDSPORE_SRC_AFFINITY_H_

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "mindspore/src/context.h"

namespace deputy::ms_api {

// Returns the cores of an affinity mode for `threads` threads, given the maximum frequency of each
// core: the fastest ones for mode 1, those that follow the ones of the highest frequency for mode
// 2. Cores of equal frequency are in order of their numbers; the list wraps around.
inline std::vector<int32_t> CoresOfMode(int mode, int32_t threads,
                                        const std::vector<int64_t>& frequency) {
  std::vector<int32_t> sorted(frequency.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  const auto of = [&frequency](int32_t core) { return frequency[static_cast<size_t>(core)]; };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&of](int32_t a, int32_t b) { return of(a) > of(b); });
  size_t first = 0;
  if (mode == 2) {
    first = static_cast<size_t>(std::count_if(sorted.begin(), sorted.end(), [&](int32_t core) {
      return of(core) == of(sorted.front());
    }));
  }
  std::vector<int32_t> cores;
  const size_t count = std::min(sorted.size(), static_cast<size_t>(std::max(threads, 1)));
  for (size_t i = 0; i < count; ++i) cores.push_back(sorted[(first + i) % sorted.size()]);
  return cores;
}

// Determines the cores on which a context's threads run; empty for all. Fails if the machine does
// not have one of the cores.
MSStatus FindCores(const Context& context, std::vector<int32_t>* out_cores);

// RAII guard: the calling thread runs on the given cores only. An empty list changes nothing.
class AffinityScope {
 public:
  explicit AffinityScope(const std::vector<int32_t>& cores);
  AffinityScope(const AffinityScope&) = delete;
  AffinityScope& operator=(const AffinityScope&) = delete;
  ~AffinityScope();

  // Returns false if the system rejected the cores.
  bool ok() const { return ok_; }

 private:
  std::vector<unsigned char> previous_;  // the thread's mask; empty if it was not changed
  bool ok_ = true;
};

}  // namespace deputy::ms_api

#endif  // DEPUTY_MINDSPORE_SRC_AFFINITY_H_
