// SPDX-License-Identifier: Apache-2.0
#include "compiler/simplify.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "compiler/facts.h"

namespace deputy::compiler {
namespace {

using enum ScalarOp;

// Returned by a rule that does not apply: the node stays.
constexpr int kNone = -1;

// Returns the integer up to which the type represents all integers.
double ExactUpTo(TfLiteType type) {
  switch (type) {
    case kTfLiteFloat16:
      return 0x1p11;
    case kTfLiteFloat32:
      return 0x1p24;
    default:
      return 0x1p53;
  }
}

// Builds an expression node by node, replacing each node by a simpler one if a rule applies.
class Simplifier {
 public:
  int Add(const ScalarNode& node, const int* arguments) {
    if (node.op == kOperand) return Recorded(result_.Operand(node.operand, node.type));
    if (node.op == kConstant) {
      const bool is_real = IsFloat(node.type);
      const auto whole = static_cast<double>(node.constant.integer);
      return Recorded(result_.Constant(node.type, is_real ? node.constant.real : whole));
    }
    if (node.op == kCast) return Cast(arguments[0], node.type);
    return Apply(node.op, arguments[0], arguments[1], arguments[2]);
  }

  Expression Take(int result) {
    result_.SetResult(result);
    return std::move(result_);
  }

 private:
  const ScalarNode& node(int n) const { return result_.nodes()[static_cast<size_t>(n)]; }
  const Facts& facts(int n) const { return facts_[static_cast<size_t>(n)]; }
  TfLiteType type(int n) const { return node(n).type; }
  bool IsConstant(int n) const { return n >= 0 && node(n).op == kConstant; }
  bool Is(int n, ScalarOp op) const { return node(n).op == op; }
  int Argument(int n, int i) const { return node(n).arguments[i]; }

  // Returns whether a node is a constant equal to a number; distinguishes 0 from -0.
  bool IsNumber(int n, double number) const {
    if (!IsConstant(n)) return false;
    if (!IsFloat(type(n))) return static_cast<double>(node(n).constant.integer) == number;
    const double real = node(n).constant.real;
    return real == number && std::signbit(real) == std::signbit(number);
  }

  int Recorded(int n) {
    while (facts_.size() < result_.nodes().size()) {
      facts_.push_back(FactsOf(result_.nodes()[facts_.size()], facts_));
    }
    return n;
  }

  int Cast(int a, TfLiteType to) {
    if (type(a) == to) return a;
    const int simpler = CastBack(a, to);
    if (simpler != kNone) return simpler;
    const int result = Recorded(result_.Cast(a, to));
    return IsConstant(a) ? Folded(result) : result;
  }

  int Apply(ScalarOp op, int a, int b = -1, int c = -1) {
    const int simpler = Simpler(op, a, b, c);
    if (simpler != kNone) return simpler;
    const int result = Recorded(result_.Apply(op, a, b, c));
    const auto is_known = [this](int n) { return n < 0 || IsConstant(n); };
    return is_known(a) && is_known(b) && is_known(c) ? Folded(result) : result;
  }

  // Evaluates a node whose arguments are constants.
  int Folded(int n) {
    Expression alone = result_;
    alone.SetResult(n);
    const Number number = Evaluate(alone, {});
    if (IsFloat(type(n))) return Recorded(result_.Constant(type(n), number.real));
    if (std::abs(static_cast<double>(number.integer)) >= ExactUpTo(kTfLiteFloat64)) return n;
    return Recorded(result_.Constant(type(n), static_cast<double>(number.integer)));
  }

  int Simpler(ScalarOp op, int a, int b, int c) {
    switch (op) {
      case kAdd:
        return SimplerSum(a, b);
      case kSub:
        return IsNumber(b, 0) ? a : kNone;
      case kMul:
        return IsNumber(b, 1) ? a : IsNumber(a, 1) ? b : kNone;
      case kDiv:
        return SimplerQuotient(a, b);
      case kNeg:
        return Is(a, kNeg) ? Argument(a, 0) : kNone;
      case kAbs:
        return SimplerAbs(a);
      case kFloor:
      case kCeil:
      case kRoundEven:
      case kRoundAway:
        return facts(a).is_integer ? a : kNone;
      case kMax:
      case kMin:
        return SimplerBound(op, a, b);
      case kSelect:
        return SimplerChoice(a, b, c);
      default:
        return kNone;
    }
  }

  // Simplifies a sum. -0 + 0 is 0, so adding 0 can be removed only if the other term is never -0.
  int SimplerSum(int a, int b) {
    const auto is_nothing = [this](int zero, int other) {
      return IsNumber(zero, -0.0) || (IsNumber(zero, 0) && !facts(other).may_be_negative_zero);
    };
    return is_nothing(b, a) ? a : is_nothing(a, b) ? b : kNone;
  }

  // Replaces a division by a multiplication with the reciprocal if that is exact, that is, for
  // powers of two.
  int SimplerQuotient(int a, int b) {
    if (IsNumber(b, 1)) return a;
    if (!IsConstant(b) || type(b) != kTfLiteFloat32) return kNone;
    int exponent = 0;
    if (std::fabs(std::frexp(node(b).constant.real, &exponent)) != 0.5) return kNone;
    if (exponent < -100 || exponent > 100) return kNone;
    return Apply(kMul, a, Recorded(result_.Constant(kTfLiteFloat32, 1 / node(b).constant.real)));
  }

  int SimplerAbs(int a) {
    if (Is(a, kNeg)) return Apply(kAbs, Argument(a, 0));
    return facts(a).min >= 0 && !facts(a).may_be_negative_zero && !facts(a).may_be_nan ? a : kNone;
  }

  // ---- Bounds: max and min with a constant ----

  double Bound(int n) const {
    return IsFloat(type(n)) ? node(n).constant.real : static_cast<double>(node(n).constant.integer);
  }
  // Returns whether `inner` is the tighter of two bounds. Equal bounds may differ in the sign of
  // zero.
  static bool IsTighter(ScalarOp op, double inner, double outer) {
    return op == kMax ? inner > outer : inner < outer;
  }

  // Returns which argument of a max or min is a constant bound on the other one; -1 if none is.
  int BoundArgument(int n, ScalarOp op) const {
    if (!Is(n, op)) return -1;
    return IsConstant(Argument(n, 0)) ? 0 : IsConstant(Argument(n, 1)) ? 1 : -1;
  }

  int SimplerBound(ScalarOp op, int a, int b) {
    if (a == b) return a;
    if (IsConstant(a) == IsConstant(b)) return kNone;
    const int bound_argument = IsConstant(a) ? 0 : 1;
    const int constant = bound_argument == 0 ? a : b, x = bound_argument == 0 ? b : a;
    // Integers beyond 2^53 cannot be compared as doubles; the limit leaves a margin.
    if (std::isnan(Bound(constant)) || std::fabs(Bound(constant)) > 0x1p52) return kNone;
    if (IsImplied(op, x, Bound(constant))) return x;
    const int inner = BoundArgument(x, op);
    if (inner == bound_argument) return TighterBound(op, bound_argument, constant, x);
    return OrderedBounds(op, bound_argument, constant, x);
  }

  // Returns whether the value of x is known to satisfy the bound.
  bool IsImplied(ScalarOp op, int x, double bound) const {
    const Facts& known = facts(x);
    if (known.may_be_nan || (bound == 0 && known.may_be_negative_zero)) return false;
    return op == kMax ? known.min >= bound : known.max <= bound;
  }

  // Simplifies nested bounds such as max(5, max(3, x)): keeps the tighter bound.
  int TighterBound(ScalarOp op, int bound_argument, int constant, int x) {
    const int inner = Argument(x, bound_argument);
    if (Bound(inner) == Bound(constant)) return inner == constant ? x : kNone;
    if (IsTighter(op, Bound(inner), Bound(constant))) return x;
    const int other = Argument(x, 1 - bound_argument);
    return bound_argument == 0 ? Apply(op, constant, other) : Apply(op, other, constant);
  }

  // Rewrites max(0, min(6, x)) as min(6, max(0, x)), so that bounds of one kind become adjacent.
  int OrderedBounds(ScalarOp op, int bound_argument, int constant, int x) {
    if (op != kMax || bound_argument != 0 || BoundArgument(x, kMin) != 0) return kNone;
    const int max = Argument(x, 0);
    if (!(Bound(constant) < Bound(max))) return kNone;
    return Apply(kMin, max, Apply(kMax, constant, Argument(x, 1)));
  }

  // ---- Choices and casts ----

  // Simplifies a selection: b < a ? a : b is max(a, b), NaN included.
  int SimplerChoice(int condition, int a, int b) {
    if (a == b) return a;
    if (IsConstant(condition)) return node(condition).constant.integer != 0 ? a : b;
    const bool less = Is(condition, kLess), greater = Is(condition, kGreater);
    if (!less && !greater) return kNone;
    const int small = Argument(condition, less ? 0 : 1), large = Argument(condition, less ? 1 : 0);
    if (small == b && large == a) return Apply(kMax, a, b);
    if (small == a && large == b) return Apply(kMin, a, b);
    return kNone;
  }

  // Removes a cast to another type and back: x of type `to` is unchanged if the other type
  // represents all its values.
  int CastBack(int a, TfLiteType to) {
    if (!Is(a, kCast) || type(Argument(a, 0)) != to) return kNone;
    const int x = Argument(a, 0);
    if (to == kTfLiteFloat16 && IsFloat(type(a))) return x;
    const Facts& known = facts(x);
    if (!known.is_integer || known.may_be_nan || type(a) == kTfLiteBool) return kNone;
    if (IsFloat(type(a))) {
      const double max = ExactUpTo(type(a));
      return known.min >= -max && known.max <= max ? x : kNone;
    }
    const Facts range = FactsOfType(type(a));
    const bool fits = known.min >= range.min && known.max <= range.max &&
                      std::max(-known.min, known.max) <= 0x1p52;
    return fits && !known.may_be_negative_zero ? x : kNone;
  }

  Expression result_;
  std::vector<Facts> facts_;  // facts of each node of result_
};

}  // namespace

Expression Simplified(const Expression& expression) {
  Simplifier simplifier;
  std::vector<int> numbers;
  for (const ScalarNode& node : expression.nodes()) {
    // True for an integer constant that a double may not represent exactly.
    const bool is_huge =
        node.op == ScalarOp::kConstant && !IsFloat(node.type) &&
        (node.constant.integer >= 1LL << 53 || node.constant.integer <= -(1LL << 53));
    if (is_huge) return expression;
    int arguments[3];
    for (int i = 0; i < 3; ++i) {
      arguments[i] = node.arguments[i] < 0 ? -1 : numbers[static_cast<size_t>(node.arguments[i])];
    }
    numbers.push_back(simplifier.Add(node, arguments));
  }
  return simplifier.Take(numbers.back());
}

}  // namespace deputy::compiler
