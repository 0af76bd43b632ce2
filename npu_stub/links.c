/* SPDX-License-Identifier: Apache-2.0 */
#include "npu_stub/links.h"

#include <stdlib.h>
#include <string.h>

/* Ensures capacity for `room` entries in an array. On failure returns false and marks the
 * builder as failed. */
static bool Ensure(NpuLinks* links, void** array, int32_t room, size_t entry) {
  void* grown = realloc(*array, (size_t)room * entry);
  if (grown == NULL) {
    links->builder->failed = true;
    return false;
  }
  *array = grown;
  return true;
}

static bool RoomForTensors(NpuLinks* links, int32_t count) {
  if (count <= links->tensor_room) return true;
  const int32_t room = 2 * count;
  void *maker = links->maker, *readers = links->readers, *is_output = links->is_output;
  const bool good = Ensure(links, &maker, room, sizeof *links->maker) &&
                    Ensure(links, &readers, room, sizeof *links->readers) &&
                    Ensure(links, &is_output, room, 1);
  links->maker = maker;
  links->readers = readers;
  links->is_output = is_output;
  if (!good) return false;
  for (int32_t i = links->tensor_room; i < room; ++i) {
    links->maker[i] = -1;
    links->readers[i] = -1;
    links->is_output[i] = 0;
  }
  links->tensor_room = room;
  return true;
}

static bool RoomForOp(NpuLinks* links, int32_t op, int32_t inputs) {
  if (op >= links->op_room) {
    void* first_edge = links->first_edge;
    const int32_t room = 2 * (op + 1);
    const bool good = Ensure(links, &first_edge, room, sizeof *links->first_edge);
    links->first_edge = first_edge;
    if (!good) return false;
    links->op_room = room;
  }
  if (links->edge_count + inputs > links->edge_room) {
    void* edges = links->edges;
    const int32_t room = 2 * (links->edge_count + inputs);
    const bool good = Ensure(links, &edges, room, sizeof *links->edges);
    links->edges = edges;
    if (!good) return false;
    links->edge_room = room;
  }
  return true;
}

static void Attach(NpuLinks* links, int32_t edge, int32_t tensor) {
  NpuEdge* at = &links->edges[edge];
  at->previous = -1;
  at->next = links->readers[tensor];
  if (at->next >= 0) links->edges[at->next].previous = edge;
  links->readers[tensor] = edge;
}

static void Detach(NpuLinks* links, int32_t edge, int32_t tensor) {
  const NpuEdge at = links->edges[edge];
  if (at.next >= 0) links->edges[at.next].previous = at.previous;
  if (at.previous >= 0) {
    links->edges[at.previous].next = at.next;
  } else {
    links->readers[tensor] = at.next;
  }
}

/* Links an operation that the graph contains already. */
static bool LinkInputs(NpuLinks* links, int32_t index) {
  const NpuOp* op = &links->builder->graph.ops[index];
  if (!RoomForOp(links, index, op->input_count)) return false;
  links->first_edge[index] = links->edge_count;
  for (int32_t i = 0; i < op->input_count; ++i) {
    const int32_t edge = links->edge_count++;
    links->edges[edge].op = index;
    links->edges[edge].input = i;
    Attach(links, edge, op->inputs[i]);
  }
  links->maker[op->output] = index;
  return true;
}

bool NpuLinksInit(NpuLinks* links, NpuBuilder* builder) {
  memset(links, 0, sizeof *links);
  links->builder = builder;
  const NpuGraph* graph = &builder->graph;
  if (builder->failed || !RoomForTensors(links, graph->tensor_count + 1)) return false;
  for (int32_t i = 0; i < graph->op_count; ++i) {
    if (!LinkInputs(links, i)) return false;
  }
  for (int32_t i = 0; i < graph->output_count; ++i) links->is_output[graph->outputs[i]] = 1;
  return true;
}

void NpuLinksFree(NpuLinks* links) {
  free(links->edges);
  free(links->first_edge);
  free(links->maker);
  free(links->readers);
  free(links->is_output);
}

int32_t NpuLinkTensor(NpuLinks* links, const NpuTensor* like) {
  const NpuTensor tensor = *like;
  const int32_t index = NpuAddTensor(links->builder, tensor.type, tensor.rank, tensor.dims);
  return index >= 0 && RoomForTensors(links, index + 1) ? index : -1;
}

int32_t NpuLinkOp(NpuLinks* links, int32_t kind, int32_t input, int32_t output) {
  if (input < 0 || output < 0) return -1;
  const int32_t op = NpuAddOp(links->builder, kind, 0, &input, 1, output);
  return op >= 0 && LinkInputs(links, op) ? op : -1;
}

void NpuSetInput(NpuLinks* links, int32_t op, int32_t input, int32_t tensor) {
  if (op < 0 || tensor < 0) return;
  int32_t* place = &links->builder->graph.ops[op].inputs[input];
  const int32_t edge = links->first_edge[op] + input;
  Detach(links, edge, *place);
  *place = tensor;
  Attach(links, edge, tensor);
}

void NpuSetOutput(NpuLinks* links, int32_t op, int32_t tensor) {
  if (op < 0 || tensor < 0) return;
  int32_t* place = &links->builder->graph.ops[op].output;
  if (links->maker[*place] == op) links->maker[*place] = -1;
  *place = tensor;
  links->maker[tensor] = op;
}

void NpuRemoveOp(NpuLinks* links, int32_t op) {
  NpuOp* gone = &links->builder->graph.ops[op];
  for (int32_t i = 0; i < gone->input_count; ++i) {
    Detach(links, links->first_edge[op] + i, gone->inputs[i]);
  }
  if (links->maker[gone->output] == op) links->maker[gone->output] = -1;
  gone->kind = 0;
}

void NpuMoveReaders(NpuLinks* links, int32_t from, int32_t to) {
  if (from < 0 || to < 0) return;
  while (links->readers[from] >= 0) {
    const NpuEdge edge = links->edges[links->readers[from]];
    NpuSetInput(links, edge.op, edge.input, to);
  }
}
