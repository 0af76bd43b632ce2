// SPDX-License-Identifier: Apache-2.0
//
// Expansion of sparse constants to dense ones. Their levels, segments and indices come from the
// model file; the loader has checked all of them against the shape and the number of values.
#ifndef DEPUTY_KERNELS_COMMON_SPARSE_H_
#define DEPUTY_KERNELS_COMMON_SPARSE_H_

#include <array>
#include <string>

#include "kernels/common/kernel.h"

namespace deputy {

// Serialises a sparsity with its arrays: equal sparsities give equal bytes.
std::string SparsityBytes(const TfLiteSparsity& sparsity);

// Expands one sparse tensor. Its levels are one per dimension in traversal order; the block's
// dimensions are last.
template <typename T>
class SparseExpansion {
 public:
  SparseExpansion(const TfLiteTensor* tensor, T* out)
      : sparsity_(*tensor->sparsity), values_(Data<T>(tensor)), out_(out) {
    const int rank = Rank(tensor);
    const int levels = sparsity_.dim_metadata_size;
    // Stride of each dimension, the block's dimensions last, in elements.
    std::array<int64_t, 2 * kMaxRank> pitch;
    int64_t elements = 1;
    for (int d = rank - 1; d >= 0; --d) {
      pitch[static_cast<size_t>(d)] = elements;
      elements *= Dim(tensor, d);
    }
    for (int level = rank; level < levels; ++level) {
      const int dimension = sparsity_.traversal_order->data[level];
      const auto divided = static_cast<size_t>(sparsity_.block_map->data[dimension - rank]);
      pitch[static_cast<size_t>(dimension)] = pitch[divided];
    }
    for (int level = rank; level < levels; ++level) {
      const int dimension = sparsity_.traversal_order->data[level];
      pitch[static_cast<size_t>(sparsity_.block_map->data[dimension - rank])] *=
          sparsity_.dim_metadata[level].dense_size;
    }
    for (int level = 0; level < levels; ++level) {
      pitch_[static_cast<size_t>(level)] =
          pitch[static_cast<size_t>(sparsity_.traversal_order->data[level])];
    }
  }

  // Writes the values to their positions; all other elements are zero already.
  void Write() const { Visit(0, 0, 0); }

 private:
  // Writes the subtree of `node`, which is in the level above `level`; it begins at `offset` in the
  // output. Inlined, because most nodes are values.
  [[gnu::always_inline]] void Visit(int level, int64_t node, int64_t offset) const {
    if (level == sparsity_.dim_metadata_size) {
      out_[offset] = values_[node];
    } else {
      VisitChildren(level, node, offset);
    }
  }

  [[gnu::noinline]] void VisitChildren(int level, int64_t node, int64_t offset) const {
    const TfLiteDimensionMetadata& dimension = sparsity_.dim_metadata[level];
    const int64_t pitch = pitch_[static_cast<size_t>(level)];
    if (dimension.format == kTfLiteDimDense) {
      const int64_t first = node * dimension.dense_size;
      for (int64_t i = 0; i < dimension.dense_size; ++i) {
        Visit(level + 1, first + i, offset + i * pitch);
      }
      return;
    }
    const int32_t end = dimension.array_segments->data[node + 1];
    for (int64_t i = dimension.array_segments->data[node]; i < end; ++i) {
      Visit(level + 1, i, offset + dimension.array_indices->data[i] * pitch);
    }
  }

  const TfLiteSparsity& sparsity_;
  const T* values_;
  T* out_;
  std::array<int64_t, 2 * kMaxRank> pitch_;  // stride of each level in the output, in elements
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_SPARSE_H_
