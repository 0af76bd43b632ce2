// SPDX-License-Identifier: Apache-2.0
//
// Compiles AMX's int8 products again, under another name and with tiles in memory.
#if defined(DEPUTY_HAS_AMX_TABLES)
#define DEPUTY_TILES_OF_TEST "tests/kernels/cpu/tiles_in_memory.inc"
#define kGemmS8Amx kGemmS8AmxInMemory
#include "kernels/cpu/x86_64/amx/int8.cc"  // NOLINT(bugprone-suspicious-include)
#endif
