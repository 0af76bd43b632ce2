/* SPDX-License-Identifier: Apache-2.0 */
#include "npu_stub/links.h"

#include <stdlib.h>
#include <string.h>

/* Resizes an array to `capacity` entries. On failure returns false and marks the builder as failed.
 */
static bool Grow(NpuLinks* links, void** array, int32_t capacity, size_t entry) {
  void* grown = realloc(*array, (size_t)capacity * entry);
  if (grown == NULL) {
    links->builder->failed = true;
    return false;
  }
  *array = grown;
  return true;
}

static bool EnsureTensors(NpuLinks* links, int32_t count) {
  if (count <= links->tensor_capacity) return true;
  const int32_t capacity = 2 * count;
  void *producer = links->producer, *consumers = links->consumers, *is_output = links->is_output;
  const bool good = Grow(links, &producer, capacity, sizeof *links->producer) &&
                    Grow(links, &consumers, capacity, sizeof *links->consumers) &&
                    Grow(links, &is_output, capacity, 1);
  links->producer = producer;
  links->consumers = consumers;
  links->is_output = is_output;
  if (!good) return false;
  for (int32_t i = links->tensor_capacity; i < capacity; ++i) {
    links->producer[i] = -1;
    links->consumers[i] = -1;
    links->is_output[i] = 0;
  }
  links->tensor_capacity = capacity;
  return true;
}

static bool EnsureOp(NpuLinks* links, int32_t op, int32_t inputs) {
  if (op >= links->op_capacity) {
    void* first_edge = links->first_edge;
    const int32_t capacity = 2 * (op + 1);
    const bool good = Grow(links, &first_edge, capacity, sizeof *links->first_edge);
    links->first_edge = first_edge;
    if (!good) return false;
    links->op_capacity = capacity;
  }
  if (links->edge_count + inputs > links->edge_capacity) {
    void* edges = links->edges;
    const int32_t capacity = 2 * (links->edge_count + inputs);
    const bool good = Grow(links, &edges, capacity, sizeof *links->edges);
    links->edges = edges;
    if (!good) return false;
    links->edge_capacity = capacity;
  }
  return true;
}

static void Attach(NpuLinks* links, int32_t edge, int32_t tensor) {
  NpuEdge* at = &links->edges[edge];
  at->previous = -1;
  at->next = links->consumers[tensor];
  if (at->next >= 0) links->edges[at->next].previous = edge;
  links->consumers[tensor] = edge;
}

static void Detach(NpuLinks* links, int32_t edge, int32_t tensor) {
  const NpuEdge at = links->edges[edge];
  if (at.next >= 0) links->edges[at.next].previous = at.previous;
  if (at.previous >= 0) {
    links->edges[at.previous].next = at.next;
  } else {
    links->consumers[tensor] = at.next;
  }
}

/* Links an operation that the graph contains already. */
static bool LinkInputs(NpuLinks* links, int32_t index) {
  const NpuOp* op = &links->builder->graph.ops[index];
  if (!EnsureOp(links, index, op->input_count)) return false;
  links->first_edge[index] = links->edge_count;
  for (int32_t i = 0; i < op->input_count; ++i) {
    const int32_t edge = links->edge_count++;
    links->edges[edge].op = index;
    links->edges[edge].input = i;
    Attach(links, edge, op->inputs[i]);
  }
  links->producer[op->output] = index;
  return true;
}

bool NpuLinksInit(NpuLinks* links, NpuBuilder* builder) {
  memset(links, 0, sizeof *links);
  links->builder = builder;
  const NpuGraph* graph = &builder->graph;
  if (builder->failed || !EnsureTensors(links, graph->tensor_count + 1)) return false;
  for (int32_t i = 0; i < graph->op_count; ++i) {
    if (!LinkInputs(links, i)) return false;
  }
  for (int32_t i = 0; i < graph->output_count; ++i) links->is_output[graph->outputs[i]] = 1;
  return true;
}

void NpuLinksFree(NpuLinks* links) {
  free(links->edges);
  free(links->first_edge);
  free(links->producer);
  free(links->consumers);
  free(links->is_output);
}

int32_t NpuLinkTensor(NpuLinks* links, const NpuTensor* like) {
  const NpuTensor tensor = *like;
  const int32_t index = NpuAddTensor(links->builder, tensor.type, tensor.rank, tensor.dims);
  return index >= 0 && EnsureTensors(links, index + 1) ? index : -1;
}

int32_t NpuLinkOp(NpuLinks* links, int32_t kind, int32_t input, int32_t output) {
  if (input < 0 || output < 0) return -1;
  const int32_t op = NpuAddOp(links->builder, kind, 0, &input, 1, output);
  return op >= 0 && LinkInputs(links, op) ? op : -1;
}

void NpuSetInput(NpuLinks* links, int32_t op, int32_t input, int32_t tensor) {
  if (op < 0 || tensor < 0) return;
  int32_t* slot = &links->builder->graph.ops[op].inputs[input];
  const int32_t edge = links->first_edge[op] + input;
  Detach(links, edge, *slot);
  *slot = tensor;
  Attach(links, edge, tensor);
}

void NpuSetOutput(NpuLinks* links, int32_t op, int32_t tensor) {
  if (op < 0 || tensor < 0) return;
  int32_t* slot = &links->builder->graph.ops[op].output;
  if (links->producer[*slot] == op) links->producer[*slot] = -1;
  *slot = tensor;
  links->producer[tensor] = op;
}

void NpuRemoveOp(NpuLinks* links, int32_t op) {
  NpuOp* removed = &links->builder->graph.ops[op];
  for (int32_t i = 0; i < removed->input_count; ++i) {
    Detach(links, links->first_edge[op] + i, removed->inputs[i]);
  }
  if (links->producer[removed->output] == op) links->producer[removed->output] = -1;
  removed->kind = 0;
}

void NpuMoveConsumers(NpuLinks* links, int32_t from, int32_t to) {
  if (from < 0 || to < 0) return;
  while (links->consumers[from] >= 0) {
    const NpuEdge edge = links->edges[links->consumers[from]];
    NpuSetInput(links, edge.op, edge.input, to);
  }
}
