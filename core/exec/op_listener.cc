// SPDX-License-Identifier: Apache-2.0
#include "core/exec/op_listener.h"

#include <chrono>

#include "core/exec/subgraph.h"
#include "core/model/op_names.h"

namespace deputy {
namespace {

int64_t Now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

void OpTimer::Begin(const ForeignCall& call) {
  if (call.callback != Callback::kInvoke) return;
  Subgraph* subgraph = Subgraph::Of(call.context);
  if (listener_ != nullptr) {
    listener_->BeginOp(subgraph->index(), call.node,
                       OperatorName(subgraph->registration(call.node)));
  }
  begin_ns_.push_back(Now());
}

// The listener may come and go while an operator runs.
void OpTimer::End(const ForeignCall& call, const CallResult& result) {
  if (call.callback != Callback::kInvoke || begin_ns_.empty()) return;
  OpEvent event;
  event.end_ns = Now();
  event.begin_ns = begin_ns_.back();
  begin_ns_.pop_back();
  Subgraph* subgraph = Subgraph::Of(call.context);
  subgraph->NoteCost(call.node, event.end_ns - event.begin_ns);
  if (listener_ == nullptr) return;
  event.subgraph = subgraph->index();
  event.node = call.node;
  event.op_name = OperatorName(subgraph->registration(call.node));
  event.status = result.status;
  listener_->EndOp(event);
}

}  // namespace deputy
