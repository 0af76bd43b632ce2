// SPDX-License-Identifier: Apache-2.0
//
// Element-wise operators, and operators along the last dimension.
#include <algorithm>
#include <cmath>
#include <limits>

#include "bridges/xnnpack/operators.h"
#include "deputy/builtin_ops.h"
#include "deputy/deputy_plugin.h"

namespace deputy::xnnpack {
namespace {

// Returns the shape to which two shapes broadcast; false if they do not.
bool Broadcast(const Shape& a, const Shape& b, Shape* out) {
  const size_t rank = std::max(a.size(), b.size());
  out->assign(rank, 1);
  for (size_t i = 0; i < rank; ++i) {
    const size_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const size_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return false;
    (*out)[rank - 1 - i] = std::max(x, y);
  }
  return true;
}

bool ExpectBroadcast(const Operation& operation) {
  Shape expected;
  if (!operation.ExpectInputs(2, 2) || !operation.ExpectOneType(2)) return false;
  if (!Broadcast(operation.in[0], operation.in[1], &expected)) {
    return operation.definition->Refuse(kDeputyReasonShape,
                                        "the shapes of the inputs do not broadcast");
  }
  if (operation.inputs[0].IsConst() && operation.inputs[1].IsConst()) {
    return operation.definition->Refuse(kDeputyReasonOther, "both inputs are constants");
  }
  return operation.ExpectShape(operation.out[0], expected, "output");
}

bool ExpectSameShape(const Operation& operation) {
  return operation.ExpectInputs(1, 1) && operation.ExpectOneType(1) &&
         operation.ExpectShape(operation.out[0], operation.in[0], "output");
}

xnn_status DefineFunction(const Operation& operation, uint32_t in, uint32_t out) {
  const xnn_subgraph_t subgraph = operation.definition->subgraph();
  switch (operation.argument) {
    case kTfLiteBuiltinAbs:
      return xnn_define_abs(subgraph, in, out, 0);
    case kTfLiteBuiltinCeil:
      return xnn_define_ceiling(subgraph, in, out, 0);
    case kTfLiteBuiltinElu:
      return xnn_define_elu(subgraph, 1.0F, in, out, 0);
    case kTfLiteBuiltinFloor:
      return xnn_define_floor(subgraph, in, out, 0);
    case kTfLiteBuiltinHardSwish:
      return xnn_define_hardswish(subgraph, in, out, 0);
    case kTfLiteBuiltinLeakyRelu:
      return xnn_define_leaky_relu(subgraph, operation.attributes->GetFloat("negative_slope"), in,
                                   out, 0);
    case kTfLiteBuiltinLogistic:
      return xnn_define_sigmoid(subgraph, in, out, 0);
    case kTfLiteBuiltinNeg:
      return xnn_define_negate(subgraph, in, out, 0);
    case kTfLiteBuiltinRound:
      return xnn_define_bankers_rounding(subgraph, in, out, 0);
    case kTfLiteBuiltinSqrt:
      return xnn_define_square_root(subgraph, in, out, 0);
    case kTfLiteBuiltinSquare:
      return xnn_define_square(subgraph, in, out, 0);
    default:
      return xnn_status_unsupported_parameter;
  }
}

}  // namespace

bool DefineUnary(const Operation& operation) {
  uint32_t in = 0, out = 0;
  if (!ExpectSameShape(operation)) return false;
  if (operation.argument == kTfLiteBuiltinLeakyRelu &&
      !std::isfinite(operation.attributes->GetFloat("negative_slope"))) {
    return operation.definition->Refuse(kDeputyReasonParameter, "expected a finite slope");
  }
  return operation.Values(1, &in, &out) &&
         operation.definition->Accept(DefineFunction(operation, in, out));
}

bool DefineClamp(const Operation& operation) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const int which = operation.argument;
  const float low = which == kTfLiteBuiltinReluN1To1 ? -1.0F : 0.0F;
  float high = kInfinity;
  if (which == kTfLiteBuiltinRelu6) high = 6;
  if (which == kTfLiteBuiltinReluN1To1 || which == kTfLiteBuiltinRelu0To1) high = 1;
  uint32_t in = 0, out = 0;
  return ExpectSameShape(operation) && operation.ExpectSameQuantization() &&
         operation.Values(1, &in, &out) &&
         operation.definition->Accept(
             xnn_define_clamp(operation.definition->subgraph(), low, high, in, out, 0));
}

bool DefineBinary(const Operation& operation) {
  auto* define = xnn_define_maximum2;
  if (operation.argument == kTfLiteBuiltinMinimum) define = xnn_define_minimum2;
  if (operation.argument == kTfLiteBuiltinSquaredDifference) define = xnn_define_squared_difference;
  uint32_t in[2] = {}, out = 0;
  return ExpectBroadcast(operation) && operation.ExpectFloat(2) && operation.Values(2, in, &out) &&
         operation.definition->Accept(
             define(operation.definition->subgraph(), in[0], in[1], out, 0));
}

bool DefineBounded(const Operation& operation) {
  auto* define = xnn_define_add2;
  if (operation.argument == kTfLiteBuiltinSub) define = xnn_define_subtract;
  if (operation.argument == kTfLiteBuiltinMul) define = xnn_define_multiply2;
  if (operation.argument == kTfLiteBuiltinDiv) define = xnn_define_divide;
  float low = 0, high = 0;
  uint32_t in[2] = {}, out = 0;
  // XNNPACK of 2024 also divides int8, but not as TensorFlow Lite does.
  const bool is_division = operation.argument == kTfLiteBuiltinDiv;
  if (is_division && !(operation.ExpectInputs(2, 2) && operation.ExpectFloat(2))) return false;
  return ExpectBroadcast(operation) && operation.Bounds(&low, &high) &&
         operation.Values(2, in, &out) &&
         operation.definition->Accept(
             define(operation.definition->subgraph(), low, high, in[0], in[1], out, 0));
}

bool DefineSoftmax(const Operation& operation) {
  uint32_t in = 0, out = 0;
  if (!ExpectSameShape(operation) || !operation.ExpectFloat(1)) return false;
  const float beta = operation.attributes->GetFloat("beta");
  if (beta != 1) {
    return operation.definition->Refuse(kDeputyReasonParameter, "beta: expected 1, found %g",
                                        static_cast<double>(beta));
  }
  if (operation.in[0].empty()) {
    return operation.definition->Refuse(kDeputyReasonShape, "expected a dimension, found a scalar");
  }
  return operation.Values(1, &in, &out) && operation.definition->Accept(xnn_define_softmax(
                                               operation.definition->subgraph(), in, out, 0));
}

// Defines PRELU, whose slopes have the shape [C], after any number of dimensions of 1.
bool DefinePrelu(const Operation& operation) {
  if (!operation.ExpectInputs(2, 2) || !operation.ExpectFloat(2) ||
      !operation.ExpectShape(operation.out[0], operation.in[0], "output")) {
    return false;
  }
  if (operation.in[0].empty() || operation.in[1].empty() ||
      CountOf(operation.in[1]) != operation.in[1].back() ||
      operation.in[1].back() != operation.in[0].back()) {
    return operation.definition->Refuse(kDeputyReasonShape, "expected one slope per channel");
  }
  uint32_t in = 0, slope = 0, out = 0;
  return operation.definition->ValueOf(operation.inputs[1], Role::kBias, &slope) &&
         operation.Values(1, &in, &out) &&
         operation.definition->Accept(
             xnn_define_prelu(operation.definition->subgraph(), in, slope, out, 0));
}

bool DefineConvert(const Operation& operation) {
  uint32_t in = 0, out = 0;
  if (!operation.ExpectInputs(1, 1) ||
      !operation.ExpectShape(operation.out[0], operation.in[0], "output")) {
    return false;
  }
  const bool quantises = operation.argument == kTfLiteBuiltinQuantize;
  const MSTensor& real = quantises ? operation.inputs[0] : operation.outputs[0];
  if (!operation.is_float(real) ||
      operation.is_float(quantises ? operation.outputs[0] : operation.inputs[0])) {
    return operation.definition->Refuse(kDeputyReasonType, "expected FLOAT32 to or from 8 bits");
  }
  return operation.Values(1, &in, &out) && operation.definition->Accept(xnn_define_convert(
                                               operation.definition->subgraph(), in, out, 0));
}

}  // namespace deputy::xnnpack
