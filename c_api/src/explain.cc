// SPDX-License-Identifier: Apache-2.0
//
// Assignment of nodes to delegates, its reasons, and constraints on it. Delegates are numbered over
// all subgraphs, in the order in which they were applied to the first subgraph that has a record of
// them.
#include <list>
#include <string>

#include "c_api/include/deputy.h"
#include "c_api/include/deputy_layout.h"
#include "c_api/src/struct_io.h"
#include "core/base/delegate_params.h"
#include "core/delegation/support_query.h"
#include "core/model/op_names.h"

using deputy::AppliedDelegate;
using deputy::FindRunning;
using deputy::Guard;
using deputy::Subgraph;
using deputy::WriteStruct;

namespace {

using Delegates = std::vector<const AppliedDelegate*>;

const std::list<AppliedDelegate>& DelegatesOf(const Subgraph* subgraph) {
  return deputy::DelegationOf(subgraph).delegates().all();
}

// Returns the record of each delegate in the first subgraph that has one.
Delegates AllDelegates(const TfLiteInterpreter* interpreter) {
  Delegates delegates;
  for (int i = 0; interpreter != nullptr && i < interpreter->impl->subgraph_count(); ++i) {
    for (const AppliedDelegate& delegate : DelegatesOf(FindRunning(interpreter, i))) {
      const bool known = std::any_of(delegates.begin(), delegates.end(), [&](const auto* other) {
        return other->handle == delegate.handle;
      });
      if (!known) delegates.push_back(&delegate);
    }
  }
  return delegates;
}

// Finds a delegate by its handle. Compares handles and does not dereference them: the delegates may
// have been deleted.
const AppliedDelegate* FindDelegate(const Subgraph* subgraph, const TfLiteDelegate* handle) {
  for (const AppliedDelegate& delegate : DelegatesOf(subgraph)) {
    if (delegate.handle == handle) return &delegate;
  }
  return nullptr;
}

int DelegateIndexOf(const TfLiteInterpreter* interpreter, const TfLiteDelegate* of_node) {
  const Delegates delegates = AllDelegates(interpreter);
  for (size_t i = 0; i < delegates.size(); ++i) {
    if (delegates[i]->Is(of_node)) return static_cast<int>(i);
  }
  return -1;
}

// Number of the model's own nodes that a node of the plan runs.
int CountNodes(Subgraph* subgraph, int node_index) {
  const TfLiteNode& node = *subgraph->graph().node(node_index);
  if (node.delegate == nullptr) return 1;
  const TfLiteIntArray* replaced = deputy::ReplacedNodes(node);
  int count = 0;
  for (int i = 0; i < replaced->size; ++i) count += CountNodes(subgraph, replaced->data[i]);
  return count;
}

// Returns the reason why the CPU runs a node: that of the last delegate in the subgraph's list
// whose record includes the node.
std::string ReasonForCpu(Subgraph* subgraph, int node_index) {
  const std::list<AppliedDelegate>& delegates = DelegatesOf(subgraph);
  for (auto delegate = delegates.rbegin(); delegate != delegates.rend(); ++delegate) {
    if (static_cast<size_t>(node_index) >= delegate->record.nodes.size()) continue;
    const deputy::NodeSupport& support = delegate->record.nodes[static_cast<size_t>(node_index)];
    return delegate->name + ": " + deputy::ReasonName(support.reason) +
           (support.text.empty() ? "" : ", " + support.text);
  }
  return "no delegate was queried";
}

DeputyNodeSupport ConvertSupport(const deputy::NodeSupport& support, bool delegated) {
  DeputyNodeSupport full{};
  full.struct_size = sizeof full;
  full.delegated = delegated ? 1 : 0;
  full.reason = support.reason;
  full.reason_name = deputy::ReasonName(support.reason);
  full.text = support.text.c_str();
  full.group = support.group;
  full.cost_ns = support.cost_ns;
  return full;
}

}  // namespace

namespace deputy {

TfLiteStatus CheckDelegation(Interpreter* interpreter, int requirement, int32_t* delegated,
                             int32_t* total) {
  int32_t delegated_count = 0, node_count = 0;
  std::string cpu_nodes;
  int cpu_node_count = 0;
  for (int i = 0; i < interpreter->subgraph_count(); ++i) {
    Subgraph* subgraph = interpreter->subgraph(i);
    if (interpreter->skippable().Has(i) || !subgraph->is_for_delegates()) continue;
    for (int node : subgraph->graph().plan()) {
      if (DelegationOf(subgraph).layout().IsTransposition(node)) continue;
      const int count = CountNodes(subgraph, node);
      node_count += count;
      if (subgraph->graph().node(node)->delegate != nullptr) {
        delegated_count += count;
      } else if (++cpu_node_count <= 8) {
        cpu_nodes += "\n  subgraph " + std::to_string(i) + " node " + std::to_string(node) + " " +
                     OperatorName(*subgraph->graph().registration(node)) + " (" +
                     ReasonForCpu(subgraph, node) + ")";
      }
    }
  }
  if (cpu_node_count > 8) cpu_nodes += "\n  and " + std::to_string(cpu_node_count - 8) + " more";
  if (delegated != nullptr) *delegated = delegated_count;
  if (total != nullptr) *total = node_count;
  const bool enough =
      requirement == kDeputyRequireNothing ||
      (requirement == kDeputyRequirePartial ? delegated_count > 0 : delegated_count == node_count);
  if (enough) return kTfLiteOk;
  return Fail(interpreter->reporter(), kTfLiteError,
              "Delegation is required to be %s: expected %s nodes, found %d of %d; left on the "
              "CPU:%s",
              requirement == kDeputyRequireFull ? "full" : "partial",
              requirement == kDeputyRequireFull ? "all" : "some", delegated_count, node_count,
              cpu_nodes.c_str());
}

}  // namespace deputy

// ---- Assignment of nodes to delegates -----------------------------------------------------------

int32_t DeputyInterpreterGetDelegateCount(const TfLiteInterpreter* interpreter) {
  return Guard(0, [&] { return static_cast<int32_t>(AllDelegates(interpreter).size()); });
}

TfLiteStatus DeputyInterpreterGetDelegateInfo(const TfLiteInterpreter* interpreter,
                                              int32_t delegate_index, DeputyDelegateInfo* info) {
  return Guard(kTfLiteError, [&] {
    const Delegates delegates = AllDelegates(interpreter);
    if (delegate_index < 0 || static_cast<size_t>(delegate_index) >= delegates.size()) {
      return kTfLiteError;
    }
    DeputyDelegateInfo full{};
    const AppliedDelegate* known = delegates[static_cast<size_t>(delegate_index)];
    full.delegate = known->handle;
    full.name = full.failure = "";
    full.applied = 1;
    for (int i = 0; i < interpreter->impl->subgraph_count(); ++i) {
      Subgraph* subgraph = FindRunning(interpreter, i);
      if (const AppliedDelegate* here = FindDelegate(subgraph, full.delegate)) {
        if (!here->name.empty()) full.name = here->name.c_str();
        if (!here->record.applied) {
          full.applied = 0;
          full.failure = here->record.failure.c_str();
        }
      }
      for (int node : subgraph->graph().plan()) {
        const TfLiteDelegate* owner = subgraph->graph().node(node)->delegate;
        if (owner == nullptr || !known->Is(owner)) continue;
        ++full.partition_count;
        full.node_count += CountNodes(subgraph, node);
      }
    }
    return WriteStruct(full, info);
  });
}

TfLiteStatus DeputyInterpreterCheckDelegate(TfLiteInterpreter* interpreter,
                                            TfLiteDelegate* delegate,
                                            DeputySupportCallback callback, void* user_data) {
  if (interpreter == nullptr || delegate == nullptr || callback == nullptr) return kTfLiteError;
  return Guard(kTfLiteError, [&] {
    deputy::Interpreter* const impl = interpreter->impl.get();
    if (!deputy::CanQuerySupport(AppliedDelegate(delegate))) {
      return deputy::Fail(impl->reporter(), kTfLiteUnresolvedOps,
                          "The delegate has no support query (DeputyDelegatePlugin.get_support); "
                          "apply it to find out "
                          "which nodes it runs");
    }
    for (int i = 0; i < impl->subgraph_count(); ++i) {
      Subgraph* subgraph = impl->subgraph(i);
      if (impl->skippable().Has(i) || !subgraph->is_for_delegates()) continue;
      AppliedDelegate queried(delegate);
      const TfLiteStatus status = deputy::DelegationOf(subgraph).QuerySupport(&queried);
      if (status != kTfLiteOk) return status;
      for (int node : subgraph->graph().plan()) {
        const deputy::NodeSupport& found = queried.record.nodes[static_cast<size_t>(node)];
        const DeputyNodeSupport support = ConvertSupport(found, found.reason == kDeputyReasonNone);
        callback(user_data, i, node, &support);
      }
    }
    return kTfLiteOk;
  });
}

TfLiteStatus DeputyInterpreterGetNodeSupport(const TfLiteInterpreter* interpreter,
                                             int32_t subgraph_index, int32_t node_index,
                                             int32_t delegate_index, DeputyNodeSupport* support) {
  return Guard(kTfLiteError, [&] {
    Subgraph* subgraph = FindRunning(interpreter, subgraph_index);
    const Delegates delegates = AllDelegates(interpreter);
    if (subgraph == nullptr || delegate_index < 0 ||
        static_cast<size_t>(delegate_index) >= delegates.size()) {
      return kTfLiteError;
    }
    const AppliedDelegate* delegate =
        FindDelegate(subgraph, delegates[static_cast<size_t>(delegate_index)]->handle);
    if (delegate == nullptr || node_index < 0 ||
        static_cast<size_t>(node_index) >= delegate->record.nodes.size()) {
      return kTfLiteError;
    }
    const deputy::NodeSupport& found = delegate->record.nodes[static_cast<size_t>(node_index)];
    return WriteStruct(ConvertSupport(found, found.delegated), support);
  });
}

TfLiteStatus DeputyInterpreterGetNodeRun(const TfLiteInterpreter* interpreter,
                                         int32_t subgraph_index, int32_t node_index,
                                         DeputyNodeRun* run) {
  Subgraph* subgraph = FindRunning(interpreter, subgraph_index);
  if (subgraph == nullptr || node_index < 0 || node_index >= subgraph->graph().node_count()) {
    return kTfLiteError;
  }
  return Guard(kTfLiteError, [&] {
    DeputyNodeRun full{};
    full.runner = subgraph->graph_index().runner(node_index);
    full.delegate_index = -1;
    if (full.runner >= 0) {
      const TfLiteDelegate* owner = subgraph->graph().node(full.runner)->delegate;
      if (owner != nullptr) full.delegate_index = DelegateIndexOf(interpreter, owner);
    }
    const bool is_own = full.runner == node_index && full.delegate_index < 0;
    full.implementation = is_own ? subgraph->execution_plan().implementation(node_index) : "";
    const deputy::NodeCost cost = subgraph->costs().Of(node_index);
    full.runs = cost.runs;
    full.total_ns = cost.total_ns;
    full.reported_ns = cost.reported_ns;
    full.recomputed = deputy::HotFallbackOf(subgraph).RecomputedCount(node_index);
    const int position = subgraph->graph_index().position(node_index);
    full.group_head = subgraph->execution_plan().group_head(position, &full.group_size);
    const deputy::PixelStride stride = subgraph->execution_plan().output_stride(position);
    full.row_stride = stride.y;
    full.column_stride = stride.x;
    return WriteStruct(full, run);
  });
}

int32_t DeputyInterpreterGetNodeLayout(const TfLiteInterpreter* interpreter, int32_t subgraph_index,
                                       int32_t node_index) {
  const Subgraph* subgraph = FindRunning(interpreter, subgraph_index);
  if (subgraph == nullptr || node_index < 0 || node_index >= subgraph->graph().node_count()) {
    return -1;
  }
  return Guard(-1, [&] {
    return static_cast<int32_t>(deputy::DelegationOf(subgraph).LayoutOf(node_index));
  });
}

int32_t DeputyInterpreterGetPartitionCount(const TfLiteInterpreter* interpreter,
                                           int32_t subgraph_index) {
  Subgraph* subgraph = FindRunning(interpreter, subgraph_index);
  if (subgraph == nullptr) return 0;
  return Guard(0,
               [&] { return static_cast<int32_t>(subgraph->graph_index().partitions().size()); });
}

TfLiteStatus DeputyInterpreterGetPartition(const TfLiteInterpreter* interpreter,
                                           int32_t subgraph_index, int32_t partition_index,
                                           DeputyPartition* partition) {
  Subgraph* subgraph = FindRunning(interpreter, subgraph_index);
  if (subgraph == nullptr) return kTfLiteError;
  return Guard(kTfLiteError, [&] {
    const std::vector<int>& partitions = subgraph->graph_index().partitions();
    if (partition_index < 0 || static_cast<size_t>(partition_index) >= partitions.size()) {
      return kTfLiteError;
    }
    const int position = partitions[static_cast<size_t>(partition_index)];
    const int node_index = subgraph->graph().plan()[static_cast<size_t>(position)];
    const TfLiteNode& node = *subgraph->graph().node(node_index);
    DeputyPartition full{};
    full.node_index = node_index;
    full.plan_position = position;
    full.delegate_index = DelegateIndexOf(interpreter, node.delegate);
    full.node_count = deputy::ReplacedNodes(node)->size;
    full.nodes = deputy::ReplacedNodes(node)->data;
    full.output_count = node.outputs->size;
    for (int i = 0; i < node.inputs->size; ++i) {
      const TfLiteTensor* input = subgraph->graph().tensor(node.inputs->data[i]);
      if (input == nullptr) continue;
      const bool constant =
          input->allocation_type == kTfLiteMmapRo || input->allocation_type == kTfLitePersistentRo;
      (constant ? full.constant_bytes : full.input_bytes) += input->bytes;
      full.input_count += !constant;
    }
    for (int i = 0; i < node.outputs->size; ++i) {
      const TfLiteTensor* output = subgraph->graph().tensor(node.outputs->data[i]);
      if (output != nullptr) full.output_bytes += output->bytes;
    }
    return WriteStruct(full, partition);
  });
}

// ---- Placement ----------------------------------------------------------------------------------

TfLiteStatus DeputyInterpreterOptionsAddPlacement(TfLiteInterpreterOptions* options,
                                                  const DeputyPlacement* placement) {
  DeputyPlacement given;
  if (options == nullptr || !deputy::ReadStruct(placement, &given) || given.subgraph_index < -1) {
    return kTfLiteError;
  }
  deputy::Placement copy;
  switch (given.selector) {
    case kDeputySelectIndex:
      copy.selector = deputy::Placement::Selector::kIndex;
      break;
    case kDeputySelectOutputTensor:
      copy.selector = deputy::Placement::Selector::kOutputTensor;
      break;
    case kDeputySelectOperator:
      copy.selector = deputy::Placement::Selector::kOperator;
      break;
    default:
      return kTfLiteError;
  }
  const bool by_name = given.selector != kDeputySelectIndex;
  if (by_name && given.name == nullptr) return kTfLiteError;
  return Guard(kTfLiteError, [&] {
    copy.subgraph = given.subgraph_index;
    copy.node = given.node_index;
    if (by_name) copy.name = given.name;
    copy.delegate = given.delegate;
    options->placements.push_back(std::move(copy));
    return kTfLiteOk;
  });
}

TfLiteStatus DeputyInterpreterOptionsRequireDelegation(TfLiteInterpreterOptions* options,
                                                       DeputyRequirement requirement) {
  const int value = requirement;
  if (options == nullptr || value < kDeputyRequireNothing || value > kDeputyRequireFull) {
    return kTfLiteError;
  }
  options->requirement = value;
  return kTfLiteOk;
}

TfLiteStatus DeputyInterpreterCheckDelegation(const TfLiteInterpreter* interpreter,
                                              DeputyRequirement requirement, int32_t* delegated,
                                              int32_t* total) {
  const int value = requirement;
  if (interpreter == nullptr || value < kDeputyRequireNothing || value > kDeputyRequireFull) {
    return kTfLiteError;
  }
  return Guard(kTfLiteError, [&] {
    return deputy::CheckDelegation(interpreter->impl->running(), value, delegated, total);
  });
}
