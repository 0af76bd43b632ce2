/* SPDX-License-Identifier: Apache-2.0 */
#include "npu_stub/layout_parts.h"

#include <stddef.h>

const int32_t kNpuToNchw[NPU_MAX_RANK] = {0, 3, 1, 2};
const int32_t kNpuToNhwc[NPU_MAX_RANK] = {0, 2, 3, 1};

static bool IsTranspose(const NpuBuilder* builder, int32_t index, const int32_t* permutation) {
  if (index < 0) return false;
  const NpuOp* op = &builder->graph.ops[index];
  if (op->kind != kNpuTranspose || builder->graph.tensors[op->output].rank != NPU_MAX_RANK) {
    return false;
  }
  for (int32_t i = 0; i < NPU_MAX_RANK; ++i) {
    if (op->attributes[kNpuPermutation + i] != permutation[i]) return false;
  }
  return true;
}

bool NpuIsToNchw(const NpuBuilder* builder, int32_t op) {
  return IsTranspose(builder, op, kNpuToNchw);
}

bool NpuIsToNhwc(const NpuBuilder* builder, int32_t op) {
  return IsTranspose(builder, op, kNpuToNhwc);
}

NpuTensor NpuAsNchw(const NpuTensor* tensor) {
  NpuTensor result = *tensor;
  result.data = NULL;
  for (int32_t i = 0; i < NPU_MAX_RANK; ++i) result.dims[i] = tensor->dims[kNpuToNchw[i]];
  return result;
}

bool NpuIsLayoutIndependent(const NpuBuilder* builder, int32_t index) {
  if (index < 0) return false;
  const NpuOp* op = &builder->graph.ops[index];
  if (builder->graph.tensors[op->output].rank != NPU_MAX_RANK) return false;
  switch (op->kind) {
    case kNpuUnary:
    case kNpuBinary:
    case kNpuCast:
    case kNpuConcat:
    case kNpuPad:
    case kNpuSlice:
    case kNpuTile:
    case kNpuSoftmax:
    case kNpuReduce: /* keeps its dimensions, since its output has rank 4 */
      return true;
    default:
      return false;
  }
}

bool NpuHasLayout(const NpuBuilder* builder, int32_t tensor) {
  const NpuTensor* at = &builder->graph.tensors[tensor];
  return at->data == NULL && at->rank == NPU_MAX_RANK;
}
