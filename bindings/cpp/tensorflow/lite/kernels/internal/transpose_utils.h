// SPDX-License-Identifier: Apache-2.0
//
// Simplifications of TRANSPOSE.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_TRANSPOSE_UTILS_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_TRANSPOSE_UTILS_H_

#include <cstddef>
#include <cstdint>

#include "tensorflow/lite/kernels/internal/compatibility.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace transpose_utils {

// Returns true if the permutation rotates the dimensions, and stores the dimensions of the matrix
// whose transposition is equivalent. A permutation of two dimensions is taken for a transposition
// without a check.
inline bool IsTranspose2DApplicable(const TransposeParams& params, const RuntimeShape& input_shape,
                                    int* dim0, int* dim1) {
  const int rank = input_shape.DimensionsCount();
  const int first = rank == 2 ? 1 : params.perm[0];
  if (rank != 2) {
    for (int i = 1; i < rank; ++i) {
      if (params.perm[i] != (first + i) % rank) return false;
    }
  }
  *dim0 = 1;
  *dim1 = 1;
  for (int i = 0; i < rank; ++i) *(i < first ? dim0 : dim1) *= input_shape.Dims(i);
  return true;
}

// Removes dimensions of 1 from both shapes and from the permutation. One dimension remains if all
// are 1.
inline void RemoveOneSizeDimensions(RuntimeShape* input_shape, RuntimeShape* output_shape,
                                    TransposeParams* params) {
  const int rank = input_shape->DimensionsCount();
  TFLITE_DCHECK_EQ(params->perm_count, rank);
  TFLITE_DCHECK_LE(rank, kTransposeMaxDimensions);
  int32_t new_index[kTransposeMaxDimensions] = {};
  RuntimeShape new_input(rank);
  int kept = 0;
  for (int i = 0; i < rank; ++i) {
    new_index[i] = kept;
    if (input_shape->Dims(i) != 1) new_input.SetDim(kept++, input_shape->Dims(i));
  }
  if (kept == rank) return;
  RuntimeShape new_output(rank);
  TransposeParams new_params = {};
  for (int i = 0; i < rank; ++i) {
    if (output_shape->Dims(i) == 1) continue;
    new_output.SetDim(new_params.perm_count, output_shape->Dims(i));
    new_params.perm[new_params.perm_count++] = new_index[params->perm[i]];
  }
  if (kept == 0) {
    kept = 1;
    new_params.perm_count = 1;
    new_input.SetDim(0, 1);
    new_output.SetDim(0, 1);
  }
  new_input.Resize(kept);
  new_output.Resize(kept);
  *input_shape = new_input;
  *output_shape = new_output;
  *params = new_params;
}

// Removes the leading dimensions that the permutation leaves where they are. Returns the number of
// elements in the remaining dimensions.
inline size_t Flatten(const RuntimeShape& input_shape, const RuntimeShape& output_shape,
                      const TransposeParams& params, RuntimeShape* non_flatten_input_shape,
                      RuntimeShape* non_flatten_output_shape, TransposeParams* non_flatten_params) {
  int skipped = 0;
  while (skipped < params.perm_count && params.perm[skipped] == skipped) ++skipped;
  const int rank = params.perm_count - skipped;
  non_flatten_input_shape->ReplaceWith(rank, input_shape.DimsData() + skipped);
  non_flatten_output_shape->ReplaceWith(rank, output_shape.DimsData() + skipped);
  non_flatten_params->perm_count = static_cast<int8_t>(rank);
  for (int i = 0; i < rank; ++i) non_flatten_params->perm[i] = params.perm[skipped + i] - skipped;
  return static_cast<size_t>(non_flatten_input_shape->FlatSize());
}

}  // namespace transpose_utils
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_TRANSPOSE_UTILS_H_
