// SPDX-License-Identifier: Apache-2.0
//
// Two inputs, one output, NumPy's broadcasting. A plan is made in prepare; the loop over it calls a
// function object per element. Neighbouring axes that move alike are merged, so that the inner
// loop is long and its strides are 0 or 1, which compilers turn into vector code.
#ifndef DEPUTY_KERNELS_COMMON_BROADCAST_H_
#define DEPUTY_KERNELS_COMMON_BROADCAST_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "kernels/common/kernel.h"

namespace deputy {

class BroadcastPlan {
 public:
  // Shapes of the inputs of a node to the shape of its output and the plan for the loop.
  TfLiteStatus Prepare(TfLiteContext* context, const TfLiteTensor* a, const TfLiteTensor* b,
                       TfLiteTensor* output);

  // out[i] = function(a[..], b[..]) for every element of the output, on all threads.
  template <typename A, typename B, typename Out, typename Function>
  void Run(TfLiteContext* context, const A* a, const B* b, Out* out,
           const Function& function) const {
    RunByRuns(context, a, b, out,
              [&function](const A* left, const B* right, Out* to, int64_t count, bool left_moves,
                          bool right_moves) {
                RunElements(left, right, to, count, left_moves, right_moves, function);
              });
  }

  // run(a, b, out, count, a_moves, b_moves) for runs of elements that together are the output, on
  // all threads: an input that does not move gives its first element to the whole run. One of the
  // two moves, or count is 1.
  template <typename A, typename B, typename Out, typename RunFunction>
  void RunByRuns(TfLiteContext* context, const A* a, const B* b, Out* out,
                 const RunFunction& run) const {
    if (count_ == 0) return;
    const Axis& outer = axes_[0];
    const int64_t grain = kElementsPerTask / std::max<int64_t>(1, count_ / outer.extent) + 1;
    ParallelRanges(context, outer.extent, grain, [&](int64_t first, int64_t last) {
      Level(0, last - first, a + first * outer.step_a, b + first * outer.step_b,
            out + first * outer.step_out, run);
    });
  }

 private:
  // Neighbouring axes that move alike as one; `dims` are the output's.
  void PlanAxes(const TfLiteTensor* a, const TfLiteTensor* b, std::span<const int> dims);

  struct Axis {
    int64_t extent = 1;
    int64_t step_a = 0, step_b = 0, step_out = 0;  // in elements
  };

  // One run. Out of line, like Level, of which compilers otherwise unroll several steps into each
  // other and make variants for constants.
  template <typename A, typename B, typename Out, typename Function>
  [[gnu::noinline]] static void RunElements(const A* a, const B* b, Out* out, int64_t count,
                                            bool a_moves, bool b_moves, const Function& function) {
    if (!a_moves) {
      const A same = *a;
      for (int64_t i = 0; i < count; ++i) out[i] = function(same, b[i]);
    } else if (!b_moves) {
      const B same = *b;
      for (int64_t i = 0; i < count; ++i) out[i] = function(a[i], same);
    } else {
      for (int64_t i = 0; i < count; ++i) out[i] = function(a[i], b[i]);
    }
  }

  template <typename A, typename B, typename Out, typename RunFunction>
  [[gnu::noinline]] void Level(int level, int64_t extent, const A* a, const B* b, Out* out,
                               const RunFunction& run) const {
    const Axis& axis = axes_[level];
    if (level + 1 == rank_) return run(a, b, out, extent, axis.step_a != 0, axis.step_b != 0);
    for (int64_t i = 0; i < extent; ++i) {
      Level(level + 1, axes_[level + 1].extent, a + i * axis.step_a, b + i * axis.step_b,
            out + i * axis.step_out, run);
    }
  }

  std::array<Axis, kMaxRank> axes_;
  int rank_ = 1;       // at least 1: a scalar is one axis of extent 1
  int64_t count_ = 0;  // elements of the output
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_BROADCAST_H_
