// SPDX-License-Identifier: Apache-2.0
//
// Reference kernels: the headers of this folder, and operators without a header of their own.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_REFERENCE_OPS_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_REFERENCE_OPS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/quantization_util.h"
#include "tensorflow/lite/kernels/internal/reference/add.h"
#include "tensorflow/lite/kernels/internal/reference/add_n.h"
#include "tensorflow/lite/kernels/internal/reference/arg_min_max.h"
#include "tensorflow/lite/kernels/internal/reference/batch_matmul.h"
#include "tensorflow/lite/kernels/internal/reference/batch_to_space_nd.h"
#include "tensorflow/lite/kernels/internal/reference/binary_function.h"
#include "tensorflow/lite/kernels/internal/reference/broadcast_loop.h"
#include "tensorflow/lite/kernels/internal/reference/cast.h"
#include "tensorflow/lite/kernels/internal/reference/ceil.h"
#include "tensorflow/lite/kernels/internal/reference/comparisons.h"
#include "tensorflow/lite/kernels/internal/reference/concatenation.h"
#include "tensorflow/lite/kernels/internal/reference/conv.h"
#include "tensorflow/lite/kernels/internal/reference/depth_to_space.h"
#include "tensorflow/lite/kernels/internal/reference/depthwiseconv_float.h"
#include "tensorflow/lite/kernels/internal/reference/depthwiseconv_uint8.h"
#include "tensorflow/lite/kernels/internal/reference/dequantize.h"
#include "tensorflow/lite/kernels/internal/reference/div.h"
#include "tensorflow/lite/kernels/internal/reference/elu.h"
#include "tensorflow/lite/kernels/internal/reference/exp.h"
#include "tensorflow/lite/kernels/internal/reference/fill.h"
#include "tensorflow/lite/kernels/internal/reference/floor.h"
#include "tensorflow/lite/kernels/internal/reference/floor_div.h"
#include "tensorflow/lite/kernels/internal/reference/floor_mod.h"
#include "tensorflow/lite/kernels/internal/reference/fully_connected.h"
#include "tensorflow/lite/kernels/internal/reference/gather.h"
#include "tensorflow/lite/kernels/internal/reference/hard_swish.h"
#include "tensorflow/lite/kernels/internal/reference/l2normalization.h"
#include "tensorflow/lite/kernels/internal/reference/leaky_relu.h"
#include "tensorflow/lite/kernels/internal/reference/log_softmax.h"
#include "tensorflow/lite/kernels/internal/reference/logistic.h"
#include "tensorflow/lite/kernels/internal/reference/maximum_minimum.h"
#include "tensorflow/lite/kernels/internal/reference/mul.h"
#include "tensorflow/lite/kernels/internal/reference/neg.h"
#include "tensorflow/lite/kernels/internal/reference/pad.h"
#include "tensorflow/lite/kernels/internal/reference/pooling.h"
#include "tensorflow/lite/kernels/internal/reference/prelu.h"
#include "tensorflow/lite/kernels/internal/reference/process_broadcast_shapes.h"
#include "tensorflow/lite/kernels/internal/reference/quantize.h"
#include "tensorflow/lite/kernels/internal/reference/reduce.h"
#include "tensorflow/lite/kernels/internal/reference/requantize.h"
#include "tensorflow/lite/kernels/internal/reference/resize_bilinear.h"
#include "tensorflow/lite/kernels/internal/reference/resize_nearest_neighbor.h"
#include "tensorflow/lite/kernels/internal/reference/round.h"
#include "tensorflow/lite/kernels/internal/reference/select.h"
#include "tensorflow/lite/kernels/internal/reference/slice.h"
#include "tensorflow/lite/kernels/internal/reference/softmax.h"
#include "tensorflow/lite/kernels/internal/reference/space_to_batch_nd.h"
#include "tensorflow/lite/kernels/internal/reference/space_to_depth.h"
#include "tensorflow/lite/kernels/internal/reference/strided_slice.h"
#include "tensorflow/lite/kernels/internal/reference/sub.h"
#include "tensorflow/lite/kernels/internal/reference/tanh.h"
#include "tensorflow/lite/kernels/internal/reference/transpose.h"
#include "tensorflow/lite/kernels/internal/reference/transpose_conv.h"
#include "tensorflow/lite/kernels/internal/strided_slice_logic.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

// Clamp elements to a range that does not depend on quantisation.
template <typename T>
inline void Relu(const RuntimeShape& input_shape, const T* input_data,
                 const RuntimeShape& output_shape, T* output_data) {
  const int count = MatchingFlatSize(input_shape, output_shape);
  for (int i = 0; i < count; ++i) output_data[i] = std::max(input_data[i], T{0});
}
template <typename T>
inline void Relu0To1(const RuntimeShape& input_shape, const T* input_data,
                     const RuntimeShape& output_shape, T* output_data) {
  const int count = MatchingFlatSize(input_shape, output_shape);
  for (int i = 0; i < count; ++i) output_data[i] = std::min(std::max(input_data[i], T{0}), T{1});
}
template <typename T>
inline void Relu1(const RuntimeShape& input_shape, const T* input_data,
                  const RuntimeShape& output_shape, T* output_data) {
  const int count = MatchingFlatSize(input_shape, output_shape);
  for (int i = 0; i < count; ++i) output_data[i] = std::min(std::max(input_data[i], T{-1}), T{1});
}
inline void Relu6(const RuntimeShape& input_shape, const float* input_data,
                  const RuntimeShape& output_shape, float* output_data) {
  const int count = MatchingFlatSize(input_shape, output_shape);
  for (int i = 0; i < count; ++i) output_data[i] = std::min(std::max(input_data[i], 0.0f), 6.0f);
}

// Clamp quantised elements. The overload with ReluParams requantises them first.
template <typename T>
inline void ReluX(const ReluParams& params, const RuntimeShape& input_shape, const T* input_data,
                  const RuntimeShape& output_shape, T* output_data) {
  const int count = MatchingFlatSize(input_shape, output_shape);
  for (int i = 0; i < count; ++i) {
    const int32_t value =
        params.output_offset +
        MultiplyByQuantizedMultiplier(static_cast<int32_t>(input_data[i]) - params.input_offset,
                                      params.output_multiplier, params.output_shift);
    output_data[i] = static_cast<T>(std::min(std::max(value, params.quantized_activation_min),
                                             params.quantized_activation_max));
  }
}
template <typename T>
inline void ReluX(const ActivationParams& params, const RuntimeShape& input_shape,
                  const T* input_data, const RuntimeShape& output_shape, T* output_data) {
  const int count = MatchingFlatSize(input_shape, output_shape);
  for (int i = 0; i < count; ++i)
    output_data[i] = static_cast<T>(
        std::min<int32_t>(std::max<int32_t>(input_data[i], params.quantized_activation_min),
                          params.quantized_activation_max));
}

// Multiply int16 elements with 15 fraction bits. The overload for uint8 outputs rounds the products
// to 8 bits, adds the output's zero point and clamps the result.
inline void Mul(const ArithmeticParams&, const RuntimeShape& input1_shape,
                const int16_t* input1_data, const RuntimeShape& input2_shape,
                const int16_t* input2_data, const RuntimeShape& output_shape,
                int16_t* output_data) {
  const int count = MatchingElementsSize(input1_shape, input2_shape, output_shape);
  for (int i = 0; i < count; ++i) {
    output_data[i] = fixed_point::SaturatingRoundingDoublingHighMul(input1_data[i], input2_data[i]);
  }
}
inline void Mul(const ArithmeticParams& params, const RuntimeShape& input1_shape,
                const int16_t* input1_data, const RuntimeShape& input2_shape,
                const int16_t* input2_data, const RuntimeShape& output_shape,
                uint8_t* output_data) {
  const int count = MatchingElementsSize(input1_shape, input2_shape, output_shape);
  for (int i = 0; i < count; ++i) {
    const int16_t product =
        fixed_point::SaturatingRoundingDoublingHighMul(input1_data[i], input2_data[i]);
    const int32_t steps = fixed_point::RoundingDivideByPOT(product, 8);
    const int32_t clamped =
        std::max(params.quantized_activation_min - params.output_offset,
                 std::min(params.quantized_activation_max - params.output_offset, steps));
    output_data[i] = static_cast<uint8_t>(params.output_offset + clamped);
  }
}

// Multiplies quantised elements; inputs are broadcast.
inline void BroadcastMulFivefold(const ArithmeticParams& params, const RuntimeShape& input1_shape,
                                 const uint8_t* input1_data, const RuntimeShape& input2_shape,
                                 const uint8_t* input2_data, const RuntimeShape& output_shape,
                                 uint8_t* output_data) {
  BroadcastMul6DSlow<uint8_t>(params, input1_shape, input1_data, input2_shape, input2_data,
                              output_shape, output_data);
}

template <typename Scalar>
inline void Pack(const PackParams& params, const RuntimeShape* const*,
                 const Scalar* const* input_data, const RuntimeShape& output_shape,
                 Scalar* output_data) {
  int inner = 1;
  for (int d = params.axis + 1; d < output_shape.DimensionsCount(); ++d)
    inner *= output_shape.Dims(d);
  const int inputs = params.inputs_count;
  const int outer = output_shape.FlatSize() / std::max(1, inputs * inner);
  for (int i = 0; i < outer; ++i) {
    for (int input = 0; input < inputs; ++input) {
      output_data = std::copy_n(input_data[input] + i * inner, inner, output_data);
    }
  }
}

template <typename Scalar>
inline void Unpack(const UnpackParams& params, const RuntimeShape& input_shape,
                   const Scalar* input_data, const RuntimeShape&, Scalar* const* output_datas) {
  const int rank = input_shape.DimensionsCount();
  const int axis = params.axis + (params.axis < 0 ? rank : 0);
  int inner = 1;
  for (int d = axis + 1; d < rank; ++d) inner *= input_shape.Dims(d);
  const int outputs = params.num_split;
  const int outer = input_shape.FlatSize() / std::max(1, outputs * inner);
  for (int i = 0; i < outer; ++i) {
    for (int output = 0; output < outputs; ++output, input_data += inner) {
      std::copy_n(input_data, inner, output_datas[output] + i * inner);
    }
  }
}

template <typename Scalar>
inline void DepthConcatenation(const ConcatenationParams& params,
                               const RuntimeShape* const* input_shapes,
                               const Scalar* const* input_data, const RuntimeShape& output_shape,
                               Scalar* output_data) {
  ConcatenationParams depth_params = params;
  depth_params.axis = output_shape.DimensionsCount() - 1;
  Concatenation(depth_params, input_shapes, input_data, output_shape, output_data);
}

template <typename Scalar>
inline void Split(const SplitParams& params, const RuntimeShape& input_shape,
                  const Scalar* input_data, const RuntimeShape* const* output_shapes,
                  Scalar* const* output_data) {
  const int rank = input_shape.DimensionsCount();
  const int axis = params.axis + (params.axis < 0 ? rank : 0);
  int outer = 1;
  int inner = 1;
  for (int d = 0; d < rank; ++d) {
    if (d < axis) outer *= input_shape.Dims(d);
    if (d > axis) inner *= input_shape.Dims(d);
  }
  for (int i = 0; i < outer; ++i) {
    for (int output = 0; output < params.num_split; ++output) {
      const int count = output_shapes[output]->Dims(axis) * inner;
      std::copy_n(input_data, count, output_data[output] + i * count);
      input_data += count;
    }
  }
}

inline void LocalResponseNormalization(const LocalResponseNormalizationParams& op_params,
                                       const RuntimeShape& input_shape, const float* input_data,
                                       const RuntimeShape& output_shape, float* output_data) {
  const int last = input_shape.DimensionsCount() - 1;
  const int rows = MatchingFlatSizeSkipDim(input_shape, last, output_shape);
  const int depth = MatchingDim(input_shape, last, output_shape, last);
  for (int row = 0; row < rows; ++row) {
    const float* in = input_data + row * depth;
    for (int c = 0; c < depth; ++c) {
      const int begin = std::max(0, c - op_params.range);
      const int end = std::min(depth, c + op_params.range + 1);
      float squares = 0;
      for (int i = begin; i < end; ++i) squares += in[i] * in[i];
      const double factor = std::pow(
          op_params.bias + op_params.alpha * static_cast<double>(squares), -op_params.beta);
      output_data[row * depth + c] = in[c] * static_cast<float>(factor);
    }
  }
}

inline void FakeQuant(const FakeQuantParams& op_params, const RuntimeShape& input_shape,
                      const float* input_data, const RuntimeShape& output_shape,
                      float* output_data) {
  float min, max, scale;
  NudgeQuantizationRange(op_params.minmax.min, op_params.minmax.max, 0,
                         (1 << op_params.num_bits) - 1, &min, &max, &scale);
  FakeQuantizeArray(scale, min, max, input_data, output_data,
                    static_cast<float>(MatchingFlatSize(input_shape, output_shape)));
}

// The second input of Minimum and Maximum has one element.
template <typename T>
inline void Minimum(const RuntimeShape& input1_shape, const T* input1_data, const T* input2_data,
                    const RuntimeShape& output_shape, T* output_data) {
  const int count = MatchingFlatSize(input1_shape, output_shape);
  for (int i = 0; i < count; ++i) output_data[i] = std::min(input1_data[i], *input2_data);
}
template <typename T>
inline void Maximum(const RuntimeShape& input1_shape, const T* input1_data, const T* input2_data,
                    const RuntimeShape& output_shape, T* output_data) {
  const int count = MatchingFlatSize(input1_shape, output_shape);
  for (int i = 0; i < count; ++i) output_data[i] = std::max(input1_data[i], *input2_data);
}

template <typename T1, typename T2, typename T3>
inline void ArgMax(const RuntimeShape& input1_shape, const T1* input1_data, const T3* input2_data,
                   const RuntimeShape& output_shape, T2* output_data) {
  ArgMinMax(input1_shape, input1_data, input2_data, output_shape, output_data, true);
}

template <typename T>
inline void Pow(const RuntimeShape& input1_shape, const T* input1_data,
                const RuntimeShape& input2_shape, const T* input2_data,
                const RuntimeShape& output_shape, T* output_data) {
  const int count = MatchingFlatSize(input1_shape, input2_shape, output_shape);
  for (int i = 0; i < count; ++i) {
    output_data[i] = static_cast<T>(std::pow(input1_data[i], input2_data[i]));
  }
}
template <typename T>
inline void BroadcastPow4DSlow(const RuntimeShape& input1_shape, const T* input1_data,
                               const RuntimeShape& input2_shape, const T* input2_data,
                               const RuntimeShape& output_shape, T* output_data) {
  BroadcastBinary(input1_shape, input1_data, input2_shape, input2_data, output_shape, output_data,
                  [](T a, T b) { return static_cast<T>(std::pow(a, b)); });
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_REFERENCE_OPS_H_
