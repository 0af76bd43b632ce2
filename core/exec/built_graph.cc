// SPDX-License-Identifier: Apache-2.0
#include "core/exec/built_graph.h"

#include <algorithm>

#include "c_api/include/builtin_ops.h"
#include "core/model/op_names.h"

namespace deputy {
namespace {

constexpr int kNoNode = -1;

// Nodes that access a tensor, in plan order.
struct Accesses {
  bool is_input = false;        // the client writes the tensor
  int reader = kNoNode;         // newest node that reads it
  int writer = kNoNode;         // newest node that writes it
  bool has_own_writer = false;  // a builtin kernel writes it
};

bool HasIndex(std::span<const int> indices, int index) {
  return std::find(indices.begin(), indices.end(), index) != indices.end();
}

// Returns the rule that a write to the tensor breaks, null if there is none.
const char* BrokenRule(const TfLiteTensor& tensor, const Accesses& before, bool is_own,
                       bool in_place) {
  if (is_own && tensor.allocation_type == kTfLiteMmapRo) return "an output that is no constant";
  if (tensor.is_variable) return nullptr;
  if (is_own && before.is_input) return "an output that is no input of the subgraph";
  if (before.writer != kNoNode && (is_own || (before.has_own_writer && !in_place))) {
    return "an output without another producer";
  }
  return is_own && before.reader != kNoNode ? "an output that no earlier node reads" : nullptr;
}

}  // namespace

BuiltGraph::BuiltGraph(const Graph& graph) : tensor_count_(graph.tensor_count()) {
  own_kernels_.reserve(static_cast<size_t>(graph.node_count()));
  // The model's custom operators may work in place, as a client's kernels may.
  for (int i = 0; i < graph.node_count() && graph.node(i)->delegate == nullptr; ++i) {
    own_kernels_.push_back(graph.registration(i)->builtin_code != kTfLiteBuiltinCustom);
  }
}

const std::string& BuiltGraph::Fault(const Graph& graph, const std::vector<int>& plan) {
  if (!is_checked_) fault_ = FindFault(graph, plan);
  is_checked_ = true;
  return fault_;
}

std::string BuiltGraph::FindFault(const Graph& graph, const std::vector<int>& plan) const {
  std::vector<Accesses> accesses(graph.tensors().size());
  for (int input : graph.inputs()) {
    if (input >= 0) accesses[static_cast<size_t>(input)].is_input = true;
  }
  for (int node_index : plan) {
    const TfLiteNode& node = *graph.node(node_index);
    const bool is_own = node_index < node_count() && own_kernels_[static_cast<size_t>(node_index)];
    // A kernel's init may have written invalid indices to the node, which CheckNodeIndices detects
    // after its prepare.
    for (int index : IndicesOf(node.inputs)) {
      if (graph.tensor(index) != nullptr) accesses[static_cast<size_t>(index)].reader = node_index;
    }
    for (int index : IndicesOf(node.outputs)) {
      const TfLiteTensor* const tensor = graph.tensor(index);
      if (tensor == nullptr) continue;
      Accesses& access = accesses[static_cast<size_t>(index)];
      const bool in_place = !is_own && HasIndex(IndicesOf(node.inputs), index);
      if (const char* const rule = BrokenRule(*tensor, access, is_own, in_place)) {
        return "node " + std::to_string(node_index) + " " +
               OperatorName(*graph.registration(node_index)) + ": expected " + rule +
               ", found tensor " + std::to_string(index) + " '" + NameOf(*tensor) + "'";
      }
      access.writer = node_index;
      access.has_own_writer = access.has_own_writer || is_own;
    }
  }
  return "";
}

}  // namespace deputy
