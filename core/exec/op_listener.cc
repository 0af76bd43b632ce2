// SPDX-License-Identifier: Apache-2.0
#include "core/exec/op_listener.h"

#include <algorithm>
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

void OpTimer::Add(OpListener* listener) {
  if (running_ == nullptr) std::erase(listeners_, nullptr);
  listeners_.push_back(listener);
}

// Clears the listener's entry, which stays in the list, since a notification may be in progress.
void OpTimer::Remove(OpListener* listener) noexcept {
  std::replace(listeners_.begin(), listeners_.end(), listener, static_cast<OpListener*>(nullptr));
}

bool OpTimer::has_listeners() const {
  return std::any_of(listeners_.begin(), listeners_.end(),
                     [](const OpListener* listener) { return listener != nullptr; });
}

// Visits by index those that are registered at the begin, since a function may add a listener.
template <typename Function>
void OpTimer::ForEach(const Function& function) const {
  const size_t count = listeners_.size();
  for (size_t i = 0; i < count; ++i) {
    if (listeners_[i] != nullptr) function(listeners_[i]);
  }
}

uint32_t OpTimer::needs() const {
  uint32_t needs = kNeedsNothing;
  ForEach([&](const OpListener* listener) { needs |= listener->needs(); });
  return needs;
}

void OpTimer::Begin(const ForeignCall& call) {
  if (call.callback != Callback::kInvoke || !has_listeners()) return;
  Subgraph* const subgraph = Subgraph::Of(call.context);
  const char* const name = OperatorName(*subgraph->graph().registration(call.node));
  ForEach([&](OpListener* listener) { listener->BeginOp(subgraph->index(), call.node, name); });
  call.outer = running_;
  running_ = &call;
  call.begin_ns = Now();
}

// Ends an operator. An operator that began before there were listeners is ignored; listeners that
// were added since it began are notified.
void OpTimer::End(const ForeignCall& call, const CallResult& result) {
  if (call.begin_ns < 0) return;
  running_ = call.outer;
  OpEvent event;
  event.begin_ns = call.begin_ns;
  event.end_ns = Now();
  Subgraph* const subgraph = Subgraph::Of(call.context);
  const int nodes = subgraph->graph().node_count();
  subgraph->costs().Add(call.node, nodes, event.end_ns - event.begin_ns);
  if (!has_listeners()) return;
  event.subgraph = subgraph->index();
  event.node = call.node;
  event.op_name = OperatorName(*subgraph->graph().registration(call.node));
  event.status = result.status;
  PartitionEvents parts;
  if (result.status == kTfLiteOk && subgraph->graph().node(call.node)->delegate != nullptr) {
    parts = subgraph->delegation().EventsOf(call.node);
  }
  for (const PartitionEvents::Event& part : parts.events) {
    subgraph->costs().AddReported(part.node < 0 ? call.node : part.node, nodes, part.duration_ns);
  }
  if (!parts.events.empty()) event.parts = &parts;
  ForEach([&](OpListener* listener) { listener->EndOp(event); });
}

// Ignores a job outside of operators, or of an operator that began before this object observed.
void OpTimer::TilesDone(std::span<const TileWork> work) {
  if (running_ == nullptr) return;
  const int subgraph = Subgraph::Of(running_->context)->index();
  ForEach([&](OpListener* listener) {
    if ((listener->needs() & kNeedsTiles) != 0) listener->TilesDone(subgraph, running_->node, work);
  });
}

}  // namespace deputy
