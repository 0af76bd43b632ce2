// SPDX-License-Identifier: Apache-2.0
//
// The operators that NNAPI supports. Each has one function that both checks a node and defines it;
// operators.cc has the table.
#ifndef DEPUTY_BRIDGES_NNAPI_OPERATORS_H_
#define DEPUTY_BRIDGES_NNAPI_OPERATORS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bridges/nnapi/definition.h"
#include "bridges/nnapi/nnapi.h"
#include "deputy/builtin_op_data.h"
#include "deputy/common.h"
#include "deputy/deputy_plugin.h"

namespace deputy::nnapi {

// Adds a node to the definition, which records a refusal if it is not supported.
void AddNode(Definition* definition, const TfLiteNode& node,
             const TfLiteRegistration& registration);

// Implements DeputyDelegatePlugin.list_operators.
void ListOperators(DeputyDelegateOperatorCallback callback, void* user_data);

// A node that is being added to a definition. Functions that return false have recorded a refusal.
struct Operation {
  Definition* definition;
  const TfLiteNode* node;
  OperationCode code;  // code of the operator's table row

  int inputs() const { return node->inputs->size; }
  int outputs() const { return node->outputs->size; }
  // Returns the index of an input's tensor; -1 for an absent optional input.
  int In(int i) const { return i < inputs() ? node->inputs->data[i] : -1; }
  int Out(int i) const { return node->outputs->data[i]; }
  const TfLiteTensor& in(int i) const { return definition->context().tensors[In(i)]; }
  const TfLiteTensor& out(int i) const { return definition->context().tensors[Out(i)]; }
  int level() const { return definition->feature_level(); }
  template <typename Params>
  const Params& params() const {
    return *static_cast<const Params*>(node->builtin_data);
  }

  bool ExpectInputs(int min, int max) const;
  bool ExpectRank(const TfLiteTensor& tensor, int rank) const;
  // Checks the rank if the feature level is below 3, which introduced other ranks.
  bool ExpectRankBefore3(const TfLiteTensor& tensor, int rank) const;
  bool ExpectType(const TfLiteTensor& tensor, TfLiteType type) const;
  // Check that two tensors have the same type. ExpectSameQuantization also checks that quantised
  // ones have the same scale and zero point.
  bool ExpectSameType(const TfLiteTensor& a, const TfLiteTensor& b) const;
  bool ExpectSameQuantization(const TfLiteTensor& a, const TfLiteTensor& b) const;
  bool ExpectSameShape(const TfLiteTensor& a, const TfLiteTensor& b) const;
  // Checks the quantisation that NNAPI prescribes for some results.
  bool ExpectQuantization(const TfLiteTensor& tensor, float scale, int uint8_zero_point) const;
  bool ExpectConstant(const TfLiteTensor& tensor) const;
  // Checks the output scale of a quantised product. Before feature level 3 it must be greater than
  // the product of the factors' scales.
  bool ExpectProductScale(const TfLiteTensor& a, const TfLiteTensor& b) const;

  // Reads a constant of int32 or int64.
  bool ReadInts(int input, std::vector<int32_t>* out_values) const;
  // Reads a constant with one element, as an axis of `rank` dimensions, and makes it non-negative.
  bool ReadAxis(int input, int rank, int32_t* out_axis) const;
  bool ToAxis(int64_t value, int rank, int32_t* out_axis) const;
  // Converts an activation to a FuseCode.
  bool ReadFuse(TfLiteFusedActivation activation, int32_t* out_fuse) const;
  bool ReadPadding(TfLitePadding padding, int32_t* out_padding) const;

  // Adds the inputs before `count` and all outputs, and ends the operation with the row's code.
  void FinishWith(int count) const;
  // Adds all outputs and ends the operation with the row's code.
  void Finish() const;
};

// Returns the dimensions of a tensor, one dimension of 1 for a scalar.
Shape ShapeOf(const TfLiteTensor& tensor);
uint32_t CountOf(const TfLiteTensor& tensor);

// Functions in the table of operators.cc, which check and define one operator each.
void DefineBinary(const Operation& op);  // operators with a fused activation
void DefineDiv(const Operation& op);
void DefinePlain(const Operation& op);  // operators without parameters
void DefineCompare(const Operation& op);
void DefineSquare(const Operation& op);
void DefineFixedScale(const Operation& op);  // LOGISTIC, TANH
void DefineElu(const Operation& op);
void DefineAnyScales(const Operation& op);  // PRELU, HARD_SWISH
void DefineSoftmax(const Operation& op);
void DefineLogSoftmax(const Operation& op);
void DefineQuantize(const Operation& op);
void DefineDequantize(const Operation& op);
void DefineCast(const Operation& op);
void DefineSelect(const Operation& op);

void DefineConv(const Operation& op);
void DefineDepthwiseConv(const Operation& op);
void DefineTransposeConv(const Operation& op);
void DefineFullyConnected(const Operation& op);
void DefinePool(const Operation& op);
void DefineResizeBilinear(const Operation& op);
void DefineResizeNearest(const Operation& op);
void DefineL2Normalization(const Operation& op);
void DefineLocalResponseNormalization(const Operation& op);

void DefineReduce(const Operation& op);
void DefineArgument(const Operation& op);  // ARG_MAX, ARG_MIN
void DefineReshape(const Operation& op);
void DefineSqueeze(const Operation& op);
void DefineExpandDims(const Operation& op);
void DefineTranspose(const Operation& op);
void DefinePad(const Operation& op);
void DefinePadV2(const Operation& op);
void DefineConcatenation(const Operation& op);
void DefineSplit(const Operation& op);
void DefineSlice(const Operation& op);
void DefineStridedSlice(const Operation& op);
void DefineGather(const Operation& op);
void DefineTile(const Operation& op);
void DefineSpaceToDepth(const Operation& op);
void DefineDepthToSpace(const Operation& op);
void DefineSpaceToBatch(const Operation& op);
void DefineBatchToSpace(const Operation& op);
void DefineEmbeddingLookup(const Operation& op);

}  // namespace deputy::nnapi

#endif  // DEPUTY_BRIDGES_NNAPI_OPERATORS_H_
