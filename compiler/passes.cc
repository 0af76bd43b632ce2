// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes.h"

#include <vector>

namespace deputy::compiler {
namespace {

constexpr PassRow kPasses[] = {
    {"remove_dead", &RemoveDead},
    // The passes from here on are repeated in rounds, because each may create work for earlier
    // ones.
    {"fold_constants", &FoldConstants},
    {"simplify_expressions", &SimplifyExpressions},
    {"merge_views", &MergeViews},
    {"merge_copies", &MergeCopies},
    {"merge_padding", &MergePadding},
    {"join_quantization", &JoinQuantization},
    {"fold_scales", &FoldScales},
    // Fusion comes after the passes that match single element-wise operations.
    {"fuse_elementwise", &FuseElementwise},
    {"fuse_epilogues", &FuseEpilogues},
};
constexpr size_t kFirstRepeated = 1, kFirstFusing = 8;

// Upper bound on the rounds, far above what any model needs: guarantees termination.
constexpr int kMaxRounds = 10;

void RunRounds(std::span<const PassRow> passes, Graph* graph, int* changes) {
  bool changed = true;
  for (int round = 0; changed && round < kMaxRounds; ++round) {
    changed = false;
    for (size_t i = 0; i < passes.size(); ++i) {
      const int count = passes[i].pass(graph);
      changes[i] += count;
      changed |= count > 0;
    }
  }
}

}  // namespace

std::span<const PassRow> AllPasses() { return kPasses; }

void RunPasses(Graph* graph, const std::function<void(const std::string&)>& log) {
  const std::span<const PassRow> passes = kPasses;
  std::vector<int> changes(passes.size());
  changes[0] = RemoveDead(graph);
  RunRounds(passes.subspan(kFirstRepeated, kFirstFusing - kFirstRepeated), graph,
            &changes[kFirstRepeated]);
  RunRounds(passes.subspan(kFirstFusing), graph, &changes[kFirstFusing]);
  changes[0] += RemoveDead(graph);
  if (!log) return;
  for (size_t i = 0; i < passes.size(); ++i) {
    if (changes[i] > 0)
      log(std::string(passes[i].name) + ": changed " + std::to_string(changes[i]));
  }
}

}  // namespace deputy::compiler
