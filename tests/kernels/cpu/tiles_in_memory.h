// SPDX-License-Identifier: Apache-2.0
//
// Emulation of the AMX kernels with tiles in memory, for machines without AMX.
#ifndef DEPUTY_TESTS_KERNELS_CPU_TILES_IN_MEMORY_H_
#define DEPUTY_TESTS_KERNELS_CPU_TILES_IN_MEMORY_H_

#include <cstring>
#include <vector>

#include "tests/kernels/cpu/cpu_tables.h"

namespace deputy {

// Returns the table "avx512" with its products replaced by AMX's; the bfloat16 products only if the
// table has them. Null if the machine has no AVX-512.
const CpuKernels* CpuWithTilesInMemory();

// Name of the table of CpuWithTilesInMemory, in addition to those that FindCpu knows.
inline constexpr char kTilesInMemory[] = "amx_in_memory";
inline const CpuKernels* FindTestCpu(const char* name) {
  return std::strcmp(name, kTilesInMemory) == 0 ? CpuWithTilesInMemory() : FindCpu(name);
}

// Returns CpuTables() and the table of CpuWithTilesInMemory, if there is one.
inline std::vector<const CpuKernels*> CpuTablesAndTiles() {
  std::vector<const CpuKernels*> tables = CpuTables();
  if (const CpuKernels* table = CpuWithTilesInMemory()) tables.push_back(table);
  return tables;
}

}  // namespace deputy

#endif  // DEPUTY_TESTS_KERNELS_CPU_TILES_IN_MEMORY_H_
