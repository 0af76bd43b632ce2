// SPDX-License-Identifier: Apache-2.0
//
// Tests numbers of all types, and expressions: their results, their text form, and composition.
#include "compiler/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace deputy::compiler::compiler_expression_test {
namespace {

using enum ScalarOp;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

// ---- Numbers ------------------------------------------------------------------------------------

uint16_t HalfOf(double value) {
  std::byte bytes[2];
  StoreElement(kTfLiteFloat16, {value, 0}, bytes, 0);
  uint16_t bits;
  memcpy(&bits, bytes, sizeof bits);
  return bits;
}

double FromBits(uint16_t bits) {
  std::byte bytes[2];
  memcpy(bytes, &bits, sizeof bits);
  return LoadElement(kTfLiteFloat16, bytes, 0).real;
}

TEST(Numbers, halves_have_ieee_754_encoding) {
  const std::pair<double, uint16_t> kRows[] = {
      {0.0, 0x0000},        {-0.0, 0x8000},        {1.0, 0x3c00},         {-2.0, 0xc000},
      {65504, 0x7bff},      {65519.9, 0x7bff},     {65520, 0x7c00},       {kInfinity, 0x7c00},
      {-kInfinity, 0xfc00}, {0x1p-14, 0x0400},     {0x1p-24, 0x0001},     {0x1p-25, 0x0000},
      {0x1.8p-25, 0x0001},  {1 + 0x1p-11, 0x3c00}, {1 + 0x3p-11, 0x3c02}, {1.0 / 3, 0x3555},
  };
  for (const auto& [value, bits] : kRows) EXPECT_EQ(HalfOf(value), bits) << value;
  EXPECT_TRUE(std::isnan(FromBits(HalfOf(kNan))));
}

TEST(Numbers, every_half_round_trips) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const double value = FromBits(static_cast<uint16_t>(bits));
    if (std::isnan(value)) continue;
    EXPECT_EQ(HalfOf(value), bits);
  }
}

TEST(Numbers, integers_wrap_when_stored_and_are_clamped_when_created) {
  EXPECT_EQ(Stored(kTfLiteInt8, {0, 200}).integer, -56);
  EXPECT_EQ(Stored(kTfLiteUInt8, {0, -1}).integer, 255);
  EXPECT_EQ(Stored(kTfLiteInt32, {0, int64_t{1} << 31}).integer, INT32_MIN);
  EXPECT_EQ(NumberOf(kTfLiteInt8, 200).integer, 127);
  EXPECT_EQ(NumberOf(kTfLiteInt8, -1.9).integer, -1);
  EXPECT_EQ(NumberOf(kTfLiteInt64, 1e30).integer, INT64_MAX);
  EXPECT_EQ(NumberOf(kTfLiteFloat32, 0.1).real, 0.1f);
  EXPECT_STREQ(TypeName(kTfLiteFloat16), "FLOAT16");
  EXPECT_STREQ(TypeName(kTfLiteUInt16), "UINT16");
  EXPECT_EQ(ElementBytes(kTfLiteString), 0u);
}

// ---- Evaluation ---------------------------------------------------------------------------------

Number Apply(ScalarOp op, TfLiteType type, const std::vector<double>& arguments) {
  Expression e;
  int nodes[3] = {-1, -1, -1};
  std::vector<Number> numbers;
  for (size_t i = 0; i < arguments.size(); ++i) {
    nodes[i] = e.Operand(static_cast<int>(i), type);
    numbers.push_back(NumberOf(type, arguments[i]));
  }
  e.Apply(op, nodes[0], nodes[1], nodes[2]);
  return Evaluate(e, numbers);
}

TEST(Expression, computes_reals) {
  struct Row {
    ScalarOp op;
    std::vector<double> arguments;
    double result;
  };
  const Row kRows[] = {
      {kAbs, {-2.5}, 2.5},      {kNeg, {3}, -3},
      {kSign, {-0.1}, -1},      {kSign, {0}, 0},
      {kFloor, {-1.5}, -2},     {kCeil, {-1.5}, -1},
      {kRoundEven, {2.5}, 2},   {kRoundEven, {3.5}, 4},
      {kRoundAway, {2.5}, 3},   {kRoundAway, {-2.5}, -3},
      {kSqrt, {9}, 3},          {kRsqrt, {4}, 0.5},
      {kExp, {0}, 1},           {kExpm1, {0}, 0},
      {kLog, {1}, 0},           {kSin, {0}, 0},
      {kCos, {0}, 1},           {kTanh, {0}, 0},
      {kLogistic, {0}, 0.5},    {kErf, {0}, 0},
      {kAdd, {1, 2}, 3},        {kSub, {1, 2}, -1},
      {kMul, {3, 4}, 12},       {kDiv, {1, 4}, 0.25},
      {kFloorDiv, {-7, 2}, -4}, {kFloorMod, {-7, 3}, 2},
      {kFloorMod, {7, -3}, -2}, {kMax, {1, 2}, 2},
      {kMin, {1, 2}, 1},        {kPow, {2, 10}, 1024},
      {kAtan2, {0, 1}, 0},      {kMax, {kNan, 2}, 2},
      {kMin, {kNan, 2}, 2},     {kDiv, {1, 0}, kInfinity},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(Apply(row.op, kTfLiteFloat32, row.arguments).real, row.result)
        << ScalarOpName(row.op);
  }
  EXPECT_TRUE(std::isnan(Apply(kMax, kTfLiteFloat32, {2, kNan}).real));
  EXPECT_TRUE(std::isnan(Apply(kSign, kTfLiteFloat32, {kNan}).real));
  EXPECT_EQ(Apply(kAdd, kTfLiteFloat32, {0.1, 0.2}).real, static_cast<double>(0.1f + 0.2f));
}

TEST(Expression, computes_integers) {
  struct Row {
    ScalarOp op;
    std::vector<double> arguments;
    int64_t result;
  };
  const Row kRows[] = {
      {kAbs, {-2}, 2},
      {kNeg, {3}, -3},
      {kSign, {-7}, -1},
      {kAdd, {INT32_MAX, 1}, INT32_MIN},
      {kSub, {1, 2}, -1},
      {kMul, {65536, 65536}, 0},
      {kDiv, {-7, 2}, -3},
      {kDiv, {7, 0}, 0},
      {kDiv, {INT32_MIN, -1}, INT32_MIN},
      {kFloorDiv, {-7, 2}, -4},
      {kFloorDiv, {-8, 2}, -4},
      {kFloorDiv, {7, 0}, 0},
      {kFloorMod, {-7, 3}, 2},
      {kFloorMod, {7, -3}, -2},
      {kMax, {-1, 2}, 2},
      {kMin, {-1, 2}, -1},
      {kPow, {-3, 3}, -27},
      {kAnd, {6, 3}, 2},
      {kOr, {6, 3}, 7},
      {kXor, {6, 3}, 5},
      {kShiftRight, {-8, 1}, -4},
      {kEqual, {3, 3}, 1},
      {kNotEqual, {3, 3}, 0},
      {kLess, {2, 3}, 1},
      {kLessEqual, {3, 3}, 1},
      {kGreater, {3, 3}, 0},
      {kGreaterEqual, {2, 3}, 0},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(Apply(row.op, kTfLiteInt32, row.arguments).integer, row.result)
        << ScalarOpName(row.op);
  }
  EXPECT_EQ(Apply(kNot, kTfLiteBool, {1}).integer, 0);
  EXPECT_EQ(Apply(kLess, kTfLiteFloat32, {kNan, 1}).integer, 0);
  EXPECT_EQ(Apply(kNotEqual, kTfLiteFloat32, {kNan, kNan}).integer, 1);
}

TEST(Expression, casts) {
  const auto cast = [](TfLiteType from, double value, TfLiteType to) {
    Expression e;
    e.Cast(e.Operand(0, from), to);
    const Number number = NumberOf(from, value);
    return Evaluate(e, {&number, 1});
  };
  EXPECT_EQ(cast(kTfLiteFloat32, -2.9, kTfLiteInt32).integer, -2);
  EXPECT_EQ(cast(kTfLiteFloat32, 1e10, kTfLiteInt8).integer, 127);
  EXPECT_EQ(cast(kTfLiteFloat32, kNan, kTfLiteInt8).integer, 127);
  EXPECT_EQ(cast(kTfLiteFloat32, 0.5, kTfLiteBool).integer, 1);
  EXPECT_EQ(cast(kTfLiteInt32, 300, kTfLiteUInt8).integer, 44);
  EXPECT_EQ(cast(kTfLiteInt32, 16777217, kTfLiteFloat32).real, 16777216);
}

TEST(Expression, checks_the_types_of_operations) {
  EXPECT_TRUE(SupportsType(kSqrt, kTfLiteFloat16));
  EXPECT_FALSE(SupportsType(kSqrt, kTfLiteInt32));
  EXPECT_FALSE(SupportsType(kXor, kTfLiteFloat32));
  EXPECT_TRUE(SupportsType(kLess, kTfLiteInt8));
  EXPECT_EQ(ArgumentCount(kSelect), 3);
}

// ---- Composition --------------------------------------------------------------------------------

// The expression max(a * b, 0).
Expression Product() {
  Expression e;
  const int product = e.Apply(kMul, e.Operand(0, kTfLiteFloat32), e.Operand(1, kTfLiteFloat32));
  e.SetResult(e.Apply(kMax, product, e.Constant(kTfLiteFloat32, 0)));
  return e;
}

TEST(Expression, is_written_as_a_formula) {
  EXPECT_EQ(ToText(Product()), "max((a * b), 0)");
  Expression e;
  const int x = e.Operand(27, kTfLiteInt8);
  e.SetResult(e.Cast(e.Apply(kEqual, x, e.Constant(kTfLiteInt8, -3)), kTfLiteFloat32));
  EXPECT_EQ(ToText(e), "FLOAT32((in27 == -3))");
  EXPECT_EQ(ToText(Expression()), "");
}

// Each of 60 nodes doubles the previous one: written as a tree, the text would contain the operand
// more than 2^60 times.
TEST(ExpressionText, writes_shared_subexpressions_once) {
  Expression e;
  int x = e.Apply(ScalarOp::kNeg, e.Operand(0, kTfLiteFloat32));
  x = e.Apply(ScalarOp::kAdd, x, x);
  x = e.Apply(ScalarOp::kMul, x, x);
  EXPECT_EQ(ToText(e), "($2 * $2) where $1 = neg(a), $2 = ($1 + $1)");
  for (int i = 0; i < 60; ++i) x = e.Apply(ScalarOp::kAdd, x, x);
  EXPECT_LT(ToText(e).size(), size_t{2000});
}

TEST(Expression, deduplicates_nodes) {
  Expression e;
  const int x = e.Operand(0, kTfLiteFloat32);
  EXPECT_EQ(e.Operand(0, kTfLiteFloat32), x);
  EXPECT_EQ(e.Apply(kAdd, x, x), e.Apply(kAdd, x, x));
  EXPECT_NE(e.Constant(kTfLiteFloat32, 0.0), e.Constant(kTfLiteFloat32, -0.0));
  EXPECT_EQ(e.Cast(x, kTfLiteFloat32), x);
}

TEST(Expression, removes_unused_nodes) {
  Expression e;
  const int a = e.Operand(0, kTfLiteFloat32), b = e.Operand(1, kTfLiteFloat32);
  const int sum = e.Apply(kAdd, a, b);
  e.Apply(kExp, sum);
  e.SetResult(e.Apply(kAbs, b));
  EXPECT_EQ(ToText(e), "abs(b)");
  EXPECT_EQ(e.nodes().size(), 2u);
  EXPECT_EQ(e.operand_count(), 2);
}

TEST(Expression, inlines_another_expression) {
  Expression e;
  const int x = e.Operand(0, kTfLiteFloat32);
  const int y = e.Apply(kNeg, e.Operand(1, kTfLiteFloat32));
  const int operands[] = {y, x};
  e.SetResult(e.Append(Product(), operands));
  EXPECT_EQ(ToText(e), "max((neg(b) * a), 0)");
  const Number numbers[] = {{-2, 0}, {5, 0}};
  EXPECT_EQ(Evaluate(e, numbers).real, 10);
}

}  // namespace
}  // namespace deputy::compiler::compiler_expression_test
