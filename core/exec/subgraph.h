// SPDX-License-Identifier: Apache-2.0
//
// A runnable subgraph of a model: its tensors and nodes, the plan that Invoke executes, and the
// delegates that were applied to it. It contains the C context of kernels and delegates; the
// context's callbacks call these methods only through core/exec/context.cc.
//
// The implementation is in three files: build_tensors.cc (tensors of the model), subgraph.cc
// (structure, shapes, control edges), subgraph_life.cc (allocation, inference).
#ifndef DEPUTY_CORE_EXEC_SUBGRAPH_H_
#define DEPUTY_CORE_EXEC_SUBGRAPH_H_

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "c_api/include/common.h"
#include "core/base/partition.h"
#include "core/base/saved_contents.h"
#include "core/exec/device_data.h"
#include "core/exec/execution_plan.h"
#include "core/exec/kernel_runtime.h"
#include "core/exec/node_costs.h"
#include "core/exec/plan_cache.h"
#include "core/exec/subgraph_parts.h"
#include "core/graph/graph.h"
#include "core/graph/graph_index.h"
#include "core/model/model.h"

namespace deputy {

class InterpreterState;

class Subgraph final {
 public:
  // Creates an empty subgraph. `interpreter` and `desc`, which is part of the shared model, must
  // outlive it.
  Subgraph(InterpreterState* interpreter, int index, const SubgraphDesc* desc,
           MakeDelegateParts make_delegate_parts);
  ~Subgraph();
  Subgraph(const Subgraph&) = delete;
  Subgraph& operator=(const Subgraph&) = delete;

  // Returns the subgraph of one of Deputy's contexts, null for any other context.
  static Subgraph* Of(const TfLiteContext* context);

  // ---- Structure -------------------------------------------------------------------------------
  SubgraphParts& parts() { return parts_; }
  TfLiteContext* context() { return &parts_.context; }
  InterpreterState* interpreter() const { return parts_.interpreter; }
  int index() const { return parts_.index; }
  const SubgraphDesc& desc() const { return *parts_.desc; }
  const char* name() const { return parts_.name; }
  // Returns false if the nodes are not offered to delegates: upstream's validation subgraphs,
  // recognised by name, and bodies that are never run.
  bool is_for_delegates() const;
  // True if the graph without delegates is valid; otherwise no node of it may be prepared.
  bool consistent() const { return InconsistencyOf(parts_).empty(); }
  // Number of tensors that the model or the client has added; later ones belong to kernels or
  // delegates.
  int declared_tensor_count() const;

  Graph& graph() { return parts_.graph; }
  const Graph& graph() const { return parts_.graph; }
  // Returns where each node runs (GraphIndex). Valid until the plan changes.
  const GraphIndex& graph_index();
  ExecutionPlan& execution_plan() { return plan_; }
  const ExecutionPlan& execution_plan() const { return plan_; }
  // Number that is different for each plan and its nodes; never 0.
  uint64_t plan_version() const { return plan_version_; }
  const PlanCache& plans() const { return plans_; }
  // Services for builtin kernels.
  KernelRuntime& runtime() { return runtime_; }
  NodeCosts& costs() { return costs_; }
  DelegateLayer& delegation() const { return *parts_.delegates.layer; }
  NodeFallback& fallback() const { return *parts_.delegates.fallback; }

  // Adds zeroed tensors (type NoType, no memory, handle -1). Fails for a negative count or beyond
  // the limits.
  TfLiteStatus AddTensors(int count, int* out_first_index);

  // Creates the model's tensors, inputs, outputs and variables. Called once, by the builder.
  TfLiteStatus BuildTensors();

  // Arguments of AddNode.
  struct NewNode {
    std::span<const int32_t> inputs, outputs, intermediates;
    void* builtin_data = nullptr;
    std::span<const uint8_t> custom_options;
    TfLiteRegistration registration{};
    bool is_own = false;        // true: the kernel is a builtin of this library
    bool is_delegates = false;  // true: the kernel is a delegate's
  };
  // Appends a node to the table and the plan and calls its init. Takes ownership of `builtin_data`
  // (malloc) in every case.
  TfLiteStatus AddNode(const NewNode& node);

  // ---- Life ------------------------------------------------------------------------------------
  // Fails, after a report that begins with the name of the client's call, while asynchronous runs
  // are in flight, or while a callback of the subgraph runs: a change of shapes or memory would
  // invalidate what its nodes have computed.
  TfLiteStatus CheckNotRunning(const char* call) const;
  TfLiteStatus ResizeInputTensor(int tensor_index, std::span<const int> dims);
  // Resizes an input whose rank and dimensions must stay, except for dimensions that the signature
  // leaves open.
  TfLiteStatus ResizeInputTensorStrict(int tensor_index, std::span<const int> dims);
  TfLiteStatus AllocateTensors();
  // True if memory is planned: Invoke may be called.
  bool ready() const { return state_ >= State::kInvokable; }
  // Forces the next AllocateTensors to prepare all nodes and to plan memory again.
  void RequireAllocation();
  // Called when something has changed for which nodes were prepared: prepares the current plan
  // again if it is ready, and restores the contents of inputs and variables.
  TfLiteStatus PrepareAgain();
  // Frees the arena. AllocateTensors must follow before the next Invoke.
  void ReleaseMemory();
  // Discards plans for other shapes, and pages of the arena whose contents are not needed between
  // inferences.
  void ReleaseIdleMemory() {
    plans_.Clear();
    plan_.memory().DiscardPages();
  }
  // Returns true if PrepareAgain changes no result: no kernel has state that a prepare may reset.
  // Delegates must permit that their nodes are prepared again.
  bool CanPrepareUnnoticed() const {
    return !ready() || (!plan_.has_state() && !parts_.has_client_kernel);
  }
  // Runs the plan; then copies outputs that are on a delegate's device to the CPU, unless
  // `allow_stale_outputs`.
  TfLiteStatus Invoke(bool allow_stale_outputs);
  // Fails if the model is inconsistent or no memory is planned.
  TfLiteStatus CheckInvokable();
  // Runs one delegate's node of the plan with the present contents of its inputs. Its outputs may
  // stay on the delegate's device.
  TfLiteStatus InvokeDelegateNode(int node_index);
  TfLiteStatus ResetVariableTensors();
  TfLiteStatus SetCustomAllocation(int tensor_index, const TfLiteCustomAllocation& allocation,
                                   int64_t flags);
  // Returns tensors with memory of the client to planned memory. AllocateTensors must follow.
  void ClearCustomAllocations() {
    RequireAllocation();
    parts_.custom_allocations.Clear();
  }
  // Restores saved bytes to their tensors, except to tensors whose size has changed.
  void Restore(const SavedContents& contents) { contents.Restore(parts_.graph.tensors()); }
  // Copies device data to the CPU if the tensor is stale (device_data.h).
  TfLiteStatus EnsureReadable(int tensor_index) {
    return deputy::EnsureReadable(&parts_, tensor_index);
  }
  TfLiteStatus CopyFromDelegate(int tensor_index) {
    return deputy::CopyFromDelegate(&parts_, tensor_index);
  }
  bool FreeBufferHandle(int tensor_index) {
    return deputy::FreeBufferHandle(&parts_, tensor_index);
  }

  // Resizes a tensor (abi.md 4.5). Takes ownership of `new_dims`, also on failure.
  TfLiteStatus ResizeTensor(TfLiteTensor* tensor, TfLiteIntArray* new_dims) {
    return plan_.ResizeTensor(tensor, new_dims);
  }
  // Sets types and shapes of the inputs. If they change, the subgraph needs allocation.
  TfLiteStatus ShapeInputs(std::span<const CallInput> inputs);

  // ---- For the layer that applies delegates ----------------------------------------------------
  // Called when the graph has changed: tensors must be allocated again.
  void SetUninvokable() { state_ = State::kUninvokable; }
  // Called when a static delegate is applied: the subgraph is ready, and shapes cannot change
  // without an undo.
  void SetImmutable() { state_ = State::kInvokableAndImmutable; }
  bool immutable() const {
    return state_ == State::kInvokableAndImmutable || state_ == State::kReleasedAndImmutable;
  }
  // Prepares nodes and plans memory from scratch, whatever the state was.
  TfLiteStatus Reallocate();

  // Replaces the plan.
  void SetPlan(std::vector<int> plan) noexcept {
    parts_.graph.SetPlan(std::move(plan));
    PlanHasChanged();
  }
  void AppendToPlan(int node) {
    parts_.graph.AppendToPlan(node);
    PlanHasChanged();
  }
  // Called when the graph's plan was set without SetPlan: discards what was derived from the old
  // plan.
  void PlanHasChanged() noexcept;
  // Reserves space in the node table. Called before a delegate gets pointers to nodes, which it may
  // keep over a few replacements.
  void ReserveNodes();
  // Frees the nodes whose index is `count` or higher, those of the plan first. The caller must
  // repair the plan.
  void RemoveNodesFrom(int count) noexcept;
  // Returns pairs of plan positions whose order no tensor expresses.
  std::vector<PartitionGraph::ControlEdge> ControlEdges() const;

 private:
  // kResized: like kUninvokable, but only shapes of inputs have changed since the plan was
  // prepared. kReleasedAndImmutable: like kInvokableAndImmutable, but the arena was freed.
  enum class State {
    kUninvokable,
    kResized,
    kReleasedAndImmutable,
    kInvokable,
    kInvokableAndImmutable
  };

  TfLiteStatus BuildTensor(const TensorDesc& desc, TfLiteTensor* tensor);
  TfLiteStatus CheckIndices(const char* what, std::span<const int32_t> indices, bool allow_absent);
  TfLiteStatus PrepareCurrentPlan();
  TfLiteStatus AllocateResized();
  void DropIdleTemporaries();
  bool IsInside(int tensor_index) const;
  TfLiteStatus RunPlan(bool allow_stale_outputs);
  TfLiteStatus ReadOutputs();

  SubgraphParts parts_;
  State state_ = State::kUninvokable;
  ExecutionPlan plan_;
  uint64_t plan_version_ = 1;
  PlanCache plans_;
  KernelRuntime runtime_;
  NodeCosts costs_;
  std::unique_ptr<GraphIndex> graph_index_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_SUBGRAPH_H_
