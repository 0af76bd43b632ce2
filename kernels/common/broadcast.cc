// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/broadcast.h"

#include <algorithm>

namespace deputy {
namespace {

// Extent along an axis counted from the innermost; missing axes are 1.
int FromBack(const TfLiteTensor* tensor, int axis) {
  return axis < Rank(tensor) ? Dim(tensor, Rank(tensor) - 1 - axis) : 1;
}

}  // namespace

TfLiteStatus BroadcastPlan::Prepare(TfLiteContext* context, const TfLiteTensor* a,
                                    const TfLiteTensor* b, TfLiteTensor* output) {
  const int rank = std::max(Rank(a), Rank(b));
  int dims[kMaxRank];
  for (int back = 0; back < rank; ++back) {
    const int extent_a = FromBack(a, back), extent_b = FromBack(b, back);
    if (extent_a != extent_b && extent_a != 1 && extent_b != 1) {
      return TensorError(context, b,
                         "expected a shape that broadcasts with tensor %d, found %d "
                         "against %d in dimension %d from the end",
                         static_cast<int>(a - context->tensors), extent_b, extent_a, back + 1);
    }
    dims[rank - 1 - back] = extent_a == 1 ? extent_b : extent_a;
  }
  // Before anything is multiplied: the output's size may be more than fits.
  DEPUTY_TRY(ResizeTo(context, output, {dims, static_cast<size_t>(rank)}));
  PlanAxes(a, b, {dims, static_cast<size_t>(rank)});
  return kTfLiteOk;
}

void BroadcastPlan::PlanAxes(const TfLiteTensor* a, const TfLiteTensor* b,
                             std::span<const int> dims) {
  const int rank = static_cast<int>(dims.size());
  rank_ = 0;
  int64_t pitch_a = 1, pitch_b = 1, pitch_out = 1;
  // Built innermost first and turned round at the end.
  for (int back = 0; back < rank; ++back) {
    const int extent_a = FromBack(a, back), extent_b = FromBack(b, back);
    const int extent = dims[static_cast<size_t>(rank - 1 - back)];
    const Axis axis{extent, extent_a == 1 ? 0 : pitch_a, extent_b == 1 ? 0 : pitch_b, pitch_out};
    if (extent != 1) {
      Axis* inner = rank_ > 0 ? &axes_[rank_ - 1] : nullptr;
      if (inner != nullptr && axis.step_a == inner->step_a * inner->extent &&
          axis.step_b == inner->step_b * inner->extent) {
        inner->extent *= extent;
      } else {
        axes_[rank_++] = axis;
      }
    }
    pitch_a *= extent_a;
    pitch_b *= extent_b;
    pitch_out *= extent;
  }
  if (rank_ == 0) axes_[rank_++] = Axis{1, 0, 0, 1};
  std::reverse(axes_.begin(), axes_.begin() + rank_);
  count_ = pitch_out;
  channels_ = 0;
  if (rank_ < 2) return;
  const Axis &again = axes_[static_cast<size_t>(rank_) - 2],
             &inner = axes_[static_cast<size_t>(rank_) - 1];
  // Blocks worth the trouble, of channels that are few enough to be repeated.
  constexpr int64_t kSmallestBlock = 32;
  if (inner.step_a == 1 && inner.step_b == 1 && again.step_b == 0 && again.step_a == inner.extent &&
      inner.extent <= kRepeated / 2 && again.extent >= kSmallestBlock / inner.extent) {
    channels_ = inner.extent;
  }
}

}  // namespace deputy
