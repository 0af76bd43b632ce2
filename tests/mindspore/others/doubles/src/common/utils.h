// SPDX-License-Identifier: Apache-2.0
//
// Replaces a header of MindSpore Lite: the limit of an allocator.
#ifndef DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_SRC_COMMON_UTILS_H_
#define DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_SRC_COMMON_UTILS_H_

#include <cstddef>

namespace mindspore::lite {
inline size_t GetMaxMallocSize() { return size_t{1} << 30; }
}  // namespace mindspore::lite

#endif  // DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_SRC_COMMON_UTILS_H_
