// SPDX-License-Identifier: Apache-2.0
//
// Interface between operators and instruction sets: a table with the best implementation of each
// kernel group that this machine runs, collected once per process. Only the implementations of
// these groups use intrinsics; kernels.inc lists them.
#ifndef DEPUTY_KERNELS_CPU_CPU_H_
#define DEPUTY_KERNELS_CPU_CPU_H_

#include <span>
#include <string_view>

#include "c_api/include/common.h"
#include "kernels/cpu/features.h"
#include "kernels/cpu/groups.h"
#include "kernels/vector/vector.h"

namespace deputy {

// Table of the best kernels of every group for one set of features.
struct CpuKernels {
  const char* name = nullptr;  // name of the feature set
  GemmF32Kernels gemm_f32;
  // 16-bit products that operators use: bfloat16, or those of gemm_f16 in a table of WithFloat16.
  // Functions of both groups are null if the machine has no fast products of that type.
  GemmBf16Kernels gemm_bf16;
  GemmBf16Kernels gemm_f16;
  GemmS8Kernels gemm_s8;
  DotsS16Kernels dots_s16;  // functions are null if the machine lacks AVX2
  RequantizeKernels requantize;
  AttentionKernels attention;  // functions are null if the machine lacks AVX-512
  WinogradF32Kernels winograd_f32;
  DepthwiseF32Kernels depthwise_f32;
  DepthwiseS8Kernels depthwise_s8;
  HalfKernels half;
  VectorKernels vector;
  StepSumKernels step_sum;
};

// Adds two quantised tensors: with StepSumKernels if the table has them and neither input is a
// broadcast scalar, otherwise with VectorKernels::sum_s8, which must exist.
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

// A set of features that DEPUTY_CPU can name.
struct CpuSet {
  const char* name;
  CpuFeatures required;  // features that the processor must have
  CpuFeatures allowed;   // features that kernels may use if the processor has them
};

// Returns the sets for which this build has code, in ascending order of preference. The first one,
// "reference", allows no features: operators run their plain code.
std::span<const CpuSet> CpuSets();

// Returns the most preferred set whose required features are all included.
const CpuSet& BestCpuSet(CpuFeatures features);

// Function that copies the functions of a group to its member of a table. Its address identifies
// the group.
using CopyKernels = void (*)(const void* kernels, CpuKernels* table);

// One implementation of a kernel group.
struct KernelVariant {
  std::string_view group;  // name of the group's member of CpuKernels
  const void* kernels;     // points to a struct of the group's type
  CopyKernels copy_to;
  CpuFeatures required;  // features that the kernels use
  int score;             // rank among the group's implementations; the highest is selected
};

// Returns all implementations of this build, of all groups.
std::span<const KernelVariant> KernelVariants();

// Returns a table with the best kernels that require only `features`.
CpuKernels SelectKernels(const char* name, CpuFeatures features);

// Returns the table of a set, or null if there is none of this name or the machine cannot run it.
const CpuKernels* FindCpu(const char* name);

// Returns the table of the same set with gemm_f16 as gemm_bf16. Returns `kernels` itself if it has
// no float16 products or is no set's table.
const CpuKernels& WithFloat16(const CpuKernels& kernels);

// Returns the default table of new interpreters: that of the set named by DEPUTY_CPU, or of the
// best set that this machine can run. Determined once per process.
const CpuKernels& Cpu();

// Returns the table of the interpreter that runs the context's nodes; under a foreign context that
// of Cpu().
const CpuKernels& CpuOf(const TfLiteContext* context);

// Replaces the result of Cpu() in all threads, for tests; null restores the choice. Interpreters
// that exist keep their table.
void OverrideCpu(const CpuKernels* kernels);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_CPU_CPU_H_
