// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_CORE_GRAPH_GRAPH_DIGEST_H_
#define DEPUTY_CORE_GRAPH_GRAPH_DIGEST_H_

#include <cstdint>

namespace deputy {

class Graph;

// Returns a hash of the graph's structure, comparable within one process: the plan, and the fields
// of nodes, registrations and tensors (graph_fields.h). Arrays and affine quantisation are hashed
// by contents; the tensors' data and its addresses are excluded.
uint64_t GraphDigest(const Graph& graph);

}  // namespace deputy

#endif  // DEPUTY_CORE_GRAPH_GRAPH_DIGEST_H_
