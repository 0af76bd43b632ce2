// SPDX-License-Identifier: Apache-2.0
#include "bridges/hexagon/operators.h"

#include <limits>
#include <utility>
#include <vector>

#include "tensorflow/lite/builtin_ops.h"

namespace deputy::hexagon {
namespace {

constexpr uint8_t kSignBit = 0x80;

const TfLiteAffineQuantization* AffineOf(const TfLiteTensor& tensor) {
  if (tensor.quantization.type != kTfLiteAffineQuantization) return nullptr;
  return static_cast<const TfLiteAffineQuantization*>(tensor.quantization.params);
}

std::string NameOf(const TfLiteTensor& tensor) { return tensor.name == nullptr ? "" : tensor.name; }

// Returns the name of a type. TfLiteTypeGetName is not available to a delegate in every host.
const char* TypeName(TfLiteType type) {
  switch (type) {
    case kTfLiteFloat32:
      return "FLOAT32";
    case kTfLiteFloat16:
      return "FLOAT16";
    case kTfLiteInt8:
      return "INT8";
    case kTfLiteUInt8:
      return "UINT8";
    case kTfLiteInt16:
      return "INT16";
    case kTfLiteInt32:
      return "INT32";
    case kTfLiteInt64:
      return "INT64";
    case kTfLiteBool:
      return "BOOL";
    default:
      return "another type";
  }
}

bool IsEightBits(const TfLiteTensor& tensor) {
  return tensor.type == kTfLiteUInt8 || tensor.type == kTfLiteInt8;
}

// Checks that the shape is known and supported.
Refusal CheckShape(const TfLiteTensor& tensor) {
  if (tensor.allocation_type == kTfLiteDynamic) {
    return Refuse(kDeputyReasonDynamicShape,
                  "tensor '" + NameOf(tensor) + "': its shape is known only at run time");
  }
  if (tensor.dims == nullptr || tensor.dims->size > 4) {
    return Refuse(kDeputyReasonShape,
                  "tensor '" + NameOf(tensor) + "': expected at most 4 dimensions, found " +
                      std::to_string(tensor.dims == nullptr ? 0 : tensor.dims->size));
  }
  for (int i = 0; i < tensor.dims->size; ++i) {
    if (tensor.dims->data[i] > 0) continue;
    return Refuse(kDeputyReasonShape, "tensor '" + NameOf(tensor) + "' has no elements");
  }
  return {};
}

// Checks that a tensor other than a filter has one scale and one zero point.
Refusal CheckQuantization(const TfLiteTensor& tensor) {
  const TfLiteAffineQuantization* affine = AffineOf(tensor);
  const bool one = affine != nullptr && affine->scale != nullptr && affine->zero_point != nullptr &&
                   affine->scale->size == 1 && affine->zero_point->size == 1 &&
                   affine->scale->data[0] > 0;
  if (one) return {};
  return Refuse(kDeputyReasonQuantization,
                "tensor '" + NameOf(tensor) + "': expected one scale and zero point");
}

Refusal CheckData(const TfLiteTensor& tensor, const char* what) {
  if (!IsEightBits(tensor)) {
    return Refuse(kDeputyReasonType, std::string(what) + " '" + NameOf(tensor) +
                                         "': expected INT8 or UINT8, found " +
                                         TypeName(tensor.type));
  }
  if (Refusal refusal = CheckShape(tensor); refusal.reason != 0) return refusal;
  return CheckQuantization(tensor);
}

}  // namespace

const TfLiteTensor* Node::input(int i) const {
  const int index = node->inputs->data[i];
  return index < 0 ? nullptr : &context->tensors[index];
}

bool IsConstant(const TfLiteTensor& tensor) {
  return tensor.allocation_type == kTfLiteMmapRo && tensor.data.raw != nullptr && tensor.bytes > 0;
}

Dims DimsOf(const TfLiteTensor& tensor) {
  Dims dims = kScalar;
  const auto rank = static_cast<size_t>(tensor.dims->size);
  const size_t before = dims.size() - rank;
  for (size_t i = 0; i < rank; ++i) dims[before + i] = tensor.dims->data[i];
  return dims;
}

Range RangeOf(const TfLiteTensor& tensor) {
  const TfLiteAffineQuantization& affine = *AffineOf(tensor);
  const float scale = affine.scale->data[0];
  const auto zero_point = static_cast<float>(affine.zero_point->data[0]);
  float low = 0, high = 255;
  if (tensor.type == kTfLiteInt8) {
    low = -128;
    high = 127;
  } else if (tensor.type == kTfLiteInt32) {
    low = static_cast<float>(std::numeric_limits<int32_t>::min());
    high = static_cast<float>(std::numeric_limits<int32_t>::max());
  }
  return {scale * (low - zero_point), scale * (high - zero_point)};
}

// ---- Translation --------------------------------------------------------------------------------

NnInput Translation::Tensor(const Node& node, int input) {
  const int index = node.node->inputs->data[input];
  if (const auto known = tensors_.find(index); known != tensors_.end()) return known->second;
  const TfLiteTensor& tensor = *node.input(input);
  const auto* data = static_cast<const uint8_t*>(tensor.data.data);
  std::vector<uint8_t> bytes(data, data + tensor.bytes);
  if (tensor.type == kTfLiteInt8) {
    for (uint8_t& byte : bytes) byte ^= kSignBit;
  }
  const NnInput constant = graph_->AddConstant(DimsOf(tensor), bytes.data(), bytes.size());
  tensors_[index] = constant;
  return constant;
}

Quantized Translation::TensorWithRange(const Node& node, int input) {
  const NnInput data = Tensor(node, input);
  const Range range = RangeOf(*node.input(input));
  const NnInput min = graph_->AddFloat(range.min), max = graph_->AddFloat(range.max);
  return {data, min, max};
}

// ---- Checks -------------------------------------------------------------------------------------

Refusal Refuse(DeputyReason reason, std::string text) { return {reason, std::move(text)}; }

Refusal RefuseType(int input, TfLiteType expected, TfLiteType found) {
  return Refuse(kDeputyReasonType, "input " + std::to_string(input) + ": expected " +
                                       TypeName(expected) + ", found " + TypeName(found));
}

// Checks a fused activation. The DSP's operations, apart from convolutions, clamp to the output's
// range only, so that the activation is supported if this range lies within its bounds.
Refusal CheckActivation(const Node& node, TfLiteFusedActivation activation) {
  constexpr float kAll = std::numeric_limits<float>::infinity();
  Range allowed = {-kAll, kAll};
  switch (activation) {
    case kTfLiteActNone:
      return {};
    case kTfLiteActRelu:
      allowed = {0, kAll};
      break;
    case kTfLiteActRelu6:
      allowed = {0, 6};
      break;
    case kTfLiteActReluN1To1:
      allowed = {-1, 1};
      break;
    default:
      return Refuse(kDeputyReasonParameter,
                    "expected NONE, RELU, RELU6 or RELU_N1_TO_1, found "
                    "another fused activation");
  }
  const Range range = RangeOf(node.output());
  // Rounding may move the end of a range by half a quantisation step.
  const float step = (range.max - range.min) / 255;
  if (range.min >= allowed.min - step / 2 && range.max <= allowed.max + step / 2) return {};
  return Refuse(
      kDeputyReasonParameter,
      "fused activation: expected an output whose range lies within the bounds of the activation");
}

Refusal CheckSameRange(const Node& node, int input) {
  if (RangeOf(*node.input(input)) == RangeOf(node.output())) return {};
  return Refuse(kDeputyReasonQuantization,
                "expected input and output of the same scale and zero point");
}

Refusal CheckConstantInts(const Node& node, int input) {
  const TfLiteTensor* tensor = input < node.input_count() ? node.input(input) : nullptr;
  if (tensor == nullptr || !IsConstant(*tensor)) {
    return Refuse(kDeputyReasonNotConstant,
                  "input " + std::to_string(input) + ": expected a constant");
  }
  if (tensor->type == kTfLiteInt32) return {};
  return RefuseType(input, kTfLiteInt32, tensor->type);
}

const OperatorRow* FindOperator(int32_t code) {
  for (const std::span<const OperatorRow> rows :
       {WindowOperators(), ElementOperators(), ShapeOperators()}) {
    for (const OperatorRow& row : rows) {
      if (row.code == code) return &row;
    }
  }
  return nullptr;
}

void ForEachOperator(void (*visit)(const OperatorRow& row, void* data), void* data) {
  for (const std::span<const OperatorRow> rows :
       {WindowOperators(), ElementOperators(), ShapeOperators()}) {
    for (const OperatorRow& row : rows) visit(row, data);
  }
}

Refusal CheckNode(const Node& node) {
  const OperatorRow* row = FindOperator(node.registration->builtin_code);
  if (row == nullptr)
    return Refuse(kDeputyReasonOperator, "the operator is not supported on Hexagon");
  if (node.registration->version > row->max_version) {
    return Refuse(kDeputyReasonVersion, "expected version " + std::to_string(row->max_version) +
                                            " at most, found " +
                                            std::to_string(node.registration->version));
  }
  if (row->has_options && node.node->builtin_data == nullptr) {
    return Refuse(kDeputyReasonParameter, "expected options, found none");
  }
  if (node.input_count() < 1 || node.node->outputs->size != 1 || node.input(0) == nullptr) {
    return Refuse(kDeputyReasonOther, "expected inputs and one output");
  }
  Refusal refusal = CheckData(*node.input(0), "input");
  if (refusal.reason == 0) refusal = CheckData(node.output(), "output");
  if (refusal.reason == 0 && IsConstant(*node.input(0)) && node.input_count() == 1) {
    refusal = Refuse(kDeputyReasonNotConstant, "expected an input that is not a constant");
  }
  if (refusal.reason == 0 && node.input(0)->type != node.output().type) {
    refusal = Refuse(kDeputyReasonType, "expected input and output of one type");
  }
  return refusal.reason == 0 ? row->check(node) : refusal;
}

}  // namespace deputy::hexagon
