// SPDX-License-Identifier: Apache-2.0
//
// Imports reductions, and operators that compute along an axis.
#include <algorithm>

#include "compiler/node_import.h"

namespace deputy::compiler {
namespace {

using enum ScalarOp;

bool IsPlainInteger(TfLiteType type) { return type == kTfLiteInt32 || type == kTfLiteInt64; }

// ---- Reductions ---------------------------------------------------------------------------------

// Reads the second input as a mask of axes.
bool ReadAxes(NodeImport* node, uint32_t* out_axes) {
  std::vector<int> axes;
  if (!node->ReadInts(1, &axes)) return false;
  *out_axes = 0;
  for (int number : axes) {
    int axis = 0;
    if (!node->ReadAxis(number, node->shape(node->Input(0)).size(), &axis)) return false;
    *out_axes |= 1u << axis;
  }
  return true;
}

ValueId AddReduce(NodeImport* node, ReduceKind kind, ValueId from, uint32_t axes, bool keep) {
  const Shape shape = node->shape(from);
  Shape kept = shape, remaining;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const bool is_reduced = (axes >> axis & 1) != 0;
    if (is_reduced) kept[axis] = 1;
    if (!is_reduced) remaining.push_back(shape[axis]);
  }
  const ValueId result =
      axes == 0 ? from : node->Add(Reduce{kind, axes}, {from}, node->value(from).type, kept);
  return keep ? result : node->AddView(result, remaining);
}

bool FinishReduce(NodeImport* node, ReduceKind kind, bool stored) {
  uint32_t axes;
  if (!ReadAxes(node, &axes)) return false;
  const ValueId from = stored ? node->Input(0) : node->Real(0);
  if (ElementCount(node->shape(from)) == 0) {
    return node->RefuseInput(0, kDeputyReasonShape, "expected a tensor that is not empty");
  }
  const bool keep = node->params<TfLiteReducerParams>().keep_dims;
  const ValueId result = AddReduce(node, kind, from, axes, keep);
  return stored ? node->SetOutput(0, result) : node->SetRealOutput(0, result);
}

template <ReduceKind kind>
bool ImportSum(NodeImport* node) {
  if (!node->CheckInputs(2, 2)) return false;
  const bool integers = IsPlainInteger(node->input_tensor(0).type) && kind != ReduceKind::kMean;
  if (!integers && !node->CheckReal(0)) return false;
  return FinishReduce(node, kind, integers);
}

// Imports REDUCE_PROD. Quantised inputs are refused: TensorFlow Lite rounds their product after
// every factor.
bool ImportProd(NodeImport* node) {
  if (!node->CheckInputs(2, 2) ||
      !node->CheckType(0, {kTfLiteFloat32, kTfLiteInt32, kTfLiteInt64})) {
    return false;
  }
  return FinishReduce(node, ReduceKind::kProd, true);
}

// Imports a reduction of stored values; the output keeps their scale.
template <ReduceKind kind>
bool ImportExtreme(NodeImport* node) {
  if (!node->CheckInputs(2, 2)) return false;
  return node->CheckSameScale() && FinishReduce(node, kind, true);
}

template <ReduceKind kind>
bool ImportLogical(NodeImport* node) {
  if (!node->CheckInputs(2, 2) || !node->CheckType(0, {kTfLiteBool})) return false;
  return FinishReduce(node, kind, true);
}

// ---- Along the last axis ------------------------------------------------------------------------

bool FinishSoftmax(NodeImport* node, Softmax softmax) {
  if (!node->CheckInputs(1, 1) || !node->CheckReal(0) || !node->CheckRank(0, 1, 8)) return false;
  if (node->input_tensor(0).type == kTfLiteInt16) {
    return node->RefuseInput(0, kDeputyReasonType,
                             "INT16 is not supported (upstream interpolates a lookup table)");
  }
  const ValueId from = node->Real(0);
  return node->SetRealOutput(0, node->Add(softmax, {from}, kTfLiteFloat32, node->shape(from)));
}

bool ImportSoftmax(NodeImport* node) {
  return FinishSoftmax(node, {node->params<TfLiteSoftmaxParams>().beta, false});
}

bool ImportLogSoftmax(NodeImport* node) { return FinishSoftmax(node, {1, true}); }

// Imports L2_NORMALIZATION: x / max(sqrt(sum of squares), 1e-6).
bool ImportL2Normalization(NodeImport* node) {
  if (!node->CheckInputs(1, 1) || !node->CheckReal(0) || !node->CheckRank(0, 1, 8)) return false;
  if (node->params<TfLiteL2NormParams>().activation != kTfLiteActNone) {
    return node->Refuse(kDeputyReasonParameter, "a fused activation is not supported");
  }
  const ValueId x = node->Real(0);
  const auto last = static_cast<uint32_t>(node->shape(x).size()) - 1;
  const ValueId sum =
      AddReduce(node, ReduceKind::kSum, node->AddBinary(kMul, x, x), 1u << last, true);
  Expression e;
  const int length = e.Apply(kSqrt, e.Operand(1, kTfLiteFloat32));
  const int divisor = e.Apply(kMax, length, e.Constant(kTfLiteFloat32, 1e-6));
  e.SetResult(e.Apply(kDiv, e.Operand(0, kTfLiteFloat32), divisor));
  return node->SetRealOutput(0, node->AddElementwise(std::move(e), {x, sum}));
}

// ---- Along any axis -----------------------------------------------------------------------------

bool ReadOneAxis(NodeImport* node, int* out_axis) {
  std::vector<int> axis;
  if (!node->ReadInts(1, &axis)) return false;
  if (axis.size() != 1) return node->RefuseInput(1, kDeputyReasonShape, "expected one element");
  return node->ReadAxis(axis[0], node->shape(node->Input(0)).size(), out_axis);
}

template <bool largest>
bool ImportArg(NodeImport* node) {
  ArgReduce arg;
  arg.largest = largest;
  if (!node->CheckInputs(2, 2) ||
      !node->CheckType(0, {kTfLiteFloat32, kTfLiteInt8, kTfLiteUInt8, kTfLiteInt32}) ||
      !ReadOneAxis(node, &arg.axis)) {
    return false;
  }
  Shape shape = node->shape(node->Input(0));
  if (shape[static_cast<size_t>(arg.axis)] == 0) {
    return node->RefuseInput(0, kDeputyReasonShape, "expected a tensor that is not empty");
  }
  shape.erase(shape.begin() + arg.axis);
  return node->SetOutput(
      0, node->Add(arg, {node->Input(0)}, node->output_tensor(0).type, std::move(shape)));
}

bool ImportCumsum(NodeImport* node) {
  CumulativeSum sum;
  if (!node->CheckInputs(2, 2) ||
      !node->CheckType(0, {kTfLiteFloat32, kTfLiteInt32, kTfLiteInt64}) ||
      !ReadOneAxis(node, &sum.axis)) {
    return false;
  }
  const auto& params = node->params<TfLiteCumsumParams>();
  sum.exclusive = params.exclusive;
  sum.reverse = params.reverse;
  const ValueId from = node->Input(0);
  return node->SetOutput(0, node->Add(sum, {from}, node->value(from).type, node->shape(from)));
}

bool ImportTopK(NodeImport* node) {
  std::vector<int> k;
  if (!node->CheckInputs(2, 2) || !node->CheckRank(0, 1, 8) || !node->ReadInts(1, &k)) return false;
  const ValueId from = node->Input(0);
  Shape shape = node->shape(from);
  if (k.size() != 1 || k[0] < 0 || k[0] > shape.back()) {
    return node->RefuseInput(1, kDeputyReasonParameter,
                             "expected at most as many as the axis has elements");
  }
  shape.back() = k[0];
  if (node->output_count() != 2) return node->Refuse(kDeputyReasonOther, "expected two outputs");
  const TfLiteType index_type = node->output_tensor(1).type;
  const auto outputs =
      node->AddMany(TopK{}, {from}, {{node->value(from).type, shape}, {index_type, shape}});
  return node->SetOutput(0, outputs[0]) && node->SetOutput(1, outputs[1]);
}

constexpr ImportRow kReduceRows[] = {
    {"ARG_MAX", kTfLiteBuiltinArgMax, 3, &ImportArg<true>},
    {"ARG_MIN", kTfLiteBuiltinArgMin, 3, &ImportArg<false>},
    {"CUMSUM", kTfLiteBuiltinCumsum, 1, &ImportCumsum},
    {"L2_NORMALIZATION", kTfLiteBuiltinL2Normalization, 2, &ImportL2Normalization},
    {"LOG_SOFTMAX", kTfLiteBuiltinLogSoftmax, 2, &ImportLogSoftmax},
    {"MEAN", kTfLiteBuiltinMean, 3, &ImportSum<ReduceKind::kMean>},
    {"REDUCE_ALL", kTfLiteBuiltinReduceAll, 1, &ImportLogical<ReduceKind::kAll>},
    {"REDUCE_ANY", kTfLiteBuiltinReduceAny, 2, &ImportLogical<ReduceKind::kAny>},
    {"REDUCE_MAX", kTfLiteBuiltinReduceMax, 3, &ImportExtreme<ReduceKind::kMax>},
    {"REDUCE_MIN", kTfLiteBuiltinReduceMin, 3, &ImportExtreme<ReduceKind::kMin>},
    {"REDUCE_PROD", kTfLiteBuiltinReduceProd, 2, &ImportProd},
    {"SOFTMAX", kTfLiteBuiltinSoftmax, 4, &ImportSoftmax},
    {"SUM", kTfLiteBuiltinSum, 2, &ImportSum<ReduceKind::kSum>},
    {"TOPK_V2", kTfLiteBuiltinTopkV2, 3, &ImportTopK, true},
};

}  // namespace

std::span<const ImportRow> ReduceRows() { return kReduceRows; }

}  // namespace deputy::compiler
