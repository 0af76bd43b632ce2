// SPDX-License-Identifier: Apache-2.0
//
// Events of operators in a delegate's partition (node_events in deputy_plugin.h).
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "core/base/delegate_params.h"
#include "core/base/guard.h"
#include "core/delegation/delegation.h"
#include "core/exec/interpreter_state.h"
#include "core/model/op_names.h"
#include "core/plugin/plugin.h"
#include "core/plugin/plugin_delegate.h"

namespace deputy {
namespace {

// Maximum number of events of one call, as documented in deputy_plugin.h.
constexpr size_t kMaxEvents = 65536;
constexpr size_t kMaxNameBytes = 255;

// Collects the events of one call. `problem` describes the first invalid one.
struct Collector {
  std::span<const int> nodes;        // nodes with which the delegate node's init was called
  std::span<const int> model_nodes;  // the model's nodes, in the same order
  PartitionEvents found;
  std::string problem;
};

std::string ProblemOf(const Collector& collector, const DeputyNodeEvent* event) {
  if (event == nullptr || event->struct_size < sizeof *event) {
    return "expected an event with its size in struct_size";
  }
  const int node = event->node;
  if (node != -1 &&
      std::find(collector.nodes.begin(), collector.nodes.end(), node) == collector.nodes.end()) {
    return "expected a node of the partition, found " + std::to_string(node);
  }
  const int64_t begin = event->begin_ns, duration = event->duration_ns;
  if (begin < 0 || duration < 0 || duration > INT64_MAX - begin) {
    return "expected non-negative times, found " + std::to_string(begin) + " and a duration of " +
           std::to_string(duration);
  }
  return collector.found.events.size() < kMaxEvents ? "" : "expected at most 65536 events";
}

void Collect(void* user_data, const DeputyNodeEvent* event) {
  Collector& collector = *static_cast<Collector*>(user_data);
  if (!collector.problem.empty()) return;
  Guard([&] { collector.problem = "no memory"; },
        [&] {
          collector.problem = ProblemOf(collector, event);
          if (!collector.problem.empty()) return;
          const char* const name = event->name == nullptr ? "" : event->name;
          const auto node = std::find(collector.nodes.begin(), collector.nodes.end(), event->node);
          const auto index = static_cast<size_t>(node - collector.nodes.begin());
          collector.found.events.push_back({event->node < 0 ? -1 : collector.model_nodes[index],
                                            std::string(name, strnlen(name, kMaxNameBytes)),
                                            event->begin_ns, event->duration_ns});
        });
}

// Calls node_events of the delegate's plug-in.
void Query(const AppliedDelegate& delegate, TfLiteContext* context, TfLiteNode* node,
           Collector* collector) {
  collector->nodes = IndicesOf(DescribedNodes(*node));
  collector->model_nodes = IndicesOf(ReplacedNodes(*node));
  collector->found.delegate = delegate.name;
  const auto lock = LockSupport(delegate.handle);
  const CallResult result =
      CallForeign(nullptr, {.callback = Callback::kNodeEvents}, [&](CallResult* out) {
        out->status = delegate.library->plugin()->node_events(delegate.inner, context, node,
                                                              &Collect, collector);
      });
  if (result.exception != nullptr) {
    collector->problem = result.exception;
  } else if (result.status != kTfLiteOk && collector->problem.empty()) {
    collector->problem = "expected status 0, found " + std::to_string(result.status);
  }
}

}  // namespace

// Returns the events of a node. After invalid events, which are reported as an error, the delegate
// is not queried again.
PartitionEvents Delegation::EventsOf(int node_index) noexcept {
  const auto query = [&]() -> PartitionEvents {
    TfLiteNode* const node = subgraph_->graph().node(node_index);
    const AppliedDelegate* delegate = delegates_.Find(node->delegate);
    if (delegate == nullptr || !delegate->reports_events) return {};
    Collector collector;
    Query(*delegate, subgraph_->context(), node, &collector);
    if (collector.problem.empty()) return std::move(collector.found);
    delegate->reports_events = false;
    subgraph_->interpreter()->reporter()->Report(
        "subgraph %d: delegate '%s', node_events of node %d (%s): %s; its events are no longer "
        "used",
        subgraph_->index(), delegate->name.c_str(), node_index,
        OperatorName(*subgraph_->graph().registration(node_index)), collector.problem.c_str());
    return {};
  };
  return Guard([] { return PartitionEvents(); }, query);
}

}  // namespace deputy
