/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls the function that computes an operation of a kind.
 */
#include "npu_stub/device_ops.h"

typedef void (*Compute)(const NpuWork* work);

static const Compute kKinds[] = {
    [kNpuUnary] = NpuComputeUnary,         [kNpuCast] = NpuComputeCast,
    [kNpuConv] = NpuComputeConv,           [kNpuConvTranspose] = NpuComputeConvTranspose,
    [kNpuPool] = NpuComputePool,           [kNpuResize] = NpuComputeResize,
    [kNpuMatMul] = NpuComputeMatMul,       [kNpuSoftmax] = NpuComputeSoftmax,
    [kNpuReduce] = NpuComputeReduce,       [kNpuArgMax] = NpuComputeArgMax,
    [kNpuConcat] = NpuComputeConcat,       [kNpuPad] = NpuComputePad,
    [kNpuReshape] = NpuComputeReshape,     [kNpuSlice] = NpuComputeSlice,
    [kNpuTile] = NpuComputeTile,           [kNpuBroadcast] = NpuComputeBroadcast,
    [kNpuTranspose] = NpuComputeTranspose,
};

NpuStatus NpuCompute(const NpuWork* work) {
  if (work->op->kind == kNpuGather) return NpuComputeGather(work);
  if (work->op->kind == kNpuBinary) return NpuComputeBinary(work);
  kKinds[work->op->kind](work);
  return kNpuOk;
}
