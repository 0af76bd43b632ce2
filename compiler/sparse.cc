// SPDX-License-Identifier: Apache-2.0
//
// Expands sparse constants. A runtime may pass a file's sparsity parameters on unchecked, so
// everything is validated here.
#include "compiler/sparse.h"

#include <span>
#include <utility>

namespace deputy::compiler {
namespace {

std::span<const int> Ints(const TfLiteIntArray* array) {
  if (array == nullptr || array->size <= 0) return {};
  return {array->data, static_cast<size_t>(array->size)};
}

std::string AtLevel(size_t level, const char* what) {
  return "sparsity level " + std::to_string(level) + ": " + what;
}

// Expands the tree level by level.
class Expansion {
 public:
  Expansion(const TfLiteSparsity& sparsity, const Shape& shape)
      : levels_(sparsity.dim_metadata, sparsity.dim_metadata_size < 0
                                           ? 0
                                           : static_cast<size_t>(sparsity.dim_metadata_size)),
        order_(Ints(sparsity.traversal_order)),
        blocks_(Ints(sparsity.block_map)),
        shape_(shape),
        count_(ElementCount(shape)) {}

  std::string Run(std::vector<int64_t>* out_positions) {
    std::string problem = CheckOrder();
    if (problem.empty()) problem = FindPitches();
    positions_ = {0};
    for (size_t level = 0; problem.empty() && level < levels_.size(); ++level) {
      problem = Expand(level);
    }
    if (problem.empty()) *out_positions = std::move(positions_);
    return problem;
  }

 private:
  // Checks the traversal order, which must name every dimension once, the dimensions of blocks
  // after the others.
  std::string CheckOrder() const {
    const size_t rank = shape_.size();
    if (levels_.size() != rank + blocks_.size() || order_.size() != levels_.size()) {
      return "sparsity: expected " + std::to_string(rank + blocks_.size()) + " levels, found " +
             std::to_string(levels_.size()) + " and an order of " + std::to_string(order_.size());
    }
    std::vector<bool> seen(levels_.size(), false);
    for (size_t level = 0; level < levels_.size(); ++level) {
      const auto dimension = static_cast<size_t>(order_[level]);
      const bool of_block = level >= rank;
      if (dimension >= levels_.size() || seen[dimension] || (dimension >= rank) != of_block) {
        return AtLevel(level, "invalid traversal order");
      }
      seen[dimension] = true;
    }
    return "";
  }

  // Computes the number of indices of each dimension and the distance of their elements. A block
  // splits a dimension into pieces of its size.
  std::string FindPitches() {
    const size_t rank = shape_.size();
    extents_.assign(shape_.begin(), shape_.end());
    pitches_ = Strides(shape_);
    extents_.resize(levels_.size());
    pitches_.resize(levels_.size());
    std::vector<bool> cut(rank, false);
    for (size_t level = rank; level < levels_.size(); ++level) {
      const auto dimension = static_cast<size_t>(order_[level]);
      const auto divided = static_cast<size_t>(blocks_[dimension - rank]);
      const int size = levels_[level].dense_size;
      if (levels_[level].format != kTfLiteDimDense || divided >= rank || cut[divided] || size < 1 ||
          extents_[divided] % size != 0) {
        return AtLevel(level, "the block size does not divide its dimension");
      }
      cut[divided] = true;
      extents_[dimension] = size;
      pitches_[dimension] = pitches_[divided];
      extents_[divided] /= size;
      pitches_[divided] *= size;
    }
    return "";
  }

  std::string Expand(size_t level) {
    const auto dimension = static_cast<size_t>(order_[level]);
    std::vector<int64_t> next;
    std::string problem =
        levels_[level].format == kTfLiteDimDense
            ? ExpandDense(level, extents_[dimension], pitches_[dimension], &next)
            : ExpandSparse(level, extents_[dimension], pitches_[dimension], &next);
    positions_ = std::move(next);
    return problem;
  }

  std::string ExpandDense(size_t level, int64_t extent, int64_t pitch,
                          std::vector<int64_t>* next) const {
    const int64_t size = levels_[level].dense_size;
    if (size < 0 || size > extent) return AtLevel(level, "the size exceeds the dimension");
    if (size * static_cast<int64_t>(positions_.size()) > count_) {
      return AtLevel(level, "more values than the tensor has elements");
    }
    next->reserve(positions_.size() * static_cast<size_t>(size));
    for (const int64_t position : positions_) {
      for (int64_t i = 0; i < size; ++i) next->push_back(position + i * pitch);
    }
    return "";
  }

  std::string ExpandSparse(size_t level, int64_t extent, int64_t pitch,
                           std::vector<int64_t>* next) const {
    const std::span<const int> segments = Ints(levels_[level].array_segments);
    const std::span<const int> indices = Ints(levels_[level].array_indices);
    if (segments.size() != positions_.size() + 1 || segments.front() != 0 ||
        segments.back() != static_cast<int64_t>(indices.size())) {
      return AtLevel(level, "the segments do not match the indices");
    }
    if (static_cast<int64_t>(indices.size()) > count_) {
      return AtLevel(level, "more values than the tensor has elements");
    }
    next->reserve(indices.size());
    for (size_t n = 0; n < positions_.size(); ++n) {
      if (segments[n + 1] < segments[n] || segments[n + 1] > segments.back()) {
        return AtLevel(level, "the segments are not ascending");
      }
      for (int i = segments[n]; i < segments[n + 1]; ++i) {
        const int64_t index = indices[static_cast<size_t>(i)];
        if (index < 0 || index >= extent) return AtLevel(level, "an index is out of range");
        next->push_back(positions_[n] + index * pitch);
      }
    }
    return "";
  }

  const std::span<const TfLiteDimensionMetadata> levels_;
  const std::span<const int> order_, blocks_;
  const Shape& shape_;
  const int64_t count_;
  std::vector<int64_t> extents_,
      pitches_;                     // number of indices and distance of elements, by dimension
  std::vector<int64_t> positions_;  // element positions, by node of the current level
};

}  // namespace

std::string FindSparsePositions(const TfLiteSparsity& sparsity, const Shape& shape,
                                std::vector<int64_t>* out_positions) {
  out_positions->clear();
  if (sparsity.dim_metadata == nullptr) return "sparsity: no levels";
  return Expansion(sparsity, shape).Run(out_positions);
}

}  // namespace deputy::compiler
