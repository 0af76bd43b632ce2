// SPDX-License-Identifier: Apache-2.0
//
// Plan for a delegate whose nodes compute in NCHW (deputy_plugin_layout.h). A pure function decides
// which of the claimed nodes are converted, and inserts transpositions.
//
// Every claimed node whose operator depends on the layout is converted, and all claimed nodes that
// can be converted and are connected with one through 4-D images. Then the plan is visited in
// order: where a node reads a tensor that exists only in the other layout, a transposition is
// inserted. Each tensor is transposed at most once after it was written, and pairs of inverse
// transpositions never arise, also between two delegates: transpositions of an earlier delegate are
// removed first, and inserted again only if they are still needed.
#ifndef DEPUTY_CORE_DELEGATION_LAYOUT_PLAN_H_
#define DEPUTY_CORE_DELEGATION_LAYOUT_PLAN_H_

#include <span>
#include <vector>

#include "core/base/partition.h"
#include "core/delegation/layout_rules.h"

namespace deputy {

class Graph;

// A tensor of a converted node: `index` replaces the model's tensor `model`. `node` and `position`
// identify the input that a converted constant replaces; they are -1 for images.
struct LayoutTensor {
  int index, model;
  int node = -1, position = -1;

  bool Is(int of_node, int at) const { return node == of_node && position == at; }
};

// Tensors and transpositions that the runtime has added to a graph for NCHW.
struct LayoutParts {
  static int Find(const std::vector<int>& values, int tensor) {
    return static_cast<size_t>(tensor) < values.size() ? values[static_cast<size_t>(tensor)] : -1;
  }
  bool IsNchw(int tensor) const {
    return static_cast<size_t>(tensor) < is_nchw.size() && is_nchw[static_cast<size_t>(tensor)];
  }

  // Returns the first constant that is not before input `position` of `node`.
  std::vector<LayoutTensor>::const_iterator FindConstant(int node, int position) const;

  // By tensor; tensors beyond the end have the value -1 or false.
  std::vector<int> other;           // tensor with the same contents in the other layout
  std::vector<char> is_nchw;        // true for images in NCHW, which the runtime has added
  std::vector<int> transpositions;  // node that the runtime added to the plan and that writes it
  std::vector<LayoutTensor> constants;  // sorted by node and position
};

struct LayoutPlan {
  PartitionGraph graph;                  // with the tensors and transpositions below
  std::vector<std::vector<int>> arrays;  // inputs and outputs of converted and of new nodes
  std::vector<char> converted;           // by node
  // New tensors have the indices from `first_tensor` on, new transpositions are the nodes from
  // `first_transposition` on.
  int first_tensor = 0, first_transposition = 0;
  std::vector<LayoutTensor> tensors;  // tensors of converted nodes, known and new ones
  struct Transposition {
    int from, to;
  };
  std::vector<Transposition> transpositions;

  // Returns false for a plan without NCHW, of which only `graph` is set.
  bool is_used() const { return !converted.empty(); }
  bool IsConverted(int node) const {
    return static_cast<size_t>(node) < converted.size() && converted[static_cast<size_t>(node)];
  }
};

// Returns true for a transposition that the runtime has added to the plan.
bool IsTransposition(const Graph& graph, const LayoutParts& parts, int node_index);

// Returns null if the node can be given to a delegate that computes in NCHW, else the reason.
const char* WhyNotInNchw(const Graph& graph, const LayoutParts& parts, int node_index);

// Completes a plan whose `graph` describes `graph`: converts claimed nodes and inserts
// transpositions.
void PlanLayout(const Graph& graph, const LayoutParts& parts, std::span<const int> claimed,
                LayoutPlan* plan);

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_LAYOUT_PLAN_H_
