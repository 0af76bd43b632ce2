// SPDX-License-Identifier: Apache-2.0
//
// AMX's products of int8 once more, under another name and on tiles in memory.
#if defined(DEPUTY_HAS_AMX_TABLES)
#define DEPUTY_TILES_OF_TEST "tests/tiles_in_memory.inc"
#define kGemmS8Amx kGemmS8AmxInMemory
#include "kernels/cpu/simd_avx512_amx_int8.cc"  // NOLINT(bugprone-suspicious-include)
#endif
