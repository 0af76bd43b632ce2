// SPDX-License-Identifier: Apache-2.0
//
// absl::Span with the members of a container.
#ifndef DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_ABSL_TYPES_SPAN_H_
#define DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_ABSL_TYPES_SPAN_H_

#include <cstddef>
#include <type_traits>
#include <vector>

namespace absl {

template <class T>
class Span {
 public:
  using value_type = std::remove_cv_t<T>;
  using iterator = T*;
  using const_iterator = const T*;
  using size_type = std::size_t;

  Span(T* data, std::size_t size) : data_(data), size_(size) {}
  explicit Span(const std::vector<value_type>& values) : Span(values.data(), values.size()) {}

  T* begin() const { return data_; }
  T* end() const { return data_ + size_; }
  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) const { return data_[i]; }

 private:
  T* data_;
  std::size_t size_;
};

}  // namespace absl

#endif  // DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_ABSL_TYPES_SPAN_H_
