// SPDX-License-Identifier: Apache-2.0
//
// The delegates of `deputy bench`, and what they took of a model.
#ifndef DEPUTY_TOOLS_BENCH_DELEGATES_H_
#define DEPUTY_TOOLS_BENCH_DELEGATES_H_

#include <memory>
#include <string>
#include <vector>

#include "bench_config.h"
#include "deputy/common.h"
#include "session.h"

namespace deputy::tools {

// One delegate that was asked for, and what became of it.
struct DelegateReport {
  std::string name;        // as users know it: "XNNPACK", "libmy.so"
  std::string flag;        // what asked for it
  bool available = false;  // it exists here and was applied
  std::string problem;     // why it is not
  size_t nodes = 0;        // taken from the interpreter, of all nodes of the model
  size_t partitions = 0;
  DelegateSettings undeclared;  // settings that its library has no option for
};

// A node of the plan that no delegate took.
struct CpuNode {
  int subgraph, node;
  std::string operator_name;
};

// Makes the delegates of a command line and applies them in its order. It must outlive the session
// it was applied to.
class BenchDelegates {
 public:
  // A delegate that is not available has a report that says why.
  BenchDelegates(const std::vector<DelegateRequest>& requests, const PartitionLimits& limits);

  // Each that is not available costs a warning on standard error; if `required`, the first one ends
  // the command with kExitFailed.
  void WarnOfAbsent(bool required) const;

  // A delegate that cannot be applied is left out under the policy Hot; else it ends the command
  // with kExitFailed.
  void Apply(const Session& session);
  // Ends the command with kExitFailed when the delegates took less than --require_... ask for.
  void CheckRequirements(const BenchOptions& options) const;

  const std::vector<DelegateReport>& reports() const { return reports_; }
  const std::vector<CpuNode>& cpu_nodes() const { return cpu_nodes_; }
  size_t node_count() const { return node_count_; }
  // In the order of the reports; null where not available.
  std::vector<TfLiteDelegate*> handles() const;
  double apply_ms() const { return apply_ms_; }
  // One sentence: who runs the model.
  std::string Summary() const;

 private:
  std::vector<DelegateHandle> delegates_;  // as many as reports_; null where not available
  std::vector<DelegateReport> reports_;
  std::vector<CpuNode> cpu_nodes_;
  size_t node_count_ = 0;
  double apply_ms_ = 0;
};

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_BENCH_DELEGATES_H_
