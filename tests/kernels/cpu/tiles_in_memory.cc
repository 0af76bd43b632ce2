// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/cpu/tiles_in_memory.h"

namespace deputy {

#if defined(DEPUTY_HAS_AMX_TABLES)
extern const GemmS8Kernels kGemmS8AmxInMemory;
extern const GemmBf16Kernels kGemmBf16AmxInMemory;

const CpuKernels* CpuWithTilesInMemory() {
  static const CpuKernels* const table = []() -> const CpuKernels* {
    const CpuKernels* avx512 = FindCpu("avx512");
    if (avx512 == nullptr) return nullptr;
    static CpuKernels with_tiles = *avx512;
    with_tiles.name = kTilesInMemory;
    with_tiles.gemm_s8 = kGemmS8AmxInMemory;
    if (with_tiles.gemm_bf16.tile != nullptr) with_tiles.gemm_bf16 = kGemmBf16AmxInMemory;
    return &with_tiles;
  }();
  return table;
}
#else
const CpuKernels* CpuWithTilesInMemory() { return nullptr; }
#endif

}  // namespace deputy
