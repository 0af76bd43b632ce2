// SPDX-License-Identifier: Apache-2.0
//
// A delegate of MindSpore's shape as a TfLiteDelegate. In Prepare the delegate edits a list of
// kernels; each of its own becomes one node by one call of ReplaceNodeSubsetsWithDelegateKernels,
// so that a run stays one kernel whatever its neighbours are. The node owns the kernel.
#ifndef DEPUTY_MINDSPORE_SRC_ADAPTER_H_
#define DEPUTY_MINDSPORE_SRC_ADAPTER_H_

#include <deque>
#include <memory>
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
  // `context` may be null. `main_only`: subgraphs after the first one that is offered are left.
  Adapter(std::shared_ptr<DelegateHolder> holder, MSContextHandle context, bool main_only);
  Adapter(const Adapter&) = delete;
  Adapter& operator=(const Adapter&) = delete;

  TfLiteDelegate* delegate() { return &delegate_; }
  static Adapter* Of(const TfLiteDelegate* delegate);

  // Calls the delegate's init, once, unless it fails. kMSStatusLiteNotSupport: it takes no part.
  MSStatus Init();
  bool declined() const { return init_state_ == InitState::kDeclined; }

  // What the delegate says of the nodes of `context`; texts hold until the next call.
  MSStatus GetSupport(TfLiteContext* context, DeputySupportAnswer* answer);

  // The code of the newest failure of the delegate or one of its kernels, and what failed; Success
  // since the last ForgetFailure.
  MSStatus failure() const { return failure_; }
  const std::string& failure_text() const { return failure_text_; }
  void ForgetFailure();

 private:
  enum class InitState { kNotCalled, kReady, kDeclined };
  class Node;

  static TfLiteStatus PrepareDelegate(TfLiteContext* context, TfLiteDelegate* delegate);
  static TfLiteRegistration RegistrationOf(const char* name);
  // The init of a node: takes the pending kernel.
  void* MakeNode(TfLiteContext* context, const TfLiteDelegateParams& params);
  TfLiteStatus Prepare(TfLiteContext* context);
  MSStatus Build(DeputyMSGraph* graph);
  TfLiteStatus Apply(DeputyMSGraph* graph, DelegateKernel* kernel);
  // What the runtime would replace for these nodes: all in one node, a part of them, or otherwise.
  enum class Cut { kWhole, kPartly, kTorn, kFailed };
  static Cut CutOf(TfLiteContext* context, const std::vector<int>& nodes);
  // Notes and reports a failure of the delegate's.
  TfLiteStatus Report(TfLiteContext* context, MSStatus code, const std::string& text,
                      TfLiteStatus status);

  TfLiteDelegate delegate_ = {};
  const std::shared_ptr<DelegateHolder> holder_;
  const MSContextHandle context_;
  const bool main_only_;
  InitState init_state_ = InitState::kNotCalled;
  const TfLiteContext* main_ = nullptr;
  MSStatus failure_ = kMSStatusSuccess;
  std::string failure_text_;
  std::set<std::string> names_;    // of kernels: the runtime keeps pointers
  std::deque<std::string> texts_;  // of the last answer
  // For init of the node that is being made.
  std::unique_ptr<DelegateKernel> pending_;
  std::shared_ptr<GraphTensors> pending_tensors_;
};

}  // namespace deputy::ms_api

#endif  // DEPUTY_MINDSPORE_SRC_ADAPTER_H_
