// SPDX-License-Identifier: Apache-2.0
//
// PAD, PADV2 and MIRROR_PAD: add a margin of one value, or of the tensor's own elements mirrored.
// PAD's value is the zero point, or 0. The margins may be known only at run time.
#include "core/kernel_api/fusion.h"
#include "kernels/common/copy_runs.h"
#include "kernels/common/elements.h"
#include "kernels/common/families.h"
#include "kernels/common/fold.h"
#include "kernels/common/kernel.h"
#include "kernels/common/rescale.h"
#include "kernels/common/shape_input.h"
#include "kernels/common/strided_copy.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

bool FillMirrorPad(const OpOptions& options, TfLiteMirrorPaddingParams* params) {
  const int8_t mode = options.Byte(0);
  params->mode = mode == 0   ? kTfLiteMirrorPaddingReflect
                 : mode == 1 ? kTfLiteMirrorPaddingSymmetric
                             : kTfLiteMirrorPaddingUnknown;
  return true;
}

// ---- Common parts -----------------------------------------------------------------------------

int64_t Before(const TfLiteTensor* margins, int axis) { return IntegerAt(margins, 2 * axis); }
int64_t After(const TfLiteTensor* margins, int axis) { return IntegerAt(margins, 2 * axis + 1); }

TfLiteStatus CheckMargins(TfLiteContext* context, const TfLiteNode* node, uint32_t types) {
  const TfLiteTensor* margins = Input(context, node, 1);
  DEPUTY_TRY(CheckType(context, margins, types));
  DEPUTY_TRY(CheckRank(context, margins, 2));
  DEPUTY_TRY(CheckDim(context, margins, 0, Rank(Input(context, node, 0))));
  return CheckDim(context, margins, 1, 2);
}

// Resizes the output to the padded shape. No margin may exceed `limit(extent)`.
template <typename Limit>
TfLiteStatus ResizePadded(TfLiteContext* context, TfLiteNode* node, const Limit& limit) {
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* margins = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  int dims[kMaxRank];
  for (int axis = 0; axis < Rank(input); ++axis) {
    const int64_t max_margin = limit(Dim(input, axis));
    for (const int64_t margin : {Before(margins, axis), After(margins, axis)}) {
      if (margin < 0 || margin > max_margin) {
        // The text about negative margins is upstream's, which clients may compare.
        return TensorError(context, margins, "%sexpected 0 to %lld in dimension %d, found %lld",
                           margin < 0 ? "Pad value has to be greater than equal to 0.; " : "",
                           static_cast<long long>(max_margin), axis,
                           static_cast<long long>(margin));
      }
    }
    DEPUTY_TRY(SetExtent(context, output, axis,
                         Dim(input, axis) + Before(margins, axis) + After(margins, axis),
                         &dims[axis]));
  }
  return ResizeTo(context, output, {dims, static_cast<size_t>(Rank(input))});
}

// ---- PAD and PADV2 ----------------------------------------------------------------------------

constexpr uint32_t kPadTypes = kBFloat16Bit | kFloat32Bit | kFloat16Bit | kInt8Bit | kUInt8Bit |
                               kInt16Bit | kInt32Bit | kInt64Bit | kBoolBit;

constexpr int kMaxPadRank = 5;  // limit of upstream's kernel

// Resizes the output of PAD or PADV2, whose margins may have any size that fits in an extent.
TfLiteStatus ResizeFilled(TfLiteContext* context, TfLiteNode* node) {
  return ResizePadded(context, node, [](int) { return int64_t{INT32_MAX}; });
}

template <bool with_value>
TfLiteStatus PreparePad(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, with_value ? 3 : 2, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kPadTypes));
  DEPUTY_TRY(CheckSameType(context, output, input));
  DEPUTY_TRY(CheckMargins(context, node, kInt8Bit | kInt16Bit | kInt32Bit | kInt64Bit));
  if (Rank(input) > kMaxPadRank) {
    return TensorError(context, input, "expected at most %d dimensions, found %d", kMaxPadRank,
                       Rank(input));
  }
  // Without its third input PADV2 is PAD.
  if (const TfLiteTensor* value = with_value ? Input(context, node, 2) : nullptr) {
    DEPUTY_TRY(CheckSameType(context, value, input));
    DEPUTY_TRY(CheckElementCount(context, value, 1));
    if ((input->type == kTfLiteInt8 || input->type == kTfLiteUInt8 ||
         input->type == kTfLiteInt16) &&
        !NeedsRescaling(context, value, output)) {
      DEPUTY_TRY(CheckSameQuantization(context, value, output));
    }
  }
  if (IsKnown(Input(context, node, 1))) return ResizeFilled(context, node);
  MakeDynamic(output);
  return kTfLiteOk;
}

// Returns the value of PAD's or PADV2's margin, as the bits of an element.
template <bool with_value, typename T>
T MarginValue(TfLiteContext* context, const TfLiteNode* node) {
  const TfLiteTensor* const value = with_value ? Input(context, node, 2) : nullptr;
  if (value != nullptr) return *Data<T>(value);
  const TfLiteTensor* output = Output(context, node, 0);
  int32_t low, high;
  if (!QuantizedLimits(output->type, &low, &high)) return T{};
  return static_cast<T>(output->params.zero_point);
}

// Writes an output sequentially: margins, and the input's elements between them. Elements are
// treated as bytes, moved as values of type T.
template <typename T>
class PadWriter {
 public:
  // `value` is one element of `value_bytes` bytes, a multiple of sizeof(T).
  PadWriter(const TfLiteTensor* input, const TfLiteTensor* margins, const TfLiteTensor* output,
            const void* value, size_t value_bytes)
      : parts_(static_cast<int64_t>(value_bytes / sizeof(T))) {
    const DenseSteps in(Dims(input)), out(Dims(output));
    for (size_t i = 0; i < sizeof values_; i += value_bytes) {
      std::memcpy(reinterpret_cast<char*>(values_) + i, value, value_bytes);
    }
    for (const T part : values_) is_zero_ = is_zero_ && part == T{0};
    const int rank = Rank(input);
    for (int axis = 0; axis < rank; ++axis) {
      const Level level = {Before(margins, axis), Dim(input, axis), Dim(output, axis),
                           in[axis] * parts_, out[axis] * parts_};
      // Axes of extent 1 without margins need no loop.
      if (level.extent_out == 1 && level.before == 0) continue;
      levels_[level_count_++] = level;
      if (level.extent_out != level.extent_in) padded_levels_ = level_count_;
    }
  }

  // Distributes the slices of the first level over the interpreter's threads.
  void Run(TfLiteContext* context, const T* in, T* out) const {
    if (padded_levels_ == 0) {
      std::copy_n(in, level_count_ == 0 ? parts_ : levels_[0].extent_in * levels_[0].step_in, out);
      return;
    }
    ParallelRanges(context, levels_[0].extent_out, kElementsPerTask / levels_[0].step_out + 1,
                   [&](int64_t first, int64_t last) { Slices(0, first, last, in, out); });
  }

 private:
  struct Level {
    int64_t before, extent_in, extent_out, step_in, step_out;
  };
  // Number of values of type T in 16 bytes.
  static constexpr int64_t kChunk = 16 / static_cast<int64_t>(sizeof(T));

  void Slices(int number, int64_t first, int64_t last, const T* in, T* out) const {
    const Level& level = levels_[number];
    const int64_t from = std::clamp(level.before, first, last);
    const int64_t to = std::clamp(level.before + level.extent_in, first, last);
    FillLong(out + first * level.step_out, (from - first) * level.step_out);
    const T* source = in + (from - level.before) * level.step_in;
    T* to_slice = out + from * level.step_out;
    if (number + 1 == padded_levels_) {
      CopyRun(source, (to - from) * level.step_in, to_slice);
    } else if (number + 2 == padded_levels_) {
      Runs(levels_[number + 1], to - from, source, to_slice);
    } else {
      const int64_t inner = levels_[number + 1].extent_out;
      for (int64_t i = from; i < to; ++i, source += level.step_in, to_slice += level.step_out) {
        Slices(number + 1, 0, inner, source, to_slice);
      }
    }
    FillLong(out + to * level.step_out, (last - to) * level.step_out);
  }

  // Writes `count` slices along the last axis that has margins: margin, elements, margin.
  void Runs(const Level& level, int64_t count, const T* in, T* out) const {
    const int64_t before = level.before * level.step_out, run = level.extent_in * level.step_in;
    const int64_t after = level.extent_out * level.step_out - before - run;
    if (std::max(before, after) >= 16 * kChunk) {
      return LongRuns(count, before, run, after, in, out);
    }
    for (; count > 0; --count, in += run, out += after) {
      Fill(out, before);
      CopyRun(in, run, out + before);
      out += before + run;
      Fill(out, after);
    }
  }

  // Writes `count` slices whose margins are so long that FillLong pays off.
  [[gnu::noinline]] void LongRuns(int64_t count, int64_t before, int64_t run, int64_t after,
                                  const T* in, T* out) const {
    for (; count > 0; --count, in += run, out += after) {
      FillLong(out, before);
      CopyRun(in, run, out + before);
      out += before + run;
      FillLong(out, after);
    }
  }

  // Fills a margin; a long run of zeros is worth a memset call.
  void FillLong(T* out, int64_t count) const {
    if (count < 16 * kChunk || !is_zero_) return Fill(out, count);
    std::memset(out, 0, static_cast<size_t>(count) * sizeof(T));
  }
  void Fill(T* out, int64_t count) const {
    for (; count >= kChunk; count -= kChunk, out += kChunk) std::memcpy(out, values_, 16);
    for (int64_t i = 0; i < count; ++i) out[i] = values_[i];
  }
  int64_t parts_;  // number of values of type T per element
  bool is_zero_ = true;
  T values_[kChunk];
  Level levels_[kMaxPadRank] = {};
  int level_count_ = 0, padded_levels_ = 0;
};

// Writes the padded tensor as values of type T. Not inlined, so that all element types of one size
// share the code.
template <typename T>
[[gnu::noinline]] void WritePadded(TfLiteContext* context, const TfLiteNode* node,
                                   const void* value, size_t value_bytes) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  const PadWriter<T> writer(input, Input(context, node, 1), output, value, value_bytes);
  writer.Run(context, static_cast<const T*>(input->data.data), static_cast<T*>(output->data.data));
}

template <bool with_value>
TfLiteStatus EvalPad(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* margins = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  if (!IsKnown(margins)) DEPUTY_TRY(ResizeFilled(context, node));
  return WithElements(context, output, [&](auto& access) -> TfLiteStatus {
    using T = typename std::remove_reference_t<decltype(access)>::Element;
    const int64_t count = ElementCount(output);
    if constexpr (std::is_integral_v<T>) {
      if (count == 0) return kTfLiteOk;
      const T value = MarginValue<with_value, T>(context, node);
      if (ElementCount(input) == 0) {
        std::fill_n(Data<T>(output), count, value);
        return kTfLiteOk;
      }
      using Part = std::conditional_t<sizeof(T) <= 2, uint8_t, uint32_t>;
      WritePadded<Part>(context, node, &value, sizeof value);
    }
    return kTfLiteOk;
  });
}

// Prepares PAD and offers fusion: margins of zeros around float32 images need not be written if the
// consuming layer can absorb them.
TfLiteStatus PreparePadAndOffer(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(PreparePad<false>(context, node));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* margins = Input(context, node, 1);
  if (input->type != kTfLiteFloat32 || Rank(input) != 4 || !IsKnown(margins) ||
      ElementCount(input) == 0) {
    return kTfLiteOk;
  }
  if (Before(margins, 0) + After(margins, 0) + Before(margins, 3) > 0) return kTfLiteOk;
  OfferFusion(context, node,
              {.invoke = kFoldedInvoke<&EvalMove<RescaleInputs(1), &EvalPad<false>>>,
               .role = PadRole{{.top = static_cast<int>(Before(margins, 1)),
                                .bottom = static_cast<int>(After(margins, 1)),
                                .left = static_cast<int>(Before(margins, 2)),
                                .right = static_cast<int>(After(margins, 2)),
                                .channels = static_cast<int>(After(margins, 3))}}});
  return kTfLiteOk;
}

// ---- MIRROR_PAD -------------------------------------------------------------------------------

// Number of elements at the border that the mirrored margin skips: 1 for REFLECT, 0 for SYMMETRIC.
int MirrorOffset(const TfLiteNode* node) {
  return ParamsOf<TfLiteMirrorPaddingParams>(node).mode == kTfLiteMirrorPaddingReflect ? 1 : 0;
}

TfLiteStatus ResizeMirrored(TfLiteContext* context, TfLiteNode* node) {
  const int offset = MirrorOffset(node);
  return ResizePadded(context, node, [offset](int extent) { return int64_t{extent} - offset; });
}

TfLiteStatus PrepareMirrorPad(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kMovedNumberBits));
  DEPUTY_TRY(CheckSameType(context, output, input));
  DEPUTY_TRY(CheckMargins(context, node, kInt32Bit | kInt64Bit));
  DEPUTY_TRY(CheckExactQuantization(context, output, input));
  if (ParamsOf<TfLiteMirrorPaddingParams>(node).mode == kTfLiteMirrorPaddingUnknown) {
    return KernelError(context, "expected the mode REFLECT or SYMMETRIC");
  }
  if (IsKnown(Input(context, node, 1))) return ResizeMirrored(context, node);
  MakeDynamic(output);
  return kTfLiteOk;
}

struct MirrorLevel {
  int64_t extent, before, after;  // extent of the input's axis, and its two margins
  int64_t step_in, step_out;
};

// Writes the block of one axis and everything inside it: the middle first, then mirrored copies of
// its slices around it.
template <typename T>
void Mirror(const MirrorLevel* level, int left, int offset, const T* in, T* out) {
  if (left == 0) {
    *out = *in;
    return;
  }
  const int64_t step = level->step_out;
  T* middle = out + level->before * step;
  if (left == 1) {
    std::copy_n(in, level->extent, middle);
  } else {
    for (int64_t i = 0; i < level->extent; ++i) {
      Mirror(level + 1, left - 1, offset, in + i * level->step_in, middle + i * step);
    }
  }
  for (int64_t i = 0; i < level->before; ++i) {
    const T* from = middle + (i + offset) * step;
    std::copy_n(from, step, middle - (i + 1) * step);
  }
  T* end = middle + level->extent * step;
  for (int64_t i = 0; i < level->after; ++i) {
    std::copy_n(end - (i + 1 + offset) * step, step, end + i * step);
  }
}

TfLiteStatus EvalMirrorPad(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* margins = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  if (!IsKnown(margins)) DEPUTY_TRY(ResizeMirrored(context, node));
  const auto in = DenseSteps(Dims(input));
  const auto out = DenseSteps(Dims(output));
  MirrorLevel levels[kMaxRank];
  for (int axis = 0; axis < Rank(input); ++axis) {
    levels[axis] = {Dim(input, axis), Before(margins, axis), After(margins, axis), in[axis],
                    out[axis]};
  }
  const int offset = MirrorOffset(node);
  return MoveElements(context, input, output, [&](const auto* from, auto* to) {
    Mirror(levels, Rank(input), offset, from, to);
  });
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    KernelRow<void>("PAD", kTfLiteBuiltinPad, 6, kPadTypes,
                    kFoldingPrepare<&PrepareMove<RescaleInputs(1), &PreparePadAndOffer>,
                                    &EvalMove<RescaleInputs(1), &EvalPad<false>>>,
                    kFoldedInvoke<&EvalMove<RescaleInputs(1), &EvalPad<false>>>),
    KernelRow<void>("PADV2", kTfLiteBuiltinPadv2, 6, kPadTypes,
                    kFoldingPrepare<&PrepareMove<RescaleInputs(5), &PreparePad<true>>,
                                    &EvalMove<RescaleInputs(5), &EvalPad<true>>>,
                    kFoldedInvoke<&EvalMove<RescaleInputs(5), &EvalPad<true>>>),
    WithOptions<77, TfLiteMirrorPaddingParams, &FillMirrorPad>(
        KernelRow<void>("MIRROR_PAD", kTfLiteBuiltinMirrorPad, 3, kMovedNumberBits,
                        &Guarded<&PrepareMove<RescaleInputs(1), &PrepareMirrorPad>>,
                        &Guarded<&EvalMove<RescaleInputs(1), &EvalMirrorPad>>)),
};

}  // namespace

constexpr std::span<const OpDef> kPadOps = kTable;

}  // namespace deputy
