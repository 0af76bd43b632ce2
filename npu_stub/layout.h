/* SPDX-License-Identifier: Apache-2.0
 *
 * Layout passes: a graph whose images are NHWC, as models have them, becomes one in which
 * operations that want NCHW get it, with as few transposes as can be had by local rules. Pure
 * functions on a graph: they know neither the runtime nor a device.
 *
 * The order is fixed: transform once, insert twice, fuse. Before the first pass operations that are
 * bound to NCHW (convolutions, pooling, resizing) have NHWC tensors around them; behind it
 * everything is what NpuKind says. Inputs and outputs of the graph keep type, shape and place
 * throughout.
 */
#ifndef DEPUTY_NPU_STUB_LAYOUT_H_
#define DEPUTY_NPU_STUB_LAYOUT_H_

#include <stdbool.h>
#include <stdint.h>

#include "npu_stub/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Puts a transpose to NCHW before each bound operation whose input is not made by another bound
 * one, and a transpose back for each reader that is not bound, and for an output of the graph. */
void NpuLayoutTransform(NpuBuilder* builder);

/* For each operation that works in any layout and of whose edges some touch a transpose, at least
 * half, but not all: pairs of transposes that cancel on the other edges. An edge is an input of
 * rank 4 that is no constant, a reader of the result, and an output of the graph. */
void NpuLayoutInsert(NpuBuilder* builder);

/* Pulls operations that work in any layout through the transposes around them (adjusting axes and
 * constants), and cancels neighbours that are each other's inverse, until nothing is left to do.
 * What is an output of the graph stays. */
void NpuLayoutFuse(NpuBuilder* builder);

/* All of them, then the order of operations. False if memory is short. */
bool NpuLayoutRun(NpuBuilder* builder);

/* What one sees between the passes. */
int32_t NpuCountTransposes(const NpuBuilder* builder);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_LAYOUT_H_ */
