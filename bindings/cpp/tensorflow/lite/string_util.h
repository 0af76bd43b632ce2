// SPDX-License-Identifier: Apache-2.0
//
// Contents of string tensors: the number of strings, their offsets and the end of the last one as
// int32 each, then the characters.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_STRING_UTIL_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_STRING_UTIL_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/core/c/common_inline.h"
#include "tensorflow/lite/string_type.h"  // IWYU pragma: export

namespace tflite {

// Default limit on the characters of a DynamicBuffer.
constexpr std::uint64_t kDefaultMaxLength = std::numeric_limits<int>::max();

// A string inside other memory, not terminated by a NUL.
struct StringRef {
  const char* str;
  std::size_t len;
};

// Collects strings and writes them as contents of a tensor.
class DynamicBuffer {
 public:
  explicit DynamicBuffer(std::size_t max_length = kDefaultMaxLength) : max_length_(max_length) {}

  // Appends a string, which is copied. kTfLiteError unless the number of characters stays below the
  // limit.
  TfLiteStatus AddString(const StringRef& text) { return AddString(text.str, text.len); }
  TfLiteStatus AddString(const char* str, std::size_t len) {
    if (len > max_length_ || data_.size() >= max_length_ - len) return kTfLiteError;
    data_.insert(data_.end(), str, str + len);
    ends_.push_back(data_.size());
    return kTfLiteOk;
  }

  // Appends one string that consists of `strings` with the separator between them.
  void AddJoinedString(const std::vector<StringRef>& strings, char separator) {
    AddJoinedString(strings, StringRef{&separator, 1});
  }
  void AddJoinedString(const std::vector<StringRef>& strings, StringRef separator) {
    for (std::size_t i = 0; i < strings.size(); ++i) {
      if (i > 0) data_.insert(data_.end(), separator.str, separator.str + separator.len);
      data_.insert(data_.end(), strings[i].str, strings[i].str + strings[i].len);
    }
    ends_.push_back(data_.size());
  }

  // Stores a malloc block, which the caller frees, in `buffer` and returns its size in bytes; -1 if
  // out of memory or if the size exceeds the range of int.
  int WriteToBuffer(char** buffer) {
    const std::size_t header = sizeof(std::int32_t) * (ends_.size() + 2);
    const std::size_t bytes = header + data_.size();
    *buffer = bytes > kDefaultMaxLength ? nullptr : static_cast<char*>(std::malloc(bytes));
    if (*buffer == nullptr) return -1;
    PutInt(*buffer, 0, ends_.size());
    PutInt(*buffer, 1, header);
    for (std::size_t i = 0; i < ends_.size(); ++i) PutInt(*buffer, i + 2, header + ends_[i]);
    if (!data_.empty()) std::memcpy(*buffer + header, data_.data(), data_.size());
    return static_cast<int>(bytes);
  }

  // Replace the contents of a tensor, which becomes dynamic and loses its shape signature,
  // quantisation and sparsity. WriteToTensor takes ownership of `new_shape`; null keeps the
  // tensor's shape. WriteToTensorAsVector sets the shape [number of strings]. If WriteToBuffer
  // fails, the tensor does not change and `new_shape` is freed.
  void WriteToTensor(TfLiteTensor* tensor, TfLiteIntArray* new_shape) {
    char* contents = nullptr;
    const int bytes = WriteToBuffer(&contents);
    if (bytes < 0) {
      std::free(new_shape);
      return;
    }
    if (new_shape == nullptr) {
      new_shape = tensor->dims;
      tensor->dims = nullptr;
    }
    inline_c::FreeTensor(tensor);
    tensor->dims = new_shape;
    tensor->data.raw = contents;
    tensor->bytes = static_cast<std::size_t>(bytes);
    tensor->allocation_type = kTfLiteDynamic;
  }
  void WriteToTensorAsVector(TfLiteTensor* tensor) {
    TfLiteIntArray* shape = inline_c::CreateIntArray(1);
    if (shape == nullptr) return;
    shape->data[0] = static_cast<int>(ends_.size());
    WriteToTensor(tensor, shape);
  }

 private:
  static void PutInt(char* to, std::size_t index, std::size_t value) {
    const auto number = static_cast<std::int32_t>(value);
    std::memcpy(to + index * sizeof number, &number, sizeof number);
  }

  std::vector<char> data_;
  // End of each string in data_.
  std::vector<std::size_t> ends_;
  std::size_t max_length_;
};

// Number of strings of a tensor or of its contents.
inline int GetStringCount(const void* raw_buffer) {
  std::int32_t count = 0;
  std::memcpy(&count, raw_buffer, sizeof count);
  return count;
}
inline int GetStringCount(const TfLiteTensor* tensor) { return GetStringCount(tensor->data.raw); }

// String at `string_index`, which is not checked. Borrows the contents.
inline StringRef GetString(const void* raw_buffer, int string_index) {
  const char* from = static_cast<const char*>(raw_buffer);
  std::int32_t bounds[2];
  const std::size_t index = static_cast<std::size_t>(string_index) + 1;
  std::memcpy(bounds, from + index * sizeof(std::int32_t), sizeof bounds);
  return StringRef{from + bounds[0], static_cast<std::size_t>(bounds[1] - bounds[0])};
}
inline StringRef GetString(const TfLiteTensor* tensor, int string_index) {
  return GetString(tensor->data.raw, string_index);
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_STRING_UTIL_H_
