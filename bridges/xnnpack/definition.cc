// SPDX-License-Identifier: Apache-2.0
#include "bridges/xnnpack/definition.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <utility>

#include "deputy/deputy_plugin.h"

namespace deputy::xnnpack {
namespace {

using mindspore::DataType;
using mindspore::QuantParam;

constexpr size_t kMaxElements = size_t{1} << 30;

#if defined(__aarch64__) || defined(__arm__)
constexpr bool kAddsPairsInInt16 = true;
#else
constexpr bool kAddsPairsInInt16 = false;
#endif

bool IsFilter(Role role) { return role == Role::kFilter || role == Role::kDepthFilter; }

// Returns true if XNNPACK's kernels for ARM may compute wrong sums with the constant: they add two
// products of int8 in 16 bits, which twice -128 * -128 exceeds.
bool MayOverflow(const MSTensor& filter, const void* data) {
  if (!kAddsPairsInInt16 || filter.DataType() != DataType::kNumberTypeInt8) return false;
  const auto* const values = static_cast<const int8_t*>(data);
  const int8_t* const end = values + filter.ElementNum();
  return std::find(values, end, int8_t{-128}) != end;
}

xnn_datatype TypeOf(DataType type, bool by_channel) {
  switch (type) {
    case DataType::kNumberTypeFloat32:
      return xnn_datatype_fp32;
    case DataType::kNumberTypeInt8:
      return by_channel ? xnn_datatype_qcint8 : xnn_datatype_qint8;
    case DataType::kNumberTypeUInt8:
      return by_channel ? xnn_datatype_invalid : xnn_datatype_quint8;
    case DataType::kNumberTypeInt32:
      return by_channel ? xnn_datatype_qcint32 : xnn_datatype_qint32;
    default:
      return xnn_datatype_invalid;
  }
}

bool IsScale(double scale) { return std::isnormal(static_cast<float>(scale)) && scale > 0; }

bool IsZeroPoint(DataType type, int32_t zero_point) {
  if (type == DataType::kNumberTypeInt8) return zero_point >= INT8_MIN && zero_point <= INT8_MAX;
  if (type == DataType::kNumberTypeUInt8) return zero_point >= 0 && zero_point <= UINT8_MAX;
  return zero_point == 0;
}

}  // namespace

PaddedBytes::PaddedBytes(size_t size) : bytes_(size + XNN_EXTRA_BYTES) {}

size_t CountOf(const Shape& shape) {
  size_t count = 1;
  for (const size_t dim : shape) count *= dim;
  return count;
}

bool ShapeOf(Definition* definition, const MSTensor& tensor, Shape* out_shape) {
  out_shape->clear();
  size_t count = 1;
  const std::vector<int64_t>& dims = tensor.Shape();
  if (dims.size() > XNN_MAX_TENSOR_DIMS) {
    return definition->Refuse(kDeputyReasonShape,
                              "tensor '%s': expected at most %d dimensions, found %zu",
                              tensor.Name().c_str(), XNN_MAX_TENSOR_DIMS, dims.size());
  }
  for (const int64_t dim : dims) {
    if (dim < 1 || static_cast<uint64_t>(dim) > kMaxElements / count) {
      return definition->Refuse(
          kDeputyReasonShape, "tensor '%s': expected 1 to 2^30 elements, found a dimension of %lld",
          tensor.Name().c_str(), static_cast<long long>(dim));
    }
    count *= static_cast<size_t>(dim);
    out_shape->push_back(static_cast<size_t>(dim));
  }
  return true;
}

Definition::Definition(const std::vector<MSTensor>& inputs, const std::vector<MSTensor>& outputs,
                       bool checking)
    : checking_(checking) {
  DeputyFingerprintInit(&structure_);
  uint32_t next = 0;
  for (const MSTensor& tensor : inputs) {
    externals_[tensor.handle()] = {next++, XNN_VALUE_FLAG_EXTERNAL_INPUT};
  }
  for (const MSTensor& tensor : outputs) {
    externals_[tensor.handle()] = {next++, XNN_VALUE_FLAG_EXTERNAL_OUTPUT};
  }
  xnn_subgraph_t subgraph = nullptr;
  Accept(xnn_create_subgraph(next, 0, &subgraph));
  subgraph_.reset(subgraph);
}

bool Definition::Refuse(DeputyReason reason, const char* format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (refusal_.reason == 0) refusal_ = {reason, text};
  return false;
}

bool Definition::Accept(xnn_status status) {
  switch (status) {
    case xnn_status_success:
      return true;
    case xnn_status_out_of_memory:
      return Refuse(kDeputyReasonMemory, "XNNPACK: out of memory");
    case xnn_status_unsupported_hardware:
      return Refuse(kDeputyReasonOther, "XNNPACK does not support this processor");
    case xnn_status_unsupported_parameter:
      return Refuse(kDeputyReasonParameter, "XNNPACK does not support these parameters or scales");
    default:
      return Refuse(kDeputyReasonParameter, "XNNPACK rejects types or parameters (status %d)",
                    static_cast<int>(status));
  }
}

bool Definition::ValueOf(const MSTensor& tensor, Role role, uint32_t* out_id) {
  const auto known = values_.find({tensor.handle(), role});
  if (known != values_.end()) {
    *out_id = known->second;
    AddToFingerprint<uint64_t>({*out_id});
    return true;
  }
  Shape shape;
  if (!ShapeOf(this, tensor, &shape)) return false;
  if (role == Role::kBias) shape = {CountOf(shape)};
  uint32_t external_id = XNN_INVALID_VALUE_ID, flags = 0;
  const void* data = nullptr;
  if (tensor.IsConst()) {
    data = CopyOf(tensor, role);
    if (data == nullptr) return false;
    if (IsFilter(role) && MayOverflow(tensor, data)) {
      return Refuse(kDeputyReasonQuantization,
                    "tensor '%s': expected a filter without -128, whose products overflow",
                    tensor.Name().c_str());
    }
  } else if (role != Role::kData) {
    return Refuse(kDeputyReasonNotConstant, "tensor '%s': expected a constant",
                  tensor.Name().c_str());
  } else if (const auto found = externals_.find(tensor.handle()); found != externals_.end()) {
    external_id = found->second.id;
    flags = found->second.flags;
  }
  if (!Define(tensor, role, shape, data, external_id, flags, out_id)) return false;
  values_[{tensor.handle(), role}] = *out_id;
  return true;
}

bool Definition::NewValue(const MSTensor& like, const Shape& shape, uint32_t* out_id) {
  return Define(like, Role::kData, shape, nullptr, XNN_INVALID_VALUE_ID, 0, out_id);
}

// Returns the data of a constant, copied unless this is only a check. Returns null and refuses if
// the constant does not have the number of bytes that its shape requires.
const void* Definition::CopyOf(const MSTensor& tensor, Role role) {
  const std::shared_ptr<const void> data = tensor.Data();
  const size_t size = tensor.DataSize();
  const size_t element = tensor.DataType() == DataType::kNumberTypeInt8 ||
                                 tensor.DataType() == DataType::kNumberTypeUInt8
                             ? 1
                             : sizeof(float);
  if (data == nullptr || size != static_cast<size_t>(tensor.ElementNum()) * element) {
    Refuse(kDeputyReasonNotConstant, "tensor '%s': expected a constant of %lld elements",
           tensor.Name().c_str(), static_cast<long long>(tensor.ElementNum()));
    return nullptr;
  }
  constant_bytes_ += size;
  if (checking_) return data.get();
  std::vector<PaddedBytes>& storage = IsFilter(role) ? weights_ : constants_;
  storage.emplace_back(size);
  std::memcpy(storage.back().data(), data.get(), size);
  return storage.back().data();
}

bool Definition::Define(const MSTensor& tensor, Role role, const Shape& shape, const void* data,
                        uint32_t external_id, uint32_t flags, uint32_t* out_id) {
  const std::vector<QuantParam> params = tensor.QuantParams();
  const DataType type = tensor.DataType();
  AddToFingerprint(shape);
  AddToFingerprint<uint64_t>({static_cast<uint64_t>(type), static_cast<uint64_t>(role), external_id,
                              flags, uint64_t{data != nullptr}});
  for (const QuantParam& param : params) {
    AddToFingerprint<double>({param.scale, static_cast<double>(param.zero_point)});
  }
  if (type == DataType::kNumberTypeFloat32) {
    return Accept(xnn_define_tensor_value(subgraph(), xnn_datatype_fp32, shape.size(), shape.data(),
                                          data, external_id, flags, out_id));
  }
  if (params.empty() || TypeOf(type, false) == xnn_datatype_invalid) {
    return Refuse(kDeputyReasonType, "tensor '%s': expected float32, or quantised int8 or uint8",
                  tensor.Name().c_str());
  }
  if (params.size() > 1) return DefineByChannel(params, role, tensor, shape, data, out_id);
  if (!IsScale(params[0].scale) || !IsZeroPoint(type, params[0].zero_point)) {
    return Refuse(kDeputyReasonQuantization, "tensor '%s': invalid scale %g or zero point %d",
                  tensor.Name().c_str(), params[0].scale, params[0].zero_point);
  }
  if (role != Role::kData && type == DataType::kNumberTypeInt8 && params[0].zero_point != 0) {
    return Refuse(kDeputyReasonQuantization, "tensor '%s': expected the zero point 0, found %d",
                  tensor.Name().c_str(), params[0].zero_point);
  }
  return Accept(xnn_define_quantized_tensor_value(
      subgraph(), TypeOf(type, false), params[0].zero_point, static_cast<float>(params[0].scale),
      shape.size(), shape.data(), data, external_id, flags, out_id));
}

bool Definition::DefineByChannel(const std::vector<QuantParam>& params, Role role,
                                 const MSTensor& tensor, const Shape& shape, const void* data,
                                 uint32_t* out_id) {
  const size_t channel_dim = role == Role::kDepthFilter ? 3 : 0;
  if (role == Role::kData || channel_dim >= shape.size() || params.size() != shape[channel_dim]) {
    return Refuse(kDeputyReasonQuantization,
                  "tensor '%s': expected one scale, or one per channel of a filter, found %zu",
                  tensor.Name().c_str(), params.size());
  }
  std::vector<float> scales;
  for (const QuantParam& param : params) {
    scales.push_back(static_cast<float>(param.scale));
    if (IsScale(param.scale) && param.zero_point == 0) continue;
    return Refuse(kDeputyReasonQuantization,
                  "tensor '%s': invalid scale %g or zero point %d of a channel",
                  tensor.Name().c_str(), param.scale, param.zero_point);
  }
  scales_.push_back(std::move(scales));
  return Accept(xnn_define_channelwise_quantized_tensor_value(
      subgraph(), TypeOf(tensor.DataType(), true), scales_.back().data(), shape.size(), channel_dim,
      shape.data(), data, XNN_INVALID_VALUE_ID, 0, out_id));
}

DeputyFingerprint Definition::Fingerprint() const {
  DeputyFingerprint result = structure_;
  for (const std::vector<PaddedBytes>* list : {&weights_, &constants_}) {
    for (const PaddedBytes& bytes : *list)
      DeputyFingerprintAdd(&result, bytes.data(), bytes.size());
  }
  return result;
}

std::unique_ptr<Runtime> Definition::Finish(std::unique_ptr<PackedWeights> weights,
                                            pthreadpool_t threads, Refusal* refusal) {
  xnn_runtime_t runtime = nullptr;
  std::unique_ptr<Runtime> result;
  if (refusal_.reason == 0 && Accept(weights->CreateRuntime(subgraph(), threads, &runtime))) {
    result = std::make_unique<Runtime>();
    result->runtime.reset(runtime);
    result->weights = std::move(weights);
    result->constants = std::move(constants_);
  }
  *refusal = refusal_;
  return result;
}

}  // namespace deputy::xnnpack
