// SPDX-License-Identifier: Apache-2.0
//
// The parts of a subgraph that its plans and the functions on its nodes and tensors use.
#ifndef DEPUTY_CORE_EXEC_SUBGRAPH_PARTS_H_
#define DEPUTY_CORE_EXEC_SUBGRAPH_PARTS_H_

#include <memory>
#include <string>
#include <vector>

#include "c_api/include/common.h"
#include "core/base/error.h"
#include "core/exec/built_graph.h"
#include "core/exec/custom_allocations.h"
#include "core/exec/delegate_layer.h"
#include "core/exec/provided_memory.h"
#include "core/graph/graph.h"
#include "core/kernel_api/runtime.h"
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
        name(model_desc->name),
        inconsistency(model_desc->inconsistency),
        custom_allocations(&graph, number, reporter) {}
  SubgraphParts(const SubgraphParts&) = delete;
  SubgraphParts& operator=(const SubgraphParts&) = delete;

  Subgraph* const subgraph;  // the owner
  InterpreterState* const interpreter;
  const int index;
  const SubgraphDesc* const desc;
  const char* name;
  // Permanent error in the structure of the graph; empty if there is none.
  std::string inconsistency;
  // Changes that the client has made in code; null: the graph is that of the model.
  std::unique_ptr<BuiltGraph> built;
  int runs = 0;                    // number of SubgraphRun objects
  bool has_shared_states = false;  // signatures share tensors of the graph (SharedStates)
  bool has_client_kernel = false;  // a node has a kernel of the client
  TfLiteContext context{};
  ContextOwner context_owner;  // the context's impl_, unless the client has set another
  Graph graph{&context};
  CustomAllocations custom_allocations;
  ProvidedMemory provided_memory;
  DelegateParts delegates;
};

// Returns the first error in the structure of the graph, empty if there is none. Nodes of an
// inconsistent graph must not be prepared.
inline const std::string& InconsistencyOf(const SubgraphParts& parts) {
  if (parts.built == nullptr || !parts.inconsistency.empty()) return parts.inconsistency;
  const std::vector<int>& original = parts.delegates.layer->original_plan();
  return parts.built->Fault(parts.graph, original.empty() ? parts.graph.plan() : original);
}

// Returns an error with upstream's text if the graph is inconsistent.
inline TfLiteStatus CheckConsistent(const SubgraphParts& parts, ErrorReporter* reporter) {
  const std::string& inconsistency = InconsistencyOf(parts);
  if (inconsistency.empty()) return kTfLiteOk;
  return Fail(reporter, kTfLiteError, "AllocateTensors() called on inconsistent model.; %s",
              inconsistency.c_str());
}

// RAII guard: the subgraph is being prepared or run, or the init or free of one of its kernels
// runs.
class SubgraphRun {
 public:
  explicit SubgraphRun(SubgraphParts* parts) : parts_(parts) { ++parts->runs; }
  ~SubgraphRun() { --parts_->runs; }
  SubgraphRun(const SubgraphRun&) = delete;
  SubgraphRun& operator=(const SubgraphRun&) = delete;

 private:
  SubgraphParts* const parts_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_SUBGRAPH_PARTS_H_
