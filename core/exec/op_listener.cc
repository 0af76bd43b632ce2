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

void OpListener::TilesDone(int, int, std::span<const TileWork>) {}

void OpTimer::Begin(const ForeignCall& call) {
  if (listener_ == nullptr || call.callback != Callback::kInvoke) return;
  Subgraph* subgraph = Subgraph::Of(call.context);
  listener_->BeginOp(subgraph->index(), call.node,
                     OperatorName(*subgraph->graph().registration(call.node)));
  call.outer = running_;
  running_ = &call;
  call.begin_ns = Now();
}

// The listener may be set or removed while an operator runs.
void OpTimer::End(const ForeignCall& call, const CallResult& result) {
  if (call.begin_ns < 0) return;
  running_ = call.outer;
  OpEvent event;
  event.begin_ns = call.begin_ns;
  event.end_ns = Now();
  Subgraph* subgraph = Subgraph::Of(call.context);
  subgraph->costs().Add(call.node, subgraph->graph().node_count(), event.end_ns - event.begin_ns);
  if (listener_ == nullptr) return;
  event.subgraph = subgraph->index();
  event.node = call.node;
  event.op_name = OperatorName(*subgraph->graph().registration(call.node));
  event.status = result.status;
  PartitionEvents parts;
  if (result.status == kTfLiteOk && subgraph->graph().node(call.node)->delegate != nullptr) {
    parts = subgraph->delegation().EventsOf(call.node);
  }
  for (const PartitionEvents::Event& part : parts.events) {
    subgraph->costs().AddReported(part.node < 0 ? call.node : part.node,
                                  subgraph->graph().node_count(), part.duration_ns);
  }
  if (!parts.events.empty()) event.parts = &parts;
  listener_->EndOp(event);
}

// Ignores a job outside of operators, or of an operator that began before the listener was set.
void OpTimer::TilesDone(std::span<const TileWork> work) {
  if (listener_ == nullptr || running_ == nullptr) return;
  listener_->TilesDone(Subgraph::Of(running_->context)->index(), running_->node, work);
}

}  // namespace deputy
