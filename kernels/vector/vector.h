// SPDX-License-Identifier: Apache-2.0
//
// Loops over elements, written once and compiled for every instruction set. They do not fuse
// multiplications with additions, so that all instruction sets give bit-identical results.
#ifndef DEPUTY_KERNELS_VECTOR_VECTOR_H_
#define DEPUTY_KERNELS_VECTOR_VECTOR_H_

#include <cstdint>
#include <type_traits>

#include "core/kernel_api/element_chain.h"
#include "kernels/common/blend.h"
#include "kernels/common/half.h"
#include "kernels/common/requantize.h"

namespace deputy {

// ---- Loops by type ----------------------------------------------------------------------------

// Table with a loop for each of several keys, which are element types or, for conversions, FromTo
// of both types. of<Key>() is null if there is no loop.
template <template <typename> typename Loop, typename Key>
struct KeyedLoop {
  Loop<Key> loop = {};
};
template <template <typename> typename Loop, typename... Keys>
struct Loops : KeyedLoop<Loop, Keys>... {
  template <typename Key>
  constexpr Loop<Key> of() const {
    if constexpr ((std::is_same_v<Key, Keys> || ...)) {
      return KeyedLoop<Loop, Key>::loop;
    } else {
      return {};
    }
  }
};

template <typename FromType, typename ToType = FromType>
struct FromTo {
  using From = FromType;
  using To = ToType;
};

// ---- Two inputs -------------------------------------------------------------------------------

// Arguments of a loop over two inputs of `count` elements and an output, which may alias an input
// of its type. An input that does not move provides its first element for all iterations.
template <typename T, typename Out = T, typename Second = T>
struct BinaryRun {
  const T* a;
  const Second* b;
  Out* out;
  int64_t count;
  bool a_moves, b_moves;
};

// Bounds of the output; NaN passes through.
template <typename T>
struct Bounds {
  T low, high;
};
using FloatBounds = Bounds<float>;
using StepBounds = Bounds<int32_t>;

template <typename T>
using BinaryLoop = void (*)(const BinaryRun<T>& run);
template <typename T>
using BoundedLoop = void (*)(const BinaryRun<T>& run, const Bounds<T>& bounds);
// Comparison of two inputs: the output is 1 for true or, if `negated`, 1 for false.
template <typename T>
using CompareLoop = void (*)(const BinaryRun<T, uint8_t>& run, bool negated);

using ExtremeLoops = Loops<BinaryLoop, float, Half, int8_t, uint8_t, int16_t, int32_t, int64_t>;
using SumLoops = Loops<BoundedLoop, float, int16_t, int32_t, int64_t>;
using ProductLoops = Loops<BoundedLoop, float, int16_t, int32_t, uint32_t, int64_t>;
using CompareLoops = Loops<CompareLoop, float, int32_t, int64_t>;

// Parameters of a quantised sum: out = round(clamp(a * factor_a + b * factor_b + offset)) +
// zero_point, to nearest even.
struct QuantizedSum {
  float factor_a, factor_b, offset;
  FloatBounds bounds;
  int32_t zero_point;
};

// Parameters of a quantised product: out = round(clamp((a - zero_a) * (b - zero_b) * factor)) +
// zero_point, to nearest even.
struct QuantizedProduct {
  int32_t zero_a, zero_b;
  float factor;
  FloatBounds bounds;
  int32_t zero_point;
};

// int16 sum without zero points, rounded as by Multiply() of requantize.h: out = clamp((2^15 a *
// from_a + sign * (2^15 b * from_b)) * to_out).
struct FixedSum {
  FixedMultiplier from_a, from_b, to_out;
  int32_t sign;
  StepBounds bounds;
};

// int16 product, rounded as by Multiply() of requantize.h: out = clamp(a * b * to_out).
struct FixedProduct {
  FixedMultiplier to_out;
  StepBounds bounds;
};

// SQUARED_DIFFERENCE of int8 in fixed point: out = clamp((a - b)^2 * to_out + zero_point), rounded
// as by Multiply() of requantize.h. a and b are the inputs at a common scale, and the square of
// their difference fits in 32 bits.
struct FixedSquare {
  FixedMultiplier to_out;
  int32_t zero_point;
};

// PRELU of quantised tensors, with x and alpha less their zero points: out = clamp((x >= 0 ? x *
// identity : x * alpha * slope) + zero_out), rounded as by Multiply() of requantize.h.
struct FixedSlope {
  int32_t zero_in, zero_alpha, zero_out;
  FixedMultiplier identity, slope;
  StepBounds bounds;
};
template <typename Key>
using SlopeLoop =
    void (*)(const BinaryRun<typename Key::From, typename Key::From, typename Key::To>& run,
             const FixedSlope& slope);
using SlopeLoops =
    // Each key has the types of x and alpha.
    Loops<SlopeLoop, FromTo<int8_t>, FromTo<uint8_t>, FromTo<int16_t, int8_t>>;

// ---- One input --------------------------------------------------------------------------------

// Loop that computes out[i] = f(in[i]) for `count` elements; `out` may alias `in`.
template <typename T>
using MapLoop = void (*)(const T* in, int64_t count, T* out);

// Loop that computes out[i] = f(in[i]) for `count` floats; `out` may alias `in`. The meaning of
// `parameter` depends on the function.
using MapF32 = void (*)(const float* in, int64_t count, float parameter, float* out);

// Loop that computes out[i] = LookUpShort(entries, in[i]) (short_entry.h).
using MapS16 = void (*)(const int16_t* in, int64_t count, const int32_t* entries, int16_t* out);

// LOGISTIC and TANH of int16: curves with point symmetry, interpolated linearly in 255 intervals of
// one half.
struct ShortCurve {
  // Value at a point in the low 16 bits, and the difference to the next point in the high 16 bits.
  const int32_t* entries;
  // The distance of x from the centre, in points with `fraction_bits`, is x * factor / 2^shift,
  // ties upwards. `factor` and `shift` are non-negative; if `shift` is not 0, it is at most 31 and
  // the factor fits in int16.
  int32_t factor;
  int shift, fraction_bits;
  int32_t saturated;  // value from point 255 (the last) on, with `fraction_bits` fraction bits
  // The result is (value + above) / 2^out_shift for positive and (below - value) / 2^out_shift for
  // negative distances, rounded down.
  int32_t above, below;
  int out_shift;
};

// Loop that converts between types: out[i] = f(in[i]).
template <typename Key>
using ConvertLoop = void (*)(const typename Key::From* in, int64_t count, typename Key::To* out);
// Loops that cast as CastNumber() of cast.h does, for the most frequent casts of models.
using CastLoops =
    Loops<ConvertLoop, FromTo<float, int32_t>, FromTo<float, int64_t>, FromTo<float, int8_t>,
          FromTo<float, uint8_t>, FromTo<float, Half>, FromTo<Half, float>, FromTo<int32_t, float>,
          FromTo<int32_t, int64_t>, FromTo<int64_t, float>, FromTo<int64_t, int32_t>,
          FromTo<int8_t, float>, FromTo<int8_t, int32_t>, FromTo<uint8_t, float>,
          FromTo<uint8_t, int32_t>, FromTo<uint8_t, int64_t>, FromTo<int16_t, float>,
          FromTo<int16_t, int32_t>, FromTo<int32_t, int8_t>, FromTo<int32_t, int16_t>,
          FromTo<int8_t, int16_t>, FromTo<uint8_t, int16_t>, FromTo<int16_t, int8_t>>;

template <typename T>
using BoolLoop = void (*)(const T* in, int64_t count, uint8_t* out);

// Quantisation parameters: real = scale * (quantised - zero_point). The zero point fits in int16.
struct StepScale {
  float scale;
  int32_t zero_point;
};
// Quantises to nearest, ties to even, saturating; NaN becomes the minimum.
template <typename T>
using QuantizeLoop = void (*)(const float* in, int64_t count, const StepScale& steps, T* out);
template <typename T>
using DequantizeLoop = void (*)(const T* in, int64_t count, const StepScale& steps, float* out);

// Parameters of a rescaling: out = round(clamp((in - zero_in) * factor)) + zero_point, to nearest
// even; the difference wraps.
struct StepRescaling {
  int32_t zero_in;
  float factor;
  FloatBounds bounds;
  int32_t zero_point;
};
template <typename Key>
using RescaleLoop = void (*)(const typename Key::From* in, int64_t count,
                             const StepRescaling& rescaling, typename Key::To* out);
using RescaleLoops =
    Loops<RescaleLoop, FromTo<int8_t>, FromTo<int8_t, uint8_t>, FromTo<int8_t, int16_t>,
          FromTo<uint8_t>, FromTo<uint8_t, int8_t>, FromTo<int16_t>, FromTo<int16_t, int8_t>,
          FromTo<int32_t, int8_t>, FromTo<int32_t, int16_t>>;

// Fixed-point scaling of quantised values: out = ((in - zero_point) * 2^extra_bits) * by, rounded
// as by Multiply() of requantize.h.
struct FixedScale {
  int32_t zero_point;
  int extra_bits;
  FixedMultiplier by;
};
template <typename T>
using FixedLoop = void (*)(const T* in, int64_t count, const FixedScale& scale, int32_t* out);

// Piecewise linear function of int16 with two segments that meet at the zero point. With x less its
// zero point, out = clamp((x >= 0 ? x * above : sign_out * ((sign_in * x) * below)) + zero_out),
// rounded as by Multiply() of requantize.h.
struct FixedPiecewise {
  int32_t zero_in, zero_out;
  FixedMultiplier above, below;
  int32_t sign_in, sign_out;  // factors, each 1 or -1
  StepBounds bounds;
};

// Arguments of a selection: out = condition != 0 ? x : y. Inputs may be single elements, as in
// BinaryRun.
template <typename T>
struct SelectRun {
  const uint8_t* condition;
  const T* x;
  const T* y;
  T* out;
  int64_t count;
  bool x_moves, y_moves;
};
template <typename T>
using SelectLoop = void (*)(const SelectRun<T>& run);

// Loops of a reduction. `runs` folds contiguous runs of `count` values into one value each; floats
// in a number of lanes that does not depend on the instruction set. `rows` folds rows that are
// `stride` values apart into out[0 .. count), in order.
template <typename T, typename Sum = T>
struct FoldLoops {
  void (*runs)(const T* in, int64_t runs, int64_t count, Sum* out) = nullptr;
  void (*rows)(const T* in, int64_t rows, int64_t stride, int64_t count, Sum* out) = nullptr;
};

template <typename Key>
using FoldsOf = FoldLoops<typename Key::From, typename Key::To>;
using SumFolds =
    Loops<FoldsOf, FromTo<float>, FromTo<int8_t, int32_t>, FromTo<uint8_t, int32_t>,
          FromTo<int16_t, int32_t>, FromTo<int32_t>, FromTo<int32_t, int64_t>, FromTo<int64_t>>;
using ProductFolds = Loops<FoldsOf, FromTo<float>, FromTo<int32_t>, FromTo<int64_t>>;
using ExtremeFolds = Loops<FoldsOf, FromTo<float>, FromTo<int8_t>, FromTo<uint8_t>, FromTo<int16_t>,
                           FromTo<int32_t>, FromTo<int64_t>>;
using LogicalFolds = Loops<FoldsOf, FromTo<uint8_t>>;

// Conversion of 32-bit table entries to bytes: the entry less the subtrahend, divided by 2^bits
// (bits >= 1) to nearest with ties away from zero. Results of 0 or more become 255, results of -255
// or less become 0. Entries from index `limit` on are treated as the minimum.
struct EntryShift {
  int32_t subtrahend;
  int bits, limit;
};

// Loops that look up, in tables of 256 entries, the distance of a row's bytes to their maximum.
template <typename T>
struct LookUpLoops {
  // Returns the wrapping sum of table[largest - values[i]].
  int32_t (*sum)(const T* values, int count, int largest, const int32_t* table) = nullptr;
  // Computes out[i] = table[largest - values[i]] * by + minimum of T, saturating; entries must not
  // be negative.
  void (*scale)(const T* values, int count, int largest, const int32_t* table,
                const FixedMultiplier& by, T* out) = nullptr;
};

// Adjacent pooling windows, `window_stride` apart. A window has `rows` x `columns` pixels of
// `channels` values each, all at least 1; the first window begins at `first`. Strides are in
// values.
template <typename T>
struct PoolWindow {
  const T* first;
  int rows, columns, channels;
  int64_t row_stride, column_stride;
  T* out;  // `channels` values per window
  int windows = 1;
  int64_t window_stride = 0;
};

template <typename T>
using SquaresLoop = int32_t (*)(const T* in, int64_t count, int32_t zero_point);
template <typename T>
using RescaleBytesLoop = void (*)(const T* in, int64_t count, const FixedScale& scale,
                                  int32_t zero_out, T* out);

// ---- Images and searches ----------------------------------------------------------------------

template <typename Key>  // types of elements and weights
using BlendLoop = void (*)(const BlendedRow<typename Key::From, typename Key::To>& row);
using BlendLoops = Loops<BlendLoop, FromTo<float>, FromTo<uint8_t, float>, FromTo<int8_t, float>,
                         FromTo<int16_t, float>>;

// Returns the index of the first of `count` values that beats the bound, or `count` if there is
// none.
template <typename T>
using FindLoop = int64_t (*)(const T* in, int64_t count, T bound);
using FindLoops = Loops<FindLoop, float, int8_t, uint8_t, int16_t, int32_t, int64_t>;
// Sets indices[r], for each row r of `count` values (at least 1, fewer than 2^31), to the index of
// the first best value: a later value must beat it.
template <typename T>
using BestLoop = void (*)(const T* in, int64_t rows, int64_t count, int32_t* indices);
using BestLoops = Loops<BestLoop, float, int8_t, uint8_t, int32_t>;

// Compares a row with the best values so far: sets best[i] = in[i] and at[i] = row if in[i] beats
// best[i].
template <typename T>
using KeepLoop = void (*)(const T* in, int64_t count, int32_t row, T* best, int32_t* at);
using KeepLoops = Loops<KeepLoop, float, int8_t, uint8_t, int32_t>;

struct VectorKernels {
  const char* name = nullptr;
  // Sums and products of a reduction; those of integers wrap.
  SumFolds sum;
  ProductFolds product;
  ExtremeFolds max, min;
  // Results are 1 if any byte, or every byte, is nonzero.
  LogicalFolds any, every;
  void (*max_pool_f32)(const PoolWindow<float>& window, const FloatBounds& bounds) = nullptr;
  void (*average_pool_f32)(const PoolWindow<float>& window, const FloatBounds& bounds) = nullptr;
  void (*max_pool_s8)(const PoolWindow<int8_t>& window, const StepBounds& bounds) = nullptr;
  void (*max_pool_u8)(const PoolWindow<uint8_t>& window, const StepBounds& bounds) = nullptr;
  // Averages of bytes are rounded to nearest, ties away from zero.
  void (*average_pool_s8)(const PoolWindow<int8_t>& window, const StepBounds& bounds) = nullptr;
  void (*average_pool_u8)(const PoolWindow<uint8_t>& window, const StepBounds& bounds) = nullptr;
  BlendLoops blend;
  FindLoops find_above;
  BestLoops index_of_max, index_of_min;
  KeepLoops keep_max, keep_min;
  MapF32 relu = nullptr;        // 0 if x < 0, else x
  MapF32 relu_up_to = nullptr;  // clamp to [0, parameter]; NaN passes through
  MapF32 clamp = nullptr;       // clamp to [-parameter, parameter]; NaN passes through
  MapF32 leaky_relu = nullptr;  // x if x > 0, else parameter * x
  MapF32 logistic = nullptr;
  MapF32 tanh = nullptr;
  MapF32 hard_swish = nullptr;
  MapF32 elu = nullptr;
  MapF32 gelu = nullptr;
  MapF32 gelu_by_tanh = nullptr;
  MapF32 abs = nullptr;
  MapF32 square = nullptr;
  MapF32 negative = nullptr;
  MapF32 exp = nullptr;
  MapF32 sqrt = nullptr;
  MapF32 inverse_sqrt = nullptr;
  MapF32 floor = nullptr;
  MapF32 ceil = nullptr;
  MapF32 round = nullptr;                     // rounds to nearest, ties to even
  Loops<MapLoop, int16_t, int32_t> absolute;  // magnitude; the minimum integer is unchanged
  Loops<MapLoop, int8_t, int16_t, int32_t, int64_t> opposite;
  Loops<MapLoop, float, int32_t> sign;  // results are -1, 0 or 1; NaN stays NaN
  void (*piecewise_s16)(const int16_t* in, int64_t count, const FixedPiecewise& bend,
                        int16_t* out) = nullptr;
  void (*logical_not)(const uint8_t* in, int64_t count, uint8_t* out) = nullptr;
  CastLoops cast;
  MapS16 look_up_s16 = nullptr;
  // out[i] = table[in[i]], with 256 entries; null if the compiler or instruction set has no
  // suitable shuffle.
  void (*look_up_bytes)(const uint8_t* in, int64_t count, const uint8_t* table,
                        uint8_t* out) = nullptr;
  void (*curve_s16)(const int16_t* in, int64_t count, const ShortCurve& curve,
                    int16_t* out) = nullptr;
  // Results are 1 for all values except 0.
  Loops<BoolLoop, float, int8_t, int16_t, int32_t, int64_t> to_bool;
  Loops<QuantizeLoop, int8_t, uint8_t, int16_t> quantize;
  Loops<DequantizeLoop, int8_t, uint8_t, int16_t> dequantize;
  RescaleLoops rescale;
  Loops<FixedLoop, int8_t, uint8_t, int16_t> fixed;
  // Loops of SELECT; the key is an unsigned type of the elements' size.
  Loops<SelectLoop, uint8_t, uint16_t, uint32_t, uint64_t> select;
  // Applies `op_count` operations in sequence to each element; `out` may alias `in`.
  void (*chain)(const float* in, int64_t count, const ElementOp* ops, int op_count,
                float* out) = nullptr;
  // Softmax of one row: exp(beta * (x - largest)) over its sum; beta must not be negative.
  void (*softmax)(const float* row, int depth, float beta, float* out) = nullptr;
  // Softmax of a float16 row, with each exponential rounded to float16 before the division.
  void (*softmax_f16)(const Half* row, int depth, float beta, Half* out) = nullptr;
  // Log-softmax of one row: x - largest - log(sum of exp(x - largest)).
  void (*log_softmax)(const float* row, int depth, float* out) = nullptr;
  // L2 normalisation of one row: x / max(sqrt(sum of squares), 1e-6).
  void (*l2_normalize)(const float* row, int depth, float* out) = nullptr;
  // L2 normalisation of quantised rows: returns the wrapping sum of (x - zero_point)^2.
  Loops<SquaresLoop, int8_t, uint8_t> sum_of_squares;
  // L2 normalisation of quantised rows: out = ((x - zero_point) * 2^extra_bits) * by + zero_out,
  // clamped to the range of the type.
  Loops<RescaleBytesLoop, int8_t, uint8_t> scale_row;
  LookUpLoops<int8_t> look_up_s8;
  LookUpLoops<uint8_t> look_up_u8;
  // out[255 - i] = byte of table[i], for 256 entries; see EntryShift.
  void (*shift_entries)(const int32_t* table, const EntryShift& by, uint8_t* out) = nullptr;
  // SOFTMAX of int16: computes out[i] = LookUpShort(clamp(Multiply(values[i] - largest, by) +
  // 32767)) and returns the sum of these values.
  int64_t (*exponentials_s16)(const int16_t* values, int count, int largest,
                              const FixedMultiplier& by, const int32_t* entries,
                              int16_t* out) = nullptr;
  // SOFTMAX of int16: values[i] = max(values[i] * factor / 2^shift, 0) with saturation, rounded to
  // nearest, ties upwards. `factor` fits in int16, and `shift` is from 1 to 31.
  void (*scale_s16)(int count, int32_t factor, int shift, int16_t* values) = nullptr;
  // Sums, differences and products of two inputs, clamped to bounds; those of integers wrap.
  SumLoops plain_sum, plain_difference;
  ProductLoops plain_product;
  Loops<BoundedLoop, float, int32_t> plain_quotient;  // integer divisors must not be 0
  // Quotients rounded down, computed in double; the minimum of an integer type divided by -1 is the
  // minimum. The modulo has the sign of the divisor. Integer divisors must not be 0.
  Loops<BinaryLoop, float, int8_t, int16_t, int32_t> floor_quotient;
  Loops<BinaryLoop, int8_t, int16_t, int32_t> floor_modulo;
  Loops<BinaryLoop, float, int32_t> squared_difference;
  void (*squared_difference_s8)(const BinaryRun<int32_t, int8_t>& run,
                                const FixedSquare& square) = nullptr;
  BinaryLoop<float> prelu_f32 = nullptr;  // a if a >= 0, else b * a
  SlopeLoops prelu;
  // Maximum and minimum of two inputs; the second operand if the two are equal or unordered.
  ExtremeLoops maximum, minimum;
  // Comparisons a == b, a < b and a <= b. They are false if an operand is NaN, so the negation is
  // true.
  CompareLoops equal, less, less_or_equal;
  // Logical operations on bytes; nonzero bytes are true.
  BinaryLoop<uint8_t> logical_and = nullptr, logical_or = nullptr;
  void (*sum_s16)(const BinaryRun<int16_t>& run, const FixedSum& sum) = nullptr;
  void (*product_s16)(const BinaryRun<int16_t>& run, const FixedProduct& product) = nullptr;
  void (*sum_s8)(const BinaryRun<int8_t>& run, const QuantizedSum& sum) = nullptr;
  void (*sum_u8)(const BinaryRun<uint8_t>& run, const QuantizedSum& sum) = nullptr;
  void (*product_s8)(const BinaryRun<int8_t>& run, const QuantizedProduct& product) = nullptr;
  void (*product_u8)(const BinaryRun<uint8_t>& run, const QuantizedProduct& product) = nullptr;
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_VECTOR_VECTOR_H_
