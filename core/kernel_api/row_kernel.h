// SPDX-License-Identifier: Apache-2.0
//
// What a node can compute of its output some rows at a time. Nodes that read each other's rows then
// run as a step by blocks of rows, which stay in the cache: those of an attention's scores pass
// from one product through MUL, ADD and SOFTMAX into the next, those of a layer through its
// activation and a normalisation.
//
// TRANSPOSEs of a step do not run. The first one gathers rows, or leaves elements where they are
// until a later one undoes it; a product reads its right operand from where it was before them, and
// stores rows where one behind it would put them.
//
// The subgraph decides which nodes are a step (core/exec/row_steps.h). One of them, the step's
// head, runs all of them (kernels/linalg/row_step.h).
#ifndef DEPUTY_CORE_KERNEL_API_ROW_KERNEL_H_
#define DEPUTY_CORE_KERNEL_API_ROW_KERNEL_H_

#include <cstdint>
#include <vector>

#include "c_api/include/common.h"
#include "core/kernel_api/element_chain.h"
#include "core/kernel_api/strided_shape.h"

namespace deputy {

struct RowKernel;
struct RowOp;

inline constexpr int kMaxMadeInputs = 2;

// Rows [first, first + count) of the output, dense, as if all tensors of the step were matrices of
// as many rows.
struct StepRows {
  int64_t first = 0;
  int count = 0, columns = 0;  // of the output
  // The same rows of inputs that the step makes; null: the input's tensor has its contents.
  const float* made[kMaxMadeInputs] = {};
  int made_columns[kMaxMadeInputs] = {};
  // Of a node that is no product it may be where one of `made` is. All of the output where rows are
  // scattered.
  float* out = nullptr;
  const RowOp* op = nullptr;
};

// A node in a chain (element_chain.h).
struct ChainedNode {
  int node = -1;  // as in RowOp
  const RowKernel* kernel = nullptr;
  int made = 0;              // the input that the node before it made
  bool takes_first = false;  // the other input, if it has one, is the chain's first element
};

// The functions of a kind of node; static. Results must not depend on how rows are cut.
struct RowKernel {
  // Before the first rows of an invoke and after the last, on one thread. null: nothing to do.
  // Several nodes' ends come in the reverse order of their begins; none comes to a begin that
  // fails.
  TfLiteStatus (*begin)(TfLiteContext* context, TfLiteNode* node, const RowOp& op) = nullptr;
  void (*end)(TfLiteContext* context, TfLiteNode* node) = nullptr;
  // From several threads at once. null: the output's rows are those of input 0 (RESHAPE).
  void (*rows)(TfLiteContext* context, TfLiteNode* node, const StepRows& rows) = nullptr;
  // Of kElements: what the node does in a chain; null: it can be in none. Of its two inputs the one
  // that is neither made by the node before it nor the chain's first element has one element.
  ElementOp (*element)(TfLiteContext* context, TfLiteNode* node,
                       const ChainedNode& chained) = nullptr;
};

// What rows are to a node.
enum class RowKind : uint8_t {
  kElements,   // nothing: elements of the output come from those in the same place
  kAlong,      // the last dimension of input 0 and of the output
  kFold,       // the last dimension of input 0; the output has one element for each
  kPart,       // the same columns of each row (SLICE)
  kTranspose,  // anything: the node puts elements elsewhere; it can be a step's head
  kProduct,    // those of matrices that are factor and product; the node can be a step's head
};

// Part of a StepOffer.
struct RowOffer {
  const RowKernel* kernel = nullptr;  // null: not by rows
  RowKind kind = RowKind::kElements;
  // Bit i: input i may be what the step makes; of kElements if it has as many elements as the
  // output, or `row_values`: one for each run of the output's last dimension.
  uint32_t made_inputs = 0, row_values = 0;
  // kProduct, bit i: input i can be read in steps.
  uint32_t strided_inputs = 0;
  // kProduct: rows of the output can go to where they are in steps.
  bool scatters = false;
  // kTranspose: the input's axis that each of the output's is.
  int8_t axes[kMaxStridedRank] = {};
  // kPart: the one axis of which only a part is taken, from `part_begin` on.
  int part_axis = 0, part_begin = 0;
};

// An input that is read from another tensor; -1: from its own, or from what the step makes.
struct StridedInput {
  int tensor = -1;
  StridedShape shape;
};

// A node of a step by rows. Values between nodes have slots in a block's memory.
struct RowOp {
  int node = -1;  // in the plan's numbering while steps are formed, then in the subgraph's
  const RowKernel* kernel = nullptr;
  bool is_product = false;
  int made[kMaxMadeInputs] = {-1, -1};  // slots of inputs, -1: a tensor
  int made_columns[kMaxMadeInputs] = {};
  int out = -1;  // slot, -1: the step's output
  int out_columns = 0;
  StridedInput strided[kMaxMadeInputs] = {};
  // Of a product that is the last, if it has a rank: where the elements of its output go in the
  // step's. Columns stay together.
  StridedShape scattered = {};
  int part_begin = 0;  // kPart: the first column
  // Of a chain, whose last node is `node`: all its nodes. It has one input, `made[0]`.
  std::vector<ChainedNode> chain = {};
};

// What a step by rows computes, in this order.
struct RowProgram {
  std::vector<RowOp> ops;         // empty: the step is no step by rows
  std::vector<int> slot_columns;  // of the rows that a slot has room for
  int64_t rows = 0;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_KERNEL_API_ROW_KERNEL_H_
