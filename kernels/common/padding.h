// SPDX-License-Identifier: Apache-2.0
//
// Windows of convolutions and poolings along one axis.
#ifndef DEPUTY_KERNELS_COMMON_PADDING_H_
#define DEPUTY_KERNELS_COMMON_PADDING_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/support/int_math.h"
#include "kernels/common/kernel.h"

namespace deputy {

// One axis of a sliding window. Window `i` covers input positions i * stride - before + k *
// dilation for k in [0, filter).
struct WindowAxis {
  int input = 0;
  int filter = 0;
  int stride = 0;
  int dilation = 1;
  int before = 0;  // leading padding; if the total is odd, the trailing padding is larger by one
  int output = 0;

  // Returns the first tap of window `i` that lies inside the input. If there is none, the result
  // equals LastTap(i).
  int FirstTap(int i) const {
    const int64_t start = Start(i);
    return start >= 0 ? 0 : static_cast<int>(std::min<int64_t>(filter, TapsWithin(-start)));
  }
  // Returns the tap after the last tap of window `i` that lies inside the input.
  int LastTap(int i) const {
    const int64_t available = input - Start(i);
    return available <= 0 ? 0 : static_cast<int>(std::min<int64_t>(filter, TapsWithin(available)));
  }
  // Number of taps at a distance below `distance` from the first. The division is avoided if
  // possible, because this is called for each window.
  int64_t TapsWithin(int64_t distance) const {
    return dilation == 1 ? distance : CeilDiv(distance, dilation);
  }
  int64_t Start(int i) const { return int64_t{i} * stride - before; }
};

// Treatment of VALID windows larger than the whole input: upstream's convolutions fail, its
// poolings return an empty tensor.
enum class TooSmall { kRefuse, kEmpty };

// Computes `output` and `before`. Fails for strides, filters and dilations below 1, for unknown
// paddings, for windows that `too_small` refuses, and if `before` exceeds an int. `what` names the
// axis in the error message.
inline TfLiteStatus ComputeWindows(TfLiteContext* context, TfLitePadding padding, const char* what,
                                   TooSmall too_small, WindowAxis* axis) {
  if (axis->stride < 1 || axis->filter < 1 || axis->dilation < 1) {
    return KernelError(context,
                       "%s: expected filter, stride and dilation of 1 or more, found %d, %d and %d",
                       what, axis->filter, axis->stride, axis->dilation);
  }
  const int64_t reach = int64_t{axis->filter - 1} * axis->dilation + 1;
  int64_t output = 0;
  if (padding == kTfLitePaddingSame) {
    output = CeilDiv(int64_t{axis->input}, axis->stride);
  } else if (padding == kTfLitePaddingValid) {
    // The division truncates towards zero, so that an input that is slightly too small gives no
    // window instead of an error.
    output = (int64_t{axis->input} + axis->stride - reach) / axis->stride;
    if (output < 0 && too_small == TooSmall::kRefuse) {
      return KernelError(context, "%s: expected an input of %lld or more for the filter, found %d",
                         what, static_cast<long long>(reach), axis->input);
    }
    output = std::max<int64_t>(output, 0);
  } else {
    return KernelError(context, "padding: expected SAME or VALID, found %d",
                       static_cast<int>(padding));
  }
  const int64_t total = (output - 1) * axis->stride + reach - axis->input;
  const int64_t before = padding == kTfLitePaddingSame ? std::max<int64_t>(total, 0) / 2 : 0;
  if (before > std::numeric_limits<int>::max()) {
    return KernelError(context, "%s: the dilated filter is too large", what);
  }
  axis->output = static_cast<int>(output);
  axis->before = static_cast<int>(before);
  return kTfLiteOk;
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_PADDING_H_
