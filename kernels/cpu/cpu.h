// SPDX-License-Identifier: Apache-2.0
//
// The seam between operators and instruction sets: the groups of functions that this machine runs
// best, gathered into a table once per process. Intrinsics live behind these groups and nowhere
// else.
#ifndef DEPUTY_KERNELS_CPU_CPU_H_
#define DEPUTY_KERNELS_CPU_CPU_H_

#include "kernels/cpu/groups.h"
#include "kernels/vector/vector.h"

namespace deputy {

// The best of every group for one level of instruction sets.
struct CpuKernels {
  const char* name = nullptr;  // the level's
  GemmF32Kernels gemm_f32;
  GemmBf16Kernels gemm_bf16;  // without functions where the machine cannot
  GemmS8Kernels gemm_s8;
  DotsS16Kernels dots_s16;  // without a function below AVX2
  RequantizeKernels requantize;
  WinogradF32Kernels winograd_f32;
  DepthwiseF32Kernels depthwise_f32;
  DepthwiseS8Kernels depthwise_s8;
  HalfKernels half;
  VectorKernels vector;
  StepSumKernels step_sum;
};

// Sums of steps by a table that has VectorKernels::sum_s8.
inline void AddSteps(const CpuKernels& cpu, const BinaryRun<int8_t>& run, const QuantizedSum& sum) {
  if (cpu.step_sum.s8 == nullptr || !run.a_moves || !run.b_moves) {
    cpu.vector.sum_s8(run, sum);
    return;
  }
  cpu.step_sum.s8({.a = run.a,
                   .b = run.b,
                   .out = run.out,
                   .count = run.count,
                   .factor_a = sum.factor_a,
                   .factor_b = sum.factor_b,
                   .offset = sum.offset,
                   .low = sum.bounds.low,
                   .high = sum.bounds.high,
                   .zero_point = sum.zero_point});
}

// ---- Choice -----------------------------------------------------------------------------------

// The table of a level, "reference", "generic", "avx2", "avx512" or "amx", if this machine can run
// it; else null. "reference" has no functions: operators run their plain code.
const CpuKernels* FindCpu(const char* name);

// The table in use: that of the level DEPUTY_CPU names, or of the best this machine can run. Looked
// up once.
const CpuKernels& Cpu();

// For tests: the table in use from now on, in all threads; null restores the choice of Cpu(). Nodes
// that are prepared already keep theirs.
void OverrideCpu(const CpuKernels* kernels);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_CPU_CPU_H_
