// SPDX-License-Identifier: Apache-2.0
//
// Sparse constants. The format is a tree: a level for each dimension in traversal order, the
// dimensions of a block last. A node of a dense level has a child for every index, one of a sparse
// level those that its segment lists; the leaves are the values, in their order.
#ifndef DEPUTY_COMPILER_SPARSE_H_
#define DEPUTY_COMPILER_SPARSE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/graph.h"
#include "tensorflow/lite/c/common.h"

namespace deputy::compiler {

// By value: the place of its element in the dense tensor. Returns "" or what is wrong with the
// tree, in which case the places are none. Takes no longer than the tree and the shape are large.
std::string FindSparsePlaces(const TfLiteSparsity& sparsity, const Shape& shape,
                             std::vector<int64_t>* out_places);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_SPARSE_H_
