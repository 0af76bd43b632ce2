// SPDX-License-Identifier: Apache-2.0
//
// Compiles AMX's bfloat16 products again, under another name and with tiles in memory.
#if defined(DEPUTY_HAS_AMX_TABLES)
#define DEPUTY_TILES_OF_TEST "tests/kernels/cpu/tiles_in_memory.inc"
#define kGemmBf16Amx kGemmBf16AmxInMemory
#include "kernels/cpu/x86_64/amx/bf16.cc"  // NOLINT(bugprone-suspicious-include)
#endif
