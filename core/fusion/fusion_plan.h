// SPDX-License-Identifier: Apache-2.0
//
// The fusion groups of a prepared plan: forms them from the kernels' offers, and decides during an
// inference whether a group can run as one. Calls no function of kernels except
// FusionOffer::announce.
#ifndef DEPUTY_CORE_FUSION_FUSION_PLAN_H_
#define DEPUTY_CORE_FUSION_FUSION_PLAN_H_

#include <functional>
#include <vector>

#include "core/fusion/fusion_groups.h"
#include "core/fusion/prepared_nodes.h"
#include "core/graph/graph.h"

namespace deputy {

class FusionPlan {
 public:
  // Conditions of the current inference.
  struct Conditions {
    bool runs_each_node = false;     // an observer needs every node to run by itself
    bool has_client_memory = false;  // the client has provided memory for a tensor
  };

  // Creates a plan without groups. The arguments must outlive this object. `nodes` are the
  // declarations from which groups are formed.
  FusionPlan(Graph* graph, const PreparedNodes* nodes) : graph_(graph), nodes_(nodes) {}

  // Discards the groups with nodes at `first_new` or later.
  void Discard(int first_new);
  // Forms the groups of the nodes at positions `first` to `last`, which must have none.
  void Form(int first, int last);
  // Discards all groups, because the plan has changed.
  void Clear() { groups_.ForgetFrom(0); }
  // Exchanges the groups of two objects for the same graph.
  void Swap(FusionPlan* other);

  const PlanGroups& groups() const { return groups_; }
  // Returns the group that runs at the position, or null.
  PlannedGroup* RunningAt(int position) { return groups_.RunningAt(position); }

  // Calls FusionOffer::announce for groups that need more scratch memory than their nodes, among
  // those at positions `first` to `last`.
  void Announce(TfLiteContext* context, int first, int last);
  // Updates reads_late_constant of the groups at positions below `end`. has_contents(tensor)
  // returns true for a computed constant that has its contents.
  void UpdateLateConstants(int end, const std::function<bool(int tensor)>& has_contents);

  // ---- During an inference. None of these functions allocates memory. --------------------------
  // Returns true if the node at `position` is deferred: its group computes it later.
  bool Defers(int position, const Conditions& conditions);
  // Returns true if the group can run as one now.
  bool CanRun(PlannedGroup* group, const Conditions& conditions);
  // Returns true if the node waits for its group, and ends that state.
  bool EndWait(int position);
  // Prepares the run of a group, as one or by its nodes.
  void BeginGroup(PlannedGroup* group);
  // Records that a group has run as one: the stride of its output, and the nodes that are done.
  void NoteRun(const PlannedGroup& group);
  // Expands subsampled inputs to full images, with undefined pixels between, for a node that runs
  // unfused although it has a group.
  void ExpandInputs(int node_index);
  // Called when the whole plan was executed since groups were formed.
  void NotePlanRun() { has_run_plan_ = true; }

  // Called when the client has provided memory for an intermediate tensor: it may read all of the
  // tensor's contents, including those that fusion does not write. In effect until all groups are
  // formed again.
  void NoteClientReads() { client_reads_intermediates_ = true; }
  bool client_reads_intermediates() const { return client_reads_intermediates_; }

 private:
  bool CanBeFused(int node_index) const;
  GroupNode NodeAt(int position) const;
  std::vector<PlanTensor> Tensors() const;
  // Sets the node pointers of layers from their positions; nodes may have moved.
  void FindLayerNodes(PlannedGroup* group);
  bool IsAliasFreeNow(PlannedGroup* group) const;
  bool TouchesClientMemory(const PlannedGroup& group, const Conditions& conditions) const;
  void ClearSubsampled(int first_position);

  Graph* const graph_;
  const PreparedNodes* const nodes_;
  PlanGroups groups_;
  bool has_run_plan_ = false;
  bool client_reads_intermediates_ = false;
  std::vector<PixelStride> subsampled_;  // by tensor: subsampling of its current contents
};

}  // namespace deputy

#endif  // DEPUTY_CORE_FUSION_FUSION_PLAN_H_
