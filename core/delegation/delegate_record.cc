// SPDX-License-Identifier: Apache-2.0
#include "core/delegation/delegate_record.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "core/base/delegate_params.h"
#include "core/graph/graph.h"
#include "core/model/op_names.h"

namespace deputy {
namespace {

bool HasDynamicTensor(const Graph& graph, const TfLiteNode& node) {
  for (const TfLiteIntArray* indices : {node.inputs, node.outputs}) {
    for (int i = 0; i < indices->size; ++i) {
      const TfLiteTensor* tensor = graph.tensor(indices->data[i]);
      if (tensor != nullptr && tensor->allocation_type == kTfLiteDynamic) return true;
    }
  }
  return false;
}

// Types written out per list; a hostile node has millions.
constexpr int kTypesToName = 16;

// The types of a node's tensors, as "FLOAT32 INT8 -> FLOAT32".
std::string Types(const Graph& graph, const TfLiteNode& node) {
  std::string text;
  const auto add = [&](const TfLiteIntArray* indices) {
    const int named = std::min(indices->size, kTypesToName);
    for (int i = 0; i < named; ++i) {
      const TfLiteTensor* tensor = graph.tensor(indices->data[i]);
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
std::vector<int> TypeKey(const Graph& graph, const TfLiteNode& node) {
  constexpr int kAbsent = -1;
  std::vector<int> key = {node.inputs->size};
  for (const TfLiteIntArray* indices : {node.inputs, node.outputs}) {
    for (int i = 0; i < indices->size; ++i) {
      const TfLiteTensor* tensor = graph.tensor(indices->data[i]);
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

  TakenOperators(const Graph& graph, const DelegateRecord& record) {
    for (size_t i = 0; i < record.nodes.size(); ++i) {
      if (!record.nodes[i].taken) continue;
      const int node = static_cast<int>(i);
      const TfLiteRegistration& registration = *graph.registration(node);
      Variants& variants = operators_[KeyOf(registration)];
      variants.versions.insert(registration.version);
      variants.types.insert(TypeKey(graph, *graph.node(node)));
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
void Guess(const Graph& graph, int node_index, const TakenOperators& taken, NodeAnswer* answer) {
  const TfLiteNode& node = *graph.node(node_index);
  const TfLiteRegistration& registration = *graph.registration(node_index);
  answer->reason = kDeputyReasonNotClaimed;
  if (HasDynamicTensor(graph, node)) {
    answer->reason = kDeputyReasonDynamicShape;
    answer->text = "not claimed; its shapes are known only while the model runs";
    return;
  }
  const TakenOperators::Variants* variants = taken.Find(registration);
  if (variants == nullptr) {
    answer->text = "not claimed, no reason given; the delegate took no node of this operator";
  } else if (!variants->types.contains(TypeKey(graph, node))) {
    answer->reason = kDeputyReasonType;
    answer->text =
        "not claimed; nodes of this operator with other types were: here " + Types(graph, node);
  } else if (!variants->versions.contains(registration.version)) {
    answer->reason = kDeputyReasonVersion;
    answer->text = "not claimed; nodes of this operator in other versions were: here version " +
                   std::to_string(registration.version);
  } else {
    answer->text = "not claimed, no reason given; other nodes of this operator were";
  }
}

void Explain(const Graph& graph, int node_index, const DelegateRecord& record,
             const TakenOperators& taken, NodeAnswer* answer) {
  const TfLiteNode& node = *graph.node(node_index);
  if (!record.applied) {
    // Keep a reason that was set earlier: pinned, excluded, group.
    if (answer->reason != kDeputyReasonNotAsked && answer->reason != kDeputyReasonNone) return;
    answer->reason = answer->claimed ? kDeputyReasonFailed : kDeputyReasonGraph;
    answer->text = record.failure;
    return;
  }
  if (answer->reason != kDeputyReasonNotAsked && answer->reason != kDeputyReasonNone) return;
  if (node.delegate != nullptr) {
    answer->reason = kDeputyReasonTaken;
    answer->text = std::string("it is a node of another delegate: ") +
                   OperatorName(*graph.registration(node_index));
  } else if (answer->previewed) {
    answer->reason = kDeputyReasonPartitionTooSmall;
    answer->text = "the delegate looked at the partition it would be in, and let it be";
  } else if (!answer->looked_at) {
    answer->reason = kDeputyReasonNotAsked;
    answer->text = "the delegate did not look at it";
  } else {
    Guess(graph, node_index, taken, answer);
  }
}

// Marks the nodes behind a node of the plan, if that is the delegate's or holds one of its own.
void MarkRun(const Graph& graph, int node_index, const TfLiteDelegate* delegate, bool within,
             std::vector<bool>* runs) {
  const bool known = static_cast<size_t>(node_index) < runs->size();
  if (within && known) {
    (*runs)[static_cast<size_t>(node_index)] = true;
    return;
  }
  const TfLiteNode& node = *graph.node(node_index);
  if (node.delegate == nullptr) return;
  const TfLiteIntArray* replaced = ReplacedNodes(node);
  for (int i = 0; i < replaced->size; ++i) {
    MarkRun(graph, replaced->data[i], delegate, within || node.delegate == delegate, runs);
  }
}

// By node index, up to `count`: whether the delegate runs the node, or took it before another
// delegate took that.
std::vector<bool> NodesRunBy(const Graph& graph, const TfLiteDelegate* inner, size_t count) {
  std::vector<bool> runs(count, false);
  for (int node : graph.plan()) MarkRun(graph, node, inner, false, &runs);
  return runs;
}

}  // namespace

void Conclude(const Graph& graph, const TfLiteDelegate* inner, DelegateRecord* record) {
  const std::vector<bool> runs = NodesRunBy(graph, inner, record->nodes.size());
  for (size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i]) continue;
    record->nodes[i].taken = true;
    record->nodes[i].reason = kDeputyReasonNone;
    record->nodes[i].text.clear();
  }
  const TakenOperators taken(graph, *record);
  for (size_t i = 0; i < record->nodes.size(); ++i) {
    NodeAnswer& answer = record->nodes[i];
    if (!answer.taken) Explain(graph, static_cast<int>(i), *record, taken, &answer);
  }
}

void ReviseNodes(const Graph& graph, const TfLiteDelegate* inner, const char* why,
                 DelegateRecord* record) {
  const size_t node_count = static_cast<size_t>(graph.node_count());
  if (record->nodes.size() > node_count) record->nodes.resize(node_count);
  const std::vector<bool> runs = NodesRunBy(graph, inner, record->nodes.size());
  for (size_t i = 0; i < runs.size(); ++i) {
    NodeAnswer& answer = record->nodes[i];
    if (answer.taken == runs[i]) continue;
    answer.taken = runs[i];
    answer.reason = answer.taken ? kDeputyReasonNone : kDeputyReasonRemoved;
    answer.text = answer.taken ? "" : why;
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
