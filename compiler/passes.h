// SPDX-License-Identifier: Apache-2.0
//
// Transformations of a graph before a back end translates it. Every pass is a pure function of the
// graph, returns the number of operations that it changed, and preserves results bit by bit unless
// its comment says otherwise.
#ifndef DEPUTY_COMPILER_PASSES_H_
#define DEPUTY_COMPILER_PASSES_H_

#include <functional>
#include <span>
#include <string>

#include "compiler/graph.h"

namespace deputy::compiler {

// Removes operations whose results are unused, and values without uses; ids are renumbered densely.
// Inputs and outputs of the graph are kept.
int RemoveDead(Graph* graph);

// Folds operations that read constants only, within the limits of Fold (fold.h).
int FoldConstants(Graph* graph);

// Simplifies expressions algebraically (simplify.h). Constants of one element are embedded in the
// expression.
int SimplifyExpressions(Graph* graph);

// Merges views of views; removes views that keep the shape, and views read by a consumer that is
// independent of axes. Moves element-wise operations before views, where they may fuse with the
// producer.
int MergeViews(Graph* graph);

// Turns a copy that changes nothing into a view, and composes copies of copies if the result is a
// nest of loops. Moves element-wise operations with one input before copies that only permute
// elements.
int MergeCopies(Graph* graph);

// Turns zeros around the image of a convolution into padding; likewise around the image of a
// maximum pool if the fill value is no larger than any element. If all other elements of a window
// are zero or NaN, the sign of a zero or the treatment of NaN may differ.
int MergePadding(Graph* graph);

// Moves dequantisation before copies and views, towards the quantisation that made the integers, so
// that both can be fused into one expression.
int JoinQuantization(Graph* graph);

// Folds multiplication by and addition of constants per channel, before and after convolutions and
// products, into weights and bias. Rounding differs.
int FoldScales(Graph* graph);

// Fuses element-wise operations that read each other's results.
int FuseElementwise(Graph* graph);

// Turns element-wise operations into the epilogue of the producer of their input.
int FuseEpilogues(Graph* graph);

// Stores reals that the graph computes, except its outputs and wide values (FindWideValues), and
// filters that fit, as float16: halves their memory, keeps three decimal digits, and overflows to
// infinity beyond 65504. Not part of AllPasses; callers opt in.
int UseHalfStorage(Graph* graph);

struct PassRow {
  const char* name;
  int (*pass)(Graph* graph);
};
// Returns all passes in the order in which they run.
std::span<const PassRow> AllPasses();

// Limits of one expression: nodes that compute something, operands, and operands of an epilogue
// other than its element.
inline constexpr int kMaxWork = 20;
inline constexpr size_t kMaxOperands = 6;
inline constexpr size_t kMaxEpilogueInputs = 4;

// Runs RemoveDead first and last; in between the passes before fusion and then those that fuse,
// each group in rounds until it makes no change or the maximum number of rounds is reached. `log`,
// which may be empty, is called with "name: changed n" for each pass that changed something, n
// summed over its runs.
void RunPasses(Graph* graph, const std::function<void(const std::string&)>& log);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_PASSES_H_
