// SPDX-License-Identifier: Apache-2.0
//
// Comparisons, logic and selection. Quantised values are compared as real numbers: int8 and uint8
// in all six comparisons, int16 in EQUAL and NOT_EQUAL only (upstream orders int16 by steps). Both
// sides are brought to fixed point with 8 more bits, so values closer than the last of these bits
// count as equal. int8 and uint8 without a scale, where upstream ends the process, compare by
// steps.
//
// SELECT takes a condition of the shape of its values, a scalar, or one truth per row; SELECT_V2
// broadcasts all three inputs.
#include <algorithm>
#include <functional>
#include <limits>

#include "kernels/common/broadcast.h"
#include "kernels/common/element_type.h"
#include "kernels/common/elements.h"
#include "kernels/common/families.h"
#include "kernels/common/kernel.h"
#include "kernels/common/requantize.h"
#include "kernels/cpu/map_vectors.h"

namespace deputy {
namespace {

constexpr uint32_t kOrderedTypes =
    kFloat32Bit | kFloat16Bit | kInt8Bit | kUInt8Bit | kInt16Bit | kInt32Bit | kInt64Bit;
constexpr uint32_t kEqualTypes = kOrderedTypes | kBoolBit | kStringBit;

// ---- Prepare ----------------------------------------------------------------------------------

struct CompareData {
  BroadcastPlan plan;
  bool quantised = false;  // compare real numbers, not steps
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
  const bool can_be_quantised = a->type == kTfLiteInt8 || a->type == kTfLiteUInt8 ||
                                (int16_by_value && a->type == kTfLiteInt16);
  data.quantised = can_be_quantised && (HasScale(a) || HasScale(b));
  if (data.quantised) {
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

// A quantised value in fixed point. Differences of less than 2^-8 of a unit may vanish.
template <typename T>
class FixedValue {
 public:
  explicit FixedValue(const TfLiteTensor* tensor)
      : zero_point_(tensor->params.zero_point),
        scale_(ToFixedMultiplier(static_cast<double>(tensor->params.scale))) {}
  int32_t operator()(T step) const { return Multiply((step - zero_point_) * (1 << 8), scale_); }

 private:
  int32_t zero_point_;
  FixedMultiplier scale_;
};

// The same for all 256 bytes, where that many elements want it.
constexpr int64_t kWorthTables = 2048;
template <typename T>
class ValueTable {
 public:
  explicit ValueTable(const FixedValue<T>& value) {
    for (int x = std::numeric_limits<T>::min(); x <= std::numeric_limits<T>::max(); ++x) {
      values_[static_cast<uint8_t>(x)] = value(static_cast<T>(x));
    }
  }
  int32_t operator()(T step) const { return values_[static_cast<uint8_t>(step)]; }

 private:
  int32_t values_[256];
};

// How a comparison is made of the loops that there are.
struct LoopUse {
  CompareLoops VectorKernels::*loops;
  bool swapped;  // of the second and the first input
  bool negated;
};
template <typename Comparison>
constexpr LoopUse LoopUseOf() {
  if constexpr (std::is_same_v<Comparison, std::equal_to<>>) {
    return {&VectorKernels::equal, false, false};
  } else if constexpr (std::is_same_v<Comparison, std::not_equal_to<>>) {
    return {&VectorKernels::equal, false, true};
  } else if constexpr (std::is_same_v<Comparison, std::less<>>) {
    return {&VectorKernels::less, false, false};
  } else if constexpr (std::is_same_v<Comparison, std::less_equal<>>) {
    return {&VectorKernels::less_or_equal, false, false};
  } else if constexpr (std::is_same_v<Comparison, std::greater<>>) {
    return {&VectorKernels::less, true, false};
  } else {
    static_assert(std::is_same_v<Comparison, std::greater_equal<>>);
    return {&VectorKernels::less_or_equal, true, false};
  }
}

// False where there is no loop for T.
template <typename T, typename Comparison>
bool CompareVectors(TfLiteContext* context, TfLiteNode* node) {
  static constexpr LoopUse kUse = LoopUseOf<Comparison>();
  using Number = std::conditional_t<std::is_same_v<T, Half>, float, T>;
  const CompareLoop<Number> loop = (Cpu().vector.*kUse.loops).template of<Number>();
  if (loop == nullptr) return false;
  const auto compare = [loop](const BinaryRun<Number, uint8_t>& run) {
    BinaryRun<Number, uint8_t> ordered = run;
    if (kUse.swapped) {
      std::swap(ordered.a, ordered.b);
      std::swap(ordered.a_moves, ordered.b_moves);
    }
    loop(ordered, kUse.negated);
  };
  const BroadcastPlan& plan = DataOf<CompareData>(node).plan;
  if constexpr (std::is_same_v<T, Half>) {
    RunHalves<uint8_t>(context, node, plan, compare);
  } else {
    RunVectors<T, uint8_t>(context, node, plan, compare);
  }
  return true;
}

// What plain loops compare. Of float16 out of line, because compilers make 25 KB of a loop of it.
template <typename T>
T Compared(T value) {
  return value;
}
[[gnu::noinline]] float Compared(Half value) { return value; }

template <typename T, typename Comparison>
TfLiteStatus CompareElements(TfLiteContext* context, TfLiteNode* node,
                             const Comparison& comparison) {
  const CompareData& data = DataOf<CompareData>(node);
  const TfLiteTensor* a = Input(context, node, 0);
  const TfLiteTensor* b = Input(context, node, 1);
  uint8_t* out = Data<uint8_t>(Output(context, node, 0));
  if constexpr (std::is_integral_v<T> && sizeof(T) <= 2) {
    if (data.quantised) {
      const FixedValue<T> value_a(a), value_b(b);
      if constexpr (sizeof(T) == 1) {
        if (ElementCount(Output(context, node, 0)) >= kWorthTables) {
          const ValueTable<T> table_a(value_a), table_b(value_b);
          data.plan.Run(context, Data<T>(a), Data<T>(b), out,
                        [&](T x, T y) { return comparison(table_a(x), table_b(y)); });
          return kTfLiteOk;
        }
      }
      data.plan.Run(context, Data<T>(a), Data<T>(b), out,
                    [&](T x, T y) { return comparison(value_a(x), value_b(y)); });
      return kTfLiteOk;
    }
  }
  if (CompareVectors<T, Comparison>(context, node)) return kTfLiteOk;
  data.plan.Run(context, Data<T>(a), Data<T>(b), out,
                [&](T x, T y) { return comparison(Compared(x), Compared(y)); });
  return kTfLiteOk;
}

// Truth is any byte but 0; two truths are equal.
template <typename Comparison>
TfLiteStatus CompareTruths(TfLiteContext* context, TfLiteNode* node, const Comparison& comparison) {
  DataOf<CompareData>(node).plan.Run(
      context, Data<uint8_t>(Input(context, node, 0)), Data<uint8_t>(Input(context, node, 1)),
      Data<uint8_t>(Output(context, node, 0)),
      [&](uint8_t a, uint8_t b) { return comparison(a != 0, b != 0); });
  return kTfLiteOk;
}

template <typename Comparison>
TfLiteStatus CompareStrings(TfLiteContext* context, TfLiteNode* node,
                            const Comparison& comparison) {
  ElementAccess<std::string_view> access(context);
  const std::string_view *a = nullptr, *b = nullptr;
  DEPUTY_TRY(access.Read(Input(context, node, 0), &a));
  DEPUTY_TRY(access.Read(Input(context, node, 1), &b));
  DataOf<CompareData>(node).plan.Run(context, a, b, Data<uint8_t>(Output(context, node, 0)),
                                     comparison);
  return kTfLiteOk;
}

template <typename Comparison>
TfLiteStatus EvalOrder(TfLiteContext* context, TfLiteNode* node) {
  return DispatchType<kOrderedTypes>(context, Input(context, node, 0), [&](auto tag) {
    return CompareElements<typename decltype(tag)::type>(context, node, Comparison());
  });
}

template <typename Comparison>
TfLiteStatus EvalEquality(TfLiteContext* context, TfLiteNode* node) {
  switch (Input(context, node, 0)->type) {
    case kTfLiteBool:
      return CompareTruths(context, node, Comparison());
    case kTfLiteString:
      return CompareStrings(context, node, Comparison());
    default:
      return EvalOrder<Comparison>(context, node);
  }
}

// ---- Logic ------------------------------------------------------------------------------------

template <typename Function>
TfLiteStatus RunLogic(TfLiteContext* context, TfLiteNode* node, BinaryLoop<uint8_t> loop,
                      const Function& reference) {
  if (loop == nullptr) return CompareTruths(context, node, reference);
  return RunVectors<uint8_t>(context, node, DataOf<CompareData>(node).plan,
                             [loop](const BinaryRun<uint8_t>& run) { loop(run); });
}

TfLiteStatus EvalAnd(TfLiteContext* context, TfLiteNode* node) {
  return RunLogic(context, node, Cpu().vector.logical_and, [](bool a, bool b) { return a && b; });
}

TfLiteStatus EvalOr(TfLiteContext* context, TfLiteNode* node) {
  return RunLogic(context, node, Cpu().vector.logical_or, [](bool a, bool b) { return a || b; });
}

TfLiteStatus EvalNot(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  if (const auto loop = Cpu().vector.logical_not) {
    return MapRuns<uint8_t, uint8_t>(
        context, input, output,
        [loop](const uint8_t* in, int64_t count, uint8_t* out) { loop(in, count, out); });
  }
  return MapElements<uint8_t>(context, input, output,
                              [](uint8_t x) { return static_cast<uint8_t>(x == 0); });
}

// ---- Selection --------------------------------------------------------------------------------

// Three inputs that broadcast; axes from the outermost, neighbours that move alike merged, and the
// output dense.
struct SelectData {
  struct Axis {
    int64_t extent = 1;
    int64_t step[3] = {0, 0, 0};  // of condition, x and y, in elements
  };
  std::array<Axis, kMaxRank> axes;
  int rank = 0;
};

// Makes one axis of neighbours over which each input either moves or stays.
void MergeAxes(SelectData* data) {
  int merged = 0;  // axes so far, their innermost last
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

// The shape that all three broadcast to.
TfLiteStatus PlanSelect(TfLiteContext* context, const TfLiteTensor* const inputs[3],
                        TfLiteTensor* output, SelectData* data) {
  data->rank = std::max({Rank(inputs[0]), Rank(inputs[1]), Rank(inputs[2])});
  int dims[kMaxRank];
  int64_t pitch[3] = {1, 1, 1};
  for (int axis = data->rank - 1; axis >= 0; --axis) {
    SelectData::Axis& place = data->axes[static_cast<size_t>(axis)];
    place = {};
    for (int i = 0; i < 3; ++i) {
      const int at = axis - (data->rank - Rank(inputs[i]));
      const int extent = at < 0 ? 1 : Dim(inputs[i], at);
      if (extent == 1) continue;
      if (place.extent != 1 && place.extent != extent) {
        return TensorError(context, inputs[i],
                           "expected a shape that broadcasts with the other inputs, found %d "
                           "against %lld in dimension %d from the end",
                           extent, static_cast<long long>(place.extent), data->rank - axis);
      }
      place.extent = extent;
      place.step[i] = pitch[i];
      pitch[i] *= extent;
    }
    dims[axis] = static_cast<int>(place.extent);
  }
  const auto rank = static_cast<size_t>(data->rank);
  MergeAxes(data);
  return ResizeTo(context, output, {dims, rank});
}

// SELECT's condition for rows of x and y: a condition of rank 0 or 1 in front of them.
void PlanRows(const TfLiteTensor* condition, const TfLiteTensor* x, SelectData* data) {
  const int rows = Rank(condition) == 0 ? 1 : Dim(x, 0);
  const int row = static_cast<int>(ElementCount(x) / std::max(rows, 1));
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
  DEPUTY_TRY(CheckType(context, inputs[1], kNumberBits));
  DEPUTY_TRY(CheckSameType(context, inputs[2], inputs[1]));
  output->type = inputs[1]->type;
  // Of four tensors of one element each, the output keeps the shape that it has in the model.
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
                       "expected a scalar, one truth per row, or the shape of tensor %d",
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

// One axis, along which inputs move by one element or not at all.
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

// The elements from axis `level` on, of which `extent` are taken.
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
    SelectLoop<T> loop = Cpu().vector.select.of<T>();
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

template <typename Comparison>
constexpr OpDef OrderRow(const char* name, TfLiteBuiltinOperator code, int max_version) {
  return KernelRow<CompareData>(name, code, max_version, kOrderedTypes,
                                &Guarded<&PrepareComparison<kOrderedTypes, false>>,
                                &Guarded<&EvalOrder<Comparison>>);
}

template <typename Comparison>
constexpr OpDef EqualityRow(const char* name, TfLiteBuiltinOperator code, int max_version,
                            uint32_t types) {
  return KernelRow<CompareData>(name, code, max_version, types,
                                &Guarded<&PrepareComparison<kEqualTypes, true>>,
                                &Guarded<&EvalEquality<Comparison>>);
}

constexpr OpDef kTable[] = {
    EqualityRow<std::equal_to<>>("EQUAL", kTfLiteBuiltinEqual, 5, kEqualTypes),
    EqualityRow<std::not_equal_to<>>("NOT_EQUAL", kTfLiteBuiltinNotEqual, 4, kEqualTypes),
    OrderRow<std::less<>>("LESS", kTfLiteBuiltinLess, 3),
    OrderRow<std::less_equal<>>("LESS_EQUAL", kTfLiteBuiltinLessEqual, 2),
    OrderRow<std::greater<>>("GREATER", kTfLiteBuiltinGreater, 2),
    OrderRow<std::greater_equal<>>("GREATER_EQUAL", kTfLiteBuiltinGreaterEqual, 3),
    KernelRow<CompareData>("LOGICAL_AND", kTfLiteBuiltinLogicalAnd, 1, kBoolBit,
                           &Guarded<&PrepareLogic>, &Guarded<&EvalAnd>),
    KernelRow<CompareData>("LOGICAL_OR", kTfLiteBuiltinLogicalOr, 1, kBoolBit,
                           &Guarded<&PrepareLogic>, &Guarded<&EvalOr>),
    KernelRow<CompareData>("LOGICAL_NOT", kTfLiteBuiltinLogicalNot, 1, kBoolBit,
                           &Guarded<&PrepareNot>, &Guarded<&EvalNot>),
    KernelRow<SelectData>("SELECT", kTfLiteBuiltinSelect, 4, kNumberBits,
                          &Guarded<&PrepareSelect<false>>, &Guarded<&EvalSelect>),
    KernelRow<SelectData>("SELECT_V2", kTfLiteBuiltinSelectV2, 2, kNumberBits,
                          &Guarded<&PrepareSelect<true>>, &Guarded<&EvalSelect>),
};

}  // namespace

constexpr std::span<const OpDef> kCompareOps = kTable;

}  // namespace deputy
