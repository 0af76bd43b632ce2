// SPDX-License-Identifier: Apache-2.0
//
// The policy Hot on one subgraph: when a delegate node fails, the nodes that it replaced run on the
// CPU and the inference continues. The delegate node stays in the plan; the client configures when
// it is retried.
//
// The replaced nodes' own tensors get memory here. The arena is unchanged, so that addresses stay
// valid for callers. The memory is reserved when tensors are allocated, so that a fallback cannot
// run out of memory, except for shapes that become known only during an inference.
//
// If a delegate cannot copy results that it computed before (e.g. because the device failed), the
// subgraph's run is restarted without it. The caller's inputs still exist; variables are restored,
// including those of called subgraphs.
//
// The replaced nodes also permit verification of a delegate's results (Verification), under either
// policy: they compute the outputs again from the same inputs, variables and resources. Differences
// that rounding explains are accepted: those no larger than the tolerance plus a multiple of the
// change of the CPU's results if the last bits of the inputs change. Correct results are kept. A
// wrong one is reported; under Hot the CPU's outputs replace it, and the partition stays on the CPU
// until the graph changes.
//
// An inference is one call of the client. A subgraph may run several times in it, e.g. as the body
// of a loop, or never; back-off and "degraded" count inferences, not runs.
#ifndef DEPUTY_CORE_DELEGATION_HOT_FALLBACK_H_
#define DEPUTY_CORE_DELEGATION_HOT_FALLBACK_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "c_api/include/common.h"
#include "core/base/resources.h"
#include "core/base/saved_contents.h"
#include "core/delegation/fallback_partitions.h"
#include "core/delegation/fallback_scratch.h"
#include "core/delegation/known_shapes.h"
#include "core/exec/saved_variables.h"
#include "core/exec/subgraph.h"
#include "core/support/verification.h"

namespace deputy {

// Counters of fallbacks, and the cost of being prepared for them.
struct FallbackStatistics {
  int64_t recomputed = 0;     // number of times that a delegate node was computed on the CPU
  int64_t restarts = 0;       // number of runs that were restarted
  size_t reserved_bytes = 0;  // size of memory for nodes that delegates replaced
  int64_t saving_ns = 0;      // time spent saving variables
};

class HotFallback final : public NodeFallback {
 public:
  explicit HotFallback(Subgraph* subgraph)
      : subgraph_(subgraph),
        partitions_(&subgraph->graph()),
        known_shapes_(&subgraph->graph()),
        scratch_(&subgraph->graph(), &subgraph->execution_plan().memory().arena(),
                 &subgraph->execution_plan().memory().persistent()) {}

  // ---- NodeFallback ----------------------------------------------------------------------------
  TfLiteStatus InferReplacedShapes(int node_index) override;
  TfLiteStatus CheckPrepareResult(int node_index, TfLiteStatus status) override;
  TfLiteStatus Reserve() override;
  bool BeginRun() override;
  void EndRun() override;
  void SaveVariablesOf(Subgraph* subgraph) override;
  TfLiteStatus InvokeNode(int node_index) override;
  void NoteLostTensor(const TfLiteDelegate* delegate) override { lost_ = delegate; }
  bool RestartInference() override;
  void BackOff(const TfLiteDelegate* delegate) override;
  void Invalidate() override;

  const FallbackStatistics& statistics() const { return statistics_; }
  const VerificationStatistics& verification() const { return verification_; }
  // True if the newest inference computed a delegate's nodes of this subgraph on the CPU.
  bool degraded() const;
  // Returns how often a delegate node was computed on the CPU.
  int64_t RecomputedCount(int node_index) const;

 private:
  void ForgetComputedShapes(int node_index);
  TfLiteStatus RefuseDynamicShape(int replaced);
  bool OutputsHaveKnownShapes(int node_index) const;
  TfLiteStatus ApplyKnownShapes(int node_index);
  TfLiteStatus Recompute(int node_index);
  void NoteRecomputed(int node_index);
  void SaveVariableInputs(int node_index, SavedContents* out_saved);
  TfLiteStatus Verify(int node_index, const Resources::Snapshot& resources_before);
  bool CanCompare(int node_index);
  struct WrongOutput {
    int tensor;
    WrongElement element;
  };
  std::optional<WrongOutput> FindWrong(int node_index, const SavedContents& found,
                                       std::span<const double> spread) const;
  std::vector<double> SpreadOfRounding(int node_index, const Resources::Snapshot& resources_before);
  void ReportWrong(int node_index, const WrongOutput& wrong);
  TfLiteStatus RunReplaced(const FallbackPartition& partition);
  TfLiteStatus RunProducersOfWidened(const std::vector<int>& producers);
  TfLiteStatus PrepareSome(const FallbackPartition& partition, size_t begin, size_t* out_end);
  size_t ComputedConstants(const FallbackPartition& partition) const;
  bool ReadInputsOf(const TfLiteDelegate* delegate);

  Subgraph* const subgraph_;
  FallbackPartitions partitions_;
  KnownShapes known_shapes_;  // shapes of tensors that delegates write
  FallbackScratch scratch_;
  // Variables of this subgraph and of subgraphs called in the run.
  SavedVariables variables_at_start_;
  Resources::Snapshot resources_at_start_;
  SavedContents variables_of_node_;
  const TfLiteDelegate* lost_ = nullptr;
  int64_t degraded_in_ = 0;  // index of the newest inference with a fallback; 0: none
  FallbackStatistics statistics_;
  VerificationStatistics verification_;
};

// Returns the fallback of a subgraph, created by MakeDelegation.
inline HotFallback& HotFallbackOf(const Subgraph* subgraph) {
  return static_cast<HotFallback&>(subgraph->fallback());
}

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_HOT_FALLBACK_H_
