// SPDX-License-Identifier: Apache-2.0
//
// portable_tensor.h and its writer for string tensors.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_TENSOR_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_TENSOR_H_

#include <cstdint>

#include "tensorflow/lite/kernels/internal/portable_tensor.h"  // IWYU pragma: export
#include "tensorflow/lite/string_util.h"

namespace tflite {

// The output is written when the writer is destroyed.
template <>
class SequentialTensorWriter<string> {
 public:
  SequentialTensorWriter(const TfLiteTensor* input, TfLiteTensor* output)
      : input_(input), output_(output) {}
  ~SequentialTensorWriter() { buffer_.WriteToTensor(output_, nullptr); }

  void Write(int64_t position) { WriteN(position, 1); }
  void WriteN(int64_t position, int len) {
    for (int i = 0; i < len; ++i) {
      buffer_.AddString(GetString(input_, static_cast<int>(position + i)));
    }
  }

 private:
  const TfLiteTensor* input_;
  TfLiteTensor* output_;
  DynamicBuffer buffer_;
};

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_TENSOR_H_
