// SPDX-License-Identifier: Apache-2.0
//
// Learned rates: times of a delegate relative to the CPU by operator and type, from the models that
// were placed before. They predict the costs of a delegate that the budget does not permit to
// measure. Files are not trusted: a damaged one counts as absent.
#ifndef DEPUTY_C_API_SRC_PLACEMENT_RATES_H_
#define DEPUTY_C_API_SRC_PLACEMENT_RATES_H_

#include <map>
#include <span>
#include <string>

#include "core/delegation/placement_problem.h"

namespace deputy {

struct DelegateRates {
  // Times of the nodes of one operator, by the delegate and by the CPU.
  struct Times {
    double delegate_ns = 0;
    double cpu_ns = 0;
  };
  double launch_ns = 0;                    // fixed cost of a partition
  std::map<std::string, Times> operators;  // by operator and type of its first input

  bool empty() const { return operators.empty(); }
};

// Adds the times of the nodes that a delegate can run according to its measurements. The weight of
// all earlier models is halved. `operators` has the operator and type of each node.
void AddRates(const PlacementProblem& problem, const DelegateCosts& costs,
              std::span<const std::string> operators, DelegateRates* rates);

// Returns the costs that the rates predict. Nodes whose operators they do not contain cannot run in
// the delegate.
DelegateCosts CostsByRates(const PlacementProblem& problem, std::span<const std::string> operators,
                           const DelegateRates& rates);

// Contents of a file. ReadRates returns no rates if the bytes are invalid.
std::string WriteRates(const DelegateRates& rates);
DelegateRates ReadRates(std::span<const char> bytes);

}  // namespace deputy

#endif  // DEPUTY_C_API_SRC_PLACEMENT_RATES_H_
