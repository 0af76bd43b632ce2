// SPDX-License-Identifier: Apache-2.0
#include "bridges/nnapi/definition.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "bridges/nnapi/library.h"

namespace deputy::nnapi {
namespace {

const TfLiteAffineQuantization* AffineOf(const TfLiteTensor& tensor) {
  if (tensor.quantization.type != kTfLiteAffineQuantization) return nullptr;
  return static_cast<const TfLiteAffineQuantization*>(tensor.quantization.params);
}

// Returns the number of scales of a tensor.
int ScaleCount(const TfLiteTensor& tensor) {
  const TfLiteAffineQuantization* affine = AffineOf(tensor);
  return affine == nullptr || affine->scale == nullptr ? 0 : affine->scale->size;
}

bool AllZero(const TfLiteIntArray* values) {
  return values == nullptr || std::all_of(values->data, values->data + values->size,
                                          [](int value) { return value == 0; });
}

uint32_t CountOf(const Shape& shape) {
  uint32_t count = 1;
  for (const uint32_t extent : shape) count *= extent;
  return count;
}

}  // namespace

bool IsQuantized(const TfLiteTensor& tensor) {
  return tensor.type == kTfLiteUInt8 || tensor.type == kTfLiteInt8;
}

bool IsConstant(const TfLiteTensor& tensor) {
  return tensor.allocation_type == kTfLiteMmapRo && tensor.data.raw_const != nullptr &&
         tensor.bytes > 0;
}

std::string NameOf(const TfLiteTensor& tensor) {
  return "tensor '" + std::string(tensor.name == nullptr ? "" : tensor.name) + "'";
}

bool Definition::Refuse(DeputyReason reason, const std::string& text) {
  if (ok()) refusal_ = {reason, text};
  return false;
}

bool Definition::ExpectLevel(int level, std::string_view what) {
  if (level <= feature_level_) return true;
  return Refuse(kDeputyReasonVersion, std::string(what) + ": expected NNAPI's feature level " +
                                          std::to_string(level) + ", found " +
                                          std::to_string(feature_level_));
}

bool Definition::Check(const char* function, int code) {
  if (code != kNoError && error_.empty()) error_ = ErrorText(function, code);
  return error_.empty();
}

bool Definition::TypeOf(const TfLiteTensor& tensor, Type* out_type) {
  // NNAPI has no tensors without dimensions: a scalar becomes a tensor of one element.
  for (int i = 0; i < tensor.dims->size; ++i) {
    out_type->dims.push_back(static_cast<uint32_t>(tensor.dims->data[i]));
  }
  if (out_type->dims.empty()) out_type->dims = {1};
  switch (tensor.type) {
    case kTfLiteFloat32:
      out_type->code = kTensorFloat32;
      return true;
    case kTfLiteInt32:
      out_type->code = kTensorInt32;
      return true;
    case kTfLiteBool:
      out_type->code = kTensorBool8;
      return ExpectLevel(kFeatureLevel3, "BOOL");
    case kTfLiteUInt8:
      out_type->code = kTensorQuant8Asymm;
      break;
    case kTfLiteInt8:
      out_type->code = kTensorQuant8AsymmSigned;
      if (!ExpectLevel(kFeatureLevel4, "INT8")) return false;
      break;
    default:
      return Refuse(kDeputyReasonType, NameOf(tensor) + ": type " + std::to_string(tensor.type) +
                                           " is not supported by NNAPI");
  }
  if (ScaleCount(tensor) > 1) {
    return Refuse(kDeputyReasonQuantization, NameOf(tensor) + ": expected one scale, found " +
                                                 std::to_string(ScaleCount(tensor)));
  }
  const int min_zero_point = tensor.type == kTfLiteInt8 ? INT8_MIN : 0;
  out_type->scale = tensor.params.scale;
  out_type->zero_point = tensor.params.zero_point;
  if (!(out_type->scale > 0) || out_type->zero_point < min_zero_point ||
      out_type->zero_point > min_zero_point + UINT8_MAX) {
    return Refuse(
        kDeputyReasonQuantization,
        NameOf(tensor) + ": expected a positive scale and a zero point in the range of its type");
  }
  return true;
}

uint32_t Definition::AddOperand(const Type& type) {
  if (model_ != nullptr && ok()) {
    const ANeuralNetworksOperandType operand = {type.code, static_cast<uint32_t>(type.dims.size()),
                                                type.dims.empty() ? nullptr : type.dims.data(),
                                                type.scale, type.zero_point};
    Check("Model_addOperand", functions_->Model_addOperand(model_, &operand));
  }
  return next_operand_++;
}

uint32_t Definition::AddConstant(const Type& type, const void* data, size_t bytes) {
  const uint32_t operand = AddOperand(type);
  if (model_ == nullptr || !ok()) return operand;
  if (bytes > kCopiedValueBytes) {
    std::vector<int32_t>& kept = values_.emplace_back((bytes + 3) / 4);
    memcpy(kept.data(), data, bytes);
    data = kept.data();
  }
  Check("Model_setOperandValue",
        functions_->Model_setOperandValue(model_, static_cast<int32_t>(operand), data, bytes));
  return operand;
}

// Sets the value of a constant of the host, without copying it.
void Definition::SetTensorValue(int tensor, uint32_t operand) {
  if (model_ == nullptr || !ok()) return;
  const TfLiteTensor& constant = context_->tensors[tensor];
  const auto index = static_cast<int32_t>(operand);
  if (constants_ != nullptr && constants_->offsets.count(tensor) != 0) {
    Check("Model_setOperandValueFromMemory",
          functions_->Model_setOperandValueFromMemory(
              model_, index, constants_->memory, constants_->offsets.at(tensor), constant.bytes));
  } else {
    Check("Model_setOperandValue", functions_->Model_setOperandValue(
                                       model_, index, constant.data.raw_const, constant.bytes));
  }
}

uint32_t Definition::AddTensor(int tensor) {
  const auto known = operands_.find(tensor);
  if (known != operands_.end()) return known->second;
  Type type;
  if (!TypeOf(context_->tensors[tensor], &type)) return 0;
  const uint32_t operand = AddOperand(type);
  operands_[tensor] = operand;
  if (IsConstant(context_->tensors[tensor])) SetTensorValue(tensor, operand);
  return operand;
}

void Definition::Input(int tensor) {
  if (ok()) inputs_.push_back(AddTensor(tensor));
}

void Definition::Output(int tensor) {
  if (ok()) outputs_.push_back(AddTensor(tensor));
}

void Definition::Operand(uint32_t operand) { inputs_.push_back(operand); }

uint32_t Definition::Intermediate(const TfLiteTensor& like, const Shape& shape) {
  Type type;
  if (!ok() || !TypeOf(like, &type)) return 0;
  type.dims = shape;
  const uint32_t operand = AddOperand(type);
  outputs_.push_back(operand);
  return operand;
}

void Definition::PerChannelWeights(int tensor, int channel) {
  const TfLiteTensor& weights = context_->tensors[tensor];
  const TfLiteAffineQuantization& affine = *AffineOf(weights);
  if (channel < 0) {
    Refuse(kDeputyReasonQuantization,
           NameOf(weights) + ": expected one scale, found " + std::to_string(affine.scale->size));
    return;
  }
  if (affine.quantized_dimension != channel || channel >= weights.dims->size ||
      affine.scale->size != weights.dims->data[channel] || !AllZero(affine.zero_point)) {
    Refuse(kDeputyReasonQuantization, NameOf(weights) + ": expected scales along dimension " +
                                          std::to_string(channel) + ", with zero points of 0");
    return;
  }
  if (!IsConstant(weights)) {
    Refuse(kDeputyReasonNotConstant, NameOf(weights) + ": expected a constant");
    return;
  }
  if (!ExpectLevel(kFeatureLevel3, "scales per channel")) return;
  Type type;
  type.code = kTensorQuant8SymmPerChannel;
  for (int i = 0; i < weights.dims->size; ++i) {
    type.dims.push_back(static_cast<uint32_t>(weights.dims->data[i]));
  }
  const uint32_t operand = AddOperand(type);
  inputs_.push_back(operand);
  if (model_ == nullptr || !ok()) return;
  const ANeuralNetworksSymmPerChannelQuantParams params = {
      static_cast<uint32_t>(channel), static_cast<uint32_t>(affine.scale->size),
      affine.scale->data};
  if (functions_->Model_setOperandSymmPerChannelQuantParams == nullptr) {
    error_ = "the function ANeuralNetworksModel_setOperandSymmPerChannelQuantParams is missing";
    return;
  }
  Check("Model_setOperandSymmPerChannelQuantParams",
        functions_->Model_setOperandSymmPerChannelQuantParams(model_, static_cast<int32_t>(operand),
                                                              &params));
  SetTensorValue(tensor, operand);
}

void Definition::Weights(int tensor, int channel) {
  if (!ok()) return;
  const TfLiteTensor& weights = context_->tensors[tensor];
  if (weights.type == kTfLiteInt8 && ScaleCount(weights) > 1) {
    PerChannelWeights(tensor, channel);
  } else {
    Input(tensor);
  }
}

void Definition::Bias(int tensor, const TfLiteTensor& input, const TfLiteTensor& weights,
                      uint32_t count) {
  if (!ok()) return;
  const TfLiteTensor* bias = tensor < 0 ? nullptr : &context_->tensors[tensor];
  const bool is_float = input.type == kTfLiteFloat32;
  Type type;
  type.dims = {count};
  type.code = is_float ? kTensorFloat32 : kTensorInt32;
  if (!is_float && ScaleCount(weights) <= 1) type.scale = input.params.scale * weights.params.scale;
  if (bias == nullptr) {
    const std::vector<int32_t> zeros(count);
    inputs_.push_back(AddConstant(type, zeros.data(), count * sizeof(int32_t)));
    return;
  }
  if (bias->type != (is_float ? kTfLiteFloat32 : kTfLiteInt32)) {
    Refuse(kDeputyReasonType,
           NameOf(*bias) + ": expected " + (is_float ? "FLOAT32" : "INT32") + " for a bias");
    return;
  }
  if (is_float) {
    Input(tensor);
    return;
  }
  // The operand has a scale that differs from the tensor's, so that it is not shared with other
  // layers.
  if (!IsConstant(*bias)) {
    Refuse(kDeputyReasonNotConstant, NameOf(*bias) + ": expected a constant");
    return;
  }
  const uint32_t operand = AddOperand(type);
  inputs_.push_back(operand);
  SetTensorValue(tensor, operand);
}

void Definition::Int(int32_t value) {
  Type type;
  type.code = kInt32;
  inputs_.push_back(AddConstant(type, &value, sizeof value));
}

void Definition::Float(float value) {
  Type type;
  type.code = kFloat32;
  inputs_.push_back(AddConstant(type, &value, sizeof value));
}

void Definition::Bool(bool value) {
  Type type;
  type.code = kBool;
  const uint8_t byte = value ? 1 : 0;
  inputs_.push_back(AddConstant(type, &byte, sizeof byte));
}

void Definition::Ints(const std::vector<int32_t>& values) {
  Ints(values, {static_cast<uint32_t>(values.size())});
}

void Definition::Ints(const std::vector<int32_t>& values, const Shape& shape) {
  if (!ok()) return;
  if (values.empty() || values.size() != CountOf(shape)) {
    Refuse(kDeputyReasonShape, "expected values, found none");
    return;
  }
  Type type;
  type.code = kTensorInt32;
  type.dims = shape;
  inputs_.push_back(AddConstant(type, values.data(), values.size() * sizeof(int32_t)));
}

void Definition::Finish(OperationCode code) {
  if (model_ != nullptr && ok()) {
    Check("Model_addOperation",
          functions_->Model_addOperation(model_, code, static_cast<uint32_t>(inputs_.size()),
                                         inputs_.data(), static_cast<uint32_t>(outputs_.size()),
                                         outputs_.data()));
  }
  inputs_.clear();
  outputs_.clear();
}

void Definition::FinishModel(const std::vector<int>& inputs, const std::vector<int>& outputs,
                             bool relax, std::vector<int>* out_inputs) {
  if (!ok() || model_ == nullptr) return;
  std::vector<uint32_t> in, out;
  for (const int tensor : inputs) {
    const auto operand = operands_.find(tensor);
    if (operand == operands_.end() || IsConstant(context_->tensors[tensor])) continue;
    in.push_back(operand->second);
    out_inputs->push_back(tensor);
  }
  for (const int tensor : outputs) out.push_back(operands_.at(tensor));
  if (!Check("Model_identifyInputsAndOutputs",
             functions_->Model_identifyInputsAndOutputs(
                 model_, static_cast<uint32_t>(in.size()), in.data(),
                 static_cast<uint32_t>(out.size()), out.data()))) {
    return;
  }
  if (relax && functions_->Model_relaxComputationFloat32toFloat16 != nullptr &&
      !Check("Model_relaxComputationFloat32toFloat16",
             functions_->Model_relaxComputationFloat32toFloat16(model_, true))) {
    return;
  }
  Check("Model_finish", functions_->Model_finish(model_));
}

}  // namespace deputy::nnapi
