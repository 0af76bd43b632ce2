// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_CORE_GRAPH_GRAPH_DIGEST_H_
#define DEPUTY_CORE_GRAPH_GRAPH_DIGEST_H_

#include <cstdint>

namespace deputy {

class Graph;

// A number that is equal for equal structures within one process: the plan; the fields of nodes,
// their registrations and the tensors (graph_fields.h), arrays and affine quantisation by their
// contents; not the addresses of tensors' bytes, nor the bytes.
uint64_t GraphDigest(const Graph& graph);

}  // namespace deputy

#endif  // DEPUTY_CORE_GRAPH_GRAPH_DIGEST_H_
