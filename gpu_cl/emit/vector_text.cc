// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/emit/vector_text.h"

#include <algorithm>

namespace deputy::gpu_cl {

using compiler::Expression;
using compiler::ScalarNode;
using compiler::ScalarOp;

namespace {

std::string Vector(const std::string& type, int width) { return type + std::to_string(width); }

// Returns the integer type whose lanes are as wide as those of `type`, as select() requires for
// masks.
const char* MaskOf(TfLiteType type) {
  switch (type == kTfLiteBool ? 4 : compiler::ElementBytes(type)) {
    case 1:
      return "char";
    case 2:
      return type == kTfLiteFloat16 ? "int" : "short";
    case 4:
      return "int";
    default:
      return "long";
  }
}

// Converts a mask of int to the lane width of `type`.
std::string MaskFor(TfLiteType type, const std::string& mask, int width) {
  const std::string lanes = MaskOf(type);
  return lanes == "int" ? mask : "convert_" + Vector(lanes, width) + "(" + mask + ")";
}

// Converts the result of a comparison of vectors of `type` to a mask of int.
std::string AsMask(TfLiteType type, const std::string& comparison, int width) {
  return std::string(MaskOf(type)) == "int"
             ? comparison
             : "convert_" + Vector("int", width) + "(" + comparison + ")";
}

bool IsComparison(ScalarOp op) { return op >= ScalarOp::kEqual && op <= ScalarOp::kGreaterEqual; }

bool HasForm(const Expression& expression, const ScalarNode& node) {
  const auto is_plain = [](TfLiteType type) { return type != kTfLiteFloat64; };
  if (!is_plain(node.type)) return false;
  if (node.op == ScalarOp::kOperand || node.op == ScalarOp::kConstant) return true;
  const TfLiteType from = expression.type_of(node.arguments[0]);
  if (!is_plain(from)) return false;
  if (compiler::IsFloat(from)) {
    return node.op != ScalarOp::kFloorMod && node.op != ScalarOp::kShiftRight;
  }
  switch (node.op) {
    case ScalarOp::kCast:
    case ScalarOp::kAdd:
    case ScalarOp::kSub:
    case ScalarOp::kMul:
    case ScalarOp::kMax:
    case ScalarOp::kMin:
    case ScalarOp::kAnd:
    case ScalarOp::kOr:
    case ScalarOp::kXor:
    case ScalarOp::kNot:
    case ScalarOp::kSelect:
      return true;
    default:
      return IsComparison(node.op) && from != kTfLiteBool;
  }
}

std::string CastVector(TfLiteType from, TfLiteType to, const std::string& value, int width) {
  const std::string type = VectorType(to, width);
  if (from == to) return value;
  if (to == kTfLiteBool) {
    return AsMask(from, "(" + value + " != (" + VectorType(from, width) + ")(0))", width);
  }
  if (from == kTfLiteBool) return "convert_" + type + "(" + value + " & 1)";
  if (!compiler::IsFloat(from) || compiler::IsFloat(to))
    return "convert_" + type + "(" + value + ")";
  // NaN becomes the largest value.
  return "select(convert_" + type + "_sat_rtz(" + value + "), (" + type + ")(" +
         Literal(to, {0, compiler::LargestOf(to)}) + "), " +
         MaskFor(to, "isnan(" + value + ")", width) + ")";
}

// Returns the pattern of an operation on reals. $0 and $1 are the arguments, $v is the vector type
// of the result.
const char* RealPattern(ScalarOp op) {
  switch (op) {
    case ScalarOp::kAbs:
      return "fabs($0)";
    case ScalarOp::kNeg:
      return "(-$0)";
    case ScalarOp::kSign:
      return "($0 > 0 ? ($v)(1) : $0 < 0 ? ($v)(-1) : $0)";
    case ScalarOp::kFloor:
      return "floor($0)";
    case ScalarOp::kCeil:
      return "ceil($0)";
    case ScalarOp::kRoundEven:
      return "rint($0)";
    case ScalarOp::kRoundAway:
      return "round($0)";
    case ScalarOp::kSqrt:
      return "sqrt($0)";
    case ScalarOp::kRsqrt:
      return "(1.0f / sqrt($0))";
    case ScalarOp::kExp:
      return "exp($0)";
    case ScalarOp::kExpm1:
      return "expm1($0)";
    case ScalarOp::kLog:
      return "log($0)";
    case ScalarOp::kTanh:
      return "tanh($0)";
    case ScalarOp::kLogistic:
      return "(1.0f / (1.0f + exp(-$0)))";
    case ScalarOp::kErf:
      return "erf($0)";
    case ScalarOp::kDiv:
      return "($0 / $1)";
    case ScalarOp::kFloorDiv:
      return "floor($0 / $1)";
    case ScalarOp::kPow:
      return "pow($0, $1)";
    case ScalarOp::kAtan2:
      return "atan2($0, $1)";
    default:
      return "";
  }
}

// Returns the text of a function that is computed lane by lane. Used for sine and cosine: PoCL
// 3.1's vector versions are wrong for small arguments if another lane exceeds 6e6.
std::string LaneByLane(const std::string& function, const std::string& type,
                       const std::string& value, int width) {
  std::string lanes;
  for (int lane = 0; lane < width; ++lane) {
    lanes +=
        (lane == 0 ? "" : ", ") + function + "(" + value + ".s" + "0123456789abcdef"[lane] + ")";
  }
  return "(" + type + ")(" + lanes + ")";
}

// Returns the pattern of an operation that has the same one for integers and reals.
const char* CommonPattern(ScalarOp op) {
  switch (op) {
    case ScalarOp::kNot:
      return "(~$0)";  // inverts a mask, since the operand is always bool
    case ScalarOp::kAdd:
      return "($0 + $1)";
    case ScalarOp::kSub:
      return "($0 - $1)";
    case ScalarOp::kMul:
      return "($0 * $1)";
    case ScalarOp::kMax:
      return "($0 > $1 ? $0 : $1)";
    case ScalarOp::kMin:
      return "($0 < $1 ? $0 : $1)";
    case ScalarOp::kAnd:
      return "($0 & $1)";
    case ScalarOp::kOr:
      return "($0 | $1)";
    case ScalarOp::kXor:
      return "($0 ^ $1)";
    case ScalarOp::kEqual:
      return "($0 == $1)";
    case ScalarOp::kNotEqual:
      return "($0 != $1)";
    case ScalarOp::kLess:
      return "($0 < $1)";
    case ScalarOp::kLessEqual:
      return "($0 <= $1)";
    case ScalarOp::kGreater:
      return "($0 > $1)";
    case ScalarOp::kGreaterEqual:
      return "($0 >= $1)";
    default:
      return "";
  }
}

std::string Filled(const std::string& pattern, const std::string& type,
                   const std::vector<std::string>& arguments) {
  std::string text;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '$') {
      text += pattern[i];
    } else if (pattern[++i] == 'v') {
      text += type;
    } else {
      text += arguments[static_cast<size_t>(pattern[i] - '0')];
    }
  }
  return text;
}

}  // namespace

bool HasVectorForm(const Expression& expression) {
  const auto nodes = expression.nodes();
  return std::all_of(nodes.begin(), nodes.end(),
                     [&](const ScalarNode& node) { return HasForm(expression, node); });
}

std::string VectorType(TfLiteType type, int width) {
  return Vector(type == kTfLiteBool ? "int" : ComputeType(type), width);
}

std::string LoadVector(const Buffer& buffer, const std::string& index, int width) {
  if (buffer.texels) {
    return "read_imagef(" + buffer.name + ", " + buffer.name + "_first + ((" + index + ") >> 2))";
  }
  const std::string address = buffer.name + " + " + index + ")";
  if (buffer.aligned && buffer.type == kTfLiteFloat32) {
    return "*(global const " + Vector("float", width) + "*)(" + address;
  }
  if (buffer.type == kTfLiteFloat16) return Vector("LOAD_HALF(", width) + ", " + address;
  const std::string lanes =
      Vector("LOAD(" + std::string(StorageType(buffer.type)) + ", ", width) + ", " + address;
  return buffer.type == kTfLiteBool ? "(convert_" + Vector("int", width) + "(" + lanes + ") != 0)"
                                    : lanes;
}

std::string LoadSplat(const Buffer& buffer, const std::string& index, int width) {
  return Splat(buffer.type, Load(buffer, index), width);
}

std::string Splat(TfLiteType type, const std::string& scalar, int width) {
  const std::string value = type == kTfLiteBool ? "-(int)(" + scalar + ")" : scalar;
  return "(" + VectorType(type, width) + ")(" + value + ")";
}

std::string StoreVector(const Buffer& buffer, const std::string& index, const std::string& value,
                        int width) {
  const std::string address = buffer.name + " + " + index + ");";
  if (buffer.aligned && buffer.type == kTfLiteFloat32) {
    return "*(global " + Vector("float", width) + "*)(" + buffer.name + " + " + index +
           ") = " + value + ";";
  }
  if (buffer.type == kTfLiteFloat16) {
    return Vector("STORE_HALF(", width) + ", " + value + ", " + address;
  }
  const std::string lanes = buffer.type == kTfLiteBool
                                ? "convert_" + Vector("uchar", width) + "(" + value + " & 1)"
                                : value;
  return Vector("STORE(" + std::string(StorageType(buffer.type)) + ", ", width) + ", " + lanes +
         ", " + address;
}

std::string VectorText(const Expression& expression, const ScalarNode& node,
                       const std::vector<std::string>& arguments, int width) {
  const TfLiteType from = expression.type_of(node.arguments[0]);
  const std::string type = VectorType(node.type, width);
  if (node.op == ScalarOp::kCast) {
    if (!IsPlainCast(expression, node)) {
      return CastVector(from, node.type, arguments[0], width);
    }
    const std::string integers = "convert_" + Vector("int", width) + "(" + arguments[0] + ")";
    return node.type == kTfLiteInt32 ? integers : "convert_" + type + "(" + integers + ")";
  }
  if (node.op == ScalarOp::kSelect) {
    return "select(" + arguments[2] + ", " + arguments[1] + ", " +
           MaskFor(node.type, arguments[0], width) + ")";
  }
  if (node.op == ScalarOp::kSin) return LaneByLane("sin", type, arguments[0], width);
  if (node.op == ScalarOp::kCos) return LaneByLane("cos", type, arguments[0], width);
  const std::string common = Filled(CommonPattern(node.op), type, arguments);
  if (IsComparison(node.op)) return AsMask(from, common, width);
  return common.empty() ? Filled(RealPattern(node.op), type, arguments) : common;
}

}  // namespace deputy::gpu_cl
