// SPDX-License-Identifier: Apache-2.0
//
// MSTensor and the enums of MindSpore Lite's C++ API.
#ifndef DEPUTY_MINDSPORE_INCLUDE_TYPES_H_
#define DEPUTY_MINDSPORE_INCLUDE_TYPES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "delegate_c.h"

namespace mindspore {

enum class DataType : int {
  kTypeUnknown = 0,
  kObjectTypeString = 12,
  kObjectTypeList = 13,
  kObjectTypeTuple = 14,
  kObjectTypeTensorType = 17,
  kNumberTypeBool = 30,
  kNumberTypeInt8 = 32,
  kNumberTypeInt16 = 33,
  kNumberTypeInt32 = 34,
  kNumberTypeInt64 = 35,
  kNumberTypeUInt8 = 37,
  kNumberTypeUInt16 = 38,
  kNumberTypeUInt32 = 39,
  kNumberTypeUInt64 = 40,
  kNumberTypeFloat16 = 42,
  kNumberTypeFloat32 = 43,
  kNumberTypeFloat64 = 44,
  kNumberTypeBFloat16 = 45,
  kNumberTypeComplex64 = 51,
  kNumberTypeComplex128 = 52,
};

enum Format : int64_t {
  DEFAULT_FORMAT = -1,
  NCHW = 0,
  NHWC = 1,
  NHWC4 = 2,
  HWKC = 3,
  HWCK = 4,
  KCHW = 5,
  CKHW = 6,
  KHWC = 7,
  CHWK = 8,
  HW = 9,
  HW4 = 10,
  NC = 11,
  NC4 = 12,
  NC4HW4 = 13,
  NCDHW = 15,
  NWC = 16,
  NCW = 17,
  NC8HW8 = 18,
};

enum ModelType : uint32_t {
  kMindIR = 0,
  kAIR = 1,
  kOM = 2,
  kONNX = 3,
  kMindIR_Lite = 4,
  kDataFlow = 5,
  kUnknownType = 0xFFFFFFFF,
};

enum DeviceType : uint32_t {
  kCPU = 0,
  kGPU = 1,
  kKirinNPU = 2,
  kAscend = 3,
  kAscend910 = 4,
  kAscend310 = 5,
  kDSP = 6,
  kCustomDevice = 7,
  kAllDevice = 8,
  kInvalidDeviceType = 100,
};

struct QuantParam {
  int bit_num = 0;
  double scale = 0;
  int32_t zero_point = 0;
  double min = 0;
  double max = 0;
};

// A reference to a tensor: copies refer to the same tensor, and == compares references, not
// contents. A null handle equals nullptr; its getters return empty values.
class MSTensor {
 public:
  MSTensor() = default;
  MSTensor(std::nullptr_t) {}  // NOLINT: implicit, as upstream
  // Adds a reference to a tensor of the C API.
  explicit MSTensor(MSTensorHandle handle) : handle_(DeputyMSTensorRetain(handle)) {}
  // Creates a tensor with a copy of the data, which may be null.
  MSTensor(const std::string& name, DataType type, const std::vector<int64_t>& shape,
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

  // Create tensors, which the caller frees with DestroyTensorPtr; null on failure. CreateTensor
  // copies the data, CreateRefTensor uses it in place.
  static MSTensor* CreateTensor(const std::string& name, DataType type,
                                const std::vector<int64_t>& shape, const void* data,
                                size_t size) noexcept {
    auto* tensor = new (std::nothrow) MSTensor(name, type, shape, data, size);
    if (tensor != nullptr && tensor->handle_ == nullptr)
      DestroyTensorPtr(std::exchange(tensor, {}));
    return tensor;
  }
  static MSTensor* CreateRefTensor(const std::string& name, DataType type,
                                   const std::vector<int64_t>& shape, const void* data,
                                   size_t /*size*/) noexcept {
    MSTensor* tensor = CreateTensor(name, type, shape, nullptr, 0);
    if (tensor != nullptr) tensor->SetData(const_cast<void*>(data));
    return tensor;
  }
  static void DestroyTensorPtr(MSTensor* tensor) noexcept { delete tensor; }
  // Returns a deep copy.
  MSTensor* Clone() const {
    MSTensorHandle copy = handle_ == nullptr ? nullptr : MSTensorClone(handle_);
    if (copy == nullptr) return nullptr;
    auto* tensor = new MSTensor;
    tensor->handle_ = copy;
    return tensor;
  }

  std::string Name() const { return handle_ == nullptr ? "" : MSTensorGetName(handle_); }
  enum DataType DataType() const {
    return static_cast<enum DataType>(handle_ == nullptr ? 0 : MSTensorGetDataType(handle_));
  }
  std::vector<int64_t> Shape() const {
    size_t rank = 0;
    const int64_t* dims = handle_ == nullptr ? nullptr : MSTensorGetShape(handle_, &rank);
    return dims == nullptr ? std::vector<int64_t>() : std::vector<int64_t>(dims, dims + rank);
  }
  int64_t ElementNum() const { return handle_ == nullptr ? 0 : MSTensorGetElementNum(handle_); }
  size_t DataSize() const { return handle_ == nullptr ? 0 : MSTensorGetDataSize(handle_); }
  mindspore::Format format() const {
    if (handle_ == nullptr) return NHWC;
    return static_cast<mindspore::Format>(MSTensorGetFormat(handle_));
  }
  bool IsConst() const { return DeputyMSTensorIsConst(handle_); }
  bool IsDevice() const { return false; }
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
  // Returns the tensor's data for writing, and allocates memory if there is none.
  void* MutableData() { return handle_ == nullptr ? nullptr : MSTensorGetMutableData(handle_); }

  void SetTensorName(const std::string& name) { MSTensorSetName(handle_, name.c_str()); }
  void SetDataType(enum DataType type) {
    MSTensorSetDataType(handle_, static_cast<MSDataType>(type));
  }
  void SetShape(const std::vector<int64_t>& shape) {
    MSTensorSetShape(handle_, shape.data(), shape.size());
  }
  void SetFormat(mindspore::Format format) {
    MSTensorSetFormat(handle_, static_cast<MSFormat>(format));
  }
  // Makes the tensor use `data`, which the caller still owns.
  void SetData(void* data, bool /*own_data*/ = false) { MSTensorSetData(handle_, data); }

  MSTensorHandle handle() const { return handle_; }
  bool operator==(const MSTensor& other) const { return handle_ == other.handle_; }
  bool operator!=(const MSTensor& other) const { return handle_ != other.handle_; }
  bool operator==(std::nullptr_t) const { return handle_ == nullptr; }
  bool operator!=(std::nullptr_t) const { return handle_ != nullptr; }

 private:
  MSTensorHandle handle_ = nullptr;
};

// Description of a node, passed to callbacks.
struct MSCallBackParam {
  std::string node_name;
  std::string node_type;
  double execute_time = 0;
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
