// SPDX-License-Identifier: Apache-2.0
//
// Mathematical functions of one value. Quantised types, except for NEG, follow TensorFlow Lite's
// algorithms in both arithmetic modes: 8-bit types use a table made in prepare, int16 is computed
// element by element or with the interpolating table.
//
// Three peculiarities are upstream's: in the reference arithmetic NEG negates quantised values and
// ignores scales and zero points; int16 ABS without quantisation operates on the integers; SQRT
// truncates where all other functions round.
#include <memory>

#include "kernels/common/activation_range.h"
#include "kernels/common/element_type.h"
#include "kernels/common/elementwise.h"
#include "kernels/common/families.h"
#include "kernels/common/fixed_point.h"
#include "kernels/common/float_math.h"
#include "kernels/common/fold.h"
#include "kernels/common/kernel.h"
#include "kernels/common/rescale.h"
#include "kernels/cpu/map_rows.h"
#include "kernels/cpu/map_vectors.h"

namespace deputy {
namespace {

struct UnaryData {
  ByteTable bytes;                            // table for int8
  std::unique_ptr<ShortTable<float>> shorts;  // table for int16, if the algorithm is a table
};

// ---- Prepare ----------------------------------------------------------------------------------

template <uint32_t types>
TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, types));
  DEPUTY_TRY(CheckSameType(context, output, input));
  return ResizeLike(context, output, input);
}

// Prepares an operator whose output takes the input's type whatever the model declares.
template <uint32_t types>
TfLiteStatus PrepareAnyOutput(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  DEPUTY_TRY(CheckType(context, Input(context, node, 0), types));
  Output(context, node, 0)->type = Input(context, node, 0)->type;
  return Prepare<types>(context, node);
}

bool IsQuantized(const TfLiteTensor* tensor) {
  return tensor->quantization.type != kTfLiteNoQuantization;
}

// Checks the scales of input and output and, for int16, that zero points are 0.
TfLiteStatus CheckScales(TfLiteContext* context, TfLiteNode* node) {
  for (const TfLiteTensor* tensor : {Input(context, node, 0), Output(context, node, 0)}) {
    DEPUTY_TRY(CheckQuantized(context, tensor));
    DEPUTY_TRY(CheckSymmetric(context, tensor));
  }
  return kTfLiteOk;
}

// Tabulates a real function for int8 or int16.
template <typename Function>
TfLiteStatus FillTables(TfLiteContext* context, TfLiteNode* node, const Function& function) {
  UnaryData& data = DataOf<UnaryData>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* output = Output(context, node, 0);
  if (FillByteTable(input, output, &data.bytes, function)) return kTfLiteOk;
  data.shorts = std::make_unique<ShortTable<float>>();
  data.shorts->Fill(input->params.scale, input->params.zero_point, output->params.scale,
                    output->params.zero_point, function);
  return kTfLiteOk;
}

// Computes a node with the tables that prepare has made: always for int8, for int16 if the
// algorithm is a table.
TfLiteStatus RunTables(TfLiteContext* context, TfLiteNode* node) {
  const UnaryData& data = DataOf<UnaryData>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  if (input->type == kTfLiteInt8) return MapBytes(context, data.bytes, input, output);
  if (input->type == kTfLiteInt16) return MapShorts(context, input, output, *data.shorts);
  return UnexpectedType(context, input);
}

// ---- Functions of floats only -----------------------------------------------------------------

float Square(float x) { return x * x; }
float RoundHalfToEven(float x) { return std::nearbyint(x); }
float Floor(float x) { return std::floor(x); }
float Ceil(float x) { return std::ceil(x); }
float Sin(float x) { return std::sin(x); }
float Cos(float x) { return std::cos(x); }

// Returns the CPU table's loop for a function of this file; null if there is none.
constexpr MapF32 VectorKernels::*LoopOf(float (*function)(float)) {
  if (function == &Square) return &VectorKernels::square;
  if (function == &RoundHalfToEven) return &VectorKernels::round;
  if (function == &Floor) return &VectorKernels::floor;
  if (function == &Ceil) return &VectorKernels::ceil;
  return nullptr;
}

template <float (*function)(float)>
TfLiteStatus EvalFloat(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  if (input->type == kTfLiteBFloat16) return MapBFloat16(context, input, output, function);
  constexpr MapF32 VectorKernels::*kLoop = LoopOf(function);
  if (input->type == kTfLiteFloat16) {
    return MapHalfVectors(context, input, output, kLoop, 0.0f, function);
  }
  if constexpr (kLoop != nullptr) {
    return MapVectors(context, input, output, kLoop, 0.0f, function);
  } else {
    return MapElements<float>(context, input, output, function);
  }
}

// Computes output[i] = reference(input[i]), with `loop` unless it is null.
template <typename T, typename Function>
TfLiteStatus MapLoops(TfLiteContext* context, TfLiteNode* node, MapLoop<T> loop,
                      const Function& reference) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  if (loop == nullptr) return MapElements<T>(context, input, output, reference);
  return MapRuns<T, T>(context, input, output, loop);
}

// ---- ABS and NEG ------------------------------------------------------------------------------

class QuantizedAbs {
 public:
  QuantizedAbs(const TfLiteTensor* input, const TfLiteTensor* output)
      : zero_in_(input->params.zero_point),
        zero_out_(output->params.zero_point),
        rescale_(input->params.scale != output->params.scale),
        multiplier_(
            ToFixedMultiplier(static_cast<double>(input->params.scale / output->params.scale))) {
    QuantizedLimits(output->type, &range_.low, &range_.high);
  }
  int32_t operator()(int32_t x) const {
    const int32_t value = std::abs(x - zero_in_);
    const int64_t steps = int64_t{rescale_ ? Multiply(value, multiplier_) : value} + zero_out_;
    return static_cast<int32_t>(
        std::min<int64_t>(std::max<int64_t>(steps, range_.low), range_.high));
  }
  FixedPiecewise AsVectors() const {
    constexpr FixedMultiplier kOne = {1 << 30, 1};
    const FixedMultiplier by = rescale_ ? multiplier_ : kOne;
    return {zero_in_, zero_out_, by, by, -1, 1, {range_.low, range_.high}};
  }

 private:
  int32_t zero_in_, zero_out_;
  bool rescale_;
  FixedMultiplier multiplier_;
  IntRange range_;
};

constexpr uint32_t kAbsBits = kFloat32Bit | kInt8Bit | kInt16Bit | kInt32Bit;
constexpr uint32_t kFloatBits = kFloat32Bit | kFloat16Bit;
constexpr uint32_t kRoundingBits = kFloatBits | kBFloat16Bit;
constexpr uint32_t kNegBits = kRoundingBits | kInt8Bit | kInt16Bit | kInt32Bit | kInt64Bit;

TfLiteStatus PrepareAbs(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(Prepare<kAbsBits>(context, node));
  const TfLiteTensor* input = Input(context, node, 0);
  if (input->type == kTfLiteInt8 || (input->type == kTfLiteInt16 && IsQuantized(input))) {
    DEPUTY_TRY(CheckScales(context, node));
  }
  if (input->type == kTfLiteInt8) {
    const QuantizedAbs abs(input, Output(context, node, 0));
    DataOf<UnaryData>(node).bytes.Fill<int8_t>(abs);
  }
  return kTfLiteOk;
}

// Negates x; the minimum integer is unchanged, as in two's complement.
template <typename T>
T Negative(T x) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x));
  } else {
    return T(-x);
  }
}

TfLiteStatus EvalAbs(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  switch (input->type) {
    case kTfLiteFloat32:
      return MapVectors(context, input, output, &VectorKernels::abs, 0.0f,
                        [](float x) { return std::fabs(x); });
    case kTfLiteInt32:
      return MapLoops<int32_t>(context, node, CpuOf(context).vector.absolute.of<int32_t>(),
                               [](int32_t x) { return x < 0 ? Negative(x) : x; });
    case kTfLiteInt16: {
      if (!IsQuantized(input)) {
        return MapLoops<int16_t>(context, node, CpuOf(context).vector.absolute.of<int16_t>(),
                                 [](int16_t x) { return x < 0 ? Negative(x) : x; });
      }
      const QuantizedAbs abs(input, output);
      return MapPiecewise(context, input, output, abs.AsVectors(), abs);
    }
    default:
      return RunTables(context, node);
  }
}

// Returns true if NEG negates the real numbers that quantised values represent, as the default
// arithmetic does. Upstream's kernel negates quantised values, which is correct only for zero
// points of 0, equal scales and all values but the minimum.
bool NegatesReals(TfLiteContext* context, const TfLiteTensor* input, const TfLiteTensor* output) {
  return (input->type == kTfLiteInt8 || input->type == kTfLiteInt16) &&
         input->type == output->type && input->params.scale > 0.0f && output->params.scale > 0.0f &&
         ArithmeticOf(context) == Arithmetic::kDefault;
}

template <typename T>
TfLiteStatus NegateReals(TfLiteContext* context, const TfLiteTensor* input, TfLiteTensor* output) {
  const Rescaler rescaler(input, output);
  const double twice_zero = 2.0 * input->params.zero_point;
  return MapElements<T>(context, input, output,
                        [=](T x) { return rescaler.Steps<T>(twice_zero - x); });
}

TfLiteStatus EvalNeg(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  if (NegatesReals(context, input, Output(context, node, 0))) {
    return input->type == kTfLiteInt8
               ? NegateReals<int8_t>(context, input, Output(context, node, 0))
               : NegateReals<int16_t>(context, input, Output(context, node, 0));
  }
  if (input->type == kTfLiteFloat32) {
    return MapVectors(context, input, Output(context, node, 0), &VectorKernels::negative, 0.0f,
                      &Negative<float>);
  }
  if (input->type == kTfLiteFloat16) {
    return MapHalfVectors(context, input, Output(context, node, 0), &VectorKernels::negative, 0.0f,
                          &Negative<float>);
  }
  if (input->type == kTfLiteBFloat16) {
    return MapBFloat16(context, input, Output(context, node, 0), &Negative<float>);
  }
  return DispatchType<kNegBits & ~kRoundingBits>(context, input, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return MapLoops<T>(context, node, CpuOf(context).vector.opposite.of<T>(), &Negative<T>);
  });
}

// ---- SIGN -------------------------------------------------------------------------------------

constexpr uint32_t kSignBits = kFloat32Bit | kInt32Bit | TypeBit(kTfLiteFloat64);

// Returns -1, 0 or 1; NaN stays NaN.
template <typename T>
T Sign(T value) {
  if (value > 0) return T{1};
  if (value < 0) return T{-1};
  return value == 0 ? T{0} : value;
}

TfLiteStatus EvalSign(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  return DispatchType<kSignBits>(context, input, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return MapLoops<T>(context, node, CpuOf(context).vector.sign.of<T>(), &Sign<T>);
  });
}

// ---- EXP and LOG ------------------------------------------------------------------------------

constexpr uint32_t kTabulatedBits = kFloat32Bit | kInt8Bit | kInt16Bit;

TfLiteStatus PrepareExp(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(PrepareAnyOutput<kTabulatedBits>(context, node));
  if (Input(context, node, 0)->type == kTfLiteFloat32) return kTfLiteOk;
  DEPUTY_TRY(CheckScales(context, node));
  return FillTables(context, node, [](float x) { return std::exp(x); });
}

TfLiteStatus EvalExp(TfLiteContext* context, TfLiteNode* node) {
  if (Input(context, node, 0)->type != kTfLiteFloat32) return RunTables(context, node);
  return MapVectors(context, Input(context, node, 0), Output(context, node, 0), &VectorKernels::exp,
                    0.0f, [](float x) { return FastExp(x); });
}

// Prepares LOG. Values without a logarithm become the minimum quantised value.
TfLiteStatus PrepareLog(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(Prepare<kTabulatedBits>(context, node));
  const TfLiteTensor* output = Output(context, node, 0);
  if (output->type == kTfLiteFloat32) return kTfLiteOk;
  DEPUTY_TRY(CheckScales(context, node));
  IntRange range;
  QuantizedLimits(output->type, &range.low, &range.high);
  const float lowest =
      static_cast<float>(range.low - output->params.zero_point) * output->params.scale;
  return FillTables(context, node, [lowest](float x) { return x <= 0.0f ? lowest : std::log(x); });
}

TfLiteStatus EvalLog(TfLiteContext* context, TfLiteNode* node) {
  if (Input(context, node, 0)->type != kTfLiteFloat32) return RunTables(context, node);
  return MapElements<float>(context, Input(context, node, 0), Output(context, node, 0),
                            [](float x) { return std::log(x); });
}

// ---- SQRT and RSQRT ---------------------------------------------------------------------------

// Fails if a quantised value represents a negative number, whose square root is an error at run
// time.
template <typename T>
TfLiteStatus CheckNotNegative(TfLiteContext* context, const TfLiteTensor* input) {
  const T* values = Data<T>(input);
  const int64_t count = ElementCount(input);
  const int32_t zero_point = input->params.zero_point;
  for (int64_t i = 0; i < count; ++i) {
    if (values[i] < zero_point) {
      return TensorError(
          context, input,
          "expected no negative values, found quantised value %d below zero point %d", values[i],
          zero_point);
    }
  }
  return kTfLiteOk;
}

TfLiteStatus CheckNotNegative(TfLiteContext* context, const TfLiteTensor* input) {
  return input->type == kTfLiteInt8 ? CheckNotNegative<int8_t>(context, input)
                                    : CheckNotNegative<int16_t>(context, input);
}

class QuantizedSqrt {
 public:
  QuantizedSqrt(const TfLiteTensor* input, const TfLiteTensor* output)
      : input_(input->params), output_(output->params) {
    QuantizedLimits(output->type, &range_.low, &range_.high);
  }
  int32_t operator()(int32_t x) const {
    const float real = input_.scale * static_cast<float>(x - input_.zero_point);
    const float steps = std::trunc(std::sqrt(std::max(real, 0.0f)) / output_.scale);
    const double shifted = static_cast<double>(steps) + output_.zero_point;
    return static_cast<int32_t>(
        std::min<double>(std::max<double>(shifted, range_.low), range_.high));
  }

 private:
  TfLiteQuantizationParams input_, output_;
  IntRange range_;
};

TfLiteStatus PrepareSqrt(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(Prepare<kTabulatedBits>(context, node));
  const TfLiteTensor* input = Input(context, node, 0);
  if (input->type == kTfLiteFloat32) return kTfLiteOk;
  DEPUTY_TRY(CheckScales(context, node));
  if (input->type == kTfLiteInt8) {
    DataOf<UnaryData>(node).bytes.Fill<int8_t>(QuantizedSqrt(input, Output(context, node, 0)));
  }
  return kTfLiteOk;
}

TfLiteStatus EvalSqrt(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  if (input->type == kTfLiteFloat32) {
    return MapVectors(context, input, output, &VectorKernels::sqrt, 0.0f,
                      [](float x) { return std::sqrt(x); });
  }
  DEPUTY_TRY(CheckNotNegative(context, input));
  if (input->type == kTfLiteInt8) return RunTables(context, node);
  const QuantizedSqrt sqrt(input, output);
  return MapElements<int16_t>(context, input, output,
                              [&](int16_t x) { return static_cast<int16_t>(sqrt(x)); });
}

// RSQRT of int8 by fixed-point iteration; the root has 20 additional bits until it is rescaled.
class QuantizedRsqrt {
 public:
  QuantizedRsqrt(const TfLiteTensor* input, const TfLiteTensor* output)
      : zero_in_(input->params.zero_point),
        zero_out_(output->params.zero_point),
        to_output_(ToFixedMultiplier(
            1.0 / static_cast<double>(std::sqrt(input->params.scale) * output->params.scale))) {
    to_output_.shift -= kExtraBits;
    if (to_output_.shift < -31) to_output_ = {};
  }
  int32_t operator()(int32_t x) const {
    if (x <= zero_in_) return 127;
    FixedMultiplier root = InverseSqrt(x - zero_in_);
    root.shift += kExtraBits;
    const int64_t steps = int64_t{Multiply(Multiply(1, root), to_output_)} + zero_out_;
    return static_cast<int32_t>(std::min<int64_t>(std::max<int64_t>(steps, -128), 127));
  }

 private:
  static constexpr int kExtraBits = 20;
  int32_t zero_in_, zero_out_;
  FixedMultiplier to_output_;
};

TfLiteStatus PrepareRsqrt(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(Prepare<kTabulatedBits>(context, node));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* output = Output(context, node, 0);
  if (input->type == kTfLiteFloat32) return kTfLiteOk;
  DEPUTY_TRY(CheckScales(context, node));
  if (input->type == kTfLiteInt8) {
    DataOf<UnaryData>(node).bytes.Fill<int8_t>(QuantizedRsqrt(input, output));
    return kTfLiteOk;
  }
  const float largest = 32767.0f * output->params.scale;
  return FillTables(context, node,
                    [largest](float x) { return x <= 0.0f ? largest : 1.0f / std::sqrt(x); });
}

TfLiteStatus EvalRsqrt(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  if (input->type != kTfLiteFloat32) {
    DEPUTY_TRY(CheckNotNegative(context, input));
    return RunTables(context, node);
  }
  return MapVectors(context, input, Output(context, node, 0), &VectorKernels::inverse_sqrt, 0.0f,
                    [](float x) { return 1.0f / std::sqrt(x); });
}

TfLiteStatus PrepareAndOfferRsqrt(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(PrepareRsqrt(context, node));
  OfferMapRows<&VectorKernels::inverse_sqrt>(context, node, &Guarded<&EvalRsqrt>);
  return kTfLiteOk;
}

// ---- Table ------------------------------------------------------------------------------------

// Row of an operator that is one function of floats of the types `types`.
template <float (*function)(float), uint32_t types>
constexpr OpDef FloatRow(const char* name, TfLiteBuiltinOperator code, int max_version) {
  return KernelRow<UnaryData>(name, code, max_version, types, &Guarded<&Prepare<types>>,
                              &Guarded<&EvalFloat<function>>, kTfLiteInplaceOpInput0Shared);
}

constexpr OpDef kTable[] = {
    KernelRow<UnaryData>("ABS", kTfLiteBuiltinAbs, 5, kAbsBits,
                         kFoldingPrepare<&PrepareAbs, &EvalAbs>, kFoldedInvoke<&EvalAbs>,
                         kTfLiteInplaceOpInput0Shared),
    KernelRow<UnaryData>("NEG", kTfLiteBuiltinNeg, 1, kNegBits,
                         kFoldingPrepare<&PrepareAnyOutput<kNegBits>, &EvalNeg>,
                         kFoldedInvoke<&EvalNeg>, kTfLiteInplaceOpInput0Shared),
    FloatRow<&Ceil, kFloat32Bit>("CEIL", kTfLiteBuiltinCeil, 1),
    FloatRow<&Floor, kRoundingBits>("FLOOR", kTfLiteBuiltinFloor, 1),
    FloatRow<&RoundHalfToEven, kRoundingBits>("ROUND", kTfLiteBuiltinRound, 1),
    KernelRow<UnaryData>("EXP", kTfLiteBuiltinExp, 2, kTabulatedBits, &Guarded<&PrepareExp>,
                         &Guarded<&EvalExp>, kTfLiteInplaceOpInput0Shared),
    KernelRow<UnaryData>("LOG", kTfLiteBuiltinLog, 2, kTabulatedBits, &Guarded<&PrepareLog>,
                         &Guarded<&EvalLog>, kTfLiteInplaceOpInput0Shared),
    KernelRow<UnaryData>("SQRT", kTfLiteBuiltinSqrt, 2, kTabulatedBits, &Guarded<&PrepareSqrt>,
                         &Guarded<&EvalSqrt>, kTfLiteInplaceOpInput0Shared),
    KernelRow<UnaryData>("RSQRT", kTfLiteBuiltinRsqrt, 3, kTabulatedBits,
                         &Guarded<&PrepareAndOfferRsqrt>, &Guarded<&EvalRsqrt>,
                         kTfLiteInplaceOpInput0Shared),
    FloatRow<&Square, kFloat32Bit>("SQUARE", kTfLiteBuiltinSquare, 1),
    FloatRow<&Sin, kFloatBits>("SIN", kTfLiteBuiltinSin, 2),
    FloatRow<&Cos, kFloatBits>("COS", kTfLiteBuiltinCos, 2),
    KernelRow<void>("SIGN", kTfLiteBuiltinSign, 2, kSignBits,
                    kFoldingPrepare<&PrepareAnyOutput<kSignBits>, &EvalSign>,
                    kFoldedInvoke<&EvalSign>, kTfLiteInplaceOpInput0Shared),
};

}  // namespace

constexpr std::span<const OpDef> kUnaryOps = kTable;

}  // namespace deputy
