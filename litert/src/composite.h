// SPDX-License-Identifier: Apache-2.0
//
// Composites: operators with a name and a body, a subgraph that computes the same.
#ifndef DEPUTY_LITERT_SRC_COMPOSITE_H_
#define DEPUTY_LITERT_SRC_COMPOSITE_H_

#include <string>
#include <vector>

#include "litert/src/model.h"

namespace deputy::litert {

// Composites of these names are always compiled, and never.
inline constexpr char kNpuComposite[] = "odml.npu_call";
inline constexpr char kCpuComposite[] = "odml.cpu_call";

struct Composite {
  std::string name;
  LiteRtSubgraphT* body = nullptr;
};

// Returns true for a composite whose body has tensors of the same types as the operator.
bool ReadComposite(const LiteRtModelT& model, LiteRtOp op, Composite* out_composite);

// Returns true if a body has no variables, and computes each tensor that it returns.
bool IsPureBody(const LiteRtSubgraphT& body);

// Replaces composites of a subgraph by the operators of their bodies, if these are pure. Stores
// whether an operator was replaced.
LiteRtStatus InlineComposites(const std::vector<LiteRtOp>& ops, LiteRtModelT* model,
                              LiteRtSubgraphT* subgraph, bool* out_changes);

// Returns for each subgraph whether it is the body of a composite.
std::vector<bool> FindBodies(const LiteRtModelT& model);

// Empties the subgraphs of `bodies` that no operator and no signature uses; the indices of others
// do not change.
void ClearUnusedBodies(const std::vector<bool>& bodies, LiteRtModelT* model);

}  // namespace deputy::litert

#endif  // DEPUTY_LITERT_SRC_COMPOSITE_H_
