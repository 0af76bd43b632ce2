/* SPDX-License-Identifier: Apache-2.0
 *
 * Producer and consumers of each tensor of a graph, kept up to date while the graph is edited. All
 * edits must use these functions, which take constant time per edge that they change.
 */
#ifndef DEPUTY_NPU_STUB_LINKS_H_
#define DEPUTY_NPU_STUB_LINKS_H_

#include <stdbool.h>
#include <stdint.h>

#include "npu_stub/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One input of one operation, in the list of its tensor's consumers. */
typedef struct NpuEdge {
  int32_t op, input;
  int32_t previous, next; /* -1: none */
} NpuEdge;

typedef struct NpuLinks {
  NpuBuilder* builder;
  NpuEdge* edges;
  int32_t* first_edge; /* by operation: index of the edge of input 0; others follow */
  int32_t* producer;   /* by tensor: producing operation, or -1 */
  int32_t* consumers;  /* by tensor: first edge of the list of consumers, or -1 */
  uint8_t* is_output;  /* by tensor: is an output of the graph */
  int32_t edge_count, edge_capacity, op_capacity, tensor_capacity;
} NpuLinks;

/* Links the graph of a builder. Returns false and marks the builder as failed if out of memory.
 * The caller calls NpuLinksFree in every case. */
bool NpuLinksInit(NpuLinks* links, NpuBuilder* builder);
void NpuLinksFree(NpuLinks* links);

/* Add a tensor or an operation, as NpuAddTensorLike and NpuAddOp do, and link it. */
int32_t NpuLinkTensor(NpuLinks* links, const NpuTensor* like);
int32_t NpuLinkOp(NpuLinks* links, int32_t kind, int32_t input, int32_t output);

void NpuSetInput(NpuLinks* links, int32_t op, int32_t input, int32_t tensor);
void NpuSetOutput(NpuLinks* links, int32_t op, int32_t tensor);
void NpuRemoveOp(NpuLinks* links, int32_t op);
/* Connects all consumers of `from` to `to`. */
void NpuMoveConsumers(NpuLinks* links, int32_t from, int32_t to);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_LINKS_H_ */
