// SPDX-License-Identifier: Apache-2.0
//
// Shapes and sizes of a subgraph's tensors.
#ifndef DEPUTY_CORE_EXEC_TENSOR_SHAPES_H_
#define DEPUTY_CORE_EXEC_TENSOR_SHAPES_H_

#include <cstddef>

#include "c_api/include/common.h"

namespace deputy {

struct SubgraphParts;

// Returns true for contents of the model, and for tensors that a node computes once.
inline bool IsConstant(const TfLiteTensor& tensor) {
  return tensor.allocation_type == kTfLiteMmapRo || tensor.allocation_type == kTfLitePersistentRo;
}

// Computes the size of a tensor of a type of fixed size with the shape `dims`. Reports an error if
// a dimension is negative or the size overflows.
TfLiteStatus ComputeBytes(const SubgraphParts& parts, const TfLiteTensor& tensor,
                          const TfLiteIntArray& dims, size_t* bytes);

// Resizes a tensor (abi.md 4.5). Takes ownership of `new_dims`, also on failure. `*out_changed`
// becomes true if the tensor's shape has changed.
TfLiteStatus ResizeTensor(SubgraphParts* parts, TfLiteTensor* tensor, TfLiteIntArray* new_dims,
                          bool* out_changed);

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_TENSOR_SHAPES_H_
