// SPDX-License-Identifier: Apache-2.0
//
// Prepared plans of a subgraph for other shapes of its inputs than the current ones, so that a
// client that alternates shapes does not prepare the nodes again.
//
// Plans are kept only for graphs whose preparation clients cannot observe and that keep nothing
// between inferences: the graph is the model's, all kernels are Deputy's and stateless, no delegate
// is applied, no output shape depends on values, the client has provided no memory, and neither the
// policy Hot, verification nor an observer that needs exact tensors is in effect. Other plans are
// prepared in place.
#ifndef DEPUTY_CORE_EXEC_PLAN_CACHE_H_
#define DEPUTY_CORE_EXEC_PLAN_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

#include "c_api/include/common.h"
#include "core/exec/execution_plan.h"
#include "core/exec/prepared_state.h"

namespace deputy {

class PlanCache {
 public:
  // Creates an empty cache. The arguments must outlive this object. `current` is the plan that
  // runs; this object exchanges its contents.
  PlanCache(SubgraphParts* parts, ExecutionPlan* current) : parts_(parts), current_(current) {}

  // Called when a kernel that is not Deputy's was added.
  void NoteForeignKernel() { has_foreign_kernel_ = true; }

  // Records that the current plan was prepared, and for which shapes.
  void NotePrepared();
  // Discards all plans but the current one.
  void Clear() { idle_.clear(); }

  // Makes the plan for the shapes that the inputs have now current. Called if only these shapes
  // have changed since the current plan was prepared. Returns false if the plan must be prepared,
  // after InitNodes.
  bool Select();
  // Calls init of the kernels that have no user data since Select has made a new plan current.
  TfLiteStatus InitNodes();

  // Number of times that a plan of this subgraph was prepared.
  int64_t preparations() const { return preparations_; }
  // Number of bytes of tensors' memory in plans that are not current.
  size_t idle_bytes() const;

 private:
  using Shapes = std::vector<std::vector<int>>;  // shapes of the inputs
  struct Idle {
    Idle(SubgraphParts* parts, int model_tensors) : state(parts, model_tensors), plan(parts) {}
    PreparedState state;
    ExecutionPlan plan;
    Shapes shapes;
  };

  bool CanKeepCurrent() const;
  Shapes InputShapes() const;
  // Exchanges the current plan, which was prepared for other shapes than the inputs have now, and
  // an idle one. Strong exception guarantee.
  void Exchange(Idle* idle);

  SubgraphParts* const parts_;
  ExecutionPlan* const current_;
  Shapes shapes_;         // input shapes of the current plan, once it was prepared
  std::list<Idle> idle_;  // plans that are not current, least recently used first
  bool has_foreign_kernel_ = false;
  bool needs_init_ = false;
  int64_t preparations_ = 0;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_PLAN_CACHE_H_
