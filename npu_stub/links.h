/* SPDX-License-Identifier: Apache-2.0
 *
 * Who makes and who reads each tensor of a graph, kept while the graph is changed. Every change
 * goes through these functions; each takes constant time.
 */
#ifndef DEPUTY_NPU_STUB_LINKS_H_
#define DEPUTY_NPU_STUB_LINKS_H_

#include <stdbool.h>
#include <stdint.h>

#include "npu_stub/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One input of one operation, in the list of its tensor's readers. */
typedef struct NpuEdge {
  int32_t op, input;
  int32_t previous, next; /* -1: none */
} NpuEdge;

typedef struct NpuLinks {
  NpuBuilder* builder;
  NpuEdge* edges;
  int32_t* first_edge; /* by operation: its inputs have edges with numbers from here on */
  int32_t* maker;      /* by tensor: an operation, or -1 */
  int32_t* readers;    /* by tensor: an edge, or -1 */
  uint8_t* is_output;  /* by tensor: of the graph */
  int32_t edge_count, edge_room, op_room, tensor_room;
} NpuLinks;

/* False, with the builder failed, if memory is short; NpuLinksFree is due in any case. */
bool NpuLinksInit(NpuLinks* links, NpuBuilder* builder);
void NpuLinksFree(NpuLinks* links);

/* As NpuAddTensor and NpuAddOp. */
int32_t NpuLinkTensor(NpuLinks* links, const NpuTensor* like);
int32_t NpuLinkOp(NpuLinks* links, int32_t kind, int32_t input, int32_t output);

void NpuSetInput(NpuLinks* links, int32_t op, int32_t input, int32_t tensor);
void NpuSetOutput(NpuLinks* links, int32_t op, int32_t tensor);
void NpuRemoveOp(NpuLinks* links, int32_t op);
/* All readers of `from` read `to`. */
void NpuMoveReaders(NpuLinks* links, int32_t from, int32_t to);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_LINKS_H_ */
