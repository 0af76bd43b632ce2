// SPDX-License-Identifier: Apache-2.0
//
// Runs a signature by the asynchronous kernel of the delegate that has claimed the whole subgraph
// as one node. Functions and texts of reports are upstream's AsyncSignatureRunner.
//
// Upstream keeps pointers to node and kernel. Here the runner is bound to a kernel until the
// subgraph's plan changes; then all calls fail until Bind is called again.
#ifndef DEPUTY_CORE_ASYNC_ASYNC_SIGNATURE_RUNNER_H_
#define DEPUTY_CORE_ASYNC_ASYNC_SIGNATURE_RUNNER_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "core/async/async_kernel.h"
#include "core/async/execution_task.h"
#include "core/exec/signature_runner.h"

namespace deputy {

// No function throws, except for Bind and CreateTask (bad_alloc). Exceptions of the kernel are
// reported and become failures.
class AsyncSignatureRunner {
 public:
  // Returns the kernel of a node whose registration has no function for it; null: it has none.
  using FindKernelFunction = TfLiteAsyncKernel* (*)(Subgraph* subgraph, TfLiteNode* node);

  // `signature` must outlive the runner. Bind must follow.
  AsyncSignatureRunner(SignatureRunner* signature, FindKernelFunction find_kernel)
      : signature_(signature), find_kernel_(find_kernel) {}
  AsyncSignatureRunner(const AsyncSignatureRunner&) = delete;
  AsyncSignatureRunner& operator=(const AsyncSignatureRunner&) = delete;

  const SignatureRunner& signature() const { return *signature_; }
  Subgraph* subgraph() const { return signature_->subgraph(); }

  // Binds the runner to the kernel of the present plan unless it is bound to it. Reports if there
  // is none; then all calls fail.
  void Bind();

  TfLiteStatus RegisterBuffer(TfLiteIoType io_type, const TfLiteBackendBuffer* buffer,
                              const TfLiteAttributeMap* attrs, TfLiteBufferHandle* handle);
  TfLiteStatus RegisterBufferSlice(TfLiteBufferHandle pool, const TfLiteAttributeMap* attrs,
                                   TfLiteBufferHandle* handle);
  TfLiteStatus UnregisterBuffer(TfLiteBufferHandle handle);

  using Types = std::vector<const char*>;
  // SupportedBufferTypes and SupportedSynchronizations return null without a kernel and for a type
  // that is neither input nor output.
  const Types* SupportedBufferTypes(TfLiteIoType io_type) const;
  const Types* SupportedSynchronizations(TfLiteIoType io_type) const;

  // Returns the index of an input or output, -1 after a report if there is none.
  int FindTensor(TfLiteIoType io_type, const char* name) const;
  bool ReconcileRestrictions(int tensor_index, const TfLiteAttributeMap* user_provided_attributes,
                             TfLiteAttributeMap* merged, TfLiteAttributeMap* conflict) const;
  TfLiteStatus SetAttributes(int tensor_index, const TfLiteAttributeMap* attrs);
  TfLiteStatus PrepareBackends();

  TfLiteExecutionTask* CreateTask() const;
  // InvokeAsync and Wait may be called by several threads at the same time.
  TfLiteStatus InvokeAsync(TfLiteExecutionTask* task);
  TfLiteStatus Wait(TfLiteExecutionTask* task);
  // Deletes the task unless it belongs to another runner.
  TfLiteStatus Finish(TfLiteExecutionTask* task);

  // Returns an input or output by name, null after a report if there is none.
  const TfLiteTensor* InputTensor(const char* name) const;
  const TfLiteTensor* OutputTensor(const char* name) const;

 private:
  // Supported types of buffers and of synchronisation objects, of inputs and of outputs.
  struct Supported {
    Types buffers, synchronizations;
  };

  TfLiteAsyncKernel* FindKernel() const;
  void ReadSupported(TfLiteIoType io_type, Supported* supported) const;
  const Supported* SupportedOf(TfLiteIoType io_type) const;
  // Returns the kernel, null after a report if the plan has changed; null without a kernel.
  TfLiteAsyncKernel* kernel() const;
  TfLiteAsyncKernel* KernelOf(const TfLiteExecutionTask* task) const;
  bool HasTensor(int tensor_index) const;
  TfLiteOpaqueContext* context() const;
  TfLiteOpaqueNode* node() const;
  // Reports are serialised, since several threads may wait.
  void Report(const char* format, ...) const __attribute__((format(printf, 2, 3)));
  void ReportException(const char* function) const;
  // Calls a function of the kernel. `name` is its name in reports.
  template <typename Function, typename Result, typename... Arguments>
  Result Call(const char* name, Function* function, Result failure, Arguments... arguments) const;

  SignatureRunner* const signature_;
  const FindKernelFunction find_kernel_;
  TfLiteAsyncKernel* kernel_ = nullptr;
  uint64_t binding_ = 0;  // version of the plan that kernel_ belongs to; 0: never bound
  Supported inputs_, outputs_;
  std::atomic<TfLiteBufferHandle> next_handle_{0};
};

}  // namespace deputy

#endif  // DEPUTY_CORE_ASYNC_ASYNC_SIGNATURE_RUNNER_H_
