// SPDX-License-Identifier: Apache-2.0
//
// Translation of TensorFlow Lite operators to operations of the DSP. A node that passes its check
// can be translated.
//
// The DSP supports uint8 only. int8 is converted to uint8 by flipping the highest bit; the range
// stays the same. Constants are converted here, inputs and outputs of a partition when they are
// copied.
#ifndef DEPUTY_BRIDGES_HEXAGON_OPERATORS_H_
#define DEPUTY_BRIDGES_HEXAGON_OPERATORS_H_

#include <map>
#include <span>
#include <string>

#include "bridges/hexagon/graph.h"
#include "core/support/refusal.h"
#include "deputy/deputy_plugin.h"
#include "tensorflow/lite/c/builtin_op_data.h"
#include "tensorflow/lite/c/common.h"

namespace deputy::hexagon {

// View of a node; the host owns the memory to which it points.
struct Node {
  const TfLiteContext* context;
  const TfLiteNode* node;
  const TfLiteRegistration* registration;

  // Returns the input; null for an absent optional one. `i` must be less than input_count().
  const TfLiteTensor* input(int i) const;
  int input_count() const { return node->inputs->size; }
  const TfLiteTensor& output(int i = 0) const { return context->tensors[node->outputs->data[i]]; }
  template <typename Params>
  const Params& params() const {
    return *static_cast<const Params*>(node->builtin_data);
  }
};

bool IsConstant(const TfLiteTensor& tensor);
// Returns the shape, right-aligned in four dimensions. The rank must be at most 4.
Dims DimsOf(const TfLiteTensor& tensor);
// Returns the range of a quantised tensor of 8 or 32 bits with one scale.
Range RangeOf(const TfLiteTensor& tensor);

// Translates the nodes of a partition into a graph.
class Translation {
 public:
  explicit Translation(GraphBuilder* graph) : graph_(graph) {}

  GraphBuilder& graph() { return *graph_; }
  // Returns the DSP's tensor of a node's input: one that was set before, or a constant, which the
  // first use adds.
  NnInput Tensor(const Node& node, int input);
  // Returns the DSP's tensor of a node's input, and its range.
  Quantized TensorWithRange(const Node& node, int input);
  void Set(int tensor, NnInput value) { tensors_[tensor] = value; }
  void SetOutput(const Node& node, NnInput value) { Set(node.node->outputs->data[0], value); }
  NnInput Find(int tensor) const { return tensors_.at(tensor); }

 private:
  GraphBuilder* const graph_;
  std::map<int, NnInput> tensors_;  // tensors of the DSP, by the host's index
};

struct OperatorRow {
  int32_t code;
  int32_t max_version;
  bool has_options;  // the functions read builtin_data
  // Checks that are specific to the operator; CheckNode performs the common ones first.
  Refusal (*check)(const Node& node);
  void (*translate)(const Node& node, Translation* translation);
};

std::span<const OperatorRow> WindowOperators();
std::span<const OperatorRow> ElementOperators();
std::span<const OperatorRow> ShapeOperators();

// Returns the table row of an operator; null if it is not supported.
const OperatorRow* FindOperator(int32_t code);
// Calls `visit` for each row of the table.
void ForEachOperator(void (*visit)(const OperatorRow& row, void* data), void* data);

// Checks whether the DSP supports a node.
Refusal CheckNode(const Node& node);

// ---- Helpers for the rows -----------------------------------------------------------------------

Refusal Refuse(DeputyReason reason, std::string text);
Refusal RefuseType(int input, TfLiteType expected, TfLiteType found);
// Checks that the output's range lies within the bounds of a fused activation: the DSP clamps to
// the output's range only. Convolutions, which clamp to any range, do not call this function.
Refusal CheckActivation(const Node& node, TfLiteFusedActivation activation);
// Checks that input and output have the same range.
Refusal CheckSameRange(const Node& node, int input);
// Checks that an input is a constant of int32.
Refusal CheckConstantInts(const Node& node, int input);

}  // namespace deputy::hexagon

#endif  // DEPUTY_BRIDGES_HEXAGON_OPERATORS_H_
