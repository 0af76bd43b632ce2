// SPDX-License-Identifier: Apache-2.0
//
// Loops over elements, written once and compiled for every instruction set. They fuse no
// multiplication with an addition, so that all sets give the same bits.
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

// A loop for each of several keys, which are element types or, for loops from one type to another,
// FromTo of both. of<Key>() is null where there is none.
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

// `count` elements of two inputs into one output, which may be either input if it is of its type.
// An input that does not move gives its first element to all.
template <typename T, typename Out = T, typename Second = T>
struct BinaryRun {
  const T* a;
  const Second* b;
  Out* out;
  int64_t count;
  bool a_moves, b_moves;
};

// Bounds of the output: NaN passes.
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
// 1 for what is true; or, `negated`, for what is not.
template <typename T>
using CompareLoop = void (*)(const BinaryRun<T, uint8_t>& run, bool negated);

using ExtremeLoops = Loops<BinaryLoop, float, Half, int8_t, uint8_t, int16_t, int32_t, int64_t>;
using SumLoops = Loops<BoundedLoop, float, int16_t, int32_t, int64_t>;
using ProductLoops = Loops<BoundedLoop, float, int16_t, int32_t, uint32_t, int64_t>;
using CompareLoops = Loops<CompareLoop, float, int32_t, int64_t>;

// out = round(clamp(a * factor_a + b * factor_b + offset)) + zero_point, to nearest even.
struct QuantizedSum {
  float factor_a, factor_b, offset;
  FloatBounds bounds;
  int32_t zero_point;
};

// out = round(clamp((a - zero_a) * (b - zero_b) * factor)) + zero_point, likewise.
struct QuantizedProduct {
  int32_t zero_a, zero_b;
  float factor;
  FloatBounds bounds;
  int32_t zero_point;
};

// int16 without zero points, rounded as Multiply() of requantize.h does:
// out = clamp((2^15 a * from_a + sign * (2^15 b * from_b)) * to_out).
struct FixedSum {
  FixedMultiplier from_a, from_b, to_out;
  int32_t sign;
  StepBounds bounds;
};

// out = clamp(a * b * to_out), likewise.
struct FixedProduct {
  FixedMultiplier to_out;
  StepBounds bounds;
};

// SQUARED_DIFFERENCE of int8 in fixed point, whose square fits into 32 bits:
// out = clamp((a - b)^2 * to_out + zero_point), rounded as Multiply() does.
struct FixedSquare {
  FixedMultiplier to_out;
  int32_t zero_point;
};

// PRELU of quantised tensors: x is that without its zero point, and alpha likewise.
// out = clamp((x >= 0 ? x * identity : x * alpha * slope) + zero_out), rounded as Multiply() does.
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
    Loops<SlopeLoop, FromTo<int8_t>, FromTo<uint8_t>, FromTo<int16_t, int8_t>>;  // x and alpha

// ---- One input --------------------------------------------------------------------------------

// out[i] = f(in[i]) for `count` elements; `out` may be `in`.
template <typename T>
using MapLoop = void (*)(const T* in, int64_t count, T* out);

// out[i] = f(in[i]) for `count` elements; `out` may be `in`. What `parameter` is, the function
// says.
using MapF32 = void (*)(const float* in, int64_t count, float parameter, float* out);

// LookUpShort(entries, in[i]) of short_entry.h.
using MapS16 = void (*)(const int16_t* in, int64_t count, const int32_t* entries, int16_t* out);

// LOGISTIC and TANH of int16, whose two halves are alike: straight lines between 255 points of one.
struct ShortCurve {
  // The value of a point in the low 16 bits, and how much more the next one has above them.
  const int32_t* entries;
  // x * factor / 2^shift, ties upwards, is its distance in points, with `fraction_bits`. Neither is
  // negative, and where `shift` is not 0, it is at most 31 and the factor one of int16.
  int32_t factor;
  int shift, fraction_bits;
  int32_t saturated;  // the value, with as many bits, from the 255th point on
  // out = (value + above) / 2^out_shift, for negative distances (below - value) / 2^out_shift,
  // rounded down.
  int32_t above, below;
  int out_shift;
};

// From one type to another: out[i] = f(in[i]).
template <typename Key>
using ConvertLoop = void (*)(const typename Key::From* in, int64_t count, typename Key::To* out);
// CastNumber() of cast.h, for what models cast most.
using CastLoops =
    Loops<ConvertLoop, FromTo<float, int32_t>, FromTo<float, int64_t>, FromTo<float, int8_t>,
          FromTo<float, uint8_t>, FromTo<float, Half>, FromTo<Half, float>, FromTo<int32_t, float>,
          FromTo<int32_t, int64_t>, FromTo<int64_t, float>, FromTo<int64_t, int32_t>,
          FromTo<int8_t, float>, FromTo<int8_t, int32_t>, FromTo<uint8_t, float>,
          FromTo<uint8_t, int32_t>, FromTo<uint8_t, int64_t>, FromTo<int16_t, float>,
          FromTo<int16_t, int32_t>, FromTo<int32_t, int8_t>, FromTo<int32_t, int16_t>,
          FromTo<int8_t, int16_t>, FromTo<uint8_t, int16_t>, FromTo<int16_t, int8_t>>;

template <typename T>
using TruthLoop = void (*)(const T* in, int64_t count, uint8_t* out);

// Real numbers as steps: real = scale * (step - zero_point). The zero point is one of int16 or
// less.
struct StepScale {
  float scale;
  int32_t zero_point;
};
// To the nearest step, ties to even, saturating; NaN is the lowest step.
template <typename T>
using QuantizeLoop = void (*)(const float* in, int64_t count, const StepScale& steps, T* out);
template <typename T>
using DequantizeLoop = void (*)(const T* in, int64_t count, const StepScale& steps, float* out);

// out = round(clamp((in - zero_in) * factor)) + zero_point, to nearest even; the difference wraps.
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

// Steps in fixed point: out = ((in - zero_point) * 2^extra_bits) * by, rounded as Multiply() of
// requantize.h does.
struct FixedScale {
  int32_t zero_point;
  int extra_bits;
  FixedMultiplier by;
};
template <typename T>
using FixedLoop = void (*)(const T* in, int64_t count, const FixedScale& scale, int32_t* out);

// Two straight lines of int16 that meet at the zero point. With x the distance from it,
// out = clamp((x >= 0 ? x * above : sign_out * ((sign_in * x) * below)) + zero_out), likewise.
struct FixedBend {
  int32_t zero_in, zero_out;
  FixedMultiplier above, below;
  int32_t sign_in, sign_out;  // 1 or -1
  StepBounds bounds;
};

// x where the condition is not 0, else y. Which of the two move is told like that of a BinaryRun.
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

// Many values into few. `runs` folds runs of `count` values, which lie one behind the other, into
// one each; floats in lanes whose number does not depend on the instruction set. `rows` folds as
// many rows, `stride` values apart, into out[0 .. count), one after the other.
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
using TruthFolds = Loops<FoldsOf, FromTo<uint8_t>>;

// Entries of 32 bits as bytes: less the subtrahend, and divided by 2^bits, 1 or more, to nearest
// with ties away from zero; 0 becomes 255, and what lies 255 or more below becomes 0. The
// difference may be 0 or less. Entries from the limit on count as the lowest.
struct EntryShift {
  int32_t subtrahend;
  int bits, limit;
};

// Rows of bytes whose distances to their largest value are looked up in tables of 256.
template <typename T>
struct LookUpLoops {
  // The sum, which wraps, of table[largest - values[i]].
  int32_t (*sum)(const T* values, int count, int largest, const int32_t* table) = nullptr;
  // out[i] = table[largest - values[i]] * by above the lowest T, saturating; none may be negative.
  void (*scale)(const T* values, int count, int largest, const int32_t* table,
                const FixedMultiplier& by, T* out) = nullptr;
};

// A window of an image, from `first` on: `rows` times `columns` pixels of `channels` values each,
// 1 of each or more; strides are in values. Neighbours of it are `window_stride` apart.
template <typename T>
struct PoolWindow {
  const T* first;
  int rows, columns, channels;
  int64_t row_stride, column_stride;
  T* out;  // `channels` values of each window
  int windows = 1;
  int64_t window_stride = 0;
};

template <typename T>
using SquaresLoop = int32_t (*)(const T* in, int64_t count, int32_t zero_point);
template <typename T>
using RescaleBytesLoop = void (*)(const T* in, int64_t count, const FixedScale& scale,
                                  int32_t zero_out, T* out);

// ---- Images and searches ----------------------------------------------------------------------

template <typename Key>  // from elements to weights
using BlendLoop = void (*)(const BlendedRow<typename Key::From, typename Key::To>& row);
using BlendLoops = Loops<BlendLoop, FromTo<float>, FromTo<uint8_t, float>, FromTo<int8_t, float>,
                         FromTo<int16_t, float>>;

// The place of the first of `count` values that beats the bound, `count` where none does.
template <typename T>
using FindLoop = int64_t (*)(const T* in, int64_t count, T bound);
using FindLoops = Loops<FindLoop, float, int8_t, uint8_t, int16_t, int32_t, int64_t>;
// Of each of so many rows of `count` values, 1 or more and fewer than 2^31, the place of the first
// of the best: what comes later has to beat it.
template <typename T>
using BestLoop = void (*)(const T* in, int64_t rows, int64_t count, int32_t* places);
using BestLoops = Loops<BestLoop, float, int8_t, uint8_t, int32_t>;

// best[i] = in[i] and at[i] = row where in[i] beats best[i].
template <typename T>
using KeepLoop = void (*)(const T* in, int64_t count, int32_t row, T* best, int32_t* at);
using KeepLoops = Loops<KeepLoop, float, int8_t, uint8_t, int32_t>;

struct VectorKernels {
  const char* name = nullptr;
  // Sums and products of integers wrap.
  SumFolds sum;
  ProductFolds product;
  ExtremeFolds max, min;
  // 1 where any, or every, byte is not 0.
  TruthFolds any, every;
  void (*max_pool_f32)(const PoolWindow<float>& window, const FloatBounds& bounds) = nullptr;
  void (*average_pool_f32)(const PoolWindow<float>& window, const FloatBounds& bounds) = nullptr;
  void (*max_pool_s8)(const PoolWindow<int8_t>& window, const StepBounds& bounds) = nullptr;
  void (*max_pool_u8)(const PoolWindow<uint8_t>& window, const StepBounds& bounds) = nullptr;
  // To nearest, ties away from zero.
  void (*average_pool_s8)(const PoolWindow<int8_t>& window, const StepBounds& bounds) = nullptr;
  void (*average_pool_u8)(const PoolWindow<uint8_t>& window, const StepBounds& bounds) = nullptr;
  BlendLoops blend;
  FindLoops find_above;
  BestLoops place_of_largest, place_of_smallest;
  KeepLoops keep_largest, keep_smallest;
  MapF32 relu = nullptr;        // 0 for what is below
  MapF32 relu_up_to = nullptr;  // from 0 to the parameter; NaN passes
  MapF32 clamp = nullptr;       // from minus the parameter to the parameter, likewise
  MapF32 leaky_relu = nullptr;  // the parameter times what is not above 0
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
  MapF32 round = nullptr;                     // to nearest, ties to even
  Loops<MapLoop, int16_t, int32_t> absolute;  // the lowest stays what it is
  Loops<MapLoop, int8_t, int16_t, int32_t, int64_t> opposite;
  Loops<MapLoop, float, int32_t> sign;  // -1, 0 or 1; NaN stays NaN
  void (*bend_s16)(const int16_t* in, int64_t count, const FixedBend& bend, int16_t* out) = nullptr;
  void (*logical_not)(const uint8_t* in, int64_t count, uint8_t* out) = nullptr;
  CastLoops cast;
  MapS16 look_up_s16 = nullptr;
  // out[i] = table[in[i]], of 256 bytes; null where single loads are no slower.
  void (*look_up_bytes)(const uint8_t* in, int64_t count, const uint8_t* table,
                        uint8_t* out) = nullptr;
  void (*curve_s16)(const int16_t* in, int64_t count, const ShortCurve& curve,
                    int16_t* out) = nullptr;
  // 1 for all numbers but 0.
  Loops<TruthLoop, float, int8_t, int16_t, int32_t, int64_t> truth;
  Loops<QuantizeLoop, int8_t, uint8_t, int16_t> quantize;
  Loops<DequantizeLoop, int8_t, uint8_t, int16_t> dequantize;
  RescaleLoops rescale;
  Loops<FixedLoop, int8_t, uint8_t, int16_t> fixed;
  // Elements of that size.
  Loops<SelectLoop, uint8_t, uint16_t, uint32_t, uint64_t> select;
  // All `ops`, one behind the other on each element, of which there are `op_count`; `out` may be
  // `in`.
  void (*chain)(const float* in, int64_t count, const ElementOp* ops, int op_count,
                float* out) = nullptr;
  // exp(beta * (x - largest)) over its sum, of one row; beta must not be negative.
  void (*softmax)(const float* row, int depth, float beta, float* out) = nullptr;
  // The same, each exponential being rounded to float16 before it is divided.
  void (*softmax_f16)(const Half* row, int depth, float beta, Half* out) = nullptr;
  // x - largest - log of the sum of exp(x - largest), of one row.
  void (*log_softmax)(const float* row, int depth, float* out) = nullptr;
  // x over the root of the sum of squares, or over 1e-6 if that is more, of one row.
  void (*l2_normalize)(const float* row, int depth, float* out) = nullptr;
  // The sum, which wraps, of (x - zero_point)^2; and
  // out = clamp(((x - zero_point) * 2^extra_bits) * by + zero_out) to the range of the type.
  Loops<SquaresLoop, int8_t, uint8_t> sum_of_squares;
  Loops<RescaleBytesLoop, int8_t, uint8_t> scale_row;
  LookUpLoops<int8_t> look_up_s8;
  LookUpLoops<uint8_t> look_up_u8;
  // out[255 - i] = table[i] shifted, for 256 entries.
  void (*shift_entries)(const int32_t* table, const EntryShift& by, uint8_t* out) = nullptr;
  // SOFTMAX of int16: out[i] = LookUpShort(clamp(Multiply(values[i] - largest, by) + 32767)) and
  // the sum of these; then values[i] = clamp(values[i] * factor / 2^shift) from 0 on, rounded to
  // nearest, ties upwards. `factor` is one of int16 and `shift` from 1 to 31.
  int64_t (*exponentials_s16)(const int16_t* values, int count, int largest,
                              const FixedMultiplier& by, const int32_t* entries,
                              int16_t* out) = nullptr;
  void (*scale_s16)(int count, int32_t factor, int shift, int16_t* values) = nullptr;
  // Integers wrap.
  SumLoops plain_sum, plain_difference;
  ProductLoops plain_product;
  Loops<BoundedLoop, float, int32_t> plain_quotient;  // no divisor may be integer 0
  // Quotients rounded down, in double; the lowest of an integer type by -1 is itself. What is left
  // of them has the sign of the divisor. No integer divisor may be 0.
  Loops<BinaryLoop, float, int8_t, int16_t, int32_t> floor_quotient;
  Loops<BinaryLoop, int8_t, int16_t, int32_t> floor_modulo;
  Loops<BinaryLoop, float, int32_t> squared_difference;
  void (*squared_difference_s8)(const BinaryRun<int32_t, int8_t>& run,
                                const FixedSquare& square) = nullptr;
  BinaryLoop<float> prelu_f32 = nullptr;  // b times what is not 0 or above
  SlopeLoops prelu;
  // The larger or smaller of two; where they are not ordered, the second.
  ExtremeLoops maximum, minimum;
  // a == b, a < b and a <= b: nothing of it is true of NaN, but its negation is.
  CompareLoops equal, less, less_or_equal;
  // Of bytes, any but 0 being true.
  BinaryLoop<uint8_t> logical_and = nullptr, logical_or = nullptr;
  void (*sum_s16)(const BinaryRun<int16_t>& run, const FixedSum& sum) = nullptr;
  void (*product_s16)(const BinaryRun<int16_t>& run, const FixedProduct& product) = nullptr;
  void (*sum_s8)(const BinaryRun<int8_t>& run, const QuantizedSum& sum) = nullptr;
  void (*sum_u8)(const BinaryRun<uint8_t>& run, const QuantizedSum& sum) = nullptr;
  void (*product_s8)(const BinaryRun<int8_t>& run, const QuantizedProduct& product) = nullptr;
  void (*product_u8)(const BinaryRun<uint8_t>& run, const QuantizedProduct& product) = nullptr;
};

// vector_<set>.cc. Each may be called only where the machine has that set. What kVectorAvx512
// leaves null kVectorAvx2 has as fast.
extern const VectorKernels kVectorGeneric;
#if defined(__x86_64__)
extern const VectorKernels kVectorAvx2;
extern const VectorKernels kVectorAvx512;
#endif

}  // namespace deputy

#endif  // DEPUTY_KERNELS_VECTOR_VECTOR_H_
