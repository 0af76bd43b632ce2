// SPDX-License-Identifier: Apache-2.0
//
// ADD, SUB, MUL and DIV with broadcasting and fused activations, and ADD_N of several tensors of
// one shape. An operator of this family is a function of two numbers, with a function object for
// each quantisation, run through one plan.
//
// The output takes the type of the inputs whatever the model declares. Integers wrap, except that
// DIV of the minimum integer by -1 is the maximum. Quantised operators use TensorFlow Lite's
// integer algorithms; the default arithmetic computes 8-bit ADD and SUB in float if that is precise
// enough, and requantises 8-bit MUL in float. int16 without scales is a plain integer in ADD and
// MUL. int16 ADD and SUB whose scales are powers of two and whose zero points are 0 shift one input
// and saturate, unless pot_scale_int16 is false.
#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#include "core/kernel_api/fusion.h"
#include "kernels/common/activation_range.h"
#include "kernels/common/broadcast.h"
#include "kernels/common/element_type.h"
#include "kernels/common/families.h"
#include "kernels/common/fixed_point.h"
#include "kernels/common/fold.h"
#include "kernels/common/kernel.h"
#include "kernels/common/requantize.h"
#include "kernels/cpu/map_rows.h"
#include "kernels/cpu/map_vectors.h"

namespace deputy {
namespace {

constexpr uint32_t kQuantizedTypes = kInt8Bit | kUInt8Bit | kInt16Bit;

struct Product;
// Only MUL supports complex numbers.
template <typename Operator>
constexpr uint32_t kComplexTypes = std::is_same_v<Operator, Product> ? TypeBit(kTfLiteComplex64)
                                                                     : 0;

// ---- Parameters -------------------------------------------------------------------------------

// Options of ADD and SUB.
template <typename Params>
bool FillSum(const OpOptions& options, Params* params) {
  params->activation = options.Activation(0);
  params->pot_scale_int16 = options.Bool(1, true);
  return true;
}

// Options of MUL and DIV.
template <typename Params>
bool FillProduct(const OpOptions& options, Params* params) {
  params->activation = options.Activation(0);
  return true;
}

// ---- Plain numbers ----------------------------------------------------------------------------

// Type in which elements of type T are computed: float for float16, otherwise T.
template <typename T>
using Computed = std::conditional_t<std::is_same_v<T, Half>, float, T>;

// Unsigned type in which sums and products of T wrap; at least 32 bits, so that it is not promoted
// to int.
template <typename T>
using Wrapping = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

// Returns the activation as a range of type T.
template <typename T>
Range<Computed<T>> PlainRange(const FloatRange& real) {
  if constexpr (std::is_same_v<T, float>) {
    return real;
  } else if constexpr (std::is_same_v<T, Half>) {
    return {std::max(real.low, -65504.0f), std::min(real.high, 65504.0f)};
  } else {
    const FloatRange unbounded;
    Range<T> range;
    if (real.low != unbounded.low) {
      range.low = static_cast<T>(std::is_signed_v<T> ? real.low : std::max(real.low, 0.0f));
    }
    if (real.high != unbounded.high) range.high = static_cast<T>(real.high);
    return range;
  }
}

struct Sum {
  static constexpr uint32_t kTypes = kFloat32Bit | kFloat16Bit | kInt16Bit | kInt32Bit | kInt64Bit;
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return a + b;
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};

struct Difference {
  static constexpr uint32_t kTypes = kFloat32Bit | kInt32Bit | kInt64Bit;
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return a - b;
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
  }
};

struct Product {
  static constexpr uint32_t kTypes =
      kFloat32Bit | kFloat16Bit | kInt16Bit | kInt32Bit | kInt64Bit | kUInt32Bit;
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return a * b;
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
};

struct Quotient {
  static constexpr uint32_t kTypes = kFloat32Bit | kInt32Bit;
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (b == -1) return a == std::numeric_limits<T>::min() ? std::numeric_limits<T>::max() : -a;
    }
    return a / b;
  }
};

// ---- Prepare ----------------------------------------------------------------------------------

enum class Steps { kPlain, kScaled, kShifted };

struct ArithmeticData {
  BroadcastPlan plan;
  FloatRange float_range;
  IntRange int_range;  // range of the activation for quantised outputs
  Steps steps = Steps::kPlain;
  // Number of bits by which each input is shifted right if `steps` is kShifted.
  int shift[2] = {0, 0};
};

// Sets `out_exponent` to log2 of the scale, rounded. Returns true if the scale is a power of two to
// within upstream's tolerance.
bool IsPowerOfTwo(float scale, int* out_exponent) {
  const double exponent = std::log2(static_cast<double>(scale));
  *out_exponent = static_cast<int>(std::round(exponent));
  return std::fabs(exponent - std::round(exponent)) < 1e-3;
}

// Determines whether int16 ADD or SUB shifts instead of multiplying.
TfLiteStatus PrepareShift(TfLiteContext* context, const TfLiteTensor* const tensors[3],
                          ArithmeticData* data) {
  int exponents[3];
  for (int i = 0; i < 3; ++i) {
    if (!IsPowerOfTwo(tensors[i]->params.scale, &exponents[i])) return kTfLiteOk;
  }
  for (int i = 0; i < 2; ++i) {
    data->shift[i] = exponents[2] - exponents[i];
    if (data->shift[i] < 0) {
      return TensorError(context, tensors[i],
                         "expected a scale of at most the output's %g, found %g",
                         static_cast<double>(tensors[2]->params.scale),
                         static_cast<double>(tensors[i]->params.scale));
    }
  }
  if (data->shift[0] != 0 && data->shift[1] != 0) {
    return TensorError(context, tensors[2], "expected the scale of one of the inputs, found %g",
                       static_cast<double>(tensors[2]->params.scale));
  }
  data->steps = Steps::kShifted;
  return kTfLiteOk;
}

TfLiteStatus PrepareQuantized(TfLiteContext* context, TfLiteFusedActivation activation,
                              const TfLiteTensor* const tensors[3], bool int16_has_zero_points,
                              bool may_shift, ArithmeticData* data) {
  const bool is_int16 = tensors[0]->type == kTfLiteInt16;
  for (int i = 0; i < 3; ++i) {
    DEPUTY_TRY(CheckQuantized(context, tensors[i]));
    if (!int16_has_zero_points) DEPUTY_TRY(CheckSymmetric(context, tensors[i]));
  }
  data->steps = Steps::kScaled;
  if (is_int16 && may_shift) DEPUTY_TRY(PrepareShift(context, tensors, data));
  return QuantizedActivationRange(context, activation, tensors[2], &data->int_range);
}

// Prepare function of ADD, SUB, MUL and DIV; Operator is Sum, Difference, Product or Quotient.
template <typename Operator, typename Params>
TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const auto& params = ParamsOf<Params>(node);
  ArithmeticData& data = DataOf<ArithmeticData>(node);
  const TfLiteTensor* a = Input(context, node, 0);
  const TfLiteTensor* b = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, a, Operator::kTypes | kQuantizedTypes | kComplexTypes<Operator>));
  if (a->type == kTfLiteComplex64 && params.activation != kTfLiteActNone) {
    return TensorError(context, a, "expected a real type with a fused activation");
  }
  DEPUTY_TRY(CheckSameType(context, b, a));
  output->type = a->type;
  data.float_range = ActivationRange(params.activation);
  data.steps = Steps::kPlain;
  const TfLiteTensor* const tensors[] = {a, b, output};
  const bool has_scale =
      a->params.scale != 0.0f || b->params.scale != 0.0f || output->params.scale != 0.0f;
  const bool may_be_plain = (Operator::kTypes & TypeBit(a->type)) != 0;
  if ((kQuantizedTypes & TypeBit(a->type)) != 0 && (has_scale || !may_be_plain)) {
    bool may_shift = false;
    if constexpr (requires { params.pot_scale_int16; }) may_shift = params.pot_scale_int16;
    DEPUTY_TRY(PrepareQuantized(context, params.activation, tensors,
                                std::is_same_v<Operator, Quotient>, may_shift, &data));
  }
  return data.plan.Prepare(context, a, b, output);
}

// ---- Reference --------------------------------------------------------------------------------

template <typename T>
T Saturate(int64_t steps, const IntRange& range) {
  return static_cast<T>(std::min<int64_t>(std::max<int64_t>(steps, range.low), range.high));
}

// Quantised sum: both inputs are rescaled to a common scale with more bits, added (sign 1) or
// subtracted (-1), and rescaled to the output's scale; every step rounds.
template <typename T, int sign>
class ScaledSum {
 public:
  ScaledSum(const TfLiteTensor* a, const TfLiteTensor* b, const TfLiteTensor* output,
            const IntRange& range)
      : zero_a_(a->params.zero_point),
        zero_b_(b->params.zero_point),
        zero_out_(output->params.zero_point),
        range_(range) {
    const double common = 2.0 * static_cast<double>(std::max(a->params.scale, b->params.scale));
    from_a_ = ToFixedMultiplier(static_cast<double>(a->params.scale) / common);
    from_b_ = ToFixedMultiplier(static_cast<double>(b->params.scale) / common);
    to_out_ =
        ToFixedMultiplier(common / ((1 << kExtraBits) * static_cast<double>(output->params.scale)));
  }

  FixedSum AsVectors() const {
    return {from_a_, from_b_, to_out_, sign, {range_.low, range_.high}};
  }

  T operator()(T a, T b) const {
    const int32_t sum = Multiply((a - zero_a_) * (1 << kExtraBits), from_a_) +
                        sign * Multiply((b - zero_b_) * (1 << kExtraBits), from_b_);
    return Saturate<T>(int64_t{Multiply(sum, to_out_)} + zero_out_, range_);
  }

 private:
  static constexpr int kExtraBits = sizeof(T) == 1 ? 20 : 15;
  int32_t zero_a_, zero_b_, zero_out_;
  FixedMultiplier from_a_, from_b_, to_out_;
  IntRange range_;
};

// 8-bit quantised sum in float, rounded once: equivalent to XNNPACK's fixed point, and vectorised
// by compilers.
template <typename T, int sign>
class FloatSum {
 public:
  FloatSum(const TfLiteTensor* a, const TfLiteTensor* b, const TfLiteTensor* output,
           const IntRange& range)
      : factor_a_(a->params.scale / output->params.scale),
        factor_b_(static_cast<float>(sign) * b->params.scale / output->params.scale),
        offset_(-static_cast<float>(a->params.zero_point) * factor_a_ -
                static_cast<float>(b->params.zero_point) * factor_b_),
        zero_out_(output->params.zero_point),
        bounds_{static_cast<float>(range.low - zero_out_),
                static_cast<float>(range.high - zero_out_)} {}

  // Returns true if float sums are precise enough. Larger factors would lose bits; they require
  // ScaledSum.
  bool is_exact_enough() const {
    constexpr float kMaxFactor = 4096;
    return factor_a_ < kMaxFactor && std::fabs(factor_b_) < kMaxFactor;
  }

  QuantizedSum AsVectors() const {
    return {factor_a_, factor_b_, offset_, {bounds_.low, bounds_.high}, zero_out_};
  }

  T operator()(T a, T b) const {
    const float steps = static_cast<float>(a) * factor_a_ + static_cast<float>(b) * factor_b_;
    return static_cast<T>(RoundToNearestEven(Clamp(steps + offset_, bounds_)) + zero_out_);
  }

 private:
  float factor_a_, factor_b_, offset_;
  int32_t zero_out_;
  FloatRange bounds_;
};

template <int sign>
class ShiftedSum {
 public:
  explicit ShiftedSum(const ArithmeticData& data)
      : shift_a_(std::min(data.shift[0], 31)),
        shift_b_(std::min(data.shift[1], 31)),
        range_(data.int_range) {}
  int16_t operator()(int16_t a, int16_t b) const {
    return Saturate<int16_t>(
        RoundingShiftRight(a, shift_a_) + sign * RoundingShiftRight(b, shift_b_), range_);
  }

 private:
  int shift_a_, shift_b_;
  IntRange range_;
};

template <typename T, typename Requantizer>
class ScaledProduct {
 public:
  ScaledProduct(const TfLiteTensor* a, const TfLiteTensor* b, const TfLiteTensor* output,
                const IntRange& range)
      : zero_a_(a->params.zero_point),
        zero_b_(b->params.zero_point),
        // The factor is computed in float as upstream does, because its last bits affect results.
        requantize_(static_cast<double>(a->params.scale * b->params.scale / output->params.scale),
                    output->params.zero_point, range) {}

  T operator()(T a, T b) const {
    return static_cast<T>(requantize_((a - zero_a_) * (b - zero_b_)));
  }

  FixedProduct AsFixed() const {
    return {requantize_.multiplier(), {requantize_.range().low, requantize_.range().high}};
  }
  QuantizedProduct AsVectors() const {
    const FloatRange& bounds = requantize_.bounds();
    return {zero_a_,
            zero_b_,
            requantize_.factor(),
            {bounds.low, bounds.high},
            requantize_.zero_point()};
  }

 private:
  int32_t zero_a_, zero_b_;
  Requantizer requantize_;
};

// Quantised quotient: multiplies by the divisor's reciprocal with as many bits as fit in 32. For
// small quotients upstream shifts by more than 31 bits, which is undefined; these quotients are 0
// here.
template <typename T>
class ScaledQuotient {
 public:
  ScaledQuotient(const TfLiteTensor* a, const TfLiteTensor* b, const TfLiteTensor* output,
                 const IntRange& range)
      : zero_a_(a->params.zero_point),
        zero_b_(b->params.zero_point),
        zero_out_(output->params.zero_point),
        factor_(ToFixedMultiplier(
            static_cast<double>(a->params.scale / (b->params.scale * output->params.scale)))),
        range_(range) {}

  T operator()(T a, T b) const {
    int32_t dividend = a - zero_a_, divisor = b - zero_b_;
    if (divisor < 0) {
      dividend = -dividend;
      divisor = -divisor;
    }
    int excess_bits = 0;
    const int32_t reciprocal = Reciprocal(divisor, 31, &excess_bits);
    const int headroom = HeadroomOf(dividend);
    const int32_t quotient =
        DoublingHighMultiply(WrappingShiftLeft(dividend, headroom), reciprocal);
    const int32_t scaled = DoublingHighMultiply(quotient, factor_.mantissa);
    const int shift = excess_bits + headroom - factor_.shift;
    int64_t steps = 0;
    if (shift < 0) {
      steps = SaturatingShiftLeft(scaled, -shift);
    } else if (shift <= 31) {
      steps = RoundingShiftRight(scaled, shift);
    }
    return Saturate<T>(steps + zero_out_, range_);
  }

 private:
  // Returns the number of copies of the sign bit that follow the sign bit of x.
  static int HeadroomOf(int32_t x) {
    return std::countl_zero(static_cast<uint32_t>(x < 0 ? ~x : x)) - 1;
  }

  int32_t zero_a_, zero_b_, zero_out_;
  FixedMultiplier factor_;
  IntRange range_;
};

// ---- Eval -------------------------------------------------------------------------------------

// Computes output[i] = function(a[..], b[..]) for elements of one type.
template <typename T, typename Function>
TfLiteStatus Run(TfLiteContext* context, TfLiteNode* node, const Function& function) {
  DataOf<ArithmeticData>(node).plan.Run(context, Data<T>(Input(context, node, 0)),
                                        Data<T>(Input(context, node, 1)),
                                        Data<T>(Output(context, node, 0)), function);
  return kTfLiteOk;
}

// Calls run(BinaryRun) for runs of elements of type T that together cover the output.
template <typename T, typename RunFunction>
TfLiteStatus RunVectors(TfLiteContext* context, TfLiteNode* node, const RunFunction& run) {
  return RunVectors<T>(context, node, DataOf<ArithmeticData>(node).plan, run);
}

// Returns the CPU table's loops for the operator on unquantised numbers.
template <typename Operator>
const auto& LoopsOf(const VectorKernels& vector) {
  if constexpr (std::is_same_v<Operator, Sum>) {
    return vector.plain_sum;
  } else if constexpr (std::is_same_v<Operator, Difference>) {
    return vector.plain_difference;
  } else if constexpr (std::is_same_v<Operator, Product>) {
    return vector.plain_product;
  } else {
    return vector.plain_quotient;
  }
}

// Computes the node with the CPU table's vector loop; returns false if the table has no loop for T.
template <typename T, typename Operator>
bool RunBounded(TfLiteContext* context, TfLiteNode* node, const Range<Computed<T>>& range) {
  const auto loop = LoopsOf<Operator>(CpuOf(context).vector).template of<Computed<T>>();
  if (loop == nullptr) return false;
  const Bounds<Computed<T>> bounds = {range.low, range.high};
  const auto run = [&](const BinaryRun<Computed<T>>& numbers) { loop(numbers, bounds); };
  if constexpr (std::is_same_v<T, Half>) {
    RunHalves(context, node, DataOf<ArithmeticData>(node).plan, run);
  } else {
    RunVectors<T>(context, node, run);
  }
  return true;
}

template <typename Operator>
TfLiteStatus RunPlain(TfLiteContext* context, TfLiteNode* node) {
  return DispatchType<Operator::kTypes>(context, Input(context, node, 0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto range = PlainRange<T>(DataOf<ArithmeticData>(node).float_range);
    if (RunBounded<T, Operator>(context, node, range)) return kTfLiteOk;
    return Run<T>(context, node, [range](Computed<T> a, Computed<T> b) {
      return static_cast<T>(Clamp(Operator::template Apply<Computed<T>>(a, b), range));
    });
  });
}

// Computes the node with Function<T>, a quantised operator, where T is the type of the first input.
template <template <typename> typename Function>
TfLiteStatus RunScaled(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* a = Input(context, node, 0);
  return DispatchType<kQuantizedTypes>(context, a, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Run<T>(context, node,
                  Function<T>(a, Input(context, node, 1), Output(context, node, 0),
                              DataOf<ArithmeticData>(node).int_range));
  });
}

template <typename T, int sign>
TfLiteStatus RunFloatSum(TfLiteContext* context, TfLiteNode* node, const FloatSum<T, sign>& sum) {
  const CpuKernels& cpu = CpuOf(context);
  if (cpu.vector.sum_s8 == nullptr) return Run<T>(context, node, sum);
  const QuantizedSum parameters = sum.AsVectors();
  return RunVectors<T>(context, node, [&](const BinaryRun<T>& run) {
    if constexpr (std::is_same_v<T, int8_t>) {
      AddSteps(cpu, run, parameters);
    } else {
      cpu.vector.sum_u8(run, parameters);
    }
  });
}

// Computes ADD (sign 1) or SUB (sign -1) of quantised tensors.
template <int sign>
TfLiteStatus RunScaledSum(TfLiteContext* context, TfLiteNode* node) {
  const ArithmeticData& data = DataOf<ArithmeticData>(node);
  if (data.steps == Steps::kShifted) return Run<int16_t>(context, node, ShiftedSum<sign>(data));
  const TfLiteTensor* a = Input(context, node, 0);
  const TfLiteTensor* b = Input(context, node, 1);
  const TfLiteTensor* output = Output(context, node, 0);
  return DispatchType<kQuantizedTypes>(context, a, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (sizeof(T) == 1) {
      const FloatSum<T, sign> sum(a, b, output, data.int_range);
      if (ArithmeticOf(context) == Arithmetic::kDefault && sum.is_exact_enough()) {
        return RunFloatSum<T>(context, node, sum);
      }
    }
    const ScaledSum<T, sign> sum(a, b, output, data.int_range);
    if constexpr (sizeof(T) == 2) {
      if (const auto loop = CpuOf(context).vector.sum_s16) {
        const FixedSum fixed = sum.AsVectors();
        return RunVectors<T>(context, node, [&](const BinaryRun<T>& run) { loop(run, fixed); });
      }
    }
    return Run<T>(context, node, sum);
  });
}

template <typename T>
using ExactProduct = ScaledProduct<T, ExactRequantizer>;
// Quantised product of the default arithmetic: in float for 8-bit types, in fixed point for int16,
// because XNNPACK has no 16-bit MUL and float would lose bits of the products.
template <typename T>
using DefaultProduct =
    ScaledProduct<T, std::conditional_t<sizeof(T) == 1, FloatRequantizer, ExactRequantizer>>;

TfLiteStatus EvalAdd(TfLiteContext* context, TfLiteNode* node) {
  return DataOf<ArithmeticData>(node).steps == Steps::kPlain ? RunPlain<Sum>(context, node)
                                                             : RunScaledSum<1>(context, node);
}

TfLiteStatus EvalSub(TfLiteContext* context, TfLiteNode* node) {
  return DataOf<ArithmeticData>(node).steps == Steps::kPlain ? RunPlain<Difference>(context, node)
                                                             : RunScaledSum<-1>(context, node);
}

// Computes 8-bit MUL in float; returns false if the CPU table has no loop for it.
template <typename T>
bool RunFloatProduct(TfLiteContext* context, TfLiteNode* node,
                     void (*loop)(const BinaryRun<T>&, const QuantizedProduct&)) {
  if (loop == nullptr) return false;
  const QuantizedProduct product =
      ScaledProduct<T, FloatRequantizer>(Input(context, node, 0), Input(context, node, 1),
                                         Output(context, node, 0),
                                         DataOf<ArithmeticData>(node).int_range)
          .AsVectors();
  RunVectors<T>(context, node, [&](const BinaryRun<T>& run) { loop(run, product); });
  return true;
}

// Computes 16-bit MUL, which is the same in both arithmetic modes; returns false if the CPU table
// has no loop for it.
bool RunFixedProduct(TfLiteContext* context, TfLiteNode* node,
                     void (*loop)(const BinaryRun<int16_t>&, const FixedProduct&)) {
  if (loop == nullptr) return false;
  const FixedProduct product = ScaledProduct<int16_t, ExactRequantizer>(
                                   Input(context, node, 0), Input(context, node, 1),
                                   Output(context, node, 0), DataOf<ArithmeticData>(node).int_range)
                                   .AsFixed();
  RunVectors<int16_t>(context, node, [&](const BinaryRun<int16_t>& run) { loop(run, product); });
  return true;
}

bool RunVectorProduct(TfLiteContext* context, TfLiteNode* node) {
  const VectorKernels& vector = CpuOf(context).vector;
  if (Input(context, node, 0)->type == kTfLiteInt16) {
    return RunFixedProduct(context, node, vector.product_s16);
  }
  if (ArithmeticOf(context) != Arithmetic::kDefault) return false;
  switch (Input(context, node, 0)->type) {
    case kTfLiteInt8:
      return RunFloatProduct<int8_t>(context, node, vector.product_s8);
    case kTfLiteUInt8:
      return RunFloatProduct<uint8_t>(context, node, vector.product_u8);
    default:
      return false;
  }
}

using Complex = std::complex<float>;

// Computes a * b; the library call, which handles infinities, is only made if both parts are NaN.
Complex ComplexProduct(Complex a, Complex b) {
  const float real = a.real() * b.real() - a.imag() * b.imag();
  const float imaginary = a.real() * b.imag() + a.imag() * b.real();
  return std::isnan(real) && std::isnan(imaginary) ? a * b : Complex(real, imaginary);
}

TfLiteStatus EvalMul(TfLiteContext* context, TfLiteNode* node) {
  if (Input(context, node, 0)->type == kTfLiteComplex64) {
    return Run<Complex>(context, node, [](Complex a, Complex b) { return ComplexProduct(a, b); });
  }
  if (DataOf<ArithmeticData>(node).steps == Steps::kPlain) return RunPlain<Product>(context, node);
  if (RunVectorProduct(context, node)) return kTfLiteOk;
  return ArithmeticOf(context) == Arithmetic::kReference ? RunScaled<ExactProduct>(context, node)
                                                         : RunScaled<DefaultProduct>(context, node);
}

// Reports divisors of 0 as errors; they are errors for integer types only.
TfLiteStatus CheckDivisors(TfLiteContext* context, const TfLiteTensor* divisor) {
  return DispatchType<kQuantizedTypes | kInt32Bit>(context, divisor, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int32_t zero = divisor->type == kTfLiteInt32 ? 0 : divisor->params.zero_point;
    const T* values = Data<T>(divisor);
    const int64_t count = ElementCount(divisor);
    for (int64_t i = 0; i < count; ++i) {
      if (values[i] == zero) {
        return TensorError(context, divisor, "expected divisors other than 0, found element %lld",
                           static_cast<long long>(i));
      }
    }
    return kTfLiteOk;
  });
}

TfLiteStatus EvalDiv(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* divisor = Input(context, node, 1);
  if (divisor->type != kTfLiteFloat32) DEPUTY_TRY(CheckDivisors(context, divisor));
  return DataOf<ArithmeticData>(node).steps == Steps::kScaled
             ? RunScaled<ScaledQuotient>(context, node)
             : RunPlain<Quotient>(context, node);
}

// ---- ADD_N ------------------------------------------------------------------------------------

constexpr uint32_t kAddNTypes = kFloat32Bit | kInt32Bit;

TfLiteStatus PrepareAddN(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, std::numeric_limits<int>::max(), 1));
  const TfLiteTensor* first = Input(context, node, 0);
  DEPUTY_TRY(CheckType(context, first, kAddNTypes));
  for (int i = 1; i < node->inputs->size; ++i) {
    const TfLiteTensor* input = Input(context, node, i);
    if (input == nullptr) return KernelError(context, "input %d: expected a tensor, found none", i);
    DEPUTY_TRY(CheckSameType(context, input, first));
    DEPUTY_TRY(CheckRank(context, input, Rank(first)));
    for (int d = 0; d < Rank(first); ++d) DEPUTY_TRY(CheckDim(context, input, d, Dim(first, d)));
  }
  Output(context, node, 0)->type = first->type;
  return ResizeLike(context, Output(context, node, 0), first);
}

template <typename T>
void AddN(TfLiteContext* context, const TfLiteNode* node, int64_t first, int64_t last) {
  T* out = Data<T>(Output(context, node, 0));
  const T* start = Data<T>(Input(context, node, 0));
  std::copy(start + first, start + last, out + first);
  for (int i = 1; i < node->inputs->size; ++i) {
    const T* in = Data<T>(Input(context, node, i));
    for (int64_t k = first; k < last; ++k) out[k] = Sum::Apply<T>(out[k], in[k]);
  }
}

TfLiteStatus EvalAddN(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* output = Output(context, node, 0);
  return DispatchType<kAddNTypes>(context, output, [&](auto tag) {
    using T = typename decltype(tag)::type;
    ParallelRanges(context, ElementCount(output), kElementsPerTask,
                   [&](int64_t first, int64_t last) { AddN<T>(context, node, first, last); });
    return kTfLiteOk;
  });
}

// Describes ADD for fusion with a layer that produces one of its inputs, for float32 and int8.
std::optional<SumRole> DescribeSum(TfLiteContext* context, const TfLiteNode* node) {
  const ArithmeticData& data = DataOf<ArithmeticData>(node);
  const TfLiteTensor *a = Input(context, node, 0), *b = Input(context, node, 1);
  const TfLiteTensor* const output = Output(context, node, 0);
  SumRole role;
  role.matching_inputs = data.plan.matching_inputs(a, b);
  if (output->type == kTfLiteFloat32) {
    role.low = data.float_range.low;
    role.high = data.float_range.high;
    return role;
  }
  if (output->type != kTfLiteInt8 || data.steps != Steps::kScaled) return {};
  const FloatSum<int8_t, 1> sum(a, b, output, data.int_range);
  const QuantizedSum scales = sum.AsVectors();
  role.low = scales.bounds.low;
  role.high = scales.bounds.high;
  role.scales = {{scales.factor_a, scales.factor_b}, scales.offset, scales.zero_point};
  if (ArithmeticOf(context) != Arithmetic::kDefault || !sum.is_exact_enough()) return {};
  return role;
}

// Row function for row-wise fusion in float32; requires a loop in the CPU table.
template <typename Operator>
void ComputeRows(TfLiteContext* context, TfLiteNode* node, const GroupRows& rows) {
  const ArithmeticData& data = DataOf<ArithmeticData>(node);
  const auto loop = LoopsOf<Operator>(rows.cpu->vector).template of<float>();
  const Bounds<float> bounds = {data.float_range.low, data.float_range.high};
  RunVectorRows(context, node, data.plan, rows,
                [&](const BinaryRun<float>& run) { loop(run, bounds); });
}

template <typename Operator>
constexpr ElementOpKind KindInChain(int made) {
  if constexpr (std::is_same_v<Operator, Sum>) return ElementOpKind::kAdd;
  if constexpr (std::is_same_v<Operator, Product>) return ElementOpKind::kMul;
  return made == 0 ? ElementOpKind::kSub : ElementOpKind::kReverseSub;
}

template <typename Operator>
ElementOp ComputeElement(TfLiteContext* context, TfLiteNode* node, const ChainedNode& chained) {
  const FloatRange& range = DataOf<ArithmeticData>(node).float_range;
  ElementOp op = {.kind = KindInChain<Operator>(chained.computed),
                  .uses_first = chained.uses_first,
                  .low = range.low,
                  .high = range.high};
  if (!op.uses_first) op.other = *Data<const float>(Input(context, node, 1 - chained.computed));
  return op;
}

template <typename Operator>
constexpr RowKernel kArithmeticRows = {
    .rows = &ComputeRows<Operator>,
    .element = std::is_same_v<Operator, Quotient> ? nullptr : &ComputeElement<Operator>};

// Describes a float32 MUL without an activation, which a layer that reads the product may absorb.
std::optional<ScaleRole> DescribeScale(TfLiteContext* context, const TfLiteNode* node) {
  const ArithmeticData& data = DataOf<ArithmeticData>(node);
  constexpr FloatRange kNone;
  if (Output(context, node, 0)->type != kTfLiteFloat32 || data.float_range.low != kNone.low ||
      data.float_range.high != kNone.high) {
    return {};
  }
  return ScaleRole{data.plan.matching_inputs(Input(context, node, 0), Input(context, node, 1))};
}

template <typename Operator, typename Params, TfLiteStatus (*eval)(TfLiteContext*, TfLiteNode*)>
TfLiteStatus PrepareAndOffer(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY((Prepare<Operator, Params>(context, node)));
  FusionOffer offer = {.invoke = kFoldedInvoke<eval>};
  if constexpr (std::is_same_v<Operator, Sum>) {
    if (const auto sum = DescribeSum(context, node)) offer.role = *sum;
  }
  if constexpr (std::is_same_v<Operator, Product>) {
    if (const auto scale = DescribeScale(context, node)) offer.role = *scale;
  }
  if (Output(context, node, 0)->type == kTfLiteFloat32 &&
      LoopsOf<Operator>(CpuOf(context).vector).template of<float>() != nullptr) {
    offer.by_rows =
        BroadcastRows(context, node, DataOf<ArithmeticData>(node).plan, &kArithmeticRows<Operator>);
  }
  if (!std::holds_alternative<std::monostate>(offer.role) || offer.by_rows.kernel != nullptr) {
    OfferFusion(context, node, offer);
  }
  return kTfLiteOk;
}

// ---- Table ------------------------------------------------------------------------------------

template <typename Operator, typename Params, TfLiteStatus (*eval)(TfLiteContext*, TfLiteNode*),
          uint8_t member, bool (*fill)(const OpOptions&, Params*)>
constexpr OpDef Row(const char* name, TfLiteBuiltinOperator code, int max_version) {
  return {.name = name,
          .code = code,
          .min_version = 1,
          .max_version = max_version,
          .types = Operator::kTypes | kQuantizedTypes | kComplexTypes<Operator>,
          .options = {1, member},
          .params_size = sizeof(Params),
          .parse = &ParseOptions<member, Params, fill>,
          .init = &GuardedInit<&NewData<ArithmeticData>>,
          .free = &DeleteData<ArithmeticData>,
          .prepare = kFoldingPrepare<&PrepareAndOffer<Operator, Params, eval>, eval>,
          .invoke = kFoldedInvoke<eval>,
          .inplace = kTfLiteInplaceOpInput0Shared | kTfLiteInplaceOpInput1Shared};
}

constexpr OpDef kTable[] = {
    Row<Sum, TfLiteAddParams, &EvalAdd, 11, &FillSum>("ADD", kTfLiteBuiltinAdd, 6),
    Row<Difference, TfLiteSubParams, &EvalSub, 28, &FillSum>("SUB", kTfLiteBuiltinSub, 5),
    Row<Product, TfLiteMulParams, &EvalMul, 21, &FillProduct>("MUL", kTfLiteBuiltinMul, 8),
    Row<Quotient, TfLiteDivParams, &EvalDiv, 29, &FillProduct>("DIV", kTfLiteBuiltinDiv, 2),
    KernelRow<void>("ADD_N", kTfLiteBuiltinAddN, 1, kAddNTypes,
                    kFoldingPrepare<&PrepareAddN, &EvalAddN>, kFoldedInvoke<&EvalAddN>),
};

}  // namespace

constexpr std::span<const OpDef> kArithmeticOps = kTable;

}  // namespace deputy
