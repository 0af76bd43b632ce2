// SPDX-License-Identifier: Apache-2.0
//
// Loops over elements, written once and compiled for every instruction set. They fuse no
// multiplication with an addition, so that all sets give the same bits.
#ifndef DEPUTY_KERNELS_VECTOR_VECTOR_H_
#define DEPUTY_KERNELS_VECTOR_VECTOR_H_

#include <cstdint>

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

// out[i] = f(in[i]) for `count` elements; `out` may be `in`. What `parameter` is, the function
// says.
using MapF32 = void (*)(const float* in, int64_t count, float parameter, float* out);

// Many values into few: `run` folds `count` values into one, in lanes whose number does not depend
// on the instruction set; `rows` folds in[i] into out[i].
struct FoldF32 {
  float (*run)(const float* in, int64_t count, float start) = nullptr;
  void (*rows)(const float* in, int64_t count, float* out) = nullptr;
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

struct StepBounds {
  int32_t low, high;
};

struct VectorKernels {
  const char* name = nullptr;
  FoldF32 sum, max, min;
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
  // exp(beta * (x - largest)) over its sum, of one row.
  void (*softmax)(const float* row, int depth, float beta, float* out) = nullptr;
  void (*sum_f32)(const BinaryRun<float>& run, const FloatBounds& bounds) = nullptr;
  void (*difference_f32)(const BinaryRun<float>& run, const FloatBounds& bounds) = nullptr;
  void (*product_f32)(const BinaryRun<float>& run, const FloatBounds& bounds) = nullptr;
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
