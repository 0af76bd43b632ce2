// SPDX-License-Identifier: Apache-2.0
//
// Shared code for the tests of the vector loops.
#ifndef DEPUTY_TESTS_KERNELS_VECTOR_VECTOR_TABLES_H_
#define DEPUTY_TESTS_KERNELS_VECTOR_VECTOR_TABLES_H_

#include <vector>

#include "kernels/cpu/cpu.h"

namespace deputy {

// The tables of all instruction sets that this machine has.
inline std::vector<const CpuKernels*> VectorTables() {
  std::vector<const CpuKernels*> tables;
  for (const char* name : {"generic", "avx2", "avx512", "amx"}) {
    if (const CpuKernels* table = FindCpu(name)) tables.push_back(table);
  }
  return tables;
}

// Lengths around all vector widths.
inline constexpr int kVectorCounts[] = {0, 1, 2, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 130, 1000};

}  // namespace deputy

#endif  // DEPUTY_TESTS_KERNELS_VECTOR_VECTOR_TABLES_H_
