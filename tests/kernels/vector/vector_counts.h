// SPDX-License-Identifier: Apache-2.0
//
// Shared code for the tests of the vector loops.
#ifndef DEPUTY_TESTS_KERNELS_VECTOR_VECTOR_COUNTS_H_
#define DEPUTY_TESTS_KERNELS_VECTOR_VECTOR_COUNTS_H_

#include "tests/kernels/cpu/cpu_tables.h"

namespace deputy {

// Lengths around all vector widths.
inline constexpr int kVectorCounts[] = {0, 1, 2, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 130, 1000};

}  // namespace deputy

#endif  // DEPUTY_TESTS_KERNELS_VECTOR_VECTOR_COUNTS_H_
