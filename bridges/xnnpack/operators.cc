// SPDX-License-Identifier: Apache-2.0
//
// Table of TensorFlow Lite operators: latest supported version, and the function that defines the
// operator.
#include "bridges/xnnpack/operators.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "deputy/builtin_ops.h"
#include "deputy/deputy_plugin.h"

namespace deputy::xnnpack {
namespace {

using mindspore::DataType;

struct Row {
  int builtin_code;
  int version;
  bool (*define)(const Operation& operation);
  int argument;
};

constexpr Row kRows[] = {
    {kTfLiteBuiltinAbs, 5, DefineUnary, kTfLiteBuiltinAbs},
    {kTfLiteBuiltinAdd, 5, DefineBounded, kTfLiteBuiltinAdd},
    {kTfLiteBuiltinAveragePool2d, 3, DefinePool, kTfLiteBuiltinAveragePool2d},
    {kTfLiteBuiltinCeil, 1, DefineUnary, kTfLiteBuiltinCeil},
    {kTfLiteBuiltinConv2d, 8, DefineConv, 0},
    {kTfLiteBuiltinDepthToSpace, 2, DefineDepthToSpace, 0},
    {kTfLiteBuiltinDepthwiseConv2d, 7, DefineDepthwise, 0},
    {kTfLiteBuiltinDequantize, 6, DefineConvert, kTfLiteBuiltinDequantize},
    {kTfLiteBuiltinDiv, 2, DefineBounded, kTfLiteBuiltinDiv},
    {kTfLiteBuiltinElu, 1, DefineUnary, kTfLiteBuiltinElu},
    {kTfLiteBuiltinFloor, 1, DefineUnary, kTfLiteBuiltinFloor},
    {kTfLiteBuiltinFullyConnected, 14, DefineFullyConnected, 0},
    {kTfLiteBuiltinHardSwish, 1, DefineUnary, kTfLiteBuiltinHardSwish},
    {kTfLiteBuiltinLeakyRelu, 2, DefineUnary, kTfLiteBuiltinLeakyRelu},
    {kTfLiteBuiltinLogistic, 3, DefineUnary, kTfLiteBuiltinLogistic},
    {kTfLiteBuiltinMaxPool2d, 3, DefinePool, kTfLiteBuiltinMaxPool2d},
    {kTfLiteBuiltinMaximum, 4, DefineBinary, kTfLiteBuiltinMaximum},
    {kTfLiteBuiltinMean, 3, DefineMean, 0},
    {kTfLiteBuiltinMinimum, 4, DefineBinary, kTfLiteBuiltinMinimum},
    {kTfLiteBuiltinMul, 7, DefineBounded, kTfLiteBuiltinMul},
    {kTfLiteBuiltinNeg, 1, DefineUnary, kTfLiteBuiltinNeg},
    {kTfLiteBuiltinPad, 4, DefinePad, 2},
    {kTfLiteBuiltinPadv2, 4, DefinePad, 3},
    {kTfLiteBuiltinPrelu, 1, DefinePrelu, 0},
    {kTfLiteBuiltinQuantize, 3, DefineConvert, kTfLiteBuiltinQuantize},
    {kTfLiteBuiltinRelu, 3, DefineClamp, kTfLiteBuiltinRelu},
    {kTfLiteBuiltinRelu0To1, 1, DefineClamp, kTfLiteBuiltinRelu0To1},
    {kTfLiteBuiltinRelu6, 3, DefineClamp, kTfLiteBuiltinRelu6},
    {kTfLiteBuiltinReluN1To1, 1, DefineClamp, kTfLiteBuiltinReluN1To1},
    {kTfLiteBuiltinReshape, 1, DefineReshape, 0},
    {kTfLiteBuiltinResizeBilinear, 4, DefineResize, 0},
    {kTfLiteBuiltinRound, 1, DefineUnary, kTfLiteBuiltinRound},
    {kTfLiteBuiltinSoftmax, 3, DefineSoftmax, 0},
    {kTfLiteBuiltinSqrt, 1, DefineUnary, kTfLiteBuiltinSqrt},
    {kTfLiteBuiltinSquare, 1, DefineUnary, kTfLiteBuiltinSquare},
    {kTfLiteBuiltinSquaredDifference, 2, DefineBinary, kTfLiteBuiltinSquaredDifference},
    {kTfLiteBuiltinSub, 3, DefineBounded, kTfLiteBuiltinSub},
    {kTfLiteBuiltinTransposeConv, 4, DefineTransposeConv, 0},
};

bool ReadShapes(Definition* definition, const std::vector<MSTensor>& tensors,
                std::vector<Shape>* shapes) {
  for (const MSTensor& tensor : tensors) {
    shapes->emplace_back();
    if (!ShapeOf(definition, tensor, &shapes->back())) return false;
  }
  return true;
}

bool DefineOperator(Definition* definition, mindspore::kernel::Kernel* kernel,
                    const mindspore::Attributes& attributes) {
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) {
    return r.builtin_code == attributes.builtin_code();
  });
  if (row == std::end(kRows)) {
    return definition->Refuse(kDeputyReasonOperator, "the operator is not supported with XNNPACK");
  }
  if (attributes.version() > row->version) {
    return definition->Refuse(kDeputyReasonVersion, "expected version %d at most, found %d",
                              row->version, attributes.version());
  }
  definition->AddToFingerprint<int32_t>({row->builtin_code});
  Operation operation = {definition, &attributes, kernel->inputs(), kernel->outputs(),
                         {},         {},          row->argument};
  if (operation.outputs.size() != 1) {
    return definition->Refuse(kDeputyReasonOther, "expected one output, found %zu",
                              operation.outputs.size());
  }
  if (!ReadShapes(definition, operation.inputs, &operation.in) ||
      !ReadShapes(definition, operation.outputs, &operation.out)) {
    return false;
  }
  if (operation.out[0].empty() || operation.in.empty() || operation.in[0].empty()) {
    // XNNPACK asserts that the rank is at least 1.
    return definition->Refuse(kDeputyReasonShape, "expected a dimension, found a scalar");
  }
  return row->define(operation);
}

}  // namespace

void ListOperators(DeputyDelegateOperatorCallback callback, void* user_data) {
  for (const Row& row : kRows) {
    const DeputyDelegateOperator op = {sizeof op, row.builtin_code, row.version, nullptr};
    callback(user_data, &op);
  }
}

Refusal AddKernel(Definition* definition, mindspore::kernel::Kernel* kernel,
                  const mindspore::Attributes& attributes) {
  if (definition->refusal().reason == 0 && !DefineOperator(definition, kernel, attributes)) {
    definition->Refuse(kDeputyReasonOther, "the node is not supported by XNNPACK");
  }
  return definition->refusal();
}

// ---- Operation ----------------------------------------------------------------------------------

bool Operation::is_float(const MSTensor& tensor) const {
  return tensor.DataType() == DataType::kNumberTypeFloat32;
}

bool Operation::ExpectInputs(size_t min, size_t max) const {
  if (inputs.size() >= min && inputs.size() <= max) return true;
  return definition->Refuse(kDeputyReasonOther, "expected %zu to %zu inputs, found %zu", min, max,
                            inputs.size());
}

bool Operation::ExpectRank(const Shape& shape, size_t rank) const {
  if (shape.size() == rank) return true;
  return definition->Refuse(kDeputyReasonShape, "expected a tensor of rank %zu, found rank %zu",
                            rank, shape.size());
}

bool Operation::ExpectShape(const Shape& found, const Shape& expected, const char* what) const {
  if (found == expected) return true;
  const auto text = [](const Shape& shape) {
    std::string list = "[";
    for (const size_t dim : shape) list += (list.size() > 1 ? ", " : "") + std::to_string(dim);
    return list + "]";
  };
  return definition->Refuse(kDeputyReasonShape, "%s: expected the shape %s, found %s", what,
                            text(expected).c_str(), text(found).c_str());
}

bool Operation::ExpectOneType(size_t count) const {
  const DataType type = outputs[0].DataType();
  const bool known = type == DataType::kNumberTypeFloat32 || type == DataType::kNumberTypeInt8 ||
                     type == DataType::kNumberTypeUInt8;
  for (size_t i = 0; known && i < count; ++i) {
    if (inputs[i].DataType() != type) {
      return definition->Refuse(kDeputyReasonType, "expected inputs of the output's type");
    }
  }
  return known || definition->Refuse(kDeputyReasonType, "expected FLOAT32, INT8 or UINT8");
}

bool Operation::ExpectFloat(size_t count) const {
  if (!ExpectOneType(count)) return false;
  return is_float(outputs[0]) || definition->Refuse(kDeputyReasonType, "expected FLOAT32");
}

bool Operation::ExpectSameQuantization() const {
  if (is_float(outputs[0])) return true;
  const auto a = inputs[0].QuantParams(), b = outputs[0].QuantParams();
  const bool same = a.size() == 1 && b.size() == 1 && a[0].scale == b[0].scale &&
                    a[0].zero_point == b[0].zero_point;
  return same || definition->Refuse(kDeputyReasonQuantization,
                                    "expected the input's scale and zero point in the output");
}

bool Operation::ExpectConstant(size_t input) const {
  return inputs[input].IsConst() ||
         definition->Refuse(kDeputyReasonNotConstant, "tensor '%s': expected a constant",
                            inputs[input].Name().c_str());
}

bool Operation::Bounds(float* low, float* high) const {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr int64_t kNone = 0, kRelu = 1, kRelu6 = 3, kRelu1 = 7;  // MindSpore's values
  const int64_t activation = attributes->GetInt("activation_type");
  *low = -kInfinity;
  *high = kInfinity;
  if (activation == kNone) return true;
  *low = activation == kRelu1 ? -1.0F : 0.0F;
  if (activation == kRelu6) *high = 6;
  if (activation == kRelu1) *high = 1;
  if (activation == kRelu || activation == kRelu6 || activation == kRelu1) return true;
  return definition->Refuse(kDeputyReasonParameter,
                            "fused activation: expected RELU, RELU6 or RELU_N1_TO_1");
}

bool Operation::Values(size_t count, uint32_t* ids, uint32_t* out_id) const {
  for (size_t i = 0; i < count; ++i) {
    if (!definition->ValueOf(inputs[i], Role::kData, &ids[i])) return false;
  }
  return definition->ValueOf(outputs[0], Role::kData, out_id);
}

bool Operation::ReadInts(size_t input, std::vector<int64_t>* values) const {
  const MSTensor& tensor = inputs[input];
  const std::shared_ptr<const void> data = tensor.Data();
  const bool is_wide = tensor.DataType() == DataType::kNumberTypeInt64;
  const size_t element = is_wide ? sizeof(int64_t) : sizeof(int32_t);
  const size_t count = CountOf(in[input]);
  if (!tensor.IsConst() || data == nullptr || tensor.DataSize() != count * element ||
      (!is_wide && tensor.DataType() != DataType::kNumberTypeInt32)) {
    return definition->Refuse(kDeputyReasonNotConstant,
                              "tensor '%s': expected constant INT32 or INT64",
                              tensor.Name().c_str());
  }
  const auto* bytes = static_cast<const uint8_t*>(data.get());
  for (size_t i = 0; i < count; ++i) {
    int64_t wide = 0;
    int32_t narrow = 0;
    std::memcpy(is_wide ? static_cast<void*>(&wide) : &narrow, bytes + i * element, element);
    values->push_back(is_wide ? wide : narrow);
  }
  return true;
}

bool Operation::ReadNumbers(const char* name, size_t count, int64_t min,
                            std::vector<uint32_t>* values) const {
  constexpr int64_t kMaxNumber = 1 << 20;
  const std::vector<int64_t> numbers = attributes->GetInts(name);
  if (numbers.size() != count) {
    return definition->Refuse(kDeputyReasonParameter, "%s: expected %zu numbers, found %zu", name,
                              count, numbers.size());
  }
  for (const int64_t number : numbers) {
    if (number < min || number > kMaxNumber) {
      return definition->Refuse(kDeputyReasonParameter, "%s: expected %lld to %lld, found %lld",
                                name, static_cast<long long>(min),
                                static_cast<long long>(kMaxNumber), static_cast<long long>(number));
    }
    values->push_back(static_cast<uint32_t>(number));
  }
  definition->AddToFingerprint(numbers);
  return true;
}

}  // namespace deputy::xnnpack
