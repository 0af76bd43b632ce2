// SPDX-License-Identifier: Apache-2.0
#include "mindspore/src/tensor.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "mindspore/src/log.h"

namespace deputy::ms_api {
namespace {

struct TypeRow {
  TfLiteType type;
  MSDataType ms;
  size_t size;
};

constexpr TypeRow kTypes[] = {
    {kTfLiteString, kMSDataTypeObjectTypeString, 0},
    {kTfLiteBool, kMSDataTypeNumberTypeBool, 1},
    {kTfLiteInt8, kMSDataTypeNumberTypeInt8, 1},
    {kTfLiteInt16, kMSDataTypeNumberTypeInt16, 2},
    {kTfLiteInt32, kMSDataTypeNumberTypeInt32, 4},
    {kTfLiteInt64, kMSDataTypeNumberTypeInt64, 8},
    {kTfLiteUInt8, kMSDataTypeNumberTypeUInt8, 1},
    {kTfLiteUInt16, kMSDataTypeNumberTypeUInt16, 2},
    {kTfLiteUInt32, kMSDataTypeNumberTypeUInt32, 4},
    {kTfLiteUInt64, kMSDataTypeNumberTypeUInt64, 8},
    {kTfLiteFloat16, kMSDataTypeNumberTypeFloat16, 2},
    {kTfLiteFloat32, kMSDataTypeNumberTypeFloat32, 4},
    {kTfLiteFloat64, kMSDataTypeNumberTypeFloat64, 8},
};

// Returns the number of elements; -1 if a dimension is negative or the number overflows.
int64_t Count(std::span<const int64_t> shape) {
  int64_t count = 1;
  for (const int64_t dim : shape) {
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) return -1;
  }
  return count;
}

// Returns true for a sparse tensor. MindSpore has no sparse tensors, so the type and the values,
// which are fewer than the elements, are hidden from delegates.
bool IsSparse(const TfLiteTensor& tensor) { return tensor.sparsity != nullptr; }

}  // namespace

MSDataType DataTypeOf(TfLiteType type) {
  const auto* row = std::find_if(std::begin(kTypes), std::end(kTypes),
                                 [type](const TypeRow& r) { return r.type == type; });
  return row == std::end(kTypes) ? kMSDataTypeUnknown : row->ms;
}

size_t ElementSize(MSDataType type) {
  const auto* row = std::find_if(std::begin(kTypes), std::end(kTypes),
                                 [type](const TypeRow& r) { return r.ms == type; });
  return row == std::end(kTypes) ? 0 : row->size;
}

// ---- TensorAllocator ----------------------------------------------------------------------------

TensorAllocator::~TensorAllocator() {
  if (functions_.release == nullptr) return;
  Guard([this] { return functions_.release(functions_.user_data), kMSStatusSuccess; });
}

void* TensorAllocator::Allocate(size_t size) const {
  if (functions_.allocate == nullptr) return std::calloc(1, size);
  void* const memory = Contain<void*>(
      nullptr, nullptr, [&] { return functions_.allocate(functions_.user_data, size); });
  if (memory != nullptr) std::memset(memory, 0, size);
  return memory;
}

void TensorAllocator::Free(void* memory) const {
  if (memory == nullptr) return;
  if (functions_.deallocate == nullptr) {
    std::free(memory);
  } else {
    Guard([&] { return functions_.deallocate(functions_.user_data, memory), kMSStatusSuccess; });
  }
}

// ---- Tensor -------------------------------------------------------------------------------------

Tensor::Tensor(std::string name, MSDataType type, std::vector<int64_t> shape)
    : is_view_(false), name_(std::move(name)), type_(type), shape_(std::move(shape)) {}

Tensor::Tensor(TensorSource* source, int index) : is_view_(true), source_(source), index_(index) {
  const TfLiteTensor* tensor = graph_tensor();
  if (tensor == nullptr) return;
  if (tensor->name != nullptr) name_ = tensor->name;
}

Tensor::~Tensor() {
  for (const Attachment& attachment : attachments_) {
    Guard([&] { return attachment.destroy(attachment.object), kMSStatusSuccess; });
  }
  FreeMemory();
  if (owns_borrowed_) allocator_->Free(borrowed_);
}

void Tensor::FreeMemory() {
  allocator_->Free(memory_);
  memory_ = nullptr;
  packed_size_ = 0;
}

const std::string& Tensor::name() { return name_; }

MSDataType Tensor::type() {
  if (!is_view_) return type_;
  const TfLiteTensor* tensor = graph_tensor();
  return tensor == nullptr || IsSparse(*tensor) ? kMSDataTypeUnknown : DataTypeOf(tensor->type);
}

bool Tensor::set_type(MSDataType type) {
  if (is_view_) return type == this->type();
  if (type != type_) FreeMemory();
  type_ = type;
  return true;
}

std::span<const int64_t> Tensor::shape() {
  if (!is_view_ || (shape_is_set_ && own_memory())) return shape_;
  const TfLiteTensor* tensor = graph_tensor();
  shape_.clear();
  if (tensor == nullptr || tensor->dims == nullptr) return shape_;
  shape_.assign(tensor->dims->data, tensor->dims->data + tensor->dims->size);
  return shape_;
}

bool Tensor::set_shape(std::span<const int64_t> shape) {
  if (is_view_ && source_ == nullptr) return false;
  if (!own_memory()) return source_->SetShape(index_, shape);
  if (!std::equal(shape.begin(), shape.end(), shape_.begin(), shape_.end())) FreeMemory();
  shape_.assign(shape.begin(), shape.end());
  shape_is_set_ = true;
  return true;
}

bool Tensor::is_constant() {
  const TfLiteTensor* tensor = graph_tensor();
  return tensor != nullptr && tensor->allocation_type == kTfLiteMmapRo;
}

int64_t Tensor::element_count() { return std::max<int64_t>(Count(shape()), 0); }

size_t Tensor::byte_size() {
  const TfLiteTensor* tensor = graph_tensor();
  if (tensor != nullptr && !own_memory()) return tensor->bytes;
  if (packed_size_ > 0) return packed_size_;
  const auto count = static_cast<uint64_t>(element_count());
  size_t size = 0;
  return __builtin_mul_overflow(count, ElementSize(type()), &size) ? 0 : size;
}

const void* Tensor::data() {
  if (borrowed_ != nullptr) return borrowed_;
  if (own_memory()) return memory_;
  TfLiteTensor* tensor = graph_tensor();
  const bool readable = tensor != nullptr && !IsSparse(*tensor) && source_->HasMemory(index_);
  return readable ? tensor->data.raw_const : nullptr;
}

void* Tensor::mutable_data() {
  if (borrowed_ != nullptr) return borrowed_;
  if (!own_memory()) return is_constant() ? nullptr : const_cast<void*>(data());
  if (memory_ == nullptr && byte_size() > 0) memory_ = allocator_->Allocate(byte_size());
  return memory_;
}

bool Tensor::set_data(void* data, bool own_data) {
  if (is_view_ && (source_ == nullptr || !source_->AcceptsData(index_))) return false;
  borrowed_ = data;
  owns_borrowed_ = own_data;
  return true;
}

bool Tensor::set_device_data(void* address) {
  if (is_view_ && source_ == nullptr) return false;
  if (is_view_) {
    source_->addresses()->Set(index_, address);
  } else {
    device_data_ = address;
  }
  return true;
}

void* Tensor::device_data() {
  if (!is_view_) return device_data_;
  return source_ == nullptr ? nullptr : source_->addresses()->Get(index_);
}

bool Tensor::set_allocator(std::shared_ptr<TensorAllocator> allocator) {
  if (is_view_) return false;
  FreeMemory();
  if (owns_borrowed_) allocator_->Free(std::exchange(borrowed_, nullptr));
  owns_borrowed_ = false;
  allocator_ = std::move(allocator);
  return true;
}

bool Tensor::set_quantization(std::span<const DeputyMSQuantParam> params) {
  if (is_view_) return false;
  quantization_.assign(params.begin(), params.end());
  return true;
}

bool Tensor::SetPackedTexts(const std::vector<char>& bytes) {
  FreeMemory();
  memory_ = allocator_->Allocate(bytes.size());
  if (memory_ == nullptr) return false;
  std::memcpy(memory_, bytes.data(), bytes.size());
  packed_size_ = bytes.size();
  return true;
}

void* Tensor::Attach(void* (*create)(), void (*destroy)(void* object)) {
  const std::scoped_lock lock(attachments_mutex_);
  for (const Attachment& attachment : attachments_) {
    if (attachment.create == create) return attachment.object;
  }
  attachments_.reserve(attachments_.size() + 1);
  void* const object = create();
  if (object != nullptr) attachments_.push_back({create, destroy, object});
  return object;
}

std::vector<DeputyMSQuantParam> Tensor::quantization() {
  if (!is_view_) return quantization_;
  const TfLiteTensor* tensor = graph_tensor();
  if (tensor == nullptr || tensor->quantization.type != kTfLiteAffineQuantization) return {};
  const auto* affine = static_cast<const TfLiteAffineQuantization*>(tensor->quantization.params);
  if (affine == nullptr || affine->scale == nullptr) return {};
  const int32_t bits = static_cast<int32_t>(8 * ElementSize(type()));
  std::vector<DeputyMSQuantParam> params;
  for (int i = 0; i < affine->scale->size; ++i) {
    const TfLiteIntArray* zeros = affine->zero_point;
    const int zero =
        zeros == nullptr || zeros->size == 0 ? 0 : zeros->data[std::min(i, zeros->size - 1)];
    params.push_back({bits, zero, static_cast<double>(affine->scale->data[i]), 0, 0});
  }
  return params;
}

bool Tensor::CopyIn(const void* bytes, size_t size) {
  if (size == 0) return true;
  void* memory = mutable_data();
  if (memory == nullptr) return false;
  std::memcpy(memory, bytes, size);
  return true;
}

std::unique_ptr<Tensor> Tensor::Clone() {
  const std::span<const int64_t> dims = shape();
  auto copy =
      std::make_unique<Tensor>(name_, type(), std::vector<int64_t>(dims.begin(), dims.end()));
  copy->format_ = format_;
  copy->quantization_ = quantization();
  const void* bytes = data();
  if (bytes == nullptr) return copy;
  if (type() == kMSDataTypeObjectTypeString) {
    const auto* first = static_cast<const char*>(bytes);
    if (!copy->SetPackedTexts({first, first + byte_size()})) return nullptr;
  } else if (!copy->CopyIn(bytes, copy->byte_size())) {
    return nullptr;
  }
  return copy;
}

Tensor* CheckedTensor(MSTensorHandle handle, const char* function) {
  if (handle == nullptr) Fail(kMSStatusLiteNullptr, "%s: the tensor is NULL", function);
  return Tensor::Of(handle);
}

// ---- TensorTable --------------------------------------------------------------------------------

TensorTable::~TensorTable() {
  for (Tensor* tensor : tensors_) {
    if (tensor == nullptr) continue;
    tensor->Disconnect();
    tensor->Release();
  }
}

MSTensorHandle TensorTable::Handle(int index) {
  const auto at = static_cast<size_t>(index);
  if (at >= tensors_.size()) tensors_.resize(at + 1, nullptr);
  if (tensors_[at] == nullptr) tensors_[at] = new Tensor(source_, index);
  return tensors_[at];
}

std::vector<MSTensorHandle> TensorTable::Handles(std::span<const int> indices) {
  std::vector<MSTensorHandle> handles;
  for (const int index : indices) {
    if (index >= 0) handles.push_back(Handle(index));
  }
  return handles;
}

}  // namespace deputy::ms_api

// ---- The C API ----------------------------------------------------------------------------------

using namespace deputy::ms_api;  // NOLINT(google-build-using-namespace)

namespace {

// Returns true if `size` is the size in bytes of a tensor with this type and shape.
bool Fits(MSDataType type, std::span<const int64_t> shape, size_t size) {
  const int64_t count = Count(shape);
  size_t bytes = 0;
  return count >= 0 &&
         !__builtin_mul_overflow(static_cast<size_t>(count), ElementSize(type), &bytes) &&
         bytes == size;
}

}  // namespace

MSTensorHandle MSTensorCreate(const char* name, MSDataType type, const int64_t* shape,
                              size_t shape_num, const void* data, size_t data_len) {
  if (name == nullptr || (shape == nullptr && shape_num > 0)) {
    Fail(kMSStatusLiteNullptr, "MSTensorCreate: name or shape is NULL");
    return nullptr;
  }
  const std::span<const int64_t> dims(shape, shape_num);
  if (Count(dims) < 0 || shape_num > MS_MAX_SHAPE_NUM) {
    Fail(kMSStatusLiteParamInvalid, "MSTensorCreate: tensor '%s': invalid shape", name);
    return nullptr;
  }
  if (data != nullptr && !Fits(type, dims, data_len)) {
    Fail(kMSStatusLiteParamInvalid,
         "MSTensorCreate: tensor '%s': %zu bytes of data do not match its type and shape", name,
         data_len);
    return nullptr;
  }
  return Contain<Tensor*>(nullptr, nullptr, [&]() -> Tensor* {
    auto tensor =
        std::make_unique<Tensor>(name, type, std::vector<int64_t>(dims.begin(), dims.end()));
    if (data != nullptr && !tensor->CopyIn(data, data_len)) return nullptr;
    return tensor.release();
  });
}

void MSTensorDestroy(MSTensorHandle* tensor) {
  if (tensor == nullptr || *tensor == nullptr) return;
  Tensor* const target = Tensor::Of(*tensor);
  *tensor = nullptr;
  if (!target->is_view()) target->Release();
}

MSTensorHandle MSTensorClone(MSTensorHandle tensor) {
  Tensor* const source = CheckedTensor(tensor, "MSTensorClone");
  if (source == nullptr) return nullptr;
  return Contain<Tensor*>(nullptr, nullptr, [source] { return source->Clone().release(); });
}

void MSTensorSetName(MSTensorHandle tensor, const char* name) {
  Tensor* const target = CheckedTensor(tensor, "MSTensorSetName");
  if (target == nullptr || name == nullptr) return;
  Guard([target, name] { return target->set_name(name), kMSStatusSuccess; });
}

const char* MSTensorGetName(const MSTensorHandle tensor) {
  Tensor* const source = CheckedTensor(tensor, "MSTensorGetName");
  return source == nullptr ? nullptr : source->name().c_str();
}

void MSTensorSetDataType(MSTensorHandle tensor, MSDataType type) {
  Tensor* const target = CheckedTensor(tensor, "MSTensorSetDataType");
  if (target == nullptr || target->set_type(type)) return;
  Fail(kMSStatusLiteNotSupport, "tensor '%s': the type of a graph's tensor cannot be changed",
       target->name().c_str());
}

MSDataType MSTensorGetDataType(const MSTensorHandle tensor) {
  Tensor* const source = CheckedTensor(tensor, "MSTensorGetDataType");
  return source == nullptr ? kMSDataTypeUnknown : source->type();
}

void MSTensorSetShape(MSTensorHandle tensor, const int64_t* shape, size_t shape_num) {
  Tensor* const target = CheckedTensor(tensor, "MSTensorSetShape");
  if (target == nullptr || (shape == nullptr && shape_num > 0)) return;
  Guard([&] {
    if (shape_num > MS_MAX_SHAPE_NUM || !target->set_shape({shape, shape_num})) {
      return Fail(kMSStatusLiteParamInvalid, "tensor '%s': its shape cannot be changed now",
                  target->name().c_str());
    }
    return kMSStatusSuccess;
  });
}

const int64_t* MSTensorGetShape(const MSTensorHandle tensor, size_t* shape_num) {
  if (shape_num == nullptr) return nullptr;
  *shape_num = 0;
  Tensor* const source = CheckedTensor(tensor, "MSTensorGetShape");
  if (source == nullptr) return nullptr;
  return Contain<const int64_t*>(nullptr, nullptr, [&] {
    const std::span<const int64_t> shape = source->shape();
    *shape_num = shape.size();
    return shape.data();
  });
}

void MSTensorSetFormat(MSTensorHandle tensor, MSFormat format) {
  if (Tensor* const target = CheckedTensor(tensor, "MSTensorSetFormat")) target->set_format(format);
}

MSFormat MSTensorGetFormat(const MSTensorHandle tensor) {
  Tensor* const source = CheckedTensor(tensor, "MSTensorGetFormat");
  return source == nullptr ? kMSFormatNHWC : source->format();
}

void MSTensorSetData(MSTensorHandle tensor, void* data) {
  Tensor* const target = CheckedTensor(tensor, "MSTensorSetData");
  if (target == nullptr || target->set_data(data, false)) return;
  Fail(kMSStatusLiteNotSupport, "tensor '%s': its memory belongs to the runtime",
       target->name().c_str());
}

const void* MSTensorGetData(const MSTensorHandle tensor) {
  Tensor* const source = CheckedTensor(tensor, "MSTensorGetData");
  return source == nullptr ? nullptr : source->data();
}

void* MSTensorGetMutableData(const MSTensorHandle tensor) {
  Tensor* const source = CheckedTensor(tensor, "MSTensorGetMutableData");
  if (source == nullptr) return nullptr;
  return Contain<void*>(nullptr, nullptr, [source] { return source->mutable_data(); });
}

int64_t MSTensorGetElementNum(const MSTensorHandle tensor) {
  Tensor* const source = CheckedTensor(tensor, "MSTensorGetElementNum");
  if (source == nullptr) return 0;
  return Contain<int64_t>(0, 0, [source] { return source->element_count(); });
}

size_t MSTensorGetDataSize(const MSTensorHandle tensor) {
  Tensor* const source = CheckedTensor(tensor, "MSTensorGetDataSize");
  if (source == nullptr) return 0;
  return Contain<size_t>(0, 0, [source] { return source->byte_size(); });
}

MSTensorHandle DeputyMSTensorRetain(MSTensorHandle tensor) {
  if (tensor != nullptr) Tensor::Of(tensor)->Retain();
  return tensor;
}

void DeputyMSTensorRelease(MSTensorHandle tensor) {
  if (tensor != nullptr) Tensor::Of(tensor)->Release();
}

bool DeputyMSTensorIsConst(MSTensorHandle tensor) {
  return tensor != nullptr && Tensor::Of(tensor)->is_constant();
}

size_t DeputyMSTensorGetQuantParams(MSTensorHandle tensor, DeputyMSQuantParam* params,
                                    size_t capacity) {
  if (tensor == nullptr) return 0;
  return Contain<size_t>(0, 0, [&] {
    const std::vector<DeputyMSQuantParam> all = Tensor::Of(tensor)->quantization();
    if (params != nullptr) std::copy_n(all.begin(), std::min(capacity, all.size()), params);
    return all.size();
  });
}
