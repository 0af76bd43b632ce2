// SPDX-License-Identifier: Apache-2.0
#include "bridges/onnxruntime/operators.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace deputy::onnxruntime {
namespace {

constexpr int kMaxRank = 8;
constexpr size_t kMaxConstantBytes = size_t{1} << 30;

// Sets of types, for the data of an operator.
enum Types : uint8_t {
  kFloat = 1,
  kInt = 2,  // int32 and int64
  kBoolean = 4,
  kByte = 8,  // int8 and uint8
  kReal = kFloat | kByte,
  kExact = kFloat | kInt,  // operators that TensorFlow Lite computes differently for bytes
  kNumber = kFloat | kInt | kByte,
  kAny = kFloat | kInt | kByte | kBoolean,
};

enum Flags : uint8_t {
  kNoFlags = 0,
  kWithOptions = 1,   // the node must have builtin data
  kDataIsSecond = 2,  // the data is input 1
  kDataIsThird = 4,   // the data is input 2
};

struct Row {
  TfLiteBuiltinOperator builtin;
  int max_version;
  const char* onnx;
  int types;
  int flags;
  void (*define)(const Operation& op);
};

constexpr Row kRows[] = {
    {kTfLiteBuiltinAdd, 5, "Add", kNumber, kWithOptions, DefineFused},
    {kTfLiteBuiltinSub, 5, "Sub", kNumber, kWithOptions, DefineFused},
    {kTfLiteBuiltinMul, 7, "Mul", kNumber, kWithOptions, DefineFused},
    {kTfLiteBuiltinDiv, 2, "Div", kFloat, kWithOptions, DefineFused},
    {kTfLiteBuiltinAddN, 1, "Sum", kReal, kNoFlags, DefineAddN},
    {kTfLiteBuiltinMaximum, 4, "Max", kNumber, kNoFlags, DefineBinary},
    {kTfLiteBuiltinMinimum, 4, "Min", kNumber, kNoFlags, DefineBinary},
    {kTfLiteBuiltinPow, 1, "Pow", kReal, kNoFlags, DefineBinary},
    {kTfLiteBuiltinSquaredDifference, 2, "", kReal, kNoFlags, DefineBinary},
    {kTfLiteBuiltinEqual, 4, "Equal", kExact | kBoolean, kNoFlags, DefineCompare},
    {kTfLiteBuiltinNotEqual, 3, "Equal", kExact | kBoolean, kNoFlags, DefineCompare},
    {kTfLiteBuiltinLess, 3, "Less", kExact, kNoFlags, DefineCompare},
    {kTfLiteBuiltinLessEqual, 2, "LessOrEqual", kExact, kNoFlags, DefineCompare},
    {kTfLiteBuiltinGreater, 2, "Greater", kExact, kNoFlags, DefineCompare},
    {kTfLiteBuiltinGreaterEqual, 3, "GreaterOrEqual", kExact, kNoFlags, DefineCompare},
    {kTfLiteBuiltinLogicalAnd, 1, "And", kBoolean, kNoFlags, DefineLogical},
    {kTfLiteBuiltinLogicalOr, 1, "Or", kBoolean, kNoFlags, DefineLogical},
    {kTfLiteBuiltinLogicalNot, 1, "Not", kBoolean, kNoFlags, DefineLogical},
    {kTfLiteBuiltinSelect, 4, "Where", kNumber, kDataIsSecond, DefineSelect},
    {kTfLiteBuiltinSelectV2, 2, "Where", kNumber, kDataIsSecond, DefineSelect},

    {kTfLiteBuiltinAbs, 5, "Abs", kNumber, kNoFlags, DefineUnary},
    {kTfLiteBuiltinNeg, 1, "Neg", kNumber, kNoFlags, DefineUnary},
    {kTfLiteBuiltinSign, 2, "Sign", kReal, kNoFlags, DefineUnary},
    {kTfLiteBuiltinExp, 2, "Exp", kReal, kNoFlags, DefineUnary},
    {kTfLiteBuiltinLog, 2, "Log", kReal, kNoFlags, DefineUnary},
    {kTfLiteBuiltinSin, 1, "Sin", kReal, kNoFlags, DefineUnary},
    {kTfLiteBuiltinCos, 1, "Cos", kReal, kNoFlags, DefineUnary},
    {kTfLiteBuiltinSqrt, 1, "Sqrt", kFloat, kNoFlags, DefineUnary},
    {kTfLiteBuiltinRsqrt, 3, "", kFloat, kNoFlags, DefineComposed},
    {kTfLiteBuiltinSquare, 1, "", kReal, kNoFlags, DefineComposed},
    {kTfLiteBuiltinFloor, 1, "Floor", kReal, kNoFlags, DefineUnary},
    {kTfLiteBuiltinCeil, 1, "Ceil", kReal, kNoFlags, DefineUnary},
    {kTfLiteBuiltinRound, 1, "Round", kReal, kNoFlags, DefineUnary},
    {kTfLiteBuiltinRelu, 3, "Relu", kReal, kNoFlags, DefineUnary},
    {kTfLiteBuiltinReluN1To1, 1, "Clip", kReal, kNoFlags, DefineClamp},
    {kTfLiteBuiltinRelu0To1, 1, "Clip", kReal, kNoFlags, DefineClamp},
    {kTfLiteBuiltinRelu6, 3, "Clip", kReal, kNoFlags, DefineClamp},
    {kTfLiteBuiltinLeakyRelu, 2, "LeakyRelu", kReal, kWithOptions, DefineLeakyRelu},
    {kTfLiteBuiltinLogistic, 3, "Sigmoid", kReal, kNoFlags, DefineUnary},
    {kTfLiteBuiltinTanh, 3, "Tanh", kReal, kNoFlags, DefineUnary},
    {kTfLiteBuiltinElu, 1, "Elu", kReal, kNoFlags, DefineUnary},
    {kTfLiteBuiltinHardSwish, 1, "HardSwish", kReal, kNoFlags, DefineUnary},
    {kTfLiteBuiltinGelu, 2, "", kReal, kWithOptions, DefineGelu},
    {kTfLiteBuiltinPrelu, 1, "PRelu", kReal, kNoFlags, DefineBinary},
    {kTfLiteBuiltinSoftmax, 3, "Softmax", kReal, kWithOptions, DefineSoftmax},
    {kTfLiteBuiltinLogSoftmax, 1, "LogSoftmax", kReal, kNoFlags, DefineLogSoftmax},
    {kTfLiteBuiltinCast, 5, "Cast", kExact | kBoolean, kNoFlags, DefineCast},
    {kTfLiteBuiltinQuantize, 2, "", kReal, kNoFlags, DefineQuantize},
    {kTfLiteBuiltinDequantize, 3, "", kByte, kNoFlags, DefineQuantize},

    {kTfLiteBuiltinConv2d, 5, "Conv", kReal, kWithOptions, DefineConv},
    {kTfLiteBuiltinDepthwiseConv2d, 6, "Conv", kReal, kWithOptions, DefineDepthwiseConv},
    {kTfLiteBuiltinTransposeConv, 4, "ConvTranspose", kReal, kWithOptions | kDataIsThird,
     DefineTransposeConv},
    {kTfLiteBuiltinFullyConnected, 9, "Gemm", kReal, kWithOptions, DefineFullyConnected},
    {kTfLiteBuiltinBatchMatmul, 4, "MatMul", kReal, kWithOptions, DefineBatchMatMul},
    {kTfLiteBuiltinAveragePool2d, 3, "AveragePool", kReal, kWithOptions, DefinePool},
    {kTfLiteBuiltinMaxPool2d, 3, "MaxPool", kReal, kWithOptions, DefinePool},
    {kTfLiteBuiltinL2Pool2d, 1, "AveragePool", kReal, kWithOptions, DefinePool},
    {kTfLiteBuiltinResizeBilinear, 4, "Resize", kReal, kWithOptions, DefineResizeBilinear},
    {kTfLiteBuiltinResizeNearestNeighbor, 4, "Gather", kReal, kWithOptions, DefineResizeNearest},
    {kTfLiteBuiltinL2Normalization, 2, "", kReal, kWithOptions, DefineL2Normalization},
    {kTfLiteBuiltinLocalResponseNormalization, 1, "LRN", kReal, kWithOptions,
     DefineLocalResponseNormalization},

    {kTfLiteBuiltinMean, 3, "ReduceMean", kReal, kWithOptions, DefineReduce},
    {kTfLiteBuiltinSum, 1, "ReduceSum", kReal, kWithOptions, DefineReduce},
    {kTfLiteBuiltinReduceProd, 1, "ReduceProd", kFloat, kWithOptions, DefineReduce},
    {kTfLiteBuiltinReduceMax, 3, "ReduceMax", kReal, kWithOptions, DefineReduce},
    {kTfLiteBuiltinReduceMin, 3, "ReduceMin", kReal, kWithOptions, DefineReduce},
    {kTfLiteBuiltinArgMax, 2, "ArgMax", kReal, kNoFlags, DefineArgument},
    {kTfLiteBuiltinArgMin, 2, "ArgMin", kReal, kNoFlags, DefineArgument},
    {kTfLiteBuiltinCumsum, 1, "CumSum", kNumber, kWithOptions, DefineCumsum},
    {kTfLiteBuiltinReshape, 1, "Reshape", kAny, kNoFlags, DefineReshape},
    {kTfLiteBuiltinSqueeze, 2, "Reshape", kAny, kNoFlags, DefineReshape},
    {kTfLiteBuiltinExpandDims, 1, "Reshape", kAny, kNoFlags, DefineReshape},
    {kTfLiteBuiltinTranspose, 5, "Transpose", kAny, kNoFlags, DefineTranspose},
    {kTfLiteBuiltinPad, 4, "Pad", kNumber, kNoFlags, DefinePad},
    {kTfLiteBuiltinPadv2, 4, "Pad", kNumber, kNoFlags, DefinePad},
    {kTfLiteBuiltinMirrorPad, 3, "Pad", kNumber, kWithOptions, DefineMirrorPad},
    {kTfLiteBuiltinConcatenation, 3, "Concat", kAny, kWithOptions, DefineConcatenation},
    {kTfLiteBuiltinPack, 3, "Concat", kAny, kWithOptions, DefinePack},
    {kTfLiteBuiltinUnpack, 4, "Split", kNumber, kWithOptions, DefineUnpack},
    {kTfLiteBuiltinSplit, 4, "Split", kNumber, kDataIsSecond, DefineSplit},
    {kTfLiteBuiltinSplitV, 2, "Split", kNumber, kNoFlags, DefineSplitV},
    {kTfLiteBuiltinSlice, 5, "Slice", kAny, kNoFlags, DefineSlice},
    {kTfLiteBuiltinStridedSlice, 7, "Slice", kAny, kWithOptions, DefineStridedSlice},
    {kTfLiteBuiltinReverseV2, 3, "Slice", kNumber, kNoFlags, DefineReverse},
    {kTfLiteBuiltinGather, 4, "Gather", kAny, kWithOptions, DefineGather},
    {kTfLiteBuiltinEmbeddingLookup, 3, "Gather", kNumber, kDataIsSecond, DefineEmbeddingLookup},
    {kTfLiteBuiltinTile, 3, "Tile", kNumber, kNoFlags, DefineTile},
    {kTfLiteBuiltinBroadcastTo, 3, "Expand", kNumber, kNoFlags, DefineBroadcastTo},
    {kTfLiteBuiltinSpaceToDepth, 2, "Transpose", kNumber, kWithOptions, DefineBlocks},
    {kTfLiteBuiltinDepthToSpace, 2, "Transpose", kNumber, kWithOptions, DefineBlocks},
};

const Row* FindRow(int32_t builtin) {
  for (const Row& row : kRows) {
    if (row.builtin == builtin) return &row;
  }
  return nullptr;
}

int TypesWith(const TfLiteTensor& tensor) {
  switch (tensor.type) {
    case kTfLiteFloat32:
      return kFloat;
    case kTfLiteInt32:
    case kTfLiteInt64:
      return kInt;
    case kTfLiteBool:
      return kBoolean;
    case kTfLiteInt8:
    case kTfLiteUInt8:
      return kByte;
    default:
      return 0;
  }
}

// Checks that apply to every tensor of a node.
bool CheckTensor(Definition* definition, int index) {
  const TfLiteTensor& tensor = definition->context().tensors[index];
  if (tensor.allocation_type == kTfLiteDynamic || tensor.dims == nullptr) {
    return definition->Refuse(kDeputyReasonDynamicShape,
                              NameOf(tensor) + ": its shape is not known before run time");
  }
  if (tensor.allocation_type == kTfLitePersistentRo && !definition->IsHalfConstant(index)) {
    return definition->Refuse(kDeputyReasonNotConstant,
                              NameOf(tensor) + ": computed before the first inference");
  }
  if (tensor.is_variable) {
    return definition->Refuse(kDeputyReasonOther, NameOf(tensor) + " is a variable");
  }
  if (tensor.sparsity != nullptr) {
    return definition->Refuse(kDeputyReasonOther, NameOf(tensor) + " is sparse");
  }
  if (TypesWith(tensor) == 0) {
    return definition->Refuse(
        kDeputyReasonType,
        NameOf(tensor) + ": type " + std::to_string(tensor.type) + " is not supported");
  }
  if (tensor.dims->size > kMaxRank) {
    return definition->Refuse(kDeputyReasonShape, NameOf(tensor) +
                                                      ": expected at most 8 dimensions, found " +
                                                      std::to_string(tensor.dims->size));
  }
  const Dims dims = DimsOf(tensor);
  if (std::any_of(dims.begin(), dims.end(), [](int64_t dim) { return dim <= 0; })) {
    return definition->Refuse(kDeputyReasonShape, NameOf(tensor) + " has no elements");
  }
  if (!IsConstant(tensor)) return true;
  if (tensor.bytes > kMaxConstantBytes) {
    return definition->Refuse(kDeputyReasonMemory,
                              NameOf(tensor) + ": expected at most 2^30 bytes");
  }
  return tensor.bytes == static_cast<size_t>(CountOf(dims)) * ElementBytes(TypeOf(tensor)) ||
         definition->Refuse(kDeputyReasonNotConstant,
                            NameOf(tensor) + ": its contents do not match its shape");
}

bool CheckTensors(const Operation& op) {
  for (const TfLiteIntArray* tensors : {op.node->inputs, op.node->outputs}) {
    for (int i = 0; i < tensors->size; ++i) {
      const int index = tensors->data[i];
      if (index < 0 && tensors == op.node->inputs) continue;
      if (index < 0) {
        return op.definition->Refuse(kDeputyReasonOther, "optional outputs are not supported");
      }
      if (!CheckTensor(op.definition, index)) return false;
    }
  }
  return true;
}

bool CheckRow(const Operation& op, const Row& row) {
  Definition* const definition = op.definition;
  if ((row.flags & kWithOptions) != 0 && op.node->builtin_data == nullptr) {
    return definition->Refuse(kDeputyReasonParameter, "expected options, found none");
  }
  int data = 0;
  if ((row.flags & kDataIsSecond) != 0) data = 1;
  if ((row.flags & kDataIsThird) != 0) data = 2;
  if (op.outputs() == 0 || op.In(data) < 0) {
    return definition->Refuse(kDeputyReasonOther, "expected an input and an output");
  }
  if (definition->IsHalfConstant(op.Out(0))) {
    return definition->Refuse(
        kDeputyReasonOther,
        "its output is a constant of float16, which the nodes that read it contain");
  }
  if (!CheckTensors(op)) return false;
  const TfLiteTensor& input = op.in(data);
  return (TypesWith(input) & row.types) != 0 ||
         definition->Refuse(kDeputyReasonType, NameOf(input) + ": type " +
                                                   std::to_string(input.type) +
                                                   " is not supported for this operator");
}

}  // namespace

void AddNode(Definition* definition, const TfLiteNode& node,
             const TfLiteRegistration& registration) {
  const Row* row = FindRow(registration.builtin_code);
  if (row == nullptr) {
    definition->Refuse(kDeputyReasonOperator, "the operator is not supported with ONNX Runtime");
    return;
  }
  if (registration.version > row->max_version) {
    definition->Refuse(kDeputyReasonVersion, "version: expected 1 to " +
                                                 std::to_string(row->max_version) + ", found " +
                                                 std::to_string(registration.version));
    return;
  }
  const Operation op = {definition, &node, row->builtin, row->onnx};
  if (CheckRow(op, *row)) row->define(op);
}

void ListOperators(DeputyDelegateOperatorCallback callback, void* user_data) {
  for (const Row& row : kRows) {
    const DeputyDelegateOperator op = {sizeof op, row.builtin, row.max_version, nullptr};
    if (callback != nullptr) callback(user_data, &op);
  }
}

int64_t AxisIn(Layout layout, int64_t axis) {
  constexpr int64_t kNchwOfNhwc[] = {0, 2, 3, 1};
  return layout == Layout::kNhwc ? axis : kNchwOfNhwc[axis];
}

// ---- Operation ----------------------------------------------------------------------------------

bool Operation::ExpectInputs(int min, int max) const {
  bool is_valid = inputs() >= min && inputs() <= max;
  for (int i = 0; i < min && is_valid; ++i) is_valid = In(i) >= 0;
  return is_valid ||
         definition->Refuse(kDeputyReasonOther, "expected " + std::to_string(min) +
                                                    " inputs, found " + std::to_string(inputs()));
}

bool Operation::ExpectRank(const TfLiteTensor& tensor, int rank) const {
  return tensor.dims->size == rank ||
         definition->Refuse(kDeputyReasonShape, NameOf(tensor) + ": expected " +
                                                    std::to_string(rank) + " dimensions, found " +
                                                    std::to_string(tensor.dims->size));
}

bool Operation::ExpectType(const TfLiteTensor& tensor, TfLiteType type) const {
  return tensor.type == type ||
         definition->Refuse(kDeputyReasonType, NameOf(tensor) + ": expected type " +
                                                   std::to_string(type) + ", found " +
                                                   std::to_string(tensor.type));
}

bool Operation::ExpectSameQuantization(const TfLiteTensor& a, const TfLiteTensor& b) const {
  if (!ExpectType(b, a.type)) return false;
  if (!IsQuantized(a) ||
      (a.params.scale == b.params.scale && a.params.zero_point == b.params.zero_point)) {
    return true;
  }
  return definition->Refuse(kDeputyReasonQuantization,
                            NameOf(b) + ": expected the scale and zero point of " + NameOf(a));
}

bool Operation::ExpectConstant(const TfLiteTensor& tensor) const {
  return IsConstant(tensor) ||
         definition->Refuse(kDeputyReasonNotConstant, NameOf(tensor) + ": expected a constant");
}

bool Operation::ExpectCount(const Dims& values, size_t count, const char* what) const {
  return values.size() == count ||
         definition->Refuse(kDeputyReasonShape, std::string(what) + ": expected " +
                                                    std::to_string(count) + " numbers, found " +
                                                    std::to_string(values.size()));
}

bool Operation::ExpectOutput(const Dims& dims) const {
  if (DimsOf(out(0)) == dims) return true;
  std::string expected;
  for (const int64_t dim : dims) {
    expected.append(expected.empty() ? "" : ",").append(std::to_string(dim));
  }
  return definition->Refuse(kDeputyReasonShape,
                            NameOf(out(0)) + ": expected the shape [" + expected + "]");
}

bool Operation::ReadInts(int input, Dims* out_values) const {
  if (In(input) < 0) return definition->Refuse(kDeputyReasonOther, "an input is missing");
  const TfLiteTensor& tensor = in(input);
  if (!ExpectConstant(tensor)) return false;
  if (tensor.type != kTfLiteInt64 && !ExpectType(tensor, kTfLiteInt32)) return false;
  const auto count = static_cast<size_t>(CountOf(DimsOf(tensor)));
  if (tensor.type == kTfLiteInt64) {
    out_values->assign(tensor.data.i64, tensor.data.i64 + count);
  } else {
    out_values->assign(tensor.data.i32, tensor.data.i32 + count);
  }
  // Sums of such values do not overflow.
  if (std::any_of(out_values->begin(), out_values->end(),
                  [](int64_t value) { return value != static_cast<int32_t>(value); })) {
    return definition->Refuse(kDeputyReasonParameter,
                              NameOf(tensor) + ": a value is out of the range of INT32");
  }
  return true;
}

bool Operation::ReadAxis(int input, int rank, int64_t* out_axis) const {
  Dims values;
  return ReadInts(input, &values) && ExpectCount(values, 1, "axis") &&
         ToAxis(values[0], rank, out_axis);
}

bool Operation::ToAxis(int64_t value, int rank, int64_t* out_axis) const {
  *out_axis = value < 0 ? value + rank : value;
  return (*out_axis >= 0 && *out_axis < rank) ||
         definition->Refuse(kDeputyReasonParameter,
                            "axis: expected one of " + std::to_string(rank) +
                                " dimensions, found " + std::to_string(value));
}

bool Operation::Activate(TfLiteFusedActivation activation, std::string* value) const {
  switch (activation) {
    case kTfLiteActNone:
      return true;
    case kTfLiteActRelu:
      *value = definition->Add("Relu", {*value});
      return true;
    case kTfLiteActReluN1To1:
      *value = definition->Add("Clip", {*value, definition->Float(-1), definition->Float(1)});
      return true;
    case kTfLiteActRelu6:
      *value = definition->Add("Clip", {*value, definition->Float(0), definition->Float(6)});
      return true;
    default:
      return definition->Refuse(kDeputyReasonParameter,
                                "fused activation: expected RELU, RELU6 or RELU_N1_TO_1");
  }
}

Layout Operation::SharedLayout(int count) const {
  bool is_only_nchw = false;
  for (int i = 0; i < count; ++i) {
    const int rank = in(i).dims->size;
    if (rank > 4 || (rank < 4 && !definition->IsConstant(In(i)))) return Layout::kNhwc;
    is_only_nchw = is_only_nchw || definition->IsOnlyNchw(In(i));
  }
  return is_only_nchw ? Layout::kNchw : Layout::kNhwc;
}

}  // namespace deputy::onnxruntime
