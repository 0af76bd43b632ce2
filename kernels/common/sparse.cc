// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/sparse.h"

namespace deputy {
namespace {

void AddBytes(const void* data, size_t bytes, std::string* out) {
  out->append(static_cast<const char*>(data), bytes);
}

// Appends an array with its length first, which separates adjacent arrays.
void AddArray(const TfLiteIntArray* array, std::string* out) {
  const int count = array == nullptr ? 0 : array->size;
  AddBytes(&count, sizeof count, out);
  if (count > 0) AddBytes(array->data, static_cast<size_t>(count) * sizeof *array->data, out);
}

}  // namespace

std::string SparsityBytes(const TfLiteSparsity& sparsity) {
  std::string bytes;
  AddArray(sparsity.traversal_order, &bytes);
  AddArray(sparsity.block_map, &bytes);
  for (int i = 0; i < sparsity.dim_metadata_size; ++i) {
    const TfLiteDimensionMetadata& dimension = sparsity.dim_metadata[i];
    AddBytes(&dimension.format, sizeof dimension.format, &bytes);
    AddBytes(&dimension.dense_size, sizeof dimension.dense_size, &bytes);
    if (dimension.format != kTfLiteDimSparseCSR) continue;
    AddArray(dimension.array_segments, &bytes);
    AddArray(dimension.array_indices, &bytes);
  }
  return bytes;
}

}  // namespace deputy
