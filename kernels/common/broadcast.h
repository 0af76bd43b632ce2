// SPDX-License-Identifier: Apache-2.0
//
// Two inputs, one output, NumPy's broadcasting. A plan is made in prepare; the walk over it, which
// is the same code for all types, calls a function per run of elements. Neighbouring axes that move
// alike are merged, so that runs are long.
#ifndef DEPUTY_KERNELS_COMMON_BROADCAST_H_
#define DEPUTY_KERNELS_COMMON_BROADCAST_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/common/kernel.h"

namespace deputy {

class BroadcastPlan {
 public:
  // Shapes of the inputs of a node to the shape of its output and the plan for the loop.
  TfLiteStatus Prepare(TfLiteContext* context, const TfLiteTensor* a, const TfLiteTensor* b,
                       TfLiteTensor* output);

  // out[i] = function(a[..], b[..]) for every element of the output, on all threads, one after the
  // other: what has to be fast has a loop of vector code for RunByRuns.
  template <typename A, typename B, typename Out, typename Function>
  void Run(TfLiteContext* context, const A* a, const B* b, Out* out,
           const Function& function) const {
    RunByRuns(context, a, b, out,
              [&function](const A* left, const B* right, Out* to, int64_t count, bool left_moves,
                          bool right_moves) {
                const int64_t left_step = left_moves ? 1 : 0, right_step = right_moves ? 1 : 0;
                for (int64_t i = 0; i < count; ++i, left += left_step, right += right_step) {
                  to[i] = function(*left, *right);
                }
              });
  }

  // run(a, b, out, count, a_moves, b_moves) for runs of elements that together are the output, on
  // all threads: an input that does not move gives its first element to the whole run. One of the
  // two moves, or count is 1.
  template <typename A, typename B, typename Out, typename RunFunction>
  void RunByRuns(TfLiteContext* context, const A* a, const B* b, Out* out,
                 const RunFunction& run) const {
    RunAll(context, TypedRuns<A, B, Out, RunFunction>(a, b, out, run));
  }

  // The same for elements [first, last) of the output alone, on this thread; a, b and out are those
  // of the whole.
  template <typename A, typename B, typename Out, typename RunFunction>
  void RunPart(int64_t first, int64_t last, const A* a, const B* b, Out* out,
               const RunFunction& run) const {
    RunRange(first, last, TypedRuns<A, B, Out, RunFunction>(a, b, out, run));
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

  // The tensors as bytes, and what is called for runs of them.
  struct Runs {
    const char* a;
    const char* b;
    char* out;
    int64_t bytes_a, bytes_b, bytes_out;  // of an element
    const void* function;
    void (*call)(const void* function, const char* a, const char* b, char* out, int64_t count,
                 bool a_moves, bool b_moves);
  };

  template <typename A, typename B, typename Out, typename RunFunction>
  static Runs TypedRuns(const A* a, const B* b, Out* out, const RunFunction& run) {
    return {reinterpret_cast<const char*>(a),
            reinterpret_cast<const char*>(b),
            reinterpret_cast<char*>(out),
            sizeof(A),
            sizeof(B),
            sizeof(Out),
            &run,
            [](const void* function, const char* left, const char* right, char* to, int64_t count,
               bool a_moves, bool b_moves) {
              (*static_cast<const RunFunction*>(function))(
                  reinterpret_cast<const A*>(left), reinterpret_cast<const B*>(right),
                  reinterpret_cast<Out*>(to), count, a_moves, b_moves);
            }};
  }

  void RunAll(TfLiteContext* context, const Runs& runs) const;

  // Elements [first, last) of the output.
  void RunRange(int64_t first, int64_t last, const Runs& runs) const;

  // The same of a block of repeated channels, which is all that `runs` has.
  void RunBlock(int64_t first, int64_t last, const Runs& runs) const;

  // The same of a block of short runs, which are gathered to make long ones.
  void RunGathered(int64_t first, int64_t last, const Runs& runs) const;

  // The same, run by run.
  void RunOneByOne(int64_t first, int64_t last, const Runs& runs) const;

  std::array<Axis, kMaxRank> axes_;
  int rank_ = 1;       // at least 1: a scalar is one axis of extent 1
  int64_t count_ = 0;  // elements of the output
  // Of a plan that gives each of a few channels a value of b, again and again: how many; else 0.
  int64_t channels_ = 0;
  // Of other plans: whether runs are so short that a call for each would take longer than it takes
  // to bring their elements together.
  bool gathers_ = false;
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_BROADCAST_H_
