// SPDX-License-Identifier: Apache-2.0
#include "core/exec/tensor_shapes.h"

#include "core/base/type_size.h"
#include "core/exec/int_array.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/subgraph_parts.h"

namespace deputy {

TfLiteStatus ComputeBytes(const SubgraphParts& parts, const TfLiteTensor& tensor,
                          const TfLiteIntArray& dims, size_t* bytes) {
  if (TensorBytes(tensor.type, {dims.data, static_cast<size_t>(dims.size)}, bytes)) {
    return kTfLiteOk;
  }
  return Fail(parts.interpreter->reporter(), kTfLiteError,
              "BytesRequired number of bytes overflowed.; subgraph %d: tensor %d '%s': expected a "
              "non-negative shape of %s that fits memory",
              parts.index, parts.graph.IndexOf(&tensor), NameOf(tensor),
              TfLiteTypeGetName(tensor.type));
}

TfLiteStatus ResizeTensor(SubgraphParts* parts, TfLiteTensor* tensor, TfLiteIntArray* new_dims,
                          bool* out_changed) {
  *out_changed = false;
  // Frees `new_dims` on every path until the tensor owns it, unless it is the tensor's own array.
  IntArray owned(tensor->dims == new_dims ? nullptr : new_dims);
  if (new_dims == nullptr) {
    return Fail(parts->interpreter->reporter(), kTfLiteError, "subgraph %d: resize without a shape",
                parts->index);
  }
  const auto adopt = [&] {
    if (tensor->dims == new_dims) return;
    TfLiteIntArrayFree(tensor->dims);
    tensor->dims = owned.release();
  };
  size_t bytes = tensor->bytes;
  const bool sized = HasFixedSize(tensor->type);
  if (sized && ComputeBytes(*parts, *tensor, *new_dims, &bytes) != kTfLiteOk) return kTfLiteError;

  const bool same_shape = TfLiteIntArrayEqual(tensor->dims, new_dims) != 0;
  if (tensor->data.raw != nullptr && same_shape && bytes == tensor->bytes) {
    // Callers continue to read the array that they passed.
    adopt();
    return kTfLiteOk;
  }
  switch (tensor->allocation_type) {
    case kTfLiteArenaRw:
    case kTfLiteArenaRwPersistent:
    case kTfLiteDynamic:
    case kTfLitePersistentRo:
    case kTfLiteCustom:
    case kTfLiteNonCpu:
      break;
    default:
      return Fail(parts->interpreter->reporter(), kTfLiteError,
                  "Attempting to resize a fixed-size tensor.; subgraph %d: tensor %d '%s'",
                  parts->index, parts->graph.IndexOf(tensor), NameOf(*tensor));
  }
  if (sized) {
    const bool heap =
        tensor->allocation_type == kTfLiteDynamic || tensor->allocation_type == kTfLitePersistentRo;
    if (heap && (bytes > parts->interpreter->limits().max_block_bytes ||
                 TfLiteTensorResizeMaybeCopy(bytes, tensor, false) != kTfLiteOk)) {
      return Fail(parts->interpreter->reporter(), kTfLiteError,
                  "subgraph %d: tensor %d '%s': no memory for %zu bytes", parts->index,
                  parts->graph.IndexOf(tensor), NameOf(*tensor), bytes);
    }
    tensor->bytes = bytes;
    if (tensor->allocation_type == kTfLiteCustom) {
      parts->custom_allocations.FollowSize(parts->graph.IndexOf(tensor));
    }
    // Arena tensors get their address when memory is planned again.
    if (tensor->allocation_type == kTfLiteArenaRw ||
        tensor->allocation_type == kTfLiteArenaRwPersistent) {
      tensor->data.raw = nullptr;
    }
  }
  *out_changed = !same_shape;
  adopt();
  return kTfLiteOk;
}

}  // namespace deputy
