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

// Maximum number of types in a text for the inputs, and for the outputs; a malicious node may have
// millions of tensors.
constexpr int kTypesToName = 16;

// Returns the types of a node's tensors, as "FLOAT32 INT8 -> FLOAT32".
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

// Returns a key that is equal for nodes whose tensors have the same types.
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

// The operators of the nodes that a delegate runs, with their versions and types.
class DelegatedOperators {
 public:
  struct Variants {
    std::set<int> versions;
    std::set<std::vector<int>> types;
  };

  DelegatedOperators(const Graph& graph, const DelegateRecord& record) {
    for (size_t i = 0; i < record.nodes.size(); ++i) {
      if (!record.nodes[i].delegated) continue;
      const int node = static_cast<int>(i);
      const TfLiteRegistration& registration = *graph.registration(node);
      Variants& variants = operators_[KeyOf(registration)];
      variants.versions.insert(registration.version);
      variants.types.insert(TypeKey(graph, *graph.node(node)));
    }
  }
  // Returns the versions and types of the operator's nodes that the delegate runs; null if there
  // are none.
  const Variants* Find(const TfLiteRegistration& registration) const {
    const auto found = operators_.find(KeyOf(registration));
    return found == operators_.end() ? nullptr : &found->second;
  }

 private:
  // Names belong to registrations, which outlive this object.
  using Key = std::pair<int, std::string_view>;
  static Key KeyOf(const TfLiteRegistration& registration) {
    return {registration.builtin_code, OperatorName(registration)};
  }

  std::map<Key, Variants> operators_;
};

// Derives a reason for a node for which the delegate gave none: its tensors are dynamic, or it
// differs in types or version from the nodes of the same operator that the delegate runs; else
// kDeputyReasonNotClaimed.
void InferReason(const Graph& graph, int node_index, const DelegatedOperators& delegated,
                 NodeSupport* support) {
  const TfLiteNode& node = *graph.node(node_index);
  const TfLiteRegistration& registration = *graph.registration(node_index);
  support->reason = kDeputyReasonNotClaimed;
  if (HasDynamicTensor(graph, node)) {
    support->reason = kDeputyReasonDynamicShape;
    support->text = "not claimed; its shapes are known only while the model runs";
    return;
  }
  const DelegatedOperators::Variants* variants = delegated.Find(registration);
  if (variants == nullptr) {
    support->text = "not claimed, no reason given; the delegate claimed no node of this operator";
  } else if (!variants->types.contains(TypeKey(graph, node))) {
    support->reason = kDeputyReasonType;
    support->text =
        "not claimed; nodes of this operator with other types were: here " + Types(graph, node);
  } else if (!variants->versions.contains(registration.version)) {
    support->reason = kDeputyReasonVersion;
    support->text = "not claimed; nodes of this operator in other versions were: here version " +
                    std::to_string(registration.version);
  } else {
    support->text = "not claimed, no reason given; other nodes of this operator were";
  }
}

// `replacement` is the delegate node that replaced the node, or -1.
void Explain(const Graph& graph, int node_index, int replacement, const DelegateRecord& record,
             const DelegatedOperators& delegated, NodeSupport* support) {
  if (!record.applied) {
    // A reason that the delegate gave or that was set earlier (pinned, excluded, group) is kept.
    if (support->reason != kDeputyReasonNotQueried && support->reason != kDeputyReasonNone) return;
    support->reason = support->claimed ? kDeputyReasonFailed : kDeputyReasonGraph;
    support->text = record.failure;
    return;
  }
  if (support->reason != kDeputyReasonNotQueried && support->reason != kDeputyReasonNone) return;
  if (graph.node(node_index)->delegate != nullptr) replacement = node_index;
  if (replacement >= 0) {
    support->reason = kDeputyReasonClaimedByOther;
    support->text = std::string("claimed by another delegate: ") +
                    OperatorName(*graph.registration(replacement));
  } else if (support->previewed) {
    support->reason = kDeputyReasonPartitionTooSmall;
    support->text = "the delegate previewed the node's partition, but did not claim it";
  } else if (!support->inspected) {
    support->reason = kDeputyReasonNotQueried;
    support->text = "the delegate did not inspect it";
  } else {
    InferReason(graph, node_index, delegated, support);
  }
}

// Marks the nodes that the delegate runs as part of `node_index`, which may be a node of the
// delegate or of one that claimed such a node later.
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

// Returns, by node index up to `count`, whether the delegate runs the node, directly or inside a
// node that another delegate claimed later.
std::vector<bool> NodesRunBy(const Graph& graph, const TfLiteDelegate* inner, size_t count) {
  std::vector<bool> runs(count, false);
  for (int node : graph.plan()) MarkRun(graph, node, inner, false, &runs);
  return runs;
}

// Stores for each node inside the delegate node `node_index` the index of the delegate node that
// replaced it.
void MarkReplaced(const Graph& graph, int node_index, std::vector<int>* replacements) {
  const TfLiteNode& node = *graph.node(node_index);
  if (node.delegate == nullptr) return;
  const TfLiteIntArray* replaced = ReplacedNodes(node);
  for (int i = 0; i < replaced->size; ++i) {
    const size_t index = static_cast<size_t>(replaced->data[i]);
    if (index < replacements->size()) (*replacements)[index] = node_index;
    MarkReplaced(graph, replaced->data[i], replacements);
  }
}

}  // namespace

void Conclude(const Graph& graph, const TfLiteDelegate* inner, DelegateRecord* record) {
  const std::vector<bool> runs = NodesRunBy(graph, inner, record->nodes.size());
  for (size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i]) continue;
    record->nodes[i].delegated = true;
    record->nodes[i].reason = kDeputyReasonNone;
    record->nodes[i].text.clear();
  }
  const DelegatedOperators delegated(graph, *record);
  std::vector<int> replacements(record->nodes.size(), -1);
  for (int node : graph.plan()) MarkReplaced(graph, node, &replacements);
  for (size_t i = 0; i < record->nodes.size(); ++i) {
    NodeSupport& support = record->nodes[i];
    if (support.delegated) continue;
    Explain(graph, static_cast<int>(i), replacements[i], *record, delegated, &support);
  }
}

void ReviseNodes(const Graph& graph, const TfLiteDelegate* inner, const char* why,
                 DelegateRecord* record) {
  const size_t node_count = static_cast<size_t>(graph.node_count());
  if (record->nodes.size() > node_count) record->nodes.resize(node_count);
  const std::vector<bool> runs = NodesRunBy(graph, inner, record->nodes.size());
  for (size_t i = 0; i < runs.size(); ++i) {
    NodeSupport& support = record->nodes[i];
    if (support.delegated == runs[i]) continue;
    support.delegated = runs[i];
    support.reason = support.delegated ? kDeputyReasonNone : kDeputyReasonRemoved;
    support.text = support.delegated ? "" : why;
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
    case kDeputyReasonNotQueried:
      return "NOT_QUERIED";
    case kDeputyReasonClaimedByOther:
      return "CLAIMED_BY_OTHER";
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
