// SPDX-License-Identifier: Apache-2.0
//
// A runnable subgraph of a model: its tensors, its nodes, the plan that Invoke executes, and their
// memory. It contains the C context of kernels and delegates; the context's callbacks call these
// methods only through core/exec/context.cc.
//
// The implementation is in eight files: subgraph.cc (tensors and nodes), build_tensors.cc (tensors
// of the model), allocate.cc (prepare), lay_out.cc (memory), invoke.cc, subgraph_fusion.cc (fusion
// groups), subgraph_runtime.cc (services for kernels), and subgraph_call.cc (calls by other
// subgraphs).
#ifndef DEPUTY_CORE_EXEC_SUBGRAPH_H_
#define DEPUTY_CORE_EXEC_SUBGRAPH_H_

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "c_api/include/common.h"
#include "core/base/arena.h"
#include "core/base/foreign_call.h"
#include "core/base/partition.h"
#include "core/base/saved_contents.h"
#include "core/exec/call_shapes.h"
#include "core/exec/delegate_layer.h"
#include "core/exec/shared_shapes.h"
#include "core/fusion/fusion_groups.h"
#include "core/fusion/in_place.h"
#include "core/graph/graph.h"
#include "core/graph/graph_index.h"
#include "core/kernel_api/runtime.h"
#include "core/model/model.h"

namespace deputy {

class InterpreterState;

// Memory of one tensor, for tools.
struct TensorMemory {
  int tensor = 0;
  bool persistent = false;  // in the block that persists between inferences
  size_t offset = 0;
  size_t bytes = 0;
  Lifetime lifetime;
  int owner = 0;  // the tensor whose memory it uses; itself if it has its own
};

// Accumulated run time of a node, as far as it was measured.
struct NodeCost {
  int64_t runs = 0;
  int64_t total_ns = 0;
  int64_t reported_ns = 0;  // reported by a delegate, for a node of its partition
};

class Subgraph final : public Runtime, public CallableSubgraph {
 public:
  // `interpreter` outlives the subgraph. `desc` outlives it too (it is part of the shared model).
  Subgraph(InterpreterState* interpreter, int index, const SubgraphDesc* desc,
           MakeDelegateParts make_delegate_parts);
  ~Subgraph();
  Subgraph(const Subgraph&) = delete;
  Subgraph& operator=(const Subgraph&) = delete;

  // Returns the subgraph of one of Deputy's contexts, null for any other context.
  static Subgraph* Of(const TfLiteContext* context);

  // ---- Structure -------------------------------------------------------------------------------
  TfLiteContext* context() { return &context_; }
  InterpreterState* interpreter() const { return interpreter_; }
  int index() const { return index_; }
  const char* name() const { return desc_->name; }
  // False if the nodes are not offered to delegates: upstream's validation subgraphs, recognised by
  // name, and bodies that are never run.
  bool is_for_delegates() const;
  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }

  // Shortcuts to the graph.
  const std::vector<int>& inputs() const { return graph_.inputs(); }
  const std::vector<int>& outputs() const { return graph_.outputs(); }
  const std::vector<int>& variables() const { return graph_.variables(); }
  const std::vector<int>& plan() const { return graph_.plan(); }
  int tensor_count() const { return graph_.tensor_count(); }
  TfLiteTensor* tensor(int index) { return graph_.tensor(index); }
  int IndexOf(const TfLiteTensor* tensor) const { return graph_.IndexOf(tensor); }
  int node_count() const { return graph_.node_count(); }
  TfLiteNode* node(int index) { return graph_.node(index); }
  const TfLiteRegistration& registration(int index) const { return *graph_.registration(index); }

  // Adds zeroed tensors (type NoType, no memory, handle -1). Fails for a negative count or beyond
  // the limits.
  TfLiteStatus AddTensors(int count, int* out_first_index);

  // Creates the model's tensors, inputs, outputs and variables. Called once, by the builder.
  TfLiteStatus BuildTensors();

  // Appends a node to the table and the plan and calls its init. Takes ownership of `builtin_data`
  // (malloc) in every case.
  struct NewNode {
    std::span<const int32_t> inputs, outputs, intermediates;
    void* builtin_data = nullptr;
    std::span<const uint8_t> custom_options;
    TfLiteRegistration registration{};
  };
  TfLiteStatus AddNode(const NewNode& node);

  // ---- Life ------------------------------------------------------------------------------------
  TfLiteStatus ResizeInputTensor(int tensor_index, std::span<const int> dims);
  // Rank and dimensions must stay, except for those that the signature leaves open.
  TfLiteStatus ResizeInputTensorStrict(int tensor_index, std::span<const int> dims);
  TfLiteStatus AllocateTensors();
  // True if memory is planned: Invoke may be called.
  bool ready() const { return state_ != State::kUninvokable; }
  // Forces the next AllocateTensors to start from scratch.
  void RequireAllocation();
  // Runs the plan; then copies outputs that are on a delegate's device to the CPU, unless
  // `allow_stale_outputs`.
  TfLiteStatus Invoke(bool allow_stale_outputs);
  TfLiteStatus ResetVariableTensors();
  TfLiteStatus SetCustomAllocation(int tensor_index, const TfLiteCustomAllocation& allocation,
                                   int64_t flags);
  // Restores saved bytes to their tensors, if those still have the same size.
  void Restore(const SavedContents& contents) { contents.Restore(graph_.tensors()); }
  // Copies device data to the CPU if the tensor is stale.
  TfLiteStatus EnsureReadable(int tensor_index);

  // Calls the tensor's delegate to copy its data into the tensor's memory, and clears the stale
  // bit.
  TfLiteStatus CopyFromDelegate(int tensor_index);
  // Calls the tensor's delegate to free its buffer handle; the tensor must have both. Returns false
  // if the delegate has no function for it.
  bool FreeBufferHandle(int tensor_index);

  // abi.md 4.5: takes ownership of `new_dims`, also on failure.
  TfLiteStatus ResizeTensor(TfLiteTensor* tensor, TfLiteIntArray* new_dims);

  DelegateLayer& delegation() const { return *delegate_parts_.layer; }
  NodeFallback& fallback() const { return *delegate_parts_.fallback; }

  // Index of the nodes' positions. Valid until the plan changes.
  const GraphIndex& graph_index();

  // Memory of the prepared plan's tensors: entries of the arena first, then those of the persistent
  // block, each by tensor index.
  size_t placed_tensor_count() const {
    return arena_.placed().size() + persistent_.placed().size();
  }
  TensorMemory placed_tensor(size_t entry) const;
  // Adds to the node's cost while operators are observed.
  void NoteCost(int node_index, int64_t taken_ns) noexcept;
  void NoteReported(int node_index, int64_t taken_ns) noexcept;
  NodeCost cost(int node_index) const {
    return static_cast<size_t>(node_index) < costs_.size() ? costs_[node_index] : NodeCost{};
  }
  // Returns the head of the node's fusion group (possibly itself) and the number of its nodes; -1
  // and 0 if the node is not fused.
  int group_head(int node_index, int* out_nodes);
  // Returns the stride of the pixels that the node, or its group, computes of its output.
  PixelStride output_stride(int node_index);
  // Returns the name of the implementation that computes the node on the CPU, for operators with
  // several; "" if unknown.
  const char* implementation(int node_index) const;
  const Arena& arena() const { return arena_; }
  const Arena& persistent() const { return persistent_; }
  size_t arena_bytes() const { return arena_.bytes(); }
  size_t persistent_bytes() const { return persistent_.bytes(); }

  // ---- For the layer that applies delegates ----------------------------------------------------
  // Called when the graph has changed: tensors must be allocated again.
  void SetUninvokable() { state_ = State::kUninvokable; }
  // A static delegate is applied: shapes cannot change without an undo. Memory is planned.
  void SetImmutable() { state_ = State::kInvokableAndImmutable; }
  bool immutable() const { return state_ == State::kInvokableAndImmutable; }
  // True if the model's own graph is valid; otherwise no node of it may be prepared.
  bool consistent() const { return consistent_; }

  // Replaces the plan.
  void SetPlan(std::vector<int> plan) noexcept {
    graph_.SetPlan(std::move(plan));
    PlanHasChanged();
  }
  void AppendToPlan(int node) {
    graph_.AppendToPlan(node);
    PlanHasChanged();
  }
  // Must be called when the graph's plan was set without SetPlan.
  void PlanHasChanged() noexcept {
    graph_index_.reset();
    groups_.ForgetFrom(0);
  }
  // Called before a delegate gets pointers to nodes, which it may keep over a few replacements.
  void ReserveNodes();
  // Frees the nodes from `count` on, those of the plan first. The caller must repair the plan.
  void RemoveNodesFrom(int count) noexcept;
  // Kernels and delegates may write a node's arrays; invalid entries become "absent", and the call
  // fails.
  TfLiteStatus CheckNodeIndices(int node_index);
  // Returns the orders between plan positions that no tensor expresses.
  std::vector<PartitionGraph::ControlEdge> ControlEdges() const;

  // Prepares nodes and plans memory from scratch, whatever the state was.
  TfLiteStatus Reallocate();
  // Prepares the nodes of a plan in order, up to the first dynamic output.
  TfLiteStatus PrepareAll(const std::vector<int>& plan, bool* out_dynamic);
  // Prepares nodes up to the first one without a kernel, so that tensors get the computed shapes.
  TfLiteStatus PropagateShapes(const std::vector<int>& plan);
  TfLiteStatus PrepareNode(int node_index, bool* out_dynamic);
  // Calls the kernel's prepare and validates the indices that it leaves in the node.
  TfLiteStatus RunPrepare(int node_index);
  // Sets the address of an arena tensor, null if it has none.
  void PointIntoArena(int tensor_index);

  // Checks that the node's inputs are on the CPU and have data; reports an error otherwise.
  TfLiteStatus CheckInputs(int node_index);
  // Calls the kernel's invoke, or its FusionOffer::run if `group` is not null.
  TfLiteStatus RunKernel(int node_index, const GroupRun* group = nullptr);
  // Reports that a node failed; `phase` is the text "failed to invoke." or the like, followed by
  // the reason; returns `status`.
  TfLiteStatus ReportNodeFailure(int node_index, TfLiteStatus status, const char* phase);

  // ---- CallableSubgraph: calls by other subgraphs ----------------------------------------------
  size_t input_count() const override { return inputs().size(); }
  size_t output_count() const override { return outputs().size(); }
  size_t operator_count() const override { return desc_->operators.size(); }
  TfLiteBuiltinOperator operator_code(size_t n) const override;
  TfLiteStatus InferOutputs(std::span<const CallInput> inputs,
                            std::vector<CallOutput>* out_outputs) override;
  TfLiteStatus Call(std::span<const CallInput> inputs) override;
  const TfLiteTensor* output(size_t n) override { return tensor(outputs()[n]); }
  // Sets types and shapes of the inputs. If they change, the subgraph needs allocation.
  TfLiteStatus ShapeInputs(std::span<const CallInput> inputs);

  // ---- Runtime: services for builtin kernels ----------------------------------------------------
  ThreadPool& pool() override;
  TileObserver* tile_observer() override;
  Arithmetic arithmetic() const override;
  Precision precision() const override;
  const Limits& limits() const override;
  bool TensorIsRead(int tensor_index) const override;
  bool HasDeclaredShape(int tensor_index) const override;
  CallableSubgraph* FindSubgraph(int index) override;
  bool TakeCancellation() override;
  ScratchArena& scratch() override;
  Resources& resources() override;
  PackedConstants* PackedConstantsOf(const void* data) override;
  PackedConstants& node_constants() override;
  bool CopyConstant(const void* data, size_t bytes, void* to) override;
  void RequestPacking(const TfLiteNode* node,
                      TfLiteStatus (*pack)(TfLiteContext*, TfLiteNode*)) override;
  void NoteContents(int tensor_index) override;
  bool HasContents(int tensor_index) const override;
  void NoteImplementation(const char* name) override;
  void OfferFusion(const TfLiteNode* node, const FusionOffer& offer) override;
  void OfferViews(const TfLiteNode* node, const ViewOffer& offer) override;
  TfLiteNode* group_node(int node_index) override { return graph_.node(node_index); }
  void NoteFailure(const char* text) override;
  void Report(const char* format, va_list args) override;

 private:
  enum class State { kUninvokable, kInvokable, kInvokableAndImmutable };

  // build_tensors.cc
  TfLiteStatus BuildTensor(const TensorDesc& desc, TfLiteTensor* tensor);

  // subgraph.cc
  TfLiteStatus CheckIndices(const char* what, std::span<const int32_t> indices, bool allow_absent);
  // Describes a call of one of the node's functions.
  ForeignCall CallOf(Callback callback, int node_index);
  // Calls the kernel's init. A failure is reported; the node stays in the table.
  TfLiteStatus InitNode(int node_index, std::span<const uint8_t> custom_options);
  void FreeNode(int node_index);
  TfLiteStatus ComputeBytes(const TfLiteTensor& tensor, const TfLiteIntArray& dims, size_t* bytes);

  // allocate.cc
  // Returns an error with upstream's text if the model is inconsistent: its nodes must not be
  // prepared.
  TfLiteStatus CheckConsistent();
  void DropIdleTemporaries();
  TfLiteStatus PrepareAndAllocate();
  TfLiteStatus PrepareFrom(int position, int* out_last_prepared);
  TfLiteStatus OwnDelegateOutputs(int node_index);
  // Calls the functions that kernels passed to RequestPacking.
  TfLiteStatus PackConstants();
  struct PackRequest;
  // Calls visit(tensor) for the constants that the nodes of the requests read.
  template <typename Visit>
  void ForEachConstantToPack(const std::vector<PackRequest>& requests, const Visit& visit) const;
  // Returns true if an output of the node is a computed shape (IsComputedShape).
  bool HasComputedShape(int node_index) const;
  // Restores shapes that a node's prepare has changed for earlier nodes; returns false if there
  // were any, after NoteFailure.
  bool KeepShapes(const std::vector<SharedShape>& shared);
  void MarkReadTensors();

  // lay_out.cc
  // Memory of nodes before position `first_new` is kept.
  TfLiteStatus LayOut(int first_new, int last_prepared);
  std::vector<Lifetime> Lifetimes(int last_prepared) const;
  // Returns the arena's slots; nodes from `first_new` on are planned for the first time.
  std::vector<Arena::Slot> ArenaSlots(int first_new, int last_prepared,
                                      const std::vector<Lifetime>& lifetimes) const;
  void MarkIdle(int first_new, int last_prepared, std::vector<Arena::Slot>* slots) const;
  void KeepOwners(const std::vector<Lifetime>& lifetimes, std::vector<Arena::Slot>* slots) const;
  // Inputs of the in-place pass: tensors that it must not share, and the nodes to consider.
  std::vector<bool> UnsharedTensors() const;
  std::vector<InPlaceNode> InPlaceNodes(int first_new, int last_prepared) const;
  void PointTensorsIntoArenas();
  TfLiteStatus VerifyCustomAllocations();
  bool IsInside(int tensor_index) const;

  // subgraph_fusion.cc
  // Forms the fusion groups of newly prepared nodes.
  void FormGroups(int first_new, int last_prepared);
  // Announces the scratch memory of groups that need more than their nodes.
  void AnnounceGroups();
  // Clears reads_late_constant of groups whose constants are already computed.
  void UpdateLateConstants();
  // Sets the node pointers of layers from their positions; nodes may have moved.
  void FindLayerNodes(PlannedGroup* group);
  GroupNode GroupNodeAt(int position) const;
  std::vector<PlanTensor> PlanTensors() const;
  // Returns the tensors whose memory the output of the node at `position` must not reuse: it may be
  // written when the head runs.
  std::vector<int> KeptForGroup(const PlannedGroup& group, int position) const;
  bool CanBeFused(int node_index) const;
  // Returns no views if fusion is disabled.
  ViewOffer ViewsOf(int node_index) const;
  bool IsAliasFreeNow(PlannedGroup* group) const;
  bool TouchesClientMemory(const PlannedGroup& group) const;
  bool CanRunGroup(PlannedGroup* group) const;
  // Returns true if the node at `position` is deferred: its group computes it later.
  bool DeferToGroup(int position);
  // Runs the whole group; or, if it cannot be fused now, the deferred nodes one by one and then the
  // node at this position.
  TfLiteStatus RunGroup(PlannedGroup* group);
  void ClearSubsampled(int first_position);
  void ExpandInputs(int node_index);

  // subgraph_call.cc
  TfLiteStatus CopyInput(const CallInput& from, TfLiteTensor* input);
  TfLiteStatus DescribeOutputs(bool shapes_known, std::vector<CallOutput>* out_outputs);

  // invoke.cc
  // Returns null if out of memory.
  NodeCost* CostOf(int node_index) noexcept;
  // Runs the node, or its group if it is the head; reports a failure.
  TfLiteStatus RunNode(int node_index, const GroupRun* group = nullptr);
  TfLiteStatus RunPlan(bool allow_stale_outputs);
  TfLiteStatus ExecutePlan();
  TfLiteStatus ReadOutputs();
  TfLiteStatus InvokeNode(int position);
  bool LostOutput(int position);

  InterpreterState* const interpreter_;
  const int index_;
  const SubgraphDesc* const desc_;
  TfLiteContext context_{};

  Graph graph_;
  std::vector<std::pair<int, TfLiteCustomAllocation>> custom_allocations_;

  State state_ = State::kUninvokable;
  bool consistent_ = true;
  Arena arena_, persistent_;
  SharedShapes shared_shapes_;
  // Nodes at positions below this are prepared with the current shapes.
  int next_to_prepare_ = 0;
  // Set when a kernel resizes a tensor, cleared before each invoke.
  bool tensor_resized_ = false;
  std::vector<bool> read_;       // per tensor: read by a node of the plan or the caller
  std::vector<NodeCost> costs_;  // by node index
  // A request of a node that was prepared since the last PackConstants.
  struct PackRequest {
    int node_index = -1;
    TfLiteStatus (*pack)(TfLiteContext*, TfLiteNode*) = nullptr;
  };
  std::vector<PackRequest> pack_requests_;
  int preparing_node_ = -1;                   // the node whose prepare is running
  std::vector<FusionOffer> offers_;           // by node index; from the last prepare
  std::vector<ViewOffer> view_offers_;        // by node index
  std::vector<const char*> implementations_;  // by node index
  PlanGroups groups_;
  std::vector<bool> has_contents_;  // by tensor: constants that kernels have computed
  bool has_run_plan_ = false;       // the whole plan was executed since groups were formed
  // Since groups were formed the client has provided memory for an intermediate tensor: it may read
  // all of its contents, including those that fusion does not write.
  bool client_reads_intermediates_ = false;
  std::vector<PixelStride> subsampled_;  // by tensor: subsampling of its current contents
  CallShapes call_shapes_;
  std::unique_ptr<GraphIndex> graph_index_;
  const DelegateParts delegate_parts_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_SUBGRAPH_H_
