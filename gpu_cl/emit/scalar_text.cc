// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/emit/scalar_text.h"

#include <cmath>
#include <cstdio>
#include <iterator>

#include "compiler/facts.h"

namespace deputy::gpu_cl {

using compiler::Expression;
using compiler::Number;
using compiler::ScalarNode;
using compiler::ScalarOp;

const char* ComputeType(TfLiteType type) {
  switch (type) {
    case kTfLiteFloat32:
    case kTfLiteFloat16:
      return "float";
    case kTfLiteFloat64:
      return "double";
    case kTfLiteInt8:
      return "char";
    case kTfLiteUInt8:
    case kTfLiteBool:
      return "uchar";
    case kTfLiteInt16:
      return "short";
    case kTfLiteUInt16:
      return "ushort";
    case kTfLiteInt32:
      return "int";
    case kTfLiteUInt32:
      return "uint";
    case kTfLiteUInt64:
      return "ulong";
    default:
      return "long";
  }
}

const char* StorageType(TfLiteType type) {
  return type == kTfLiteFloat16 ? "half" : ComputeType(type);
}

bool LoadsAsFloat(TfLiteType type) { return type == kTfLiteFloat32 || type == kTfLiteFloat16; }

std::string ConstPointer(TfLiteType type) {
  return std::string("global const ") + StorageType(type) + "*";
}

std::string Load(const Buffer& buffer, const std::string& index) {
  if (buffer.type == kTfLiteFloat16) return "vload_half(" + index + ", " + buffer.name + ")";
  const std::string element = buffer.name + "[" + index + "]";
  return buffer.type == kTfLiteBool ? "(uchar)(" + element + " != 0)" : element;
}

std::string Store(const Buffer& buffer, const std::string& index, const std::string& value) {
  if (buffer.type == kTfLiteFloat16) {
    return "vstore_half(" + value + ", " + index + ", " + buffer.name + ");";
  }
  return buffer.name + "[" + index + "] = " + value + ";";
}

std::string Literal(TfLiteType type, Number number) {
  char text[64];
  if (!compiler::IsFloat(type)) {
    // The smallest 64-bit integer has no literal in OpenCL C, so integers are written as
    // differences.
    snprintf(text, sizeof text, "(%s)(%lldL - 1)", ComputeType(type),
             static_cast<long long>(number.integer) + (number.integer == INT64_MAX ? 0 : 1));
    if (number.integer == INT64_MAX) return "LONG_MAX";
    return text;
  }
  const char* suffix = type == kTfLiteFloat64 ? "" : "f";
  if (std::isnan(number.real)) return "NAN";
  if (std::isinf(number.real)) return number.real > 0 ? "INFINITY" : "-INFINITY";
  snprintf(text, sizeof text, "%a%s", number.real, suffix);
  return text[0] == '-' ? "(" + std::string(text) + ")" : text;
}

// ---- Scalar operations --------------------------------------------------------------------------

namespace {

struct OpText {
  // Patterns of the operation for reals and integers. $0, $1 and $2 are the arguments, $t is the
  // type of the result.
  const char* real;
  const char* integer;
};

// Patterns of the operations in the order of ScalarOp, starting with kAbs.
constexpr OpText kOps[] = {
    {"fabs($0)", "($t)($0 < 0 ? -$0 : $0)"},
    {"(-$0)", "($t)(-$0)"},
    {"($0 > 0 ? 1.0f : $0 < 0 ? -1.0f : $0)", "($t)(($0 > 0) - ($0 < 0))"},
    {"floor($0)", "$0"},
    {"ceil($0)", "$0"},
    {"rint($0)", "$0"},
    {"round($0)", "$0"},
    {"sqrt($0)", ""},
    {"(1.0f / sqrt($0))", ""},
    {"exp($0)", ""},
    {"expm1($0)", ""},
    {"log($0)", ""},
    {"sin($0)", ""},
    {"cos($0)", ""},
    {"tanh($0)", ""},
    {"(1.0f / (1.0f + exp(-$0)))", ""},
    {"erf($0)", ""},
    {"", "($t)($0 == 0)"},
    {"($0 + $1)", "($t)($0 + $1)"},
    {"($0 - $1)", "($t)($0 - $1)"},
    {"($0 * $1)", "($t)($0 * $1)"},
    {"($0 / $1)", "($t)($1 == 0 ? 0 : $1 == -1 ? -$0 : $0 / $1)"},
    {"floor($0 / $1)", "FLOOR_DIV($t, $0, $1)"},
    {"FLOOR_MOD_REAL($0, $1)", "FLOOR_MOD($t, $0, $1)"},
    {"($0 > $1 ? $0 : $1)", "($t)($0 > $1 ? $0 : $1)"},
    {"($0 < $1 ? $0 : $1)", "($t)($0 < $1 ? $0 : $1)"},
    {"pow($0, $1)", ""},
    {"atan2($0, $1)", ""},
    {"", "($t)($0 & $1)"},
    {"", "($t)($0 | $1)"},
    {"", "($t)($0 ^ $1)"},
    {"", "($t)($0 >> ($1 < 0 ? 0 : $1 > (int)sizeof($t) * 8 - 1 ? (int)sizeof($t) * 8 - 1 : $1))"},
    {"(uchar)($0 == $1)", "(uchar)($0 == $1)"},
    {"(uchar)($0 != $1)", "(uchar)($0 != $1)"},
    {"(uchar)($0 < $1)", "(uchar)($0 < $1)"},
    {"(uchar)($0 <= $1)", "(uchar)($0 <= $1)"},
    {"(uchar)($0 > $1)", "(uchar)($0 > $1)"},
    {"(uchar)($0 >= $1)", "(uchar)($0 >= $1)"},
    {"($0 != 0 ? $1 : $2)", "($t)($0 != 0 ? $1 : $2)"},
};
static_assert(std::size(kOps) ==
              static_cast<size_t>(ScalarOp::kSelect) - static_cast<size_t>(ScalarOp::kAbs) + 1);

std::string Filled(const std::string& pattern, const char* type,
                   const std::vector<std::string>& arguments) {
  std::string text;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '$') {
      text += pattern[i];
    } else if (pattern[++i] == 't') {
      text += type;
    } else {
      text += arguments[static_cast<size_t>(pattern[i] - '0')];
    }
  }
  return text;
}

std::string CastText(TfLiteType from, TfLiteType to, bool is_plain, const std::string& argument) {
  if (to == kTfLiteBool) return "(uchar)(" + argument + " != 0)";
  const std::string type = ComputeType(to);
  if (is_plain) return "(" + type + ")(int)" + argument;
  if (!compiler::IsFloat(from) || compiler::IsFloat(to)) return "(" + type + ")(" + argument + ")";
  // NaN becomes the largest value.
  return "(isnan(" + argument + ") ? " + Literal(to, {0, compiler::LargestOf(to)}) + " : convert_" +
         type + "_sat_rtz(" + argument + "))";
}

}  // namespace

bool IsPlainCast(const Expression& expression, const ScalarNode& node) {
  const auto from = static_cast<size_t>(node.arguments[0]);
  const bool is_small = node.type == kTfLiteInt8 || node.type == kTfLiteUInt8 ||
                        node.type == kTfLiteInt16 || node.type == kTfLiteInt32;
  if (!is_small || !compiler::IsFloat(expression.nodes()[from].type)) return false;
  std::vector<compiler::Facts> facts;
  for (const ScalarNode& earlier : expression.nodes().first(from + 1)) {
    facts.push_back(compiler::FactsOf(earlier, facts));
  }
  return !facts[from].may_be_nan &&
         facts[from].min >= static_cast<double>(compiler::SmallestOf(node.type)) &&
         facts[from].max <= static_cast<double>(compiler::LargestOf(node.type));
}

std::string ScalarText(const Expression& expression, const ScalarNode& node,
                       const std::vector<std::string>& arguments) {
  const TfLiteType from = expression.type_of(node.arguments[0]);
  if (node.op == ScalarOp::kCast) {
    return CastText(from, node.type, IsPlainCast(expression, node), arguments[0]);
  }
  const OpText& row = kOps[static_cast<size_t>(node.op) - static_cast<size_t>(ScalarOp::kAbs)];
  const bool real = compiler::IsFloat(node.op == ScalarOp::kSelect ? node.type : from);
  return Filled(real ? row.real : row.integer, ComputeType(node.type), arguments);
}

}  // namespace deputy::gpu_cl
