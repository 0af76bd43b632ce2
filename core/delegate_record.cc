// SPDX-License-Identifier: Apache-2.0
#include "core/delegate_record.h"

#include <algorithm>

#include "core/delegate_params.h"
#include "core/interpreter.h"
#include "core/op_names.h"
#include "core/plugin_delegate.h"
#include "core/subgraph.h"

namespace deputy {
namespace {

// The arrays behind a question to a plug-in.
struct SupportQuestion {
  explicit SupportQuestion(const std::vector<int>& plan)
      : nodes(plan.begin(), plan.end()),
        supported(plan.size(), 0),
        reasons(plan.size(), kDeputyReasonNone),
        texts(plan.size(), nullptr),
        groups(plan.size(), -1),
        costs(plan.size(), -1) {}

  DeputySupportAnswer Answer() {
    DeputySupportAnswer answer{};
    answer.struct_size = sizeof answer;
    answer.node_count = nodes.size();
    answer.nodes = nodes.data();
    answer.supported = supported.data();
    answer.reason_of_node = reasons.data();
    answer.text_of_node = texts.data();
    answer.group_of_node = groups.data();
    answer.cost_ns_of_node = costs.data();
    return answer;
  }

  std::vector<int32_t> nodes;
  std::vector<uint8_t> supported;
  std::vector<int32_t> reasons;
  std::vector<const char*> texts;
  std::vector<int32_t> groups;
  std::vector<double> costs;
};

bool HasDynamicTensor(Subgraph* subgraph, const TfLiteNode& node) {
  for (const TfLiteIntArray* indices : {node.inputs, node.outputs}) {
    for (int i = 0; i < indices->size; ++i) {
      const TfLiteTensor* tensor = subgraph->tensor(indices->data[i]);
      if (tensor != nullptr && tensor->allocation_type == kTfLiteDynamic) return true;
    }
  }
  return false;
}

// The types of a node's tensors, as "FLOAT32 INT8 -> FLOAT32".
std::string Types(Subgraph* subgraph, const TfLiteNode& node) {
  std::string text;
  const auto add = [&](const TfLiteIntArray* indices) {
    for (int i = 0; i < indices->size; ++i) {
      const TfLiteTensor* tensor = subgraph->tensor(indices->data[i]);
      text += tensor == nullptr ? "-" : TfLiteTypeGetName(tensor->type);
      text += ' ';
    }
  };
  add(node.inputs);
  text += "->";
  for (int i = 0; i < node.outputs->size; ++i) {
    const TfLiteTensor* tensor = subgraph->tensor(node.outputs->data[i]);
    text += std::string(" ") + (tensor == nullptr ? "-" : TfLiteTypeGetName(tensor->type));
  }
  return text;
}

// The delegate gave no reason. What it took of the same operator may tell.
void Guess(Subgraph* subgraph, int node_index, const DelegateRecord& record, NodeAnswer* answer) {
  const TfLiteNode& node = *subgraph->node(node_index);
  const TfLiteRegistration& registration = subgraph->registration(node_index);
  answer->reason = kDeputyReasonNotClaimed;
  if (HasDynamicTensor(subgraph, node)) {
    answer->reason = kDeputyReasonDynamicShape;
    answer->text = "not claimed; its shapes are known only while the model runs";
    return;
  }
  bool same_operator = false, same_version = false, same_types = false;
  for (size_t other = 0; other < record.nodes.size(); ++other) {
    const TfLiteRegistration& taken = subgraph->registration(static_cast<int>(other));
    const bool same = record.nodes[other].taken &&
                      taken.builtin_code == registration.builtin_code &&
                      std::string(OperatorName(taken)) == OperatorName(registration);
    if (!same) continue;
    same_operator = true;
    same_version |= taken.version == registration.version;
    same_types |=
        Types(subgraph, *subgraph->node(static_cast<int>(other))) == Types(subgraph, node);
  }
  if (!same_operator) {
    answer->text = "not claimed, no reason given; the delegate took no node of this operator";
  } else if (!same_types) {
    answer->reason = kDeputyReasonType;
    answer->text =
        "not claimed; nodes of this operator with other types were: here " + Types(subgraph, node);
  } else if (!same_version) {
    answer->reason = kDeputyReasonVersion;
    answer->text = "not claimed; nodes of this operator in other versions were: here version " +
                   std::to_string(registration.version);
  } else {
    answer->text = "not claimed, no reason given; other nodes of this operator were";
  }
}

void Explain(Subgraph* subgraph, int node_index, const DelegateRecord& record, NodeAnswer* answer) {
  const TfLiteNode& node = *subgraph->node(node_index);
  if (!record.applied) {
    // A node that was let be for a reason of its own keeps that reason.
    if (answer->reason != kDeputyReasonNotAsked && answer->reason != kDeputyReasonNone) return;
    answer->reason = answer->claimed ? kDeputyReasonFailed : kDeputyReasonGraph;
    answer->text = record.failure;
    return;
  }
  if (answer->reason != kDeputyReasonNotAsked && answer->reason != kDeputyReasonNone) return;
  if (node.delegate != nullptr) {
    answer->reason = kDeputyReasonTaken;
    answer->text = std::string("it is a node of another delegate: ") +
                   OperatorName(subgraph->registration(node_index));
  } else if (answer->previewed) {
    answer->reason = kDeputyReasonPartitionTooSmall;
    answer->text = "the delegate looked at the partition it would be in, and let it be";
  } else if (!answer->asked) {
    answer->reason = kDeputyReasonNotAsked;
    answer->text = "the delegate did not look at it";
  } else {
    Guess(subgraph, node_index, record, answer);
  }
}

// Marks the nodes behind a node of the plan, if that is the delegate's or holds one of its own.
void MarkRun(Subgraph* subgraph, int node_index, const TfLiteDelegate* delegate, bool within,
             std::vector<bool>* runs) {
  const bool answered = static_cast<size_t>(node_index) < runs->size();
  if (within && answered) {
    (*runs)[static_cast<size_t>(node_index)] = true;
    return;
  }
  const TfLiteNode& node = *subgraph->node(node_index);
  if (node.delegate == nullptr) return;
  const TfLiteIntArray* replaced = ReplacedNodes(node);
  for (int i = 0; i < replaced->size; ++i) {
    MarkRun(subgraph, replaced->data[i], delegate, within || node.delegate == delegate, runs);
  }
}

}  // namespace

void AskForSupport(Subgraph* subgraph, TfLiteDelegate* delegate, DelegateRecord* record) {
  const DeputyDelegatePlugin* plugin = PluginOf(delegate);
  if (plugin == nullptr || plugin->get_support == nullptr) return;
  SupportQuestion question(subgraph->plan());
  DeputySupportAnswer answer = question.Answer();
  Validation::Call call(subgraph->interpreter()->validation(),
                        {Callback::kSupport, subgraph, -1, delegate});
  try {
    const TfLiteStatus status =
        plugin->get_support(InnerDelegate(delegate), subgraph->context(), &answer);
    call.Returned(status);
    if (status != kTfLiteOk) return;
  } catch (...) {
    return;
  }
  for (size_t i = 0; i < question.nodes.size(); ++i) {
    NodeAnswer& node = record->nodes[static_cast<size_t>(question.nodes[i])];
    node.asked = true;
    node.group = question.groups[i];
    node.cost_ns = question.costs[i];
    if (question.supported[i] != 0) {
      node.reason = kDeputyReasonNone;
      continue;
    }
    const int32_t reason = question.reasons[i];
    const bool known = reason > kDeputyReasonNone && reason < kDeputyReasonNotClaimed;
    node.reason = known ? static_cast<DeputyReason>(reason) : kDeputyReasonOther;
    if (question.texts[i] != nullptr) node.text = question.texts[i];
  }
}

std::vector<bool> NodesRunBy(Subgraph* subgraph, const DelegateRecord& record) {
  std::vector<bool> runs(record.nodes.size(), false);
  for (int node : subgraph->plan()) MarkRun(subgraph, node, record.inner, false, &runs);
  return runs;
}

void Conclude(Subgraph* subgraph, DelegateRecord* record) {
  const std::vector<bool> runs = NodesRunBy(subgraph, *record);
  for (size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i]) continue;
    record->nodes[i].taken = true;
    record->nodes[i].reason = kDeputyReasonNone;
    record->nodes[i].text.clear();
  }
  for (size_t i = 0; i < record->nodes.size(); ++i) {
    NodeAnswer& answer = record->nodes[i];
    if (!answer.taken) Explain(subgraph, static_cast<int>(i), *record, &answer);
  }
}

const char* ReasonName(int reason) {
  switch (reason) {
    case kDeputyReasonNone:
      return "NONE";
    case kDeputyReasonOperator:
      return "OPERATOR";
    case kDeputyReasonVersion:
      return "VERSION";
    case kDeputyReasonType:
      return "TYPE";
    case kDeputyReasonShape:
      return "SHAPE";
    case kDeputyReasonDynamicShape:
      return "DYNAMIC_SHAPE";
    case kDeputyReasonParameter:
      return "PARAMETER";
    case kDeputyReasonQuantization:
      return "QUANTIZATION";
    case kDeputyReasonNotConstant:
      return "NOT_CONSTANT";
    case kDeputyReasonMemory:
      return "MEMORY";
    case kDeputyReasonCost:
      return "COST";
    case kDeputyReasonOther:
      return "OTHER";
    case kDeputyReasonNotClaimed:
      return "NOT_CLAIMED";
    case kDeputyReasonNotAsked:
      return "NOT_ASKED";
    case kDeputyReasonTaken:
      return "TAKEN";
    case kDeputyReasonPinned:
      return "PINNED";
    case kDeputyReasonExcluded:
      return "EXCLUDED";
    case kDeputyReasonPartitionTooSmall:
      return "PARTITION_TOO_SMALL";
    case kDeputyReasonGroup:
      return "GROUP";
    case kDeputyReasonGraph:
      return "GRAPH";
    case kDeputyReasonFailed:
      return "FAILED";
    case kDeputyReasonRemoved:
      return "REMOVED";
    default:
      return "UNKNOWN";
  }
}

}  // namespace deputy
