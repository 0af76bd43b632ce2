// SPDX-License-Identifier: Apache-2.0
#include "kernels/vector/wide.inc"

namespace deputy {
namespace {

constexpr int kMaxLaneColumns = 24;

[[gnu::always_inline]] inline void AddProduct(FloatVector* sum, const float* weight,
                                              FloatVector values) {
  __asm__("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(*sum) : "v"(values), "m"(*weight));
}

}  // namespace
}  // namespace deputy

#include "kernels/cpu/common/attention.inc"

namespace deputy {

constexpr AttentionKernels kAttentionAvx512 = AttentionNamed("avx512");

}  // namespace deputy
