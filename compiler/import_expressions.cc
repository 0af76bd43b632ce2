// SPDX-License-Identifier: Apache-2.0
//
// Conversions and activations that several operators append to expressions, and broadcasting of
// shapes.
#include <algorithm>
#include <utility>

#include "compiler/node_import.h"

namespace deputy::compiler {

bool BroadcastShapes(const Shape& a, const Shape& b, Shape* out_shape) {
  Shape result(std::max(a.size(), b.size()), 1);
  for (size_t back = 1; back <= result.size(); ++back) {
    const int left = back <= a.size() ? a[a.size() - back] : 1;
    const int right = back <= b.size() ? b[b.size() - back] : 1;
    if (left != right && left != 1 && right != 1) return false;
    result[result.size() - back] = left == 1 ? right : left;
  }
  *out_shape = std::move(result);
  return true;
}

int AppendQuantize(Expression* expression, int node, TfLiteType type, Quantization quantization) {
  const auto number = [&](double value) { return expression->Constant(kTfLiteFloat32, value); };
  node = expression->Apply(ScalarOp::kDiv, node, number(quantization.scale));
  node = expression->Apply(ScalarOp::kRoundAway, node);
  node = expression->Apply(ScalarOp::kAdd, node, number(quantization.zero_point));
  // The comparison is written so that NaN becomes the smallest value.
  const int smallest = number(static_cast<double>(SmallestOf(type)));
  node = expression->Apply(ScalarOp::kSelect, expression->Apply(ScalarOp::kLess, smallest, node),
                           node, smallest);
  node = expression->Apply(ScalarOp::kMin, node, number(static_cast<double>(LargestOf(type))));
  return expression->Cast(node, type);
}

int AppendDequantize(Expression* expression, int node, Quantization quantization) {
  node = expression->Cast(node, kTfLiteFloat32);
  node = expression->Apply(ScalarOp::kSub, node,
                           expression->Constant(kTfLiteFloat32, quantization.zero_point));
  return expression->Apply(ScalarOp::kMul, node,
                           expression->Constant(kTfLiteFloat32, quantization.scale));
}

int AppendActivation(Expression* expression, int node, TfLiteFusedActivation activation) {
  // NaN is preserved if the bound is the first argument.
  const auto at_least = [&](double bound, int x) {
    return expression->Apply(ScalarOp::kMax, expression->Constant(kTfLiteFloat32, bound), x);
  };
  const auto clamp = [&](double min, double max) {
    return expression->Apply(ScalarOp::kMin, expression->Constant(kTfLiteFloat32, max),
                             at_least(min, node));
  };
  switch (activation) {
    case kTfLiteActNone:
      return node;
    case kTfLiteActRelu:
      return at_least(0, node);
    case kTfLiteActReluN1To1:
      return clamp(-1, 1);
    case kTfLiteActRelu6:
      return clamp(0, 6);
    default:  // TensorFlow Lite's kernels ignore most of the others
      return -1;
  }
}

}  // namespace deputy::compiler
