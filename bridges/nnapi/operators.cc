// SPDX-License-Identifier: Apache-2.0
#include "bridges/nnapi/operators.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "deputy/builtin_ops.h"

namespace deputy::nnapi {
namespace {

constexpr int kMaxRank = 4;

// Minimum feature level of an operation for each type of its data; 0 if the type is not supported.
struct Levels {
  int float32, uint8, int8, int32, boolean;
};

constexpr Levels kFloat27 = {27, 0, 0, 0, 0};
constexpr Levels kFloat28 = {28, 0, 0, 0, 0};
constexpr Levels kFloat29 = {29, 0, 0, 0, 0};
constexpr Levels kFloat30 = {30, 0, 0, 0, 0};
constexpr Levels kQuant27 = {27, 27, 30, 0, 0};
constexpr Levels kQuant28 = {28, 28, 30, 0, 0};
constexpr Levels kQuant29 = {29, 29, 30, 0, 0};
constexpr Levels kQuant30 = {30, 30, 30, 0, 0};
constexpr Levels kQuantUint8Later27 = {27, 29, 30, 0, 0};
constexpr Levels kQuantUint8Later28 = {28, 29, 30, 0, 0};
constexpr Levels kArithmetic27 = {27, 27, 30, 30, 0};
constexpr Levels kSubtraction = {28, 29, 30, 30, 0};
constexpr Levels kNumber29 = {29, 29, 30, 29, 0};
constexpr Levels kFloatInt29 = {29, 0, 0, 29, 0};
constexpr Levels kAbsolute = {29, 0, 0, 30, 0};
constexpr Levels kAnything29 = {29, 29, 30, 29, 29};
constexpr Levels kBoolean29 = {0, 0, 0, 0, 29};

enum Flags : uint8_t {
  kNoFlags = 0,
  kWithOptions = 1,   // the node must have builtin data
  kAllowScalars = 2,  // tensors without dimensions are allowed, not only constants
  kDataIsSecond = 4,  // the data is input 1
};

struct Row {
  TfLiteBuiltinOperator builtin;
  int max_version;
  OperationCode code;
  Levels levels;
  int flags;
  void (*define)(const Operation& op);
};

constexpr Row kRows[] = {
    {kTfLiteBuiltinAdd, 5, kAdd, kArithmetic27, kWithOptions | kAllowScalars, DefineBinary},
    {kTfLiteBuiltinSub, 5, kSub, kSubtraction, kWithOptions | kAllowScalars, DefineBinary},
    {kTfLiteBuiltinMul, 7, kMul, kArithmetic27, kWithOptions | kAllowScalars, DefineBinary},
    {kTfLiteBuiltinDiv, 2, kDiv, kFloat28, kWithOptions | kAllowScalars, DefineDiv},
    {kTfLiteBuiltinMaximum, 4, kMaximum, kNumber29, kAllowScalars, DefinePlain},
    {kTfLiteBuiltinMinimum, 4, kMinimum, kNumber29, kAllowScalars, DefinePlain},
    {kTfLiteBuiltinPow, 1, kPow, kFloat29, kAllowScalars, DefinePlain},
    {kTfLiteBuiltinSquare, 1, kMul, kFloat27, kAllowScalars, DefineSquare},
    {kTfLiteBuiltinEqual, 4, kEqual, kAnything29, kAllowScalars, DefineCompare},
    {kTfLiteBuiltinNotEqual, 3, kNotEqual, kAnything29, kAllowScalars, DefineCompare},
    {kTfLiteBuiltinLess, 3, kLess, kNumber29, kAllowScalars, DefineCompare},
    {kTfLiteBuiltinLessEqual, 2, kLessEqual, kNumber29, kAllowScalars, DefineCompare},
    {kTfLiteBuiltinGreater, 2, kGreater, kNumber29, kAllowScalars, DefineCompare},
    {kTfLiteBuiltinGreaterEqual, 3, kGreaterEqual, kNumber29, kAllowScalars, DefineCompare},
    {kTfLiteBuiltinLogicalAnd, 1, kLogicalAnd, kBoolean29, kAllowScalars, DefinePlain},
    {kTfLiteBuiltinLogicalOr, 1, kLogicalOr, kBoolean29, kAllowScalars, DefinePlain},
    {kTfLiteBuiltinLogicalNot, 1, kLogicalNot, kBoolean29, kAllowScalars, DefinePlain},
    {kTfLiteBuiltinAbs, 5, kAbs, kAbsolute, kAllowScalars, DefinePlain},
    {kTfLiteBuiltinNeg, 1, kNeg, kFloatInt29, kAllowScalars, DefinePlain},
    {kTfLiteBuiltinExp, 2, kExp, kFloat29, kAllowScalars, DefinePlain},
    {kTfLiteBuiltinLog, 2, kLog, kFloat29, kAllowScalars, DefinePlain},
    {kTfLiteBuiltinSin, 1, kSin, kFloat29, kAllowScalars, DefinePlain},
    {kTfLiteBuiltinSqrt, 1, kSqrt, kFloat29, kAllowScalars, DefinePlain},
    {kTfLiteBuiltinRsqrt, 3, kRsqrt, kFloat29, kAllowScalars, DefinePlain},
    {kTfLiteBuiltinFloor, 1, kFloor, kFloat27, kAllowScalars, DefinePlain},
    {kTfLiteBuiltinRelu, 3, kRelu, kQuant27, kAllowScalars, DefinePlain},
    {kTfLiteBuiltinReluN1To1, 1, kRelu1, kQuant27, kAllowScalars, DefinePlain},
    {kTfLiteBuiltinRelu6, 3, kRelu6, kQuant27, kAllowScalars, DefinePlain},
    {kTfLiteBuiltinLogistic, 3, kLogistic, kQuant27, kAllowScalars, DefineFixedScale},
    {kTfLiteBuiltinTanh, 3, kTanh, kQuantUint8Later27, kAllowScalars, DefineFixedScale},
    {kTfLiteBuiltinElu, 1, kElu, kFloat30, kAllowScalars, DefineElu},
    {kTfLiteBuiltinHardSwish, 1, kHardSwish, kQuant30, kAllowScalars, DefineAnyScales},
    {kTfLiteBuiltinPrelu, 1, kPrelu, kQuant29, kNoFlags, DefineAnyScales},
    {kTfLiteBuiltinSoftmax, 3, kSoftmax, kQuant27, kWithOptions, DefineSoftmax},
    {kTfLiteBuiltinLogSoftmax, 1, kLogSoftmax, kFloat29, kNoFlags, DefineLogSoftmax},
    {kTfLiteBuiltinQuantize, 2, kQuantize, kFloat29, kNoFlags, DefineQuantize},
    {kTfLiteBuiltinDequantize, 3, kDequantize, {0, 27, 30, 0, 0}, kNoFlags, DefineDequantize},
    {kTfLiteBuiltinCast, 5, kCast, kFloatInt29, kNoFlags, DefineCast},
    {kTfLiteBuiltinSelect, 4, kSelect, kNumber29, kDataIsSecond, DefineSelect},
    {kTfLiteBuiltinSelectV2, 2, kSelect, kNumber29, kDataIsSecond, DefineSelect},

    {kTfLiteBuiltinConv2d, 5, kConv2d, kQuant27, kWithOptions, DefineConv},
    {kTfLiteBuiltinDepthwiseConv2d, 6, kDepthwiseConv2d, kQuant27, kWithOptions,
     DefineDepthwiseConv},
    {kTfLiteBuiltinTransposeConv, 4, kTransposeConv, kQuant29, kWithOptions | kDataIsSecond,
     DefineTransposeConv},
    {kTfLiteBuiltinFullyConnected, 9, kFullyConnected, kQuant27, kWithOptions,
     DefineFullyConnected},
    {kTfLiteBuiltinAveragePool2d, 3, kAveragePool2d, kQuant27, kWithOptions, DefinePool},
    {kTfLiteBuiltinMaxPool2d, 3, kMaxPool2d, kQuant27, kWithOptions, DefinePool},
    {kTfLiteBuiltinL2Pool2d, 1, kL2Pool2d, kFloat27, kWithOptions, DefinePool},
    {kTfLiteBuiltinResizeBilinear, 4, kResizeBilinear, kQuantUint8Later27, kWithOptions,
     DefineResizeBilinear},
    {kTfLiteBuiltinResizeNearestNeighbor, 4, kResizeNearestNeighbor, kQuant29, kWithOptions,
     DefineResizeNearest},
    {kTfLiteBuiltinL2Normalization, 2, kL2Normalization, kQuantUint8Later27, kWithOptions,
     DefineL2Normalization},
    {kTfLiteBuiltinLocalResponseNormalization, 1, kLocalResponseNormalization, kFloat27,
     kWithOptions, DefineLocalResponseNormalization},

    {kTfLiteBuiltinMean, 3, kMean, kQuant28, kWithOptions | kAllowScalars, DefineReduce},
    {kTfLiteBuiltinSum, 1, kReduceSum, kFloat29, kWithOptions | kAllowScalars, DefineReduce},
    {kTfLiteBuiltinReduceProd, 1, kReduceProd, kFloat29, kWithOptions | kAllowScalars,
     DefineReduce},
    {kTfLiteBuiltinReduceMax, 3, kReduceMax, kQuant29, kWithOptions | kAllowScalars, DefineReduce},
    {kTfLiteBuiltinReduceMin, 3, kReduceMin, kQuant29, kWithOptions | kAllowScalars, DefineReduce},
    {kTfLiteBuiltinReduceAny, 1, kReduceAny, kBoolean29, kWithOptions | kAllowScalars,
     DefineReduce},
    {kTfLiteBuiltinArgMax, 2, kArgmax, kNumber29, kNoFlags, DefineArgument},
    {kTfLiteBuiltinArgMin, 2, kArgmin, kNumber29, kNoFlags, DefineArgument},
    {kTfLiteBuiltinReshape, 1, kReshape, kQuant27, kNoFlags, DefineReshape},
    {kTfLiteBuiltinSqueeze, 2, kSqueeze, kQuant28, kNoFlags, DefineSqueeze},
    {kTfLiteBuiltinExpandDims, 1, kExpandDims, kNumber29, kNoFlags, DefineExpandDims},
    {kTfLiteBuiltinTranspose, 5, kTranspose, kQuant28, kNoFlags, DefineTranspose},
    {kTfLiteBuiltinPad, 4, kPad, kQuantUint8Later28, kNoFlags, DefinePad},
    {kTfLiteBuiltinPadv2, 4, kPadV2, kQuant29, kNoFlags, DefinePadV2},
    {kTfLiteBuiltinConcatenation, 3, kConcatenation, kQuant27, kWithOptions, DefineConcatenation},
    {kTfLiteBuiltinSplit, 4, kSplit, kNumber29, kWithOptions | kDataIsSecond, DefineSplit},
    {kTfLiteBuiltinSlice, 5, kSlice, kNumber29, kNoFlags, DefineSlice},
    {kTfLiteBuiltinStridedSlice, 7, kStridedSlice, kQuant28, kWithOptions, DefineStridedSlice},
    {kTfLiteBuiltinGather, 4, kGather, kNumber29, kWithOptions, DefineGather},
    {kTfLiteBuiltinTile, 3, kTile, kNumber29, kNoFlags, DefineTile},
    {kTfLiteBuiltinSpaceToDepth, 2, kSpaceToDepth, kQuant27, kWithOptions, DefineSpaceToDepth},
    {kTfLiteBuiltinDepthToSpace, 2, kDepthToSpace, kQuant27, kWithOptions, DefineDepthToSpace},
    {kTfLiteBuiltinSpaceToBatchNd, 3, kSpaceToBatchNd, kQuantUint8Later28, kNoFlags,
     DefineSpaceToBatch},
    {kTfLiteBuiltinBatchToSpaceNd, 3, kBatchToSpaceNd, kQuant28, kNoFlags, DefineBatchToSpace},
    {kTfLiteBuiltinEmbeddingLookup,
     3,
     kEmbeddingLookup,
     {27, 29, 30, 29, 0},
     kDataIsSecond,
     DefineEmbeddingLookup},
};

const Row* FindRow(int32_t builtin) {
  for (const Row& row : kRows) {
    if (row.builtin == builtin) return &row;
  }
  return nullptr;
}

int LevelFor(const Levels& levels, TfLiteType type) {
  switch (type) {
    case kTfLiteFloat32:
      return levels.float32;
    case kTfLiteUInt8:
      return levels.uint8;
    case kTfLiteInt8:
      return levels.int8;
    case kTfLiteInt32:
      return levels.int32;
    case kTfLiteBool:
      return levels.boolean;
    default:
      return 0;
  }
}

// Checks that apply to every tensor of a node.
bool CheckTensor(const Operation& op, const TfLiteTensor& tensor, bool allow_scalar) {
  Definition& definition = *op.definition;
  if (tensor.allocation_type == kTfLiteDynamic || tensor.dims == nullptr) {
    return definition.Refuse(kDeputyReasonDynamicShape,
                             NameOf(tensor) + ": its shape is not known before run time");
  }
  if (tensor.allocation_type == kTfLitePersistentRo) {
    return definition.Refuse(kDeputyReasonNotConstant,
                             NameOf(tensor) + ": computed before the first inference");
  }
  if (tensor.is_variable)
    return definition.Refuse(kDeputyReasonOther, NameOf(tensor) + " is a variable");
  if (tensor.sparsity != nullptr) {
    return definition.Refuse(kDeputyReasonOther, NameOf(tensor) + " is sparse");
  }
  if (tensor.dims->size > kMaxRank) {
    return definition.Refuse(kDeputyReasonShape, NameOf(tensor) +
                                                     ": expected at most 4 dimensions, found " +
                                                     std::to_string(tensor.dims->size));
  }
  if (tensor.dims->size == 0 && !allow_scalar && !IsConstant(tensor)) {
    return definition.Refuse(kDeputyReasonShape,
                             NameOf(tensor) + ": expected a dimension, found a scalar");
  }
  for (int i = 0; i < tensor.dims->size; ++i) {
    // NNAPI interprets the extent 0 as "unknown".
    if (tensor.dims->data[i] > 0) continue;
    return definition.Refuse(kDeputyReasonShape, NameOf(tensor) + " has no elements");
  }
  return true;
}

bool CheckTensors(const Operation& op, const Row& row) {
  for (const TfLiteIntArray* tensors : {op.node->inputs, op.node->outputs}) {
    for (int i = 0; i < tensors->size; ++i) {
      const int index = tensors->data[i];
      if (index < 0 && tensors == op.node->inputs) continue;
      if (index < 0 || !CheckTensor(op, op.definition->context().tensors[index],
                                    (row.flags & kAllowScalars) != 0)) {
        return index >= 0 ? false
                          : op.definition->Refuse(kDeputyReasonOther,
                                                  "optional outputs are not supported");
      }
    }
  }
  return true;
}

bool CheckRow(const Operation& op, const Row& row) {
  Definition& definition = *op.definition;
  if ((row.flags & kWithOptions) != 0 && op.node->builtin_data == nullptr) {
    return definition.Refuse(kDeputyReasonParameter, "expected options, found none");
  }
  const int data = (row.flags & kDataIsSecond) != 0 ? 1 : 0;
  if (op.outputs() == 0 || op.In(data) < 0) {
    return definition.Refuse(kDeputyReasonOther, "expected an input and an output");
  }
  if (!CheckTensors(op, row)) return false;
  // The type of the data determines the level.
  const TfLiteTensor& input = op.in(data);
  const int level = LevelFor(row.levels, input.type);
  if (level == 0) {
    return definition.Refuse(
        kDeputyReasonType,
        NameOf(input) + ": NNAPI has no such operation of type " + std::to_string(input.type));
  }
  return definition.ExpectLevel(level, "the operation");
}

}  // namespace

void AddNode(Definition* definition, const TfLiteNode& node,
             const TfLiteRegistration& registration) {
  const Row* row = FindRow(registration.builtin_code);
  if (row == nullptr || registration.builtin_code == kTfLiteBuiltinCustom) {
    definition->Refuse(kDeputyReasonOperator, "the operator is not supported with NNAPI");
    return;
  }
  if (registration.version > row->max_version) {
    definition->Refuse(kDeputyReasonVersion, "version: expected 1 to " +
                                                 std::to_string(row->max_version) + ", found " +
                                                 std::to_string(registration.version));
    return;
  }
  const Operation op = {definition, &node, row->code};
  if (CheckRow(op, *row)) row->define(op);
}

void ListOperators(DeputyDelegateOperatorCallback callback, void* user_data) {
  for (const Row& row : kRows) {
    const DeputyDelegateOperator op = {sizeof op, row.builtin, row.max_version, nullptr};
    if (callback != nullptr) callback(user_data, &op);
  }
}

Shape ShapeOf(const TfLiteTensor& tensor) {
  Shape shape;
  for (int i = 0; i < tensor.dims->size; ++i) {
    shape.push_back(static_cast<uint32_t>(tensor.dims->data[i]));
  }
  return shape.empty() ? Shape{1} : shape;
}

uint32_t CountOf(const TfLiteTensor& tensor) {
  uint32_t count = 1;
  for (const uint32_t extent : ShapeOf(tensor)) count *= extent;
  return count;
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

bool Operation::ExpectRankBefore3(const TfLiteTensor& tensor, int rank) const {
  return level() >= kFeatureLevel3 || ExpectRank(tensor, rank);
}

bool Operation::ExpectType(const TfLiteTensor& tensor, TfLiteType type) const {
  return tensor.type == type ||
         definition->Refuse(kDeputyReasonType, NameOf(tensor) + ": expected type " +
                                                   std::to_string(type) + ", found " +
                                                   std::to_string(tensor.type));
}

bool Operation::ExpectSameType(const TfLiteTensor& a, const TfLiteTensor& b) const {
  return ExpectType(b, a.type);
}

bool Operation::ExpectSameQuantization(const TfLiteTensor& a, const TfLiteTensor& b) const {
  if (!ExpectSameType(a, b)) return false;
  if (!IsQuantized(a) ||
      (a.params.scale == b.params.scale && a.params.zero_point == b.params.zero_point)) {
    return true;
  }
  return definition->Refuse(kDeputyReasonQuantization,
                            NameOf(b) + ": expected the scale and zero point of " + NameOf(a));
}

bool Operation::ExpectSameShape(const TfLiteTensor& a, const TfLiteTensor& b) const {
  return (a.dims->size == b.dims->size &&
          std::equal(a.dims->data, a.dims->data + a.dims->size, b.dims->data)) ||
         definition->Refuse(kDeputyReasonShape, NameOf(b) + ": expected the shape of " + NameOf(a));
}

bool Operation::ExpectQuantization(const TfLiteTensor& tensor, float scale,
                                   int uint8_zero_point) const {
  if (!IsQuantized(tensor)) return true;
  const int zero_point = uint8_zero_point - (tensor.type == kTfLiteInt8 ? 128 : 0);
  if (tensor.params.scale == scale && tensor.params.zero_point == zero_point) return true;
  return definition->Refuse(kDeputyReasonQuantization, NameOf(tensor) + ": expected scale 1/" +
                                                           std::to_string(std::lround(1 / scale)) +
                                                           " and zero point " +
                                                           std::to_string(zero_point));
}

bool Operation::ExpectConstant(const TfLiteTensor& tensor) const {
  return IsConstant(tensor) ||
         definition->Refuse(kDeputyReasonNotConstant, NameOf(tensor) + ": expected a constant");
}

bool Operation::ExpectProductScale(const TfLiteTensor& a, const TfLiteTensor& b) const {
  if (level() >= kFeatureLevel3 || !IsQuantized(a) ||
      out(0).params.scale > a.params.scale * b.params.scale) {
    return true;
  }
  return definition->Refuse(kDeputyReasonQuantization,
                            NameOf(out(0)) +
                                ": before feature level 29 its scale has to be greater "
                                "than the product of its factors' scales");
}

bool Operation::ReadInts(int input, std::vector<int32_t>* out_values) const {
  const TfLiteTensor& tensor = in(input);
  if (!ExpectConstant(tensor)) return false;
  const size_t count = CountOf(tensor);
  if (tensor.type == kTfLiteInt32 && tensor.bytes >= count * sizeof(int32_t)) {
    out_values->resize(count);
    memcpy(out_values->data(), tensor.data.raw_const, count * sizeof(int32_t));
    return true;
  }
  if (tensor.type != kTfLiteInt64 || tensor.bytes < count * sizeof(int64_t)) {
    return ExpectType(tensor, kTfLiteInt32) &&
           definition->Refuse(kDeputyReasonShape, NameOf(tensor) + " is too short");
  }
  for (size_t i = 0; i < count; ++i) {
    int64_t value = 0;
    memcpy(&value, tensor.data.raw_const + i * sizeof value, sizeof value);
    if (value != static_cast<int32_t>(value)) {
      return definition->Refuse(kDeputyReasonParameter,
                                NameOf(tensor) + ": a value is out of the range of INT32");
    }
    out_values->push_back(static_cast<int32_t>(value));
  }
  return true;
}

bool Operation::ReadAxis(int input, int rank, int32_t* out_axis) const {
  std::vector<int32_t> values;
  if (!ReadInts(input, &values)) return false;
  if (values.size() != 1) {
    return definition->Refuse(kDeputyReasonShape, NameOf(in(input)) + ": expected one number");
  }
  return ToAxis(values[0], rank, out_axis);
}

bool Operation::ToAxis(int64_t value, int rank, int32_t* out_axis) const {
  *out_axis = static_cast<int32_t>(value < 0 ? value + rank : value);
  return (*out_axis >= 0 && *out_axis < rank) ||
         definition->Refuse(kDeputyReasonParameter,
                            "axis: expected one of " + std::to_string(rank) +
                                " dimensions, found " + std::to_string(value));
}

bool Operation::ReadFuse(TfLiteFusedActivation activation, int32_t* out_fuse) const {
  switch (activation) {
    case kTfLiteActNone:
      *out_fuse = kFusedNone;
      return true;
    case kTfLiteActRelu:
      *out_fuse = kFusedRelu;
      return true;
    case kTfLiteActReluN1To1:
      *out_fuse = kFusedRelu1;
      return true;
    case kTfLiteActRelu6:
      *out_fuse = kFusedRelu6;
      return true;
    default:
      return definition->Refuse(kDeputyReasonParameter,
                                "fused activation: expected RELU, RELU6 or RELU_N1_TO_1");
  }
}

bool Operation::ReadPadding(TfLitePadding padding, int32_t* out_padding) const {
  *out_padding = padding == kTfLitePaddingSame ? kPaddingSame : kPaddingValid;
  return padding != kTfLitePaddingUnknown ||
         definition->Refuse(kDeputyReasonParameter, "padding: expected SAME or VALID");
}

void Operation::FinishWith(int count) const {
  for (int i = 0; i < count; ++i) definition->Input(In(i));
  Finish();
}

void Operation::Finish() const {
  for (int i = 0; i < outputs(); ++i) definition->Output(Out(i));
  definition->Finish(code);
}

}  // namespace deputy::nnapi
