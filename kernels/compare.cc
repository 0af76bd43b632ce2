// SPDX-License-Identifier: Apache-2.0
//
// Comparisons, logic and selection. Quantised values are compared as real numbers: int8 and uint8
// in all six comparisons, int16 in EQUAL and NOT_EQUAL only (upstream orders int16 by quantised
// values). Both sides are rounded to fixed point with 8 fraction bits, so real numbers that differ
// by less than 2^-8 may be equal. int8 and uint8 without a scale, for which upstream aborts, are
// compared as integers.
//
// SELECT takes a condition with the shape of its values, a scalar, or one condition per row;
// SELECT_V2 broadcasts all three inputs.
#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>

#include "kernels/common/broadcast.h"
#include "kernels/common/cast.h"
#include "kernels/common/element_type.h"
#include "kernels/common/elements.h"
#include "kernels/common/families.h"
#include "kernels/common/fold.h"
#include "kernels/common/kernel.h"
#include "kernels/common/requantize.h"
#include "kernels/common/rescale.h"
#include "kernels/cpu/map_vectors.h"

namespace deputy {
namespace {

constexpr uint32_t kOrderedTypes =
    kFloat32Bit | kFloat16Bit | kInt8Bit | kUInt8Bit | kInt16Bit | kInt32Bit | kInt64Bit;
constexpr uint32_t kEqualTypes = kOrderedTypes | kBoolBit | kStringBit;
constexpr uint32_t kLessTypes = kOrderedTypes | kBFloat16Bit;
constexpr uint32_t kSelectTypes = kMovedNumberBits;

// ---- Prepare ----------------------------------------------------------------------------------

struct CompareData {
  BroadcastPlan plan;
  // True if real numbers are compared, false if quantised values are compared as integers.
  bool is_quantized = false;
};

bool HasScale(const TfLiteTensor* tensor) { return tensor->params.scale != 0.0f; }

template <uint32_t types, bool int16_by_value>
TfLiteStatus PrepareComparison(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  CompareData& data = DataOf<CompareData>(node);
  const TfLiteTensor* a = Input(context, node, 0);
  const TfLiteTensor* b = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, a, types));
  DEPUTY_TRY(CheckSameType(context, b, a));
  output->type = kTfLiteBool;
  const bool can_be_quantized = a->type == kTfLiteInt8 || a->type == kTfLiteUInt8 ||
                                (int16_by_value && a->type == kTfLiteInt16);
  data.is_quantized = can_be_quantized && (HasScale(a) || HasScale(b));
  if (data.is_quantized) {
    DEPUTY_TRY(CheckQuantized(context, a));
    DEPUTY_TRY(CheckQuantized(context, b));
  }
  return data.plan.Prepare(context, a, b, output);
}

TfLiteStatus PrepareLogic(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* a = Input(context, node, 0);
  const TfLiteTensor* b = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, a, kBoolBit));
  DEPUTY_TRY(CheckSameType(context, b, a));
  output->type = kTfLiteBool;
  return DataOf<CompareData>(node).plan.Prepare(context, a, b, output);
}

TfLiteStatus PrepareNot(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kBoolBit));
  output->type = kTfLiteBool;
  return ResizeLike(context, output, input);
}

// ---- Comparisons ------------------------------------------------------------------------------

// Number of fraction bits of a real number in fixed point. Differences of less than 2^-8 between
// real numbers may be lost.
constexpr int kExtraBits = 8;
FixedScale FixedScaleOf(const TfLiteTensor* tensor) {
  return {tensor->params.zero_point, kExtraBits,
          ToFixedMultiplier(static_cast<double>(tensor->params.scale))};
}
template <typename T>
void FixedReference(const T* in, int64_t count, const FixedScale& scale, int32_t* out) {
  for (int64_t i = 0; i < count; ++i) {
    out[i] = Multiply((in[i] - scale.zero_point) * (1 << scale.extra_bits), scale.by);
  }
}

// Compares a run with equal_to, less or less_equal; other comparisons swap the inputs or negate the
// result.
template <typename Base, typename T>
void CompareReference(const BinaryRun<T, uint8_t>& run, bool negated) {
  const Base base;
  for (int64_t i = 0; i < run.count; ++i) {
    run.out[i] = base(run.a[run.a_moves ? i : 0], run.b[run.b_moves ? i : 0]) != negated ? 1 : 0;
  }
}

struct Comparison {
  CompareLoops VectorKernels::*loops;
  CompareLoops reference;
  bool swapped, negated;

  template <typename T>
  void Run(BinaryRun<T, uint8_t> run, const VectorKernels& vector) const {
    if (swapped) {
      std::swap(run.a, run.b);
      std::swap(run.a_moves, run.b_moves);
    }
    const CompareLoop<T> loop = (vector.*loops).template of<T>();
    (loop != nullptr ? loop : reference.of<T>())(run, negated);
  }
};

template <typename Base>
constexpr Comparison ComparisonOf(CompareLoops VectorKernels::*loops, bool swapped, bool negated) {
  return {loops,
          {{&CompareReference<Base, float>},
           {&CompareReference<Base, int32_t>},
           {&CompareReference<Base, int64_t>}},
          swapped,
          negated};
}
constexpr Comparison kEqual = ComparisonOf<std::equal_to<>>(&VectorKernels::equal, false, false);
constexpr Comparison kNotEqual = ComparisonOf<std::equal_to<>>(&VectorKernels::equal, false, true);
constexpr Comparison kLess = ComparisonOf<std::less<>>(&VectorKernels::less, false, false);
constexpr Comparison kGreater = ComparisonOf<std::less<>>(&VectorKernels::less, true, false);
constexpr Comparison kLessEqual =
    ComparisonOf<std::less_equal<>>(&VectorKernels::less_or_equal, false, false);
constexpr Comparison kGreaterEqual =
    ComparisonOf<std::less_equal<>>(&VectorKernels::less_or_equal, true, false);

// Compares elements of T after conversion to Wide, a type for which there is a comparison loop.
template <typename T, typename Wide>
TfLiteStatus CompareWidened(TfLiteContext* context, TfLiteNode* node, const Comparison& compare) {
  const VectorKernels& vector = CpuOf(context).vector;
  const auto widen = [loop = vector.cast.of<FromTo<T, Wide>>()](const T* in, int64_t count,
                                                                Wide* out) {
    if (loop != nullptr) return loop(in, count, out);
    for (int64_t i = 0; i < count; ++i) out[i] = CastNumber<Wide>(in[i]);
  };
  return RunWidened<T, Wide, uint8_t>(
      context, node, DataOf<CompareData>(node).plan, widen, widen,
      [&](const BinaryRun<Wide, uint8_t>& run) { compare.Run(run, vector); });
}

template <typename T>
TfLiteStatus CompareQuantized(TfLiteContext* context, TfLiteNode* node, const Comparison& compare) {
  const VectorKernels& vector = CpuOf(context).vector;
  FixedLoop<T> loop = vector.fixed.of<T>();
  if (loop == nullptr) loop = &FixedReference<T>;
  const auto widen_by = [loop](const FixedScale& scale) {
    return [loop, scale](const T* in, int64_t count, int32_t* out) { loop(in, count, scale, out); };
  };
  return RunWidened<T, int32_t, uint8_t>(
      context, node, DataOf<CompareData>(node).plan,
      widen_by(FixedScaleOf(Input(context, node, 0))),
      widen_by(FixedScaleOf(Input(context, node, 1))),
      [&](const BinaryRun<int32_t, uint8_t>& run) { compare.Run(run, vector); });
}

template <typename T>
TfLiteStatus CompareElements(TfLiteContext* context, TfLiteNode* node, const Comparison& compare) {
  const CompareData& data = DataOf<CompareData>(node);
  if constexpr (kIsShortFloat<T>) {
    return CompareWidened<T, float>(context, node, compare);
  } else if constexpr (sizeof(T) <= 2) {
    return data.is_quantized ? CompareQuantized<T>(context, node, compare)
                             : CompareWidened<T, int32_t>(context, node, compare);
  } else {
    const VectorKernels& vector = CpuOf(context).vector;
    return RunVectors<T, uint8_t>(context, node, data.plan, [&](const BinaryRun<T, uint8_t>& run) {
      compare.Run(run, vector);
    });
  }
}

// Converts nonzero bytes to 1. If the input does not move, its first byte is repeated `count`
// times.
void ToBools(const VectorKernels& vector, const uint8_t* in, bool moves, int64_t count,
             uint8_t* out) {
  if (!moves) {
    std::memset(out, *in != 0 ? 1 : 0, static_cast<size_t>(count));
  } else if (const auto to_bool = vector.to_bool.of<int8_t>()) {
    to_bool(reinterpret_cast<const int8_t*>(in), count, out);
  } else {
    for (int64_t i = 0; i < count; ++i) out[i] = in[i] != 0 ? 1 : 0;
  }
}

// EQUAL and NOT_EQUAL of bools, sixteen at a time: as bytes of 0 or 1 they differ in their lowest
// bits.
TfLiteStatus CompareBools(TfLiteContext* context, TfLiteNode* node, bool negated) {
  typedef uint64_t Bools __attribute__((vector_size(16)));
  constexpr size_t kTogether = sizeof(Bools);
  static_assert(kWidenedCount % kTogether == 0);
  const VectorKernels& vector = CpuOf(context).vector;
  const uint64_t flip = negated ? 0 : 0x0101010101010101;
  return RunVectors<uint8_t>(
      context, node, DataOf<CompareData>(node).plan, [&](const BinaryRun<uint8_t>& run) {
        uint8_t a[kWidenedCount], b[kWidenedCount];
        for (int64_t first = 0; first < run.count; first += kWidenedCount) {
          const int64_t count = std::min(run.count - first, kWidenedCount);
          ToBools(vector, run.a + (run.a_moves ? first : 0), run.a_moves, count, a);
          ToBools(vector, run.b + (run.b_moves ? first : 0), run.b_moves, count, b);
          for (size_t i = 0; i < static_cast<size_t>(count); i += kTogether) {
            Bools left, right;
            std::memcpy(&left, a + i, kTogether);
            std::memcpy(&right, b + i, kTogether);
            left ^= right ^ flip;
            std::memcpy(a + i, &left, kTogether);
          }
          std::copy_n(a, count, run.out + first);
        }
      });
}

TfLiteStatus CompareStrings(TfLiteContext* context, TfLiteNode* node, bool negated) {
  ElementArrays arrays(context);
  ElementAccess<std::string_view> access(&arrays);
  const std::string_view *a = nullptr, *b = nullptr;
  DEPUTY_TRY(access.Read(Input(context, node, 0), &a));
  DEPUTY_TRY(access.Read(Input(context, node, 1), &b));
  DataOf<CompareData>(node).plan.Run(
      context, a, b, Data<uint8_t>(Output(context, node, 0)),
      [negated](std::string_view x, std::string_view y) { return (x == y) != negated; });
  return kTfLiteOk;
}

template <const Comparison& compare>
TfLiteStatus EvalOrder(TfLiteContext* context, TfLiteNode* node) {
  return DispatchType<kLessTypes>(context, Input(context, node, 0), [&](auto tag) {
    return CompareElements<typename decltype(tag)::type>(context, node, compare);
  });
}

template <const Comparison& compare>
TfLiteStatus EvalEquality(TfLiteContext* context, TfLiteNode* node) {
  switch (Input(context, node, 0)->type) {
    case kTfLiteBool:
      return CompareBools(context, node, compare.negated);
    case kTfLiteString:
      return CompareStrings(context, node, compare.negated);
    default:
      return EvalOrder<compare>(context, node);
  }
}

// ---- Logic ------------------------------------------------------------------------------------

template <typename Function>
TfLiteStatus RunLogic(TfLiteContext* context, TfLiteNode* node, BinaryLoop<uint8_t> loop,
                      const Function& reference) {
  const BroadcastPlan& plan = DataOf<CompareData>(node).plan;
  if (loop != nullptr) return RunVectors<uint8_t>(context, node, plan, loop);
  plan.Run(context, Data<uint8_t>(Input(context, node, 0)), Data<uint8_t>(Input(context, node, 1)),
           Data<uint8_t>(Output(context, node, 0)),
           [&](uint8_t a, uint8_t b) { return reference(a != 0, b != 0); });
  return kTfLiteOk;
}

TfLiteStatus EvalAnd(TfLiteContext* context, TfLiteNode* node) {
  return RunLogic(context, node, CpuOf(context).vector.logical_and,
                  [](bool a, bool b) { return a && b; });
}

TfLiteStatus EvalOr(TfLiteContext* context, TfLiteNode* node) {
  return RunLogic(context, node, CpuOf(context).vector.logical_or,
                  [](bool a, bool b) { return a || b; });
}

TfLiteStatus EvalNot(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  if (const auto loop = CpuOf(context).vector.logical_not) {
    return MapRuns<uint8_t, uint8_t>(
        context, input, output,
        [loop](const uint8_t* in, int64_t count, uint8_t* out) { loop(in, count, out); });
  }
  return MapElements<uint8_t>(context, input, output,
                              [](uint8_t x) { return static_cast<uint8_t>(x == 0); });
}

// ---- Selection --------------------------------------------------------------------------------

// Plan of SELECT and SELECT_V2: three inputs that broadcast to a dense output. Axes are ordered
// from the outermost; adjacent axes with compatible strides are merged.
struct SelectData {
  struct Axis {
    int64_t extent = 1;
    int64_t step[3] = {0, 0, 0};  // strides of condition, x and y, in elements
  };
  std::array<Axis, kMaxRank> axes;
  int rank = 0;
};

// Merges an axis with the one before it if each input passes through both with one stride (0: it is
// broadcast along both).
void MergeAxes(SelectData* data) {
  int merged = 0;  // number of merged axes so far, the innermost last
  for (int axis = 0; axis < data->rank; ++axis) {
    const SelectData::Axis& next = data->axes[static_cast<size_t>(axis)];
    if (next.extent == 1) continue;
    SelectData::Axis& last = data->axes[static_cast<size_t>(std::max(merged - 1, 0))];
    bool alike = merged > 0;
    for (int i = 0; i < 3; ++i) alike = alike && (last.step[i] == next.extent * next.step[i]);
    if (alike) {
      last = {last.extent * next.extent, {next.step[0], next.step[1], next.step[2]}};
    } else {
      data->axes[static_cast<size_t>(merged++)] = next;
    }
  }
  data->rank = merged;
}

// Computes the shape to which all three inputs broadcast.
TfLiteStatus PlanSelect(TfLiteContext* context, const TfLiteTensor* const inputs[3],
                        TfLiteTensor* output, SelectData* data) {
  data->rank = std::max({Rank(inputs[0]), Rank(inputs[1]), Rank(inputs[2])});
  int dims[kMaxRank];
  int64_t pitch[3] = {1, 1, 1};
  for (int axis = data->rank - 1; axis >= 0; --axis) {
    SelectData::Axis& output_axis = data->axes[static_cast<size_t>(axis)];
    output_axis = {};
    for (int i = 0; i < 3; ++i) {
      const int at = axis - (data->rank - Rank(inputs[i]));
      const int extent = at < 0 ? 1 : Dim(inputs[i], at);
      if (extent == 1) continue;
      if (output_axis.extent != 1 && output_axis.extent != extent) {
        return TensorError(context, inputs[i],
                           "expected a shape that broadcasts with the other inputs, found %d "
                           "against %lld in dimension %d from the end",
                           extent, static_cast<long long>(output_axis.extent), data->rank - axis);
      }
      output_axis.extent = extent;
      output_axis.step[i] = pitch[i];
      pitch[i] *= extent;
    }
    dims[axis] = static_cast<int>(output_axis.extent);
  }
  const auto rank = static_cast<size_t>(data->rank);
  MergeAxes(data);
  return ResizeTo(context, output, {dims, rank});
}

// Plan for SELECT on rows of x and y: the condition has rank 0 or 1.
void PlanRows(const TfLiteTensor* condition, const TfLiteTensor* x, SelectData* data) {
  const int rows = Rank(condition) == 0 ? 1 : Dim(x, 0);
  const int64_t row = ElementCount(x) / std::max(rows, 1);
  data->rank = 2;
  data->axes[0] = {rows, {1, row, row}};
  data->axes[1] = {row, {0, 1, 1}};
  MergeAxes(data);
}

bool SameShape(const TfLiteTensor* a, const TfLiteTensor* b) {
  return std::ranges::equal(Dims(a), Dims(b));
}

template <bool broadcasts>
TfLiteStatus PrepareSelect(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 3, 3, 1));
  const TfLiteTensor* inputs[3];
  for (int i = 0; i < 3; ++i) inputs[i] = Input(context, node, i);
  TfLiteTensor* output = Output(context, node, 0);
  SelectData& data = DataOf<SelectData>(node);
  DEPUTY_TRY(CheckType(context, inputs[0], kBoolBit));
  DEPUTY_TRY(CheckType(context, inputs[1], kSelectTypes));
  DEPUTY_TRY(CheckSameType(context, inputs[2], inputs[1]));
  output->type = inputs[1]->type;
  // Upstream keeps the model's output shape if all four tensors have one element.
  const TfLiteTensor* const four[] = {inputs[0], inputs[1], inputs[2], output};
  if (std::ranges::all_of(four, [](const TfLiteTensor* t) { return ElementCount(t) == 1; })) {
    data.rank = 0;
    return ResizeLike(context, output, output);
  }
  if (broadcasts || (SameShape(inputs[0], inputs[1]) && SameShape(inputs[1], inputs[2]))) {
    return PlanSelect(context, inputs, output, &data);
  }
  if (!SameShape(inputs[1], inputs[2])) {
    return TensorError(context, inputs[2], "expected the shape of tensor %d, found another",
                       static_cast<int>(inputs[1] - context->tensors));
  }
  if (Rank(inputs[0]) > 1 ||
      (Rank(inputs[0]) == 1 && (Rank(inputs[1]) == 0 || Dim(inputs[0], 0) != Dim(inputs[1], 0)))) {
    return TensorError(context, inputs[0],
                       "expected a scalar, one condition per row, or the shape of tensor %d",
                       static_cast<int>(inputs[1] - context->tensors));
  }
  PlanRows(inputs[0], inputs[1], &data);
  return ResizeLike(context, output, inputs[1]);
}

template <typename T>
void SelectReference(const SelectRun<T>& run) {
  for (int64_t i = 0; i < run.count; ++i) {
    run.out[i] = run.condition[i] != 0 ? run.x[run.x_moves ? i : 0] : run.y[run.y_moves ? i : 0];
  }
}

// Selects elements along the innermost axis; each input has stride 1 or 0.
template <typename T>
void SelectElements(const SelectData::Axis& axis, const uint8_t* condition, const T* x, const T* y,
                    SelectLoop<T> loop, T* out) {
  if (axis.step[0] != 0) {
    return loop({condition, x, y, out, axis.extent, axis.step[1] != 0, axis.step[2] != 0});
  }
  const T* const chosen = *condition != 0 ? x : y;
  if ((*condition != 0 ? axis.step[1] : axis.step[2]) != 0) {
    std::copy_n(chosen, axis.extent, out);
  } else {
    std::fill_n(out, axis.extent, *chosen);
  }
}

// Selects the elements of axes `level` and inner; only the first `extent` positions of axis
// `level`.
template <typename T>
T* SelectLevel(const SelectData& data, int level, int64_t extent, const uint8_t* condition,
               const T* x, const T* y, SelectLoop<T> loop, T* out) {
  SelectData::Axis axis = data.axes[static_cast<size_t>(level)];
  if (level + 1 >= data.rank) {
    axis.extent = extent;
    SelectElements(axis, condition, x, y, loop, out);
    return out + extent;
  }
  const int64_t below = data.axes[static_cast<size_t>(level) + 1].extent;
  for (int64_t i = 0; i < extent; ++i) {
    out = SelectLevel(data, level + 1, below, condition + i * axis.step[0], x + i * axis.step[1],
                      y + i * axis.step[2], loop, out);
  }
  return out;
}

TfLiteStatus EvalSelect(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* x = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  const SelectData& data = DataOf<SelectData>(node);
  const int64_t count = ElementCount(output);
  if (count == 0) return kTfLiteOk;
  return WithElements(context, x, [&](auto& access) {
    using T = typename std::remove_reference_t<decltype(access)>::Element;
    SelectLoop<T> loop = CpuOf(context).vector.select.of<T>();
    if (loop == nullptr) loop = &SelectReference<T>;
    const SelectData::Axis outer = data.rank == 0 ? SelectData::Axis() : data.axes[0];
    const int64_t each = count / outer.extent;
    ParallelRanges(context, outer.extent, kElementsPerTask / each + 1,
                   [&](int64_t first, int64_t last) {
                     SelectLevel(data, 0, last - first,
                                 Data<uint8_t>(Input(context, node, 0)) + first * outer.step[0],
                                 Data<T>(x) + first * outer.step[1],
                                 Data<T>(Input(context, node, 2)) + first * outer.step[2], loop,
                                 Data<T>(output) + first * each);
                   });
    return kTfLiteOk;
  });
}

// ---- Table ------------------------------------------------------------------------------------

template <const Comparison& compare, uint32_t types = kOrderedTypes>
constexpr OpDef OrderRow(const char* name, TfLiteBuiltinOperator code, int max_version) {
  return KernelRow<CompareData>(
      name, code, max_version, types,
      kFoldingPrepare<&PrepareComparison<types, false>, &EvalOrder<compare>>,
      kFoldedInvoke<&EvalOrder<compare>>);
}

template <const Comparison& compare>
constexpr OpDef EqualityRow(const char* name, TfLiteBuiltinOperator code, int max_version,
                            uint32_t types) {
  return KernelRow<CompareData>(
      name, code, max_version, types,
      kFoldingPrepare<&PrepareComparison<kEqualTypes, true>, &EvalEquality<compare>>,
      kFoldedInvoke<&EvalEquality<compare>>);
}

constexpr OpDef kTable[] = {
    EqualityRow<kEqual>("EQUAL", kTfLiteBuiltinEqual, 5, kEqualTypes),
    EqualityRow<kNotEqual>("NOT_EQUAL", kTfLiteBuiltinNotEqual, 4, kEqualTypes),
    OrderRow<kLess, kLessTypes>("LESS", kTfLiteBuiltinLess, 3),
    OrderRow<kLessEqual>("LESS_EQUAL", kTfLiteBuiltinLessEqual, 2),
    OrderRow<kGreater, kLessTypes>("GREATER", kTfLiteBuiltinGreater, 2),
    OrderRow<kGreaterEqual>("GREATER_EQUAL", kTfLiteBuiltinGreaterEqual, 3),
    KernelRow<CompareData>("LOGICAL_AND", kTfLiteBuiltinLogicalAnd, 1, kBoolBit,
                           kFoldingPrepare<&PrepareLogic, &EvalAnd>, kFoldedInvoke<&EvalAnd>),
    KernelRow<CompareData>("LOGICAL_OR", kTfLiteBuiltinLogicalOr, 1, kBoolBit,
                           kFoldingPrepare<&PrepareLogic, &EvalOr>, kFoldedInvoke<&EvalOr>),
    KernelRow<CompareData>("LOGICAL_NOT", kTfLiteBuiltinLogicalNot, 1, kBoolBit,
                           kFoldingPrepare<&PrepareNot, &EvalNot>, kFoldedInvoke<&EvalNot>),
    KernelRow<SelectData>("SELECT", kTfLiteBuiltinSelect, 4, kSelectTypes,
                          kFoldingPrepare<&PrepareMove<RescaleInputs(6), &PrepareSelect<false>>,
                                          &EvalMove<RescaleInputs(6), &EvalSelect>>,
                          kFoldedInvoke<&EvalMove<RescaleInputs(6), &EvalSelect>>),
    KernelRow<SelectData>("SELECT_V2", kTfLiteBuiltinSelectV2, 2, kSelectTypes,
                          kFoldingPrepare<&PrepareMove<RescaleInputs(6), &PrepareSelect<true>>,
                                          &EvalMove<RescaleInputs(6), &EvalSelect>>,
                          kFoldedInvoke<&EvalMove<RescaleInputs(6), &EvalSelect>>),
};

}  // namespace

constexpr std::span<const OpDef> kCompareOps = kTable;

}  // namespace deputy
