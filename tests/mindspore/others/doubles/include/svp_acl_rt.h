// SPDX-License-Identifier: Apache-2.0
//
// Replaces a header of the DPICO device's library: memory, taken from the heap.
#ifndef DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_INCLUDE_SVP_ACL_RT_H_
#define DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_INCLUDE_SVP_ACL_RT_H_

#include <cstddef>
#include <cstdlib>

constexpr int SVP_ACL_SUCCESS = 0;
constexpr int SVP_ACL_MEM_MALLOC_NORMAL_ONLY = 2;

inline int svp_acl_rt_malloc_cached(void** pointer, size_t size, int /*policy*/) {
  *pointer = std::malloc(size);
  return *pointer == nullptr ? 1 : SVP_ACL_SUCCESS;
}

inline int svp_acl_rt_free(void* pointer) {
  std::free(pointer);
  return SVP_ACL_SUCCESS;
}

#endif  // DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_INCLUDE_SVP_ACL_RT_H_
