// SPDX-License-Identifier: Apache-2.0
//
// The operators that this bridge supports. Each has one function that both checks a node and
// defines it; operators.cc has the table.
#ifndef DEPUTY_BRIDGES_ONNXRUNTIME_OPERATORS_H_
#define DEPUTY_BRIDGES_ONNXRUNTIME_OPERATORS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bridges/onnxruntime/definition.h"
#include "deputy/builtin_op_data.h"
#include "deputy/builtin_ops.h"
#include "deputy/common.h"
#include "deputy/deputy_plugin.h"

namespace deputy::onnxruntime {

// Adds a node to the definition, which records a refusal if it is not supported.
void AddNode(Definition* definition, const TfLiteNode& node,
             const TfLiteRegistration& registration);

// Implements DeputyDelegatePlugin.list_operators.
void ListOperators(DeputyDelegateOperatorCallback callback, void* user_data);

// A node that is being added to a definition. Functions that return false have recorded a refusal.
struct Operation {
  Definition* definition;
  const TfLiteNode* node;
  TfLiteBuiltinOperator builtin;
  const char* onnx;  // ONNX operator of the table row; "" if there are several

  int inputs() const { return node->inputs->size; }
  int outputs() const { return node->outputs->size; }
  // Returns the index of an input's tensor; -1 for an absent optional input.
  int In(int i) const { return i < inputs() ? node->inputs->data[i] : -1; }
  int Out(int i) const { return node->outputs->data[i]; }
  const TfLiteTensor& in(int i) const { return definition->context().tensors[In(i)]; }
  const TfLiteTensor& out(int i) const { return definition->context().tensors[Out(i)]; }
  template <typename Params>
  const Params& params() const {
    return *static_cast<const Params*>(node->builtin_data);
  }

  // Checks the number of inputs; those before `min` must be present.
  bool ExpectInputs(int min, int max) const;
  bool ExpectRank(const TfLiteTensor& tensor, int rank) const;
  bool ExpectType(const TfLiteTensor& tensor, TfLiteType type) const;
  // Checks that two tensors have the same type, and quantised ones the same scale and zero point.
  bool ExpectSameQuantization(const TfLiteTensor& a, const TfLiteTensor& b) const;
  bool ExpectConstant(const TfLiteTensor& tensor) const;
  bool ExpectCount(const Dims& values, size_t count, const char* what) const;
  // Refuses a node whose output does not have this shape.
  bool ExpectOutput(const Dims& dims) const;

  // Reads a constant of int32 or int64.
  bool ReadInts(int input, Dims* out_values) const;
  // Reads a constant with one element, as an axis of `rank` dimensions, and makes it non-negative.
  bool ReadAxis(int input, int rank, int64_t* out_axis) const;
  bool ToAxis(int64_t value, int rank, int64_t* out_axis) const;

  // Replaces `value` by its fused activation.
  bool Activate(TfLiteFusedActivation activation, std::string* value) const;

  // Returns NCHW if that avoids a transposition of one of the first `count` inputs and all of them
  // can have a value in NCHW.
  Layout SharedLayout(int count) const;
};

// Returns the dimension of a value in `layout` that holds dimension `axis` of the host's tensor.
int64_t AxisIn(Layout layout, int64_t axis);

// Functions in the table of operators.cc, which check and define one operator each.
void DefineUnary(const Operation& op);
void DefineComposed(const Operation& op);  // functions of one operand without an ONNX operator
void DefineClamp(const Operation& op);
void DefineLeakyRelu(const Operation& op);
void DefineGelu(const Operation& op);
void DefineBinary(const Operation& op);
void DefineFused(const Operation& op);  // operators of two operands with a fused activation
void DefineAddN(const Operation& op);
void DefineCompare(const Operation& op);
void DefineLogical(const Operation& op);
void DefineSelect(const Operation& op);
void DefineSoftmax(const Operation& op);
void DefineLogSoftmax(const Operation& op);
void DefineCast(const Operation& op);
void DefineQuantize(const Operation& op);  // QUANTIZE, DEQUANTIZE

void DefineConv(const Operation& op);
void DefineDepthwiseConv(const Operation& op);
void DefineTransposeConv(const Operation& op);
void DefineFullyConnected(const Operation& op);
void DefineBatchMatMul(const Operation& op);
void DefinePool(const Operation& op);
void DefineResizeBilinear(const Operation& op);
void DefineResizeNearest(const Operation& op);
void DefineL2Normalization(const Operation& op);
void DefineLocalResponseNormalization(const Operation& op);

void DefineReduce(const Operation& op);
void DefineArgument(const Operation& op);  // ARG_MAX, ARG_MIN
void DefineCumsum(const Operation& op);
void DefineReshape(const Operation& op);  // RESHAPE, SQUEEZE, EXPAND_DIMS
void DefineTranspose(const Operation& op);
void DefinePad(const Operation& op);
void DefineMirrorPad(const Operation& op);
void DefineConcatenation(const Operation& op);
void DefinePack(const Operation& op);
void DefineUnpack(const Operation& op);
void DefineSplit(const Operation& op);
void DefineSplitV(const Operation& op);
void DefineSlice(const Operation& op);
void DefineStridedSlice(const Operation& op);
void DefineReverse(const Operation& op);
void DefineGather(const Operation& op);
void DefineEmbeddingLookup(const Operation& op);
void DefineTile(const Operation& op);
void DefineBroadcastTo(const Operation& op);
void DefineBlocks(const Operation& op);  // SPACE_TO_DEPTH, DEPTH_TO_SPACE

}  // namespace deputy::onnxruntime

#endif  // DEPUTY_BRIDGES_ONNXRUNTIME_OPERATORS_H_
