// SPDX-License-Identifier: Apache-2.0
//
// Element-wise operators, softmax and type conversions.
#include <cmath>

#include "bridges/onnxruntime/operators.h"

namespace deputy::onnxruntime {
namespace {

bool ExpectOneType(const Operation& op, int count) {
  if (!op.ExpectInputs(count, count)) return false;
  for (int i = 0; i < count; ++i) {
    if (!op.ExpectType(op.in(i), op.out(0).type)) return false;
  }
  return true;
}

// Returns the shape to which the first `count` inputs broadcast.
Dims BroadcastDims(const Operation& op, int count) {
  Dims result;
  for (int i = 0; i < count; ++i) {
    const Dims dims = DimsOf(op.in(i));
    if (dims.size() > result.size()) result.insert(result.begin(), dims.size() - result.size(), 1);
    for (size_t k = 0; k < dims.size(); ++k) {
      int64_t& extent = result[result.size() - dims.size() + k];
      if (extent == 1) extent = dims[k];
    }
  }
  return result;
}

// Defines the output as compute(numbers of the first `count` inputs), in the layout that the
// inputs share.
template <typename Compute>
void DefineElements(const Operation& op, int count, const Compute& compute) {
  if (!op.ExpectOutput(BroadcastDims(op, count))) return;
  const Layout layout = op.SharedLayout(count);
  std::vector<std::string> values;
  values.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) values.push_back(op.definition->Real(op.In(i), layout));
  const std::string result = compute(values);
  if (op.definition->ok()) op.definition->SetReal(op.Out(0), result, layout);
}

// Returns the fused activation of ADD, SUB, MUL or DIV, whose parameter structs differ.
TfLiteFusedActivation ActivationOf(const Operation& op) {
  switch (op.builtin) {
    case kTfLiteBuiltinAdd:
      return op.params<TfLiteAddParams>().activation;
    case kTfLiteBuiltinSub:
      return op.params<TfLiteSubParams>().activation;
    case kTfLiteBuiltinMul:
      return op.params<TfLiteMulParams>().activation;
    default:
      return op.params<TfLiteDivParams>().activation;
  }
}

}  // namespace

void DefineUnary(const Operation& op) {
  if (!ExpectOneType(op, 1)) return;
  DefineElements(op, 1, [&](const auto& values) { return op.definition->Add(op.onnx, values); });
}

void DefineComposed(const Operation& op) {
  if (!ExpectOneType(op, 1)) return;
  DefineElements(op, 1, [&](const auto& values) {
    if (op.builtin == kTfLiteBuiltinSquare) {
      return op.definition->Add("Mul", {values[0], values[0]});
    }
    return op.definition->Add("Reciprocal", {op.definition->Add("Sqrt", values)});
  });
}

void DefineClamp(const Operation& op) {
  const float low = op.builtin == kTfLiteBuiltinReluN1To1 ? -1.0F : 0.0F;
  const float high = op.builtin == kTfLiteBuiltinRelu6 ? 6.0F : 1.0F;
  if (!ExpectOneType(op, 1)) return;
  DefineElements(op, 1, [&](const auto& values) {
    return op.definition->Add(op.onnx,
                              {values[0], op.definition->Float(low), op.definition->Float(high)});
  });
}

void DefineLeakyRelu(const Operation& op) {
  const float slope = op.params<TfLiteLeakyReluParams>().alpha;
  if (!ExpectOneType(op, 1)) return;
  DefineElements(op, 1, [&](const auto& values) {
    return op.definition->Add(op.onnx, values, {{"alpha", slope}});
  });
}

// Defines GELU: x / 2 * (1 + erf(x / sqrt(2))), or with tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))
// instead of erf.
void DefineGelu(const Operation& op) {
  Definition& d = *op.definition;
  const bool is_approximate = op.params<TfLiteGeluParams>().approximate;
  if (!ExpectOneType(op, 1)) return;
  DefineElements(op, 1, [&](const auto& values) {
    const std::string& x = values[0];
    std::string curve;
    if (is_approximate) {
      const std::string cube = d.Add("Mul", {d.Add("Mul", {x, x}), x});
      const std::string sum = d.Add("Add", {x, d.Add("Mul", {cube, d.Float(0.044715F)})});
      curve = d.Add("Tanh", {d.Add("Mul", {sum, d.Float(std::sqrt(2 / 3.14159265F))})});
    } else {
      curve = d.Add("Erf", {d.Add("Mul", {x, d.Float(std::sqrt(0.5F))})});
    }
    const std::string half = d.Add("Mul", {x, d.Float(0.5F)});
    return d.Add("Mul", {half, d.Add("Add", {curve, d.Float(1)})});
  });
}

void DefineBinary(const Operation& op) {
  Definition& d = *op.definition;
  if (!ExpectOneType(op, 2)) return;
  DefineElements(op, 2, [&](const auto& values) {
    if (op.builtin != kTfLiteBuiltinSquaredDifference) return d.Add(op.onnx, values);
    const std::string difference = d.Add("Sub", values);
    return d.Add("Mul", {difference, difference});
  });
}

void DefineFused(const Operation& op) {
  const TfLiteFusedActivation activation = ActivationOf(op);
  if (!ExpectOneType(op, 2)) return;
  const ElementType type = TypeOf(op.in(0));
  if (activation != kTfLiteActNone && (type == kInt32 || type == kInt64)) {
    op.definition->Refuse(kDeputyReasonParameter, "fused activation: expected none for integers");
    return;
  }
  DefineElements(op, 2, [&](const auto& values) {
    std::string result = op.definition->Add(op.onnx, values);
    op.Activate(activation, &result);
    return result;
  });
}

void DefineAddN(const Operation& op) {
  if (!ExpectOneType(op, op.inputs())) return;
  DefineElements(op, op.inputs(),
                 [&](const auto& values) { return op.definition->Add(op.onnx, values); });
}

void DefineCompare(const Operation& op) {
  Definition& d = *op.definition;
  if (!op.ExpectInputs(2, 2) || !op.ExpectType(op.in(1), op.in(0).type) ||
      !op.ExpectType(op.out(0), kTfLiteBool)) {
    return;
  }
  DefineElements(op, 2, [&](const auto& values) {
    const std::string result = d.Add(op.onnx, values);
    return op.builtin == kTfLiteBuiltinNotEqual ? d.Add("Not", {result}) : result;
  });
}

void DefineLogical(const Operation& op) {
  const int count = op.builtin == kTfLiteBuiltinLogicalNot ? 1 : 2;
  if (!ExpectOneType(op, count)) return;
  DefineElements(op, count,
                 [&](const auto& values) { return op.definition->Add(op.onnx, values); });
}

void DefineSelect(const Operation& op) {
  if (!op.ExpectInputs(3, 3) || !op.ExpectType(op.in(0), kTfLiteBool) ||
      !op.ExpectType(op.in(1), op.out(0).type) || !op.ExpectType(op.in(2), op.out(0).type)) {
    return;
  }
  // SELECT also accepts one condition per slice of dimension 0, which ONNX would broadcast along
  // the last dimension.
  if (op.builtin == kTfLiteBuiltinSelect && op.in(0).dims->size != op.out(0).dims->size) {
    op.ExpectRank(op.in(0), op.out(0).dims->size);
    return;
  }
  DefineElements(op, 3, [&](const auto& values) { return op.definition->Add(op.onnx, values); });
}

void DefineSoftmax(const Operation& op) {
  Definition& d = *op.definition;
  const float beta = op.params<TfLiteSoftmaxParams>().beta;
  if (!ExpectOneType(op, 1)) return;
  if (op.in(0).dims->size == 0) {
    d.Refuse(kDeputyReasonShape, "expected a dimension, found a scalar");
    return;
  }
  std::string value = d.Real(op.In(0));
  if (beta != 1) value = d.Add("Mul", {value, d.Float(beta)});
  d.SetReal(op.Out(0), d.Add(op.onnx, {value}, {{"axis", int64_t{-1}}}));
}

void DefineLogSoftmax(const Operation& op) {
  Definition& d = *op.definition;
  if (!ExpectOneType(op, 1)) return;
  if (op.in(0).dims->size == 0) {
    d.Refuse(kDeputyReasonShape, "expected a dimension, found a scalar");
    return;
  }
  d.SetReal(op.Out(0), d.Add(op.onnx, {d.Real(op.In(0))}, {{"axis", int64_t{-1}}}));
}

void DefineCast(const Operation& op) {
  if (!op.ExpectInputs(1, 1)) return;
  // From float32 to integers, the result for numbers out of range is undefined in ONNX.
  const bool is_float = op.out(0).type == kTfLiteFloat32;
  const bool is_rounded = op.in(0).type == kTfLiteFloat32 && op.out(0).type != kTfLiteBool;
  if (!is_float && (IsQuantized(op.out(0)) || is_rounded)) {
    op.ExpectType(op.out(0), kTfLiteFloat32);
    return;
  }
  const ElementType type = op.out(0).type == kTfLiteBool ? kBool : TypeOf(op.out(0));
  DefineElements(op, 1, [&](const auto& values) {
    return op.definition->Add(op.onnx, values, {{"to", int64_t{type}}});
  });
}

// Defines QUANTIZE and DEQUANTIZE: the conversions between stored and real values do the work.
void DefineQuantize(const Operation& op) {
  if (!op.ExpectInputs(1, 1)) return;
  const bool is_quantize = op.builtin == kTfLiteBuiltinQuantize;
  if (is_quantize ? !IsQuantized(op.out(0)) : !IsQuantized(op.in(0))) {
    op.ExpectType(is_quantize ? op.out(0) : op.in(0), kTfLiteInt8);
    return;
  }
  if (!is_quantize && !op.ExpectType(op.out(0), kTfLiteFloat32)) return;
  DefineElements(op, 1, [](const auto& values) { return values[0]; });
}

}  // namespace deputy::onnxruntime
