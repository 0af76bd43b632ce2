// SPDX-License-Identifier: Apache-2.0
//
// What is changed in a graph before a back end sees it. Every pass is a function of the graph alone
// that returns how many operations it changed, and leaves a graph that computes the same: to the
// bit, but for the passes that say otherwise.
#ifndef DEPUTY_COMPILER_PASSES_H_
#define DEPUTY_COMPILER_PASSES_H_

#include <functional>
#include <span>
#include <string>

#include "compiler/graph.h"

namespace deputy::compiler {

// Removes operations whose results nobody needs, and values that nothing names; ids become dense
// again. Inputs and outputs of the graph stay.
int RemoveDead(Graph* graph);

// Computes operations that read constants only.
int FoldConstants(Graph* graph);

// Algebra within expressions (simplify.h). Constants of one element become numbers of the
// expression.
int SimplifyExpressions(Graph* graph);

// A view of a view is one; a view of the same shape goes; so does one whose reader counts elements
// regardless of axes. Element-wise operations go before views, to what they may become one with.
int MergeViews(Graph* graph);

// A copy that changes nothing is a view; a copy of a copy is one where that is a nest of loops.
// Element-wise operations on one value go before copies that only change the order of its elements.
int MergeCopies(Graph* graph);

// Zeros around the image of a convolution become its padding; around that of a maximum, what is no
// larger than any element. Where all else in a window is zero or NaN, the sign of a zero or what
// becomes of NaN may differ.
int MergePadding(Graph* graph);

// What turns integers into reals moves ahead of copies and views towards what has made the integers
// of reals, so that both become one expression.
int JoinQuantization(Graph* graph);

// Multiplication by and addition of constants per channel before and after convolutions and
// products go into weights and bias. Rounding differs.
int FoldScales(Graph* graph);

// Element-wise operations that read each other become one.
int FuseElementwise(Graph* graph);

// Element-wise operations become the epilogue of what makes their input.
int FuseEpilogues(Graph* graph);

// Reals that the graph itself makes, and filters that fit, are stored as float16: half the memory
// for results of three digits, and infinity for what is beyond 65504. Not one of AllPasses: it is
// for those who ask for it.
int UseHalfStorage(Graph* graph);

struct PassRow {
  const char* name;
  int (*pass)(Graph* graph);
};
// In their order.
std::span<const PassRow> AllPasses();

// How much may become one expression: nodes that compute something, and operands. An epilogue has
// fewer operands besides its element.
inline constexpr int kMaxWork = 16;
inline constexpr size_t kMaxOperands = 6;
inline constexpr size_t kMaxEpilogueInputs = 4;

// Runs all passes until none finds more to do. `log`, which may be empty, is called with
// "name: changed n" for each pass that has changed something, n over all of its runs.
void RunPasses(Graph* graph, const std::function<void(const std::string&)>& log);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_PASSES_H_
