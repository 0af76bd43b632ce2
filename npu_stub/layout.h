/* SPDX-License-Identifier: Apache-2.0
 *
 * Layout passes: convert a graph whose images are NHWC, as in the model, to one in which operations
 * that require NCHW receive NCHW. Local rules keep the number of transpositions small. The passes
 * are pure functions on a graph, independent of the runtime and the device.
 *
 * The order is fixed: transform once, insert twice, fuse. Before the first pass, bound operations
 * (convolutions, pooling, resizing), which require NCHW, have NHWC tensors; after it, all
 * operations conform to NpuKind. Inputs and outputs of the graph keep their type, shape and
 * position.
 */
#ifndef DEPUTY_NPU_STUB_LAYOUT_H_
#define DEPUTY_NPU_STUB_LAYOUT_H_

#include <stdbool.h>
#include <stdint.h>

#include "npu_stub/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Adds a transposition to NCHW before each bound operation whose input has no bound producer,
 * and a transposition back to NHWC for each consumer that is not bound and for outputs of the
 * graph. */
void NpuLayoutTransform(NpuBuilder* builder);

/* Considers each layout-independent operation for which at least half of the edges, but not all,
 * touch a transposition: adds pairs of transpositions that cancel on the other edges. An edge is
 * a non-constant input of rank 4, a consumer of the result, or an output of the graph. */
void NpuLayoutInsert(NpuBuilder* builder);

/* Converts layout-independent operations to NCHW by removing the transpositions around them,
 * which permutes axes and constants, and removes pairs of transpositions that cancel, until
 * nothing changes or a limit of rounds is reached. Outputs of the graph are kept. */
void NpuLayoutFuse(NpuBuilder* builder);

/* Runs all passes and sorts the operations. Returns false if out of memory or if the graph has a
 * cycle. */
bool NpuLayoutRun(NpuBuilder* builder);

/* Returns the number of transpositions between NHWC and NCHW, for tests. */
int32_t NpuCountTransposes(const NpuBuilder* builder);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_LAYOUT_H_ */
