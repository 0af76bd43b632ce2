// SPDX-License-Identifier: Apache-2.0
//
// Calls of the functions of a subgraph's nodes, and the reports about their failures.
#ifndef DEPUTY_CORE_EXEC_NODE_CALLS_H_
#define DEPUTY_CORE_EXEC_NODE_CALLS_H_

#include <cstdint>
#include <span>

#include "c_api/include/common.h"
#include "core/base/foreign_call.h"

namespace deputy {

struct SubgraphParts;

// Returns the description of a call of one of the node's functions, for observers.
ForeignCall CallOf(SubgraphParts* parts, Callback callback, int node_index);

// Calls the kernel's init. A failure is reported; the node stays in the table.
TfLiteStatus InitNode(SubgraphParts* parts, int node_index,
                      std::span<const uint8_t> custom_options);

// Frees the node's memory and calls the kernel's free.
void FreeNode(SubgraphParts* parts, int node_index);

// Validates the node's inputs, outputs and temporaries, which kernels and delegates may write;
// invalid entries become "absent", and the check fails.
TfLiteStatus CheckNodeIndices(SubgraphParts* parts, int node_index);

// Reports that a node failed; `phase` is the text "failed to invoke." or the like, followed by
// the reason; returns `status`.
TfLiteStatus ReportNodeFailure(SubgraphParts* parts, int node_index, TfLiteStatus status,
                               const char* phase);

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_NODE_CALLS_H_
