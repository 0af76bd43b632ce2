// SPDX-License-Identifier: Apache-2.0
//
// Delegates on one subgraph: applied, undone, redone and removed as wholes. What a delegate sees
// while its Prepare runs (plan, nodes, replacement, previews) is here too.
//
// The words: *undo* puts the original plan back but remembers the delegates, *redo* applies the
// remembered ones again, *remove* forgets them. A subgraph under a static delegate cannot change
// shape, so a resize undoes and the next allocation redoes (abi.md 5).
//
// The implementation is in two files: delegation.cc (apply, undo, redo, remove) and replacing.cc
// (what a delegate does while its Prepare runs).
#ifndef DEPUTY_CORE_DELEGATION_DELEGATION_H_
#define DEPUTY_CORE_DELEGATION_DELEGATION_H_

#include <memory>
#include <vector>

#include "c_api/include/common.h"
#include "core/base/partition.h"
#include "core/base/saved_contents.h"
#include "core/delegation/delegate_operators.h"
#include "core/delegation/delegate_records.h"
#include "core/delegation/fp16_weights.h"
#include "core/delegation/graph_snapshot.h"
#include "core/delegation/placement.h"

namespace deputy {

class PluginLibrary;
class Subgraph;

// Flags of a plain or opaque delegate (TfLiteDelegateFlags).
int64_t DelegateFlags(const TfLiteDelegate* delegate);

class Delegation {
 public:
  explicit Delegation(Subgraph* subgraph) : subgraph_(subgraph), records_(subgraph) {}
  ~Delegation();
  Delegation(const Delegation&) = delete;
  Delegation& operator=(const Delegation&) = delete;

  // abi.md 5.3. After kTfLiteDelegateError no delegate is left on this subgraph. Under the policy
  // Hot every failure leaves the subgraph as it was, and what succeeded can be taken back until
  // Commit.
  TfLiteStatus Apply(TfLiteDelegate* delegate);
  void TakeBack();
  void Commit() { transaction_.reset(); }
  // `why` is what reports say of the nodes that are the CPU's again.
  void Undo(const char* why);
  // Applies what was undone; nothing if nothing was. The first failure is answered and the
  // delegates behind it are forgotten. Under the policy Hot a delegate that fails is left out, the
  // others are applied, and the answer is Ok.
  TfLiteStatus Redo();
  // Undoes, forgets, and allocates for the CPU.
  TfLiteStatus Remove(const char* why);

  bool any_applied() const { return !applied_.empty(); }
  // Some nodes do not run because a delegate's node runs in their place.
  bool has_replaced_nodes() const { return !original_plan_.empty(); }
  // A delegate is being applied: what its kernels do now decides whether it stays.
  bool applying() const { return applying_; }
  // A node's kernel has been prepared; tensors from `first_added` on are what it added.
  void NotePrepared(int node_index, size_t first_added) {
    if (transaction_ != nullptr) transaction_->before.NotePrepared(node_index, first_added);
  }
  const std::vector<TfLiteDelegate*>& applied() const { return applied_; }
  // The plan before the first delegate; empty when none was ever applied.
  const std::vector<int>& original_plan() const { return original_plan_; }
  // What the nodes of that plan read in the model.
  const Fp16Weights& fp16_weights() const { return fp16_weights_; }
  bool requires_propagated_shapes() const;

  // What came of the delegates that were asked.
  const std::vector<DelegateRecord>& records() const { return records_.all(); }
  // By node index: where the caller wants nodes to run; empty if nothing was said.
  std::vector<PlacedNode>& placed_nodes() { return placed_nodes_; }

  // ---- Delegate mode: counted, the outermost pair swaps the context's functions ---------------
  void Enter();
  void Leave();
  int mode_depth() const { return mode_depth_; }

  // The context's functions in delegate mode. Arrays belong to this object until the next call of
  // the same function, previews until the mode ends.
  TfLiteStatus GetExecutionPlan(TfLiteIntArray** out_plan);
  TfLiteStatus GetNodeAndRegistration(int node_index, TfLiteNode** out_node,
                                      TfLiteRegistration** out_registration);
  TfLiteStatus Replace(const TfLiteRegistration& registration, const TfLiteIntArray* nodes,
                       TfLiteDelegate* delegate);
  TfLiteStatus Preview(const TfLiteIntArray* nodes, TfLiteDelegateParams** out_params,
                       int* out_count);

 private:
  friend class GraphSnapshot;

  // What taking back an apply needs.
  struct Transaction {
    explicit Transaction(Subgraph* subgraph);

    GraphSnapshot before;
    SavedContents contents;  // what the caller wrote, and variables
    bool was_ready = false;  // memory was planned
    bool was_immutable = false;
    bool asked = false;  // the delegate has been called
  };

  TfLiteStatus ApplySteps(TfLiteDelegate* delegate);
  TfLiteStatus ApplyToInconsistent(TfLiteDelegate* delegate);
  TfLiteStatus ApplyOrTakeBack(TfLiteDelegate* delegate);
  TfLiteStatus CallPrepare(TfLiteDelegate* delegate);
  TfLiteStatus CheckFullyDelegated();
  TfLiteStatus CheckStaticShapes();
  TfLiteStatus AllocateAfter(TfLiteDelegate* delegate, bool was_immutable, bool was_invokable);
  TfLiteStatus Restore();
  TfLiteStatus Cut(std::span<const int> nodes, std::vector<NodeSubset>* out_subsets);
  TfLiteStatus CutAllowed(const TfLiteIntArray* nodes, std::vector<NodeSubset>* out_subsets);
  bool MayTake(int node_index);
  bool DropBrokenGroups(const std::vector<NodeSubset>& subsets, std::vector<int>* nodes);
  void KeepLibrary(const TfLiteDelegate* delegate);
  TfLiteStatus AddMacroOp(const NodeSubset& subset, const TfLiteRegistration& registration,
                          TfLiteDelegate* delegate);
  TfLiteStatus AdoptRegistration(TfLiteDelegate* delegate, TfLiteRegistration* registration);
  TfLiteStatus AdoptOperator(TfLiteDelegate* delegate, TfLiteRegistration* registration);
  bool IsOperatorOfANode(const TfLiteOperator* op) const;
  TfLiteStatus RefuseOperatorOfANode();
  // Frees the nodes from `count` on.
  void CutNodes(int count) noexcept;
  bool IsApplied(const TfLiteDelegate* delegate) const;
  void RestorePlan();
  void ForgetTensors();
  void FreePreviews();
  void SetContextMode(bool delegate_mode);

  Subgraph* const subgraph_;
  std::vector<TfLiteDelegate*> applied_;
  std::vector<int> original_plan_;
  Fp16Weights fp16_weights_;
  bool undone_ = false;
  bool applying_ = false;
  bool warned_about_dynamic_tensors_ = false;
  int mode_depth_ = 0;
  TfLiteIntArray* plan_array_ = nullptr;
  std::vector<TfLiteDelegateParams*> preview_blocks_;
  std::vector<TfLiteDelegateParams> previews_;
  DelegateOperators operators_;
  std::vector<std::shared_ptr<const PluginLibrary>> libraries_;
  DelegateRecords records_;
  std::vector<PlacedNode> placed_nodes_;
  std::unique_ptr<Transaction> transaction_;  // the newest apply under Hot
};

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_DELEGATION_H_
