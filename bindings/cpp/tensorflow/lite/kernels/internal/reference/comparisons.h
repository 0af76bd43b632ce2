// SPDX-License-Identifier: Apache-2.0
//
// EQUAL, NOT_EQUAL, GREATER, GREATER_EQUAL, LESS and LESS_EQUAL. Functions without "Broadcast" in
// their names take inputs of equal shapes.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_COMPARISONS_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_COMPARISONS_H_

#include <cstdint>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

template <typename T>
struct EqualFn {
  bool operator()(T lhs, T rhs) const { return lhs == rhs; }
};

template <typename T>
struct NotEqualFn {
  bool operator()(T lhs, T rhs) const { return lhs != rhs; }
};

template <typename T>
struct GreaterFn {
  bool operator()(T lhs, T rhs) const { return lhs > rhs; }
};

template <typename T>
struct GreaterEqualFn {
  bool operator()(T lhs, T rhs) const { return lhs >= rhs; }
};

template <typename T>
struct LessFn {
  bool operator()(T lhs, T rhs) const { return lhs < rhs; }
};

template <typename T>
struct LessEqualFn {
  bool operator()(T lhs, T rhs) const { return lhs <= rhs; }
};

template <typename T, typename F>
inline void ComparisonImpl(const ComparisonParams&, const RuntimeShape& input1_shape,
                           const T* input1_data, const RuntimeShape& input2_shape,
                           const T* input2_data, const RuntimeShape& output_shape,
                           bool* output_data) {
  const int count = MatchingFlatSize(input1_shape, input2_shape, output_shape);
  for (int i = 0; i < count; ++i) output_data[i] = F()(input1_data[i], input2_data[i]);
}

template <typename F>
inline void Comparison(const ComparisonParams& op_params, const RuntimeShape& input1_shape,
                       const float* input1_data, const RuntimeShape& input2_shape,
                       const float* input2_data, const RuntimeShape& output_shape,
                       bool* output_data) {
  ComparisonImpl<float, F>(op_params, input1_shape, input1_data, input2_shape, input2_data,
                           output_shape, output_data);
}

template <typename T, typename F>
inline void BroadcastComparison4DSlowImpl(const ComparisonParams&, const RuntimeShape& input1_shape,
                                          const T* input1_data, const RuntimeShape& input2_shape,
                                          const T* input2_data, const RuntimeShape& output_shape,
                                          bool* output_data) {
  BroadcastBinary(input1_shape, input1_data, input2_shape, input2_data, output_shape, output_data,
                  F());
}

template <typename F>
inline void BroadcastComparison4DSlow(const ComparisonParams& op_params,
                                      const RuntimeShape& input1_shape, const float* input1_data,
                                      const RuntimeShape& input2_shape, const float* input2_data,
                                      const RuntimeShape& output_shape, bool* output_data) {
  BroadcastComparison4DSlowImpl<float, F>(op_params, input1_shape, input1_data, input2_shape,
                                          input2_data, output_shape, output_data);
}

// Compare quantised elements in a common scale.
template <typename T, typename F>
inline void BroadcastComparison4DSlowWithScaling(
    const ComparisonParams& op_params, const RuntimeShape& input1_shape, const T* input1_data,
    const RuntimeShape& input2_shape, const T* input2_data, const RuntimeShape& output_shape,
    bool* output_data) {
  BroadcastBinary(input1_shape, input1_data, input2_shape, input2_data, output_shape, output_data,
                  [&](T a, T b) {
                    const int32_t scaled_a = MultiplyByQuantizedMultiplierSmallerThanOneExp(
                        (op_params.input1_offset + a) * (1 << op_params.left_shift),
                        op_params.input1_multiplier, op_params.input1_shift);
                    const int32_t scaled_b = MultiplyByQuantizedMultiplierSmallerThanOneExp(
                        (op_params.input2_offset + b) * (1 << op_params.left_shift),
                        op_params.input2_multiplier, op_params.input2_shift);
                    return F()(scaled_a, scaled_b);
                  });
}

template <typename T, typename F>
inline void ComparisonWithScaling(const ComparisonParams& op_params,
                                  const RuntimeShape& input1_shape, const T* input1_data,
                                  const RuntimeShape& input2_shape, const T* input2_data,
                                  const RuntimeShape& output_shape, bool* output_data) {
  MatchingFlatSize(input1_shape, input2_shape, output_shape);
  BroadcastComparison4DSlowWithScaling<T, F>(op_params, input1_shape, input1_data, input2_shape,
                                             input2_data, output_shape, output_data);
}

// Define, for each comparison, a function for float and one per kind of loop for T.
#define TFLITE_COMPARISON_OP(name)                                                                 \
  inline void name(const ComparisonParams& op_params, const RuntimeShape& input1_shape,            \
                   const float* input1_data, const RuntimeShape& input2_shape,                     \
                   const float* input2_data, const RuntimeShape& output_shape,                     \
                   bool* output_data) {                                                            \
    Comparison<name##Fn<float>>(op_params, input1_shape, input1_data, input2_shape, input2_data,   \
                                output_shape, output_data);                                        \
  }                                                                                                \
  template <typename T>                                                                            \
  inline void name##NoScaling(const ComparisonParams& op_params, const RuntimeShape& input1_shape, \
                              const T* input1_data, const RuntimeShape& input2_shape,              \
                              const T* input2_data, const RuntimeShape& output_shape,              \
                              bool* output_data) {                                                 \
    ComparisonImpl<T, name##Fn<T>>(op_params, input1_shape, input1_data, input2_shape,             \
                                   input2_data, output_shape, output_data);                        \
  }                                                                                                \
  template <typename T>                                                                            \
  inline void name##WithScaling(const ComparisonParams& op_params,                                 \
                                const RuntimeShape& input1_shape, const T* input1_data,            \
                                const RuntimeShape& input2_shape, const T* input2_data,            \
                                const RuntimeShape& output_shape, bool* output_data) {             \
    ComparisonWithScaling<T, name##Fn<int32_t>>(op_params, input1_shape, input1_data,              \
                                                input2_shape, input2_data, output_shape,           \
                                                output_data);                                      \
  }                                                                                                \
  template <typename T>                                                                            \
  inline void Broadcast4DSlow##name##NoScaling(                                                    \
      const ComparisonParams& op_params, const RuntimeShape& input1_shape, const T* input1_data,   \
      const RuntimeShape& input2_shape, const T* input2_data, const RuntimeShape& output_shape,    \
      bool* output_data) {                                                                         \
    BroadcastComparison4DSlowImpl<T, name##Fn<T>>(op_params, input1_shape, input1_data,            \
                                                  input2_shape, input2_data, output_shape,         \
                                                  output_data);                                    \
  }                                                                                                \
  inline void Broadcast4DSlow##name(const ComparisonParams& op_params,                             \
                                    const RuntimeShape& input1_shape, const float* input1_data,    \
                                    const RuntimeShape& input2_shape, const float* input2_data,    \
                                    const RuntimeShape& output_shape, bool* output_data) {         \
    BroadcastComparison4DSlow<name##Fn<float>>(op_params, input1_shape, input1_data, input2_shape, \
                                               input2_data, output_shape, output_data);            \
  }                                                                                                \
  template <typename T>                                                                            \
  inline void Broadcast4DSlow##name##WithScaling(                                                  \
      const ComparisonParams& op_params, const RuntimeShape& input1_shape, const T* input1_data,   \
      const RuntimeShape& input2_shape, const T* input2_data, const RuntimeShape& output_shape,    \
      bool* output_data) {                                                                         \
    BroadcastComparison4DSlowWithScaling<T, name##Fn<int32_t>>(                                    \
        op_params, input1_shape, input1_data, input2_shape, input2_data, output_shape,             \
        output_data);                                                                              \
  }
TFLITE_COMPARISON_OP(Equal)
TFLITE_COMPARISON_OP(NotEqual)
TFLITE_COMPARISON_OP(Greater)
TFLITE_COMPARISON_OP(GreaterEqual)
TFLITE_COMPARISON_OP(Less)
TFLITE_COMPARISON_OP(LessEqual)
#undef TFLITE_COMPARISON_OP

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_COMPARISONS_H_
