// SPDX-License-Identifier: Apache-2.0
//
// Activations as separate operators, and PRELU, whose slopes are a tensor. Quantised activations of
// 8-bit types are tables made in prepare; int16 is computed element by element, in GELU by a table
// made in prepare that is interpolated. The quantised algorithms are those of TensorFlow Lite's
// reference kernels in both arithmetic modes, except that the default arithmetic computes 8-bit
// LEAKY_RELU in real numbers.
//
// int16 is symmetric except in GELU: zero points must be 0. LOGISTIC and TANH of int16 interpolate
// in one table of the logistic function, since tanh(x) = 2 * logistic(2x) - 1.
#include <memory>

#include "core/kernel_api/fusion.h"
#include "kernels/common/activation_range.h"
#include "kernels/common/broadcast.h"
#include "kernels/common/elementwise.h"
#include "kernels/common/families.h"
#include "kernels/common/float_math.h"
#include "kernels/common/kernel.h"
#include "kernels/common/requantize.h"
#include "kernels/common/rescale.h"
#include "kernels/cpu/map_rows.h"
#include "kernels/cpu/map_vectors.h"

namespace deputy {
namespace {

constexpr uint32_t kByteBits = kInt8Bit | kUInt8Bit;

// ---- Parameters -------------------------------------------------------------------------------

bool FillLeakyRelu(const OpOptions& options, TfLiteLeakyReluParams* params) {
  params->alpha = options.Float(0);
  return true;
}

bool FillGelu(const OpOptions& options, TfLiteGeluParams* params) {
  params->approximate = options.Bool(0);
  return true;
}

// ---- Prepare ----------------------------------------------------------------------------------

// Checks an operator with one input and one output of the same type and shape. The type must be in
// `types`; quantised types must have scales.
template <uint32_t types>
TfLiteStatus CheckActivation(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, types));
  DEPUTY_TRY(CheckSameType(context, output, input));
  constexpr uint32_t kReal = kFloat32Bit | kFloat16Bit | kBFloat16Bit;
  if ((TypeBit(input->type) & kReal) == 0) {
    DEPUTY_TRY(CheckQuantized(context, input));
    DEPUTY_TRY(CheckQuantized(context, output));
  }
  return ResizeLike(context, output, input);
}

TfLiteStatus CheckBothSymmetric(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckSymmetric(context, Input(context, node, 0)));
  return CheckSymmetric(context, Output(context, node, 0));
}

TfLiteStatus CheckOutputScale(TfLiteContext* context, const TfLiteTensor* output, float scale) {
  if (output->params.scale == scale) return kTfLiteOk;
  return TensorError(context, output, "expected scale %g, found %g", static_cast<double>(scale),
                     static_cast<double>(output->params.scale));
}

// Adds the zero point to a quantised value and clamps the sum to the range.
int32_t Shifted(int32_t steps, int32_t zero_point, const IntRange& range) {
  const int64_t shifted = int64_t{steps} + zero_point;
  return static_cast<int32_t>(std::min<int64_t>(std::max<int64_t>(shifted, range.low), range.high));
}

IntRange StepsOf(TfLiteType type) {
  IntRange range;
  QuantizedLimits(type, &range.low, &range.high);
  return range;
}

// ---- RELU and its variants, LEAKY_RELU, PRELU -------------------------------------------------

// Upper bound of an activation without an upper limit; quantisation turns it into the type's
// maximum.
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// RELU of a single quantised value, for tables and for int16.
class QuantizedRelu {
 public:
  QuantizedRelu(const TfLiteTensor* input, const TfLiteTensor* output, const FloatBounds& bounds)
      : zero_in_(input->params.zero_point),
        zero_out_(output->params.zero_point),
        multiplier_(
            ToFixedMultiplier(static_cast<double>(input->params.scale / output->params.scale))),
        range_(StepsOf(output->type)) {
    const auto steps = [&](float bound) {
      const double step = std::round(bound / output->params.scale);
      return std::clamp(step + zero_out_, double{-2147483648.0}, double{2147483647.0});
    };
    range_.low = std::max(range_.low, static_cast<int32_t>(steps(bounds.low)));
    if (bounds.high != kInfinity) {
      range_.high = std::min(range_.high, static_cast<int32_t>(steps(bounds.high)));
    }
  }
  int32_t operator()(int32_t x) const {
    return Shifted(Multiply(x - zero_in_, multiplier_), zero_out_, range_);
  }
  FixedPiecewise AsVectors() const {
    return {zero_in_, zero_out_, multiplier_, multiplier_, 1, 1, {range_.low, range_.high}};
  }

 private:
  int32_t zero_in_, zero_out_;
  FixedMultiplier multiplier_;
  IntRange range_;
};

class QuantizedLeakyRelu {
 public:
  QuantizedLeakyRelu(const TfLiteTensor* input, const TfLiteTensor* output, float alpha)
      : zero_in_(input->params.zero_point),
        zero_out_(output->params.zero_point),
        identity_(
            ToFixedMultiplier(static_cast<double>(input->params.scale / output->params.scale))),
        slope_(ToFixedMultiplier(
            static_cast<double>(std::fabs(input->params.scale * alpha / output->params.scale)))),
        negative_slope_(alpha < 0.0f),
        range_(StepsOf(output->type)) {}

  int32_t operator()(int32_t x) const {
    const int32_t value = x - zero_in_;
    int32_t steps = Multiply(value, value >= 0 ? identity_ : slope_);
    if (value < 0 && negative_slope_) steps = -steps;
    return Shifted(steps, zero_out_, range_);
  }
  FixedPiecewise AsVectors() const {
    const int32_t sign_out = negative_slope_ ? -1 : 1;
    return {zero_in_, zero_out_, identity_, slope_, 1, sign_out, {range_.low, range_.high}};
  }

 private:
  int32_t zero_in_, zero_out_;
  FixedMultiplier identity_, slope_;
  bool negative_slope_;
  IntRange range_;
};

class QuantizedPrelu {
 public:
  QuantizedPrelu(const TfLiteTensor* input, const TfLiteTensor* alpha, const TfLiteTensor* output)
      : zero_in_(input->params.zero_point),
        zero_alpha_(alpha->params.zero_point),
        zero_out_(output->params.zero_point),
        identity_(
            ToFixedMultiplier(static_cast<double>(input->params.scale / output->params.scale))),
        slope_(ToFixedMultiplier(
            static_cast<double>(input->params.scale * alpha->params.scale / output->params.scale))),
        range_(StepsOf(output->type)) {}

  template <typename T, typename Alpha>
  T operator()(T x, Alpha alpha) const {
    const int32_t value = x - zero_in_;
    const int32_t steps =
        value >= 0 ? Multiply(value, identity_) : Multiply(value * (alpha - zero_alpha_), slope_);
    return static_cast<T>(Shifted(steps, zero_out_, range_));
  }
  FixedSlope AsVectors() const {
    return {zero_in_, zero_alpha_, zero_out_, identity_, slope_, {range_.low, range_.high}};
  }

 private:
  int32_t zero_in_, zero_alpha_, zero_out_;
  FixedMultiplier identity_, slope_;
  IntRange range_;
};

// LEAKY_RELU of a quantised value, computed in real numbers and rounded once.
class ExactLeakyRelu {
 public:
  ExactLeakyRelu(const TfLiteTensor* input, const TfLiteTensor* output, float alpha)
      : rescaler_(input, output),
        zero_in_(input->params.zero_point),
        alpha_(static_cast<double>(alpha)),
        range_(StepsOf(output->type)) {}

  int32_t operator()(int32_t x) const {
    const double steps = x < zero_in_ ? (x - zero_in_) * alpha_ + zero_in_ : x;
    return static_cast<int32_t>(rescaler_.InRange(steps, range_.low, range_.high));
  }

 private:
  Rescaler rescaler_;
  int32_t zero_in_;
  double alpha_;
  IntRange range_;
};

struct TableData {
  ByteTable bytes;
};

// Tabulates a function of quantised values if the input has an 8-bit type.
template <typename Recipe>
void FillSteps(const TfLiteTensor* input, ByteTable* table, const Recipe& recipe) {
  if (input->type == kTfLiteInt8) table->Fill<int8_t>(recipe);
  if (input->type == kTfLiteUInt8) table->Fill<uint8_t>(recipe);
}

template <int low, int high>  // `high` 0: no upper bound
FloatBounds BoundsOf() {
  return {static_cast<float>(low), high == 0 ? kInfinity : static_cast<float>(high)};
}

template <uint32_t types, int low, int high>
TfLiteStatus PrepareRelu(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckActivation<types>(context, node));
  DEPUTY_TRY(CheckBothSymmetric(context, node));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* output = Output(context, node, 0);
  if (input->type == kTfLiteFloat32) return kTfLiteOk;
  FillSteps(input, &DataOf<TableData>(node).bytes,
            QuantizedRelu(input, output, BoundsOf<low, high>()));
  return kTfLiteOk;
}

template <int low, int high>
TfLiteStatus EvalRelu(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  const FloatBounds bounds = BoundsOf<low, high>();
  switch (input->type) {
    case kTfLiteFloat32:
      if (high == 0) {
        return MapVectors(context, input, output, &VectorKernels::relu, 0.0f,
                          [](float x) { return x < 0.0f ? 0.0f : x; });
      }
      static_assert(high == 0 || low == 0 || low == -high);
      return MapVectors(
          context, input, output, low == 0 ? &VectorKernels::relu_up_to : &VectorKernels::clamp,
          bounds.high,
          [bounds](float x) { return std::min(std::max(x, bounds.low), bounds.high); });
    case kTfLiteInt16: {
      const QuantizedRelu relu(input, output, bounds);
      return MapPiecewise(context, input, output, relu.AsVectors(), relu);
    }
    default:
      return MapBytes(context, DataOf<TableData>(node).bytes, input, output);
  }
}

TfLiteStatus PrepareLeakyRelu(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY((CheckActivation<kFloat32Bit | kByteBits | kInt16Bit>(context, node)));
  DEPUTY_TRY(CheckBothSymmetric(context, node));
  const float alpha = ParamsOf<TfLiteLeakyReluParams>(node).alpha;
  if (!std::isfinite(alpha)) {
    return KernelError(context, "alpha: expected a finite number, found %g",
                       static_cast<double>(alpha));
  }
  const TfLiteTensor* input = Input(context, node, 0);
  if (input->type == kTfLiteFloat32) return kTfLiteOk;
  ByteTable* const bytes = &DataOf<TableData>(node).bytes;
  const TfLiteTensor* output = Output(context, node, 0);
  if (ArithmeticOf(context) == Arithmetic::kDefault) {
    FillSteps(input, bytes, ExactLeakyRelu(input, output, alpha));
  } else {
    FillSteps(input, bytes, QuantizedLeakyRelu(input, output, alpha));
  }
  return kTfLiteOk;
}

TfLiteStatus EvalLeakyRelu(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  const float alpha = ParamsOf<TfLiteLeakyReluParams>(node).alpha;
  switch (input->type) {
    case kTfLiteFloat32:
      return MapVectors(context, input, output, &VectorKernels::leaky_relu, alpha,
                        [=](float x) { return x > 0.0f ? x : x * alpha; });
    case kTfLiteInt16: {
      const QuantizedLeakyRelu relu(input, output, alpha);
      return MapPiecewise(context, input, output, relu.AsVectors(), relu);
    }
    default:
      return MapBytes(context, DataOf<TableData>(node).bytes, input, output);
  }
}

struct PreluData {
  BroadcastPlan plan;
};

TfLiteStatus PreparePrelu(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* alpha = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kFloat32Bit | kByteBits | kInt16Bit));
  // int16 inputs require int8 slopes; upstream accepts slopes of any type and reads them as int8.
  DEPUTY_TRY(
      CheckType(context, alpha, input->type == kTfLiteInt16 ? kInt8Bit : TypeBit(input->type)));
  output->type = input->type;
  if (input->type != kTfLiteFloat32) {
    for (const TfLiteTensor* tensor : {input, alpha, static_cast<const TfLiteTensor*>(output)}) {
      DEPUTY_TRY(CheckQuantized(context, tensor));
      DEPUTY_TRY(CheckSymmetric(context, tensor));
    }
  }
  DEPUTY_TRY(DataOf<PreluData>(node).plan.Prepare(context, input, alpha, output));
  if (TfLiteIntArrayEqual(output->dims, input->dims) == 0) {
    return TensorError(context, alpha, "expected a shape that broadcasts to that of tensor %d",
                       static_cast<int>(input - context->tensors));
  }
  return kTfLiteOk;
}

template <typename T, typename Alpha, typename Function>
TfLiteStatus RunPrelu(TfLiteContext* context, TfLiteNode* node, const Function& function) {
  DataOf<PreluData>(node).plan.Run(context, Data<T>(Input(context, node, 0)),
                                   Data<Alpha>(Input(context, node, 1)),
                                   Data<T>(Output(context, node, 0)), function);
  return kTfLiteOk;
}

template <typename T, typename Alpha>
TfLiteStatus RunQuantizedPrelu(TfLiteContext* context, TfLiteNode* node) {
  const QuantizedPrelu prelu(Input(context, node, 0), Input(context, node, 1),
                             Output(context, node, 0));
  const auto loop = CpuOf(context).vector.prelu.of<FromTo<T, Alpha>>();
  if (loop == nullptr) return RunPrelu<T, Alpha>(context, node, prelu);
  const FixedSlope slope = prelu.AsVectors();
  return RunVectors<T, T, Alpha>(context, node, DataOf<PreluData>(node).plan,
                                 [&](const BinaryRun<T, T, Alpha>& run) { loop(run, slope); });
}

TfLiteStatus EvalPrelu(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  switch (input->type) {
    case kTfLiteFloat32:
      if (const auto loop = CpuOf(context).vector.prelu_f32) {
        return RunVectors<float>(context, node, DataOf<PreluData>(node).plan, loop);
      }
      return RunPrelu<float, float>(context, node,
                                    [](float x, float alpha) { return x >= 0.0f ? x : x * alpha; });
    case kTfLiteInt8:
      return RunQuantizedPrelu<int8_t, int8_t>(context, node);
    case kTfLiteUInt8:
      return RunQuantizedPrelu<uint8_t, uint8_t>(context, node);
    case kTfLiteInt16:
      return RunQuantizedPrelu<int16_t, int8_t>(context, node);
    default:
      return UnexpectedType(context, input);
  }
}

// ---- HARD_SWISH -------------------------------------------------------------------------------

// HARD_SWISH, x * relu6(x + 3) / 6, in 16-bit fixed point. Every conversion to int16_t is part of
// the algorithm.
class QuantizedHardSwish {
 public:
  QuantizedHardSwish(const TfLiteTensor* input, const TfLiteTensor* output)
      : zero_in_(input->params.zero_point),
        zero_out_(output->params.zero_point),
        range_(StepsOf(output->type)) {
    const float fine_scale = 1.0f / 128.0f * input->params.scale;
    const FixedMultiplier to_output =
        ToFixedMultiplier(static_cast<double>(fine_scale / output->params.scale));
    const FixedMultiplier to_gate =
        ToFixedMultiplier(static_cast<double>(fine_scale / (3.0f / 32768.0f)));
    output_mantissa_ = UpperHalf(to_output.mantissa);
    output_shift_ = to_output.shift;
    gate_mantissa_ = UpperHalf(to_gate.mantissa);
    gate_shift_ = to_gate.shift;
  }

  // Returns true if the output's scale is greater than 1/128 of the input's, as the algorithm
  // needs.
  bool valid() const { return output_shift_ <= 0; }

  int32_t operator()(int32_t x) const {
    const auto fine = static_cast<int16_t>((x - zero_in_) * 128);
    const int16_t unshifted = RoundingHighMultiply(fine, output_mantissa_);
    int16_t gate = fine;  // scaled below to relu6(x + 3) / 6 with 15 fraction bits
    if (gate_shift_ > 0) gate = ShiftLeft(gate, gate_shift_ - 1);
    gate = RoundingHighMultiply(gate, gate_mantissa_);
    if (gate_shift_ > 0) gate = ShiftLeft(gate, 1);
    if (gate_shift_ < 0) gate = RoundingShiftRight16(gate, -gate_shift_);
    gate = static_cast<int16_t>((gate + (1 << 15)) >> 1);
    const auto product = static_cast<int16_t>(gate * unshifted / (1 << 15));
    const int16_t steps = RoundingShiftRight16(product, -output_shift_);
    return std::clamp<int32_t>(static_cast<int16_t>(steps + zero_out_), range_.low, range_.high);
  }

 private:
  static int16_t UpperHalf(int32_t mantissa) {
    if (mantissa >= std::numeric_limits<int32_t>::max() - (1 << 15)) return 32767;
    return static_cast<int16_t>((mantissa + (1 << 15)) >> 16);
  }
  static int16_t ShiftLeft(int16_t value, int bits) {
    const int64_t wide = int64_t{value} * (int64_t{1} << bits);
    return static_cast<int16_t>(std::clamp<int64_t>(wide, -32768, 32767));
  }
  static int16_t RoundingHighMultiply(int16_t a, int16_t b) {  // b must not be negative
    const int32_t product = a * b;
    return static_cast<int16_t>((product + (product >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15));
  }
  static int16_t RoundingShiftRight16(int16_t value, int bits) {
    const auto mask = static_cast<int16_t>((int64_t{1} << bits) - 1);
    const auto remainder = static_cast<int16_t>(value & mask);
    const int threshold = (mask >> 1) + (value < 0 ? 1 : 0);
    return static_cast<int16_t>((value >> bits) + (remainder > threshold ? 1 : 0));
  }

  int32_t zero_in_, zero_out_;
  IntRange range_;
  int16_t output_mantissa_, gate_mantissa_;
  int output_shift_, gate_shift_;
};

TfLiteStatus PrepareHardSwish(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY((CheckActivation<kFloat32Bit | kByteBits>(context, node)));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* output = Output(context, node, 0);
  if (input->type == kTfLiteFloat32) return kTfLiteOk;
  const QuantizedHardSwish swish(input, output);
  if (!swish.valid()) {
    return TensorError(context, output, "expected a scale greater than %g, found %g",
                       static_cast<double>(input->params.scale / 128.0f),
                       static_cast<double>(output->params.scale));
  }
  FillSteps(input, &DataOf<TableData>(node).bytes, swish);
  return kTfLiteOk;
}

TfLiteStatus EvalHardSwish(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  if (input->type != kTfLiteFloat32)
    return MapBytes(context, DataOf<TableData>(node).bytes, input, output);
  return MapVectors(context, input, output, &VectorKernels::hard_swish, 0.0f,
                    [](float x) { return x * std::min(6.0f, std::max(0.0f, x + 3.0f)) / 6.0f; });
}

// ---- LOGISTIC and TANH ------------------------------------------------------------------------

// Table of logistic(i / 24) with 16 fraction bits. Some entries are one above the nearest value, to
// improve the interpolated values.
struct LogisticTable {
  LogisticTable() {
    constexpr uint8_t kRaised[] = {4,  8,  12, 14, 15, 16, 17, 19, 20,  21,  22,  25,  27,  28, 29,
                                   30, 31, 33, 34, 35, 37, 39, 40, 41,  43,  44,  45,  46,  49, 50,
                                   54, 62, 63, 64, 66, 82, 86, 93, 100, 103, 112, 116, 135, 255};
    for (int i = 0; i < 256; ++i) {
      entries[i] = static_cast<uint16_t>(std::floor(65536.0 / (1.0 + std::exp(-i / 24.0)) + 0.5));
    }
    for (const uint8_t i : kRaised) ++entries[i];
    for (int i = 0; i < 255; ++i) curve[i] = entries[i] | (entries[i + 1] - entries[i]) << 16;
  }
  uint16_t entries[256];
  int32_t curve[255];  // `entries` in the format of ShortCurve::entries
};

const LogisticTable& Logistic() {
  static const LogisticTable table;
  return table;
}

// Scaling of a quantised input x to an index of the logistic table: x * factor / 2^shift.
struct TableScaling {
  int32_t factor = 3;
  int shift = 0;
};

// Sets `out_exponent` to log2 of the scale, rounded. Returns true if rounding changes it by less
// than 0.001.
bool PowerOfTwo(float scale, int* out_exponent) {
  const float exponent = std::log(scale) * (1.0f / std::log(2.0f));
  const float rounded = std::round(exponent);
  *out_exponent = static_cast<int>(rounded);
  return std::fabs(exponent - rounded) < 1e-3f;
}

// Returns the scaling of an input to the logistic table. It is exact for the scale 2^-12 and its
// multiples by powers of two up to 2^largest_shift. Other scales get a factor that is rounded down
// to at most 15 significant bits; a factor above 2^15 is only truncated to an integer.
TableScaling ScalingOf(float scale, int largest_shift) {
  int exponent;
  if (PowerOfTwo(scale, &exponent) && exponent >= -12 && exponent <= largest_shift - 12) {
    return {3 << (exponent + 12), 0};
  }
  TableScaling scaling;
  double factor = static_cast<double>(scale) * 4096.0 * 3.0;
  for (; factor <= 32767.0 / 2.0 && scaling.shift <= 30; ++scaling.shift) factor *= 2.0;
  scaling.factor = static_cast<int32_t>(std::min(factor, 2147483647.0));
  return scaling;
}

// Interpolated entry of the logistic table at |x|: the sign of x, and the value with 16 +
// `fraction_bits` fraction bits.
struct TablePoint {
  bool negative;
  int64_t value;
};
TablePoint Interpolate(int16_t x, const TableScaling& scaling, int fraction_bits,
                       int64_t saturated) {
  const int64_t half = scaling.shift > 0 ? int64_t{1} << (scaling.shift - 1) : 0;
  const int64_t scaled = (int64_t{x} * scaling.factor + half) >> scaling.shift;
  const int64_t magnitude = scaled < 0 ? -scaled : scaled;
  const int64_t index = magnitude >> fraction_bits;
  if (index >= 255) return {scaled < 0, saturated};
  const int64_t low = Logistic().entries[index], high = Logistic().entries[index + 1];
  const int64_t fraction = magnitude & ((int64_t{1} << fraction_bits) - 1);
  return {scaled < 0, (low << fraction_bits) + fraction * (high - low)};
}

int16_t LogisticInt16(int16_t x, const TableScaling& scaling) {
  const TablePoint point = Interpolate(x, scaling, 9, 0x7fff << 10);
  const int64_t value =
      point.negative ? (1 << 25) - point.value + (1 << 9) - 1 : point.value + (1 << 9);
  return static_cast<int16_t>(value >> 10);
}

int16_t TanhInt16(int16_t x, const TableScaling& scaling) {
  const TablePoint point = Interpolate(x, scaling, 8, 0xffff << 8);
  const int64_t value =
      point.negative ? -point.value + (1 << 23) + (1 << 7) - 1 : point.value - (1 << 23) + (1 << 7);
  return static_cast<int16_t>(value >> 8);
}

ShortCurve LogisticCurve(const TableScaling& scaling) {
  return {.entries = Logistic().curve,
          .factor = scaling.factor,
          .shift = scaling.shift,
          .fraction_bits = 9,
          .saturated = 0x7fff << 10,
          .above = 1 << 9,
          .below = (1 << 25) + (1 << 9) - 1,
          .out_shift = 10};
}

ShortCurve TanhCurve(const TableScaling& scaling) {
  return {.entries = Logistic().curve,
          .factor = scaling.factor,
          .shift = scaling.shift,
          .fraction_bits = 8,
          .saturated = 0xffff << 8,
          .above = (1 << 7) - (1 << 23),
          .below = (1 << 23) + (1 << 7) - 1,
          .out_shift = 8};
}

// Applies an int16 function with the CPU table's interpolation loop or, if there is none, with
// `reference` for each x.
TfLiteStatus MapCurve(TfLiteContext* context, const TfLiteTensor* input, TfLiteTensor* output,
                      const TableScaling& scaling, const ShortCurve& curve,
                      int16_t (*reference)(int16_t, const TableScaling&)) {
  const auto loop = CpuOf(context).vector.curve_s16;
  return MapRuns<int16_t, int16_t>(context, input, output,
                                   [&](const int16_t* values, int64_t count, int16_t* out) {
                                     if (loop != nullptr) return loop(values, count, curve, out);
                                     for (int64_t i = 0; i < count; ++i)
                                       out[i] = reference(values[i], scaling);
                                   });
}

constexpr uint32_t kCurveBits = kFloat32Bit | kFloat16Bit | kBFloat16Bit | kByteBits | kInt16Bit;

float RealLogistic(float x) { return 1.0f / (1.0f + std::exp(-x)); }
float RealTanh(float x) { return std::tanh(x); }

TfLiteStatus PrepareLogistic(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckActivation<kCurveBits>(context, node));
  DEPUTY_TRY(CheckBothSymmetric(context, node));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* output = Output(context, node, 0);
  if (input->type == kTfLiteInt16) return CheckOutputScale(context, output, 1.0f / 32768);
  if (FillByteTable(input, output, &DataOf<TableData>(node).bytes, &RealLogistic)) {
    return CheckOutputScale(context, output, 1.0f / 256);
  }
  return kTfLiteOk;
}

TfLiteStatus EvalLogistic(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  switch (input->type) {
    case kTfLiteFloat32:
      return MapVectors(context, input, output, &VectorKernels::logistic, 0.0f,
                        [](float x) { return FastLogistic(x); });
    case kTfLiteFloat16:
      return MapHalfVectors(context, input, output, &VectorKernels::logistic, 0.0f,
                            [](float x) { return FastLogistic(x); });
    case kTfLiteBFloat16:
      return MapBFloat16(context, input, output, &RealLogistic);
    case kTfLiteInt16: {
      const TableScaling scaling = ScalingOf(input->params.scale, 0);
      return MapCurve(context, input, output, scaling, LogisticCurve(scaling), &LogisticInt16);
    }
    default:
      return MapBytes(context, DataOf<TableData>(node).bytes, input, output);
  }
}

TfLiteStatus PrepareTanh(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckActivation<kCurveBits>(context, node));
  DEPUTY_TRY(CheckBothSymmetric(context, node));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* output = Output(context, node, 0);
  FillByteTable(input, output, &DataOf<TableData>(node).bytes, &RealTanh);
  int exponent;
  if (input->type == kTfLiteInt16 &&
      (!PowerOfTwo(output->params.scale, &exponent) || exponent != -15)) {
    return CheckOutputScale(context, output, 1.0f / 32768);
  }
  return kTfLiteOk;
}

TfLiteStatus EvalTanh(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  switch (input->type) {
    case kTfLiteFloat32:
      return MapVectors(context, input, output, &VectorKernels::tanh, 0.0f,
                        [](float x) { return FastTanh(x); });
    case kTfLiteFloat16:
      return MapHalfVectors(context, input, output, &VectorKernels::tanh, 0.0f,
                            [](float x) { return FastTanh(x); });
    case kTfLiteBFloat16:
      return MapBFloat16(context, input, output, &RealTanh);
    case kTfLiteInt16: {
      const TableScaling scaling = ScalingOf(input->params.scale, 1);
      return MapCurve(context, input, output, scaling, TanhCurve(scaling), &TanhInt16);
    }
    default:
      return MapBytes(context, DataOf<TableData>(node).bytes, input, output);
  }
}

// ---- ELU and GELU -----------------------------------------------------------------------------

// ELU in full precision, for filling tables.
float Elu(float x) { return x < 0.0f ? std::expm1(x) : x; }

TfLiteStatus PrepareElu(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY((CheckActivation<kFloat32Bit | kInt8Bit>(context, node)));
  FillByteTable(Input(context, node, 0), Output(context, node, 0), &DataOf<TableData>(node).bytes,
                &Elu);
  return kTfLiteOk;
}

TfLiteStatus EvalElu(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  if (input->type == kTfLiteInt8)
    return MapBytes(context, DataOf<TableData>(node).bytes, input, output);
  return MapVectors(context, input, output, &VectorKernels::elu, 0.0f,
                    [](float x) { return FastElu(x); });
}

// GELU in full precision, for filling tables.
float Gelu(float x) { return 0.5f * x * std::erfc(x * -0.707106781f); }
float GeluByTanh(float x) {
  return 0.5f * x * (1.0f + std::tanh(0.797884561f * (x + 0.044715f * x * x * x)));
}

struct GeluData {
  ByteTable bytes;
  std::unique_ptr<ShortTable<float>> shorts;  // table for int16; null for other types
};

TfLiteStatus PrepareGelu(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY((CheckActivation<kFloat32Bit | kFloat16Bit | kByteBits | kInt16Bit>(context, node)));
  GeluData& data = DataOf<GeluData>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* output = Output(context, node, 0);
  auto* function = ParamsOf<TfLiteGeluParams>(node).approximate ? &GeluByTanh : &Gelu;
  if (FillByteTable(input, output, &data.bytes, function)) return kTfLiteOk;
  if (input->type == kTfLiteInt16) {
    data.shorts = std::make_unique<ShortTable<float>>();
    data.shorts->Fill(input->params.scale, input->params.zero_point, output->params.scale,
                      output->params.zero_point, function);
  }
  return kTfLiteOk;
}

TfLiteStatus EvalGelu(TfLiteContext* context, TfLiteNode* node) {
  const GeluData& data = DataOf<GeluData>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  const bool approximate = ParamsOf<TfLiteGeluParams>(node).approximate;
  const auto loop = approximate ? &VectorKernels::gelu_by_tanh : &VectorKernels::gelu;
  const auto function = [approximate](float x) {
    return approximate ? FastGeluByTanh(x) : FastGelu(x);
  };
  switch (input->type) {
    case kTfLiteFloat32:
      return MapVectors(context, input, output, loop, 0.0f, function);
    case kTfLiteFloat16:
      return MapHalfVectors(context, input, output, loop, 0.0f, function);
    case kTfLiteInt16:
      return MapShorts(context, input, output, *data.shorts);
    default:
      return MapBytes(context, data.bytes, input, output);
  }
}

// ---- Fusion groups ----------------------------------------------------------------------------

// Prepares an activation. For float32, offers that the preceding layer computes it in its epilogue.
template <typename Role, auto prepare, auto eval>
TfLiteStatus PrepareAndOffer(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(prepare(context, node));
  if (Output(context, node, 0)->type != kTfLiteFloat32) return kTfLiteOk;
  OfferFusion(context, node, {.invoke = &Guarded<eval>, .role = Role()});
  return kTfLiteOk;
}

template <MapF32 VectorKernels::*loop, auto prepare, auto eval>
TfLiteStatus PrepareMap(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(prepare(context, node));
  OfferMapRows<loop>(context, node, &Guarded<eval>);
  return kTfLiteOk;
}

TfLiteStatus PrepareAndOfferGelu(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(PrepareGelu(context, node));
  if (ParamsOf<TfLiteGeluParams>(node).approximate) {
    OfferMapRows<&VectorKernels::gelu_by_tanh>(context, node, &Guarded<&EvalGelu>);
  } else {
    OfferMapRows<&VectorKernels::gelu>(context, node, &Guarded<&EvalGelu>);
  }
  return kTfLiteOk;
}

template <uint32_t types, int low, int high>
TfLiteStatus PrepareClamp(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY((PrepareRelu<types, low, high>(context, node)));
  if (Output(context, node, 0)->type != kTfLiteFloat32) return kTfLiteOk;
  const FloatBounds bounds = BoundsOf<low, high>();
  OfferFusion(
      context, node,
      {.invoke = &Guarded<&EvalRelu<low, high>>, .role = ClampRole{bounds.low, bounds.high}});
  return kTfLiteOk;
}

// ---- Table ------------------------------------------------------------------------------------

constexpr uint32_t kReluBits = kFloat32Bit | kByteBits | kInt16Bit;
constexpr uint32_t kNarrowReluBits = kFloat32Bit | kByteBits;
constexpr uint32_t kSmoothBits = kFloat32Bit | kFloat16Bit | kByteBits | kInt16Bit;

constexpr OpDef kTable[] = {
    KernelRow<TableData>("RELU", kTfLiteBuiltinRelu, 3, kReluBits,
                         &Guarded<&PrepareClamp<kReluBits, 0, 0>>, &Guarded<&EvalRelu<0, 0>>,
                         kTfLiteInplaceOpInput0Shared),
    KernelRow<TableData>("RELU6", kTfLiteBuiltinRelu6, 3, kReluBits,
                         &Guarded<&PrepareClamp<kReluBits, 0, 6>>, &Guarded<&EvalRelu<0, 6>>,
                         kTfLiteInplaceOpInput0Shared),
    KernelRow<TableData>("RELU_N1_TO_1", kTfLiteBuiltinReluN1To1, 1, kNarrowReluBits,
                         &Guarded<&PrepareClamp<kNarrowReluBits, -1, 1>>,
                         &Guarded<&EvalRelu<-1, 1>>, kTfLiteInplaceOpInput0Shared),
    KernelRow<TableData>("RELU_0_TO_1", kTfLiteBuiltinRelu0To1, 1, kNarrowReluBits,
                         &Guarded<&PrepareClamp<kNarrowReluBits, 0, 1>>, &Guarded<&EvalRelu<0, 1>>,
                         kTfLiteInplaceOpInput0Shared),
    {.name = "PRELU",
     .code = kTfLiteBuiltinPrelu,
     .min_version = 1,
     .max_version = 1,
     .types = kReluBits,
     .options = {},
     .params_size = 0,
     .parse = nullptr,
     .init = &GuardedInit<&NewData<PreluData>>,
     .free = &DeleteData<PreluData>,
     .prepare = &Guarded<&PrepareAndOffer<PreluRole, &PreparePrelu, &EvalPrelu>>,
     .invoke = &Guarded<&EvalPrelu>,
     .inplace = kTfLiteInplaceOpInput0Shared},
    {.name = "LEAKY_RELU",
     .code = kTfLiteBuiltinLeakyRelu,
     .min_version = 1,
     .max_version = 2,
     .types = kReluBits,
     .options = {1, 75},
     .params_size = sizeof(TfLiteLeakyReluParams),
     .parse = &ParseOptions<75, TfLiteLeakyReluParams, &FillLeakyRelu>,
     .init = &GuardedInit<&NewData<TableData>>,
     .free = &DeleteData<TableData>,
     .prepare = &Guarded<&PrepareLeakyRelu>,
     .invoke = &Guarded<&EvalLeakyRelu>,
     .inplace = kTfLiteInplaceOpInput0Shared},
    KernelRow<TableData>("ELU", kTfLiteBuiltinElu, 1, kFloat32Bit | kInt8Bit, &Guarded<&PrepareElu>,
                         &Guarded<&EvalElu>, kTfLiteInplaceOpInput0Shared),
    KernelRow<TableData>(
        "HARD_SWISH", kTfLiteBuiltinHardSwish, 1, kNarrowReluBits,
        &Guarded<&PrepareAndOffer<HardSwishRole, &PrepareHardSwish, &EvalHardSwish>>,
        &Guarded<&EvalHardSwish>, kTfLiteInplaceOpInput0Shared),
    KernelRow<TableData>(
        "LOGISTIC", kTfLiteBuiltinLogistic, 3, kCurveBits,
        &Guarded<&PrepareMap<&VectorKernels::logistic, &PrepareLogistic, &EvalLogistic>>,
        &Guarded<&EvalLogistic>, kTfLiteInplaceOpInput0Shared),
    KernelRow<TableData>("TANH", kTfLiteBuiltinTanh, 3, kCurveBits,
                         &Guarded<&PrepareMap<&VectorKernels::tanh, &PrepareTanh, &EvalTanh>>,
                         &Guarded<&EvalTanh>, kTfLiteInplaceOpInput0Shared),
    {.name = "GELU",
     .code = kTfLiteBuiltinGelu,
     .min_version = 1,
     .max_version = 3,
     .types = kSmoothBits,
     .options = {1, 116},
     .params_size = sizeof(TfLiteGeluParams),
     .parse = &ParseOptions<116, TfLiteGeluParams, &FillGelu>,
     .init = &GuardedInit<&NewData<GeluData>>,
     .free = &DeleteData<GeluData>,
     .prepare = &Guarded<&PrepareAndOfferGelu>,
     .invoke = &Guarded<&EvalGelu>,
     .inplace = kTfLiteInplaceOpInput0Shared},
};

}  // namespace

constexpr std::span<const OpDef> kActivationOps = kTable;

}  // namespace deputy
