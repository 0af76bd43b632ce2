// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "kernels/vector/wide.inc"

namespace deputy {
namespace {

constexpr int kMaxLaneColumns = 12;

[[gnu::always_inline]] inline void AddProduct(FloatVector* sum, const float* weight,
                                              FloatVector values) {
  const FloatVector all = _mm256_broadcast_ss(weight);
  __asm__("vfmadd231ps %2, %1, %0" : "+x"(*sum) : "x"(values), "x"(all));
}

}  // namespace
}  // namespace deputy

#include "kernels/cpu/common/attention.inc"

namespace deputy {

constexpr AttentionKernels kAttentionAvx2 = AttentionNamed("avx2");

}  // namespace deputy
