/* SPDX-License-Identifier: Apache-2.0
 *
 * What the layout passes know of operations and transposes.
 */
#ifndef DEPUTY_NPU_STUB_LAYOUT_PARTS_H_
#define DEPUTY_NPU_STUB_LAYOUT_PARTS_H_

#include <stdbool.h>
#include <stdint.h>

#include "npu_stub/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether an operation transposes NHWC to NCHW, or back; -1 is none. */
bool NpuIsToNchw(const NpuBuilder* builder, int32_t op);
bool NpuIsToNhwc(const NpuBuilder* builder, int32_t op);

/* Whether it makes an image, in whatever layout it gets its images. */
bool NpuIsNeutral(const NpuBuilder* builder, int32_t op);

/* Whether a tensor's layout is a question: of rank 4, and no constant. */
bool NpuIsFree(const NpuBuilder* builder, int32_t tensor);

/* A tensor with the dims of an NHWC one in NCHW, without contents. */
NpuTensor NpuAsNchw(const NpuTensor* tensor);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_LAYOUT_PARTS_H_ */
