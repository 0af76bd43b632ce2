// SPDX-License-Identifier: Apache-2.0
//
// Tests the algebra of scalar expressions: the simplified expressions as text, and that no bit of
// any result changes, for special numbers and for random expressions.
#include "compiler/simplify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "compiler/facts.h"

namespace deputy::compiler::compiler_simplify_test {
namespace {

using enum ScalarOp;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kNumbers[] = {0.0f,  -0.0f, 0.3f, -0.3f, 0.5f,   -0.5f,   1.0f,    -1.0f,  2.5f,
                              -2.5f, 6.0f,  7.0f, -7.0f, 127.0f, -128.0f, 1e-40f,  3e38f,  -3e38f,
                              kInf,  -kInf, kNan, 5.0f,  3.0f,   -1e-30f, 300.25f, -900.0f};

// A function of one operand, of float32 unless `type` is given.
template <typename Function>
Expression Of(const Function& function, TfLiteType type = kTfLiteFloat32) {
  Expression e;
  e.SetResult(function(&e, e.Operand(0, type)));
  return e;
}

int Number32(Expression* e, double number) { return e->Constant(kTfLiteFloat32, number); }

bool SameBits(TfLiteType type, Number a, Number b) {
  if (!IsFloat(type)) return a.integer == b.integer;
  if (std::isnan(a.real) || std::isnan(b.real)) return std::isnan(a.real) && std::isnan(b.real);
  return a.real == b.real && std::signbit(a.real) == std::signbit(b.real);
}

// Returns the text of the simplified expression after checking that its results have not changed
// and agree with what FactsOf states of the original.
std::string SimplifiedText(const Expression& expression) {
  const Expression simple = Simplified(expression);
  const Facts facts = FactsOf(expression);
  for (float a : kNumbers) {
    for (float b : kNumbers) {
      const Number operands[] = {{a, 0}, {b, 0}};
      const Number expected = Evaluate(expression, operands), found = Evaluate(simple, operands);
      EXPECT_TRUE(SameBits(expression.result_type(), expected, found))
          << ToText(expression) << " as " << ToText(simple) << " of " << a << ", " << b << ": "
          << expected.real << ", " << found.real;
      if (!IsFloat(expression.result_type())) continue;
      if (std::isnan(expected.real)) {
        EXPECT_TRUE(facts.may_be_nan) << ToText(expression);
        continue;
      }
      EXPECT_GE(expected.real, facts.min) << ToText(expression) << " of " << a << ", " << b;
      EXPECT_LE(expected.real, facts.max) << ToText(expression) << " of " << a << ", " << b;
      EXPECT_TRUE(!facts.is_integer || std::isinf(expected.real) ||
                  std::trunc(expected.real) == expected.real)
          << ToText(expression);
      EXPECT_TRUE(facts.may_be_negative_zero || expected.real != 0 || !std::signbit(expected.real))
          << ToText(expression) << " of " << a << ", " << b;
    }
  }
  return ToText(simple);
}

TEST(Simplified, removes_identity_operations) {
  const auto with = [](ScalarOp op, double number) {
    return SimplifiedText(
        Of([&](Expression* e, int x) { return e->Apply(op, x, Number32(e, number)); }));
  };
  EXPECT_EQ(with(kMul, 1), "a");
  EXPECT_EQ(with(kDiv, 1), "a");
  EXPECT_EQ(with(kSub, 0), "a");
  EXPECT_EQ(with(kAdd, -0.0), "a");
}

TEST(Simplified, keeps_a_sum_with_zero_that_changes_a_sign) {
  EXPECT_EQ(
      SimplifiedText(Of([](Expression* e, int x) { return e->Apply(kAdd, x, Number32(e, 0)); })),
      "(a + 0)");
  EXPECT_EQ(SimplifiedText(Of([](Expression* e, int x) {
              return e->Apply(kAdd, e->Apply(kAbs, x), Number32(e, 0));
            })),
            "abs(a)");
}

TEST(Simplified, replaces_divisions_by_powers_of_two_only) {
  const auto by = [](double number) {
    return SimplifiedText(
        Of([&](Expression* e, int x) { return e->Apply(kDiv, x, Number32(e, number)); }));
  };
  EXPECT_EQ(by(4), "(a * 0.25)");
  EXPECT_EQ(by(-0.5), "(a * -2)");
  EXPECT_EQ(by(3), "(a / 3)");
}

TEST(Simplified, computes_constants) {
  EXPECT_EQ(SimplifiedText(Of([](Expression* e, int x) {
              const int six = e->Apply(kMul, Number32(e, 2), Number32(e, 3));
              return e->Apply(kMin, e->Apply(kNeg, e->Apply(kNeg, six)), x);
            })),
            "min(6, a)");
}

TEST(Simplified, merges_clamps) {
  const auto clamp = [](Expression* e, int x, double least, double most) {
    return e->Apply(kMin, Number32(e, most), e->Apply(kMax, Number32(e, least), x));
  };
  const auto twice = [&](double least, double most, double then_min, double then_max) {
    return SimplifiedText(Of([&](Expression* e, int x) {
      return clamp(e, clamp(e, x, least, most), then_min, then_max);
    }));
  };
  EXPECT_EQ(twice(0, 6, 0, 6), "min(6, max(0, a))");
  EXPECT_EQ(twice(-1, 1, 0, 6), "min(1, max(0, a))");
  EXPECT_EQ(twice(0, 6, -1, 1), "min(1, max(0, a))");
  EXPECT_EQ(twice(-1, 6, -2, 5), "min(5, max(-1, a))");
}

TEST(Simplified, respects_that_max_removes_nan_on_one_side_only) {
  EXPECT_EQ(SimplifiedText(Of([](Expression* e, int x) {
              return e->Apply(kMax, Number32(e, 1), e->Apply(kMax, x, Number32(e, 1)));
            })),
            "max(a, 1)");
  EXPECT_EQ(SimplifiedText(Of([](Expression* e, int x) {
              return e->Apply(kMax, e->Apply(kMax, Number32(e, 1), x), Number32(e, 0));
            })),
            "max(max(1, a), 0)");
}

TEST(Simplified, removes_rounding_of_integral_values) {
  EXPECT_EQ(SimplifiedText(
                Of([](Expression* e, int x) { return e->Apply(kFloor, e->Apply(kRoundAway, x)); })),
            "round_away(a)");
}

// Quantize adds the quantisation of the real value `x`, Dequantize the dequantisation of the
// quantised value `x`, both as the import writes them.
int Quantize(Expression* e, int x, double scale, double zero, TfLiteType type) {
  x = e->Apply(kAdd, e->Apply(kRoundAway, e->Apply(kDiv, x, Number32(e, scale))),
               Number32(e, zero));
  const int least = Number32(e, static_cast<double>(SmallestOf(type)));
  x = e->Apply(kSelect, e->Apply(kLess, least, x), x, least);
  return e->Cast(e->Apply(kMin, x, Number32(e, static_cast<double>(LargestOf(type)))), type);
}

int Dequantize(Expression* e, int x, double scale, double zero) {
  x = e->Apply(kSub, e->Cast(x, kTfLiteFloat32), Number32(e, zero));
  return e->Apply(kMul, x, Number32(e, scale));
}

TEST(Simplified, removes_integers_between_two_reals) {
  const auto pair = [](double scale, double zero, TfLiteType type) {
    return SimplifiedText(Of([&](Expression* e, int x) {
      return Dequantize(e, Quantize(e, x, scale, zero, type), scale, zero);
    }));
  };
  EXPECT_EQ(pair(0.3, 5, kTfLiteInt8),
            "((min(max((round_away((a / 0.300000012)) + 5), -128), 127) - 5) * 0.300000012)");
  EXPECT_EQ(pair(0.5, 0, kTfLiteInt16),
            "(min(max((round_away((a * 2)) + 0), -32768), 32767) * 0.5)");
}

TEST(Simplified, keeps_an_integer_that_saturates) {
  EXPECT_EQ(SimplifiedText(Of([](Expression* e, int x) {
              return e->Cast(e->Cast(x, kTfLiteInt8), kTfLiteFloat32);
            })),
            "FLOAT32(INT8(a))");
  EXPECT_EQ(SimplifiedText(Of([](Expression* e, int x) {
              return e->Cast(e->Cast(x, kTfLiteFloat16), kTfLiteFloat32);
            })),
            "FLOAT32(FLOAT16(a))");
}

// A floor makes a negative zero of a negative zero only.
TEST(Simplified, removes_a_conversion_after_a_floor) {
  const auto bytes = [](int plus) {
    return Of([=](Expression* e, int x) {
      const int sum = plus == 0 ? x : e->Apply(kAdd, x, Number32(e, plus));
      const int low = e->Apply(kMax, e->Apply(kFloor, sum), Number32(e, -128));
      const int bounded = e->Apply(kMin, low, Number32(e, 127));
      return e->Cast(e->Cast(bounded, kTfLiteInt8), kTfLiteFloat32);
    });
  };
  EXPECT_EQ(SimplifiedText(bytes(4)), "min(max(floor((a + 4)), -128), 127)");
  EXPECT_EQ(SimplifiedText(bytes(0)), "FLOAT32(INT8(min(max(floor(a), -128), 127)))");
}

TEST(Simplified, keeps_an_integer_that_normalizes_negative_zero) {
  EXPECT_EQ(SimplifiedText(Of([](Expression* e, int x) {
              x = e->Apply(kMin, e->Apply(kMax, x, Number32(e, -8)), Number32(e, 8));
              return e->Cast(e->Cast(e->Apply(kRoundAway, x), kTfLiteInt8), kTfLiteFloat32);
            })),
            "FLOAT32(INT8(round_away(min(max(a, -8), 8))))");
}

TEST(Simplified, removes_casts_through_types_that_hold_all_values) {
  const auto through = [](TfLiteType type, TfLiteType between) {
    return ToText(Simplified(
        Of([&](Expression* e, int x) { return e->Cast(e->Cast(x, between), type); }, type)));
  };
  EXPECT_EQ(through(kTfLiteInt8, kTfLiteFloat32), "a");
  EXPECT_EQ(through(kTfLiteInt8, kTfLiteInt16), "a");
  EXPECT_EQ(through(kTfLiteFloat16, kTfLiteFloat32), "a");
  EXPECT_EQ(through(kTfLiteInt32, kTfLiteFloat32), "INT32(FLOAT32(a))");
  EXPECT_EQ(through(kTfLiteInt16, kTfLiteUInt8), "INT16(UINT8(a))");
}

TEST(Simplified, keeps_integers_that_no_double_represents) {
  Expression e;
  e.Apply(kAdd, e.Operand(0, kTfLiteInt64), e.Constant(kTfLiteInt64, 0x1p60));
  EXPECT_EQ(ToText(Simplified(e)), "(a + 1152921504606846976)");
}

// Returns a random expression of two operands.
Expression RandomExpression(std::mt19937* random) {
  constexpr ScalarOp kOnes[] = {kAbs,       kNeg, kFloor,    kCeil, kRoundEven,
                                kRoundAway, kExp, kLogistic, kSqrt};
  constexpr ScalarOp kTwos[] = {kAdd, kSub, kMul, kDiv, kMax, kMin};
  constexpr double kConstants[] = {0, -0.0, 1, -1, 0.5, 3, 6, 127, -128, 1e10};
  Expression e;
  std::vector<int> nodes = {e.Operand(0, kTfLiteFloat32), e.Operand(1, kTfLiteFloat32)};
  const auto any = [&](const auto& list) { return list[(*random)() % std::size(list)]; };
  while (nodes.size() < 14) {
    const int x = any(nodes), y = any(nodes);
    switch ((*random)() % 6) {
      case 0:
        nodes.push_back(Number32(&e, any(kConstants)));
        break;
      case 1:
        nodes.push_back(e.Apply(any(kOnes), x));
        break;
      case 2:
        nodes.push_back(e.Apply(kSelect, e.Apply(kLess, x, y), y, x));
        break;
      case 3:
        nodes.push_back(e.Cast(
            e.Cast(x, any(std::vector{kTfLiteInt8, kTfLiteUInt8, kTfLiteInt32, kTfLiteFloat16})),
            kTfLiteFloat32));
        break;
      default:
        nodes.push_back(e.Apply(any(kTwos), x, y));
    }
  }
  e.SetResult(nodes.back());
  return e;
}

TEST(Simplified, changes_no_bit_of_random_expressions) {
  std::mt19937 random(3);
  int simpler = 0;
  for (int i = 0; i < 3000 && !HasFailure(); ++i) {
    const Expression expression = RandomExpression(&random);
    SimplifiedText(expression);
    if (Simplified(expression).nodes().size() < expression.nodes().size()) ++simpler;
  }
  EXPECT_GT(simpler, 500);
}

}  // namespace
}  // namespace deputy::compiler::compiler_simplify_test
