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

#include "kernels/common/copy_runs.h"
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
    ParallelRanges(context, count_, kElementsPerTask,
                   [&](int64_t first, int64_t last) { Range(first, last, a, b, out, run); });
  }

  // The same for elements [first, last) of the output alone, on this thread; a, b and out are those
  // of the whole.
  template <typename A, typename B, typename Out, typename RunFunction>
  void RunPart(int64_t first, int64_t last, const A* a, const B* b, Out* out,
               const RunFunction& run) const {
    Range(first, last, a, b, out, run);
  }

  // Bit 0 for a, bit 1 for b: it has as many elements as the output, in the same places.
  uint32_t matching_inputs(const TfLiteTensor* a, const TfLiteTensor* b) const {
    return (ElementCount(a) == count_ ? 1u : 0u) | (ElementCount(b) == count_ ? 2u : 0u);
  }

 private:
  // Neighbouring axes that move alike as one; `dims` are the output's.
  void PlanAxes(const TfLiteTensor* a, const TfLiteTensor* b, std::span<const int> dims);

  struct Axis {
    int64_t extent = 1;
    int64_t step_a = 0, step_b = 0, step_out = 0;  // in elements
  };

  // One run. Out of line, like RangeByRuns, of which compilers otherwise make variants for
  // constants.
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

  // Values of b, one for each of a few channels, that are repeated for longer runs.
  static constexpr int64_t kRepeated = 256;

  // Elements [first, last) of the output. A second input that gives few values again and again
  // (biases, slopes) would make for many short runs.
  template <typename A, typename B, typename Out, typename RunFunction>
  void Range(int64_t first, int64_t last, const A* a, const B* b, Out* out,
             const RunFunction& run) const {
    if (channels_ == 0 || last - first < 2 * kRepeated) {
      return RangeByRuns(first, last, a, b, out, run);
    }
    // The two innermost axes are blocks in which b's channels come again and again.
    const int64_t block = axes_[static_cast<size_t>(rank_) - 2].extent * channels_;
    while (first < last) {
      const int64_t number = first / block, end = std::min(last, (number + 1) * block);
      const A* of_a = a;
      const B* of_b = b;
      int64_t rest = number;
      for (int level = rank_ - 3; level >= 0; --level) {
        const Axis& axis = axes_[static_cast<size_t>(level)];
        of_a += rest % axis.extent * axis.step_a;
        of_b += rest % axis.extent * axis.step_b;
        rest /= axis.extent;
      }
      RunBlock(first - number * block, end - number * block, of_a, of_b, out + number * block, run);
      first = end;
    }
  }

  // Elements [first, last) of a block.
  template <typename A, typename B, typename Out, typename RunFunction>
  void RunBlock(int64_t first, int64_t last, const A* a, const B* b, Out* out,
                const RunFunction& run) const {
    const int64_t channels = channels_;
    // Up to the next first channel.
    if (const int64_t within = first % channels; within != 0) {
      const int64_t count = std::min(last - first, channels - within);
      run(a + first, b + within, out + first, count, true, true);
      first += count;
    }
    if (first == last) return;
    B repeated[kRepeated];
    const int64_t length =
        std::min(kRepeated / channels, (last - first - 1) / channels + 1) * channels;
    CopyRuns(length / channels, channels, b, 0, static_cast<B*>(repeated), channels);
    while (first < last) {
      const int64_t count = std::min(length, last - first);
      run(a + first, static_cast<const B*>(repeated), out + first, count, true, true);
      first += count;
    }
  }

  template <typename A, typename B, typename Out, typename RunFunction>
  [[gnu::noinline]] void RangeByRuns(int64_t first, int64_t last, const A* a, const B* b, Out* out,
                                     const RunFunction& run) const {
    const int innermost = rank_ - 1;
    int64_t index[kMaxRank];
    int64_t rest = first;
    for (int level = innermost; level >= 0; --level) {
      const Axis& axis = axes_[static_cast<size_t>(level)];
      index[level] = rest % axis.extent;
      rest /= axis.extent;
      a += index[level] * axis.step_a;
      b += index[level] * axis.step_b;
    }
    const Axis& inner = axes_[static_cast<size_t>(innermost)];
    while (first < last) {
      const int64_t count = std::min(last - first, inner.extent - index[innermost]);
      run(a, b, out + first, count, inner.step_a != 0, inner.step_b != 0);
      first += count;
      // On to the next run.
      a -= index[innermost] * inner.step_a;
      b -= index[innermost] * inner.step_b;
      index[innermost] = 0;
      for (int level = innermost - 1; level >= 0; --level) {
        const Axis& axis = axes_[static_cast<size_t>(level)];
        a += axis.step_a;
        b += axis.step_b;
        if (++index[level] < axis.extent) break;
        a -= axis.extent * axis.step_a;
        b -= axis.extent * axis.step_b;
        index[level] = 0;
      }
    }
  }

  std::array<Axis, kMaxRank> axes_;
  int rank_ = 1;       // at least 1: a scalar is one axis of extent 1
  int64_t count_ = 0;  // elements of the output
  // Of a plan that gives each of a few channels a value of b, again and again: how many; else 0.
  int64_t channels_ = 0;
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_BROADCAST_H_
