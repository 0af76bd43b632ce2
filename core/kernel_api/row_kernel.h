// SPDX-License-Identifier: Apache-2.0
//
// Interface for nodes that can compute their output a few rows at a time. Consecutive nodes then
// run as a fusion group by blocks of rows that stay in the cache: attention scores pass from one
// product through MUL, ADD and SOFTMAX into the next, and the rows of a layer through its
// activation and a normalisation.
//
// TRANSPOSEs of a group do not run. The first one gathers rows, or becomes a change of strides that
// a later TRANSPOSE undoes. A product reads its right operand from the tensor before the TRANSPOSE,
// and stores rows at the positions to which a following TRANSPOSE would move them.
//
// The subgraph forms the groups (core/fusion/row_groups.h). The head of a group runs all its
// nodes (kernels/linalg/row_group.h).
#ifndef DEPUTY_CORE_KERNEL_API_ROW_KERNEL_H_
#define DEPUTY_CORE_KERNEL_API_ROW_KERNEL_H_

#include <cstdint>
#include <vector>

#include "c_api/include/common.h"
#include "core/kernel_api/element_chain.h"
#include "core/kernel_api/strided_shape.h"

namespace deputy {

struct CpuKernels;   // kernels/cpu/cpu.h
struct ProductRows;  // kernels/linalg/row_product.h
struct RowKernel;
struct RowOp;

inline constexpr int kMaxComputedInputs = 2;

// Rows [first, first + count) of the output, dense. All tensors of the group are treated as
// matrices with the same number of rows.
struct GroupRows {
  int64_t first = 0;
  int count = 0, columns = 0;  // number of these rows, and of the output's columns
  // Corresponding rows of inputs that the group computes; null: the node reads the input's tensor.
  const float* computed[kMaxComputedInputs] = {};
  int computed_columns[kMaxComputedInputs] = {};
  // Destination of the rows, or the whole output if rows are scattered. May alias one of `computed`
  // if the node is not a product.
  float* out = nullptr;
  const RowOp* op = nullptr;
  const CpuKernels* cpu = nullptr;  // table of the interpreter's kernels
};

// A node of a chain (element_chain.h).
struct ChainedNode {
  int node = -1;  // node index, as in RowOp
  const RowKernel* kernel = nullptr;
  int computed = 0;         // index of the input that the preceding node computes
  bool uses_first = false;  // the node's other input, if any, is the chain's first element
};

// Static functions of one kind of node. Results must not depend on how rows are split into blocks.
struct RowKernel {
  // `begin` and `end` are called on one thread before the first and after the last rows of an
  // invoke; null: nothing to do. The ends of several nodes are called in the reverse order of their
  // begins. No end is called for a begin that failed.
  TfLiteStatus (*begin)(TfLiteContext* context, TfLiteNode* node, const RowOp& op) = nullptr;
  void (*end)(TfLiteContext* context, TfLiteNode* node) = nullptr;
  // Computes rows of the node's output. Called from several threads at once. null: the output's
  // rows are those of input 0 (RESHAPE).
  void (*rows)(TfLiteContext* context, TfLiteNode* node, const GroupRows& rows) = nullptr;
  // For kElementwise: returns the node's operation in a chain; null: the node cannot be chained. An
  // input that is neither computed by the preceding node nor the chain's first element has one
  // element.
  ElementOp (*element)(TfLiteContext* context, TfLiteNode* node,
                       const ChainedNode& chained) = nullptr;
  // For a product without bias: describes the first of `rows`, all of one matrix.
  void (*product)(TfLiteNode* node, const GroupRows& rows, ProductRows* out) = nullptr;
  // For SOFTMAX: returns beta.
  float (*softmax_beta)(const TfLiteNode* node) = nullptr;
};

// Relation between a node's rows and the dimensions of its tensors.
enum class RowKind : uint8_t {
  kElementwise,  // element-wise: each element depends on the elements at the same index
  kRowWise,      // a row is the last dimension of input 0 and of the output
  kRowReduce,    // reduces a row, the last dimension of input 0, to one element
  kColumnSlice,  // takes the same column range of each row (SLICE)
  kTranspose,    // permutes elements; the node can be the head of a group
  kProduct,      // a row is a row of the left matrix and of the product; the node can be the head
};

// Part of a FusionOffer: declares how a node can be computed by rows.
struct RowOffer {
  const RowKernel* kernel = nullptr;  // null: the node cannot be computed by rows
  RowKind kind = RowKind::kElementwise;
  // Bit i: input i may be computed by the group. A kElementwise input must have as many elements as
  // the output, or, if its bit in `row_values` is set, one per run of the output's last dimension.
  uint32_t computed_inputs = 0, row_values = 0;
  // kProduct, bit i: input i may be strided.
  uint32_t strided_inputs = 0;
  // kProduct: rows of the output may be stored with strides.
  bool scatters = false;
  // kTranspose: axes[i] is the input's axis that becomes axis i of the output.
  int8_t axes[kMaxStridedRank] = {};
  // kColumnSlice: the one axis that is sliced, and the first index that is kept.
  int part_axis = 0, part_begin = 0;
};

// Describes an input that is read with strides from the tensor `tensor`; -1: the input is read from
// its own tensor, or from the values that the group computes.
struct StridedInput {
  int tensor = -1;
  StridedShape shape;
};

// A node of a row-wise group. Values between nodes are stored in slots of a block's memory.
struct RowOp {
  int node = -1;  // a plan position while groups are formed, then a node index of the subgraph
  const RowKernel* kernel = nullptr;
  bool is_product = false;
  int computed[kMaxComputedInputs] = {-1, -1};  // slot of each input; -1: the input is a tensor
  int computed_columns[kMaxComputedInputs] = {};
  int out = -1;  // slot of the output; -1: the group's output tensor
  int out_columns = 0;
  StridedInput strided[kMaxComputedInputs] = {};
  // For the last product, if the rank is not 0: strides with which its output's elements are stored
  // in the group's output. The columns of a row stay contiguous.
  StridedShape scattered = {};
  int part_begin = 0;  // kColumnSlice: the first column that is kept
  // For a chain: all nodes of the chain; the last one is `node`. The chain has one input,
  // `computed[0]`.
  std::vector<ChainedNode> chain = {};
};

// The operations of a row-wise group, in execution order.
struct RowProgram {
  std::vector<RowOp> ops;         // empty: the nodes cannot form a group
  std::vector<int> slot_columns;  // capacity of each slot's rows, in columns
  int64_t rows = 0;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_KERNEL_API_ROW_KERNEL_H_
