// SPDX-License-Identifier: Apache-2.0
//
// BATCH_MATMUL. The right side is transposed: the last dimension of both sides is that of the sums,
// and the output is [batches..., right rows, left rows]. Batches are broadcast; at most five
// dimensions.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_BATCH_MATMUL_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_BATCH_MATMUL_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

// Calls store(position, sum) for every output.
template <typename Sum, typename Ta, typename Tb, typename Term, typename Store>
inline void ForEachMatMulSum(const RuntimeShape& lhs_shape, const Ta* lhs_data,
                             const RuntimeShape& rhs_shape, const Tb* rhs_data, const Term& term,
                             const Store& store) {
  const RuntimeShape lhs = RuntimeShape::ExtendedShape(5, lhs_shape);
  const RuntimeShape rhs = RuntimeShape::ExtendedShape(5, rhs_shape);
  const int lhs_rows = lhs.Dims(3);
  const int rhs_rows = rhs.Dims(4);
  const int depth = lhs.Dims(4);
  const RuntimeShape lhs_batches(3, lhs.DimsData());
  const RuntimeShape rhs_batches(3, rhs.DimsData());
  RuntimeShape batches(3);
  for (int d = 0; d < 3; ++d) batches.SetDim(d, std::max(lhs.Dims(d), rhs.Dims(d)));
  ForEachBroadcast<2>(batches, {&lhs_batches, &rhs_batches},
                      [&](int batch, const std::array<int, 2>& inputs) {
                        const Ta* left = lhs_data + inputs[0] * lhs_rows * depth;
                        const Tb* right = rhs_data + inputs[1] * rhs_rows * depth;
                        for (int j = 0; j < rhs_rows; ++j) {
                          for (int i = 0; i < lhs_rows; ++i) {
                            Sum sum = 0;
                            for (int k = 0; k < depth; ++k) {
                              sum += term(static_cast<Sum>(left[i * depth + k]),
                                          static_cast<Sum>(right[j * depth + k]));
                            }
                            store((batch * rhs_rows + j) * lhs_rows + i, sum);
                          }
                        }
                      });
}

template <typename Ta, typename Tb, typename Tout>
inline void BatchMatMul(const RuntimeShape& lhs_shape, const Ta* lhs_data,
                        const RuntimeShape& rhs_shape, const Tb* rhs_data, const RuntimeShape&,
                        Tout* output_data) {
  ForEachMatMulSum<Tout>(
      lhs_shape, lhs_data, rhs_shape, rhs_data, [](Tout a, Tout b) { return a * b; },
      [&](int position, Tout sum) { output_data[position] = sum; });
}

// Multiplies quantised matrices: `weights_offset` belongs to the left side, `input_offset` to the
// right side.
template <typename lhsT, typename AccumT, typename rhsT = lhsT, typename outputT = lhsT>
inline void BatchMatMul(const FullyConnectedParams& params, const RuntimeShape& lhs_shape,
                        const lhsT* lhs_data, const RuntimeShape& rhs_shape, const rhsT* rhs_data,
                        const RuntimeShape&, outputT* output_data) {
  ForEachMatMulSum<AccumT>(
      lhs_shape, lhs_data, rhs_shape, rhs_data,
      [&](AccumT a, AccumT b) { return (a + params.weights_offset) * (b + params.input_offset); },
      [&](int position, AccumT sum) {
        const int32_t value =
            MultiplyByQuantizedMultiplier(sum, params.output_multiplier, params.output_shift) +
            params.output_offset;
        output_data[position] = static_cast<outputT>(std::min(
            std::max(value, params.quantized_activation_min), params.quantized_activation_max));
      });
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_BATCH_MATMUL_H_
