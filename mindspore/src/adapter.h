// SPDX-License-Identifier: Apache-2.0
//
// Implements a TfLiteDelegate with a MindSpore delegate. In Prepare the delegate edits a list of
// kernels. Each of its kernels becomes one node through a separate call of
// ReplaceNodeSubsetsWithDelegateKernels, so that adjacent kernels are not merged. The node owns the
// kernel. Interpreters on several threads may share an adapter: objects that are built during
// Prepare belong to the calling thread, and a mutex guards the adapter's state.
#ifndef DEPUTY_MINDSPORE_SRC_ADAPTER_H_
#define DEPUTY_MINDSPORE_SRC_ADAPTER_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "deputy/common.h"
#include "deputy/deputy_plugin.h"
#include "mindspore/include/delegate_c.h"
#include "mindspore/src/context.h"
#include "mindspore/src/graph.h"

namespace deputy::ms_api {

class Adapter {
 public:
  // Creates an adapter for a delegate. `context` may be null. With `main_only`, only the first
  // subgraph is offered to the delegate.
  Adapter(std::shared_ptr<DelegateHolder> holder, MSContextHandle context, bool main_only);
  Adapter(const Adapter&) = delete;
  Adapter& operator=(const Adapter&) = delete;

  TfLiteDelegate* delegate() { return &delegate_; }
  static Adapter* Of(const TfLiteDelegate* delegate);

  // Calls the delegate's init; further calls retry only after a failure. kMSStatusLiteNotSupport is
  // no failure: the delegate is then not used.
  MSStatus Init();
  bool declined() const { return init_state_ == InitState::kDeclined; }

  // Addresses of the main graph's tensors on the delegate's device.
  const std::shared_ptr<DeviceAddresses>& addresses() const { return addresses_; }

  // Queries the delegate's support status for the nodes of `context`. Texts are valid until the
  // next call on the same thread.
  MSStatus GetSupport(TfLiteContext* context, DeputySupportResult* result);

  // Returns true if the delegate has a kernel of this name.
  bool HasKernel(const char* name);

  // Returns the nanoseconds spent in the delegate's build and in its kernels' Prepare.
  int64_t compile_ns() const { return compile_ns_; }

  // Returns the pointer that all functions of the delegate receive.
  void* user_data() const { return holder_->get().user_data; }

  // Returns the status of the latest failure of the delegate or its kernels; kMSStatusSuccess if
  // there was none since the last ClearFailure.
  MSStatus failure() const { return failure_; }
  void ClearFailure() { failure_ = kMSStatusSuccess; }

 private:
  enum class InitState { kNotCalled, kReady, kDeclined };
  class Node;
  struct Pending;

  static TfLiteStatus PrepareDelegate(TfLiteContext* context, TfLiteDelegate* delegate);
  static TfLiteRegistration RegistrationOf(const char* name);
  // Creates a node from the kernel that the calling thread is adding.
  void* MakeNode(TfLiteContext* context, const TfLiteDelegateParams& params);
  // Returns false for subgraphs that are not offered to the delegate.
  bool ShouldApplyTo(const TfLiteContext* context);
  // Stores a copy of the name, since the runtime keeps the pointer, and returns it.
  const char* InternName(const std::string& name);
  // Returns the table for the tensors of a graph. Indices of tensors identify them in one graph, so
  // that only an adapter for one graph has a common table.
  std::shared_ptr<DeviceAddresses> AddressesOfGraph() const {
    return main_only_ ? addresses_ : std::make_shared<DeviceAddresses>();
  }
  TfLiteStatus Prepare(TfLiteContext* context);
  MSStatus Build(DeputyMSGraph* graph);
  TfLiteStatus Apply(DeputyMSGraph* graph, std::unique_ptr<DelegateKernel> kernel);
  // Result of a preview: the runtime would replace the nodes by one node, replace only some of
  // them, or replace them by several nodes; or the preview failed.
  enum class Preview { kOneNode, kSomeNodes, kSeveralNodes, kFailed };
  static Preview PreviewOf(TfLiteContext* context, const std::vector<int>& nodes);
  // Records and reports a failure of the delegate.
  TfLiteStatus Report(TfLiteContext* context, MSStatus code, const std::string& text,
                      TfLiteStatus status);

  TfLiteDelegate delegate_ = {};
  const std::shared_ptr<DeviceAddresses> addresses_ = std::make_shared<DeviceAddresses>();
  const std::shared_ptr<DelegateHolder> holder_;
  const MSContextHandle context_;
  const bool main_only_;

  std::atomic<InitState> init_state_ = InitState::kNotCalled;  // modified under the holder's lock
  std::atomic<MSStatus> failure_ = kMSStatusSuccess;
  std::atomic<int64_t> compile_ns_ = 0;

  std::mutex mutex_;  // guards the members below
  const TfLiteContext* main_ = nullptr;
  std::set<std::string> names_;  // names of kernels
};

}  // namespace deputy::ms_api

#endif  // DEPUTY_MINDSPORE_SRC_ADAPTER_H_
