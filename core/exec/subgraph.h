// SPDX-License-Identifier: Apache-2.0
//
// One subgraph of a model that runs: its tensors, its nodes, the plan that Invoke walks, and the
// memory under them. The C context that kernels and delegates see is part of it;
// core/exec/context.cc is the only bridge from that context's callbacks to these methods.
//
// The implementation is in eight files: subgraph.cc (tensors and nodes), build_tensors.cc (those of
// the model), allocate.cc (prepare), lay_out.cc (memory), invoke.cc, subgraph_steps.cc (nodes that
// run together), subgraph_runtime.cc (what kernels may use), and subgraph_call.cc (as other
// subgraphs call it).
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
#include "core/exec/in_place.h"
#include "core/exec/shared_shapes.h"
#include "core/exec/steps.h"
#include "core/graph/graph.h"
#include "core/graph/graph_index.h"
#include "core/kernel_api/runtime.h"
#include "core/model/model.h"

namespace deputy {

class InterpreterState;

// Where one tensor lies, for tools.
struct TensorMemory {
  int tensor = 0;
  bool persistent = false;  // in the block whose contents survive between inferences
  size_t offset = 0;
  size_t bytes = 0;
  Lifetime lifetime;
  int owner = 0;  // the tensor whose place it takes; itself
};

// How long a node has taken so far, as far as it was measured.
struct NodeCost {
  int64_t runs = 0;
  int64_t total_ns = 0;
  int64_t reported_ns = 0;  // by a delegate, for a node of its partition
};

class Subgraph final : public Runtime, public CallableSubgraph {
 public:
  // `interpreter` outlives the subgraph. `desc` outlives it too (it is part of the shared model).
  Subgraph(InterpreterState* interpreter, int index, const SubgraphDesc* desc,
           MakeDelegateParts make_delegate_parts);
  ~Subgraph();
  Subgraph(const Subgraph&) = delete;
  Subgraph& operator=(const Subgraph&) = delete;

  // The subgraph behind one of our contexts, null for any other.
  static Subgraph* Of(const TfLiteContext* context);

  // ---- Structure -------------------------------------------------------------------------------
  TfLiteContext* context() { return &context_; }
  InterpreterState* interpreter() const { return interpreter_; }
  int index() const { return index_; }
  const char* name() const { return desc_->name; }
  // False where no delegate is offered the nodes: upstream's subgraphs for validation, by their
  // name, and bodies that nobody runs.
  bool is_for_delegates() const;
  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }

  // What is most often needed of the graph.
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

  // Adds zeroed tensors (type NoType, no memory, handle -1). Error for a negative count or past
  // the limits.
  TfLiteStatus AddTensors(int count, int* out_first_index);

  // Sets the model's tensors, inputs, outputs and variables. Called once, by the builder.
  TfLiteStatus BuildTensors();

  // Appends a node and calls its init. `builtin_data` (malloc) is owned from here on in every case.
  // The node joins the plan.
  struct NewNode {
    std::span<const int32_t> inputs, outputs, intermediates;
    void* builtin_data = nullptr;
    std::span<const uint8_t> custom_options;
    TfLiteRegistration registration{};
  };
  TfLiteStatus AddNode(const NewNode& node);

  // ---- Life ------------------------------------------------------------------------------------
  TfLiteStatus ResizeInputTensor(int tensor_index, std::span<const int> dims);
  // Rank and all dims but those the signature leaves open must stay.
  TfLiteStatus ResizeInputTensorStrict(int tensor_index, std::span<const int> dims);
  TfLiteStatus AllocateTensors();
  // Memory is planned: Invoke may be called.
  bool ready() const { return state_ != State::kUninvokable; }
  // The next AllocateTensors starts from scratch.
  void RequireAllocation();
  // Runs the plan, and then brings outputs that a delegate left on its device back to the CPU,
  // unless `allow_stale_outputs`.
  TfLiteStatus Invoke(bool allow_stale_outputs);
  TfLiteStatus ResetVariableTensors();
  TfLiteStatus SetCustomAllocation(int tensor_index, const TfLiteCustomAllocation& allocation,
                                   int64_t flags);
  // Writes saved bytes to the tensors they came from, where those still have that size.
  void PutBack(const SavedContents& contents) { contents.PutBack(graph_.tensors()); }
  // Brings device data back to the CPU when the tensor is stale.
  TfLiteStatus EnsureReadable(int tensor_index);

  // Has the tensor's delegate copy its data into the tensor's memory, and clears the stale bit.
  TfLiteStatus CopyFromDelegate(int tensor_index);
  // Has the tensor's delegate free its buffer handle; the tensor has both. False when the delegate
  // has no function for that.
  bool FreeBufferHandle(int tensor_index);

  // abi.md 4.5: `new_dims` is owned from here on, also on failure.
  TfLiteStatus ResizeTensor(TfLiteTensor* tensor, TfLiteIntArray* new_dims);

  DelegateLayer& delegation() const { return *delegate_parts_.layer; }
  NodeFallback& fallback() const { return *delegate_parts_.fallback; }

  // Where nodes run. Holds until the plan changes.
  const GraphIndex& graph_index();

  // Where the tensors of the prepared plan lie: those of the arena first, then those of the block
  // that lasts, each by their number.
  size_t placed_tensor_count() const {
    return arena_.placed().size() + persistent_.placed().size();
  }
  TensorMemory placed_tensor(size_t entry) const;
  // What the node took while operators were observed.
  void NoteCost(int node_index, int64_t taken_ns) noexcept;
  void NoteReported(int node_index, int64_t taken_ns) noexcept;
  NodeCost cost(int node_index) const {
    return static_cast<size_t>(node_index) < costs_.size() ? costs_[node_index] : NodeCost{};
  }
  // The head of the step in which the node runs, itself perhaps, and how many there are; -1 and 0:
  // it runs by itself.
  int step_head(int node_index, int* out_nodes);
  // The pixels of its output, or of its step's, that are computed.
  PixelStride output_stride(int node_index);
  // What computes the node on the CPU, of an operator that has several implementations; "" where
  // that is not known.
  const char* implementation(int node_index) const;
  const Arena& arena() const { return arena_; }
  const Arena& persistent() const { return persistent_; }
  size_t arena_bytes() const { return arena_.bytes(); }
  size_t persistent_bytes() const { return persistent_.bytes(); }

  // ---- For the layer that applies delegates ----------------------------------------------------
  // Everything prepared and laid out was for another graph: it has to be allocated.
  void SetUninvokable() { state_ = State::kUninvokable; }
  // A static delegate is applied: shapes can change no more without an undo. Memory is planned.
  void SetImmutable() { state_ = State::kInvokableAndImmutable; }
  bool immutable() const { return state_ == State::kInvokableAndImmutable; }
  // The model's own graph is sound; else no node of it may be prepared.
  bool consistent() const { return consistent_; }

  // The plan is this from now on.
  void SetPlan(std::vector<int> plan) noexcept {
    graph_.SetPlan(std::move(plan));
    PlanHasChanged();
  }
  void AppendToPlan(int node) {
    graph_.AppendToPlan(node);
    PlanHasChanged();
  }
  // To be called when the graph's plan was set by another way.
  void PlanHasChanged() noexcept {
    graph_index_.reset();
    steps_.ForgetFrom(0);
  }
  // Before a delegate gets pointers to nodes: it may keep them over a few replacements.
  void ReserveNodes();
  // Frees the nodes from `count` on, those of the plan first. The plan is the caller's to mend.
  void RemoveNodesFrom(int count) noexcept;
  // Kernels and delegates may write a node's arrays; wrong entries become "absent", and an error.
  TfLiteStatus CheckNodeIndices(int node_index);
  // Orders between plan positions that no tensor expresses.
  std::vector<PartitionGraph::ControlEdge> ControlEdges() const;

  // Prepares and lays out from scratch, whatever the state was.
  TfLiteStatus Reallocate();
  // Prepares the nodes of a plan from the first on, up to the first dynamic output.
  TfLiteStatus PrepareAll(const std::vector<int>& plan, bool* out_dynamic);
  // Likewise, up to the first node without a kernel; gives tensors the shapes that nodes compute.
  TfLiteStatus PropagateShapes(const std::vector<int>& plan);
  TfLiteStatus PrepareNode(int node_index, bool* out_dynamic);
  // The kernel's prepare alone; indices that it leaves behind are checked.
  TfLiteStatus RunPrepare(int node_index);
  // Gives a tensor of an arena its address there, or null where it has none.
  void PointIntoArena(int tensor_index);

  // The node's inputs are on the CPU and have data, or an error is reported.
  TfLiteStatus CheckInputs(int node_index);
  // The kernel's invoke, or its StepOffer::run if `step` is not null.
  TfLiteStatus RunKernel(int node_index, const StepRun* step = nullptr);
  // Reports that a node failed in `step`, with its own reason; returns `status`.
  TfLiteStatus ReportNodeFailure(int node_index, TfLiteStatus status, const char* step);

  // ---- CallableSubgraph: calls by other subgraphs ----------------------------------------------
  size_t input_count() const override { return inputs().size(); }
  size_t output_count() const override { return outputs().size(); }
  size_t operator_count() const override { return desc_->operators.size(); }
  TfLiteBuiltinOperator operator_code(size_t n) const override;
  TfLiteStatus InferOutputs(std::span<const CallInput> inputs,
                            std::vector<CallOutput>* out_outputs) override;
  TfLiteStatus Call(std::span<const CallInput> inputs) override;
  const TfLiteTensor* output(size_t n) override { return tensor(outputs()[n]); }
  // Gives the inputs types and shapes. Where they had others, the subgraph needs allocation.
  TfLiteStatus ShapeInputs(std::span<const CallInput> inputs);

  // ---- Runtime: what builtin kernels may use ---------------------------------------------------
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
  void OfferStep(const TfLiteNode* node, const StepOffer& offer) override;
  void OfferViews(const TfLiteNode* node, const ViewOffer& offer) override;
  TfLiteNode* step_node(int node_index) override { return graph_.node(node_index); }
  void NoteFailure(const char* text) override;
  void Report(const char* format, va_list args) override;

 private:
  enum class State { kUninvokable, kInvokable, kInvokableAndImmutable };

  // build_tensors.cc
  TfLiteStatus BuildTensor(const TensorDesc& desc, TfLiteTensor* tensor);

  // subgraph.cc
  TfLiteStatus CheckIndices(const char* what, std::span<const int32_t> indices, bool allow_absent);
  // A call of one of the node's functions.
  ForeignCall CallOf(Callback callback, int node_index);
  // The kernel's init. A failure is reported; the node stays.
  TfLiteStatus InitNode(int node_index, std::span<const uint8_t> custom_options);
  void FreeNode(int node_index);
  TfLiteStatus ComputeBytes(const TfLiteTensor& tensor, const TfLiteIntArray& dims, size_t* bytes);

  // allocate.cc
  // Error, in upstream's words, where the model was found wrong: nothing of it may be prepared.
  TfLiteStatus CheckConsistent();
  void DropIdleTemporaries();
  TfLiteStatus PrepareAndAllocate();
  TfLiteStatus PrepareFrom(int position, int* out_last_prepared);
  TfLiteStatus OwnDelegateOutputs(int node_index);
  // What the kernels of the plan asked for in their prepare.
  TfLiteStatus PackConstants();
  struct PackRequest;
  // visit(tensor) for the constants that their nodes read.
  template <typename Visit>
  void ForEachConstantToPack(const std::vector<PackRequest>& requests, const Visit& visit) const;
  // Some output of the node is a computed shape (IsComputedShape).
  bool HasComputedShape(int node_index) const;
  // Puts back shapes that a node's prepare has changed under earlier nodes; false if there were
  // any, with the text of the failure noted.
  bool KeepShapes(const std::vector<SharedShape>& shared);
  void NoteReaders();

  // lay_out.cc
  // Nodes below `first_new` keep what they have.
  TfLiteStatus LayOut(int first_new, int last_prepared);
  std::vector<Lifetime> Lifetimes(int last_prepared) const;
  // What the arena shall hold: nodes from `first_new` on are laid out for the first time.
  std::vector<Arena::Slot> ArenaSlots(int first_new, int last_prepared,
                                      const std::vector<Lifetime>& lifetimes) const;
  void MarkIdle(int first_new, int last_prepared, std::vector<Arena::Slot>* slots) const;
  void KeepOwners(const std::vector<Lifetime>& lifetimes, std::vector<Arena::Slot>* slots) const;
  // What the in-place pass leaves alone, and the nodes that it looks at.
  std::vector<bool> UnsharedTensors() const;
  std::vector<InPlaceNode> InPlaceNodes(int first_new, int last_prepared) const;
  void PointTensorsIntoArenas();
  TfLiteStatus VerifyCustomAllocations();
  bool IsInside(int tensor_index) const;

  // subgraph_steps.cc
  // The steps of the nodes that have just been prepared.
  void FormSteps(int first_new, int last_prepared);
  // Has the scratch announced that steps take, where that is more than their nodes take.
  void AnnounceSteps();
  // Steps that read constants which are there need not wait for the nodes that make them.
  void NoteReadsAhead();
  // Layers are known by their positions; nodes may have moved.
  void FindLayerNodes(PlannedStep* step);
  StepNode StepNodeAt(int position) const;
  std::vector<StepTensor> StepTensors() const;
  // The tensors whose memory the output of the follower at `position` must not take over: it may be
  // written when the head runs.
  std::vector<int> KeptForStep(const PlannedStep& step, int position) const;
  bool TakesPart(int node_index) const;
  // None where steps are off.
  ViewOffer ViewsOf(int node_index) const;
  bool StepFitsNow(PlannedStep* step) const;
  bool MeetsClients(const PlannedStep& step) const;
  bool CanRunStep(PlannedStep* step) const;
  // True: the node at `position` need not run now, its step does its work later.
  bool WaitsForStep(int position);
  // The head with all others, or by itself after those that have waited for it.
  TfLiteStatus RunStep(PlannedStep* step);
  void ForgetSubsampled(int first_position);
  void SpreadInputs(int node_index);

  // subgraph_call.cc
  TfLiteStatus CopyInput(const CallInput& from, TfLiteTensor* input);
  TfLiteStatus DescribeOutputs(bool shapes_known, std::vector<CallOutput>* out_outputs);

  // invoke.cc
  // Null without memory.
  NodeCost* CostOf(int node_index) noexcept;
  // Runs the node, or the step of which it is the head; a failure is reported.
  TfLiteStatus RunNode(int node_index, const StepRun* step = nullptr);
  TfLiteStatus RunPlan(bool allow_stale_outputs);
  TfLiteStatus WalkPlan();
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
  // Plan positions below this have been prepared with the current shapes.
  int next_to_prepare_ = 0;
  // Set when a kernel changes the shape of a tensor, cleared before each invoke.
  bool tensor_resized_ = false;
  std::vector<bool> read_;       // per tensor: some node of the plan, or the caller, reads it
  std::vector<NodeCost> costs_;  // by node index
  // Of nodes that were prepared since the last PackConstants.
  struct PackRequest {
    int node_index = -1;
    TfLiteStatus (*pack)(TfLiteContext*, TfLiteNode*) = nullptr;
  };
  std::vector<PackRequest> pack_requests_;
  int preparing_node_ = -1;                   // its prepare runs now
  std::vector<StepOffer> offers_;             // by node index; of the last prepare
  std::vector<ViewOffer> view_offers_;        // likewise
  std::vector<const char*> implementations_;  // likewise
  PlanSteps steps_;
  std::vector<bool> has_contents_;  // by tensor: constants that kernels have made
  bool has_walked_ = false;         // the whole plan, since steps were formed
  // Since steps were formed a client has brought memory for what nodes make for each other: it may
  // look at all of it, which steps leave out, and at what comes of it.
  bool client_looks_inside_ = false;
  std::vector<PixelStride> subsampled_;  // by tensor: what the step that made it left of it
  CallShapes call_shapes_;
  std::unique_ptr<GraphIndex> graph_index_;
  const DelegateParts delegate_parts_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_SUBGRAPH_H_
