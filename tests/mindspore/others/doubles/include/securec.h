// SPDX-License-Identifier: Apache-2.0
//
// Replaces a header of Huawei's bounds-checked functions.
#ifndef DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_INCLUDE_SECUREC_H_
#define DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_INCLUDE_SECUREC_H_

#include <cstddef>
#include <cstring>

constexpr int EOK = 0;

inline int memcpy_s(void* target, size_t limit, const void* source, size_t size) {
  if (size > limit) return 34;  // ERANGE
  std::memcpy(target, source, size);
  return EOK;
}

#endif  // DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_INCLUDE_SECUREC_H_
