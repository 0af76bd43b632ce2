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

struct VectorKernels {
  const char* name = nullptr;
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
