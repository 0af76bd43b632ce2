// SPDX-License-Identifier: Apache-2.0
//
// Operators that move values between tensors of different scales. In the default arithmetic a value
// keeps the real number that it represents: it is requantised, rounded once to nearest. In the
// reference arithmetic the kernel runs unchanged and copies quantised values, like upstream's.
//
// The registration of such an operator wraps the functions of its kernel in PrepareMove and
// EvalMove; the kernel itself supports a single scale.
#ifndef DEPUTY_KERNELS_COMMON_RESCALE_H_
#define DEPUTY_KERNELS_COMMON_RESCALE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/common/kernel.h"

namespace deputy {

// Selects the tensors of a node that are rescaled.
struct MoveScales {
  // If bit i is set, input i is rescaled to the scale of output 0 before the kernel runs.
  uint32_t inputs = 0;
  // If `inputs` is 0: index of the input whose scale the kernel's results have, before they are
  // rescaled to the scales of the outputs; -1 if nothing is rescaled.
  int source = -1;
};

inline constexpr uint32_t kAllInputs = UINT32_MAX;

// Selects inputs for rescaling: for operators that insert constants (padding), repeat elements, or
// have several inputs.
constexpr MoveScales RescaleInputs(uint32_t inputs) { return {inputs, -1}; }
// Selects the outputs for rescaling: for operators with several outputs, or with one output that is
// no larger than the input.
constexpr MoveScales RescaleOutputs(int source = 0) { return {0, source}; }

// Returns true if `from` and `to` have the same type (int8, uint8 or int16) and one scale each, but
// different scales or zero points. False in the reference arithmetic.
bool NeedsRescaling(const TfLiteContext* context, const TfLiteTensor* from, const TfLiteTensor* to);

// Requantises values of one tensor to another tensor's scale and zero point.
class Rescaler {
 public:
  Rescaler(const TfLiteTensor* from, const TfLiteTensor* to)
      : factor_(static_cast<double>(from->params.scale) / static_cast<double>(to->params.scale)),
        zero_from_(from->params.zero_point),
        zero_to_(to->params.zero_point) {}

  // Rescales a quantised value, which may be fractional, and saturates it to the range of T.
  template <typename T>
  T Steps(double step) const {
    return static_cast<T>(
        InRange(step, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  }
  // Rescales a quantised value and clamps it to [low, high].
  double InRange(double step, double low, double high) const {
    return std::clamp(std::round((step - zero_from_) * factor_) + zero_to_, low, high);
  }

 private:
  double factor_, zero_from_, zero_to_;
};

// Rescales `count` values at `in` from the quantisation of `from` to that of `to`, and writes them
// to `out`, which may alias `in`.
void RescaleSteps(TfLiteContext* context, const TfLiteTensor* from, const TfLiteTensor* to,
                  const void* in, int64_t count, void* out);

// Runs `prepare`. If tensors need rescaling, disables views and fusion for the node, because both
// would copy values without rescaling.
TfLiteStatus PrepareMove(TfLiteContext* context, TfLiteNode* node, MoveScales scales,
                         OpFunction prepare);

// Runs `eval`, and rescales the selected tensors before or after it if their scales differ.
TfLiteStatus EvalMove(TfLiteContext* context, TfLiteNode* node, MoveScales scales, OpFunction eval);

template <MoveScales scales, OpFunction prepare>
TfLiteStatus PrepareMove(TfLiteContext* context, TfLiteNode* node) {
  return PrepareMove(context, node, scales, prepare);
}

template <MoveScales scales, OpFunction eval>
TfLiteStatus EvalMove(TfLiteContext* context, TfLiteNode* node) {
  return EvalMove(context, node, scales, eval);
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_RESCALE_H_
