// SPDX-License-Identifier: Apache-2.0
//
// The delegates of `deputy bench` and the nodes that they claim.
#ifndef DEPUTY_TOOLS_BENCH_DELEGATES_H_
#define DEPUTY_TOOLS_BENCH_DELEGATES_H_

#include <memory>
#include <string>
#include <vector>

#include "deputy/common.h"
#include "tools/bench/config.h"
#include "tools/session.h"

namespace deputy::tools {

// One requested delegate and the outcome of its application.
struct DelegateReport {
  std::string name;        // display name: "XNNPACK", "libmy.so"
  std::string flag;        // the option that requested it
  bool available = false;  // true if the delegate could be created and applied
  std::string problem;     // the reason if it is not available
  size_t nodes = 0;        // claimed nodes, counted among all nodes of the model
  size_t partitions = 0;
  DelegateSettings undeclared;  // partition limits for which its library declares no option
};

// A node of the plan that no delegate has claimed.
struct CpuNode {
  int subgraph, node;
  std::string operator_name;
};

// Creates the delegates of a command line and applies them in the given order. Must outlive the
// session to which it was applied.
class BenchDelegates {
 public:
  // Creates the requested delegates. Those that are not available get a report with the reason.
  BenchDelegates(const std::vector<DelegateRequest>& requests, const PartitionLimits& limits);

  // Prints a warning on standard error for each unavailable delegate. If `required`, the first one
  // ends the command with kExitFailed instead.
  void WarnOfAbsent(bool required) const;

  // Applies the delegates. Under the policy Hot a delegate that cannot be applied is skipped; under
  // TFLite it ends the command with kExitFailed.
  void Apply(const Session& session);
  // Prepares the delegates on another thread. FinishBackground must follow before the other
  // functions are called.
  void ApplyInBackground(Session* session);
  // Waits until the delegates are ready or have failed.
  void FinishBackground(Session* session);
  // Ends the command with kExitFailed if the delegates claimed fewer nodes than the --require_...
  // options demand.
  void CheckRequirements(const BenchOptions& options) const;

  const std::vector<DelegateReport>& reports() const { return reports_; }
  const std::vector<CpuNode>& cpu_nodes() const { return cpu_nodes_; }
  size_t node_count() const { return node_count_; }
  // Returns the delegates in the order of reports(); null for unavailable ones.
  std::vector<TfLiteDelegate*> handles() const;
  double apply_ms() const { return apply_ms_; }
  // Returns one sentence that lists which delegates run the model.
  std::string Summary() const;

 private:
  void ListCpuNodes(const Session& session);

  std::vector<DelegateHandle> delegates_;  // parallel to reports_; null for unavailable delegates
  std::vector<DelegateReport> reports_;
  std::vector<CpuNode> cpu_nodes_;
  size_t node_count_ = 0;
  double apply_ms_ = 0;
};

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_BENCH_DELEGATES_H_
