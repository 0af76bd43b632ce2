// SPDX-License-Identifier: Apache-2.0
#include "mindspore/ms/mapping.h"

#include <algorithm>
#include <cstring>

#include "core/support/half.h"
#include "mindspore/ms/text.h"

namespace deputy::ms {
namespace {

template <typename T>
T Load(std::span<const uint8_t> bytes, size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

size_t ElementCount(const Tensor& tensor) { return tensor.data.size() / ElementSize(tensor.type); }

// Returns the number of elements per index of `axis`: the product of the dimensions after it.
size_t InnerCount(const std::vector<int32_t>& dims, int axis) {
  size_t count = 1;
  for (size_t d = static_cast<size_t>(axis) + 1; d < dims.size(); ++d) count *= dims[d];
  return count;
}

}  // namespace

Mapping::Mapping(const Model& model, Writer* writer, std::string* error)
    : model_(model),
      writer_(writer),
      error_(error),
      tensor_indices_(model.tensors.size(), -1),
      is_input_(model.tensors.size()),
      is_output_(model.tensors.size()) {
  for (const uint32_t input : model.inputs) is_input_[input] = true;
  for (const uint32_t output : model.outputs) is_output_[output] = true;
}

bool Mapping::Fail(const std::string& text) {
  if (error_->empty()) *error_ = NodeText(*node_) + ": " + text;
  return false;
}

bool Mapping::FailInput(size_t i, const std::string& text) {
  return Fail(TensorText(model_, node_->inputs[i]) + ": " + text);
}

// ---- The node's tensors -------------------------------------------------------------------------

int Mapping::Rank(const Tensor& tensor) {
  return tensor.has_dims || tensor.constant ? static_cast<int>(tensor.dims.size()) : -1;
}

bool Mapping::IsQuantized(const Tensor& tensor) {
  return tensor.quantization.present() &&
         (tensor.type == Type::kInt8 || tensor.type == Type::kUInt8 ||
          tensor.type == Type::kInt16 || tensor.type == Type::kInt32);
}

bool Mapping::IsDecoded(const Tensor& tensor) const {
  return tensor.constant && out().type == Type::kFloat32 &&
         (tensor.type == Type::kFloat16 ||
          // int32 constants are plain integers, such as indices, and are not converted.
          (IsQuantized(tensor) && tensor.type != Type::kInt32));
}

TensorForm Mapping::FormOf(const Tensor& tensor) const {
  TensorForm form{.type = tensor.type, .quantization = &tensor.quantization};
  if (tensor.is_static()) form.dims = tensor.dims;
  return form;
}

int Mapping::IndexOfTensor(uint32_t index, int channel_axis) {
  int& tensor_index = tensor_indices_[index];
  if (tensor_index >= 0) return tensor_index;
  const Tensor& tensor = model_.tensors[index];
  TensorForm form = FormOf(tensor);
  form.name = tensor.name;
  form.channel_axis = channel_axis;
  if (tensor.constant) {
    tensor_index = writer_->AddConstant(form, tensor.data);
  } else {
    // Callers choose the unknown dimensions of inputs; those of other tensors are inferred.
    if (is_input_[index]) form.dims = tensor.dims;
    tensor_index = writer_->AddTensor(form);
  }
  return tensor_index;
}

int Mapping::RawIn(size_t i) {
  const int axis = WeightAxis(i);
  return CheckScales(i, axis) ? IndexOfTensor(node_->inputs[i], axis) : Writer::kNoTensor;
}

int Mapping::In(size_t i) {
  if (IsDecoded(in(i))) {
    Constant constant;
    return Weight(i, WeightAxis(i), &constant) ? Add(constant) : Writer::kNoTensor;
  }
  return NeedsOneScale(i) ? IndexOfTensor(node_->inputs[i]) : Writer::kNoTensor;
}

int Mapping::Out(size_t i) { return IndexOfTensor(node_->outputs[i]); }

std::vector<int> Mapping::AllIn() {
  std::vector<int> all;
  for (size_t i = 0; i < inputs(); ++i) all.push_back(In(i));
  return all;
}

std::vector<int> Mapping::AllOut() {
  std::vector<int> all;
  for (size_t i = 0; i < outputs(); ++i) all.push_back(Out(i));
  return all;
}

void Mapping::ForgetOutputs() {
  for (const uint32_t output : node_->outputs) tensor_indices_[output] = -1;
}

bool Mapping::Forward(size_t input) {
  const uint32_t output = node_->outputs[0];
  if (!is_output_[output]) {
    tensor_indices_[output] = In(input);
    return true;
  }
  // An output of the model keeps its own tensor and name: add a copy of the input.
  const int shape = Temp({.type = Type::kInt32});
  const int value = In(input);
  Op(Builtin::SHAPE, {value}, {shape},
     schema::CreateShapeOptions(fbb(), schema::TensorType::INT32));
  Op(Builtin::RESHAPE, {value, shape}, {Out()}, schema::CreateReshapeOptions(fbb()));
  return true;
}

// ---- Constants and attributes -------------------------------------------------------------------

bool Mapping::Ints(size_t i, size_t max_count, std::vector<int64_t>* out) {
  const Tensor& tensor = in(i);
  out->clear();
  if (!tensor.constant || (tensor.type != Type::kInt32 && tensor.type != Type::kInt64)) {
    return FailInput(i, "expected a constant of INT32 or INT64, found " +
                            std::string(tensor.constant ? TypeName(tensor.type) : "no constant"));
  }
  const size_t count = ElementCount(tensor);
  if (count > max_count) {
    return FailInput(i, Format("expected at most %zu values, found %zu", max_count, count));
  }
  for (size_t k = 0; k < count; ++k) {
    out->push_back(tensor.type == Type::kInt64 ? Load<int64_t>(tensor.data, k)
                                               : Load<int32_t>(tensor.data, k));
  }
  return true;
}

bool Mapping::Floats(size_t i, std::vector<float>* out) {
  if (!in(i).constant) return FailInput(i, "expected a constant, found none");
  if (!CheckScales(i, 0)) return false;
  return ToFloats(in(i), 0, out) ||
         FailInput(i, "expected a constant of FLOAT32, found " + std::string(TypeName(in(i).type)));
}

bool Mapping::List(const LongList* list, const char* name, size_t min_count, size_t max_count,
                   std::vector<int64_t>* out) {
  const size_t count = list == nullptr ? 0 : list->size();
  if (count < min_count || count > max_count) {
    return Fail(Format("attribute %s: expected %zu to %zu values, found %zu", name, min_count,
                       max_count, count));
  }
  out->clear();
  // The verifier does not check the alignment of lists, so that Get must not be used.
  for (size_t i = 0; i < count; ++i) {
    out->push_back(Load<int64_t>({list->Data(), count * sizeof(int64_t)}, i));
  }
  return true;
}

bool Mapping::Within(int64_t value, const char* name, int64_t min, int64_t max) {
  return (value >= min && value <= max) ||
         Fail(std::string("attribute ") + name + ": expected " + std::to_string(min) + " to " +
              std::to_string(max) + ", found " + std::to_string(value));
}

bool Mapping::NormalAxis(int64_t axis, int rank, int* out) {
  if (rank < 0 && axis < 0) return Fail("a negative axis requires a known rank");
  const int max_axis = rank < 0 ? 7 : rank - 1;
  if (axis < -std::max(rank, 0) || axis > max_axis) {
    return Fail("axis " + std::to_string(axis) +
                Format(": expected %d to %d", -std::max(rank, 0), max_axis));
  }
  *out = static_cast<int>(axis < 0 ? axis + rank : axis);
  return true;
}

bool Mapping::KnownRank(size_t i, int* out) {
  *out = Rank(in(i));
  return *out >= 0 || FailInput(i, "expected a known rank, found none");
}

bool Mapping::NeedsStatic(size_t i) {
  return in(i).is_static() || FailInput(i, "expected a known shape, found none");
}

bool Mapping::NeedsOneScale(size_t i) {
  const size_t scales = in(i).quantization.scale.size();
  const bool is_one = !IsQuantized(in(i)) || in(i).type == Type::kInt32 || scales <= 1;
  return is_one || FailInput(i, Format("expected one scale, found %zu", scales));
}

bool Mapping::NeedsFloat32() {
  for (size_t i = 0; i < outputs(); ++i) {
    if (out(i).type != Type::kFloat32) {
      return Fail(TensorText(model_, node_->outputs[i]) + ": expected FLOAT32, found " +
                  TypeName(out(i).type));
    }
  }
  return true;
}

bool Mapping::ToFloats(const Tensor& tensor, int axis, std::vector<float>* out) {
  const bool quantized = IsQuantized(tensor);
  if (!quantized && tensor.type != Type::kFloat32 && tensor.type != Type::kFloat16) return false;
  const size_t count = ElementCount(tensor);
  if (!writer_->Reserve(count * sizeof(float))) return false;
  out->resize(count);
  const Quantization& q = tensor.quantization;
  const size_t channels = std::max<size_t>(q.scale.size(), 1);
  const size_t inner = channels == 1 ? 1 : InnerCount(tensor.dims, axis);
  for (size_t i = 0; i < count; ++i) {
    float& value = (*out)[i];
    if (tensor.type == Type::kFloat32) value = Load<float>(tensor.data, i);
    if (tensor.type == Type::kFloat16) value = HalfToFloat(Load<uint16_t>(tensor.data, i));
    if (!quantized) continue;
    const int64_t step = tensor.type == Type::kInt8    ? Load<int8_t>(tensor.data, i)
                         : tensor.type == Type::kUInt8 ? Load<uint8_t>(tensor.data, i)
                         : tensor.type == Type::kInt16 ? Load<int16_t>(tensor.data, i)
                                                       : Load<int32_t>(tensor.data, i);
    const size_t channel = channels == 1 ? 0 : i / inner % channels;
    value =
        static_cast<float>(step - q.zero_point[channel]) * q.scale[channel] * q.var_corr[channel] +
        q.mean_corr[channel];
  }
  return true;
}

// Returns the axis along which the scales of a constant apply in In and RawIn. Files before version
// 1.6 use axis 0 for the first operand and axis 1 for others; newer files use axis 0. Functions
// that call Weight themselves pass the axis of their primitive.
int Mapping::WeightAxis(size_t i) const {
  const bool old = model_.version_major == 1 && model_.version_minor < 6;
  return old && i > 0 ? 1 : 0;
}

bool Mapping::CheckScales(size_t i, int axis) {
  const Tensor& tensor = in(i);
  const size_t channels = tensor.quantization.scale.size();
  if (!IsQuantized(tensor) || channels <= 1) return true;
  if (axis < Rank(tensor) && static_cast<size_t>(tensor.dims[axis]) == channels) return true;
  return FailInput(i, Format("expected one scale per index of axis %d of ", axis) +
                          DimsText(tensor.dims) + Format(", found %zu", channels));
}

bool Mapping::Weight(size_t i, int axis, Constant* out) {
  const Tensor& tensor = in(i);
  if (!tensor.constant) return FailInput(i, "expected a constant, found none");
  out->form = FormOf(tensor);
  out->form.name = tensor.name;
  out->form.channel_axis = axis;
  out->bytes = tensor.data;
  if (!CheckScales(i, axis)) return false;
  if (!IsDecoded(tensor)) return true;
  std::vector<float> values;
  if (!ToFloats(tensor, axis, &values)) return false;
  const auto* first = reinterpret_cast<const uint8_t*>(values.data());
  out->storage.assign(first, first + values.size() * sizeof(float));
  out->bytes = out->storage;
  out->form.type = Type::kFloat32;
  out->form.quantization = nullptr;
  return true;
}

bool Mapping::Permute(const std::vector<int>& perm, Constant* constant) {
  const size_t rank = perm.size();
  const std::vector<int32_t> dims = constant->form.dims;
  if (!writer_->Reserve(constant->bytes.size())) return false;
  std::vector<size_t> stride(rank, ElementSize(constant->form.type)), step(rank);
  for (size_t d = rank - 1; d > 0; --d) stride[d - 1] = stride[d] * dims[d];
  for (size_t d = 0; d < rank; ++d) {
    step[d] = stride[perm[d]];
    constant->form.dims[d] = dims[perm[d]];
    if (perm[d] == constant->form.channel_axis)
      constant->form.channel_axis = -1 - static_cast<int>(d);
  }
  if (constant->form.channel_axis < 0)
    constant->form.channel_axis = -1 - constant->form.channel_axis;
  const size_t size = ElementSize(constant->form.type);
  std::vector<uint8_t> moved(constant->bytes.size());
  std::vector<int32_t> at(rank);
  size_t from = 0;
  for (size_t to = 0; to < moved.size(); to += size) {
    std::memcpy(moved.data() + to, constant->bytes.data() + from, size);
    for (size_t d = rank; d-- > 0;) {
      from += step[d];
      if (++at[d] < constant->form.dims[d]) break;
      from -= step[d] * static_cast<size_t>(at[d]);
      at[d] = 0;
    }
  }
  constant->storage = std::move(moved);
  constant->bytes = constant->storage;
  return true;
}

// ---- New tensors and operators ------------------------------------------------------------------

int Mapping::ConstInts(const std::vector<int32_t>& values) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  return writer_->AddConstant({.type = Type::kInt32, .dims = {static_cast<int32_t>(values.size())}},
                              {bytes, values.size() * sizeof(int32_t)});
}

int Mapping::ConstInt(int32_t value) {
  return writer_->AddConstant({.type = Type::kInt32},
                              {reinterpret_cast<const uint8_t*>(&value), sizeof(value)});
}

int Mapping::ConstFloat(float value) { return ConstFloats({}, {value}); }

int Mapping::ConstFloats(const std::vector<int32_t>& dims, const std::vector<float>& values) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  return writer_->AddConstant({.type = Type::kFloat32, .dims = dims},
                              {bytes, values.size() * sizeof(float)});
}

void Mapping::Apply(Builtin code, const std::vector<int>& inputs, int output, Fused fused) {
  switch (code) {
    case Builtin::ADD:
      return Op(code, inputs, {output}, schema::CreateAddOptions(fbb(), fused));
    case Builtin::SUB:
      return Op(code, inputs, {output}, schema::CreateSubOptions(fbb(), fused));
    case Builtin::MUL:
      return Op(code, inputs, {output}, schema::CreateMulOptions(fbb(), fused));
    case Builtin::DIV:
      return Op(code, inputs, {output}, schema::CreateDivOptions(fbb(), fused));
    default:
      return Op(code, inputs, {output});
  }
}

int Mapping::Apply(Builtin code, const std::vector<int>& inputs) {
  const int output = TempLike(out());
  Apply(code, inputs, output);
  return output;
}

void Mapping::Transpose(int input, const std::vector<int32_t>& perm, int output) {
  Op(Builtin::TRANSPOSE, {input, ConstInts(perm)}, {output}, schema::CreateTransposeOptions(fbb()));
}

void Mapping::Reshape(int input, const std::vector<int32_t>& shape, int output) {
  Op(Builtin::RESHAPE, {input, ConstInts(shape)}, {output},
     schema::CreateReshapeOptions(fbb(), fbb().CreateVector(shape)));
}

}  // namespace deputy::ms
