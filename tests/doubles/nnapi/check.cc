// SPDX-License-Identifier: Apache-2.0
//
// Checks the requirements of NNAPI's documentation on operations (the level that introduced them,
// the number and types of operands), and converts operands to numbers.
#include <cmath>
#include <cstring>
#include <string_view>

#include "tests/doubles/nnapi/double.h"

namespace nnapi_double {
namespace {

using namespace deputy::nnapi;  // NOLINT: for the constants of the ABI

// An operation's signature, as letters: t a tensor, i INT32, f FLOAT32, b BOOL, n a tensor of
// INT32, s INT32 or FLOAT32, * any number of tensors; after | the optional operands, which are
// given all or not at all.
struct Row {
  int32_t code;
  const char* name;
  int level;
  const char* signature;
};

constexpr Row kRows[] = {
    {kAdd, "ADD", 27, "tti"},
    {kAveragePool2d, "AVERAGE_POOL_2D", 27, "tiiiiii"},
    {kConcatenation, "CONCATENATION", 27, "*i"},
    {kConv2d, "CONV_2D", 27, "tttiiii|bii"},
    {kDepthwiseConv2d, "DEPTHWISE_CONV_2D", 27, "tttiiiii|bii"},
    {kDepthToSpace, "DEPTH_TO_SPACE", 27, "ti"},
    {kDequantize, "DEQUANTIZE", 27, "t"},
    {kEmbeddingLookup, "EMBEDDING_LOOKUP", 27, "nt"},
    {kFloor, "FLOOR", 27, "t"},
    {kFullyConnected, "FULLY_CONNECTED", 27, "ttti"},
    {kL2Normalization, "L2_NORMALIZATION", 27, "t"},
    {kL2Pool2d, "L2_POOL_2D", 27, "tiiiiii"},
    {kLocalResponseNormalization, "LOCAL_RESPONSE_NORMALIZATION", 27, "tifff"},
    {kLogistic, "LOGISTIC", 27, "t"},
    {kMaxPool2d, "MAX_POOL_2D", 27, "tiiiiii"},
    {kMul, "MUL", 27, "tti"},
    {kRelu, "RELU", 27, "t"},
    {kRelu1, "RELU1", 27, "t"},
    {kRelu6, "RELU6", 27, "t"},
    {kReshape, "RESHAPE", 27, "tn"},
    {kResizeBilinear, "RESIZE_BILINEAR", 27, "tii|bbb"},
    {kSoftmax, "SOFTMAX", 27, "tf"},
    {kSpaceToDepth, "SPACE_TO_DEPTH", 27, "ti"},
    {kTanh, "TANH", 27, "t"},
    {kBatchToSpaceNd, "BATCH_TO_SPACE_ND", 28, "tn"},
    {kDiv, "DIV", 28, "tti"},
    {kMean, "MEAN", 28, "tni"},
    {kPad, "PAD", 28, "tn"},
    {kSpaceToBatchNd, "SPACE_TO_BATCH_ND", 28, "tnn"},
    {kSqueeze, "SQUEEZE", 28, "tn"},
    {kStridedSlice, "STRIDED_SLICE", 28, "tnnniii"},
    {kSub, "SUB", 28, "tti"},
    {kTranspose, "TRANSPOSE", 28, "tn"},
    {kAbs, "ABS", 29, "t"},
    {kArgmax, "ARGMAX", 29, "ti"},
    {kArgmin, "ARGMIN", 29, "ti"},
    {kCast, "CAST", 29, "t"},
    {kEqual, "EQUAL", 29, "tt"},
    {kExp, "EXP", 29, "t"},
    {kExpandDims, "EXPAND_DIMS", 29, "ti"},
    {kGather, "GATHER", 29, "tin"},
    {kGreater, "GREATER", 29, "tt"},
    {kGreaterEqual, "GREATER_EQUAL", 29, "tt"},
    {kLess, "LESS", 29, "tt"},
    {kLessEqual, "LESS_EQUAL", 29, "tt"},
    {kLog, "LOG", 29, "t"},
    {kLogicalAnd, "LOGICAL_AND", 29, "tt"},
    {kLogicalNot, "LOGICAL_NOT", 29, "t"},
    {kLogicalOr, "LOGICAL_OR", 29, "tt"},
    {kLogSoftmax, "LOG_SOFTMAX", 29, "tfi"},
    {kMaximum, "MAXIMUM", 29, "tt"},
    {kMinimum, "MINIMUM", 29, "tt"},
    {kNeg, "NEG", 29, "t"},
    {kNotEqual, "NOT_EQUAL", 29, "tt"},
    {kPadV2, "PAD_V2", 29, "tns"},
    {kPow, "POW", 29, "tt"},
    {kPrelu, "PRELU", 29, "tt"},
    {kQuantize, "QUANTIZE", 29, "t"},
    {kReduceAny, "REDUCE_ANY", 29, "tnb"},
    {kReduceMax, "REDUCE_MAX", 29, "tnb"},
    {kReduceMin, "REDUCE_MIN", 29, "tnb"},
    {kReduceProd, "REDUCE_PROD", 29, "tnb"},
    {kReduceSum, "REDUCE_SUM", 29, "tnb"},
    {kRsqrt, "RSQRT", 29, "t"},
    {kSelect, "SELECT", 29, "ttt"},
    {kSin, "SIN", 29, "t"},
    {kSlice, "SLICE", 29, "tnn"},
    {kSplit, "SPLIT", 29, "tii"},
    {kSqrt, "SQRT", 29, "t"},
    {kTile, "TILE", 29, "tn"},
    {kTransposeConv, "TRANSPOSE_CONV", 29, "tttniiiib"},
    {kResizeNearestNeighbor, "RESIZE_NEAREST_NEIGHBOR", 29, "tiib|bb"},
    {kElu, "ELU", 30, "tf"},
    {kHardSwish, "HARD_SWISH", 30, "t"},
};

const Row* FindRow(int32_t code) {
  for (const Row& row : kRows) {
    if (row.code == code) return &row;
  }
  return nullptr;
}

bool Matches(char letter, const Operand& operand) {
  switch (letter) {
    case 'i':
      return operand.type == kInt32;
    case 'f':
      return operand.type == kFloat32;
    case 'b':
      return operand.type == kBool;
    case 'n':
      return operand.type == kTensorInt32;
    case 's':
      return operand.type == kInt32 || operand.type == kFloat32;
    default:
      return !operand.is_scalar();
  }
}

// Returns a signature's letters for `count` operands; "" if the operation cannot have this number
// of operands.
std::string Expand(std::string_view signature, size_t count) {
  const size_t bar = signature.find('|');
  const std::string first(signature.substr(0, bar));
  if (first[0] == '*') return count < 2 ? "" : std::string(count - 1, 't') + first.substr(1);
  if (count == first.size()) return first;
  const std::string all =
      bar == std::string_view::npos ? first : first + std::string(signature.substr(bar + 1));
  return count == all.size() ? all : "";
}

bool HasWeights(int32_t code) {
  return code == kConv2d || code == kDepthwiseConv2d || code == kTransposeConv ||
         code == kFullyConnected;
}

std::string CheckBias(const Operand& input, const Operand& weights, const Operand& bias) {
  if (input.type == kTensorFloat32) {
    return bias.type == kTensorFloat32 ? "" : "a bias that is no float";
  }
  if (bias.type != kTensorInt32 || bias.zero_point != 0) return "a bias that is no INT32";
  const float expected =
      weights.type == kTensorQuant8SymmPerChannel ? 0 : input.scale * weights.scale;
  return bias.scale == expected ? "" : "a bias with another scale than input and weights make";
}

}  // namespace

const char* OperationName(int32_t code) {
  const Row* row = FindRow(code);
  return row == nullptr ? "?" : row->name;
}

std::string CheckOperation(int level, int32_t code, const std::vector<const Operand*>& inputs,
                           const std::vector<const Operand*>& outputs) {
  const Row* row = FindRow(code);
  if (row == nullptr) return "no such operation";
  const std::string name = row->name;
  if (row->level > level) return name + " is not of this feature level";
  const std::string letters = Expand(row->signature, inputs.size());
  if (letters.empty()) return name + ": the number of inputs";
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!Matches(letters[i], *inputs[i])) return name + ": type of input " + std::to_string(i);
    const int32_t type = inputs[i]->type;
    if (type == kTensorQuant8AsymmSigned && level < 30) return name + ": INT8 before level 30";
    if ((type == kTensorBool8 || type == kTensorQuant8SymmPerChannel) && level < 29) {
      return name + ": a type of level 29";
    }
  }
  if (letters.size() > 3 && letters.find('b') != std::string::npos && level < 29) {
    return name + ": operands of level 29";
  }
  if ((code == kResizeBilinear || code == kResizeNearestNeighbor) && letters.size() > 4 &&
      level < 30) {
    return name + ": operands of level 30";
  }
  if (HasWeights(code)) {
    const std::string problem = CheckBias(*inputs[0], *inputs[1], *inputs[2]);
    if (!problem.empty()) return name + ": " + problem;
  }
  for (const Operand* output : outputs) {
    if (output->is_scalar()) return name + ": a scalar as output";
  }
  return "";
}

// ---- Operands -----------------------------------------------------------------------------------

bool Operand::is_scalar() const {
  return type == kFloat32 || type == kInt32 || type == kUint32 || type == kBool;
}

size_t Operand::count() const {
  size_t product = 1;
  for (const uint32_t extent : dims) product *= extent;
  return product;
}

size_t Operand::element_bytes() const {
  switch (type) {
    case kTensorQuant8Asymm:
    case kTensorQuant8AsymmSigned:
    case kTensorQuant8SymmPerChannel:
    case kTensorBool8:
    case kBool:
      return 1;
    default:
      return 4;
  }
}

Value Decode(const Operand& operand, const void* data) {
  Value value;
  value.dims.assign(operand.dims.begin(), operand.dims.end());
  size_t inner = 1;
  for (size_t d = operand.channel + 1; d < operand.dims.size(); ++d) inner *= operand.dims[d];
  const auto* bytes = static_cast<const uint8_t*>(data);
  for (size_t i = 0; i < operand.count(); ++i) {
    double number = 0;
    if (operand.type == kTensorFloat32 || operand.type == kFloat32) {
      float read = 0;
      memcpy(&read, bytes + i * 4, 4);
      number = read;
    } else if (operand.element_bytes() == 4) {
      int32_t read = 0;
      memcpy(&read, bytes + i * 4, 4);
      number = read;
      // A bias is scaled by its own scale.
      if (operand.scale != 0) number *= static_cast<double>(operand.scale);
    } else if (operand.type == kTensorQuant8Asymm) {
      number = static_cast<double>(bytes[i] - operand.zero_point) * operand.scale;
    } else if (operand.type == kTensorQuant8AsymmSigned) {
      number =
          static_cast<double>(static_cast<int8_t>(bytes[i]) - operand.zero_point) * operand.scale;
    } else if (operand.type == kTensorQuant8SymmPerChannel) {
      const size_t channel = i / inner % operand.channel_scales.size();
      number = static_cast<double>(static_cast<int8_t>(bytes[i])) * operand.channel_scales[channel];
    } else {
      number = bytes[i] != 0 ? 1 : 0;
    }
    value.data.push_back(number);
  }
  return value;
}

void Encode(const Value& value, const Operand& operand, void* data) {
  auto* bytes = static_cast<uint8_t*>(data);
  const bool is_signed = operand.type == kTensorQuant8AsymmSigned;
  const double least = is_signed ? -128 : 0;
  for (size_t i = 0; i < value.data.size(); ++i) {
    const double number = value.data[i];
    if (operand.type == kTensorFloat32) {
      const auto written = static_cast<float>(number);
      memcpy(bytes + i * 4, &written, 4);
    } else if (operand.type == kTensorInt32) {
      const double bounded = number > INT32_MAX   ? INT32_MAX
                             : number < INT32_MIN ? INT32_MIN
                                                  : number;
      const auto written = std::isnan(number) ? INT32_MAX : static_cast<int32_t>(bounded);
      memcpy(bytes + i * 4, &written, 4);
    } else if (operand.type == kTensorBool8) {
      bytes[i] = number != 0 ? 1 : 0;
    } else {
      const double stored =
          std::round(number / static_cast<double>(operand.scale)) + operand.zero_point;
      const double bounded = !(stored >= least)     ? least
                             : stored > least + 255 ? least + 255
                                                    : stored;
      bytes[i] = static_cast<uint8_t>(static_cast<int>(bounded));
    }
  }
}

}  // namespace nnapi_double
