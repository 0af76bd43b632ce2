/* SPDX-License-Identifier: Apache-2.0
 *
 * The first two layout passes; layout_fuse.c has the third.
 */
#include "npu_stub/layout.h"

#include "npu_stub/layout_parts.h"
#include "npu_stub/links.h"

static bool IsBound(const NpuBuilder* builder, int32_t index) {
  if (index < 0) return false;
  const int32_t kind = builder->graph.ops[index].kind;
  return kind == kNpuConv || kind == kNpuConvTranspose || kind == kNpuPool || kind == kNpuResize;
}

static void AddTranspose(NpuLinks* links, const int32_t* permutation, int32_t from, int32_t to) {
  NpuOp* op = NpuOpAt(links->builder, NpuLinkOp(links, kNpuTranspose, from, to));
  for (int32_t i = 0; i < NPU_MAX_RANK; ++i) op->attributes[kNpuPermutation + i] = permutation[i];
}

/* Adds a transposition to NCHW and returns the new tensor. */
static int32_t AddToNchw(NpuLinks* links, int32_t tensor) {
  const NpuTensor transposed = NpuAsNchw(NpuTensorAt(links->builder, tensor));
  const int32_t result = NpuLinkTensor(links, &transposed);
  AddTranspose(links, kNpuToNchw, tensor, result);
  return result;
}

int32_t NpuCountTransposes(const NpuBuilder* builder) {
  int32_t count = 0;
  for (int32_t i = 0; i < builder->graph.op_count; ++i) {
    if (NpuIsToNchw(builder, i) || NpuIsToNhwc(builder, i)) ++count;
  }
  return count;
}

/* ---- Transform ------------------------------------------------------------------------------- */

static void TransformInput(NpuLinks* links, int32_t op) {
  const int32_t tensor = NpuOpAt(links->builder, op)->inputs[0];
  /* If the producer requires NCHW as well, TransformOutput has already connected the tensor in
   * NCHW, because the producer precedes this operation. */
  if (IsBound(links->builder, links->producer[tensor])) return;
  NpuSetInput(links, op, 0, AddToNchw(links, tensor));
}

static void TransformOutput(NpuLinks* links, int32_t op) {
  NpuBuilder* builder = links->builder;
  const int32_t nhwc = NpuOpAt(builder, op)->output;
  const NpuTensor dims = *NpuTensorAt(builder, nhwc);
  const NpuTensor transposed = NpuAsNchw(&dims);
  const int32_t nchw = NpuLinkTensor(links, &transposed);
  if (nchw < 0) return;
  NpuSetOutput(links, op, nchw);
  while (links->consumers[nhwc] >= 0 && !builder->failed) {
    const NpuEdge edge = links->edges[links->consumers[nhwc]];
    int32_t tensor = nchw;
    if (!IsBound(builder, edge.op)) {
      tensor = NpuLinkTensor(links, &dims);
      AddTranspose(links, kNpuToNhwc, nchw, tensor);
    }
    NpuSetInput(links, edge.op, edge.input, tensor);
  }
  if (links->is_output[nhwc] != 0) AddTranspose(links, kNpuToNhwc, nchw, nhwc);
}

void NpuLayoutTransform(NpuBuilder* builder) {
  NpuLinks links;
  const int32_t count = builder->graph.op_count;
  const bool good = NpuLinksInit(&links, builder);
  for (int32_t i = 0; good && i < count && !builder->failed; ++i) {
    if (!IsBound(builder, i)) continue;
    TransformInput(&links, i);
    if (!builder->failed) TransformOutput(&links, i);
  }
  NpuLinksFree(&links);
}

/* ---- Insert ---------------------------------------------------------------------------------- */

typedef struct Edges {
  int32_t all, touching;
} Edges;

static Edges CountEdges(const NpuLinks* links, int32_t index) {
  const NpuBuilder* builder = links->builder;
  const NpuOp* op = &builder->graph.ops[index];
  Edges edges = {0, 0};
  for (int32_t i = 0; i < op->input_count; ++i) {
    if (!NpuHasLayout(builder, op->inputs[i])) continue;
    ++edges.all;
    if (NpuIsToNhwc(builder, links->producer[op->inputs[i]])) ++edges.touching;
  }
  for (int32_t e = links->consumers[op->output]; e >= 0; e = links->edges[e].next) {
    ++edges.all;
    if (NpuIsToNchw(builder, links->edges[e].op)) ++edges.touching;
  }
  if (links->is_output[op->output] != 0) ++edges.all;
  return edges;
}

/* Adds two transpositions that cancel, and returns the result. */
static int32_t AddCancellingPair(NpuLinks* links, int32_t tensor) {
  const NpuTensor dims = *NpuTensorAt(links->builder, tensor);
  const int32_t nchw = AddToNchw(links, tensor);
  const int32_t back = NpuLinkTensor(links, &dims);
  AddTranspose(links, kNpuToNhwc, nchw, back);
  return back;
}

static void InsertAtInputs(NpuLinks* links, int32_t index) {
  NpuBuilder* builder = links->builder;
  for (int32_t i = 0; i < NpuOpAt(builder, index)->input_count && !builder->failed; ++i) {
    const int32_t tensor = NpuOpAt(builder, index)->inputs[i];
    if (!NpuHasLayout(builder, tensor) || NpuIsToNhwc(builder, links->producer[tensor])) continue;
    NpuSetInput(links, index, i, AddCancellingPair(links, tensor));
  }
}

static void InsertAtConsumers(NpuLinks* links, int32_t tensor) {
  NpuBuilder* builder = links->builder;
  int32_t edge = links->consumers[tensor];
  while (edge >= 0 && !builder->failed) {
    const NpuEdge at = links->edges[edge];
    edge = at.next;
    if (NpuIsToNchw(builder, at.op)) continue;
    NpuSetInput(links, at.op, at.input, AddCancellingPair(links, tensor));
  }
}

/* Inserts a pair of transpositions between an operation and an output of the graph. */
static void InsertAtOutput(NpuLinks* links, int32_t index) {
  const int32_t output = NpuOpAt(links->builder, index)->output;
  const NpuTensor dims = *NpuTensorAt(links->builder, output);
  const int32_t produced = NpuLinkTensor(links, &dims);
  NpuSetOutput(links, index, produced);
  NpuMoveConsumers(links, output, produced);
  AddTranspose(links, kNpuToNhwc, AddToNchw(links, produced), output);
}

void NpuLayoutInsert(NpuBuilder* builder) {
  NpuLinks links;
  const int32_t count = builder->graph.op_count;
  const bool good = NpuLinksInit(&links, builder);
  for (int32_t i = 0; good && i < count && !builder->failed; ++i) {
    if (!NpuIsLayoutIndependent(builder, i)) continue;
    const Edges edges = CountEdges(&links, i);
    if (edges.touching == 0 || 2 * edges.touching < edges.all || edges.touching == edges.all) {
      continue;
    }
    InsertAtInputs(&links, i);
    if (builder->failed) break;
    const int32_t output = builder->graph.ops[i].output;
    InsertAtConsumers(&links, output);
    if (!builder->failed && links.is_output[output] != 0) InsertAtOutput(&links, i);
  }
  NpuLinksFree(&links);
}

bool NpuLayoutRun(NpuBuilder* builder) {
  NpuLayoutTransform(builder);
  /* New operations are at the end of the list; the next passes require execution order. */
  if (!NpuSortOps(builder)) return false;
  NpuLayoutInsert(builder);
  if (!NpuSortOps(builder)) return false;
  NpuLayoutInsert(builder);
  if (!NpuSortOps(builder)) return false;
  NpuLayoutFuse(builder);
  return NpuSortOps(builder);
}
