// SPDX-License-Identifier: Apache-2.0
#include "core/delegation/delegate_record.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "core/base/delegate_params.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/subgraph.h"
#include "core/model/op_names.h"
#include "core/plugin/plugin_delegate.h"

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

// Types written out per list; a hostile node has millions.
constexpr int kTypesToName = 16;

// The types of a node's tensors, as "FLOAT32 INT8 -> FLOAT32".
std::string Types(Subgraph* subgraph, const TfLiteNode& node) {
  std::string text;
  const auto add = [&](const TfLiteIntArray* indices) {
    const int named = std::min(indices->size, kTypesToName);
    for (int i = 0; i < named; ++i) {
      const TfLiteTensor* tensor = subgraph->tensor(indices->data[i]);
      if (!text.empty()) text += ' ';
      text += tensor == nullptr ? "-" : TfLiteTypeGetName(tensor->type);
    }
    if (indices->size > named) {
      text += " (and " + std::to_string(indices->size - named) + " more)";
    }
  };
  add(node.inputs);
  text += text.empty() ? "->" : " ->";
  add(node.outputs);
  return text;
}

// Equal for nodes whose tensors have the same types.
std::vector<int> TypeKey(Subgraph* subgraph, const TfLiteNode& node) {
  constexpr int kAbsent = -1;
  std::vector<int> key = {node.inputs->size};
  for (const TfLiteIntArray* indices : {node.inputs, node.outputs}) {
    for (int i = 0; i < indices->size; ++i) {
      const TfLiteTensor* tensor = subgraph->tensor(indices->data[i]);
      key.push_back(tensor == nullptr ? kAbsent : tensor->type);
    }
  }
  return key;
}

// What a delegate took, by operator.
class TakenOperators {
 public:
  struct Variants {
    std::set<int> versions;
    std::set<std::vector<int>> types;
  };

  TakenOperators(Subgraph* subgraph, const DelegateRecord& record) {
    for (size_t i = 0; i < record.nodes.size(); ++i) {
      if (!record.nodes[i].taken) continue;
      const int node = static_cast<int>(i);
      const TfLiteRegistration& registration = subgraph->registration(node);
      Variants& variants = operators_[KeyOf(registration)];
      variants.versions.insert(registration.version);
      variants.types.insert(TypeKey(subgraph, *subgraph->node(node)));
    }
  }
  // Null when no node of the operator was taken.
  const Variants* Find(const TfLiteRegistration& registration) const {
    const auto found = operators_.find(KeyOf(registration));
    return found == operators_.end() ? nullptr : &found->second;
  }

 private:
  // Names belong to registrations, which outlive this.
  using Key = std::pair<int, std::string_view>;
  static Key KeyOf(const TfLiteRegistration& registration) {
    return {registration.builtin_code, OperatorName(registration)};
  }

  std::map<Key, Variants> operators_;
};

// The delegate gave no reason. What it took of the same operator may tell.
void Guess(Subgraph* subgraph, int node_index, const TakenOperators& taken, NodeAnswer* answer) {
  const TfLiteNode& node = *subgraph->node(node_index);
  const TfLiteRegistration& registration = subgraph->registration(node_index);
  answer->reason = kDeputyReasonNotClaimed;
  if (HasDynamicTensor(subgraph, node)) {
    answer->reason = kDeputyReasonDynamicShape;
    answer->text = "not claimed; its shapes are known only while the model runs";
    return;
  }
  const TakenOperators::Variants* variants = taken.Find(registration);
  if (variants == nullptr) {
    answer->text = "not claimed, no reason given; the delegate took no node of this operator";
  } else if (!variants->types.contains(TypeKey(subgraph, node))) {
    answer->reason = kDeputyReasonType;
    answer->text =
        "not claimed; nodes of this operator with other types were: here " + Types(subgraph, node);
  } else if (!variants->versions.contains(registration.version)) {
    answer->reason = kDeputyReasonVersion;
    answer->text = "not claimed; nodes of this operator in other versions were: here version " +
                   std::to_string(registration.version);
  } else {
    answer->text = "not claimed, no reason given; other nodes of this operator were";
  }
}

void Explain(Subgraph* subgraph, int node_index, const DelegateRecord& record,
             const TakenOperators& taken, NodeAnswer* answer) {
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
    Guess(subgraph, node_index, taken, answer);
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
  const ForeignCall call = {
      .callback = Callback::kSupport, .context = subgraph->context(), .delegate = delegate};
  const CallResult result =
      CallForeign(subgraph->interpreter()->call_observer(), call, [&](CallResult* out) {
        out->status = plugin->get_support(InnerDelegate(delegate), call.context, &answer);
      });
  if (result.status != kTfLiteOk) return;
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
  const TakenOperators taken(subgraph, *record);
  for (size_t i = 0; i < record->nodes.size(); ++i) {
    NodeAnswer& answer = record->nodes[i];
    if (!answer.taken) Explain(subgraph, static_cast<int>(i), *record, taken, &answer);
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
