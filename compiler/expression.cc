// SPDX-License-Identifier: Apache-2.0
#include "compiler/expression.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace deputy::compiler {
namespace {

using RealFunction = double (*)(double, double);
using IntegerFunction = int64_t (*)(int64_t, int64_t);

struct OpRow {
  const char* name;
  int arguments;
  const char* infix;  // null: written as a function
  // Computes the result before it is rounded to the type. Null if the operation is undefined for
  // reals, or if EvaluateNode computes it without this function.
  RealFunction real;
  IntegerFunction integer;
};

constexpr auto kKeep = [](int64_t a, int64_t) { return a; };

// Converts to a signed integer, wrapping around as two's complement does.
constexpr auto kWrap = [](uint64_t value) { return static_cast<int64_t>(value); };

double FloorMod(double a, double b) {
  const double remainder = std::fmod(a, b);
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

// Divides integers; division by zero yields 0.
int64_t Divide(int64_t a, int64_t b) {
  if (b == 0) return 0;
  return b == -1 ? kWrap(0 - static_cast<uint64_t>(a)) : a / b;
}

int64_t IntegerFloorMod(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  const int64_t remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

int64_t IntegerFloorDiv(int64_t a, int64_t b) {
  return Divide(a, b) - (IntegerFloorMod(a, b) != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

int64_t IntegerPower(int64_t base, int64_t exponent) {
  uint64_t result = 1, factor = static_cast<uint64_t>(base);
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 != 0) result *= factor;
    factor *= factor;
  }
  return kWrap(result);
}

template <typename T>
T SignOf(T a) {
  return a > 0 ? T{1} : a < 0 ? T{-1} : a;  // for NaN the result is NaN
}

// Properties of the operations, in the order of ScalarOp.
constexpr OpRow kOps[] = {
    {"operand", 0, nullptr, nullptr, nullptr},
    {"constant", 0, nullptr, nullptr, nullptr},
    {"cast", 1, nullptr, nullptr, nullptr},
    {"abs", 1, nullptr, [](double a, double) { return std::fabs(a); },
     [](int64_t a, int64_t) { return a < 0 ? kWrap(0 - static_cast<uint64_t>(a)) : a; }},
    {"neg", 1, nullptr, [](double a, double) { return -a; },
     [](int64_t a, int64_t) { return kWrap(0 - static_cast<uint64_t>(a)); }},
    {"sign", 1, nullptr, [](double a, double) { return SignOf(a); },
     [](int64_t a, int64_t) { return SignOf(a); }},
    {"floor", 1, nullptr, [](double a, double) { return std::floor(a); }, kKeep},
    {"ceil", 1, nullptr, [](double a, double) { return std::ceil(a); }, kKeep},
    {"round_even", 1, nullptr, [](double a, double) { return std::nearbyint(a); }, kKeep},
    {"round_away", 1, nullptr, [](double a, double) { return std::round(a); }, kKeep},
    {"sqrt", 1, nullptr, [](double a, double) { return std::sqrt(a); }, nullptr},
    {"rsqrt", 1, nullptr, [](double a, double) { return 1 / std::sqrt(a); }, nullptr},
    {"exp", 1, nullptr, [](double a, double) { return std::exp(a); }, nullptr},
    {"expm1", 1, nullptr, [](double a, double) { return std::expm1(a); }, nullptr},
    {"log", 1, nullptr, [](double a, double) { return std::log(a); }, nullptr},
    {"sin", 1, nullptr, [](double a, double) { return std::sin(a); }, nullptr},
    {"cos", 1, nullptr, [](double a, double) { return std::cos(a); }, nullptr},
    {"tanh", 1, nullptr, [](double a, double) { return std::tanh(a); }, nullptr},
    {"logistic", 1, nullptr, [](double a, double) { return 1 / (1 + std::exp(-a)); }, nullptr},
    {"erf", 1, nullptr, [](double a, double) { return std::erf(a); }, nullptr},
    {"not", 1, nullptr, nullptr, [](int64_t a, int64_t) { return int64_t{a == 0}; }},
    {"add", 2, " + ", [](double a, double b) { return a + b; },
     [](int64_t a, int64_t b) {
       return kWrap(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
     }},
    {"sub", 2, " - ", [](double a, double b) { return a - b; },
     [](int64_t a, int64_t b) {
       return kWrap(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
     }},
    {"mul", 2, " * ", [](double a, double b) { return a * b; },
     [](int64_t a, int64_t b) {
       return kWrap(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
     }},
    {"div", 2, " / ", [](double a, double b) { return a / b; }, &Divide},
    {"floor_div", 2, nullptr, [](double a, double b) { return std::floor(a / b); },
     &IntegerFloorDiv},
    {"floor_mod", 2, nullptr, &FloorMod, &IntegerFloorMod},
    {"max", 2, nullptr, [](double a, double b) { return a > b ? a : b; },
     [](int64_t a, int64_t b) { return std::max(a, b); }},
    {"min", 2, nullptr, [](double a, double b) { return a < b ? a : b; },
     [](int64_t a, int64_t b) { return std::min(a, b); }},
    {"pow", 2, nullptr, [](double a, double b) { return std::pow(a, b); }, &IntegerPower},
    {"atan2", 2, nullptr, [](double a, double b) { return std::atan2(a, b); }, nullptr},
    {"and", 2, nullptr, nullptr, [](int64_t a, int64_t b) { return a & b; }},
    {"or", 2, nullptr, nullptr, [](int64_t a, int64_t b) { return a | b; }},
    {"xor", 2, nullptr, nullptr, [](int64_t a, int64_t b) { return a ^ b; }},
    {"shift_right", 2, nullptr, nullptr,
     [](int64_t a, int64_t b) { return a >> std::clamp<int64_t>(b, 0, 63); }},
    {"equal", 2, " == ", nullptr, nullptr},
    {"not_equal", 2, " != ", nullptr, nullptr},
    {"less", 2, " < ", nullptr, nullptr},
    {"less_equal", 2, " <= ", nullptr, nullptr},
    {"greater", 2, " > ", nullptr, nullptr},
    {"greater_equal", 2, " >= ", nullptr, nullptr},
    {"select", 3, nullptr, nullptr, nullptr},
};
static_assert(std::size(kOps) == static_cast<size_t>(ScalarOp::kSelect) + 1);

const OpRow& RowOf(ScalarOp op) { return kOps[static_cast<size_t>(op)]; }

bool IsComparison(ScalarOp op) { return op >= ScalarOp::kEqual && op <= ScalarOp::kGreaterEqual; }

bool Same(const ScalarNode& a, const ScalarNode& b) {
  return a.op == b.op && a.type == b.type &&
         std::equal(a.arguments, a.arguments + 3, b.arguments) && a.operand == b.operand &&
         a.constant.integer == b.constant.integer &&
         std::signbit(a.constant.real) == std::signbit(b.constant.real) &&
         a.constant.real == b.constant.real;
}

// Formats an expression. Nodes with arguments that are read more than once are written once, after
// the expression.
class Writer {
 public:
  explicit Writer(const Expression& expression)
      : expression_(expression), use_counts_(expression.nodes().size(), 0) {
    for (const ScalarNode& node : expression.nodes()) {
      for (int argument : node.arguments) {
        if (argument >= 0) ++use_counts_[static_cast<size_t>(argument)];
      }
    }
  }

  std::string Write() const {
    const auto last = static_cast<int>(use_counts_.size()) - 1;
    std::string text = TextOf(last), shared;
    for (int number = 0; number < last; ++number) {
      if (!IsShared(number)) continue;
      shared += (shared.empty() ? " where " : ", ") + Name(number) + " = " + TextOf(number);
    }
    return text + shared;
  }

 private:
  const ScalarNode& node(int number) const {
    return expression_.nodes()[static_cast<size_t>(number)];
  }
  bool IsShared(int number) const {
    return use_counts_[static_cast<size_t>(number)] > 1 && ArgumentCount(node(number).op) > 0;
  }
  static std::string Name(int number) { return "$" + std::to_string(number); }

  std::string Argument(int number) const {
    return IsShared(number) ? Name(number) : TextOf(number);
  }

  std::string TextOf(int number) const {
    const ScalarNode& node = this->node(number);
    char text[64];
    if (node.op == ScalarOp::kOperand) {
      return node.operand < 26 ? std::string(1, static_cast<char>('a' + node.operand))
                               : "in" + std::to_string(node.operand);
    }
    if (node.op == ScalarOp::kConstant) {
      if (!IsFloat(node.type)) return std::to_string(node.constant.integer);
      snprintf(text, sizeof text, "%.9g", node.constant.real);
      return text;
    }
    const OpRow& row = RowOf(node.op);
    if (row.infix != nullptr) {
      return "(" + Argument(node.arguments[0]) + row.infix + Argument(node.arguments[1]) + ")";
    }
    std::string result = node.op == ScalarOp::kCast ? TypeName(node.type) : row.name;
    for (int i = 0; i < row.arguments; ++i) {
      result += (i == 0 ? "(" : ", ") + Argument(node.arguments[i]);
    }
    return result + ")";
  }

  const Expression& expression_;
  std::vector<int> use_counts_;  // number of reads by other nodes, by node
};

// ---- Evaluation ---------------------------------------------------------------------------------

template <typename T>
bool Compare(ScalarOp op, T a, T b) {
  switch (op) {
    case ScalarOp::kEqual:
      return a == b;
    case ScalarOp::kNotEqual:
      return a != b;
    case ScalarOp::kLess:
      return a < b;
    case ScalarOp::kLessEqual:
      return a <= b;
    case ScalarOp::kGreater:
      return a > b;
    default:
      return a >= b;
  }
}

Number EvaluateCast(const ScalarNode& node, TfLiteType from, Number argument) {
  if (IsFloat(from)) {
    if (node.type == kTfLiteBool) return {0, argument.real != 0};
    if (std::isnan(argument.real) && !IsFloat(node.type)) return {0, LargestOf(node.type)};
    return NumberOf(node.type, argument.real);
  }
  if (node.type == kTfLiteBool) return {0, argument.integer != 0};
  if (IsFloat(node.type)) return Stored(node.type, {static_cast<double>(argument.integer), 0});
  return Stored(node.type, argument);
}

Number EvaluateNode(const Expression& expression, const ScalarNode& node,
                    std::span<const Number> results) {
  const auto argument = [&](int i) {
    return node.arguments[i] < 0 ? Number() : results[static_cast<size_t>(node.arguments[i])];
  };
  if (node.op == ScalarOp::kConstant) return node.constant;
  const Number a = argument(0), b = argument(1);
  if (node.op == ScalarOp::kSelect) return a.integer != 0 ? b : argument(2);
  const TfLiteType from = expression.type_of(node.arguments[0]);
  if (node.op == ScalarOp::kCast) return EvaluateCast(node, from, a);
  if (IsComparison(node.op)) {
    return {0, IsFloat(from) ? Compare(node.op, a.real, b.real)
                             : Compare(node.op, a.integer, b.integer)};
  }
  const OpRow& row = RowOf(node.op);
  if (IsFloat(node.type)) return Stored(node.type, {row.real(a.real, b.real), 0});
  return Stored(node.type, {0, row.integer(a.integer, b.integer)});
}

}  // namespace

const char* ScalarOpName(ScalarOp op) { return RowOf(op).name; }

bool SupportsType(ScalarOp op, TfLiteType type) {
  if (op <= ScalarOp::kCast || op >= ScalarOp::kEqual) return true;
  return IsFloat(type) ? RowOf(op).real != nullptr : RowOf(op).integer != nullptr;
}

int ArgumentCount(ScalarOp op) { return RowOf(op).arguments; }

int Expression::Add(const ScalarNode& node) {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (Same(nodes_[i], node)) return static_cast<int>(i);
  }
  nodes_.push_back(node);
  return static_cast<int>(nodes_.size()) - 1;
}

int Expression::Operand(int operand, TfLiteType type) {
  ScalarNode node;
  node.type = type;
  node.operand = operand;
  return Add(node);
}

int Expression::Constant(TfLiteType type, double value) {
  ScalarNode node;
  node.op = ScalarOp::kConstant;
  node.type = type;
  node.constant = NumberOf(type, value);
  return Add(node);
}

int Expression::Cast(int argument, TfLiteType type) {
  if (type_of(argument) == type) return argument;
  ScalarNode node;
  node.op = ScalarOp::kCast;
  node.type = type;
  node.arguments[0] = argument;
  return Add(node);
}

int Expression::Apply(ScalarOp op, int a, int b, int c) {
  ScalarNode node;
  node.op = op;
  node.type = IsComparison(op) ? kTfLiteBool : type_of(op == ScalarOp::kSelect ? b : a);
  node.arguments[0] = a;
  node.arguments[1] = b;
  node.arguments[2] = c;
  return Add(node);
}

int Expression::operand_count() const {
  int count = 0;
  for (const ScalarNode& node : nodes_) count = std::max(count, node.operand + 1);
  return count;
}

void Expression::SetResult(int node) {
  std::vector<int> number(nodes_.size(), -1);
  number[static_cast<size_t>(node)] = 0;
  for (int i = node; i >= 0; --i) {
    if (number[static_cast<size_t>(i)] < 0) continue;
    for (int argument : nodes_[static_cast<size_t>(i)].arguments) {
      if (argument >= 0) number[static_cast<size_t>(argument)] = 0;
    }
  }
  std::vector<ScalarNode> kept;
  for (int i = 0; i <= node; ++i) {
    if (number[static_cast<size_t>(i)] < 0) continue;
    ScalarNode copy = nodes_[static_cast<size_t>(i)];
    for (int& argument : copy.arguments) {
      if (argument >= 0) argument = number[static_cast<size_t>(argument)];
    }
    number[static_cast<size_t>(i)] = static_cast<int>(kept.size());
    kept.push_back(copy);
  }
  nodes_.swap(kept);
}

int Expression::Append(const Expression& other, std::span<const int> operands) {
  std::vector<int> number;
  for (ScalarNode node : other.nodes_) {
    if (node.op == ScalarOp::kOperand) {
      number.push_back(operands[static_cast<size_t>(node.operand)]);
      continue;
    }
    for (int& argument : node.arguments) {
      if (argument >= 0) argument = number[static_cast<size_t>(argument)];
    }
    number.push_back(Add(node));
  }
  return number.back();
}

std::string ToText(const Expression& expression) {
  if (expression.empty()) return "";
  return Writer(expression).Write();
}

Number Evaluate(const Expression& expression, std::span<const Number> operands) {
  std::vector<Number> results;
  results.reserve(expression.nodes().size());
  for (const ScalarNode& node : expression.nodes()) {
    results.push_back(node.op == ScalarOp::kOperand ? operands[static_cast<size_t>(node.operand)]
                                                    : EvaluateNode(expression, node, results));
  }
  return results.back();
}

}  // namespace deputy::compiler
