// SPDX-License-Identifier: Apache-2.0
//
// View of a TfLiteIntArray for range-based loops.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CONTEXT_UTIL_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CONTEXT_UTIL_H_

#include <cstddef>

#include "tensorflow/lite/core/c/common.h"

namespace tflite {

// Borrows the array, which must not be null and must outlive the view.
class TfLiteIntArrayView {
 public:
  using const_iterator = const int*;

  explicit TfLiteIntArrayView(const TfLiteIntArray* int_array) : array_(int_array) {}
  TfLiteIntArrayView(const TfLiteIntArrayView&) = default;
  TfLiteIntArrayView& operator=(const TfLiteIntArrayView&) = default;

  const_iterator begin() const { return array_->data; }
  const_iterator end() const { return array_->data + array_->size; }
  std::size_t size() const { return static_cast<std::size_t>(array_->size); }
  int operator[](std::size_t index) const { return array_->data[index]; }

 private:
  const TfLiteIntArray* array_;
};

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CONTEXT_UTIL_H_
