// SPDX-License-Identifier: Apache-2.0
//
// Broadcasting of two inputs to one output, as in NumPy. Prepare makes a plan; its traversal, which
// is the same code for all types, calls a function for each run of elements. Adjacent axes with
// compatible strides are merged, so that runs are long.
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
  // Computes the output's shape from the inputs' and makes the plan.
  TfLiteStatus Prepare(TfLiteContext* context, const TfLiteTensor* a, const TfLiteTensor* b,
                       TfLiteTensor* output);

  // Computes out[i] = function(a[..], b[..]) for every output element, one element at a time, on
  // all threads. Fast operators use a vector loop with RunByRuns.
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

  // Calls run(a, b, out, count, a_moves, b_moves) for runs of elements that together cover the
  // output, on all threads. An input that does not move provides its first element for the whole
  // run. At least one of the two moves, or count is 1.
  template <typename A, typename B, typename Out, typename RunFunction>
  void RunByRuns(TfLiteContext* context, const A* a, const B* b, Out* out,
                 const RunFunction& run) const {
    RunAll(context, TypedRuns<A, B, Out, RunFunction>(a, b, out, run));
  }

  // Calls run() as RunByRuns does, but only for elements [first, last) of the output and on the
  // calling thread; a, b and out point to the whole tensors.
  template <typename A, typename B, typename Out, typename RunFunction>
  void RunPart(int64_t first, int64_t last, const A* a, const B* b, Out* out,
               const RunFunction& run) const {
    RunRange(first, last, TypedRuns<A, B, Out, RunFunction>(a, b, out, run));
  }

  // Returns a mask with bit 0 for a and bit 1 for b, set if the input has as many elements as the
  // output.
  uint32_t matching_inputs(const TfLiteTensor* a, const TfLiteTensor* b) const {
    return (ElementCount(a) == count_ ? 1u : 0u) | (ElementCount(b) == count_ ? 2u : 0u);
  }

 private:
  // Merges adjacent axes with compatible strides; `dims` are the output's.
  void PlanAxes(const TfLiteTensor* a, const TfLiteTensor* b, std::span<const int> dims);

  struct Axis {
    int64_t extent = 1;
    int64_t step_a = 0, step_b = 0, step_out = 0;  // strides, in elements
  };

  // The tensors as bytes, and the function that is called for their runs.
  struct Runs {
    const char* a;
    const char* b;
    char* out;
    int64_t bytes_a, bytes_b, bytes_out;  // bytes per element
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

  // Processes elements [first, last) of the output.
  void RunRange(int64_t first, int64_t last, const Runs& runs) const;

  // Processes elements [first, last) of the block at which `runs` points, by repeating the channels
  // of b.
  void RunBlock(int64_t first, int64_t last, const Runs& runs) const;

  // Processes elements [first, last) of the block at which `runs` points, by gathering short runs
  // into long ones.
  void RunGathered(int64_t first, int64_t last, const Runs& runs) const;

  // Processes elements [first, last) of the output, calling the function once per run.
  void RunOneByOne(int64_t first, int64_t last, const Runs& runs) const;

  std::array<Axis, kMaxRank> axes_;
  int rank_ = 1;       // number of merged axes, at least 1: a scalar is one axis of extent 1
  int64_t count_ = 0;  // number of elements of the output
  // Number of channels of b that are repeated, if the plan repeats channels; else 0.
  int64_t channels_ = 0;
  // True if runs are so short that a call for each costs more than gathering their elements.
  bool gathers_ = false;
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_BROADCAST_H_
