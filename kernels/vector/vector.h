// SPDX-License-Identifier: Apache-2.0
//
// Loops over elements, written once and compiled for every instruction set. They fuse no
// multiplication with an addition, so that all sets give the same bits.
#ifndef DEPUTY_KERNELS_VECTOR_VECTOR_H_
#define DEPUTY_KERNELS_VECTOR_VECTOR_H_

#include <cstdint>

#include "kernels/common/requantize.h"

namespace deputy {

// `count` elements of two inputs into one output, which may be either input. An input that does not
// move gives its first element to all.
template <typename T>
struct BinaryRun {
  const T* a;
  const T* b;
  T* out;
  int64_t count;
  bool a_moves, b_moves;
};

// Bounds of the output: NaN passes.
struct FloatBounds {
  float low, high;
};

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

struct StepBounds {
  int32_t low, high;
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

// The larger or smaller of two; where they are not ordered, the second.
struct ExtremeRuns {
  void (*f32)(const BinaryRun<float>& run) = nullptr;
  void (*s8)(const BinaryRun<int8_t>& run) = nullptr;
  void (*u8)(const BinaryRun<uint8_t>& run) = nullptr;
  void (*s16)(const BinaryRun<int16_t>& run) = nullptr;
  void (*s32)(const BinaryRun<int32_t>& run) = nullptr;
};

// out[i] = f(in[i]) for `count` elements; `out` may be `in`. What `parameter` is, the function
// says.
using MapF32 = void (*)(const float* in, int64_t count, float parameter, float* out);

// Many values into few. `run` folds `count` values into one; floats in lanes whose number does not
// depend on the instruction set. `rows` folds as many rows, `stride` values apart, into out[0 ..
// count), one after the other.
template <typename T, typename Sum = T>
struct FoldLoops {
  Sum (*run)(const T* in, int64_t count, Sum start) = nullptr;
  void (*rows)(const T* in, int64_t rows, int64_t stride, int64_t count, Sum* out) = nullptr;
};

// Sums of integers wrap.
struct SumFolds {
  FoldLoops<float> f32;
  FoldLoops<int8_t, int32_t> s8;
  FoldLoops<uint8_t, int32_t> u8;
  FoldLoops<int16_t, int32_t> s16;
  FoldLoops<int32_t> s32;
};
struct ExtremeFolds {
  FoldLoops<float> f32;
  FoldLoops<int8_t> s8;
  FoldLoops<uint8_t> u8;
  FoldLoops<int16_t> s16;
  FoldLoops<int32_t> s32;
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
// 1 of each or more; strides are in values.
template <typename T>
struct PoolWindow {
  const T* first;
  int rows, columns, channels;
  int64_t row_stride, column_stride;
  T* out;  // `channels` values
};

struct VectorKernels {
  const char* name = nullptr;
  SumFolds sum;
  ExtremeFolds max, min;
  void (*max_pool_f32)(const PoolWindow<float>& window, const FloatBounds& bounds) = nullptr;
  void (*average_pool_f32)(const PoolWindow<float>& window, const FloatBounds& bounds) = nullptr;
  void (*max_pool_s8)(const PoolWindow<int8_t>& window, const StepBounds& bounds) = nullptr;
  void (*max_pool_u8)(const PoolWindow<uint8_t>& window, const StepBounds& bounds) = nullptr;
  // To nearest, ties away from zero.
  void (*average_pool_s8)(const PoolWindow<int8_t>& window, const StepBounds& bounds) = nullptr;
  void (*average_pool_u8)(const PoolWindow<uint8_t>& window, const StepBounds& bounds) = nullptr;
  MapF32 relu = nullptr;        // 0 for what is below
  MapF32 leaky_relu = nullptr;  // the parameter times what is not above 0
  MapF32 logistic = nullptr;
  MapF32 tanh = nullptr;
  MapF32 hard_swish = nullptr;
  MapF32 abs = nullptr;
  MapF32 square = nullptr;
  MapF32 negative = nullptr;
  MapF32 exp = nullptr;
  MapF32 sqrt = nullptr;
  MapF32 inverse_sqrt = nullptr;
  MapF32 floor = nullptr;
  MapF32 ceil = nullptr;
  MapF32 round = nullptr;  // to nearest, ties to even
  // exp(beta * (x - largest)) over its sum, of one row.
  void (*softmax)(const float* row, int depth, float beta, float* out) = nullptr;
  LookUpLoops<int8_t> look_up_s8;
  LookUpLoops<uint8_t> look_up_u8;
  void (*sum_f32)(const BinaryRun<float>& run, const FloatBounds& bounds) = nullptr;
  void (*difference_f32)(const BinaryRun<float>& run, const FloatBounds& bounds) = nullptr;
  void (*product_f32)(const BinaryRun<float>& run, const FloatBounds& bounds) = nullptr;
  void (*quotient_f32)(const BinaryRun<float>& run, const FloatBounds& bounds) = nullptr;
  void (*squared_difference_f32)(const BinaryRun<float>& run) = nullptr;
  ExtremeRuns maximum, minimum;
  // float16, computed in float.
  void (*sum_f16)(const BinaryRun<uint16_t>& run, const FloatBounds& bounds) = nullptr;
  void (*product_f16)(const BinaryRun<uint16_t>& run, const FloatBounds& bounds) = nullptr;
  void (*sum_s16)(const BinaryRun<int16_t>& run, const FixedSum& sum) = nullptr;
  void (*product_s16)(const BinaryRun<int16_t>& run, const FixedProduct& product) = nullptr;
  void (*sum_s8)(const BinaryRun<int8_t>& run, const QuantizedSum& sum) = nullptr;
  void (*sum_u8)(const BinaryRun<uint8_t>& run, const QuantizedSum& sum) = nullptr;
  void (*product_s8)(const BinaryRun<int8_t>& run, const QuantizedProduct& product) = nullptr;
  void (*product_u8)(const BinaryRun<uint8_t>& run, const QuantizedProduct& product) = nullptr;
};

// vector_<set>.cc. Each may be called only where the machine has that set.
extern const VectorKernels kVectorGeneric;
#if defined(__x86_64__)
extern const VectorKernels kVectorAvx2;
extern const VectorKernels kVectorAvx512;
#endif

}  // namespace deputy

#endif  // DEPUTY_KERNELS_VECTOR_VECTOR_H_
