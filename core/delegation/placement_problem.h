// SPDX-License-Identifier: Apache-2.0
//
// Chooses the delegate, or the CPU, for each node of a plan, so that the predicted time of an
// inference is low. Pure functions over times and sizes.
#ifndef DEPUTY_CORE_DELEGATION_PLACEMENT_PROBLEM_H_
#define DEPUTY_CORE_DELEGATION_PLACEMENT_PROBLEM_H_

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "core/base/partition.h"

namespace deputy {

// Index of a delegate by node index; kCpuOwner for nodes that the CPU runs.
using Assignment = std::vector<int>;
constexpr int kCpuOwner = -1;

// Costs of a delegate, in nanoseconds.
struct DelegateCosts {
  // Time by node index, without launch and copies; negative if the delegate cannot run the node.
  std::vector<double> node_ns;
  double launch_ns = 0;    // fixed cost of a partition
  double ns_per_byte = 0;  // cost of a byte that enters or leaves a partition
  // Measured costs of whole partitions, by their node indices in ascending order. A measured cost
  // replaces the sum of the estimates.
  std::map<std::vector<int>, double> measured;
};

struct PlacementProblem {
  PartitionGraph graph;                  // without delegates
  std::vector<double> tensor_bytes;      // by tensor index; 0 for constants
  std::vector<double> cpu_ns;            // time by node index
  std::vector<DelegateCosts> delegates;  // in the order in which they are applied
};

struct PredictedPartition {
  int delegate = 0;
  std::vector<int> nodes;  // ascending
  double ns = 0;
  bool is_measured = false;
};

struct Prediction {
  double total_ns = 0;
  double estimated_ns = 0;  // part of the total that is the cost of partitions without measurement
  std::vector<PredictedPartition> partitions;
};

// Predicts the time of an inference with an assignment. The partitions are those that applying the
// delegates in their order creates. Returns false if the plan cannot be partitioned.
bool Predict(const PlacementProblem& problem, const Assignment& assignment, Prediction* out);

// Returns an assignment with a low predicted time: the best result of hill climbing from each of
// `starts`, from the CPU, from each delegate for all nodes that it can run, and from the optimum of
// the plan as a chain, in the order of their times. A step moves the nodes between two positions of
// the plan to one owner. The number of predictions is limited; if `has_time` is not empty and
// returns false, no further step is tried.
Assignment Solve(const PlacementProblem& problem, std::span<const Assignment> starts,
                 const std::function<bool()>& has_time = {});

// Reference: tries every assignment. For plans of few nodes.
Assignment SolveExactly(const PlacementProblem& problem);

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_PLACEMENT_PROBLEM_H_
