// SPDX-License-Identifier: Apache-2.0
#include "core/exec/row_steps.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/exec/absorbed_transposes.h"
#include "core/exec/row_candidate.h"
#include "core/exec/row_plan.h"
#include "core/exec/row_program.h"

namespace deputy {
namespace {

// Builds candidates for each node of the plan, and makes a group of the first one that pays off.
class RowPass {
 public:
  RowPass(std::span<const StepNode> nodes, std::span<const StepTensor> tensors,
          std::vector<Step>* steps)
      : plan_(nodes, tensors, *steps), operands_(AbsorbTransposes(&plan_)), steps_(steps) {
    for (int n = 0; n < plan_.node_count(); ++n) {
      if (plan_.IsFree(n) && plan_.IsTranspose(n)) transposes_.push_back(n);
    }
  }

  void Run() {
    for (int n = 0; n < plan_.node_count(); ++n) {
      if (!plan_.IsFree(n)) continue;
      if (HasTransposesNear(n) && AddStep(CandidateAroundTransposes(plan_, n))) continue;
      if (AddStepFromRows(n)) continue;
      // The TRANSPOSEs that the product absorbs do not run, so it needs a group even if it is
      // alone.
      if (operands_.count(n) != 0) AddStep(CandidateAlone(plan_, n));
    }
  }

 private:
  // Returns true if a group that begins with the node could contain two TRANSPOSEs (possibly the
  // node itself). Skips most nodes of most plans quickly.
  bool HasTransposesNear(int node) const {
    const auto next = std::lower_bound(transposes_.begin(), transposes_.end(), node);
    return transposes_.end() - next >= 2 && next[1] - node < kMaxStepSpan;
  }

  // Side products may make a block of the group too large for the cache; then tries without them.
  bool AddStepFromRows(int node) {
    const RowCandidate all = CandidateFromRows(plan_, node, SideProducts::kJoin);
    return AddStep(all) ||
           (all.has_side_products && AddStep(CandidateFromRows(plan_, node, SideProducts::kNone)));
  }

  bool AddStep(const RowCandidate& candidate) {
    if (candidate.nodes.empty()) return false;
    Step step = StepOf(candidate);
    if (step.nodes.size() < 2) return false;
    step.run.rows = ProgramOf(plan_, candidate, operands_);
    if (!IsWorthIt(step)) return false;
    plan_.Take(step.nodes);
    steps_->push_back(std::move(step));
    return true;
  }

  // Returns the group, including the TRANSPOSEs that its products absorb; its program is still
  // empty.
  Step StepOf(const RowCandidate& candidate) const {
    Step step = {.head = candidate.head, .nodes = candidate.nodes, .run = {}};
    step.run.output = plan_.OutputOf(candidate.nodes.back());
    for (int n : candidate.nodes) {
      const auto operands = operands_.find(n);
      if (operands == operands_.end()) continue;
      for (const StridedOperand& operand : operands->second) {
        step.nodes.insert(step.nodes.end(), operand.nodes.begin(), operand.nodes.end());
      }
    }
    std::sort(step.nodes.begin(), step.nodes.end());
    return step;
  }

  // Requires that a block of rows fits the cache, and that fusion avoids a write: of an
  // intermediate value or of a TRANSPOSE's output.
  bool IsWorthIt(const Step& step) const {
    const size_t ops = step.run.rows.ops.size();
    if (ops == 0 || RowBytes(step.run.rows) > kMaxRowBytes) return false;
    if (ops > 1) return true;
    const auto transposes = std::count_if(step.nodes.begin(), step.nodes.end(),
                                          [this](int n) { return plan_.IsTranspose(n); });
    return transposes >= (plan_.IsProduct(step.head) ? 1 : 2);
  }

  RowPlan plan_;
  const StridedOperands operands_;
  std::vector<int> transposes_;  // ascending
  std::vector<Step>* const steps_;
};

}  // namespace

void AddRowSteps(std::span<const StepNode> nodes, std::span<const StepTensor> tensors,
                 std::vector<Step>* steps) {
  RowPass(nodes, tensors, steps).Run();
  std::sort(steps->begin(), steps->end(),
            [](const Step& a, const Step& b) { return a.head < b.head; });
}

std::vector<StepRead> RowReadsOf(const RowProgram& rows, std::span<const StepNode> nodes) {
  std::vector<StepRead> reads;
  for (const RowOp& op : rows.ops) {
    for (const ChainedNode& chained : op.chain) {
      const std::span<const int> inputs = nodes[static_cast<size_t>(chained.node)].inputs;
      for (size_t i = 0; i < inputs.size() && !chained.takes_first; ++i) {
        if (static_cast<int>(i) != chained.made) reads.push_back({inputs[i], false});
      }
    }
    if (!op.chain.empty()) continue;
    const std::span<const int> inputs = nodes[static_cast<size_t>(op.node)].inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool may_be_made = i < kMaxMadeInputs;
      const int strided = may_be_made ? op.strided[i].tensor : -1;
      const int tensor = strided >= 0 ? strided : inputs[i];
      if (tensor >= 0 && !(may_be_made && op.made[i] >= 0)) reads.push_back({tensor, false});
    }
  }
  return reads;
}

}  // namespace deputy
