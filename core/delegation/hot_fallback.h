// SPDX-License-Identifier: Apache-2.0
//
// The policy Hot on one subgraph: a delegate's node that fails is computed by the nodes it
// replaced, on the CPU, in the middle of the inference, and the inference goes on. The delegate
// keeps its node; when it is tried again is the caller's choice.
//
// The replaced nodes' own tensors get memory here, beside the arena: the arena stays as it is, and
// with it every address that the caller may hold. The memory is reserved when tensors are
// allocated, so that a fallback cannot fail for want of it; shapes that become known only during an
// inference are the exception.
//
// A delegate that cannot even hand out what it computed before (a device that died with tensors on
// it) makes the subgraph's run start over without it: the caller's inputs are still there,
// variables are put back to what they were, those of the subgraphs that were called among them.
//
// With the nodes at hand, a delegate's results can be verified too (Verification), under either
// policy: its nodes compute the same again from the same inputs, variables and resources, and the
// outputs are compared. Those that differ by no more than rounding explains, since the nodes' own
// differ as much if the inputs do in their last bits, are right. Right ones stay the delegate's. A
// wrong one is reported; under Hot the CPU's outputs take its place, and the partition stays on the
// CPU until the graph changes.
//
// An inference is one call of the client's. A subgraph may run many times in one, as the body of a
// loop does, or not at all; back-off and "degraded" count inferences, not runs.
#ifndef DEPUTY_CORE_DELEGATION_HOT_FALLBACK_H_
#define DEPUTY_CORE_DELEGATION_HOT_FALLBACK_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "c_api/include/common.h"
#include "core/base/resources.h"
#include "core/base/saved_contents.h"
#include "core/base/verification.h"
#include "core/delegation/fallback_partitions.h"
#include "core/delegation/fallback_scratch.h"
#include "core/delegation/known_shapes.h"
#include "core/exec/saved_variables.h"
#include "core/exec/subgraph.h"

namespace deputy {

// What fallbacks did so far, and what being able to fall back costs.
struct FallbackStatistics {
  int64_t recomputed = 0;     // delegate nodes that were computed on the CPU
  int64_t restarts = 0;       // runs that started over
  size_t reserved_bytes = 0;  // memory for the nodes that delegates replaced
  int64_t saving_ns = 0;      // time spent on keeping variables
};

class HotFallback final : public NodeFallback {
 public:
  explicit HotFallback(Subgraph* subgraph)
      : subgraph_(subgraph),
        partitions_(&subgraph->graph()),
        known_shapes_(&subgraph->graph()),
        scratch_(&subgraph->graph(), &subgraph->arena(), &subgraph->persistent()) {}

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
  void Invalidate() override;

  const FallbackStatistics& statistics() const { return statistics_; }
  const VerificationStatistics& verification() const { return verification_; }
  // The newest inference computed a delegate's nodes of this subgraph on the CPU.
  bool degraded() const;
  // How often a delegate's node was computed by its nodes.
  int64_t RecomputedCount(int node_index) const;

 private:
  void ForgetComputedShapes(int node_index);
  bool OutputsKeptTheirShapes(int node_index) const;
  TfLiteStatus GiveOutputsKnownShapes(int node_index);
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
  TfLiteStatus RunMakersOfWidened(const std::vector<int>& makers);
  TfLiteStatus PrepareSome(const FallbackPartition& partition, size_t begin, size_t* out_end);
  size_t ComputedConstants(const FallbackPartition& partition) const;
  bool ReadInputsOf(const TfLiteDelegate* delegate);

  Subgraph* const subgraph_;
  FallbackPartitions partitions_;
  KnownShapes known_shapes_;  // of tensors that delegates write
  FallbackScratch scratch_;
  SavedVariables variables_at_start_;  // of this subgraph and those that it called since
  Resources::Snapshot resources_at_start_;
  SavedContents variables_of_node_;
  const TfLiteDelegate* lost_ = nullptr;
  int64_t degraded_in_ = 0;  // the number of an inference; 0: none
  FallbackStatistics statistics_;
  VerificationStatistics verification_;
};

// The fallback of a subgraph, made by MakeDelegation.
inline HotFallback& HotFallbackOf(const Subgraph* subgraph) {
  return static_cast<HotFallback&>(subgraph->fallback());
}

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_HOT_FALLBACK_H_
