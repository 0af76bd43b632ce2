// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/portion.h"

#include <algorithm>

namespace deputy {

void RunPortion(TfLiteContext* context, const Portion& portion, int64_t count, RangeCall function) {
  if (!portion.is_whole()) return function(portion.first, portion.last);
  const StepTail tail(context);
  ParallelRanges(context, count, kElementsPerTask, [&](int64_t first, int64_t last) {
    if (tail.empty()) return function(first, last);
    for (; first < last; first += kStepElements) {
      const int64_t end = std::min(first + kStepElements, last);
      function(first, end);
      tail.Finish(first, end);
    }
  });
}

}  // namespace deputy
