// SPDX-License-Identifier: Apache-2.0
//
// Memory that is hardly touched.
#ifndef DEPUTY_CORE_BASE_SMALL_PAGES_H_
#define DEPUTY_CORE_BASE_SMALL_PAGES_H_

#include <cstddef>

namespace deputy {

// This part of a Block (memory.h), which asks for large pages where it is large, is to be in small
// ones: what is not touched is then not resident.
void UseSmallPages(char* data, size_t bytes);

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_SMALL_PAGES_H_
