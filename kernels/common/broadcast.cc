// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/broadcast.h"

#include <algorithm>

#include "kernels/common/copy_runs.h"

namespace deputy {
namespace {

// Returns the extent of an axis counted from the innermost; missing axes have extent 1.
int FromBack(const TfLiteTensor* tensor, int axis) {
  return axis < Rank(tensor) ? Dim(tensor, Rank(tensor) - 1 - axis) : 1;
}

// Limits for combining short runs into longer ones: the maximum number of repeated channels of b,
// and the size in bytes of a buffer of repeated or gathered values.
constexpr int64_t kMaxRepeated = 128;
constexpr int64_t kRepeatedBytes = 4096;

// Repeats the first `channels` elements of `values` `times` times.
template <typename T>
void RepeatAs(const char* values, int64_t channels, int64_t times, char* out) {
  CopyRuns(times, channels, reinterpret_cast<const T*>(values), 0, reinterpret_cast<T*>(out),
           channels);
}
void Repeat(const char* values, int64_t bytes, int64_t channels, int64_t times, char* out) {
  switch (bytes) {
    case 1:
      return RepeatAs<uint8_t>(values, channels, times, out);
    case 2:
      return RepeatAs<uint16_t>(values, channels, times, out);
    case 4:
      return RepeatAs<uint32_t>(values, channels, times, out);
    default:
      return RepeatAs<uint64_t>(values, channels * (bytes / 8), times, out);
  }
}

// Copies `rows` rows of `count` elements, `row_step` and `step` elements apart, to contiguous
// memory.
template <typename T>
void GatherAs(const char* values, int64_t rows, int64_t row_step, int64_t count, int64_t step,
              char* out) {
  const T* row = reinterpret_cast<const T*>(values);
  T* to = reinterpret_cast<T*>(out);
  for (; rows > 0; --rows, row += row_step) {
    for (int64_t i = 0; i < count; ++i) *to++ = row[i * step];
  }
}

bool IsGathered(int64_t bytes) { return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8; }

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
  // The output is resized first, because ResizeTo checks whether its size overflows.
  DEPUTY_TRY(ResizeTo(context, output, {dims, static_cast<size_t>(rank)}));
  PlanAxes(a, b, {dims, static_cast<size_t>(rank)});
  return kTfLiteOk;
}

void BroadcastPlan::PlanAxes(const TfLiteTensor* a, const TfLiteTensor* b,
                             std::span<const int> dims) {
  const int rank = static_cast<int>(dims.size());
  rank_ = 0;
  int64_t pitch_a = 1, pitch_b = 1, pitch_out = 1;
  // Axes are collected innermost first and reversed at the end.
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
  gathers_ = false;
  if (rank_ < 2) return;
  const Axis &again = axes_[static_cast<size_t>(rank_) - 2],
             &inner = axes_[static_cast<size_t>(rank_) - 1];
  // Channels are repeated if they are few and occur at least kSmallestBlock / channels times
  // (rounded down) in a block; smaller blocks do not repay the copies.
  constexpr int64_t kSmallestBlock = 32;
  if (inner.step_a == 1 && inner.step_b == 1 && again.step_b == 0 && again.step_a == inner.extent &&
      inner.extent <= kMaxRepeated && again.extent >= kSmallestBlock / inner.extent) {
    channels_ = inner.extent;
  }
  constexpr int64_t kShortRun = 16;
  gathers_ = channels_ == 0 && inner.extent < kShortRun && again.extent >= kShortRun;
}

void BroadcastPlan::RunAll(TfLiteContext* context, const Runs& runs) const {
  if (count_ == 0) return;
  ParallelRanges(context, count_, kElementsPerTask,
                 [&](int64_t first, int64_t last) { RunRange(first, last, runs); });
}

// Combines short runs into longer ones: those of a few values of b that are repeated (bias,
// slopes), and those of a short innermost axis.
void BroadcastPlan::RunRange(int64_t first, int64_t last, const Runs& runs) const {
  const bool gathers = gathers_ && IsGathered(runs.bytes_a) && IsGathered(runs.bytes_b);
  if (!gathers && (channels_ == 0 || last - first < std::min(16 * channels_, 4 * kMaxRepeated))) {
    return RunOneByOne(first, last, runs);
  }
  // The two innermost axes form a block: repeated channels of b, or short runs.
  const int64_t block =
      axes_[static_cast<size_t>(rank_) - 2].extent * axes_[static_cast<size_t>(rank_) - 1].extent;
  while (first < last) {
    const int64_t number = first / block, end = std::min(last, (number + 1) * block);
    Runs of_block = runs;
    of_block.out += number * block * runs.bytes_out;
    int64_t remainder = number;
    for (int level = rank_ - 3; level >= 0; --level) {
      const Axis& axis = axes_[static_cast<size_t>(level)];
      const int64_t index = remainder % axis.extent;
      of_block.a += index * axis.step_a * runs.bytes_a;
      of_block.b += index * axis.step_b * runs.bytes_b;
      remainder /= axis.extent;
    }
    const auto run = gathers ? &BroadcastPlan::RunGathered : &BroadcastPlan::RunBlock;
    (this->*run)(first - number * block, end - number * block, of_block);
    first = end;
  }
}

void BroadcastPlan::RunBlock(int64_t first, int64_t last, const Runs& runs) const {
  const auto run = [&](const char* b, int64_t count) {
    runs.call(runs.function, runs.a + first * runs.bytes_a, b, runs.out + first * runs.bytes_out,
              count, true, true);
    first += count;
  };
  // Elements of a partial row of channels at the beginning of the range.
  if (const int64_t within = first % channels_; within != 0) {
    run(runs.b + within * runs.bytes_b, std::min(last - first, channels_ - within));
  }
  if (first == last) return;
  alignas(std::max_align_t) char repeated[kRepeatedBytes];
  // A short range does not justify filling the whole buffer of repeated values.
  const int64_t max_count =
      std::clamp((last - first) / 8, 2 * kMaxRepeated, kRepeatedBytes / runs.bytes_b);
  const int64_t times = std::min(max_count / channels_, (last - first - 1) / channels_ + 1);
  Repeat(runs.b, runs.bytes_b, channels_, times, repeated);
  while (first < last) run(repeated, std::min(times * channels_, last - first));
}

void BroadcastPlan::RunGathered(int64_t first, int64_t last, const Runs& runs) const {
  const Axis &rows = axes_[static_cast<size_t>(rank_) - 2],
             &inner = axes_[static_cast<size_t>(rank_) - 1];
  const auto part_of_row = [&](int64_t count) {
    const int64_t row = first / inner.extent, within = first % inner.extent;
    runs.call(runs.function, runs.a + (row * rows.step_a + within * inner.step_a) * runs.bytes_a,
              runs.b + (row * rows.step_b + within * inner.step_b) * runs.bytes_b,
              runs.out + first * runs.bytes_out, count, inner.step_a != 0, inner.step_b != 0);
    first += count;
  };
  alignas(std::max_align_t) char left[kRepeatedBytes], right[kRepeatedBytes];
  // Returns an input's rows: in place if they are contiguous, else gathered in `out`.
  const auto gather = [&](const char* values, int64_t bytes, int64_t row, int64_t count,
                          int64_t row_step, int64_t step, char* out) -> const char* {
    values += row * row_step * bytes;
    if (step == 1 && row_step == inner.extent) return values;
    const auto as = bytes == 1   ? &GatherAs<uint8_t>
                    : bytes == 2 ? &GatherAs<uint16_t>
                    : bytes == 4 ? &GatherAs<uint32_t>
                                 : &GatherAs<uint64_t>;
    as(values, count, row_step, inner.extent, step, out);
    return out;
  };
  if (const int64_t within = first % inner.extent; within != 0) {
    part_of_row(std::min(last - first, inner.extent - within));
  }
  const int64_t max_count = kRepeatedBytes / std::max(runs.bytes_a, runs.bytes_b) / inner.extent;
  while (last - first >= inner.extent) {
    const int64_t row = first / inner.extent,
                  count = std::min(max_count, (last - first) / inner.extent);
    const char* const a = gather(runs.a, runs.bytes_a, row, count, rows.step_a, inner.step_a, left);
    const char* const b =
        gather(runs.b, runs.bytes_b, row, count, rows.step_b, inner.step_b, right);
    runs.call(runs.function, a, b, runs.out + first * runs.bytes_out, count * inner.extent, true,
              true);
    first += count * inner.extent;
  }
  if (first < last) part_of_row(last - first);
}

void BroadcastPlan::RunOneByOne(int64_t first, int64_t last, const Runs& runs) const {
  const int innermost = rank_ - 1;
  int64_t index[kMaxRank];
  int64_t a = 0, b = 0;  // offsets of the current run in the inputs, in elements
  int64_t remainder = first;
  for (int level = innermost; level >= 0; --level) {
    const Axis& axis = axes_[static_cast<size_t>(level)];
    index[level] = remainder % axis.extent;
    remainder /= axis.extent;
    a += index[level] * axis.step_a;
    b += index[level] * axis.step_b;
  }
  const Axis& inner = axes_[static_cast<size_t>(innermost)];
  while (first < last) {
    const int64_t count = std::min(last - first, inner.extent - index[innermost]);
    runs.call(runs.function, runs.a + a * runs.bytes_a, runs.b + b * runs.bytes_b,
              runs.out + first * runs.bytes_out, count, inner.step_a != 0, inner.step_b != 0);
    first += count;
    // Computes the inputs' offsets of the next run.
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

}  // namespace deputy
