// SPDX-License-Identifier: Apache-2.0
//
// Layout of the vectors of a sequence in a tensor: [steps][batches][depth] ("time-major") or
// [batches][steps][depth].
#ifndef DEPUTY_KERNELS_RNN_SEQUENCE_H_
#define DEPUTY_KERNELS_RNN_SEQUENCE_H_

#include <algorithm>

#include "kernels/common/kernel.h"

namespace deputy {

struct SequenceShape {
  int batches = 0, steps = 1, depth = 0;
};

// Returns the shape of a sequence: the tensor has 3 dimensions, or 2, [batches][depth], for a
// single step.
inline SequenceShape ShapeOfSequence(const TfLiteTensor* tensor, bool time_major) {
  if (Rank(tensor) == 2) return {Dim(tensor, 0), 1, Dim(tensor, 1)};
  return {Dim(tensor, time_major ? 1 : 0), Dim(tensor, time_major ? 0 : 1), Dim(tensor, 2)};
}

// Vectors of a sequence. The vector of batch b at step t is b * batch_stride + t * step_stride
// values from `first`.
template <typename T>
struct SequenceOf {
  T* first = nullptr;
  int64_t batch_stride = 0, step_stride = 0;

  T* at(int64_t batch, int64_t step) const {
    return first + batch * batch_stride + step * step_stride;
  }
};

// Returns the vectors of `depth` values of a sequence that begins at `first`, with the batches and
// steps of `shape`.
template <typename T>
SequenceOf<T> VectorsAt(T* first, const SequenceShape& shape, int depth, bool time_major) {
  if (time_major) return {first, depth, int64_t{shape.batches} * depth};
  return {first, int64_t{shape.steps} * depth, depth};
}

// Returns the vectors of a step as contiguous rows: in place if they are contiguous, otherwise
// copied to the buffer.
template <typename T>
const T* GatherStep(const SequenceOf<const T>& vectors, int batches, int depth, int step,
                    T* buffer) {
  if (batches <= 1 || vectors.batch_stride == depth) return vectors.at(0, step);
  for (int b = 0; b < batches; ++b) {
    std::copy_n(vectors.at(b, step), depth, buffer + int64_t{b} * depth);
  }
  return buffer;
}

// Copies contiguous rows of `depth` values to the vectors of step `step`.
template <typename T>
void ScatterStep(const T* rows, int batches, int depth, int step, const SequenceOf<T>& vectors) {
  for (int b = 0; b < batches; ++b) {
    std::copy_n(rows + int64_t{b} * depth, depth, vectors.at(b, step));
  }
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_RNN_SEQUENCE_H_
