// SPDX-License-Identifier: Apache-2.0
#include "core/delegation/layout_plan.h"

#include <algorithm>
#include <utility>

#include "core/graph/graph.h"

namespace deputy {
namespace {

size_t Index(int index) { return static_cast<size_t>(index); }

class Planner {
 public:
  Planner(const Graph& graph, const LayoutParts& parts, LayoutPlan* plan)
      : graph_(graph),
        parts_(parts),
        plan_(*plan),
        other_(parts.other),
        is_nchw_(parts.is_nchw),
        convertible_(plan->graph.nodes.size()),
        root_(plan->graph.nodes.size()) {
    other_.resize(Index(plan_.graph.tensor_count), -1);
    is_nchw_.resize(other_.size());
    plan_.first_tensor = plan_.graph.tensor_count;
    plan_.first_transposition = static_cast<int>(root_.size());
  }

  void Convert(std::span<const int> claimed) {
    FindConvertible(claimed);
    plan_.converted.assign(root_.size(), false);
    for (size_t node = 0; node < root_.size(); ++node) {
      const LayoutRule* const rule = convertible_[node];
      if (rule != nullptr && rule->is_bound) plan_.converted[Index(Root(node))] = true;
    }
    for (size_t node = 0; node < root_.size(); ++node) {
      if (convertible_[node] == nullptr || !plan_.converted[Index(Root(node))]) continue;
      plan_.converted[node] = true;
      ConvertNode(static_cast<int>(node));
    }
  }

  void InsertTranspositions() {
    written_.assign(other_.size(), false);
    available_ = written_;
    old_transpositions_.assign(other_.size(), -1);
    const std::vector<int> old_plan = std::exchange(plan_.graph.plan, {});
    for (const int node : old_plan) NoteOutputs(node);
    std::vector<int> position_of;
    for (const int node : old_plan) {
      position_of.push_back(static_cast<int>(plan_.graph.plan.size()));
      if (IsTransposition(graph_, parts_, node)) continue;
      const std::span<const int> inputs = plan_.graph.nodes[Index(node)].inputs;
      for (const int input : inputs) Provide(input);
      position_of.back() = static_cast<int>(plan_.graph.plan.size());
      Append(node, false);
    }
    for (const int output : plan_.graph.outputs) Provide(output);
    for (auto& [from, to] : plan_.graph.control_edges) {
      // Invalid positions are kept, and rejected later.
      if (Index(from) < position_of.size()) from = position_of[Index(from)];
      if (Index(to) < position_of.size()) to = position_of[Index(to)];
    }
  }

 private:
  std::span<const int> OutputsOf(int node) const { return plan_.graph.nodes[Index(node)].outputs; }
  bool IsImage(int tensor) const {
    const TfLiteTensor* const at = graph_.tensor(tensor);
    return at != nullptr && at->dims != nullptr && at->dims->size == kImageRank;
  }
  InputChange ChangeOf(int node, size_t position, int tensor) const {
    if (tensor < 0) return InputChange::kNone;
    return ChangeOfInput(*graph_.tensor(tensor), static_cast<int>(position),
                         *convertible_[Index(node)]);
  }

  // ---- Conversion ------------------------------------------------------------------------------

  // Finds the claimed nodes that can be converted, and connects producers with consumers.
  void FindConvertible(std::span<const int> claimed) {
    std::vector<char> in_plan(root_.size());
    for (const int node : plan_.graph.plan) in_plan[Index(node)] = true;
    std::vector<int> producer(other_.size(), -1);
    for (size_t node = 0; node < root_.size(); ++node) root_[node] = static_cast<int>(node);
    for (const int node : claimed) {
      if (Index(node) >= in_plan.size() || !in_plan[Index(node)]) continue;
      const LayoutRule* const rule = FindLayoutRule(graph_.registration(node)->builtin_code);
      if (rule == nullptr || WhyNotConvertible(graph_, node, *rule) != nullptr) continue;
      convertible_[Index(node)] = rule;
      for (const int output : OutputsOf(node)) {
        if (IsImage(output)) producer[Index(output)] = node;
      }
    }
    for (size_t node = 0; node < root_.size(); ++node) {
      if (convertible_[node] == nullptr) continue;
      const std::span<const int> inputs = plan_.graph.nodes[node].inputs;
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (ChangeOf(static_cast<int>(node), i, inputs[i]) != InputChange::kImage) continue;
        const int from = producer[Index(inputs[i])];
        if (from >= 0) root_[Index(Root(Index(from)))] = Root(node);
      }
    }
  }

  // Returns a node that represents all nodes with which the node is connected.
  int Root(size_t node) {
    while (root_[node] != static_cast<int>(node)) {
      root_[node] = root_[Index(root_[node])];
      node = Index(root_[node]);
    }
    return static_cast<int>(node);
  }

  // Returns the index of a tensor of a converted node; `known` is -1 for a new one.
  int Use(int known, LayoutTensor tensor) {
    tensor.index = known >= 0 ? known : plan_.graph.tensor_count++;
    other_.resize(Index(plan_.graph.tensor_count), -1);
    is_nchw_.resize(other_.size());
    plan_.tensors.push_back(tensor);
    return tensor.index;
  }

  int NchwOf(int tensor) {
    const int known = other_[Index(tensor)];
    if (known >= plan_.first_tensor) return known;
    const int nchw = Use(known, {-1, tensor});
    other_[Index(tensor)] = nchw;
    other_[Index(nchw)] = tensor;
    is_nchw_[Index(nchw)] = true;
    return nchw;
  }

  int ConstantOf(int node, int position, int tensor) {
    const auto found = parts_.FindConstant(node, position);
    const bool is_known = found != parts_.constants.end() && found->Is(node, position);
    return Use(is_known ? found->index : -1, {-1, tensor, node, position});
  }

  // Moving the arrays does not move their contents, to which the nodes refer.
  void SetArrays(int node, std::vector<int> inputs, std::vector<int> outputs) {
    plan_.arrays.push_back(std::move(inputs));
    plan_.graph.nodes[Index(node)].inputs = plan_.arrays.back();
    plan_.arrays.push_back(std::move(outputs));
    plan_.graph.nodes[Index(node)].outputs = plan_.arrays.back();
  }

  void ConvertNode(int node) {
    const PartitionGraph::Node& old = plan_.graph.nodes[Index(node)];
    std::vector<int> inputs(old.inputs.begin(), old.inputs.end());
    for (size_t i = 0; i < inputs.size(); ++i) {
      const InputChange change = ChangeOf(node, i, inputs[i]);
      if (change == InputChange::kImage) {
        inputs[i] = NchwOf(inputs[i]);
      } else if (change != InputChange::kNone) {
        inputs[i] = ConstantOf(node, static_cast<int>(i), inputs[i]);
      }
    }
    std::vector<int> outputs(old.outputs.begin(), old.outputs.end());
    for (int& output : outputs) {
      if (IsImage(output)) output = NchwOf(output);
    }
    SetArrays(node, std::move(inputs), std::move(outputs));
  }

  // ---- Transpositions --------------------------------------------------------------------------

  void NoteOutputs(int node) {
    const bool is_transposition = IsTransposition(graph_, parts_, node);
    for (const int output : OutputsOf(node)) {
      if (output < 0) continue;
      if (is_transposition) {
        old_transpositions_[Index(output)] = node;
        continue;
      }
      written_[Index(output)] = true;
      const int other = other_[Index(output)];
      if (other >= 0) written_[Index(other)] = true;
    }
  }

  // Tensors of the model that no node writes in any layout are available from the beginning.
  bool IsAvailable(int tensor) const {
    return available_[Index(tensor)] || (!written_[Index(tensor)] && !is_nchw_[Index(tensor)]);
  }

  void Append(int node, bool is_transposition) {
    plan_.graph.plan.push_back(node);
    for (const int output : OutputsOf(node)) {
      if (output < 0) continue;
      // After a node has written a tensor, its transposed copy is stale.
      const int other = is_transposition ? -1 : other_[Index(output)];
      if (other >= 0) available_[Index(other)] = false;
      available_[Index(output)] = true;
    }
  }

  // Inserts a transposition if the tensor is available only in the other layout.
  void Provide(int tensor) {
    if (tensor < 0 || IsAvailable(tensor)) return;
    const int other = other_[Index(tensor)];
    if (other < 0 || !IsAvailable(other)) return;
    int node = std::exchange(old_transpositions_[Index(tensor)], -1);
    if (node < 0) {
      node = static_cast<int>(plan_.graph.nodes.size());
      plan_.graph.nodes.emplace_back();
      plan_.transpositions.push_back({other, tensor});
      SetArrays(node, {other}, {tensor});
    }
    Append(node, true);
  }

  const Graph& graph_;
  const LayoutParts& parts_;
  LayoutPlan& plan_;
  std::vector<int> other_;  // like LayoutParts, with the tensors of the plan
  std::vector<char> is_nchw_;
  std::vector<const LayoutRule*> convertible_;  // by node; null: the node is not convertible
  std::vector<int> root_;                       // by node: see Root
  std::vector<char> written_;    // by tensor: a node writes it in this or in the other layout
  std::vector<char> available_;  // by tensor: a preceding node has written it
  std::vector<int> old_transpositions_;  // by tensor: the old plan's node that writes it
};

}  // namespace

std::vector<LayoutTensor>::const_iterator LayoutParts::FindConstant(int node, int position) const {
  return std::lower_bound(
      constants.begin(), constants.end(), std::pair(node, position),
      [](const LayoutTensor& a, const auto& b) { return std::pair(a.node, a.position) < b; });
}

bool IsTransposition(const Graph& graph, const LayoutParts& parts, int node_index) {
  const std::span<const int> outputs = IndicesOf(graph.node(node_index)->outputs);
  return outputs.size() == 1 && LayoutParts::Find(parts.transpositions, outputs[0]) == node_index;
}

const char* WhyNotInNchw(const Graph& graph, const LayoutParts& parts, int node_index) {
  if (IsTransposition(graph, parts, node_index)) return "the runtime has inserted it";
  if (graph.HasDynamicTensor(IndicesOf(graph.node(node_index)->outputs))) {
    return "the shape of an output depends on values";
  }
  const LayoutRule* const rule = FindLayoutRule(graph.registration(node_index)->builtin_code);
  if (rule == nullptr || !rule->is_bound) return nullptr;
  return WhyNotConvertible(graph, node_index, *rule);
}

void PlanLayout(const Graph& graph, const LayoutParts& parts, std::span<const int> claimed,
                LayoutPlan* plan) {
  Planner planner(graph, parts, plan);
  planner.Convert(claimed);
  planner.InsertTranspositions();
}

}  // namespace deputy
