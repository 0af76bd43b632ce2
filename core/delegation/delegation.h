// SPDX-License-Identifier: Apache-2.0
//
// Delegates on one subgraph: application, undo, redo and removal of whole delegates, and the
// functions that a delegate may call during its Prepare (plan, nodes, replacement, previews).
//
// Terms: *undo* restores the original plan but remembers the delegates, *redo* applies the
// remembered ones again, *remove* forgets them. A subgraph with a static delegate cannot change
// shape, so a resize undoes and the next allocation redoes (abi.md 5). Buffer handles of tensors
// survive an undo. Removing a delegate frees its handles through FreeBufferHandle at once, since
// the client may delete it afterwards.
//
// The implementation is in four files: delegation.cc (apply, undo, redo, remove),
// removed_handles.cc (buffer handles of removed delegates), replacing.cc (functions for a
// delegate's Prepare) and node_events.cc (events of operators in partitions).
#ifndef DEPUTY_CORE_DELEGATION_DELEGATION_H_
#define DEPUTY_CORE_DELEGATION_DELEGATION_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "c_api/include/common.h"
#include "c_api/include/deputy_layout.h"
#include "core/base/partition.h"
#include "core/base/saved_contents.h"
#include "core/delegation/applied_delegates.h"
#include "core/delegation/buffer_exchange.h"
#include "core/delegation/delegate_operators.h"
#include "core/delegation/fp16_weights.h"
#include "core/delegation/graph_snapshot.h"
#include "core/delegation/layout_nodes.h"
#include "core/delegation/placed_node.h"
#include "core/exec/subgraph.h"

namespace deputy {

class Delegation final : public DelegateLayer {
 public:
  explicit Delegation(Subgraph* subgraph)
      : subgraph_(subgraph),
        delegates_(&subgraph->graph()),
        buffers_(subgraph, &delegates_),
        layout_(subgraph) {}
  ~Delegation() override;
  Delegation(const Delegation&) = delete;
  Delegation& operator=(const Delegation&) = delete;

  // ---- DelegateLayer ---------------------------------------------------------------------------
  TfLiteStatus Apply(TfLiteDelegate* delegate) override;
  void Rollback() override;
  void Commit() override { transaction_.reset(); }
  void Undo(const char* why) override;
  TfLiteStatus Redo() override;
  TfLiteStatus Remove(const char* why) override;
  std::vector<TfLiteDelegate*> applied() const override { return delegates_.applied_handles(); }
  bool any_applied() const override { return !delegates_.applied().empty(); }
  const std::vector<int>& original_plan() const override { return original_plan_; }
  TfLiteStatus PropagateShapes() override;
  void NotePrepared(int node_index, size_t first_added) override {
    if (transaction_ != nullptr) transaction_->before.NotePrepared(node_index, first_added);
  }
  void AddRunHooks(std::vector<RunHook>* hooks) const override;
  bool CopiesConstants(int node_index) const override;
  void NegotiateBuffers() override { buffers_.Negotiate(); }
  void ReleaseBuffers() override { buffers_.Release(); }
  TfLiteStatus BeginRun() override { return buffers_.BeginRun(); }
  TfLiteStatus EndRun() override { return buffers_.EndRun(); }
  bool IsBound(int tensor) const override { return buffers_.IsBound(tensor); }
  bool ImportInput(int node_index, int tensor) override {
    return buffers_.ImportInput(node_index, tensor);
  }
  void SwapHandles(int node_index) override { buffers_.SwapHandles(node_index); }
  PartitionEvents EventsOf(int node_index) noexcept override;
  void EnterDelegateMode() override;
  void LeaveDelegateMode() override;
  TfLiteStatus GetExecutionPlan(TfLiteIntArray** out_plan) override;
  TfLiteStatus GetNodeAndRegistration(int node_index, TfLiteNode** out_node,
                                      TfLiteRegistration** out_registration) override;
  TfLiteStatus Replace(const TfLiteRegistration& registration, const TfLiteIntArray* nodes,
                       TfLiteDelegate* delegate) override;
  TfLiteStatus Preview(const TfLiteIntArray* nodes, TfLiteDelegateParams** out_params,
                       int* out_count) override;

  // Queries which nodes of the plan a delegate supports, without applying it. Requires
  // CanQuerySupport. The results are in the record of `delegate`, which belongs to the caller.
  // Returns an error if the delegate fails or the shapes cannot be computed; it is reported, but
  // the same dynamic shapes only once.
  TfLiteStatus QuerySupport(AppliedDelegate* delegate);

  // True while a delegate is being applied: a failure of its kernels then rejects it.
  bool applying() const { return delegates_.current() != nullptr; }
  // Number of nested switches to delegate mode.
  int mode_depth() const { return mode_depth_; }
  // Returns the delegates that were offered, with their records.
  const AppliedDelegates& delegates() const { return delegates_; }
  BufferExchange& buffers() { return buffers_; }
  LayoutNodes& layout() { return layout_; }
  // Returns how a node relates to delegates in NCHW.
  DeputyNodeLayout LayoutOf(int node_index) const;
  // Returns a hash of the graph's structure and the applied delegates.
  uint64_t Digest() const;
  // Returns the float16 weights of the original plan's nodes.
  const Fp16Weights& fp16_weights() const { return fp16_weights_; }
  // Returns the client's placement constraints by node index; empty if there are none.
  std::vector<PlacedNode>& placed_nodes() { return placed_nodes_; }

 private:
  // State for the rollback of an application.
  struct Transaction {
    explicit Transaction(Subgraph* subgraph);

    GraphSnapshot before;
    AppliedDelegates::Order applied;
    std::vector<int> original_plan;
    bool undone;
    SavedContents contents;  // contents of inputs and variables
    size_t skippable_count;  // number of the interpreter's skippable subgraphs
    bool was_ready = false;  // true: memory was planned before
    bool was_immutable = false;
    bool called = false;  // true: the delegate was called
  };

  TfLiteStatus ApplySteps(const AppliedDelegate& delegate);
  TfLiteStatus ApplyToInconsistent(const AppliedDelegate& delegate);
  TfLiteStatus ApplyOrRollback(const AppliedDelegate& delegate);
  TfLiteStatus CallPrepare(const AppliedDelegate& delegate);
  TfLiteStatus CheckFullyDelegated();
  TfLiteStatus CheckStaticShapes();
  void PropagateShapesFor(const AppliedDelegate& delegate);
  void FindDynamicOutputs();
  std::string DynamicShapeRefusal() const;
  TfLiteStatus AllocateAfter(const AppliedDelegate& delegate, bool was_immutable,
                             bool was_invokable);
  TfLiteStatus RemoveUnlessHot();
  TfLiteStatus Restore();
  // Only `layout->graph` is set unless the current delegate computes in NCHW.
  TfLiteStatus Cut(std::span<const int> nodes, LayoutPlan* layout,
                   std::vector<NodeSubset>* out_subsets);
  TfLiteStatus CutAllowed(const TfLiteIntArray* nodes, LayoutPlan* layout,
                          std::vector<NodeSubset>* out_subsets);
  bool MayClaim(int node_index);
  bool CanConvert(int node_index);
  bool DropBrokenGroups(const std::vector<NodeSubset>& subsets, std::vector<int>* nodes);
  // The delegate that replaces nodes; the builder is null for a plain one.
  struct Replacer {
    TfLiteDelegate* delegate;
    const TfLiteOpaqueDelegateBuilder* builder;
  };
  TfLiteStatus AddLayout(const LayoutPlan& layout, std::vector<NodeSubset>* subsets);
  TfLiteStatus AddCpuNodes(const NodeSubset& subset, const LayoutPlan& layout);
  TfLiteStatus AddDelegateNode(const NodeSubset& subset, const TfLiteRegistration& registration,
                               const Replacer& replacer);
  TfLiteStatus AdoptRegistration(const Replacer& replacer, TfLiteRegistration* registration);
  TfLiteStatus AdoptOperator(const Replacer& replacer, TfLiteRegistration* registration);
  bool IsOperatorOfANode(const TfLiteOperator* op) const;
  TfLiteStatus RefuseOperatorOfANode();
  // Removes the nodes whose index is `count` or higher.
  void RemoveNodesFrom(int count) noexcept;
  // Stores the plan before the first delegate, for RestorePlan.
  void RememberPlan();
  void RestorePlan();
  void ForgetTensors();
  // Returns true if the delegate is applied or being applied, so that Remove removes it.
  bool WillBeRemoved(const TfLiteDelegate* delegate) const;
  // Copies graph inputs from the device of a delegate that will be removed, if their contents exist
  // only there.
  TfLiteStatus ReadBackInputs(SavedContents* out_contents);
  TfLiteStatus ReadBack(int tensor_index, SavedContents* out_contents);
  // Frees the buffer handles of delegates for which `is_removed` returns true.
  template <typename Predicate>
  void FreeHandles(const Predicate& is_removed);
  void FreeHandlesOfRemoved();
  // Frees the buffer handles of those delegates in `handles` (the client's pointers) that are no
  // longer applied.
  void FreeHandlesOfForgotten(std::span<TfLiteDelegate* const> handles);
  void FreePreviews();
  void SetContextMode(bool delegate_mode);

  Subgraph* const subgraph_;
  std::vector<int> original_plan_;
  int original_nodes_ = 0;  // number of nodes before the first delegate
  Fp16Weights fp16_weights_;
  bool undone_ = false;
  bool warned_about_dynamic_tensors_ = false;
  int mode_depth_ = 0;
  // Reason for the failure of the newest Prepare if it threw or made no report; else "".
  std::string prepare_problem_;
  // Reason for the rejection of a static delegate by the newest Apply or QuerySupport, if it was
  // dynamic shapes; cleared by the next Apply.
  std::string shape_refusal_;
  TfLiteIntArray* plan_array_ = nullptr;
  std::vector<TfLiteDelegateParams*> preview_blocks_;
  std::vector<TfLiteDelegateParams> previews_;
  DelegateOperators operators_;
  AppliedDelegates delegates_;
  BufferExchange buffers_;
  LayoutNodes layout_;
  std::vector<PlacedNode> placed_nodes_;
  std::unique_ptr<Transaction> transaction_;  // state before the newest application under Hot
};

// Returns the delegates of a subgraph whose layer was created by MakeDelegation.
inline Delegation& DelegationOf(const Subgraph* subgraph) {
  return static_cast<Delegation&>(subgraph->delegation());
}

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_DELEGATION_H_
