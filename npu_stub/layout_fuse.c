/* SPDX-License-Identifier: Apache-2.0
 *
 * The third layout pass. Removes the transpositions around a layout-independent operation, which
 * then operates on NCHW. Attributes that refer to dimensions are permuted: 0, 1, 2, 3 become 0, 2,
 * 3, 1.
 */
#include <string.h>

#include "npu_stub/layout.h"
#include "npu_stub/layout_parts.h"
#include "npu_stub/links.h"

/* Upper bound on the number of rounds, which keeps the pass linear; models need three. */
enum { kMaxRounds = 16 };

/* Index in NCHW of each dimension of NHWC. */
static const int32_t kNchwIndex[NPU_MAX_RANK] = {0, 2, 3, 1};

/* ---- Conversion to NCHW ---------------------------------------------------------------------- */

/* Returns true if the operation is the only consumer of a tensor. */
static bool IsOnlyConsumer(const NpuLinks* links, int32_t tensor, int32_t op) {
  if (links->is_output[tensor] != 0) return false;
  for (int32_t e = links->consumers[tensor]; e >= 0; e = links->edges[e].next) {
    if (links->edges[e].op != op) return false;
  }
  return true;
}

static bool CanConvertInputs(const NpuLinks* links, int32_t index) {
  const NpuBuilder* builder = links->builder;
  const NpuOp* op = &builder->graph.ops[index];
  int32_t transposed = 0;
  for (int32_t i = 0; i < op->input_count; ++i) {
    const int32_t tensor = op->inputs[i];
    const NpuTensor* at = &builder->graph.tensors[tensor];
    if (at->data != NULL || (at->rank < NPU_MAX_RANK && NpuElementCount(at) == 1)) continue;
    if (!NpuIsToNhwc(builder, links->producer[tensor]) || !IsOnlyConsumer(links, tensor, index))
      return false;
    ++transposed;
  }
  return transposed > 0;
}

static bool CanConvertConsumers(const NpuLinks* links, int32_t output) {
  if (links->is_output[output] != 0 || links->consumers[output] < 0) return false;
  for (int32_t e = links->consumers[output]; e >= 0; e = links->edges[e].next) {
    const int32_t consumer = links->edges[e].op;
    if (!NpuIsToNchw(links->builder, consumer)) return false;
    if (links->is_output[links->builder->graph.ops[consumer].output] != 0) return false;
  }
  return true;
}

/* Permutes a constant that broadcasts against NHWC to one that broadcasts against NCHW. */
static int32_t PermuteConstant(NpuLinks* links, int32_t tensor) {
  NpuTensor full = *NpuTensorAt(links->builder, tensor);
  if (NpuElementCount(&full) == 1 && full.rank < NPU_MAX_RANK) return tensor;
  const int32_t front = NPU_MAX_RANK - full.rank;
  memmove(full.dims + front, full.dims, (size_t)full.rank * sizeof *full.dims);
  for (int32_t i = 0; i < front; ++i) full.dims[i] = 1;
  full.rank = NPU_MAX_RANK;
  const NpuTensor nchw_tensor = NpuAsNchw(&full);
  const int32_t result = NpuLinkTensor(links, &nchw_tensor);
  const size_t size = NpuTypeBytes(full.type);
  uint8_t* to = NpuBuilderOwn(links->builder, NpuTensorBytes(&full));
  if (to == NULL || result < 0) return -1;
  const uint8_t* from = full.data;
  NpuTensorAt(links->builder, result)->data = to;
  const size_t channels = (size_t)full.dims[3];
  const size_t pixels = (size_t)full.dims[1] * (size_t)full.dims[2];
  for (int32_t n = 0; n < full.dims[0]; ++n) {
    for (size_t c = 0; c < channels; ++c) {
      for (size_t p = 0; p < pixels; ++p, to += size)
        memcpy(to, from + (p * channels + c) * size, size);
    }
    from += pixels * channels * size;
  }
  return result;
}

static void PermuteAttributes(NpuOp* op, int32_t first) {
  int32_t permuted[NPU_MAX_RANK];
  for (int32_t i = 0; i < NPU_MAX_RANK; ++i) permuted[kNchwIndex[i]] = op->attributes[first + i];
  memcpy(op->attributes + first, permuted, sizeof permuted);
}

static void ConvertAttributes(NpuOp* op) {
  switch (op->kind) {
    case kNpuConcat:
    case kNpuSoftmax:
      op->attributes[kNpuAxis] = kNchwIndex[op->attributes[kNpuAxis]];
      break;
    case kNpuPad:
      PermuteAttributes(op, kNpuPadBefore);
      break;
    case kNpuSlice:
      PermuteAttributes(op, kNpuSliceBegin);
      PermuteAttributes(op, kNpuSliceStride);
      break;
    case kNpuReduce: {
      int32_t mask = 0;
      for (int32_t i = 0; i < NPU_MAX_RANK; ++i) {
        mask |= (op->attributes[kNpuAxisMask] >> i & 1) << kNchwIndex[i];
      }
      op->attributes[kNpuAxisMask] = mask;
      break;
    }
    default:
      break;
  }
}

static void RemoveIfUnused(NpuLinks* links, int32_t op) {
  const int32_t output = links->builder->graph.ops[op].output;
  if (links->consumers[output] < 0 && links->is_output[output] == 0) NpuRemoveOp(links, op);
}

static void ConvertInputs(NpuLinks* links, int32_t index) {
  NpuBuilder* builder = links->builder;
  for (int32_t i = 0; i < NpuOpAt(builder, index)->input_count && !builder->failed; ++i) {
    const int32_t tensor = NpuOpAt(builder, index)->inputs[i];
    if (builder->graph.tensors[tensor].data != NULL) {
      NpuSetInput(links, index, i, PermuteConstant(links, tensor));
    } else if (NpuIsToNhwc(builder, links->producer[tensor])) {
      const int32_t transpose = links->producer[tensor];
      NpuSetInput(links, index, i, builder->graph.ops[transpose].inputs[0]);
      RemoveIfUnused(links, transpose);
    }
  }
}

static void ConvertOutput(NpuLinks* links, int32_t index) {
  NpuBuilder* builder = links->builder;
  const int32_t output = NpuOpAt(builder, index)->output;
  const NpuTensor nchw_tensor = NpuAsNchw(NpuTensorAt(builder, output));
  const int32_t nchw = NpuLinkTensor(links, &nchw_tensor);
  if (nchw < 0) return;
  NpuSetOutput(links, index, nchw);
  while (links->consumers[output] >= 0) {
    const int32_t transpose = links->edges[links->consumers[output]].op;
    NpuMoveConsumers(links, builder->graph.ops[transpose].output, nchw);
    NpuRemoveOp(links, transpose);
  }
}

/* Converts the operation to NCHW if all its edges permit; returns true in this case. */
static bool ConvertToNchw(NpuLinks* links, int32_t index) {
  if (!NpuIsLayoutIndependent(links->builder, index)) return false;
  if (!CanConvertInputs(links, index)) return false;
  if (!CanConvertConsumers(links, links->builder->graph.ops[index].output)) return false;
  ConvertInputs(links, index);
  if (links->builder->failed) return false;
  ConvertAttributes(NpuOpAt(links->builder, index));
  ConvertOutput(links, index);
  return true;
}

/* ---- Cancelling ------------------------------------------------------------------------------ */

/* Removes a transposition that undoes the one before it. Returns false if there is none. */
static bool Cancel(NpuLinks* links, int32_t index) {
  const NpuBuilder* builder = links->builder;
  const NpuOp* op = &builder->graph.ops[index];
  const bool to_nchw = NpuIsToNchw(builder, index);
  if (!to_nchw && !NpuIsToNhwc(builder, index)) return false;
  const int32_t before = links->producer[op->inputs[0]];
  if (to_nchw ? !NpuIsToNhwc(builder, before) : !NpuIsToNchw(builder, before)) return false;
  if (links->is_output[op->output] != 0) return false;
  NpuMoveConsumers(links, op->output, builder->graph.ops[before].inputs[0]);
  NpuRemoveOp(links, index);
  RemoveIfUnused(links, before);
  return true;
}

void NpuLayoutFuse(NpuBuilder* builder) {
  NpuLinks links;
  bool changed = NpuLinksInit(&links, builder);
  for (int32_t round = 0; changed && round < kMaxRounds; ++round) {
    changed = false;
    for (int32_t i = 0; i < builder->graph.op_count && !builder->failed; ++i) {
      if (builder->graph.ops[i].kind == 0) continue;
      changed = ConvertToNchw(&links, i) || Cancel(&links, i) || changed;
    }
  }
  NpuLinksFree(&links);
}
