// SPDX-License-Identifier: Apache-2.0
//
// Coalesces the dimensions of two inputs that are broadcast.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_PROCESS_BROADCAST_SHAPES_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_PROCESS_BROADCAST_SHAPES_H_

#include <algorithm>

#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {

// Stores the category of the broadcast; returns false if the shapes are equal. If the innermost
// different dimension is 1 in one input, stores the sizes of five nested loops in
// `params->broadcast_shape`. Loops 0, 2 and 4 cover equal dimensions, loop 3 the dimensions that
// are 1 in that input, and loop 1 those that are 1 in the other one.
inline bool ProcessBroadcastShapes(const RuntimeShape& shape0, const RuntimeShape& shape1,
                                   ArithmeticParams* params) {
  using Category = BroadcastableOpCategory;
  const int rank = std::max(shape0.DimensionsCount(), shape1.DimensionsCount());
  const RuntimeShape a = RuntimeShape::ExtendedShape(rank, shape0);
  const RuntimeShape b = RuntimeShape::ExtendedShape(rank, shape1);
  params->broadcast_category = Category::kNonBroadcast;
  if (a == b) return false;
  int d = rank - 1;
  while (a.Dims(d) == b.Dims(d)) --d;
  params->broadcast_category = a.Dims(d) == 1   ? Category::kFirstInputBroadcastsFast
                               : b.Dims(d) == 1 ? Category::kSecondInputBroadcastsFast
                                                : Category::kGenericBroadcast;
  if (params->broadcast_category == Category::kGenericBroadcast) return true;
  const RuntimeShape& fast = a.Dims(d) == 1 ? a : b;
  const RuntimeShape& slow = a.Dims(d) == 1 ? b : a;
  d = rank - 1;
  for (int loop = 4; loop >= 0; --loop) {
    int& size = params->broadcast_shape[loop];
    size = 1;
    for (; d >= 0; --d) {
      const bool is_equal = fast.Dims(d) == slow.Dims(d);
      const bool belongs = loop == 3 ? fast.Dims(d) == 1 : loop == 1 ? slow.Dims(d) == 1 : is_equal;
      if (!belongs) break;
      size *= std::max(fast.Dims(d), slow.Dims(d));
    }
  }
  if (d >= 0) params->broadcast_category = Category::kGenericBroadcast;
  return true;
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_PROCESS_BROADCAST_SHAPES_H_
