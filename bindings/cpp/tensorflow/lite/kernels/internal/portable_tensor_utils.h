// SPDX-License-Identifier: Apache-2.0
//
// Functions on vectors and matrices, as float32 and hybrid layers use them. Batches of vectors and
// matrices are row-major.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_PORTABLE_TENSOR_UTILS_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_PORTABLE_TENSOR_UTILS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/quantization_util.h"

namespace tflite {
namespace tensor_utils {

template <typename T>
inline bool IsZeroVector(const T* vector, int v_size) {
  return std::all_of(vector, vector + v_size, [](T value) { return value == 0; });
}

// Quantise to [-127, 127] with the zero point 0. The first overload takes the range of the values,
// the second determines and stores it.
inline void SymmetricQuantizeFloats(const float* values, const int size, int8_t* quantized_values,
                                    float min_value, float max_value, float* scaling_factor) {
  const float range = std::max(std::abs(min_value), std::abs(max_value));
  *scaling_factor = range == 0 ? 1.0f : range / 127.0f;
  const float inverse = range == 0 ? 0.0f : 127.0f / range;
  for (int i = 0; i < size; ++i) {
    const float steps = TfLiteRound(values[i] * inverse);
    quantized_values[i] = static_cast<int8_t>(std::min(127.0f, std::max(-127.0f, steps)));
  }
}

inline void SymmetricQuantizeFloats(const float* values, const int size, int8_t* quantized_values,
                                    float* min_value, float* max_value, float* scaling_factor) {
  const auto range = std::minmax_element(values, values + size);
  *min_value = *range.first;
  *max_value = *range.second;
  SymmetricQuantizeFloats(values, size, quantized_values, *min_value, *max_value, scaling_factor);
}

// Quantises to [-128, 127]; `offset` is the zero point.
inline void AsymmetricQuantizeFloats(const float* values, const int size, int8_t* quantized_values,
                                     float* scaling_factor, int32_t* offset) {
  const auto range = std::minmax_element(values, values + size);
  const double min = static_cast<double>(std::min(0.0f, *range.first));
  const double max = static_cast<double>(std::max(0.0f, *range.second));
  *scaling_factor = 1;
  *offset = 0;
  if (min == max) {
    std::fill(quantized_values, quantized_values + size, int8_t{0});
    return;
  }
  const QuantizationParams params = ChooseQuantizationParams<int8_t>(min, max);
  *scaling_factor = static_cast<float>(params.scale);
  *offset = params.zero_point;
  const float inverse = 1.0f / *scaling_factor;
  for (int i = 0; i < size; ++i) {
    const float steps = TfLiteRound(static_cast<float>(*offset) + values[i] * inverse);
    quantized_values[i] = static_cast<int8_t>(std::min(127.0f, std::max(-128.0f, steps)));
  }
}

// Quantises each vector of a batch; `zero_points` is used if `do_asymmetric`.
inline void BatchQuantizeFloats(const float* float_data_ptr, int n_batch, int n_data,
                                int8_t* quantized_data_ptr, float* scaling_factors,
                                int32_t* zero_points, bool do_asymmetric) {
  for (int b = 0; b < n_batch; ++b) {
    const float* values = float_data_ptr + b * n_data;
    int8_t* quantized = quantized_data_ptr + b * n_data;
    if (do_asymmetric) {
      AsymmetricQuantizeFloats(values, n_data, quantized, &scaling_factors[b], &zero_points[b]);
    } else {
      float min, max;
      SymmetricQuantizeFloats(values, n_data, quantized, &min, &max, &scaling_factors[b]);
    }
  }
}

// Add the products of a matrix [m_rows, m_cols] and each vector of a batch to result[n_batch,
// m_rows].
inline void MatrixBatchVectorMultiplyAccumulate(const float* matrix, int m_rows, int m_cols,
                                                const float* vector, int n_batch, float* result) {
  for (int b = 0; b < n_batch; ++b) {
    for (int r = 0; r < m_rows; ++r) {
      float sum = 0;
      for (int c = 0; c < m_cols; ++c) sum += matrix[r * m_cols + c] * vector[b * m_cols + c];
      *result++ += sum;
    }
  }
}

// Hybrid arithmetic: int8 vectors have a scale, and optionally an offset (zero point), per batch; a
// row of the matrix may have its own scale.
inline void MatrixBatchVectorMultiplyAccumulate(const int8_t* matrix, const int m_rows,
                                                const int m_cols, const int8_t* vectors,
                                                const float* scaling_factors, int n_batch,
                                                float* result, const float* per_channel_scale,
                                                const int32_t* input_offset) {
  for (int b = 0; b < n_batch; ++b) {
    const int32_t offset = input_offset != nullptr ? input_offset[b] : 0;
    for (int r = 0; r < m_rows; ++r) {
      int32_t sum = 0;
      for (int c = 0; c < m_cols; ++c) {
        sum += matrix[r * m_cols + c] * (vectors[b * m_cols + c] - offset);
      }
      float scale = scaling_factors[b];
      if (per_channel_scale != nullptr) scale *= per_channel_scale[r];
      *result++ += static_cast<float>(sum) * scale;
    }
  }
}

inline void MatrixBatchVectorMultiplyAccumulate(const int8_t* matrix, const int m_rows,
                                                const int m_cols, const int8_t* vectors,
                                                const float* scaling_factors, int n_batch,
                                                float* result) {
  MatrixBatchVectorMultiplyAccumulate(matrix, m_rows, m_cols, vectors, scaling_factors, n_batch,
                                      result, nullptr, nullptr);
}

// Adds scalar * (sum of each row) to `output`.
inline void MatrixScalarMultiplyAccumulate(const int8_t* matrix, int32_t scalar, int32_t n_row,
                                           int32_t n_col, int32_t* output) {
  for (int32_t r = 0; r < n_row; ++r) {
    int32_t sum = 0;
    for (int32_t c = 0; c < n_col; ++c) sum += *matrix++;
    output[r] += sum * scalar;
  }
}

template <typename T>
inline void VectorBatchVectorAdd(const T* vector, int v_size, int n_batch, T* batch_vector) {
  for (int i = 0; i < v_size * n_batch; ++i) batch_vector[i] += vector[i % v_size];
}

template <typename T>
inline void VectorBatchVectorAssign(const T* vector, int v_size, int n_batch, T* batch_vector) {
  for (int b = 0; b < n_batch; ++b) batch_vector = std::copy_n(vector, v_size, batch_vector);
}

template <typename T>
inline void VectorVectorCwiseProduct(const T* vector1, const T* vector2, int v_size, T* result) {
  for (int i = 0; i < v_size; ++i) result[i] = vector1[i] * vector2[i];
}

template <typename T>
inline void VectorVectorCwiseProductAccumulate(const T* vector1, const T* vector2, int v_size,
                                               T* result) {
  for (int i = 0; i < v_size; ++i) result[i] += vector1[i] * vector2[i];
}

template <typename T>
inline void VectorBatchVectorCwiseProduct(const T* vector, int v_size, const T* batch_vector,
                                          int n_batch, T* result) {
  for (int i = 0; i < v_size * n_batch; ++i) result[i] = vector[i % v_size] * batch_vector[i];
}

template <typename T>
inline void VectorBatchVectorCwiseProductAccumulate(const T* vector, int v_size,
                                                    const T* batch_vector, int n_batch, T* result) {
  for (int i = 0; i < v_size * n_batch; ++i) result[i] += vector[i % v_size] * batch_vector[i];
}

inline float VectorVectorDotProduct(const float* vector1, const float* vector2, int v_size) {
  float sum = 0;
  for (int i = 0; i < v_size; ++i) sum += vector1[i] * vector2[i];
  return sum;
}

template <typename T>
inline void BatchVectorBatchVectorDotProduct(const T* vector1, const T* vector2, int v_size,
                                             int n_batch, T* result) {
  for (int b = 0; b < n_batch; ++b) {
    result[b] = VectorVectorDotProduct(vector1 + b * v_size, vector2 + b * v_size, v_size);
  }
}

// Limits the magnitude of the elements.
template <typename T>
inline void CwiseClipping(T* vector, const int v_size, const T clipping_value) {
  const T lowest = static_cast<T>(-clipping_value);
  for (int i = 0; i < v_size; ++i) {
    vector[i] = std::max(std::min(clipping_value, vector[i]), lowest);
  }
}

inline void Sub1Vector(const float* vector, int v_size, float* result) {
  for (int i = 0; i < v_size; ++i) result[i] = 1.0f - vector[i];
}

// Stores the sums of consecutive groups of `reduction_size` elements.
template <typename In, typename Out>
inline void ReductionSumVector(const In* input_vector, Out* output_vector, int output_size,
                               int reduction_size) {
  for (int o = 0; o < output_size; ++o) {
    Out sum = 0;
    for (int i = 0; i < reduction_size; ++i) sum += *input_vector++;
    output_vector[o] = sum;
  }
}

inline void VectorScalarMultiply(const int8_t* vector, int v_size, float scale, float* result) {
  for (int i = 0; i < v_size; ++i) result[i] = scale * static_cast<float>(vector[i]);
}

// Normalises each vector of a batch to the mean 0 and the variance 1.
inline void MeanStddevNormalization(const float* input_vector, float* output_vector, int v_size,
                                    int n_batch) {
  const auto size = static_cast<float>(v_size);
  for (int b = 0; b < n_batch; ++b, input_vector += v_size, output_vector += v_size) {
    float sum = 0;
    for (int i = 0; i < v_size; ++i) sum += input_vector[i];
    const float mean = sum / size;
    float squares = 0;
    for (int i = 0; i < v_size; ++i) {
      const float difference = input_vector[i] - mean;
      squares += difference * difference;
    }
    const float inverse = 1.0f / std::sqrt(squares / size + 1e-8f);
    for (int i = 0; i < v_size; ++i) output_vector[i] = (input_vector[i] - mean) * inverse;
  }
}

inline void ApplyReluToVector(const float* vector, int v_size, float* result) {
  for (int i = 0; i < v_size; ++i) result[i] = std::max(0.0f, vector[i]);
}

inline void ApplyRelu1ToVector(const float* vector, int v_size, float* result) {
  for (int i = 0; i < v_size; ++i) result[i] = std::max(-1.0f, std::min(vector[i], 1.0f));
}

inline void ApplyRelu6ToVector(const float* vector, int v_size, float* result) {
  for (int i = 0; i < v_size; ++i) result[i] = std::max(0.0f, std::min(vector[i], 6.0f));
}

inline void ApplySignbitToVector(const float* vector, int v_size, float* result) {
  for (int i = 0; i < v_size; ++i) result[i] = std::signbit(vector[i]) ? 1.0f : 0.0f;
}

// Unpacks elements of 2 or 4 bits; the first element of a byte is in its low bits.
inline void UnpackPackedIntToInt8(const int8_t* src_buffer, int num_elements, int bit_width,
                                  int8_t* dst_buffer, bool unpack_unsigned = false) {
  TFLITE_DCHECK(bit_width == 2 || bit_width == 4);
  const int per_byte = 8 / bit_width;
  for (int i = 0; i < num_elements; ++i) {
    const auto byte = static_cast<uint8_t>(src_buffer[i / per_byte]);
    const int high = 8 - bit_width - i % per_byte * bit_width;  // bits above the element
    const auto shifted = static_cast<uint8_t>(byte << high);
    dst_buffer[i] = unpack_unsigned
                        ? static_cast<int8_t>(shifted >> (8 - bit_width))
                        : static_cast<int8_t>(static_cast<int8_t>(shifted) >> (8 - bit_width));
  }
}

inline void UnpackDenseInt4IntoInt8(const int8_t* src_buffer, int num_elements,
                                    int8_t* dst_buffer) {
  UnpackPackedIntToInt8(src_buffer, num_elements, 4, dst_buffer);
}

// The inverse of UnpackPackedIntToInt8(); unused bits of the last byte are 0.
inline void PackInt8IntoDenseInt(const int8_t* src_buffer, int num_elements, int bit_width,
                                 int8_t* dst_buffer) {
  TFLITE_DCHECK(bit_width == 2 || bit_width == 4);
  const int per_byte = 8 / bit_width;
  const unsigned mask = (1u << bit_width) - 1;
  for (int i = 0; i < num_elements; i += per_byte) {
    unsigned byte = 0;
    for (int j = 0; j < per_byte && i + j < num_elements; ++j) {
      byte |= (static_cast<unsigned>(src_buffer[i + j]) & mask) << (j * bit_width);
    }
    dst_buffer[i / per_byte] = static_cast<int8_t>(byte);
  }
}

}  // namespace tensor_utils
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_PORTABLE_TENSOR_UTILS_H_
