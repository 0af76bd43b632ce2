// SPDX-License-Identifier: Apache-2.0
//
// What is computed for one element from the elements of some operands: a small graph of scalar
// operations. A chain of element-wise operators is one expression, and so is what follows a
// convolution or a product before its result is stored.
#ifndef DEPUTY_COMPILER_EXPRESSION_H_
#define DEPUTY_COMPILER_EXPRESSION_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/number.h"
#include "tensorflow/lite/c/c_api_types.h"

namespace deputy::compiler {

enum class ScalarOp : uint8_t {
  kOperand,   // the element of an operand
  kConstant,  // a number
  kCast,      // the argument in another type; to whole numbers towards zero, clamped to the type,
              // of which NaN is the largest
  // One argument.
  kAbs,
  kNeg,
  kSign,
  kFloor,
  kCeil,
  kRoundEven,  // halves to the even neighbour
  kRoundAway,  // halves away from zero
  kSqrt,
  kRsqrt,
  kExp,
  kExpm1,  // exp(x) - 1, exact near 0
  kLog,
  kSin,
  kCos,
  kTanh,
  kLogistic,
  kErf,
  kNot,
  // Two arguments of the same type.
  kAdd,
  kSub,
  kMul,
  kDiv,
  kFloorDiv,
  kFloorMod,
  kMax,  // a > b ? a : b, which says what becomes of NaN
  kMin,  // a < b ? a : b
  kPow,
  kAtan2,
  kAnd,
  kOr,
  kXor,
  kShiftRight,
  // Two arguments of the same type; the result is bool.
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  // Three arguments: where the first, a bool, is true the second, else the third.
  kSelect,
};

// Name in dumps, and how many arguments it takes.
const char* ScalarOpName(ScalarOp op);
int ArgumentCount(ScalarOp op);
// Whether it can be applied to arguments of the type: there is no square root of whole numbers.
bool TakesType(ScalarOp op, TfLiteType type);

struct ScalarNode {
  ScalarOp op = ScalarOp::kOperand;
  TfLiteType type = kTfLiteFloat32;  // of the result
  int arguments[3] = {-1, -1, -1};   // earlier nodes
  int operand = -1;                  // of kOperand
  Number constant;                   // of kConstant
};

class Expression {
 public:
  // Each returns the number of the new node, or of an equal one that is there already.
  int Operand(int operand, TfLiteType type);
  int Constant(TfLiteType type, double value);
  int Cast(int argument, TfLiteType type);
  int Apply(ScalarOp op, int a, int b = -1, int c = -1);

  // The nodes in an order in which arguments come first; the last one is the result.
  std::span<const ScalarNode> nodes() const { return nodes_; }
  bool empty() const { return nodes_.empty(); }
  TfLiteType type_of(int node) const { return nodes_[static_cast<size_t>(node)].type; }
  TfLiteType result_type() const { return nodes_.back().type; }
  // One more than the largest operand.
  int operand_count() const;

  // Makes `node` the result: nodes it does not need go.
  void SetResult(int node);

  // Appends another expression's nodes, with nodes of this one in place of its operands. Returns
  // the number of its result.
  int Append(const Expression& other, std::span<const int> operands);

 private:
  int Add(const ScalarNode& node);

  std::vector<ScalarNode> nodes_;
};

// "max(min(a, 6), 0)": operands are named a, b, c, … in their order. What is read more than once is
// written once: "($2 * $2) where $2 = (a + b)".
std::string ToText(const Expression& expression);

// The result for one element. The plain way: see reference.h.
Number Evaluate(const Expression& expression, std::span<const Number> operands);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_EXPRESSION_H_
