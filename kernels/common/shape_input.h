// SPDX-License-Identifier: Apache-2.0
//
// Axes, shapes, sizes and indices that are tensors. If their contents are known in prepare, the
// output's shape is computed there; otherwise the output is dynamic, and invoke computes the shape
// from contents that must be checked then.
//
// Known contents are constants of the model, and integers computed in another node's prepare:
// persistent read-only tensors of SHAPE, RANK, BROADCAST_ARGS and folded nodes (fold.h).
#ifndef DEPUTY_KERNELS_COMMON_SHAPE_INPUT_H_
#define DEPUTY_KERNELS_COMMON_SHAPE_INPUT_H_

#include <cstdint>
#include <cstring>

#include "kernels/common/kernel.h"

namespace deputy {

inline bool IsKnown(const TfLiteTensor* tensor) {
  if (IsReadableConstant(tensor)) return true;
  return tensor->allocation_type == kTfLitePersistentRo &&
         (tensor->data.data != nullptr || tensor->bytes == 0) &&
         (tensor->type == kTfLiteInt32 || tensor->type == kTfLiteInt64 ||
          tensor->type == kTfLiteBool);
}

// Returns element `index` of an int8, int16, int32 or int64 tensor.
inline int64_t IntegerAt(const TfLiteTensor* tensor, int64_t index) {
  switch (tensor->type) {
    case kTfLiteInt8:
      return Data<int8_t>(tensor)[index];
    case kTfLiteInt16:
      return Data<int16_t>(tensor)[index];
    case kTfLiteInt64:
      return Data<int64_t>(tensor)[index];
    default:
      return Data<int32_t>(tensor)[index];
  }
}

// Resolves an axis of a tensor of `rank` dimensions; negative axes count from the end.
inline TfLiteStatus ResolveAxis(TfLiteContext* context, const TfLiteTensor* tensor, int64_t axis,
                                int rank, int* out) {
  if (axis < -rank || axis >= rank) {
    return TensorError(context, tensor, "expected an axis of %d to %d, found %lld", -rank, rank - 1,
                       static_cast<long long>(axis));
  }
  *out = static_cast<int>(axis < 0 ? axis + rank : axis);
  return kTfLiteOk;
}

// Stores a computed extent in a shape, after checking its range.
inline TfLiteStatus SetExtent(TfLiteContext* context, const TfLiteTensor* tensor, int axis,
                              int64_t extent, int* out) {
  if (extent < 0 || extent > INT32_MAX) {
    return TensorError(context, tensor, "its dimension %d would be %lld", axis,
                       static_cast<long long>(extent));
  }
  *out = static_cast<int>(extent);
  return kTfLiteOk;
}

// Number of elements before, along and after one axis.
struct AxisSplit {
  int64_t outer = 1, extent = 1, inner = 1;
};
inline AxisSplit SplitAt(std::span<const int> dims, int axis) {
  const auto at = static_cast<size_t>(axis);
  return {ElementCount(dims.first(at)), dims[at], ElementCount(dims.subspan(at + 1))};
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_SHAPE_INPUT_H_
