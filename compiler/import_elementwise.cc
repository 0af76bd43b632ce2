// SPDX-License-Identifier: Apache-2.0
//
// Imports operators that compute each element of the output from one element of each input.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "compiler/node_import.h"

namespace deputy::compiler {
namespace {

using enum ScalarOp;

// Returns whether the integers of a type represent themselves. Smaller integer types represent
// quantised reals.
bool IsPlainInteger(TfLiteType type) {
  return type == kTfLiteInt32 || type == kTfLiteInt64 || type == kTfLiteUInt32;
}

// Returns whether an operator computes on the stored integers. If not, the caller must have called
// CheckReal.
bool ComputesIntegers(NodeImport* node) { return IsPlainInteger(node->input_tensor(0).type); }

// Returns the number that an input represents: the stored integer or the dequantised real.
ValueId NumberInput(NodeImport* node, int n) {
  return ComputesIntegers(node) ? node->Input(n) : node->Real(n);
}

bool SetNumberOutput(NodeImport* node, ValueId id) {
  return ComputesIntegers(node) ? node->SetOutput(0, id) : node->SetRealOutput(0, id);
}

bool CheckNumbers(NodeImport* node, int count) {
  if (!node->CheckInputs(count, count)) return false;
  for (int n = 0; n < count; ++n) {
    if (ComputesIntegers(node) ? !node->CheckType(n, {node->input_tensor(0).type})
                               : !node->CheckReal(n)) {
      return false;
    }
  }
  return true;
}

// ---- One input ----------------------------------------------------------------------------------

// A function of the first input: appends nodes to an expression and returns its result.
using Function = int (*)(Expression*, int x);

template <Function function>
bool ImportReal(NodeImport* node) {
  if (!node->CheckInputs(1, 1) || !node->CheckReal(0)) return false;
  Expression expression;
  expression.SetResult(function(&expression, expression.Operand(0, kTfLiteFloat32)));
  return node->SetRealOutput(0, node->AddElementwise(std::move(expression), {node->Real(0)}));
}

// Imports a transcendental function. For int16, TensorFlow Lite interpolates in a lookup table.
template <Function function>
bool ImportTranscendental(NodeImport* node) {
  if (!node->CheckInputs(1, 1)) return false;
  if (node->input_tensor(0).type == kTfLiteInt16) {
    return node->RefuseInput(0, kDeputyReasonType,
                             "INT16 is not supported (upstream interpolates a lookup table)");
  }
  return ImportReal<function>(node);
}

template <ScalarOp op>
int Apply(Expression* e, int x) {
  return e->Apply(op, x);
}

template <ScalarOp op>
bool ImportRealOp(NodeImport* node) {
  return ImportReal<&Apply<op>>(node);
}

// Imports SQRT and RSQRT. Quantised types are refused: negative arguments are an error there, which
// a device cannot report.
template <ScalarOp op>
bool ImportRoot(NodeImport* node) {
  if (!node->CheckInputs(1, 1) || !node->CheckType(0, {kTfLiteFloat32, kTfLiteFloat16})) {
    return false;
  }
  return ImportRealOp<op>(node);
}

template <ScalarOp op>
bool ImportTranscendentalOp(NodeImport* node) {
  return ImportTranscendental<&Apply<op>>(node);
}

template <ScalarOp op>
bool ImportNumberOp(NodeImport* node) {
  if (!CheckNumbers(node, 1)) return false;
  return SetNumberOutput(node, node->AddUnary(op, NumberInput(node, 0)));
}

// Imports NEG. Quantised types are refused, because TensorFlow Lite's NEG ignores scales.
bool ImportNeg(NodeImport* node) {
  if (!node->CheckInputs(1, 1) ||
      !node->CheckType(0, {kTfLiteFloat32, kTfLiteFloat16, kTfLiteInt32, kTfLiteInt64})) {
    return false;
  }
  return ImportNumberOp<kNeg>(node);
}

bool ImportSquare(NodeImport* node) {
  if (!CheckNumbers(node, 1)) return false;
  const ValueId x = NumberInput(node, 0);
  Expression expression;
  const int operand = expression.Operand(0, node->value(x).type);
  expression.Apply(kMul, operand, operand);
  return SetNumberOutput(node, node->AddElementwise(std::move(expression), {x}));
}

int FloatConstant(Expression* e, double value) { return e->Constant(kTfLiteFloat32, value); }

template <TfLiteFusedActivation activation>
int Activation(Expression* e, int x) {
  return AppendActivation(e, x, activation);
}

int Relu0To1(Expression* e, int x) {
  return e->Apply(kMin, FloatConstant(e, 1), e->Apply(kMax, FloatConstant(e, 0), x));
}

int Elu(Expression* e, int x) {
  return e->Apply(kSelect, e->Apply(kLess, x, FloatConstant(e, 0)), e->Apply(kExpm1, x), x);
}

int HardSwish(Expression* e, int x) {
  const int shifted = e->Apply(kAdd, x, FloatConstant(e, 3));
  const int gate =
      e->Apply(kMin, e->Apply(kMax, shifted, FloatConstant(e, 0)), FloatConstant(e, 6));
  return e->Apply(kMul, x, e->Apply(kMul, gate, FloatConstant(e, 1.0 / 6)));
}

// Imports GELU: x/2 (1 + erf(x / sqrt(2))), or its approximation by tanh.
bool ImportGelu(NodeImport* node) {
  if (!node->CheckInputs(1, 1) || !node->CheckReal(0)) return false;
  if (node->input_tensor(0).type == kTfLiteInt16) {
    return node->RefuseInput(0, kDeputyReasonType,
                             "INT16 is not supported (upstream interpolates a lookup table)");
  }
  Expression e;
  const int x = e.Operand(0, kTfLiteFloat32);
  int inner;
  if (node->params<TfLiteGeluParams>().approximate) {
    const int cube = e.Apply(kMul, e.Apply(kMul, x, x), x);
    const int sum = e.Apply(kAdd, x, e.Apply(kMul, cube, FloatConstant(&e, 0.044715)));
    inner = e.Apply(kTanh, e.Apply(kMul, sum, FloatConstant(&e, std::sqrt(2 / std::numbers::pi))));
  } else {
    inner = e.Apply(kErf, e.Apply(kMul, x, FloatConstant(&e, 1 / std::numbers::sqrt2)));
  }
  const int gate = e.Apply(kAdd, inner, FloatConstant(&e, 1));
  e.SetResult(e.Apply(kMul, e.Apply(kMul, x, FloatConstant(&e, 0.5)), gate));
  return node->SetRealOutput(0, node->AddElementwise(std::move(e), {node->Real(0)}));
}

bool ImportLeakyRelu(NodeImport* node) {
  if (!node->CheckInputs(1, 1) || !node->CheckReal(0)) return false;
  Expression e;
  const int x = e.Operand(0, kTfLiteFloat32);
  const int scaled =
      e.Apply(kMul, x, FloatConstant(&e, node->params<TfLiteLeakyReluParams>().alpha));
  e.SetResult(e.Apply(kSelect, e.Apply(kGreater, x, FloatConstant(&e, 0)), x, scaled));
  return node->SetRealOutput(0, node->AddElementwise(std::move(e), {node->Real(0)}));
}

bool ImportLogicalNot(NodeImport* node) {
  if (!node->CheckInputs(1, 1) || !node->CheckType(0, {kTfLiteBool})) return false;
  return node->SetOutput(0, node->AddUnary(kNot, node->Input(0)));
}

bool ImportCast(NodeImport* node) {
  if (!node->CheckInputs(1, 1)) return false;
  if (ElementBytes(node->output_tensor(0).type) == 0) {
    return node->Refuse(kDeputyReasonType, "cast to type %s is not supported",
                        TypeName(node->output_tensor(0).type));
  }
  return node->SetOutput(0, node->AddCast(node->Input(0), node->output_tensor(0).type));
}

// ---- Two inputs and more ------------------------------------------------------------------------

bool FinishBinary(NodeImport* node, ScalarOp op, TfLiteFusedActivation activation) {
  const ValueId a = NumberInput(node, 0), b = NumberInput(node, 1);
  const ValueId result = node->AddBinary(op, a, b);
  if (result == kNoValue || activation == kTfLiteActNone) return SetNumberOutput(node, result);
  if (ComputesIntegers(node)) {
    return node->Refuse(kDeputyReasonParameter, "a fused activation on %s is not supported",
                        TypeName(node->input_tensor(0).type));
  }
  return SetNumberOutput(node, node->AddActivation(result, activation));
}

template <ScalarOp op, typename Params>
bool ImportArithmetic(NodeImport* node) {
  return CheckNumbers(node, 2) && FinishBinary(node, op, node->params<Params>().activation);
}

// Checks that the divisor is a constant without zeros, if a zero would be an error of the model,
// which a device cannot report: for integers and quantised values, and for floats if `floats_too`.
bool CheckDivisor(NodeImport* node, bool floats_too) {
  if (!CheckNumbers(node, 2)) return false;
  const Value& divisor = node->value(node->Input(1));
  if (IsFloat(divisor.type) && !floats_too) return true;
  if (!divisor.constant()) {
    return node->RefuseInput(1, kDeputyReasonNotConstant,
                             "expected a constant divisor (it might be 0)");
  }
  const int zero = node->InputQuantization(1).zero_point;
  for (int64_t i = 0; i < ElementCount(divisor.shape); ++i) {
    const Number number = divisor.At(i);
    if (IsFloat(divisor.type) ? number.real == 0 : number.integer == zero) {
      return node->RefuseInput(1, kDeputyReasonParameter, "a 0");
    }
  }
  return true;
}

bool ImportDiv(NodeImport* node) {
  return CheckDivisor(node, false) &&
         FinishBinary(node, kDiv, node->params<TfLiteDivParams>().activation);
}

template <ScalarOp op>
bool ImportDivision(NodeImport* node) {
  return CheckDivisor(node, op == kFloorDiv) && FinishBinary(node, op, kTfLiteActNone);
}

template <ScalarOp op>
bool ImportRealBinary(NodeImport* node) {
  if (!node->CheckInputs(2, 2) || !node->CheckReal(0) || !node->CheckReal(1)) return false;
  const ValueId a = node->Real(0), b = node->Real(1);
  return node->SetRealOutput(0, node->AddBinary(op, a, b));
}

bool ImportSquaredDifference(NodeImport* node) {
  if (!CheckNumbers(node, 2)) return false;
  const ValueId a = NumberInput(node, 0), b = NumberInput(node, 1);
  Expression e;
  const int left = e.Operand(0, node->value(a).type);
  const int difference = e.Apply(kSub, left, e.Operand(1, node->value(b).type));
  e.Apply(kMul, difference, difference);
  return SetNumberOutput(node, node->AddElementwise(std::move(e), {a, b}));
}

bool ImportAddN(NodeImport* node) {
  if (!CheckNumbers(node, std::max(node->input_count(), 1))) return false;
  ValueId sum = NumberInput(node, 0);
  for (int n = 1; n < node->input_count(); ++n) {
    if (node->shape(NumberInput(node, n)) != node->shape(sum)) {
      return node->RefuseInput(n, kDeputyReasonShape, "the shape differs from the first input's");
    }
    sum = node->AddBinary(kAdd, sum, NumberInput(node, n));
  }
  return SetNumberOutput(node, sum);
}

bool ImportPrelu(NodeImport* node) {
  if (!node->CheckInputs(2, 2) || !node->CheckReal(0) || !node->CheckReal(1)) return false;
  Expression e;
  const int x = e.Operand(0, kTfLiteFloat32), alpha = e.Operand(1, kTfLiteFloat32);
  const int scaled = e.Apply(kMul, x, alpha);
  e.SetResult(e.Apply(kSelect, e.Apply(kGreaterEqual, x, FloatConstant(&e, 0)), x, scaled));
  return node->SetRealOutput(0, node->AddElementwise(std::move(e), {node->Real(0), node->Real(1)}));
}

// Imports comparisons, maximum and minimum, which compute on stored values. For inputs of different
// scales TensorFlow Lite rounds in its own way or ignores the scales, so these are refused.
template <ScalarOp op>
bool ImportStored(NodeImport* node) {
  if (!node->CheckInputs(2, 2) || !node->CheckType(1, {node->input_tensor(0).type})) return false;
  const ValueId a = node->Input(0), b = node->Input(1);
  if (node->InputQuantization(0) != node->InputQuantization(1)) {
    return node->Refuse(kDeputyReasonQuantization, "the inputs have different scales");
  }
  return node->SetOutput(0, node->AddBinary(op, a, b));
}

template <ScalarOp op>
bool ImportLogical(NodeImport* node) {
  if (!node->CheckInputs(2, 2) || !node->CheckType(0, {kTfLiteBool}) ||
      !node->CheckType(1, {kTfLiteBool})) {
    return false;
  }
  return node->SetOutput(0, node->AddBinary(op, node->Input(0), node->Input(1)));
}

bool CheckBits(NodeImport* node) {
  return node->CheckInputs(2, 2) &&
         node->CheckType(0, {kTfLiteInt8, kTfLiteUInt8, kTfLiteInt16, kTfLiteUInt16, kTfLiteInt32,
                             kTfLiteUInt32}) &&
         node->CheckType(1, {node->input_tensor(0).type});
}

template <ScalarOp op>
bool ImportBits(NodeImport* node) {
  return CheckBits(node) && node->SetOutput(0, node->AddBinary(op, node->Input(0), node->Input(1)));
}

// Imports RIGHT_SHIFT. The shift is clamped to 0 … bits of the type - 1.
bool ImportRightShift(NodeImport* node) {
  const TfLiteType type = node->input_tensor(0).type;
  if (!CheckBits(node)) return false;
  Expression e;
  const int value = e.Operand(0, type), bits = e.Operand(1, type);
  const int max_shift = e.Constant(type, static_cast<double>(8 * ElementBytes(type) - 1));
  const int by = e.Apply(kMin, e.Apply(kMax, bits, e.Constant(type, 0)), max_shift);
  e.SetResult(e.Apply(kShiftRight, value, by));
  return node->SetOutput(0, node->AddElementwise(std::move(e), {node->Input(0), node->Input(1)}));
}

// Refuses a node whose inputs are all single elements if the output's shape differs: TensorFlow
// Lite then keeps the shape from the model file.
bool CheckSingle(NodeImport* node, const Shape& result) {
  if (ElementCount(result) != 1 || node->OutputShape(0) == result) return true;
  return node->Refuse(kDeputyReasonShape,
                      "the output's shape must match the inputs' if all have one element");
}

// Selects among stored values: both choices have the output's type and scale.
bool FinishSelect(NodeImport* node, ValueId condition) {
  const TfLiteType type = node->input_tensor(1).type;
  if (!node->CheckType(0, {kTfLiteBool}) || !node->CheckType(2, {type})) return false;
  Expression e;
  const int selector = e.Operand(0, kTfLiteBool), yes = e.Operand(1, type);
  e.SetResult(e.Apply(kSelect, selector, yes, e.Operand(2, type)));
  return node->SetOutput(
      0, node->AddElementwise(std::move(e), {condition, node->Input(1), node->Input(2)}));
}

bool ImportSelectV2(NodeImport* node) {
  if (!node->CheckInputs(3, 3)) return false;
  Shape result = node->shape(node->Input(0));
  for (int n = 1; n < 3; ++n) {
    if (!BroadcastShapes(result, node->shape(node->Input(n)), &result)) {
      return node->RefuseInput(n, kDeputyReasonShape, "cannot be broadcast to the output's shape");
    }
  }
  return CheckSingle(node, result) && FinishSelect(node, node->Input(0));
}

// Imports SELECT. A condition with one axis selects whole rows; otherwise it has the shape of the
// choices, or one element.
bool ImportSelect(NodeImport* node) {
  if (!node->CheckInputs(3, 3)) return false;
  ValueId condition = node->Input(0);
  const Shape choice = node->shape(node->Input(1));
  if (node->shape(node->Input(2)) != choice) {
    return node->RefuseInput(2, kDeputyReasonShape, "the shape differs from the other choice's");
  }
  if (!CheckSingle(node, choice)) return false;
  Shape rows = node->shape(condition);
  const bool one = ElementCount(rows) == 1 && ElementCount(choice) > 1;
  if (!one && rows != choice) {
    if (rows.size() != 1 || choice.empty() || rows[0] != choice[0]) {
      return node->RefuseInput(0, kDeputyReasonShape,
                               "the condition's shape does not match the choices");
    }
    rows.resize(choice.size(), 1);
    condition = node->AddView(condition, rows);
  } else if (one && rows != choice) {
    condition = node->AddView(condition, {});
  }
  return FinishSelect(node, condition);
}

constexpr ImportRow kElementwiseRows[] = {
    {"ABS", kTfLiteBuiltinAbs, 5, &ImportNumberOp<kAbs>},
    {"ADD", kTfLiteBuiltinAdd, 6, &ImportArithmetic<kAdd, TfLiteAddParams>},
    {"ADD_N", kTfLiteBuiltinAddN, 1, &ImportAddN},
    {"ATAN2", kTfLiteBuiltinAtan2, 1, &ImportRealBinary<kAtan2>},
    {"BITWISE_XOR", kTfLiteBuiltinBitwiseXor, 1, &ImportBits<kXor>},
    {"CAST", kTfLiteBuiltinCast, 9, &ImportCast},
    {"CEIL", kTfLiteBuiltinCeil, 1, &ImportRealOp<kCeil>},
    {"COS", kTfLiteBuiltinCos, 2, &ImportTranscendentalOp<kCos>},
    {"DIV", kTfLiteBuiltinDiv, 2, &ImportDiv},
    {"ELU", kTfLiteBuiltinElu, 1, &ImportTranscendental<&Elu>},
    {"EQUAL", kTfLiteBuiltinEqual, 5, &ImportStored<kEqual>},
    {"EXP", kTfLiteBuiltinExp, 2, &ImportTranscendentalOp<kExp>},
    {"FLOOR", kTfLiteBuiltinFloor, 1, &ImportRealOp<kFloor>},
    {"FLOOR_DIV", kTfLiteBuiltinFloorDiv, 3, &ImportDivision<kFloorDiv>},
    {"FLOOR_MOD", kTfLiteBuiltinFloorMod, 2, &ImportDivision<kFloorMod>},
    {"GELU", kTfLiteBuiltinGelu, 3, &ImportGelu},
    {"GREATER", kTfLiteBuiltinGreater, 2, &ImportStored<kGreater>},
    {"GREATER_EQUAL", kTfLiteBuiltinGreaterEqual, 3, &ImportStored<kGreaterEqual>},
    {"HARD_SWISH", kTfLiteBuiltinHardSwish, 1, &ImportTranscendental<&HardSwish>},
    {"LEAKY_RELU", kTfLiteBuiltinLeakyRelu, 2, &ImportLeakyRelu},
    {"LESS", kTfLiteBuiltinLess, 3, &ImportStored<kLess>},
    {"LESS_EQUAL", kTfLiteBuiltinLessEqual, 2, &ImportStored<kLessEqual>},
    {"LOG", kTfLiteBuiltinLog, 2, &ImportTranscendentalOp<kLog>},
    {"LOGICAL_AND", kTfLiteBuiltinLogicalAnd, 1, &ImportLogical<kAnd>},
    {"LOGICAL_NOT", kTfLiteBuiltinLogicalNot, 1, &ImportLogicalNot},
    {"LOGICAL_OR", kTfLiteBuiltinLogicalOr, 1, &ImportLogical<kOr>},
    {"LOGISTIC", kTfLiteBuiltinLogistic, 3, &ImportTranscendentalOp<kLogistic>},
    {"MAXIMUM", kTfLiteBuiltinMaximum, 4, &ImportStored<kMax>, true},
    {"MINIMUM", kTfLiteBuiltinMinimum, 4, &ImportStored<kMin>, true},
    {"MUL", kTfLiteBuiltinMul, 8, &ImportArithmetic<kMul, TfLiteMulParams>},
    {"NEG", kTfLiteBuiltinNeg, 1, &ImportNeg},
    {"NOT_EQUAL", kTfLiteBuiltinNotEqual, 4, &ImportStored<kNotEqual>},
    {"POW", kTfLiteBuiltinPow, 1, &ImportRealBinary<kPow>},
    {"PRELU", kTfLiteBuiltinPrelu, 1, &ImportPrelu},
    {"RELU", kTfLiteBuiltinRelu, 3, &ImportReal<&Activation<kTfLiteActRelu>>},
    {"RELU6", kTfLiteBuiltinRelu6, 3, &ImportReal<&Activation<kTfLiteActRelu6>>},
    {"RELU_0_TO_1", kTfLiteBuiltinRelu0To1, 1, &ImportReal<&Relu0To1>},
    {"RELU_N1_TO_1", kTfLiteBuiltinReluN1To1, 1, &ImportReal<&Activation<kTfLiteActReluN1To1>>},
    {"RIGHT_SHIFT", kTfLiteBuiltinRightShift, 1, &ImportRightShift},
    {"ROUND", kTfLiteBuiltinRound, 1, &ImportRealOp<kRoundEven>},
    {"RSQRT", kTfLiteBuiltinRsqrt, 3, &ImportRoot<kRsqrt>},
    {"SELECT", kTfLiteBuiltinSelect, 4, &ImportSelect, true},
    {"SELECT_V2", kTfLiteBuiltinSelectV2, 2, &ImportSelectV2, true},
    {"SIGN", kTfLiteBuiltinSign, 2, &ImportNumberOp<kSign>},
    {"SIN", kTfLiteBuiltinSin, 2, &ImportTranscendentalOp<kSin>},
    {"SQRT", kTfLiteBuiltinSqrt, 2, &ImportRoot<kSqrt>},
    {"SQUARE", kTfLiteBuiltinSquare, 1, &ImportSquare},
    {"SQUARED_DIFFERENCE", kTfLiteBuiltinSquaredDifference, 2, &ImportSquaredDifference},
    {"SUB", kTfLiteBuiltinSub, 5, &ImportArithmetic<kSub, TfLiteSubParams>},
    {"TANH", kTfLiteBuiltinTanh, 3, &ImportTranscendentalOp<kTanh>},
};

}  // namespace

std::span<const ImportRow> ElementwiseRows() { return kElementwiseRows; }

}  // namespace deputy::compiler
