// SPDX-License-Identifier: Apache-2.0
//
// Sparse constants. The format is a tree with a level for each dimension in traversal order, the
// dimensions of a block last. A node of a dense level has a child for every index, a node of a
// sparse level those that its segment lists; the leaves are the values, in their order.
#ifndef DEPUTY_COMPILER_SPARSE_H_
#define DEPUTY_COMPILER_SPARSE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/graph.h"
#include "tensorflow/lite/c/common.h"

namespace deputy::compiler {

// Computes the position of each stored value in the dense tensor. Returns "", or a description of
// the fault in the tree, in which case there are no positions. Takes time linear in the tree and
// the shape.
std::string FindSparsePositions(const TfLiteSparsity& sparsity, const Shape& shape,
                                std::vector<int64_t>* out_positions);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_SPARSE_H_
