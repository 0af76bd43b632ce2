// SPDX-License-Identifier: Apache-2.0
//
// Interface between operators and instruction sets: for each kernel group the best implementation
// that this machine runs, collected once per process in a table. Only the implementations of these
// groups use intrinsics.
#ifndef DEPUTY_KERNELS_CPU_CPU_H_
#define DEPUTY_KERNELS_CPU_CPU_H_

#include "kernels/cpu/groups.h"
#include "kernels/vector/vector.h"

namespace deputy {

// Table of the best kernels of every group for one instruction-set level.
struct CpuKernels {
  const char* name = nullptr;  // name of the level
  GemmF32Kernels gemm_f32;
  GemmBf16Kernels gemm_bf16;  // null functions if the machine has no bfloat16 products
  GemmS8Kernels gemm_s8;
  DotsS16Kernels dots_s16;  // null function below AVX2
  RequantizeKernels requantize;
  WinogradF32Kernels winograd_f32;
  DepthwiseF32Kernels depthwise_f32;
  DepthwiseS8Kernels depthwise_s8;
  HalfKernels half;
  VectorKernels vector;
  StepSumKernels step_sum;
};

// Adds two quantised tensors, with StepSumKernels where the table has them. Requires
// VectorKernels::sum_s8.
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

// Returns the table of a level ("reference", "generic", "avx2", "avx512" or "amx"), or null if this
// machine cannot run it. The table of "reference" has no functions: operators run their plain code.
const CpuKernels* FindCpu(const char* name);

// Returns the table in use: that of the level named by DEPUTY_CPU, or of the best level that this
// machine can run. Determined once per process.
const CpuKernels& Cpu();

// For tests: replaces the table in use, in all threads; null restores the choice of Cpu(). Nodes
// that are already prepared keep their table.
void OverrideCpu(const CpuKernels* kernels);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_CPU_CPU_H_
