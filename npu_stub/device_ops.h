/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations of the built-in device, as plain loops; images are in NCHW. Graphs have been validated
 * (device_check.h), and tensors are dense arrays.
 */
#ifndef DEPUTY_NPU_STUB_DEVICE_OPS_H_
#define DEPUTY_NPU_STUB_DEVICE_OPS_H_

#include <stddef.h>
#include <stdint.h>

#include "npu_stub/npu_device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An operation and the contents of its tensors. */
typedef struct NpuWork {
  const NpuGraph* graph;
  const NpuOp* op;
  void* const* buffers; /* by tensor */
  char* error;          /* receives an error message; may be NULL */
  size_t error_size;
} NpuWork;

/* Computes one operation. Fails only for invalid indices of kNpuGather and zero divisors of
 * kNpuFloorDiv. */
NpuStatus NpuCompute(const NpuWork* work);

/* Writes an error message about an input and returns kNpuBadArgument. */
NpuStatus NpuBadInput(const NpuWork* work, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

/* Return input `i` and the output of an operation, as tensors and as contents. */
static inline const NpuTensor* NpuIn(const NpuWork* work, int32_t i) {
  return &work->graph->tensors[work->op->inputs[i]];
}
static inline const NpuTensor* NpuOut(const NpuWork* work) {
  return &work->graph->tensors[work->op->output];
}
static inline const void* NpuInData(const NpuWork* work, int32_t i) {
  return work->buffers[work->op->inputs[i]];
}
static inline void* NpuOutData(const NpuWork* work) { return work->buffers[work->op->output]; }

/* Sets `out` to the extents right-aligned in four dimensions, with leading extents of 1. */
static inline void NpuExtents(const NpuTensor* tensor, int64_t out[NPU_MAX_RANK]) {
  for (int32_t i = 0; i < NPU_MAX_RANK; ++i) {
    const int32_t at = i - (NPU_MAX_RANK - tensor->rank);
    out[i] = at < 0 ? 1 : tensor->dims[at];
  }
}

/* Sets `out` to the strides, in elements, of four extents. With `to`, the stride is 0 where an
 * extent of 1 is broadcast to that of `to`. */
static inline void NpuSteps(const int64_t extents[NPU_MAX_RANK], const int64_t* to,
                            int64_t out[NPU_MAX_RANK]) {
  int64_t step = 1;
  for (int32_t i = NPU_MAX_RANK - 1; i >= 0; --i) {
    out[i] = to != NULL && extents[i] == 1 && to[i] != 1 ? 0 : step;
    step *= extents[i];
  }
}

void NpuComputeUnary(const NpuWork* work);
NpuStatus NpuComputeBinary(const NpuWork* work);
void NpuComputeCast(const NpuWork* work);
void NpuComputeConv(const NpuWork* work);
void NpuComputeConvTranspose(const NpuWork* work);
void NpuComputePool(const NpuWork* work);
void NpuComputeResize(const NpuWork* work);
void NpuComputeMatMul(const NpuWork* work);
void NpuComputeSoftmax(const NpuWork* work);
void NpuComputeReduce(const NpuWork* work);
void NpuComputeArgMax(const NpuWork* work);
void NpuComputeConcat(const NpuWork* work);
NpuStatus NpuComputeGather(const NpuWork* work);
void NpuComputePad(const NpuWork* work);
void NpuComputeReshape(const NpuWork* work);
void NpuComputeSlice(const NpuWork* work);
void NpuComputeTile(const NpuWork* work);
void NpuComputeBroadcast(const NpuWork* work);
void NpuComputeTranspose(const NpuWork* work);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_DEVICE_OPS_H_ */
