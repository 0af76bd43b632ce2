// SPDX-License-Identifier: Apache-2.0
//
// What stands behind an MSTensorHandle: a tensor of the caller's, or a view of one in a graph.
#ifndef DEPUTY_MINDSPORE_SRC_TENSOR_H_
#define DEPUTY_MINDSPORE_SRC_TENSOR_H_

#include <atomic>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "deputy/common.h"
#include "mindspore/include/delegate_c.h"

namespace deputy::ms_api {

MSDataType DataTypeOf(TfLiteType type);

// Size of an element; 0 where it has none.
size_t ElementSize(MSDataType type);

// Where views find their tensors: an interpreter, or the context of a delegate.
class TensorSource {
 public:
  TensorSource() = default;
  TensorSource(const TensorSource&) = delete;
  TensorSource& operator=(const TensorSource&) = delete;
  virtual ~TensorSource() = default;

  // The tensor; null if there is none of that number.
  virtual TfLiteTensor* At(int index) = 0;
  // The tensor has memory of the runtime's.
  virtual bool HasMemory(int index) = 0;
  // Nobody but one kernel of a delegate knows the tensor, so that its memory is the view's.
  virtual bool IsInner(int index) = 0;
  // False, with a report, if the shape cannot be changed now.
  virtual bool SetShape(int index, std::span<const int64_t> shape) = 0;
  // The caller may give memory for it.
  virtual bool TakesData(int index) = 0;
};

class Tensor {
 public:
  // A tensor of the caller's.
  Tensor(std::string name, MSDataType type, std::vector<int64_t> shape);
  // A view.
  Tensor(TensorSource* source, int index);
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  static Tensor* Of(MSTensorHandle handle) { return static_cast<Tensor*>(handle); }

  void Retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  // A view whose graph is gone.
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
  bool set_data(void* data);
  // Memory that the caller has given for a view; null if none.
  const void* given_data() const { return is_view_ ? borrowed_ : nullptr; }
  std::vector<DeputyMSQuantParam> quantization();
  // A tensor of the caller's with the same contents; null if memory is short.
  std::unique_ptr<Tensor> Clone();
  // Allocates memory and copies the bytes. False if memory is short.
  bool CopyIn(const void* bytes, size_t size);

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };

  friend struct std::default_delete<Tensor>;
  ~Tensor() = default;
  TfLiteTensor* graph_tensor() { return source_ == nullptr ? nullptr : source_->At(index_); }
  bool own_memory() { return !is_view_ || (source_ != nullptr && source_->IsInner(index_)); }

  std::atomic<int> references_{1};
  const bool is_view_;
  TensorSource* source_ = nullptr;
  int index_ = -1;
  std::string name_;
  MSDataType type_ = kMSDataTypeUnknown;
  MSFormat format_ = kMSFormatNHWC;
  std::vector<int64_t> shape_;  // of a view: what was returned last, or of an inner tensor was set
  bool shape_is_set_ = false;
  void* borrowed_ = nullptr;
  std::unique_ptr<void, Free> memory_;
};

// The views of one graph, each made when it is asked for first, so that one tensor has one handle.
class TensorTable {
 public:
  explicit TensorTable(TensorSource* source) : source_(source) {}
  TensorTable(const TensorTable&) = delete;
  TensorTable& operator=(const TensorTable&) = delete;
  ~TensorTable();

  // The view of a tensor, which the table owns.
  MSTensorHandle Handle(int index);
  // Views of all but the optional tensors that are absent.
  std::vector<MSTensorHandle> Handles(std::span<const int> indices);

 private:
  TensorSource* source_;
  std::vector<Tensor*> tensors_;  // by number, null where nobody has asked
};

// The array as the C API hands it out.
inline MSTensorHandleArray ArrayOf(const std::vector<MSTensorHandle>& handles) {
  return {handles.size(), const_cast<MSTensorHandle*>(handles.data())};
}

}  // namespace deputy::ms_api

#endif  // DEPUTY_MINDSPORE_SRC_TENSOR_H_
