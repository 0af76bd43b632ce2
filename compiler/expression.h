// SPDX-License-Identifier: Apache-2.0
//
// Expressions: small graphs of scalar operations that compute one element of a result from the
// elements of some operands. A chain of element-wise operators is one expression, and so is the
// epilogue of a convolution or a product.
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
  kOperand,   // an element of an operand
  kConstant,  // a number, which the node contains
  // The argument converted to another type. Conversion of a real to an integer rounds towards zero,
  // clamps to the type's range, and converts NaN to the largest value. Conversion between integer
  // types wraps around. Conversion to bool yields true for every value other than 0.
  kCast,
  // Operations on one argument; the result has the argument's type.
  kAbs,
  kNeg,
  kSign,
  kFloor,
  kCeil,
  kRoundEven,  // ties to the even neighbour
  kRoundAway,  // ties away from zero
  kSqrt,
  kRsqrt,
  kExp,
  kExpm1,  // exp(x) - 1, accurate near 0
  kLog,
  kSin,
  kCos,
  kTanh,
  kLogistic,
  kErf,
  kNot,
  // Operations on two arguments of the same type; the result has this type, too.
  kAdd,
  kSub,
  kMul,
  kDiv,
  kFloorDiv,
  kFloorMod,
  kMax,  // a > b ? a : b, which defines the result for NaN
  kMin,  // a < b ? a : b
  kPow,
  kAtan2,
  kAnd,
  kOr,
  kXor,
  kShiftRight,
  // Comparisons of two arguments of the same type; the result is bool.
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  // Selection with three arguments: the second where the first, a bool, is true, else the third.
  kSelect,
};

// Return an operation's name, for example "floor_div", and its number of arguments.
const char* ScalarOpName(ScalarOp op);
int ArgumentCount(ScalarOp op);
// Returns whether the operation is defined for arguments of the type; for example, there is no
// square root of integers.
bool SupportsType(ScalarOp op, TfLiteType type);

struct ScalarNode {
  ScalarOp op = ScalarOp::kOperand;
  TfLiteType type = kTfLiteFloat32;  // type of the result
  int arguments[3] = {-1, -1, -1};   // indices of earlier nodes; -1: unused
  int operand = -1;                  // number of the operand, for kOperand
  Number constant;                   // value, for kConstant
};

class Expression {
 public:
  // Add a node and return its index, or return the index of an equal node that exists already. Cast
  // returns `argument` if it has the type already.
  int Operand(int operand, TfLiteType type);
  int Constant(TfLiteType type, double value);
  int Cast(int argument, TfLiteType type);
  int Apply(ScalarOp op, int a, int b = -1, int c = -1);

  // Returns the nodes in topological order; the last one is the result.
  std::span<const ScalarNode> nodes() const { return nodes_; }
  bool empty() const { return nodes_.empty(); }
  TfLiteType type_of(int node) const { return nodes_[static_cast<size_t>(node)].type; }
  TfLiteType result_type() const { return nodes_.back().type; }
  // Returns the largest operand number plus one.
  int operand_count() const;

  // Makes `node` the result and removes nodes that it does not need.
  void SetResult(int node);

  // Appends the nodes of another expression, with `operands`, nodes of this one, in place of its
  // operands. Returns the index of its result.
  int Append(const Expression& other, std::span<const int> operands);

 private:
  int Add(const ScalarNode& node);

  std::vector<ScalarNode> nodes_;
};

// Formats an expression, for example "max(min(a, 6), 0)". Operands are named a, b, c, … in their
// order. A node with arguments that is read more than once is written once: "($2 * $2) where $2 =
// (a + b)".
std::string ToText(const Expression& expression);

// Evaluates the expression for one element. Reference implementation; see reference.h.
Number Evaluate(const Expression& expression, std::span<const Number> operands);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_EXPRESSION_H_
