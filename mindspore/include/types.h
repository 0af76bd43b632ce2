// SPDX-License-Identifier: Apache-2.0
//
// MSTensor, Buffer and enums of MindSpore Lite's C++ API.
#ifndef DEPUTY_MINDSPORE_INCLUDE_TYPES_H_
#define DEPUTY_MINDSPORE_INCLUDE_TYPES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "allocator.h"        // IWYU pragma: export
#include "data_type.h"        // IWYU pragma: export
#include "dual_abi_helper.h"  // IWYU pragma: export
#include "extensions_c.h"
#include "format.h"   // IWYU pragma: export
#include "visible.h"  // IWYU pragma: export

namespace mindspore {

enum ModelType : uint32_t {
  kMindIR = 0,
  kAIR = 1,
  kOM = 2,
  kONNX = 3,
  kMindIR_Lite = 4,
  kMindIR_Opt = 4,  // name of 1.x
  kDataFlow = 5,
  kUnknownType = 0xFFFFFFFF,
};

// Quantisation and optimisation of trained models, which Deputy does not export.
enum QuantizationType : uint32_t {
  kNoQuant = 0,
  kWeightQuant = 1,
  kFullQuant = 2,
  kUnknownQuantType = 0xFFFFFFFF,
};
enum OptimizationLevel : uint32_t {
  kO0 = 0,
  kO2 = 2,
  kO3 = 3,
  kAuto = 4,
  kOptimizationType = 0xFFFFFFFF,
};

struct QuantParam {
  int bit_num = 0;
  double scale = 0;
  int32_t zero_point = 0;
  double min = 0;
  double max = 0;
};

namespace detail {

// Part of a tensor that only C++ programs use, attached to the tensor's handle.
struct TensorAttachment {
  static void* Create() { return new (std::nothrow) TensorAttachment; }
  static void Destroy(void* object) { delete static_cast<TensorAttachment*>(object); }
  static TensorAttachment* Of(MSTensorHandle handle) {
    return static_cast<TensorAttachment*>(DeputyMSTensorAttach(handle, Create, Destroy));
  }

  std::mutex mutex;            // guards the members below
  std::vector<int64_t> shape;  // result of the last MSTensor::Shape
  std::shared_ptr<Allocator> allocator;
};

// Returns the C API's functions for an allocator, to which they hold a reference.
inline DeputyMSAllocator ToC(const std::shared_ptr<Allocator>& allocator) {
  using Holder = std::shared_ptr<Allocator>;
  return {sizeof(DeputyMSAllocator), new Holder(allocator),
          [](void* holder, size_t size) { return (*static_cast<Holder*>(holder))->Malloc(size); },
          [](void* holder, void* block) { (*static_cast<Holder*>(holder))->Free(block); },
          [](void* holder) { delete static_cast<Holder*>(holder); }};
}

}  // namespace detail

// A reference to a tensor: copies refer to the same tensor, and == compares references, not
// contents. A null handle equals nullptr; its getters return empty values, and its setters have no
// effect.
class MSTensor {
 public:
  MSTensor() = default;
  MSTensor(std::nullptr_t) {}  // NOLINT: implicit, as in programs for 1.x
  // Adds a reference to a tensor of the C API.
  explicit MSTensor(MSTensorHandle handle) : handle_(DeputyMSTensorRetain(handle)) {}
  // Creates a tensor with a copy of the data, which may be null.
  MSTensor(const std::string& name, enum DataType type, const std::vector<int64_t>& shape,
           const void* data, size_t size)
      : handle_(MSTensorCreate(name.c_str(), static_cast<MSDataType>(type), shape.data(),
                               shape.size(), data, size)) {}
  MSTensor(const MSTensor& other) : handle_(DeputyMSTensorRetain(other.handle_)) {}
  MSTensor(MSTensor&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  MSTensor& operator=(MSTensor other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~MSTensor() { DeputyMSTensorRelease(handle_); }

  // The functions below that return a pointer create a tensor, which the caller frees with
  // DestroyTensorPtr. They return null on failure.

  // Copies the data. Deputy has tensors in the host's memory only: `device` must be "" or "CPU".
  static MSTensor* CreateTensor(const std::string& name, enum DataType type,
                                const std::vector<int64_t>& shape, const void* data, size_t size,
                                const std::string& device = "", int /*device_id*/ = -1) noexcept {
    if (!IsHost(device)) return nullptr;
    return Own(MSTensorCreate(name.c_str(), static_cast<MSDataType>(type), shape.data(),
                              shape.size(), data, size));
  }
  // Copies a tensor, and gives the copy a name.
  static MSTensor* CreateTensor(const std::string& name, const MSTensor& tensor,
                                const std::string& device = "", int /*device_id*/ = -1) noexcept {
    if (!IsHost(device)) return nullptr;
    MSTensor* copy = tensor.Clone();
    if (copy != nullptr) copy->SetTensorName(name);
    return copy;
  }
  // Uses the data in place. With `own_data`, the tensor frees it with free(). A size that does not
  // match type and shape is a failure.
  static MSTensor* CreateRefTensor(const std::string& name, enum DataType type,
                                   const std::vector<int64_t>& shape, const void* data, size_t size,
                                   bool own_data = true) noexcept {
    MSTensor* tensor = CreateTensor(name, type, shape, nullptr, 0);
    if (tensor == nullptr) return nullptr;
    if (size != tensor->DataSize()) {
      DestroyTensorPtr(tensor);
      return nullptr;
    }
    tensor->SetData(const_cast<void*>(data), own_data);
    return tensor;
  }
  // Returns a tensor with the address of data on a device (SetDeviceData), and none in the host's
  // memory.
  static MSTensor CreateDeviceTensor(const std::string& name, enum DataType type,
                                     const std::vector<int64_t>& shape, void* data,
                                     size_t size) noexcept {
    MSTensor tensor(name, type, shape, nullptr, 0);
    if (tensor.DataSize() != size) return nullptr;
    tensor.SetDeviceData(data);
    return tensor;
  }
  // The form of 1.x, whose result the caller frees.
  static MSTensor* CreateDevTensor(const std::string& name, enum DataType type,
                                   const std::vector<int64_t>& shape, const void* data,
                                   size_t size) noexcept {
    MSTensor tensor = CreateDeviceTensor(name, type, shape, const_cast<void*>(data), size);
    return tensor == nullptr ? nullptr : new (std::nothrow) MSTensor(std::move(tensor));
  }
  // Reads a whole file; its path is the tensor's name. Without a shape, the tensor has one
  // dimension. A file whose size does not match type and shape is a failure.
  static MSTensor* CreateTensorFromFile(const std::string& file,
                                        enum DataType type = DataType::kNumberTypeUInt8,
                                        const std::vector<int64_t>& shape = {}) noexcept {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) return nullptr;
    const std::string bytes((std::istreambuf_iterator<char>(stream)), {});
    const MSTensor element("", type, {1}, nullptr, 0);
    if (element.DataSize() == 0) return nullptr;
    const auto count = static_cast<int64_t>(bytes.size() / element.DataSize());
    return CreateTensor(file, type, shape.empty() ? std::vector<int64_t>{count} : shape,
                        bytes.data(), bytes.size());
  }
  // Creates a tensor of texts, of type kObjectTypeString; TensorToStrings returns its texts.
  static MSTensor* StringsToTensor(const std::string& name, const std::vector<std::string>& texts) {
    std::vector<const char*> pointers;
    std::vector<size_t> sizes;
    for (const std::string& text : texts) {
      pointers.push_back(text.data());
      sizes.push_back(text.size());
    }
    return Own(
        DeputyMSTensorCreateStrings(name.c_str(), pointers.data(), sizes.data(), pointers.size()));
  }
  static std::vector<std::string> TensorToStrings(const MSTensor& tensor) {
    std::vector<std::string> texts;
    if (tensor == nullptr) return texts;
    const size_t count = DeputyMSTensorGetString(tensor.handle_, 0, nullptr, nullptr);
    for (size_t i = 0; i < count; ++i) {
      const char* text = nullptr;
      size_t size = 0;
      DeputyMSTensorGetString(tensor.handle_, i, &text, &size);
      texts.emplace_back(text, size);
    }
    return texts;
  }
  static void DestroyTensorPtr(MSTensor* tensor) noexcept { delete tensor; }
  // Returns a deep copy.
  MSTensor* Clone() const { return handle_ == nullptr ? nullptr : Own(MSTensorClone(handle_)); }

  std::string Name() const { return handle_ == nullptr ? "" : MSTensorGetName(handle_); }
  enum DataType DataType() const {
    return static_cast<enum DataType>(handle_ == nullptr ? 0 : MSTensorGetDataType(handle_));
  }
  // Returns the shape. The reference is valid as long as the tensor; a later call of Shape updates
  // the vector.
  const std::vector<int64_t>& Shape() const {
    static const std::vector<int64_t> empty;
    detail::TensorAttachment* attachment = detail::TensorAttachment::Of(handle_);
    if (attachment == nullptr) return empty;
    const std::lock_guard<std::mutex> lock(attachment->mutex);
    size_t rank = 0;
    const int64_t* dims = MSTensorGetShape(handle_, &rank);
    std::vector<int64_t>& shape = attachment->shape;
    if (!std::equal(shape.begin(), shape.end(), dims, dims + rank)) shape.assign(dims, dims + rank);
    return shape;
  }
  int64_t ElementNum() const { return handle_ == nullptr ? 0 : MSTensorGetElementNum(handle_); }
  size_t DataSize() const { return handle_ == nullptr ? 0 : MSTensorGetDataSize(handle_); }
  mindspore::Format format() const {
    if (handle_ == nullptr) return NHWC;
    return static_cast<mindspore::Format>(MSTensorGetFormat(handle_));
  }
  bool IsConst() const { return DeputyMSTensorIsConst(handle_); }
  // True if the tensor has the address of data on a device.
  bool IsDevice() const { return DeputyMSTensorGetDeviceData(handle_) != nullptr; }
  // Name and number of the device that holds Data(): always the host.
  std::string GetDevice() const { return ""; }
  int GetDeviceId() const { return -1; }
  std::vector<QuantParam> QuantParams() const {
    std::vector<DeputyMSQuantParam> params(DeputyMSTensorGetQuantParams(handle_, nullptr, 0));
    DeputyMSTensorGetQuantParams(handle_, params.data(), params.size());
    std::vector<QuantParam> result;
    for (const auto& p : params) result.push_back({p.bit_num, p.scale, p.zero_point, p.min, p.max});
    return result;
  }

  // Returns the tensor's data; null while the tensor has no memory. During Delegate::Build only
  // constants have data.
  std::shared_ptr<const void> Data() const {
    const void* data = handle_ == nullptr ? nullptr : MSTensorGetData(handle_);
    return {data, [](const void*) {}};
  }
  // Returns the tensor's data for writing, and allocates memory if there is none
  // (MSTensorGetMutableData in tensor_c.h has the exceptions).
  void* MutableData() { return handle_ == nullptr ? nullptr : MSTensorGetMutableData(handle_); }

  void SetTensorName(const std::string& name) {
    if (handle_ != nullptr) MSTensorSetName(handle_, name.c_str());
  }
  void SetDataType(enum DataType type) {
    if (handle_ != nullptr) MSTensorSetDataType(handle_, static_cast<MSDataType>(type));
  }
  void SetShape(const std::vector<int64_t>& shape) {
    if (handle_ != nullptr) MSTensorSetShape(handle_, shape.data(), shape.size());
  }
  void SetFormat(mindspore::Format format) {
    if (handle_ != nullptr) MSTensorSetFormat(handle_, static_cast<MSFormat>(format));
  }
  // Makes the tensor use `data`. With `own_data`, the default as in MindSpore Lite, the tensor
  // frees it, with its allocator or else with free(), with the last reference to the tensor.
  // Without, and for data that a further call replaces, the caller frees it.
  void SetData(void* data, bool own_data = true) {
    if (handle_ != nullptr) DeputyMSTensorSetData(handle_, data, own_data);
  }
  // Set and return the address of the data on a device, which the runtime passes to kernels of a
  // delegate (DeputyMSTensorSetDeviceData in extensions_c.h).
  void SetDeviceData(void* data) {
    if (handle_ != nullptr) DeputyMSTensorSetDeviceData(handle_, data);
  }
  void* GetDeviceData() const { return DeputyMSTensorGetDeviceData(handle_); }
  // Set and return the allocator of a tensor that belongs to the caller; null for the heap. Memory
  // that the tensor has is freed. The runtime allocates the tensors of models and delegates itself.
  void SetAllocator(const std::shared_ptr<Allocator>& allocator) {
    detail::TensorAttachment* attachment = detail::TensorAttachment::Of(handle_);
    if (attachment == nullptr) return;
    MSStatus status = kMSStatusSuccess;
    if (allocator == nullptr) {
      status = DeputyMSTensorSetAllocator(handle_, nullptr);
    } else {
      const DeputyMSAllocator functions = detail::ToC(allocator);
      status = DeputyMSTensorSetAllocator(handle_, &functions);
    }
    const std::lock_guard<std::mutex> lock(attachment->mutex);
    if (status == kMSStatusSuccess) attachment->allocator = allocator;
  }
  std::shared_ptr<Allocator> allocator() const {
    detail::TensorAttachment* attachment = detail::TensorAttachment::Of(handle_);
    if (attachment == nullptr) return nullptr;
    const std::lock_guard<std::mutex> lock(attachment->mutex);
    return attachment->allocator;
  }
  // Sets the parameters of a tensor that belongs to the caller.
  void SetQuantParams(const std::vector<QuantParam>& params) {
    std::vector<DeputyMSQuantParam> c;
    for (const auto& p : params) c.push_back({p.bit_num, p.zero_point, p.scale, p.min, p.max});
    if (handle_ != nullptr) DeputyMSTensorSetQuantParams(handle_, c.data(), c.size());
  }

  // An opaque object that keeps the tensor alive; null for a null tensor. A tensor that is created
  // from it is the same tensor.
  class Impl;
  std::shared_ptr<Impl> impl() const {
    if (handle_ == nullptr) return nullptr;
    return {static_cast<Impl*>(DeputyMSTensorRetain(handle_)),
            [](Impl* tensor) { DeputyMSTensorRelease(tensor); }};
  }
  explicit MSTensor(const std::shared_ptr<Impl>& impl)
      : handle_(DeputyMSTensorRetain(impl.get())) {}

  MSTensorHandle handle() const { return handle_; }
  bool operator==(const MSTensor& other) const { return handle_ == other.handle_; }
  bool operator!=(const MSTensor& other) const { return handle_ != other.handle_; }
  bool operator==(std::nullptr_t) const { return handle_ == nullptr; }
  bool operator!=(std::nullptr_t) const { return handle_ != nullptr; }

 private:
  static bool IsHost(const std::string& device) { return device.empty() || device == "CPU"; }
  // Takes over the caller's reference to a tensor of the C API.
  static MSTensor* Own(MSTensorHandle handle) {
    if (handle == nullptr) return nullptr;
    auto* tensor = new (std::nothrow) MSTensor;
    if (tensor == nullptr) {
      DeputyMSTensorRelease(handle);
    } else {
      tensor->handle_ = handle;
    }
    return tensor;
  }

  MSTensorHandle handle_ = nullptr;
};

// Bytes of a model file. Copies refer to the same bytes.
class Buffer {
 public:
  Buffer() = default;
  Buffer(const void* data, size_t size) { SetData(data, size); }

  const void* Data() const { return bytes_->data(); }
  void* MutableData() { return bytes_->data(); }
  size_t DataSize() const { return bytes_->size(); }
  // Changes the size; new bytes are 0. Returns false if out of memory, as SetData does.
  bool ResizeData(size_t size) {
    try {
      bytes_->resize(size);
      return true;
    } catch (...) {
      return false;
    }
  }
  // Copies the bytes.
  bool SetData(const void* data, size_t size) {
    if ((data == nullptr && size > 0) || !ResizeData(size)) return false;
    std::copy_n(static_cast<const unsigned char*>(data), size, bytes_->data());
    return true;
  }
  // Returns a deep copy.
  Buffer Clone() const { return {Data(), DataSize()}; }

 private:
  std::shared_ptr<std::vector<unsigned char>> bytes_ =
      std::make_shared<std::vector<unsigned char>>();
};

// Key of an encrypted model. Deputy does not decrypt models: Model::Build refuses a key.
struct Key {
  Key() = default;
  Key(const char* bytes, size_t size) : len(std::min(size, max_key_len)) {
    if (bytes != nullptr) std::copy_n(bytes, len, key);
  }
  static constexpr size_t max_key_len = 32;
  size_t len = 0;
  unsigned char key[max_key_len] = {};
};
constexpr char kDecModeAesGcm[] = "AES-GCM";

// Returns a text with the version of Deputy and of the API.
inline std::string Version() { return DeputyMSVersion(); }
inline std::vector<char> CharVersion() { return StringToChar(Version()); }

// Description of a node, passed to callbacks.
struct MSCallBackParam {
  std::string node_name;
  std::string node_type;
  double execute_time = 0;  // not measured
  int arch = 0;             // not set
};
using MSKernelCallBack =
    std::function<bool(const std::vector<MSTensor>& inputs, const std::vector<MSTensor>& outputs,
                       const MSCallBackParam& info)>;

namespace detail {
inline std::vector<MSTensor> ToTensors(const MSTensorHandleArray& array) {
  std::vector<MSTensor> tensors;
  tensors.reserve(array.handle_num);
  for (size_t i = 0; i < array.handle_num; ++i) tensors.emplace_back(array.handle_list[i]);
  return tensors;
}
inline std::vector<MSTensorHandle> ToHandles(const std::vector<MSTensor>& tensors) {
  std::vector<MSTensorHandle> handles;
  handles.reserve(tensors.size());
  for (const MSTensor& tensor : tensors) handles.push_back(tensor.handle());
  return handles;
}
inline MSTensorHandleArray ToArray(std::vector<MSTensorHandle>* handles) {
  return {handles->size(), handles->data()};
}
}  // namespace detail

}  // namespace mindspore

#endif  // DEPUTY_MINDSPORE_INCLUDE_TYPES_H_
