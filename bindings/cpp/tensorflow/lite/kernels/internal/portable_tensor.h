// SPDX-License-Identifier: Apache-2.0
//
// Lists of tensors for kernels with any number of inputs or outputs, and a writer for kernels that
// pick elements.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_PORTABLE_TENSOR_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_PORTABLE_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/kernels/internal/tensor_ctypes.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {

// Data and shapes of tensors. Copies the shapes; the data is borrowed.
template <typename T>
class VectorOfTensors {
 public:
  VectorOfTensors(const TfLiteContext& context, const TfLiteIntArray& tensor_list) {
    Reserve(static_cast<size_t>(tensor_list.size));
    for (int i = 0; i < tensor_list.size; ++i) Add(&context.tensors[tensor_list.data[i]]);
    PointToShapes();
  }

  explicit VectorOfTensors(const std::vector<TfLiteTensor*>& tensors) {
    Reserve(tensors.size());
    for (TfLiteTensor* tensor : tensors) Add(tensor);
    PointToShapes();
  }

  // The pointers in shapes() are into this object.
  VectorOfTensors(const VectorOfTensors&) = delete;
  VectorOfTensors& operator=(const VectorOfTensors&) = delete;

  T* const* data() const { return all_data_.data(); }
  const RuntimeShape* const* shapes() const { return all_shape_ptr_.data(); }
  size_t size() const { return all_data_.size(); }

 private:
  void Reserve(size_t count) {
    all_data_.reserve(count);
    all_shape_.reserve(count);
    all_shape_ptr_.reserve(count);
  }
  void Add(TfLiteTensor* tensor) {
    all_data_.push_back(GetTensorData<T>(tensor));
    all_shape_.push_back(GetTensorShape(tensor));
  }
  // Called when `all_shape_` is complete: its elements no longer move.
  void PointToShapes() {
    for (RuntimeShape& shape : all_shape_) all_shape_ptr_.push_back(&shape);
  }

  std::vector<T*> all_data_;
  std::vector<RuntimeShape> all_shape_;
  std::vector<RuntimeShape*> all_shape_ptr_;
};

// Data, shapes, scales and zero points of tensors.
class VectorOfQuantizedTensors : public VectorOfTensors<uint8_t> {
 public:
  VectorOfQuantizedTensors(const TfLiteContext& context, const TfLiteIntArray& tensor_list)
      : VectorOfTensors<uint8_t>(context, tensor_list) {
    for (int i = 0; i < tensor_list.size; ++i) {
      const TfLiteQuantizationParams& params = context.tensors[tensor_list.data[i]].params;
      zero_point_.push_back(params.zero_point);
      scale_.push_back(params.scale);
    }
  }

  const float* scale() const { return scale_.data(); }
  const int32_t* zero_point() const { return zero_point_.data(); }

 private:
  std::vector<int32_t> zero_point_;
  std::vector<float> scale_;
};

// Copies elements of an input, at positions in any order, to consecutive elements of an output.
template <typename T>
class SequentialTensorWriter {
 public:
  SequentialTensorWriter(const TfLiteTensor* input, TfLiteTensor* output)
      : input_data_(GetTensorData<T>(input)), output_ptr_(GetTensorData<T>(output)) {}
  SequentialTensorWriter(const T* input_data, T* output_data)
      : input_data_(input_data), output_ptr_(output_data) {}

  void Write(int64_t position) { *output_ptr_++ = input_data_[position]; }
  void WriteN(int64_t position, int len) {
    std::memcpy(output_ptr_, &input_data_[position], sizeof(T) * static_cast<size_t>(len));
    output_ptr_ += len;
  }

 private:
  const T* input_data_;
  T* output_ptr_;
};

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_PORTABLE_TENSOR_H_
