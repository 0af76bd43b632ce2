// SPDX-License-Identifier: Apache-2.0
//
// MAXIMUM, MINIMUM, POW, SQUARED_DIFFERENCE, FLOOR_DIV, FLOOR_MOD, BITWISE_XOR and RIGHT_SHIFT with
// broadcasting, and ATAN2 of two tensors of one shape. Quantised MAXIMUM and MINIMUM compare
// quantised values: in the default arithmetic after rescaling the inputs to the output's scale
// (common/rescale.h), in the reference arithmetic whatever the scales. int8 SQUARED_DIFFERENCE uses
// TensorFlow Lite's integer algorithm in both arithmetic modes.
//
// Behaviour that upstream leaves undefined is defined here: integer POW saturates; FLOOR_DIV and
// FLOOR_MOD of the minimum integer by -1 are the minimum integer and 0; RIGHT_SHIFT by a negative
// number shifts by 0, by the number of bits or more by one bit less than that number.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>

#include "kernels/common/activation_range.h"
#include "kernels/common/broadcast.h"
#include "kernels/common/element_type.h"
#include "kernels/common/families.h"
#include "kernels/common/fold.h"
#include "kernels/common/kernel.h"
#include "kernels/common/requantize.h"
#include "kernels/common/rescale.h"
#include "kernels/cpu/map_rows.h"
#include "kernels/cpu/map_vectors.h"

namespace deputy {
namespace {

constexpr uint32_t kExtremeTypes = kBFloat16Bit | kFloat32Bit | kFloat16Bit | kInt8Bit | kUInt8Bit |
                                   kInt16Bit | kInt32Bit | kInt64Bit;
constexpr uint32_t kPowTypes = kFloat32Bit | kInt32Bit;
constexpr uint32_t kSquaredDifferenceTypes = kFloat32Bit | kInt32Bit | kInt8Bit;
constexpr uint32_t kFloorDivTypes = kFloat32Bit | kInt8Bit | kInt16Bit | kInt32Bit;
constexpr uint32_t kFloorModTypes = kFloorDivTypes | kInt64Bit;
constexpr uint32_t kBitTypes =
    kInt8Bit | kUInt8Bit | kInt16Bit | TypeBit(kTfLiteUInt16) | kInt32Bit | kUInt32Bit;
constexpr uint32_t kAtan2Types = kFloat32Bit | kFloat16Bit | kBFloat16Bit | TypeBit(kTfLiteFloat64);

// ---- Prepare ----------------------------------------------------------------------------------

struct BinaryData {
  BroadcastPlan plan;
};

// Checks the inputs' types and plans broadcasting. The output takes the type of the inputs whatever
// the model declares.
template <uint32_t types>
TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* a = Input(context, node, 0);
  const TfLiteTensor* b = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, a, types));
  DEPUTY_TRY(CheckSameType(context, b, a));
  output->type = a->type;
  return DataOf<BinaryData>(node).plan.Prepare(context, a, b, output);
}

TfLiteStatus PrepareSquaredDifference(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(Prepare<kSquaredDifferenceTypes>(context, node));
  if (Input(context, node, 0)->type != kTfLiteInt8) return kTfLiteOk;
  DEPUTY_TRY(CheckQuantized(context, Input(context, node, 0)));
  DEPUTY_TRY(CheckQuantized(context, Input(context, node, 1)));
  return CheckQuantized(context, Output(context, node, 0));
}

// Prepares ATAN2, which does not broadcast and does not change its output's type.
TfLiteStatus PrepareAtan2(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* y = Input(context, node, 0);
  const TfLiteTensor* x = Input(context, node, 1);
  DEPUTY_TRY(CheckRank(context, x, Rank(y)));
  for (int d = 0; d < Rank(y); ++d) DEPUTY_TRY(CheckDim(context, x, d, Dim(y, d)));
  DEPUTY_TRY(CheckSameType(context, Output(context, node, 0), y));
  return Prepare<kAtan2Types>(context, node);
}

// ---- Reference --------------------------------------------------------------------------------

int32_t IntegerPower(int32_t base, int32_t exponent) {
  const double power = std::pow(static_cast<double>(base), static_cast<double>(exponent));
  return static_cast<int32_t>(std::clamp(power, -2147483648.0, 2147483647.0));
}

template <typename T>
T FloorDivide(T a, T b) {
  const double floor = std::floor(static_cast<double>(a) / static_cast<double>(b));
  if constexpr (!std::is_floating_point_v<T>) {
    // The quotient of the minimum integer and -1 overflows; upstream's conversion returns the
    // minimum integer for it.
    if (floor > static_cast<double>(std::numeric_limits<T>::max())) {
      return std::numeric_limits<T>::min();
    }
  }
  return static_cast<T>(floor);
}

template <typename T>
T FloorModulo(T a, T b) {
  T remainder;
  if constexpr (std::is_floating_point_v<T>) {
    remainder = std::fmod(a, b);
  } else {
    remainder = b == -1 ? T{0} : static_cast<T>(a % b);  // the minimum integer modulo -1 would trap
  }
  const bool signs_differ = (b < 0) != (remainder < 0);
  return remainder != 0 && signs_differ ? static_cast<T>(remainder + b) : remainder;
}

template <typename T>
T ShiftRight(T x, T bits) {
  constexpr int kMaxShift = static_cast<int>(8 * sizeof(T)) - 1;
  if (bits <= 0) return x;
  return static_cast<T>(x >> (bits > kMaxShift ? kMaxShift : static_cast<int>(bits)));
}

// int8 SQUARED_DIFFERENCE. Both inputs are rescaled to a common scale with 7 more bits, so that the
// square still fits in 32 bits.
class SquaredDifferenceInt8 {
 public:
  SquaredDifferenceInt8(const TfLiteTensor* a, const TfLiteTensor* b, const TfLiteTensor* output)
      : zero_a_(a->params.zero_point),
        zero_b_(b->params.zero_point),
        zero_out_(output->params.zero_point) {
    const double common = 2.0 * static_cast<double>(std::max(a->params.scale, b->params.scale));
    from_a_ = ToFixedMultiplier(static_cast<double>(a->params.scale) / common);
    from_b_ = ToFixedMultiplier(static_cast<double>(b->params.scale) / common);
    to_out_ = ToFixedMultiplier(
        common * common / static_cast<double>((1 << (2 * kExtraBits)) * output->params.scale));
  }

  int8_t operator()(int8_t a, int8_t b) const {
    const int32_t difference = Multiply((a - zero_a_) * (1 << kExtraBits), from_a_) -
                               Multiply((b - zero_b_) * (1 << kExtraBits), from_b_);
    const int64_t steps = int64_t{Multiply(difference * difference, to_out_)} + zero_out_;
    return static_cast<int8_t>(std::clamp<int64_t>(steps, -128, 127));
  }

  // Parameters of the vector loop.
  FixedScale scale_a() const { return {zero_a_, kExtraBits, from_a_}; }
  FixedScale scale_b() const { return {zero_b_, kExtraBits, from_b_}; }
  FixedSquare square() const { return {to_out_, zero_out_}; }

 private:
  static constexpr int kExtraBits = 7;
  int32_t zero_a_, zero_b_, zero_out_;
  FixedMultiplier from_a_, from_b_, to_out_;
};

// ---- Eval -------------------------------------------------------------------------------------

template <typename T, typename Function>
TfLiteStatus Run(TfLiteContext* context, TfLiteNode* node, const Function& function) {
  DataOf<BinaryData>(node).plan.Run(context, Data<T>(Input(context, node, 0)),
                                    Data<T>(Input(context, node, 1)),
                                    Data<T>(Output(context, node, 0)), function);
  return kTfLiteOk;
}

// Computes the node with `loop` or, if it is null, with `reference`.
template <typename T, typename Function>
TfLiteStatus RunLoop(TfLiteContext* context, TfLiteNode* node, BinaryLoop<T> loop,
                     const Function& reference) {
  if (loop == nullptr) return Run<T>(context, node, reference);
  return RunVectors<T>(context, node, DataOf<BinaryData>(node).plan,
                       [loop](const BinaryRun<T>& run) { loop(run); });
}

// Reports an error unless is_valid(element) is true for every element of the tensor; `expected`
// describes valid elements in the message.
template <typename T, typename Predicate>
TfLiteStatus CheckEach(TfLiteContext* context, const TfLiteTensor* tensor, const char* expected,
                       const Predicate& is_valid) {
  const std::span values(Data<T>(tensor), static_cast<size_t>(ElementCount(tensor)));
  // Tests whole blocks without branches, so that the loop is vectorised.
  constexpr size_t kBlock = 64;
  size_t first = 0;
  int wrong = 0;
  for (; wrong == 0 && first + kBlock <= values.size(); first += kBlock) {
    for (size_t i = 0; i < kBlock; ++i) wrong |= is_valid(values[first + i]) ? 0 : 1;
  }
  if (wrong == 0 && std::ranges::all_of(values.subspan(first), is_valid)) return kTfLiteOk;
  const auto bad = std::ranges::find_if_not(values, is_valid);
  return TensorError(context, tensor, "expected %s, found %g in element %lld", expected,
                     static_cast<double>(*bad), static_cast<long long>(bad - values.begin()));
}

template <typename T>
TfLiteStatus CheckDivisor(TfLiteContext* context, const TfLiteTensor* divisor) {
  return CheckEach<T>(context, divisor, "divisors other than 0",
                      [](T value) { return value != 0; });
}

// Computes MAXIMUM. If either operand is NaN, returns the second one, as TensorFlow Lite does.
TfLiteStatus EvalMaximum(TfLiteContext* context, TfLiteNode* node) {
  return DispatchType<kExtremeTypes>(context, Input(context, node, 0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return RunLoop<T>(context, node, CpuOf(context).vector.maximum.of<T>(),
                      [](T a, T b) { return a > b ? a : b; });
  });
}

TfLiteStatus EvalMinimum(TfLiteContext* context, TfLiteNode* node) {
  return DispatchType<kExtremeTypes>(context, Input(context, node, 0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return RunLoop<T>(context, node, CpuOf(context).vector.minimum.of<T>(),
                      [](T a, T b) { return a < b ? a : b; });
  });
}

TfLiteStatus EvalPow(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* exponent = Input(context, node, 1);
  if (exponent->type == kTfLiteFloat32) {
    return Run<float>(context, node, [](float a, float b) { return std::pow(a, b); });
  }
  DEPUTY_TRY(CheckEach<int32_t>(context, exponent, "exponents of 0 or more",
                                [](int32_t value) { return value >= 0; }));
  return Run<int32_t>(context, node, &IntegerPower);
}

TfLiteStatus RunSquares(TfLiteContext* context, TfLiteNode* node,
                        const SquaredDifferenceInt8& squares) {
  const VectorKernels& vector = CpuOf(context).vector;
  const auto widen = vector.fixed.of<int8_t>();
  const auto loop = vector.squared_difference_s8;
  if (widen == nullptr || loop == nullptr) return Run<int8_t>(context, node, squares);
  const auto widen_by = [widen](const FixedScale& scale) {
    return [widen, scale](const int8_t* in, int64_t count, int32_t* out) {
      widen(in, count, scale, out);
    };
  };
  return RunWidened<int8_t, int32_t, int8_t>(
      context, node, DataOf<BinaryData>(node).plan, widen_by(squares.scale_a()),
      widen_by(squares.scale_b()),
      [&](const BinaryRun<int32_t, int8_t>& run) { loop(run, squares.square()); });
}

TfLiteStatus EvalSquaredDifference(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* a = Input(context, node, 0);
  switch (a->type) {
    case kTfLiteFloat32:
      return RunLoop<float>(context, node, CpuOf(context).vector.squared_difference.of<float>(),
                            [](float x, float y) { return (x - y) * (x - y); });
    case kTfLiteInt32:
      return RunLoop<int32_t>(context, node, CpuOf(context).vector.squared_difference.of<int32_t>(),
                              [](int32_t x, int32_t y) {
                                const uint32_t difference =
                                    static_cast<uint32_t>(x) - static_cast<uint32_t>(y);
                                return static_cast<int32_t>(difference * difference);
                              });
    case kTfLiteInt8:
      return RunSquares(
          context, node,
          SquaredDifferenceInt8(a, Input(context, node, 1), Output(context, node, 0)));
    default:
      return UnexpectedType(context, a);
  }
}

// Row function for row-wise fusion of float32 SQUARED_DIFFERENCE; requires a loop in the CPU table.
void SquareRows(TfLiteContext* context, TfLiteNode* node, const GroupRows& rows) {
  const auto loop = rows.cpu->vector.squared_difference.of<float>();
  RunVectorRows(context, node, DataOf<BinaryData>(node).plan, rows,
                [loop](const BinaryRun<float>& run) { loop(run); });
}

constexpr RowKernel kSquareRows = {.rows = &SquareRows};

TfLiteStatus PrepareAndOfferSquares(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(PrepareSquaredDifference(context, node));
  if (Output(context, node, 0)->type != kTfLiteFloat32 ||
      CpuOf(context).vector.squared_difference.of<float>() == nullptr) {
    return kTfLiteOk;
  }
  OfferFusion(
      context, node,
      {.invoke = &Guarded<&EvalSquaredDifference>,
       .by_rows = BroadcastRows(context, node, DataOf<BinaryData>(node).plan, &kSquareRows)});
  return kTfLiteOk;
}

// Computes FLOOR_DIV; a divisor of 0 is an error, for float32 too.
TfLiteStatus EvalFloorDiv(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* divisor = Input(context, node, 1);
  return DispatchType<kFloorDivTypes>(context, divisor, [&](auto tag) -> TfLiteStatus {
    using T = typename decltype(tag)::type;
    DEPUTY_TRY(CheckDivisor<T>(context, divisor));
    return RunLoop<T>(context, node, CpuOf(context).vector.floor_quotient.of<T>(), &FloorDivide<T>);
  });
}

TfLiteStatus EvalFloorMod(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* divisor = Input(context, node, 1);
  return DispatchType<kFloorModTypes>(context, divisor, [&](auto tag) -> TfLiteStatus {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_floating_point_v<T>) DEPUTY_TRY(CheckDivisor<T>(context, divisor));
    return RunLoop<T>(context, node, CpuOf(context).vector.floor_modulo.of<T>(), &FloorModulo<T>);
  });
}

// Computes BITWISE_XOR for a run of the output; one of the inputs may be a single element.
template <typename T>
void XorRun(const T* a, const T* b, T* out, int64_t count, bool a_moves, bool b_moves) {
  if (a_moves && b_moves) {
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(a[i] ^ b[i]);
    return;
  }
  const T fixed = a_moves ? *b : *a;
  const T* const moving = a_moves ? a : b;
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(moving[i] ^ fixed);
}

TfLiteStatus EvalBitwiseXor(TfLiteContext* context, TfLiteNode* node) {
  return DispatchType<kBitTypes>(context, Input(context, node, 0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    DataOf<BinaryData>(node).plan.RunByRuns(context, Data<T>(Input(context, node, 0)),
                                            Data<T>(Input(context, node, 1)),
                                            Data<T>(Output(context, node, 0)), &XorRun<T>);
    return kTfLiteOk;
  });
}

TfLiteStatus EvalRightShift(TfLiteContext* context, TfLiteNode* node) {
  return DispatchType<kBitTypes>(context, Input(context, node, 0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Run<T>(context, node, &ShiftRight<T>);
  });
}

TfLiteStatus EvalAtan2(TfLiteContext* context, TfLiteNode* node) {
  return DispatchType<kAtan2Types>(context, Input(context, node, 0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Number = std::conditional_t<kIsShortFloat<T>, float, T>;
    return Run<T>(context, node, [](Number y, Number x) { return T(std::atan2(y, x)); });
  });
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    KernelRow<BinaryData>("MAXIMUM", kTfLiteBuiltinMaximum, 4, kExtremeTypes,
                          kFoldingPrepare<&PrepareMove<RescaleInputs(3), &Prepare<kExtremeTypes>>,
                                          &EvalMove<RescaleInputs(3), &EvalMaximum>>,
                          kFoldedInvoke<&EvalMove<RescaleInputs(3), &EvalMaximum>>),
    KernelRow<BinaryData>("MINIMUM", kTfLiteBuiltinMinimum, 4, kExtremeTypes,
                          kFoldingPrepare<&PrepareMove<RescaleInputs(3), &Prepare<kExtremeTypes>>,
                                          &EvalMove<RescaleInputs(3), &EvalMinimum>>,
                          kFoldedInvoke<&EvalMove<RescaleInputs(3), &EvalMinimum>>),
    KernelRow<BinaryData>("POW", kTfLiteBuiltinPow, 1, kPowTypes,
                          kFoldingPrepare<&Prepare<kPowTypes>, &EvalPow>, kFoldedInvoke<&EvalPow>),
    KernelRow<BinaryData>("SQUARED_DIFFERENCE", kTfLiteBuiltinSquaredDifference, 2,
                          kSquaredDifferenceTypes, &Guarded<&PrepareAndOfferSquares>,
                          &Guarded<&EvalSquaredDifference>),
    KernelRow<BinaryData>("FLOOR_DIV", kTfLiteBuiltinFloorDiv, 3, kFloorDivTypes,
                          kFoldingPrepare<&Prepare<kFloorDivTypes>, &EvalFloorDiv>,
                          kFoldedInvoke<&EvalFloorDiv>),
    KernelRow<BinaryData>("FLOOR_MOD", kTfLiteBuiltinFloorMod, 2, kFloorModTypes,
                          kFoldingPrepare<&Prepare<kFloorModTypes>, &EvalFloorMod>,
                          kFoldedInvoke<&EvalFloorMod>),
    KernelRow<BinaryData>("ATAN2", kTfLiteBuiltinAtan2, 1, kAtan2Types, &Guarded<&PrepareAtan2>,
                          &Guarded<&EvalAtan2>),
    KernelRow<BinaryData>("BITWISE_XOR", kTfLiteBuiltinBitwiseXor, 1, kBitTypes,
                          kFoldingPrepare<&Prepare<kBitTypes>, &EvalBitwiseXor>,
                          kFoldedInvoke<&EvalBitwiseXor>),
    KernelRow<BinaryData>("RIGHT_SHIFT", kTfLiteBuiltinRightShift, 1, kBitTypes,
                          kFoldingPrepare<&Prepare<kBitTypes>, &EvalRightShift>,
                          kFoldedInvoke<&EvalRightShift>),
};

}  // namespace

constexpr std::span<const OpDef> kBinaryOps = kTable;

}  // namespace deputy
