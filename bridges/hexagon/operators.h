// SPDX-License-Identifier: Apache-2.0
//
// Operators of TensorFlow Lite as operations of the DSP's. What a node's check lets through, its
// translation can build.
//
// int8 is uint8 with its highest bit flipped and the same range; the DSP sees uint8 alone.
// Constants are flipped here, inputs and outputs of a partition where they are copied.
#ifndef DEPUTY_BRIDGES_HEXAGON_OPERATORS_H_
#define DEPUTY_BRIDGES_HEXAGON_OPERATORS_H_

#include <map>
#include <span>
#include <string>

#include "bridges/hexagon/graph.h"
#include "deputy/deputy_plugin.h"
#include "tensorflow/lite/c/builtin_op_data.h"
#include "tensorflow/lite/c/common.h"

namespace deputy::hexagon {

// Why a node is left, reason 0: it is not.
struct Refusal {
  int32_t reason = kDeputyReasonNone;
  std::string text;
};

// A node of the host's. The host owns all of it.
struct Node {
  const TfLiteContext* context;
  const TfLiteNode* node;
  const TfLiteRegistration* registration;

  // The tensor, null for an optional one that is left out. `i` is in range where InputCount says
  // so.
  const TfLiteTensor* input(int i) const;
  int input_count() const { return node->inputs->size; }
  const TfLiteTensor& output(int i = 0) const { return context->tensors[node->outputs->data[i]]; }
  template <typename Params>
  const Params& params() const {
    return *static_cast<const Params*>(node->builtin_data);
  }
};

bool IsConstant(const TfLiteTensor& tensor);
// Right-aligned in four dimensions; the rank is 4 at most.
Dims DimsOf(const TfLiteTensor& tensor);
// Of a quantised tensor of 8 or 32 bits with one scale.
Range RangeOf(const TfLiteTensor& tensor);

// A partition's graph while its nodes are translated.
class Translation {
 public:
  explicit Translation(GraphBuilder* graph) : graph_(graph) {}

  GraphBuilder& graph() { return *graph_; }
  // What the DSP has of a tensor: made before, or a constant, which is added now.
  NnInput Tensor(const Node& node, int input);
  // The tensor with its range.
  Quantized TensorWithRange(const Node& node, int input);
  void Set(int tensor, NnInput made) { tensors_[tensor] = made; }
  void SetOutput(const Node& node, NnInput made) { Set(node.node->outputs->data[0], made); }
  NnInput Find(int tensor) const { return tensors_.at(tensor); }

 private:
  GraphBuilder* const graph_;
  std::map<int, NnInput> tensors_;  // by the host's index
};

struct OperatorRow {
  int32_t code;
  int32_t max_version;
  bool has_options;  // which are read
  // What is particular to the operator; what holds for all of them has been checked.
  Refusal (*check)(const Node& node);
  void (*translate)(const Node& node, Translation* translation);
};

std::span<const OperatorRow> WindowOperators();
std::span<const OperatorRow> ElementOperators();
std::span<const OperatorRow> ShapeOperators();

// The row of an operator, null if the delegate does not have it.
const OperatorRow* FindOperator(int32_t code);
// Calls `visit` for each row.
void ForEachOperator(void (*visit)(const OperatorRow& row, void* data), void* data);

// Whether the DSP takes a node.
Refusal CheckNode(const Node& node);

// ---- For the rows -------------------------------------------------------------------------------

Refusal Refuse(int32_t reason, std::string text);
Refusal RefuseType(int input, TfLiteType expected, TfLiteType found);
// Whether a fused activation changes nothing beyond the output's range.
Refusal CheckActivation(const Node& node, TfLiteFusedActivation activation);
// The same range before and behind the operation.
Refusal CheckSameRange(const Node& node, int input);
// An input that has to be a constant of int32.
Refusal CheckConstantInts(const Node& node, int input);

}  // namespace deputy::hexagon

#endif  // DEPUTY_BRIDGES_HEXAGON_OPERATORS_H_
