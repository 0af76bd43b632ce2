// SPDX-License-Identifier: Apache-2.0
//
// Shapes and strides of tensors.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_LAYOUT_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_LAYOUT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Largest rank of a tensor.
#define LITERT_TENSOR_MAX_RANK 8

// Shape of a tensor, and optionally its strides. The layout of this struct is frozen (68 bytes).
typedef struct {
  // Number of dimensions, at most LITERT_TENSOR_MAX_RANK.
  unsigned int rank : 7;
  // 1 if `strides` is valid. The type is that of `rank`, so that all compilers pack both into one
  // int.
  unsigned int has_strides : 1;
  // Number of elements per dimension; negative for a dimension that is unknown until the model
  // runs. Entries from `rank` on are undefined.
  int32_t dimensions[LITERT_TENSOR_MAX_RANK];
  // Distance between adjacent elements per dimension, in elements.
  uint32_t strides[LITERT_TENSOR_MAX_RANK];
} LiteRtLayout;

// Computes the number of elements, 1 for rank 0. kLiteRtStatusErrorInvalidArgument for negative
// dimensions, a rank above the maximum, and numbers that overflow.
LiteRtStatus LiteRtGetNumLayoutElements(const LiteRtLayout* layout, size_t* num_elements);

// Sets `result` to whether both layouts have the same rank, dimensions and strides.
LiteRtStatus LiteRtIsSameLayout(const LiteRtLayout* layout1, const LiteRtLayout* layout2,
                                bool* result);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_LAYOUT_H_
