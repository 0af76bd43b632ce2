// SPDX-License-Identifier: Apache-2.0
//
// Owning pointers to TfLiteIntArray and TfLiteFloatArray, and functions that create arrays from C++
// containers.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_ARRAY_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_ARRAY_H_

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/core/c/common_inline.h"

namespace tflite {
namespace array_internal {

struct TfLiteArrayDeleter {
  void operator()(TfLiteIntArray* array) { std::free(array); }
  void operator()(TfLiteFloatArray* array) { std::free(array); }
};

template <class T>
struct TfLiteArrayInfo;
template <>
struct TfLiteArrayInfo<int> {
  using Type = TfLiteIntArray;
};
template <>
struct TfLiteArrayInfo<float> {
  using Type = TfLiteFloatArray;
};

}  // namespace array_internal

template <class T>
using TfLiteArrayUniquePtr = std::unique_ptr<typename array_internal::TfLiteArrayInfo<T>::Type,
                                             array_internal::TfLiteArrayDeleter>;
using IntArrayUniquePtr = TfLiteArrayUniquePtr<int>;
using FloatArrayUniquePtr = TfLiteArrayUniquePtr<float>;

// Every overload returns null if the size is negative or if out of memory.

// Array of `size` uninitialised elements.
template <class T = int>
TfLiteArrayUniquePtr<T> BuildTfLiteArray(int size);
template <>
inline IntArrayUniquePtr BuildTfLiteArray<int>(int size) {
  return IntArrayUniquePtr(inline_c::CreateIntArray(size));
}
template <>
inline FloatArrayUniquePtr BuildTfLiteArray<float>(int size) {
  return FloatArrayUniquePtr(inline_c::CreateFloatArray(size));
}

// Copy of `size` values, converted to T if that is given. Null values leave the elements
// uninitialised.
template <class T = void, class U, class Type = std::conditional_t<std::is_void_v<T>, U, T>>
TfLiteArrayUniquePtr<Type> BuildTfLiteArray(int size, const U* values) {
  auto array = BuildTfLiteArray<Type>(size);
  if (array == nullptr || values == nullptr) return array;
  for (int i = 0; i < size; ++i) array->data[i] = static_cast<Type>(values[i]);
  return array;
}

// Copy of a C array.
template <class T, std::size_t N>
TfLiteArrayUniquePtr<T> BuildTfLiteArray(const T (&values)[N]) {
  return BuildTfLiteArray<T>(static_cast<int>(N), values);
}

// Copy of a container with contiguous elements, such as std::vector.
template <class T = void, class Container,
          class Element = std::decay_t<decltype(*std::declval<Container>().data())>,
          class Size = std::decay_t<decltype(std::declval<Container>().size())>,
          class Type = std::conditional_t<std::is_void_v<T>, Element, T>>
TfLiteArrayUniquePtr<Type> BuildTfLiteArray(const Container& values) {
  return BuildTfLiteArray<Type>(static_cast<int>(values.size()), values.data());
}

// Copy of a list in braces.
template <class T>
TfLiteArrayUniquePtr<T> BuildTfLiteArray(const std::initializer_list<T>& values) {
  return BuildTfLiteArray<T>(static_cast<int>(values.size()), values.begin());
}

// Copies of arrays.
inline IntArrayUniquePtr BuildTfLiteArray(const TfLiteIntArray& other) {
  return BuildTfLiteArray<int>(other.size, other.data);
}
inline FloatArrayUniquePtr BuildTfLiteArray(const TfLiteFloatArray& other) {
  return BuildTfLiteArray<float>(other.size, other.data);
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_ARRAY_H_
