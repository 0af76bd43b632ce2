// SPDX-License-Identifier: Apache-2.0
#include "compiler/facts.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace deputy::compiler {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Rounds the bounds to the type, as the result is; replaces NaN bounds by infinities.
Facts Rounded(TfLiteType type, Facts facts) {
  facts.min = std::isnan(facts.min) ? -kInfinity : Stored(type, {facts.min, 0}).real;
  facts.max = std::isnan(facts.max) ? kInfinity : Stored(type, {facts.max, 0}).real;
  return facts;
}

bool IsBounded(const Facts& facts) { return std::isfinite(facts.min) && std::isfinite(facts.max); }

Facts OfConstant(const ScalarNode& node) {
  if (!IsFloat(node.type)) {
    const auto number = static_cast<double>(node.constant.integer);
    return {number, number, false, false, true};
  }
  const double number = node.constant.real;
  if (std::isnan(number)) return FactsOfType(node.type);
  return {number, number, false, number == 0 && std::signbit(number), std::trunc(number) == number};
}

Facts OfCast(TfLiteType type, const Facts& a) {
  Facts facts = FactsOfType(type);
  if (type == kTfLiteBool) return facts;
  if (IsFloat(type)) {
    facts = a;
    // Underflow during the conversion to the type yields a zero of the same sign.
    facts.may_be_negative_zero = a.may_be_negative_zero || (!a.is_integer && a.min < 0);
    return Rounded(type, facts);
  }
  if (a.may_be_nan || std::isnan(a.min)) return facts;
  // An integer that is out of the type's range wraps around, so that nothing is known about the
  // result.
  if (a.is_integer && (a.min < facts.min || a.max > facts.max)) return facts;
  facts.min = std::clamp(std::trunc(a.min), facts.min, facts.max);
  facts.max = std::clamp(std::trunc(a.max), facts.min, facts.max);
  return facts;
}

// Returns the facts of a number that is rounded. The floor of a negative number is not 0.
Facts OfRounding(ScalarOp op, const Facts& a) {
  Facts facts{std::floor(a.min), std::ceil(a.max), a.may_be_nan, false, true};
  facts.may_be_negative_zero = a.may_be_negative_zero || (op != ScalarOp::kFloor && a.min < 0);
  return facts;
}

// Returns the facts of a sum. For a difference, callers negate the second operand.
Facts OfSum(TfLiteType type, const Facts& a, const Facts& b) {
  Facts facts{a.min + b.min, a.max + b.max, a.may_be_nan || b.may_be_nan, false,
              a.is_integer && b.is_integer};
  facts.may_be_nan |= !IsBounded(a) && !IsBounded(b);
  facts.may_be_negative_zero = a.may_be_negative_zero && b.may_be_negative_zero;
  return Rounded(type, facts);
}

Facts Negated(const Facts& a) {
  Facts facts = a;
  facts.min = -a.max;
  facts.max = -a.min;
  facts.may_be_negative_zero = a.min <= 0 && a.max >= 0;
  return facts;
}

Facts OfProduct(TfLiteType type, const Facts& a, const Facts& b) {
  Facts facts = FactsOfType(type);
  facts.is_integer = a.is_integer && b.is_integer;
  if (!IsBounded(a) || !IsBounded(b)) return facts;
  const double corners[] = {a.min * b.min, a.min * b.max, a.max * b.min, a.max * b.max};
  facts.min = *std::min_element(corners, corners + 4);
  facts.max = *std::max_element(corners, corners + 4);
  facts.may_be_nan = a.may_be_nan || b.may_be_nan;
  facts.may_be_negative_zero =
      a.min < 0 || b.min < 0 || a.may_be_negative_zero || b.may_be_negative_zero;
  return Rounded(type, facts);
}

// Returns the facts of a > b ? a : b, which is b if a is NaN, and NaN if b is NaN.
Facts OfMax(const Facts& a, const Facts& b) {
  Facts facts{std::max(a.min, b.min), std::max(a.max, b.max), b.may_be_nan, false,
              a.is_integer && b.is_integer};
  if (a.may_be_nan) facts.min = b.min;
  facts.may_be_negative_zero = (a.may_be_negative_zero || b.may_be_negative_zero) && facts.min <= 0;
  return facts;
}

Facts OfMin(const Facts& a, const Facts& b) {
  Facts facts{std::min(a.min, b.min), std::min(a.max, b.max), b.may_be_nan, false,
              a.is_integer && b.is_integer};
  if (a.may_be_nan) facts.max = b.max;
  facts.may_be_negative_zero = (a.may_be_negative_zero || b.may_be_negative_zero) && facts.max >= 0;
  return facts;
}

Facts OfEither(const Facts& a, const Facts& b) {
  return {std::min(a.min, b.min), std::max(a.max, b.max), a.may_be_nan || b.may_be_nan,
          a.may_be_negative_zero || b.may_be_negative_zero, a.is_integer && b.is_integer};
}

Facts Within(double min, double max, const Facts& a) {
  return {min, max, a.may_be_nan, a.may_be_negative_zero && min <= 0, false};
}

Facts OfAbs(const Facts& a) {
  const double max = std::max(std::fabs(a.min), std::fabs(a.max));
  const bool through_zero = a.min <= 0 && a.max >= 0;
  const double min = through_zero ? 0 : std::min(std::fabs(a.min), std::fabs(a.max));
  return {min, max, a.may_be_nan, false, a.is_integer};
}

// Returns the facts of a node of floating-point type.
Facts OfReal(const ScalarNode& node, const Facts& a, const Facts& b) {
  switch (node.op) {
    case ScalarOp::kAbs:
      return OfAbs(a);
    case ScalarOp::kNeg:
      return Negated(a);
    case ScalarOp::kFloor:
    case ScalarOp::kCeil:
    case ScalarOp::kRoundEven:
    case ScalarOp::kRoundAway:
      return OfRounding(node.op, a);
    case ScalarOp::kExp:
      return Within(0, kInfinity, {0, 0, a.may_be_nan, false, false});
    case ScalarOp::kLogistic:
      return Within(0, 1, {0, 0, a.may_be_nan, false, false});
    case ScalarOp::kAdd:
      return OfSum(node.type, a, b);
    case ScalarOp::kSub: {
      Facts facts = OfSum(node.type, a, Negated(b));
      facts.may_be_negative_zero = a.may_be_negative_zero;
      return facts;
    }
    case ScalarOp::kMul:
      return OfProduct(node.type, a, b);
    default:
      return FactsOfType(node.type);
  }
}

}  // namespace

Facts FactsOfType(TfLiteType type) {
  if (IsFloat(type)) return {-kInfinity, kInfinity, true, true, false};
  return {static_cast<double>(SmallestOf(type)), static_cast<double>(LargestOf(type)), false, false,
          true};
}

Facts FactsOf(const ScalarNode& node, std::span<const Facts> earlier) {
  const auto argument = [&](int i) -> Facts {
    return node.arguments[i] < 0 ? Facts() : earlier[static_cast<size_t>(node.arguments[i])];
  };
  switch (node.op) {
    case ScalarOp::kOperand:
      return FactsOfType(node.type);
    case ScalarOp::kConstant:
      return OfConstant(node);
    case ScalarOp::kCast:
      return OfCast(node.type, argument(0));
    case ScalarOp::kMax:
      return OfMax(argument(0), argument(1));
    case ScalarOp::kMin:
      return OfMin(argument(0), argument(1));
    case ScalarOp::kSelect:
      return OfEither(argument(1), argument(2));
    default:
      return IsFloat(node.type) ? OfReal(node, argument(0), argument(1)) : FactsOfType(node.type);
  }
}

Facts FactsOf(const Expression& expression) {
  std::vector<Facts> facts;
  for (const ScalarNode& node : expression.nodes()) facts.push_back(FactsOf(node, facts));
  return facts.back();
}

}  // namespace deputy::compiler
