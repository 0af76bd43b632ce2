// SPDX-License-Identifier: Apache-2.0
//
// Measures inferences of a model with an assignment of its nodes, for placement plans.
#ifndef DEPUTY_C_API_SRC_PLACEMENT_MEASUREMENT_H_
#define DEPUTY_C_API_SRC_PLACEMENT_MEASUREMENT_H_

#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "c_api/include/deputy_placement.h"
#include "c_api/src/objects.h"
#include "core/delegation/placement_problem.h"

namespace deputy {

struct MeasuredPartition {
  int delegate = 0;
  std::vector<int> nodes;  // ascending
  double ns = 0;           // with copies
};

// Costs of one inference of subgraph 0, the one with the median time.
struct Measurement {
  double total_ns = 0;
  std::vector<double> cpu_ns;  // time by node index; 0 for nodes that a delegate runs
  std::vector<MeasuredPartition> partitions;
  // The delegates' estimates by delegate and node; negative if there is none.
  std::vector<std::vector<double>> declared_ns;
};

class PlacementMeter {
 public:
  // The pointers are borrowed. `options` may have delegates.
  PlacementMeter(const TfLiteModel* model, const TfLiteInterpreterOptions* options,
                 const DeputyPlacementSettings& settings);

  int64_t Now() const;
  // Returns the time since an earlier result of Now(); negative if the client's clock went back.
  int64_t NsSince(int64_t begin) const;
  // Measures the CPU alone and describes the plan without delegates in `*out_problem`, whose nodes
  // refer to this object. Returns false, after a report, if the model does not run.
  bool MeasureCpu(PlacementProblem* out_problem, Measurement* out);
  // Measures the delegates with the given indices, applied in their order; with an assignment, they
  // claim only the nodes that it assigns to them. Returns false if they fail; the interpreter has
  // then reported the reason.
  bool Measure(const std::vector<int>& delegates, const Assignment* assignment, Measurement* out);

  // Prepares an interpreter for the assignment and runs it once. Returns false if that fails.
  bool Try(const std::vector<int>& delegates, const Assignment& assignment);

  int measurements() const { return measurements_; }
  // Operator and type of each node, after MeasureCpu.
  const std::vector<std::string>& operators() const { return operators_; }
  // Time of an inference on the CPU outside its nodes.
  double overhead_ns() const { return overhead_ns_; }

 private:
  TfLiteInterpreter* Prepare(const std::vector<int>& delegates, const Assignment* assignment);
  bool Time(TfLiteInterpreter* interpreter, Measurement* out);
  void Describe(const Subgraph& subgraph, PlacementProblem* out);

  const TfLiteModel* const model_;
  TfLiteInterpreterOptions options_;        // without delegates
  std::vector<TfLiteDelegate*> delegates_;  // of the options
  const DeputyPlacementSettings settings_;
  std::list<std::vector<int>> node_tensors_;  // inputs and outputs of the problem's nodes
  std::vector<std::string> operators_;
  double overhead_ns_ = 0;
  int measurements_ = 0;
};

}  // namespace deputy

#endif  // DEPUTY_C_API_SRC_PLACEMENT_MEASUREMENT_H_
