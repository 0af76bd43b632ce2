// SPDX-License-Identifier: Apache-2.0
//
// Services of a subgraph for its builtin kernels. The context's `impl_` leads to this
// object (ContextOwner).
#ifndef DEPUTY_CORE_EXEC_KERNEL_RUNTIME_H_
#define DEPUTY_CORE_EXEC_KERNEL_RUNTIME_H_

#include "core/kernel_api/runtime.h"

namespace deputy {

class ExecutionPlan;
class Subgraph;
struct SubgraphParts;

class KernelRuntime final : public Runtime {
 public:
  // Creates the services of a subgraph. The arguments must outlive this object. `plan` is the plan
  // that runs.
  KernelRuntime(SubgraphParts* parts, ExecutionPlan* plan) : parts_(parts), plan_(plan) {}

  Subgraph* subgraph() const;

  ThreadPool& pool() override;
  TileObserver* tile_observer() override;
  Arithmetic arithmetic() const override;
  Precision precision() const override;
  const Limits& limits() const override;
  const CpuKernels& cpu() const override;
  bool TensorIsRead(int tensor_index) const override;
  bool HasDeclaredShape(int tensor_index) const override;
  std::span<const int> DeclaredShape(int tensor_index) const override;
  CallableSubgraph* FindSubgraph(int index) override;
  bool TakeCancellation() override;
  ScratchArena& scratch() override;
  Resources& resources() override;
  PackedConstants* PackedConstantsOf(const void* data) override;
  PackedConstants& node_constants() override;
  const void* ReadConstant(const void* data, size_t bytes, void* to) override;
  void RequestPacking(const TfLiteNode* node,
                      TfLiteStatus (*pack)(TfLiteContext*, TfLiteNode*)) override;
  void NoteContents(int tensor_index) override;
  bool HasContents(int tensor_index) const override;
  void NoteImplementation(const char* name) override;
  void NoteState() override;
  void OfferFusion(const TfLiteNode* node, const FusionOffer& offer) override;
  void OfferViews(const TfLiteNode* node, const ViewOffer& offer) override;
  TfLiteNode* group_node(int node_index) override;
  void NoteFailure(const char* text) override;
  void Report(const char* format, va_list args) override;
  TfLiteExternalContext* external_context(TfLiteExternalContextType type) override;

 private:
  // Returns true if inputs of the graph differ from their declared shapes in dimension 0 only.
  bool OnlyTheBatchIsResized() const;
  SubgraphParts* const parts_;
  ExecutionPlan* const plan_;
  mutable Limits remaining_limits_;  // result of limits() with a memory budget
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_KERNEL_RUNTIME_H_
