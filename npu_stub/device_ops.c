/* SPDX-License-Identifier: Apache-2.0
 *
 * Table of the functions that compute each kind of operation.
 */
#include "npu_stub/device_ops.h"

#include <stdarg.h>
#include <stdio.h>

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

NpuStatus NpuBadInput(const NpuWork* work, const char* format, ...) {
  if (work->error == NULL) return kNpuBadArgument;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(work->error, work->error_size, format, arguments);
  va_end(arguments);
  return kNpuBadArgument;
}

NpuStatus NpuCompute(const NpuWork* work) {
  if (work->op->kind == kNpuGather) return NpuComputeGather(work);
  if (work->op->kind == kNpuBinary) return NpuComputeBinary(work);
  kKinds[work->op->kind](work);
  return kNpuOk;
}
