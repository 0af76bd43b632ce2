// SPDX-License-Identifier: Apache-2.0
//
// Checks the producers of a subgraph's tensors. Kernels are prepared and run in the order of the
// file, each for the shapes at that time. So a tensor may have only one producer, which must
// precede its consumers; constants and the caller's inputs must have none. Otherwise a kernel could
// access memory out of the bounds that were planned for another shape of the tensor.
//
// Two kinds of tensors are exempt, because several nodes write them by design: variables, which
// persist between inferences, and tensors on which a custom operator works in place. Their faults
// are detected when nodes are prepared: see core/exec/shared_shapes.h.
#ifndef DEPUTY_CORE_MODEL_TENSOR_PRODUCERS_H_
#define DEPUTY_CORE_MODEL_TENSOR_PRODUCERS_H_

#include <string>

#include "core/model/model_desc.h"

namespace deputy {

// Returns the first violation as text; empty if there is none. All tensor indices of the subgraph
// must be in range. Linear in nodes and their tensors.
std::string FindProducerFault(const ModelDesc& model, const SubgraphDesc& subgraph);

}  // namespace deputy

#endif  // DEPUTY_CORE_MODEL_TENSOR_PRODUCERS_H_
