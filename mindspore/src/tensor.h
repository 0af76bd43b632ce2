// SPDX-License-Identifier: Apache-2.0
//
// Implementation of MSTensorHandle: a tensor of the caller, or a view of a tensor in a graph.
#ifndef DEPUTY_MINDSPORE_SRC_TENSOR_H_
#define DEPUTY_MINDSPORE_SRC_TENSOR_H_

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "deputy/common.h"
#include "mindspore/include/extensions_c.h"

namespace deputy::ms_api {

MSDataType DataTypeOf(TfLiteType type);

// Returns the size of an element in bytes; 0 for types without a fixed size.
size_t ElementSize(MSDataType type);

// Addresses of tensors' data on a device, by tensor index. A model shares its table with the views
// of its delegate's kernels, which may run on another thread than the one that sets an address.
class DeviceAddresses {
 public:
  void Set(int index, void* address) {
    const std::scoped_lock lock(mutex_);
    if (address == nullptr) {
      addresses_.erase(index);
    } else {
      addresses_[index] = address;
    }
  }
  void* Get(int index) {
    const std::scoped_lock lock(mutex_);
    const auto found = addresses_.find(index);
    return found == addresses_.end() ? nullptr : found->second;
  }

 private:
  std::mutex mutex_;
  std::map<int, void*> addresses_;
};

// Memory functions of a tensor: the caller's allocator, or the heap.
class TensorAllocator {
 public:
  TensorAllocator() = default;
  explicit TensorAllocator(const DeputyMSAllocator& functions) : functions_(functions) {}
  TensorAllocator(const TensorAllocator&) = delete;
  TensorAllocator& operator=(const TensorAllocator&) = delete;
  ~TensorAllocator();

  // Returns zeroed memory; null if out of memory.
  void* Allocate(size_t size) const;
  void Free(void* memory) const;

 private:
  DeputyMSAllocator functions_ = {};
};

// Provides the tensors for views: an interpreter, or the context of a delegate.
class TensorSource {
 public:
  TensorSource() = default;
  TensorSource(const TensorSource&) = delete;
  TensorSource& operator=(const TensorSource&) = delete;
  virtual ~TensorSource() = default;

  // Returns the tensor; null if the index is out of range.
  virtual TfLiteTensor* At(int index) = 0;
  // Returns true if the runtime provides the tensor's memory.
  virtual bool HasMemory(int index) = 0;
  // Returns true if the tensor is internal to one kernel of a delegate, so that the view owns its
  // memory.
  virtual bool IsInner(int index) = 0;
  // Changes the shape. Returns false if the shape cannot be changed now.
  virtual bool SetShape(int index, std::span<const int64_t> shape) = 0;
  // Returns true if the caller may provide the tensor's memory.
  virtual bool AcceptsData(int index) = 0;
  // Returns the table of the graph's addresses on a device.
  virtual DeviceAddresses* addresses() = 0;
};

class Tensor {
 public:
  // Creates a tensor that belongs to the caller.
  Tensor(std::string name, MSDataType type, std::vector<int64_t> shape);
  // Creates a view of the tensor with an index in `source`.
  Tensor(TensorSource* source, int index);
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  static Tensor* Of(MSTensorHandle handle) { return static_cast<Tensor*>(handle); }

  void Retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  // Disconnects a view when its graph is destroyed.
  void Disconnect() { source_ = nullptr; }

  bool is_view() const { return is_view_; }
  int index() const { return index_; }
  const std::string& name();
  void set_name(const char* name) { name_ = name; }
  MSDataType type();
  bool set_type(MSDataType type);
  std::span<const int64_t> shape();
  bool set_shape(std::span<const int64_t> shape);
  MSFormat format() const { return format_; }
  void set_format(MSFormat format) { format_ = format; }
  bool is_constant();
  int64_t element_count();
  size_t byte_size();
  const void* data();
  void* mutable_data();
  // With `own_data`, the destructor frees the data.
  bool set_data(void* data, bool own_data);
  // Returns true if the caller has provided the tensor's memory.
  bool is_borrowing() const { return borrowed_ != nullptr; }
  // Returns the memory that the caller has provided for a view; null if none.
  const void* given_data() const { return is_view_ ? borrowed_ : nullptr; }
  bool set_device_data(void* address);
  void* device_data();
  bool set_allocator(std::shared_ptr<TensorAllocator> allocator);
  std::vector<DeputyMSQuantParam> quantization();
  // Sets the parameters of a tensor that belongs to the caller; those of a view are the graph's.
  bool set_quantization(std::span<const DeputyMSQuantParam> params);
  // Makes this tensor of the caller hold `bytes`, the packed form of texts.
  bool SetPackedTexts(const std::vector<char>& bytes);
  // Returns the attachment of the code that `create` identifies, creating it on the first call.
  void* Attach(void* (*create)(), void (*destroy)(void* object));
  // Returns a copy that belongs to the caller; null if out of memory.
  std::unique_ptr<Tensor> Clone();
  // Copies the bytes into the memory that the caller has provided, which must be large enough, or
  // into memory of the tensor. Returns false if out of memory.
  bool CopyIn(const void* bytes, size_t size);

 private:
  struct Attachment {
    void* (*create)();
    void (*destroy)(void* object);
    void* object;
  };

  friend struct std::default_delete<Tensor>;
  ~Tensor();
  void FreeMemory();
  TfLiteTensor* graph_tensor() { return source_ == nullptr ? nullptr : source_->At(index_); }
  bool own_memory() { return !is_view_ || (source_ != nullptr && source_->IsInner(index_)); }

  std::atomic<int> references_{1};
  const bool is_view_;
  TensorSource* source_ = nullptr;
  int index_ = -1;
  std::string name_;
  MSDataType type_ = kMSDataTypeUnknown;
  MSFormat format_ = kMSFormatNHWC;
  // Shape of the tensor; for a view, the result of the last shape(), or the shape that was set for
  // an internal tensor.
  std::vector<int64_t> shape_;
  bool shape_is_set_ = false;
  std::shared_ptr<TensorAllocator> allocator_ = std::make_shared<TensorAllocator>();
  void* borrowed_ = nullptr;
  bool owns_borrowed_ = false;
  void* memory_ = nullptr;
  size_t packed_size_ = 0;       // size of the packed texts in memory_
  void* device_data_ = nullptr;  // of a tensor of the caller
  std::vector<DeputyMSQuantParam> quantization_;
  std::mutex attachments_mutex_;
  std::vector<Attachment> attachments_;
};

// Returns the tensor of a handle. For NULL reports an error and returns null.
Tensor* CheckedTensor(MSTensorHandle handle, const char* function);

// The views of one graph. Each is created on first use, so that a tensor has one handle.
class TensorTable {
 public:
  explicit TensorTable(TensorSource* source) : source_(source) {}
  TensorTable(const TensorTable&) = delete;
  TensorTable& operator=(const TensorTable&) = delete;
  ~TensorTable();

  // Returns the view of a tensor, which the table owns.
  MSTensorHandle Handle(int index);
  // Returns the views of all tensors except absent optional ones.
  std::vector<MSTensorHandle> Handles(std::span<const int> indices);

 private:
  TensorSource* source_;
  std::vector<Tensor*> tensors_;  // by tensor index; null before the first use
};

// Returns the array for the C API, without copying the handles.
inline MSTensorHandleArray ArrayOf(const std::vector<MSTensorHandle>& handles) {
  return {handles.size(), const_cast<MSTensorHandle*>(handles.data())};
}

}  // namespace deputy::ms_api

#endif  // DEPUTY_MINDSPORE_SRC_TENSOR_H_
