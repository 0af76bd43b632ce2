// SPDX-License-Identifier: Apache-2.0
//
// Who makes which tensor of a subgraph. Kernels are prepared and run in the order of the file, each
// for the shapes it finds; so a tensor has one producer, which comes before all its
// consumers, and what the file or the caller provides has none. Anything else lets a kernel read or
// write behind the memory that was planned for another one's idea of the tensor.
//
// Two kinds of tensors are exempt, because several nodes write them by design: variables, which
// live from one inference to the next, and what a custom operator works on in place. What remains
// unsafe about those shows only when they are prepared: see core/exec/shared_shapes.h.
#ifndef DEPUTY_CORE_MODEL_TENSOR_MAKERS_H_
#define DEPUTY_CORE_MODEL_TENSOR_MAKERS_H_

#include <string>

#include "core/model/model_desc.h"

namespace deputy {

// The first violation as text; empty when there is none. All tensor indices of the subgraph are
// in range. Linear in nodes and their tensors.
std::string FindMakerFault(const ModelDesc& model, const SubgraphDesc& subgraph);

}  // namespace deputy

#endif  // DEPUTY_CORE_MODEL_TENSOR_MAKERS_H_
