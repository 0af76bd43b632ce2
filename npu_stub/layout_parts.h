/* SPDX-License-Identifier: Apache-2.0
 *
 * Queries on operations and tensors for the layout passes.
 */
#ifndef DEPUTY_NPU_STUB_LAYOUT_PARTS_H_
#define DEPUTY_NPU_STUB_LAYOUT_PARTS_H_

#include <stdbool.h>
#include <stdint.h>

#include "npu_stub/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The permutations of dims from NHWC to NCHW and back. */
extern const int32_t kNpuToNchw[NPU_MAX_RANK], kNpuToNhwc[NPU_MAX_RANK];

/* Return true if an operation transposes NHWC to NCHW, or NCHW to NHWC; false for the index -1. */
bool NpuIsToNchw(const NpuBuilder* builder, int32_t op);
bool NpuIsToNhwc(const NpuBuilder* builder, int32_t op);

/* Returns true if the operation computes the same in any layout, with permuted attributes. */
bool NpuIsLayoutIndependent(const NpuBuilder* builder, int32_t op);

/* Returns true if the layout of the tensor matters: it has rank 4 and is not constant. */
bool NpuHasLayout(const NpuBuilder* builder, int32_t tensor);

/* Returns a tensor without contents whose dims are those of an NHWC tensor in NCHW. */
NpuTensor NpuAsNchw(const NpuTensor* tensor);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_LAYOUT_PARTS_H_ */
