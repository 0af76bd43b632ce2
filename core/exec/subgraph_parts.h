// SPDX-License-Identifier: Apache-2.0
//
// The parts of a subgraph that its plans and the functions on its nodes and tensors use.
#ifndef DEPUTY_CORE_EXEC_SUBGRAPH_PARTS_H_
#define DEPUTY_CORE_EXEC_SUBGRAPH_PARTS_H_

#include "c_api/include/common.h"
#include "core/base/error.h"
#include "core/exec/custom_allocations.h"
#include "core/exec/delegate_layer.h"
#include "core/graph/graph.h"
#include "core/model/model_desc.h"

namespace deputy {

class InterpreterState;
class Subgraph;

struct SubgraphParts {
  // Creates the parts. All arguments must outlive this object. The delegates are set later.
  SubgraphParts(Subgraph* owner, InterpreterState* state, int number,
                const SubgraphDesc* model_desc, ErrorReporter* reporter)
      : subgraph(owner),
        interpreter(state),
        index(number),
        desc(model_desc),
        custom_allocations(&graph, number, reporter) {}
  SubgraphParts(const SubgraphParts&) = delete;
  SubgraphParts& operator=(const SubgraphParts&) = delete;

  Subgraph* const subgraph;  // the owner, for observers and delegates only
  InterpreterState* const interpreter;
  const int index;
  const SubgraphDesc* const desc;
  TfLiteContext context{};
  Graph graph{&context};
  CustomAllocations custom_allocations;
  DelegateParts delegates;
};

// Returns an error with upstream's text if the model is inconsistent: its nodes must not be
// prepared.
inline TfLiteStatus CheckConsistent(const SubgraphParts& parts, ErrorReporter* reporter) {
  if (parts.desc->inconsistency.empty()) return kTfLiteOk;
  return Fail(reporter, kTfLiteError, "AllocateTensors() called on inconsistent model.; %s",
              parts.desc->inconsistency.c_str());
}

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_SUBGRAPH_PARTS_H_
