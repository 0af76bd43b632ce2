// SPDX-License-Identifier: Apache-2.0
#include "core/delegation/placement_problem.h"

#include <algorithm>
#include <limits>
#include <list>
#include <numeric>
#include <string>
#include <utility>

namespace deputy {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
// Maximum number of positions at which a step may begin or end; bounds the time of a search.
constexpr size_t kMaxPositions = 32;
// Maximum number of predictions of one solution.
constexpr int kMaxPredictions = 6000;

size_t At(int index) { return static_cast<size_t>(index); }

bool CanRun(const PlacementProblem& problem, int owner, int node) {
  return owner == kCpuOwner || problem.delegates[At(owner)].node_ns[At(node)] >= 0;
}

double NodeNs(const PlacementProblem& problem, int owner, int node) {
  if (owner == kCpuOwner) return problem.cpu_ns[At(node)];
  const double ns = problem.delegates[At(owner)].node_ns[At(node)];
  return ns < 0 ? kInfinite : ns;
}

double BytesOf(const PlacementProblem& problem, std::span<const int> tensors) {
  double bytes = 0;
  for (const int tensor : tensors) {
    if (tensor >= 0) bytes += problem.tensor_bytes[At(tensor)];
  }
  return bytes;
}

// A plan in which partitions replace nodes, one delegate after the other.
class Replacement {
 public:
  explicit Replacement(const PlacementProblem& problem)
      : problem_(problem), graph_(problem.graph), runners_(problem.graph.nodes.size()) {
    for (size_t i = 0; i < runners_.size(); ++i) runners_[i] = static_cast<int>(i);
    for (const auto& [before, after] : graph_.control_edges) {
      edges_.emplace_back(graph_.plan[At(before)], graph_.plan[At(after)]);
    }
  }

  bool Apply(int delegate, std::span<const int> nodes, Prediction* out) {
    if (nodes.empty()) return true;
    PlaceControlEdges();
    std::vector<NodeSubset> subsets;
    std::string error;
    if (!Partition(graph_, nodes, {}, &subsets, &error)) return false;
    graph_.plan.clear();
    for (NodeSubset& subset : subsets) {
      if (subset.claimed) {
        AddPartition(delegate, std::move(subset), out);
      } else {
        graph_.plan.insert(graph_.plan.end(), subset.nodes.begin(), subset.nodes.end());
      }
    }
    return true;
  }

 private:
  void AddPartition(int delegate, NodeSubset subset, Prediction* out) {
    const DelegateCosts& costs = problem_.delegates[At(delegate)];
    const int runner = static_cast<int>(graph_.nodes.size());
    PredictedPartition partition = {.delegate = delegate, .nodes = subset.nodes};
    std::sort(partition.nodes.begin(), partition.nodes.end());
    const auto measured = costs.measured.find(partition.nodes);
    partition.is_measured = measured != costs.measured.end();
    if (partition.is_measured) {
      partition.ns = measured->second;
    } else {
      partition.ns = costs.launch_ns + costs.ns_per_byte * (BytesOf(problem_, subset.inputs) +
                                                            BytesOf(problem_, subset.outputs));
      for (const int node : subset.nodes) partition.ns += NodeNs(problem_, delegate, node);
      out->estimated_ns += partition.ns;
    }
    for (const int node : subset.nodes) runners_[At(node)] = runner;
    out->total_ns += partition.ns;
    out->partitions.push_back(std::move(partition));
    subsets_.push_back(std::move(subset));
    graph_.nodes.push_back({subsets_.back().inputs, subsets_.back().outputs});
    graph_.plan.push_back(runner);
  }

  void PlaceControlEdges() {
    if (edges_.empty()) return;
    std::vector<int> positions(graph_.nodes.size(), -1);
    for (size_t i = 0; i < graph_.plan.size(); ++i) {
      positions[At(graph_.plan[i])] = static_cast<int>(i);
    }
    graph_.control_edges.clear();
    for (const auto& [before, after] : edges_) {
      const int first = positions[At(runners_[At(before)])];
      const int second = positions[At(runners_[At(after)])];
      if (first >= 0 && second > first) graph_.control_edges.emplace_back(first, second);
    }
  }

  const PlacementProblem& problem_;
  PartitionGraph graph_;
  std::list<NodeSubset> subsets_;           // storage of the tensors of partitions
  std::vector<int> runners_;                // node of the plan that runs a node
  std::vector<std::pair<int, int>> edges_;  // control edges between nodes
};

double TotalNs(const PlacementProblem& problem, const Assignment& assignment) {
  Prediction prediction;
  return Predict(problem, assignment, &prediction) ? prediction.total_ns : kInfinite;
}

// Returns the bytes of tensors that are computed before each position of the plan and read from
// there on; one more entry than the plan has nodes.
std::vector<double> BytesAcross(const PlacementProblem& problem) {
  const PartitionGraph& graph = problem.graph;
  const size_t count = graph.plan.size();
  std::vector<size_t> first(At(graph.tensor_count), 0), last(At(graph.tensor_count), 0);
  for (size_t i = 0; i < count; ++i) {
    const PartitionGraph::Node& node = graph.nodes[At(graph.plan[i])];
    for (const int tensor : node.inputs) {
      if (tensor >= 0) last[At(tensor)] = std::max(last[At(tensor)], i);
    }
    for (const int tensor : node.outputs) {
      if (tensor >= 0) first[At(tensor)] = last[At(tensor)] = i + 1;
    }
  }
  for (const int tensor : graph.outputs) {
    if (tensor >= 0) last[At(tensor)] = count;
  }
  // Differences between adjacent positions, then their sums.
  std::vector<double> bytes(count + 2, 0);
  for (size_t t = 0; t < first.size(); ++t) {
    bytes[first[t]] += problem.tensor_bytes[t];
    bytes[last[t] + 1] -= problem.tensor_bytes[t];
  }
  std::partial_sum(bytes.begin(), bytes.end(), bytes.begin());
  return bytes;
}

// Returns the optimum if the plan were a chain: a border between two owners costs the launch of the
// second one and the copies of all tensors across it.
Assignment SolveAsChain(const PlacementProblem& problem) {
  const std::vector<int>& plan = problem.graph.plan;
  const int owners = static_cast<int>(problem.delegates.size()) + 1;  // 0: the CPU
  const std::vector<double> across = BytesAcross(problem);
  const auto border_ns = [&](int from, int to, size_t position) {
    if (from == to) return 0.0;
    double ns = 0;
    if (from > 0) ns += problem.delegates[At(from - 1)].ns_per_byte * across[position];
    if (to > 0) {
      const DelegateCosts& costs = problem.delegates[At(to - 1)];
      ns += costs.launch_ns + costs.ns_per_byte * across[position];
    }
    return ns;
  };
  std::vector<double> best(At(owners), kInfinite);
  best[0] = 0;
  std::vector<std::vector<int>> came_from;
  for (size_t i = 0; i < plan.size(); ++i) {
    std::vector<double> next(At(owners), kInfinite);
    std::vector<int> from(At(owners), 0);
    for (int to = 0; to < owners; ++to) {
      const double node_ns = NodeNs(problem, to - 1, plan[i]);
      for (int before = 0; before < owners; ++before) {
        const double ns = best[At(before)] + border_ns(before, to, i) + node_ns;
        if (ns < next[At(to)]) {
          next[At(to)] = ns;
          from[At(to)] = before;
        }
      }
    }
    best = std::move(next);
    came_from.push_back(std::move(from));
  }
  for (int owner = 1; owner < owners; ++owner) best[At(owner)] += border_ns(owner, 0, plan.size());
  int owner = static_cast<int>(std::min_element(best.begin(), best.end()) - best.begin());
  Assignment assignment(problem.cpu_ns.size(), kCpuOwner);
  for (size_t i = plan.size(); i-- > 0;) {
    assignment[At(plan[i])] = owner - 1;
    owner = came_from[i][At(owner)];
  }
  return assignment;
}

// Returns the positions of the plan at which a step may begin or end: all positions of a short
// plan, otherwise at most kMaxPositions of those at which the owner or the set of possible owners
// changes.
std::vector<size_t> Positions(const PlacementProblem& problem, const Assignment& assignment) {
  const std::vector<int>& plan = problem.graph.plan;
  const auto differ = [&](int a, int b) {
    bool differs = assignment[At(a)] != assignment[At(b)];
    for (size_t d = 0; d < problem.delegates.size(); ++d) {
      const int owner = static_cast<int>(d);
      differs |= CanRun(problem, owner, a) != CanRun(problem, owner, b);
    }
    return differs;
  };
  std::vector<size_t> positions;
  for (size_t i = 0; i <= plan.size(); ++i) {
    const bool is_end = i == 0 || i == plan.size();
    if (is_end || plan.size() < kMaxPositions || differ(plan[i - 1], plan[i])) {
      positions.push_back(i);
    }
  }
  if (positions.size() <= kMaxPositions) return positions;
  std::vector<size_t> some;
  for (size_t i = 0; i < kMaxPositions; ++i) {
    some.push_back(positions[i * (positions.size() - 1) / (kMaxPositions - 1)]);
  }
  return some;
}

// Returns the assignment in which `owner` runs those nodes at positions [begin, end) that it can
// run.
Assignment Moved(const PlacementProblem& problem, const Assignment& assignment, size_t begin,
                 size_t end, int owner) {
  Assignment moved = assignment;
  for (size_t i = begin; i < end; ++i) {
    const int node = problem.graph.plan[i];
    if (CanRun(problem, owner, node)) moved[At(node)] = owner;
  }
  return moved;
}

// Hill climbing with a limited number of predictions.
class Climber {
 public:
  Climber(const PlacementProblem& problem, const std::function<bool()>& has_time)
      : problem_(problem), has_time_(has_time) {}

  // Applies the best step until no step lowers the predicted time `*ns`.
  void Climb(Assignment* assignment, double* ns) {
    while (CanContinue()) {
      Assignment best = *assignment;
      const double before_ns = *ns;
      const std::vector<size_t> positions = Positions(problem_, *assignment);
      for (size_t a = 0; a + 1 < positions.size(); ++a) {
        for (size_t b = a + 1; b < positions.size() && CanContinue(); ++b) {
          TrySteps(*assignment, positions[a], positions[b], &best, ns);
        }
      }
      if (*ns >= before_ns) return;
      *assignment = std::move(best);
    }
  }

 private:
  bool CanContinue() const {
    return predictions_ < kMaxPredictions && (has_time_ == nullptr || has_time_());
  }

  void TrySteps(const Assignment& assignment, size_t begin, size_t end, Assignment* best,
                double* best_ns) {
    for (int owner = kCpuOwner; owner < static_cast<int>(problem_.delegates.size()); ++owner) {
      Assignment moved = Moved(problem_, assignment, begin, end, owner);
      if (moved == assignment) continue;
      ++predictions_;
      const double ns = TotalNs(problem_, moved);
      if (ns >= *best_ns) continue;
      *best_ns = ns;
      *best = std::move(moved);
    }
  }

  const PlacementProblem& problem_;
  const std::function<bool()>& has_time_;
  int predictions_ = 0;
};

}  // namespace

bool Predict(const PlacementProblem& problem, const Assignment& assignment, Prediction* out) {
  *out = {};
  Replacement replacement(problem);
  for (size_t d = 0; d < problem.delegates.size(); ++d) {
    std::vector<int> nodes;
    for (const int node : problem.graph.plan) {
      if (assignment[At(node)] == static_cast<int>(d)) nodes.push_back(node);
    }
    if (!replacement.Apply(static_cast<int>(d), nodes, out)) return false;
  }
  for (const int node : problem.graph.plan) {
    if (assignment[At(node)] == kCpuOwner) out->total_ns += problem.cpu_ns[At(node)];
  }
  return true;
}

Assignment Solve(const PlacementProblem& problem, std::span<const Assignment> starts,
                 const std::function<bool()>& has_time) {
  struct Candidate {
    Assignment assignment;
    double ns;
  };
  std::vector<Candidate> candidates;
  const auto add = [&](Assignment assignment) {
    const double ns = TotalNs(problem, assignment);
    candidates.push_back({std::move(assignment), ns});
  };
  for (const Assignment& start : starts) add(start);
  const Assignment on_cpu(problem.cpu_ns.size(), kCpuOwner);
  add(on_cpu);
  for (size_t d = 0; d < problem.delegates.size(); ++d) {
    add(Moved(problem, on_cpu, 0, problem.graph.plan.size(), static_cast<int>(d)));
  }
  add(SolveAsChain(problem));
  const auto is_faster = [](const Candidate& a, const Candidate& b) { return a.ns < b.ns; };
  std::stable_sort(candidates.begin(), candidates.end(), is_faster);
  Climber climber(problem, has_time);
  for (Candidate& each : candidates) climber.Climb(&each.assignment, &each.ns);
  return std::min_element(candidates.begin(), candidates.end(), is_faster)->assignment;
}

Assignment SolveExactly(const PlacementProblem& problem) {
  const std::vector<int>& plan = problem.graph.plan;
  Assignment assignment(problem.cpu_ns.size(), kCpuOwner), best = assignment;
  double best_ns = TotalNs(problem, assignment);
  // Counts with one digit for each node: the owner.
  const auto next = [&] {
    for (const int node : plan) {
      if (++assignment[At(node)] < static_cast<int>(problem.delegates.size())) return true;
      assignment[At(node)] = kCpuOwner;
    }
    return false;
  };
  while (next()) {
    const double ns = TotalNs(problem, assignment);
    if (ns >= best_ns) continue;
    best_ns = ns;
    best = assignment;
  }
  return best;
}

}  // namespace deputy
