// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_TESTS_SUPPORT_THREADED_CONTEXT_H_
#define DEPUTY_TESTS_SUPPORT_THREADED_CONTEXT_H_

#include "core/base/thread_pool.h"
#include "core/kernel_api/runtime.h"
#include "kernels/cpu/cpu.h"

namespace deputy {

// A Runtime without an interpreter: threads, scratch memory, packed constants and limits.
class ThreadedContext final : public Runtime {
 public:
  explicit ThreadedContext(int threads) : pool_(threads) {
    owner_.runtime = this;
    context_.impl_ = &owner_;
    context_.ReportError = &ReportContextError;
    context_.GetExternalContext = &GetContextExternal;
  }
  TfLiteContext* get() { return &context_; }

  ThreadPool& pool() override { return pool_; }
  TileObserver* tile_observer() override { return nullptr; }
  Arithmetic arithmetic() const override { return Arithmetic::kDefault; }
  Precision precision() const override { return Precision::kFloat32; }
  const Limits& limits() const override { return limits_; }
  const CpuKernels& cpu() const override { return Cpu(); }
  ScratchArena& scratch() override { return scratch_; }
  Resources& resources() override { return resources_; }
  bool TensorIsRead(int) const override { return true; }
  bool HasDeclaredShape(int) const override { return false; }
  std::span<const int> DeclaredShape(int) const override { return {}; }
  CallableSubgraph* FindSubgraph(int) override { return nullptr; }
  bool TakeCancellation() override { return false; }
  PackedConstants& node_constants() override { return node_constants_; }
  const void* ReadConstant(const void* data, size_t bytes, void* to) override {
    return copy_ != nullptr && copy_(data, bytes, to) ? to : nullptr;
  }
  PackedConstants* PackedConstantsOf(const void*) override { return shared_; }
  void RequestPacking(const TfLiteNode*, TfLiteStatus (*)(TfLiteContext*, TfLiteNode*)) override {}
  void NoteContents(int) override {}
  bool HasContents(int) const override { return false; }
  void NoteImplementation(const char*) override {}
  void NoteState() override {}
  void OfferFusion(const TfLiteNode*, const FusionOffer&) override {}
  void OfferViews(const TfLiteNode*, const ViewOffer&) override {}
  TfLiteNode* group_node(int) override { return nullptr; }
  void NoteFailure(const char*) override {}
  void Report(const char*, va_list) override {}
  TfLiteExternalContext* external_context(TfLiteExternalContextType) override { return nullptr; }

  void Share(PackedConstants* shared) { shared_ = shared; }
  // From now on constants are treated as parts of a file, which `copy` reads.
  void CopyWith(bool (*copy)(const void* data, size_t bytes, void* to)) { copy_ = copy; }
  void Limit(size_t bytes) { limits_.max_block_bytes = bytes; }

 private:
  ThreadPool pool_;
  ScratchArena scratch_;
  Resources resources_;
  PackedConstants node_constants_;
  Limits limits_;
  PackedConstants* shared_ = nullptr;
  bool (*copy_)(const void* data, size_t bytes, void* to) = nullptr;
  TfLiteContext context_{};
  ContextOwner owner_;
};

}  // namespace deputy

#endif  // DEPUTY_TESTS_SUPPORT_THREADED_CONTEXT_H_
