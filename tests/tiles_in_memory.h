// SPDX-License-Identifier: Apache-2.0
//
// The functions for AMX on tiles in memory, for machines that have none.
#ifndef DEPUTY_TESTS_TILES_IN_MEMORY_H_
#define DEPUTY_TESTS_TILES_IN_MEMORY_H_

#include <cstring>

#include "kernels/cpu/cpu.h"

namespace deputy {

// The table "avx512" with AMX's products in place of its own: those of bfloat16 only where it has
// some. Null where the machine has no AVX-512.
const CpuKernels* CpuWithTilesInMemory();

// As FindCpu, which knows one more name here.
inline constexpr char kTilesInMemory[] = "amx_in_memory";
inline const CpuKernels* FindTestCpu(const char* name) {
  return std::strcmp(name, kTilesInMemory) == 0 ? CpuWithTilesInMemory() : FindCpu(name);
}

}  // namespace deputy

#endif  // DEPUTY_TESTS_TILES_IN_MEMORY_H_
