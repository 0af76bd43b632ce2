// SPDX-License-Identifier: Apache-2.0
#include "core/fusion/row_groups.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/fusion/absorbed_transposes.h"
#include "core/fusion/row_candidate.h"
#include "core/fusion/row_plan.h"
#include "core/fusion/row_program.h"

namespace deputy {
namespace {

// Builds candidates for each node of the plan, and makes a group of the first one that pays off.
class RowPass {
 public:
  RowPass(std::span<const GroupNode> nodes, std::span<const PlanTensor> tensors,
          std::vector<FusionGroup>* groups)
      : plan_(nodes, tensors, *groups), operands_(AbsorbTransposes(&plan_)), groups_(groups) {
    for (int n = 0; n < plan_.node_count(); ++n) {
      if (plan_.IsFree(n) && plan_.IsTranspose(n)) transposes_.push_back(n);
    }
  }

  void Run() {
    for (int n = 0; n < plan_.node_count(); ++n) {
      if (!plan_.IsFree(n)) continue;
      if (HasTransposesNear(n) && AddGroup(CandidateAroundTransposes(plan_, n))) continue;
      if (AddGroupFromRows(n)) continue;
      // The TRANSPOSEs and RESHAPEs that the product absorbs do not run, so it needs a group even
      // if it is alone.
      if (operands_.count(n) != 0) AddGroup(CandidateAlone(plan_, n));
    }
  }

 private:
  // Returns true if a group that begins with the node could contain two TRANSPOSEs (possibly the
  // node itself). Skips most nodes of most plans quickly.
  bool HasTransposesNear(int node) const {
    const auto next = std::lower_bound(transposes_.begin(), transposes_.end(), node);
    return transposes_.end() - next >= 2 && next[1] - node < kMaxGroupSpan;
  }

  // Adds a group that begins with the node. If side products make a block of the group too large
  // for the cache, tries without them.
  bool AddGroupFromRows(int node) {
    const RowCandidate all = CandidateFromRows(plan_, node, SideProducts::kJoin);
    return AddGroup(all) ||
           (all.has_side_products && AddGroup(CandidateFromRows(plan_, node, SideProducts::kNone)));
  }

  bool AddGroup(const RowCandidate& candidate) {
    if (candidate.nodes.empty()) return false;
    FusionGroup group = BuildGroup(candidate);
    if (group.nodes.size() < 2) return false;
    std::get<RowRun>(group.run).program = ProgramOf(plan_, candidate, operands_);
    if (!IsWorthIt(group)) return false;
    plan_.Take(group.nodes);
    groups_->push_back(std::move(group));
    return true;
  }

  // Returns the candidate as a group, including the TRANSPOSEs and RESHAPEs that its products
  // absorb; the group's program is still empty.
  FusionGroup BuildGroup(const RowCandidate& candidate) const {
    FusionGroup group = {.head = candidate.head, .nodes = candidate.nodes, .run = {}};
    group.run = RowRun{.program = {}, .output = plan_.OutputOf(candidate.nodes.back())};
    for (int n : candidate.nodes) {
      const auto operands = operands_.find(n);
      if (operands == operands_.end()) continue;
      for (const StridedOperand& operand : operands->second) {
        group.nodes.insert(group.nodes.end(), operand.nodes.begin(), operand.nodes.end());
      }
    }
    std::sort(group.nodes.begin(), group.nodes.end());
    return group;
  }

  // Returns true if a block of rows fits the cache and fusion avoids a write: of an intermediate
  // value or of a TRANSPOSE's output.
  bool IsWorthIt(const FusionGroup& group) const {
    const RowProgram& program = std::get<RowRun>(group.run).program;
    const size_t ops = program.ops.size();
    if (ops == 0 || RowBytes(program) > kMaxRowBytes) return false;
    if (ops > 1) return true;
    const auto transposes = std::count_if(group.nodes.begin(), group.nodes.end(),
                                          [this](int n) { return plan_.IsTranspose(n); });
    return transposes >= (plan_.IsProduct(group.head) ? 1 : 2);
  }

  RowPlan plan_;
  const StridedOperands operands_;
  std::vector<int> transposes_;  // positions of the plan's TRANSPOSEs, ascending
  std::vector<FusionGroup>* const groups_;
};

}  // namespace

void AddRowGroups(std::span<const GroupNode> nodes, std::span<const PlanTensor> tensors,
                  std::vector<FusionGroup>* groups) {
  RowPass(nodes, tensors, groups).Run();
  std::sort(groups->begin(), groups->end(),
            [](const FusionGroup& a, const FusionGroup& b) { return a.head < b.head; });
}

std::vector<GroupRead> RowReadsOf(const RowProgram& rows, std::span<const GroupNode> nodes) {
  std::vector<GroupRead> reads;
  for (const RowOp& op : rows.ops) {
    for (const ChainedNode& chained : op.chain) {
      const std::span<const int> inputs = nodes[static_cast<size_t>(chained.node)].inputs;
      for (size_t i = 0; i < inputs.size() && !chained.uses_first; ++i) {
        if (static_cast<int>(i) != chained.computed) reads.push_back({inputs[i], false});
      }
    }
    if (!op.chain.empty()) continue;
    const std::span<const int> inputs = nodes[static_cast<size_t>(op.node)].inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool may_be_computed = i < kMaxComputedInputs;
      const int strided = may_be_computed ? op.strided[i].tensor : -1;
      const int tensor = strided >= 0 ? strided : inputs[i];
      if (tensor >= 0 && !(may_be_computed && op.computed[i] >= 0))
        reads.push_back({tensor, false});
    }
  }
  return reads;
}

}  // namespace deputy
