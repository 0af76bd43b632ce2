// SPDX-License-Identifier: Apache-2.0
//
// SOFTMAX and LOG_SOFTMAX along the last dimension. Quantised types follow TensorFlow Lite's
// integer algorithms in both arithmetic modes. The differences of an 8-bit row to its maximum have
// at most 256 values, so their exponentials are tabulated in prepare, which does not change any bit
// of the result.
//
// Output scales are part of the algorithms. Where upstream's reference kernel ignores the output's
// scale (uint8, and int16 from 8 bits), this kernel does, too.
#include <cmath>
#include <cstring>
#include <memory>

#include "core/kernel_api/fusion.h"
#include "kernels/common/elementwise.h"
#include "kernels/common/families.h"
#include "kernels/common/fixed_point.h"
#include "kernels/common/float_math.h"
#include "kernels/common/kernel.h"
#include "kernels/cpu/cpu.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

bool FillSoftmax(const OpOptions& options, TfLiteSoftmaxParams* params) {
  params->beta = options.Float(0);
  return true;
}

// Number of integer bits of the sum of a row's exponentials, which is in Q12.
constexpr int kSumIntegerBits = 12;

// ---- Prepare ----------------------------------------------------------------------------------

constexpr uint32_t kByteBits = kInt8Bit | kUInt8Bit;
constexpr uint32_t kSoftmaxBits = kFloat32Bit | kFloat16Bit | kByteBits | kInt16Bit;
constexpr uint32_t kLogSoftmaxBits = kFloat32Bit | kByteBits;

// Tables of int16 SOFTMAX: exp on [-10, 0], and 1 / (1 + x) on [0, 1].
struct ShortTables {
  ShortTable<double> exponential, reciprocal;
};

struct SoftmaxData {
  // Tables for 8-bit types, indexed by the difference i to the row's maximum: exp(-scale * beta *
  // i) in Q0, the same value in Q12, and its exponent in Q5. Entries from `differences` on are
  // zero.
  int32_t exponentials[256];
  int32_t terms[256];
  int32_t exponents[256];
  int differences = 0;
  FixedMultiplier to_difference;  // maps an exponent to its index i, for LOG_SOFTMAX
  // Scale of differences, and tables, for int16.
  FixedMultiplier to_exponent;
  std::unique_ptr<ShortTables> shorts;
};

bool IsByte(const TfLiteTensor* tensor) {
  return tensor->type == kTfLiteInt8 || tensor->type == kTfLiteUInt8;
}

// Fills the tables of an 8-bit node. Exponents have 5 integer bits; exponentials below e^-31 are
// zero.
TfLiteStatus Tabulate(TfLiteContext* context, const TfLiteTensor* input, float beta,
                      SoftmaxData* data) {
  constexpr int kIntegerBits = 5;
  const double factor =
      std::min(static_cast<double>(beta) * static_cast<double>(input->params.scale) *
                   static_cast<double>(1 << (31 - kIntegerBits)),
               2147483647.0);
  if (!(factor > 1.0)) {
    return TensorError(context, input, "expected scale times beta of more than 2^-26, found %g",
                       static_cast<double>(input->params.scale) * static_cast<double>(beta));
  }
  const FixedMultiplier multiplier = ToFixedMultiplier(factor);
  const double radius = 31.0 * static_cast<double>(1 << (31 - kIntegerBits)) /
                        static_cast<double>(int64_t{1} << multiplier.shift);
  data->differences = static_cast<int>(std::min(std::floor(radius), 255.0)) + 1;
  for (int i = 0; i < 256; ++i) {
    const bool counts = i < data->differences;
    data->exponents[i] = counts ? Multiply(-i, multiplier) : 0;
    data->exponentials[i] = counts ? ExpOfNegativeQ5(data->exponents[i]) : 0;
    data->terms[i] = RoundingShiftRight(data->exponentials[i], kSumIntegerBits);
  }
  data->to_difference =
      ToFixedMultiplier(static_cast<double>(int64_t{1} << (31 - multiplier.shift)) /
                        static_cast<double>(multiplier.mantissa));
  return kTfLiteOk;
}

TfLiteStatus CheckOutputScale(TfLiteContext* context, const TfLiteTensor* output, float scale,
                              int zero_point) {
  if (output->params.zero_point == zero_point &&
      std::fabs(output->params.scale - scale) <= 0.001f * scale) {
    return kTfLiteOk;
  }
  return TensorError(context, output, "expected scale %g and zero point %d, found %g and %d",
                     static_cast<double>(scale), zero_point,
                     static_cast<double>(output->params.scale), output->params.zero_point);
}

TfLiteStatus PrepareShorts(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  SoftmaxData& data = DataOf<SoftmaxData>(node);
  const float beta = ParamsOf<TfLiteSoftmaxParams>(node).beta;
  DEPUTY_TRY(CheckQuantized(context, input));
  DEPUTY_TRY(CheckNoZeroPoint(context, input));
  DEPUTY_TRY(CheckOutputScale(context, Output(context, node, 0), 1.0f / 32768, 0));
  if (!(beta >= 0.0f) || !std::isfinite(beta)) {
    return KernelError(context, "beta: expected 0 or more, found %g", static_cast<double>(beta));
  }
  data.to_exponent =
      ToFixedMultiplier(static_cast<double>(input->params.scale * beta) / (10.0 / 65535.0));
  data.shorts = std::make_unique<ShortTables>();
  data.shorts->exponential.Fill(10.0 / 65535, 32767, 2.0 / 65535, 0,
                                [](double x) { return std::exp(x); });
  data.shorts->reciprocal.Fill(1.0 / 65535, -32768, 2.0 / 65535, 0,
                               [](double x) { return 1.0 / (1.0 + x); });
  return kTfLiteOk;
}

// Prepares SOFTMAX; an 8-bit input may have an int16 output.
TfLiteStatus PrepareSoftmax(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kSoftmaxBits));
  if (!IsByte(input) || output->type != kTfLiteInt16) {
    DEPUTY_TRY(CheckSameType(context, output, input));
  }
  if (Rank(input) == 0) {
    return TensorError(context, input, "expected 1 dimension or more, found 0");
  }
  if (IsByte(input)) {
    DEPUTY_TRY(CheckQuantized(context, input));
    if (output->type == kTfLiteInt8) {
      DEPUTY_TRY(CheckOutputScale(context, output, 1.0f / 256, -128));
    }
    DEPUTY_TRY(Tabulate(context, input, ParamsOf<TfLiteSoftmaxParams>(node).beta,
                        &DataOf<SoftmaxData>(node)));
  }
  if (input->type == kTfLiteInt16) DEPUTY_TRY(PrepareShorts(context, node));
  return ResizeLike(context, output, input);
}

TfLiteStatus PrepareLogSoftmax(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kLogSoftmaxBits));
  DEPUTY_TRY(CheckSameType(context, output, input));
  if (Rank(input) == 0) {
    return TensorError(context, input, "expected 1 dimension or more, found 0");
  }
  if (IsByte(input)) {
    const int zero_point = input->type == kTfLiteInt8 ? 127 : 255;
    DEPUTY_TRY(CheckQuantized(context, input));
    if (output->params.scale != 16.0f / 256 || output->params.zero_point != zero_point) {
      return TensorError(context, output, "expected scale 1/16 and zero point %d, found %g and %d",
                         zero_point, static_cast<double>(output->params.scale),
                         output->params.zero_point);
    }
    DEPUTY_TRY(Tabulate(context, input, 1.0f, &DataOf<SoftmaxData>(node)));
  }
  return ResizeLike(context, output, input);
}

// ---- Reference --------------------------------------------------------------------------------

float LargestOf(const float* values, int depth) {
  float largest = std::numeric_limits<float>::lowest();
  for (int c = 0; c < depth; ++c) largest = std::max(largest, values[c]);
  return largest;
}

void SoftmaxRow(const float* values, int depth, float beta, float* out) {
  const float largest = LargestOf(values, depth);
  for (int c = 0; c < depth; ++c) out[c] = FastExp((values[c] - largest) * beta);
  float sum = 0.0f;
  for (int c = 0; c < depth; ++c) sum += out[c];
  for (int c = 0; c < depth; ++c) out[c] /= sum;
}

void FloatLogSoftmaxRow(const float* values, int depth, float* out) {
  const float largest = LargestOf(values, depth);
  float sum = 0.0f;
  for (int c = 0; c < depth; ++c) sum += FastExp(values[c] - largest);
  const float log_sum = std::log(sum);
  for (int c = 0; c < depth; ++c) out[c] = values[c] - largest - log_sum;
}

// Computes a float16 row. Each exponential is rounded to half precision before the division,
// because upstream stores it in the output.
void SoftmaxRow(const uint16_t* values, int depth, float beta, uint16_t* out) {
  float largest = -65504.0f;
  for (int c = 0; c < depth; ++c) largest = std::max(largest, HalfToFloat(values[c]));
  float sum = 0.0f;
  for (int c = 0; c < depth; ++c) {
    const float exponential = FastExp((HalfToFloat(values[c]) - largest) * beta);
    out[c] = FloatToHalf(exponential);
    sum += exponential;
  }
  for (int c = 0; c < depth; ++c) out[c] = FloatToHalf(HalfToFloat(out[c]) / sum);
}

// Returns the CPU table's look-up loops for T.
template <typename T>
LookUpLoops<T> LookUps(const VectorKernels& vector) {
  if constexpr (std::is_same_v<T, int8_t>) {
    return vector.look_up_s8;
  } else {
    return vector.look_up_u8;
  }
}

template <typename T>
int LargestStep(const VectorKernels& vector, const T* values, int depth) {
  const auto loop = vector.max.of<FromTo<T>>().runs;
  if (loop == nullptr) return *std::max_element(values, values + depth);
  T largest = *values;
  loop(values, 1, depth, &largest);
  return largest;
}

template <typename T>
int32_t SumOfExponentials(const VectorKernels& vector, const T* values, int depth, int largest,
                          const SoftmaxData& data) {
  if (const auto loop = LookUps<T>(vector).sum) return loop(values, depth, largest, data.terms);
  int32_t sum = 0;
  for (int c = 0; c < depth; ++c) Accumulate(&sum, data.terms[largest - values[c]]);
  return sum;
}

template <typename T, typename Out>
void SoftmaxRow(const VectorKernels& vector, const T* values, int depth, const SoftmaxData& data,
                Out* out) {
  constexpr int kLow = std::numeric_limits<Out>::min(), kHigh = std::numeric_limits<Out>::max();
  const int largest = LargestStep(vector, values, depth);
  // A sum of 0 has wrapped, e.g. that of 2^13 equal values, 2^32; it is replaced by the largest
  // sum.
  const int32_t exact_sum = SumOfExponentials(vector, values, depth, largest, data);
  const int32_t sum = exact_sum == 0 ? -1 : exact_sum;
  int excess_bits = 0;
  const int32_t scale = Reciprocal(sum, kSumIntegerBits, &excess_bits);
  // The shift reduces 31 fraction bits to those of the output. For very long and flat rows all bits
  // are shifted out (where upstream's debug checks abort).
  const int shift = excess_bits + 31 - 8 * static_cast<int>(sizeof(Out));
  if constexpr (std::is_same_v<T, Out>) {
    const auto loop = LookUps<T>(vector).scale;
    if (loop != nullptr && shift >= 0 && shift <= 31) {
      return loop(values, depth, largest, data.exponentials, {scale, -shift}, out);
    }
  }
  for (int c = 0; c < depth; ++c) {
    const int difference = largest - values[c];
    int32_t step = kLow;
    if (difference < data.differences && shift >= 0 && shift <= 31) {
      step += RoundingShiftRight(DoublingHighMultiply(scale, data.exponentials[difference]), shift);
    }
    out[c] = static_cast<Out>(std::clamp(step, kLow, kHigh));
  }
}

// Computes out[c] = below[values[c]], less 128 for int8; for int8, `below` is indexed from -128 on.
template <typename T>
void LookUpSteps(const VectorKernels& vector, const T* values, int depth, const uint8_t* below,
                 T* out) {
  constexpr bool kSigned = std::is_signed_v<T>;
  uint8_t table[256];
  for (int i = 0; i < 256; i += 8) {
    uint64_t steps;
    std::memcpy(&steps, below + (kSigned && i >= 128 ? i - 256 : i), sizeof steps);
    if (kSigned) steps ^= 0x8080808080808080;
    std::memcpy(table + i, &steps, sizeof steps);
  }
  const auto* const in = reinterpret_cast<const uint8_t*>(values);
  if (const auto loop = vector.look_up_bytes) {
    return loop(in, depth, table, reinterpret_cast<uint8_t*>(out));
  }
  for (int c = 0; c < depth; ++c) out[c] = static_cast<T>(table[in[c]]);
}

template <typename T>
void LogSoftmaxRow(const VectorKernels& vector, const T* values, int depth, const SoftmaxData& data,
                   T* out) {
  constexpr int kLow = std::numeric_limits<T>::min(), kHigh = std::numeric_limits<T>::max();
  constexpr int kSurplusBits = 31 - 5 - 4;  // 31 bits less 5 integer bits and the 4 of the output
  const int largest = LargestStep(vector, values, depth);
  const int32_t log_sum = LogOfQ12InQ5(SumOfExponentials(vector, values, depth, largest, data));
  // Lower bound on differences: beyond it they leave the range of Q5 after the logarithm is
  // subtracted.
  const int32_t lowest =
      Multiply(log_sum + std::numeric_limits<int32_t>::min(), data.to_difference);
  const int limit = static_cast<int>(std::min<int64_t>(data.differences, -int64_t{lowest}));
  constexpr int kManyValues = 64;  // minimum depth for which tabulating all values pays off
  if (const auto shift = vector.shift_entries; shift != nullptr && depth >= kManyValues) {
    uint8_t steps[512] = {};
    shift(data.exponents, {log_sum, kSurplusBits, limit}, steps);
    return LookUpSteps(vector, values, depth, steps + (255 - largest), out);
  }
  for (int c = 0; c < depth; ++c) {
    const int difference = largest - values[c];
    int32_t step = kLow;
    if (difference < limit) {
      step = RoundingShiftRight(data.exponents[difference] - log_sum, kSurplusBits) + kHigh;
    }
    out[c] = static_cast<T>(std::clamp(step, kLow, kHigh));
  }
}

// Computes a row's exponentials by table and returns their sum, in Q15.
int64_t Exponentials(const VectorKernels& vector, const int16_t* values, int depth,
                     const SoftmaxData& data, int16_t* out) {
  const int largest = LargestStep(vector, values, depth);
  if (const auto loop = vector.exponentials_s16) {
    return loop(values, depth, largest, data.to_exponent, data.shorts->exponential.entries(), out);
  }
  int64_t sum = 0;
  for (int c = 0; c < depth; ++c) {
    const int64_t exponent = int64_t{Multiply(values[c] - largest, data.to_exponent)} + 32767;
    out[c] = data.shorts->exponential(
        static_cast<int16_t>(std::clamp<int64_t>(exponent, -32768, 32767)));
    sum += out[c];
  }
  return sum;
}

// Computes an int16 row. The reciprocal of the sum is looked up by the sum's leading 16 bits.
void SoftmaxRow(const VectorKernels& vector, const int16_t* values, int depth,
                const SoftmaxData& data, int16_t* out) {
  const int64_t wide_sum = Exponentials(vector, values, depth, data, out);
  const auto sum =
      static_cast<uint32_t>(std::clamp<int64_t>(wide_sum, 1, std::numeric_limits<int32_t>::max()));
  const int zeros = std::countl_zero(sum);
  const int64_t leading = ((int64_t{sum} << (zeros - 1)) + (1 << 13)) >> 14;
  const auto argument =
      static_cast<int16_t>(std::clamp<int64_t>(leading - (1 << 15) - (1 << 16), -32768, 32767));
  const int16_t reciprocal = data.shorts->reciprocal(argument);
  const int shift = std::max(31 - zeros, 1);
  if (const auto loop = vector.scale_s16) return loop(depth, reciprocal, shift, out);
  for (int c = 0; c < depth; ++c) {
    const int64_t product = (int64_t{out[c]} * reciprocal + (int64_t{1} << (shift - 1))) >> shift;
    out[c] = static_cast<int16_t>(std::clamp<int64_t>(product, 0, 32767));
  }
}

// ---- Eval -------------------------------------------------------------------------------------

// Calls row(in, depth, out) for every row.
template <typename T, typename Out, typename Row>
TfLiteStatus ForEachRow(TfLiteContext* context, const TfLiteTensor* input, TfLiteTensor* output,
                        const Row& row) {
  const int depth = LastDim(input);
  if (ElementCount(input) == 0) return kTfLiteOk;
  // An exponential costs more than the work per element that kElementsPerTask assumes.
  const int64_t rows_per_task = kElementsPerTask / 2 / depth + 1;
  ParallelRanges(context, ElementCount(input) / depth, rows_per_task,
                 [&](int64_t first, int64_t last) {
                   for (int64_t i = first * depth; i < last * depth; i += depth) {
                     row(Data<T>(input) + i, depth, Data<Out>(output) + i);
                   }
                 });
  return kTfLiteOk;
}

// Computes all rows for types T and Out; `extra` is beta or the tables, which the row function
// needs.
template <typename T, typename Out, typename Extra>
TfLiteStatus SoftmaxRows(TfLiteContext* context, const TfLiteTensor* input, TfLiteTensor* output,
                         const Extra& extra) {
  [[maybe_unused]] const VectorKernels& vector = CpuOf(context).vector;
  return ForEachRow<T, Out>(context, input, output, [&](const T* in, int depth, Out* out) {
    if constexpr (std::is_same_v<Extra, SoftmaxData>) {
      SoftmaxRow(vector, in, depth, extra, out);
    } else {
      SoftmaxRow(in, depth, extra, out);
    }
  });
}

// Returns the CPU table's loop for float32, which requires a non-negative beta; otherwise null.
auto LoopFor(const VectorKernels& vector, float beta) {
  return beta >= 0.0f ? vector.softmax : nullptr;
}

TfLiteStatus EvalSoftmax(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  const float beta = ParamsOf<TfLiteSoftmaxParams>(node).beta;
  const SoftmaxData& data = DataOf<SoftmaxData>(node);
  const bool shorts = output->type == kTfLiteInt16;
  const VectorKernels& vector = CpuOf(context).vector;
  switch (input->type) {
    case kTfLiteFloat32:
      if (const auto softmax = LoopFor(vector, beta)) {
        return ForEachRow<float, float>(
            context, input, output,
            [=](const float* in, int depth, float* out) { softmax(in, depth, beta, out); });
      }
      return SoftmaxRows<float, float>(context, input, output, beta);
    case kTfLiteFloat16:
      if (const auto softmax = vector.softmax_f16) {
        return ForEachRow<Half, Half>(
            context, input, output,
            [=](const Half* in, int depth, Half* out) { softmax(in, depth, beta, out); });
      }
      return SoftmaxRows<uint16_t, uint16_t>(context, input, output, beta);
    case kTfLiteInt8:
      return shorts ? SoftmaxRows<int8_t, int16_t>(context, input, output, data)
                    : SoftmaxRows<int8_t, int8_t>(context, input, output, data);
    case kTfLiteUInt8:
      return shorts ? SoftmaxRows<uint8_t, int16_t>(context, input, output, data)
                    : SoftmaxRows<uint8_t, uint8_t>(context, input, output, data);
    case kTfLiteInt16:
      return SoftmaxRows<int16_t, int16_t>(context, input, output, data);
    default:
      return UnexpectedType(context, input);
  }
}

// Row function for row-wise fusion in float32; requires a loop in the CPU table.
void SoftmaxOfRows(TfLiteContext*, TfLiteNode* node, const GroupRows& rows) {
  const auto softmax = rows.cpu->vector.softmax;
  const float beta = ParamsOf<TfLiteSoftmaxParams>(node).beta;
  for (int64_t row = 0; row < rows.count; ++row) {
    const int64_t at = row * rows.columns;
    softmax(rows.computed[0] + at, rows.columns, beta, rows.out + at);
  }
}

float BetaOf(const TfLiteNode* node) { return ParamsOf<TfLiteSoftmaxParams>(node).beta; }

constexpr RowKernel kSoftmaxRows = {.rows = &SoftmaxOfRows, .softmax_beta = &BetaOf};

TfLiteStatus PrepareAndOfferSoftmax(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(PrepareSoftmax(context, node));
  const float beta = ParamsOf<TfLiteSoftmaxParams>(node).beta;
  if (Input(context, node, 0)->type != kTfLiteFloat32 ||
      LoopFor(CpuOf(context).vector, beta) == nullptr)
    return kTfLiteOk;
  OfferFusion(context, node,
              {.invoke = &Guarded<&EvalSoftmax>, .by_rows = {&kSoftmaxRows, RowKind::kRowWise, 1}});
  return kTfLiteOk;
}

TfLiteStatus EvalLogSoftmax(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  const SoftmaxData& data = DataOf<SoftmaxData>(node);
  const VectorKernels& vector = CpuOf(context).vector;
  switch (input->type) {
    case kTfLiteFloat32: {
      auto* row = vector.log_softmax;
      if (row == nullptr) row = &FloatLogSoftmaxRow;
      return ForEachRow<float, float>(context, input, output, row);
    }
    case kTfLiteInt8:
      return ForEachRow<int8_t, int8_t>(context, input, output,
                                        [&](const int8_t* in, int depth, int8_t* out) {
                                          LogSoftmaxRow(vector, in, depth, data, out);
                                        });
    case kTfLiteUInt8:
      return ForEachRow<uint8_t, uint8_t>(context, input, output,
                                          [&](const uint8_t* in, int depth, uint8_t* out) {
                                            LogSoftmaxRow(vector, in, depth, data, out);
                                          });
    default:
      return UnexpectedType(context, input);
  }
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    {.name = "SOFTMAX",
     .code = kTfLiteBuiltinSoftmax,
     .min_version = 1,
     .max_version = 4,
     .types = kSoftmaxBits,
     .options = {1, 9},
     .params_size = sizeof(TfLiteSoftmaxParams),
     .parse = &ParseOptions<9, TfLiteSoftmaxParams, &FillSoftmax>,
     .init = &GuardedInit<&NewData<SoftmaxData>>,
     .free = &DeleteData<SoftmaxData>,
     .prepare = &Guarded<&PrepareAndOfferSoftmax>,
     .invoke = &Guarded<&EvalSoftmax>,
     .inplace = kTfLiteInplaceOpInput0Shared},
    {.name = "LOG_SOFTMAX",
     .code = kTfLiteBuiltinLogSoftmax,
     .min_version = 1,
     .max_version = 2,
     .types = kLogSoftmaxBits,
     .options = {},
     .params_size = 0,
     .parse = nullptr,
     .init = &GuardedInit<&NewData<SoftmaxData>>,
     .free = &DeleteData<SoftmaxData>,
     .prepare = &Guarded<&PrepareLogSoftmax>,
     .invoke = &Guarded<&EvalLogSoftmax>,
     .inplace = kTfLiteInplaceOpInput0Shared},
};

}  // namespace

constexpr std::span<const OpDef> kSoftmaxOps = kTable;

}  // namespace deputy
