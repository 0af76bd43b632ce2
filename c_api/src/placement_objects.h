// SPDX-License-Identifier: Apache-2.0
//
// Placement plans, as the library stores them.
#ifndef DEPUTY_C_API_SRC_PLACEMENT_OBJECTS_H_
#define DEPUTY_C_API_SRC_PLACEMENT_OBJECTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "c_api/include/deputy_placement.h"
#include "core/delegation/placement_problem.h"

namespace deputy {

// An assignment that was considered; times are in nanoseconds.
struct PlacementAlternative {
  std::string name;
  Assignment assignment;  // empty if the plan was read from a file
  int32_t partitions = 0, delegated = 0;
  double predicted_ns = 0, estimated_ns = 0;
  double measured_ns = -1;  // negative: not measured
};

}  // namespace deputy

struct DeputyPlacementPlan {
  std::vector<TfLiteDelegate*> delegates;  // borrowed, of the options
  deputy::Assignment owners;
  std::vector<deputy::PlacementAlternative> alternatives;  // the chosen one first
  DeputyPlacementStatus status = {};
};

#endif  // DEPUTY_C_API_SRC_PLACEMENT_OBJECTS_H_
