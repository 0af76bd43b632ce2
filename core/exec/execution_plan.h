// SPDX-License-Identifier: Apache-2.0
//
// A subgraph's plan, prepared for the shapes of its inputs: what kernels declared about their
// nodes, the fusion groups, and the memory of the tensors. Prepares the nodes and runs them.
//
// Nodes are prepared in plan order up to the first one whose output shape is known only after it
// has run. Memory is then planned for these nodes; the remaining nodes follow during Execute, after
// that node has run.
#ifndef DEPUTY_CORE_EXEC_EXECUTION_PLAN_H_
#define DEPUTY_CORE_EXEC_EXECUTION_PLAN_H_

#include <span>
#include <vector>

#include "c_api/include/common.h"
#include "core/exec/batch_segments.h"
#include "core/exec/memory_layout.h"
#include "core/exec/shared_shapes.h"
#include "core/fusion/fusion_plan.h"
#include "core/fusion/prepared_nodes.h"

namespace deputy {

class InterpreterState;
struct SubgraphParts;

class ExecutionPlan {
 public:
  using PackFunction = TfLiteStatus (*)(TfLiteContext*, TfLiteNode*);

  // Creates an unprepared plan. `parts` must outlive this object.
  explicit ExecutionPlan(SubgraphParts* parts);

  // ---- Prepare ---------------------------------------------------------------------------------
  // Discards the state of prepared nodes; keeps the blocks of memory.
  void Reset();
  // Prepares the nodes from the first on, and plans their memory. Reset must be called before.
  TfLiteStatus Prepare();
  // Prepares nodes in the order of `node_indices`, up to the first dynamic output, without memory.
  TfLiteStatus PrepareAll(const std::vector<int>& node_indices, bool* out_dynamic);
  // Prepares nodes up to the first one without a kernel or with a dynamic output, so that tensors
  // get the computed shapes.
  TfLiteStatus PropagateShapes(const std::vector<int>& node_indices);
  TfLiteStatus PrepareNode(int node_index, bool* out_dynamic);
  // Calls the kernel's prepare and validates the indices that it leaves in the node.
  TfLiteStatus RunPrepare(int node_index);
  // Returns true if all nodes are prepared.
  bool is_complete() const;
  // Exchanges the contents of two plans of one subgraph.
  void Swap(ExecutionPlan* other);

  // ---- Run -------------------------------------------------------------------------------------
  // Runs the nodes of the plan; prepares those that were not prepared yet.
  TfLiteStatus Execute();
  // Runs one node of the plan, which must be a delegate's and therefore in no fusion group.
  TfLiteStatus ExecuteDelegateNode(int node_index);
  // Copies stale inputs of other delegates to the CPU and checks that all inputs have data; reports
  // an error otherwise.
  TfLiteStatus CheckInputs(int node_index);
  // Calls the kernel's invoke, or its FusionOffer::run if `group` is not null.
  TfLiteStatus RunKernel(int node_index, const GroupRun* group = nullptr);

  // ---- Changes of the graph --------------------------------------------------------------------
  void NoteNewPlan() {
    fusion_.Clear();
    segments_.clear();
  }
  // Resizes a tensor (tensor_shapes.h). If a running node changes the shape of a dynamic output,
  // the nodes after it are prepared again.
  TfLiteStatus ResizeTensor(TfLiteTensor* tensor, TfLiteIntArray* new_dims);
  // Called when the client has provided memory for an intermediate tensor.
  void NoteClientReads() { fusion_.NoteClientReads(); }

  // ---- Declarations of the kernel whose prepare is running --------------------------------------
  // A call for another node than the one that is being prepared is ignored: a delegate may call a
  // kernel's prepare with a node that is not in the graph.
  void OfferFusion(const TfLiteNode* node, const FusionOffer& offer);
  void OfferViews(const TfLiteNode* node, const ViewOffer& offer);
  void RequestPacking(const TfLiteNode* node, PackFunction pack);
  void NoteImplementation(const char* name);
  // Returns the index of the node whose prepare is running; -1: none.
  int preparing_node() const { return preparing_node_; }
  // Called by a kernel whose prepare resets state that it keeps between inferences; see Runtime.
  void NoteState() { has_state_ = true; }
  bool has_state() const { return has_state_; }
  // Called by a kernel that has computed the contents of a constant; see Runtime.
  void NoteContents(int tensor_index);
  bool HasContents(int tensor_index) const;
  bool TensorIsRead(int tensor_index) const;

  // ---- Facts for tools -------------------------------------------------------------------------
  const MemoryLayout& memory() const { return memory_; }
  MemoryLayout& memory() { return memory_; }
  const PlanGroups& groups() const { return fusion_.groups(); }
  std::span<const BatchSegment> segments() const { return segments_; }
  // Returns the index of the head of the fusion group of the node at `position` (possibly that
  // node) and the number of the group's nodes; -1 and 0 if the node is not fused or `position` is
  // -1.
  int group_head(int position, int* out_nodes) const;
  // Returns the stride of the pixels that the node, or its group, computes of its output.
  PixelStride output_stride(int position) const;
  // Returns the name of the implementation that computes the node on the CPU, for operators with
  // several; "" if unknown.
  const char* implementation(int node_index) const;

 private:
  // A node's request to pack its constants; the node was prepared since the last PackConstants.
  struct PackRequest {
    int node_index = -1;
    PackFunction pack = nullptr;
  };

  // Functions that execution_plan.cc defines.
  bool IsPreparing(const TfLiteNode* node) const;
  PreparedNode& Preparing();
  void MarkReadTensors();
  TfLiteStatus PrepareAndAllocate();
  TfLiteStatus PrepareFrom(int position, int* out_last_prepared);
  // Forms the batch segments and the fusion groups of the nodes that were prepared now.
  TfLiteStatus FormGroups(int last_prepared);
  // Returns the size of the batch if the plan may have batch segments, else 0.
  int BatchSize(int last_prepared) const;
  // Prepares the nodes of a segment for a micro-batch; returns false if that is not possible.
  bool PrepareMicroBatch(std::span<const int> nodes, BatchSegment* segment);
  // Calls visit(first, last) for the positions from `first` to `last` in parts: each segment, with
  // the shapes of a micro-batch, and the positions between segments.
  template <typename Visit>
  void ForEachSection(int first, int last, const Visit& visit);
  // Returns the segment of a node, or null.
  BatchSegment* SegmentOf(int node_index);
  TfLiteStatus PlanMemory(int last_prepared);
  TfLiteStatus OwnDelegateOutputs(int node_index);
  // Calls the functions that kernels passed to RequestPacking.
  TfLiteStatus PackConstants();
  // Calls visit(tensor) for the constants that the nodes of the requests read.
  template <typename Visit>
  void ForEachConstantToPack(std::span<const PackRequest> requests, const Visit& visit) const;
  // Returns true if an output of the node is a computed shape (IsComputedShape).
  bool NeedsInferredShapes(int node_index) const;
  // Restores shapes that a node's prepare has changed for earlier nodes. If there are any, records
  // the failure and returns false.
  bool KeepShapes(const std::vector<SharedShape>& shared);
  const PlannedGroup* GroupAt(int position) const;

  // Functions that execute_plan.cc defines.
  FusionPlan::Conditions CurrentConditions() const;
  // Runs the nodes of a segment once per micro-batch, or node by node.
  TfLiteStatus RunSegment(BatchSegment* segment);
  TfLiteStatus RunNodeByNode(const BatchSegment& segment, MicroBatchView* view);
  TfLiteStatus InvokeNode(int position);
  TfLiteStatus InvokeKernel(int position);
  // Runs the node or, if `group` is not null, the group whose head it is; reports a failure.
  TfLiteStatus RunNode(int node_index, const GroupRun* group = nullptr);
  // Runs the whole group; or, if it cannot be fused now, the deferred nodes one by one and then the
  // node at its position.
  TfLiteStatus RunGroup(PlannedGroup* group);
  bool LostOutput(int position);

  SubgraphParts* const parts_;
  InterpreterState* const interpreter_;
  Graph* const graph_;
  PreparedNodes nodes_;
  FusionPlan fusion_;
  MemoryLayout memory_;
  SharedShapes shared_shapes_;
  // Position in the plan; the nodes before it are prepared with the current shapes.
  int next_to_prepare_ = 0;
  int preparing_node_ = -1;  // the node whose prepare is running
  // True: a kernel resized a tensor since the newest node began to run.
  bool tensor_resized_ = false;
  std::vector<bool> read_;          // by tensor: true if it may be read; see Runtime::TensorIsRead
  std::vector<bool> has_contents_;  // by tensor: true for constants that kernels have computed
  std::vector<PackRequest> pack_requests_;
  bool has_state_ = false;
  std::vector<BatchSegment> segments_;
  std::vector<int> segment_of_;  // by node: index of its segment, -1: none; unused without segments
  bool runs_each_node_ = false;  // true: a segment runs node by node
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_EXECUTION_PLAN_H_
