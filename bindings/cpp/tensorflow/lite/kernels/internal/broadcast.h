// SPDX-License-Identifier: Apache-2.0
//
// Iteration over the elements of operators whose inputs are broadcast: dimensions of 1 are
// repeated.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_BROADCAST_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_BROADCAST_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "tensorflow/lite/kernels/internal/compatibility.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {

constexpr int kMaxBroadcastRank = 8;

// Calls visit(output position, positions of the inputs) for every element of the output, in
// row-major order. Positions count elements. Shapes have at most kMaxBroadcastRank dimensions; a
// shape of lower rank has leading dimensions of 1.
template <size_t kInputs, typename Visit>
inline void ForEachBroadcast(const RuntimeShape& output_shape,
                             const std::array<const RuntimeShape*, kInputs>& input_shapes,
                             const Visit& visit) {
  int rank = output_shape.DimensionsCount();
  for (const RuntimeShape* shape : input_shapes) rank = std::max(rank, shape->DimensionsCount());
  TFLITE_CHECK_LE(rank, kMaxBroadcastRank);
  const RuntimeShape output = RuntimeShape::ExtendedShape(rank, output_shape);
  int strides[kInputs][kMaxBroadcastRank];
  for (size_t i = 0; i < kInputs; ++i) {
    const RuntimeShape input = RuntimeShape::ExtendedShape(rank, *input_shapes[i]);
    for (int d = rank - 1, stride = 1; d >= 0; stride *= input.Dims(d), --d) {
      strides[i][d] = input.Dims(d) == 1 ? 0 : stride;
    }
  }
  int index[kMaxBroadcastRank] = {};
  std::array<int, kInputs> positions = {};
  const int count = output.FlatSize();
  for (int position = 0; position < count; ++position) {
    visit(position, positions);
    for (int d = rank - 1; d >= 0; --d) {
      for (size_t i = 0; i < kInputs; ++i) positions[i] += strides[i][d];
      if (++index[d] < output.Dims(d)) break;
      for (size_t i = 0; i < kInputs; ++i) positions[i] -= strides[i][d] * output.Dims(d);
      index[d] = 0;
    }
  }
}

// Stores function(input 1, input 2) in every element of the output.
template <typename T1, typename T2, typename R, typename Function>
inline void BroadcastBinary(const RuntimeShape& input1_shape, const T1* input1_data,
                            const RuntimeShape& input2_shape, const T2* input2_data,
                            const RuntimeShape& output_shape, R* output_data,
                            const Function& function) {
  ForEachBroadcast<2>(output_shape, {&input1_shape, &input2_shape},
                      [&](int position, const std::array<int, 2>& inputs) {
                        output_data[position] =
                            function(input1_data[inputs[0]], input2_data[inputs[1]]);
                      });
}

// Sizes and strides in elements of an array with N dimensions; a stride of 0 repeats a dimension.
template <int N>
struct NdArrayDesc {
  int64_t extents[N];
  int64_t strides[N];
};

inline int64_t SubscriptToIndex(const NdArrayDesc<4>& desc, int i0, int i1, int i2, int i3) {
  return i0 * desc.strides[0] + i1 * desc.strides[1] + i2 * desc.strides[2] + i3 * desc.strides[3];
}

template <int N>
inline int64_t SubscriptToIndex(const NdArrayDesc<N>& desc, const int* indexes) {
  int64_t position = 0;
  for (int d = 0; d < N; ++d) position += indexes[d] * desc.strides[d];
  return position;
}

// Copies the dimensions of a shape with exactly N of them.
template <int N>
inline void CopyDimsToDesc(const RuntimeShape& input_shape, NdArrayDesc<N>* desc_out) {
  int64_t stride = 1;
  for (int d = N - 1; d >= 0; --d) {
    desc_out->extents[d] = input_shape.Dims(d);
    desc_out->strides[d] = stride;
    stride *= input_shape.Dims(d);
  }
}

// Repeats a dimension of 1 to `extent`.
template <int N>
inline void StretchDimension(NdArrayDesc<N>* desc, int dimension, int64_t extent) {
  if (desc->extents[dimension] == extent) return;
  TFLITE_DCHECK_EQ(desc->extents[dimension], 1);
  desc->extents[dimension] = extent;
  desc->strides[dimension] = 0;
}

// Describe inputs of N dimensions or less so that all can be indexed by positions of the output.
template <int N>
inline void NdArrayDescsForElementwiseBroadcast(const Dims<N>& input0_dims,
                                                const Dims<N>& input1_dims,
                                                NdArrayDesc<N>* desc0_out,
                                                NdArrayDesc<N>* desc1_out) {
  for (int d = 0; d < N; ++d) {
    desc0_out->extents[d] = input0_dims.sizes[d];
    desc0_out->strides[d] = input0_dims.strides[d];
    desc1_out->extents[d] = input1_dims.sizes[d];
    desc1_out->strides[d] = input1_dims.strides[d];
    const int64_t extent =
        desc0_out->extents[d] == 1 ? desc1_out->extents[d] : desc0_out->extents[d];
    StretchDimension(desc0_out, d, extent);
    StretchDimension(desc1_out, d, extent);
  }
}

template <int N>
inline void NdArrayDescsForElementwiseBroadcast(const RuntimeShape& input0_shape,
                                                const RuntimeShape& input1_shape,
                                                NdArrayDesc<N>* desc0_out,
                                                NdArrayDesc<N>* desc1_out) {
  CopyDimsToDesc<N>(RuntimeShape::ExtendedShape(N, input0_shape), desc0_out);
  CopyDimsToDesc<N>(RuntimeShape::ExtendedShape(N, input1_shape), desc1_out);
  for (int d = 0; d < N; ++d) {
    const int64_t extent =
        desc0_out->extents[d] == 1 ? desc1_out->extents[d] : desc0_out->extents[d];
    StretchDimension(desc0_out, d, extent);
    StretchDimension(desc1_out, d, extent);
  }
}

template <int N>
inline void NdArrayDescsForElementwiseBroadcast(const RuntimeShape& input0_shape,
                                                const RuntimeShape& input1_shape,
                                                const RuntimeShape& input2_shape,
                                                NdArrayDesc<N>* desc0_out,
                                                NdArrayDesc<N>* desc1_out,
                                                NdArrayDesc<N>* desc2_out) {
  CopyDimsToDesc<N>(RuntimeShape::ExtendedShape(N, input0_shape), desc0_out);
  CopyDimsToDesc<N>(RuntimeShape::ExtendedShape(N, input1_shape), desc1_out);
  CopyDimsToDesc<N>(RuntimeShape::ExtendedShape(N, input2_shape), desc2_out);
  for (int d = 0; d < N; ++d) {
    int64_t extent = desc0_out->extents[d];
    if (extent == 1) extent = desc1_out->extents[d];
    if (extent == 1) extent = desc2_out->extents[d];
    StretchDimension(desc0_out, d, extent);
    StretchDimension(desc1_out, d, extent);
    StretchDimension(desc2_out, d, extent);
  }
}

// Calls calc(indexes) for every index of `output`, in row-major order.
template <int N, typename Calc>
inline void NDOpsHelper(const NdArrayDesc<N>& output, const Calc& calc) {
  int indexes[N] = {};
  for (int64_t extent : output.extents) {
    if (extent == 0) return;
  }
  for (;;) {
    calc(indexes);
    int d = N - 1;
    while (d >= 0 && ++indexes[d] == output.extents[d]) indexes[d--] = 0;
    if (d < 0) return;
  }
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_BROADCAST_H_
