/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products and operations along axes.
 */
#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "npu_stub/device_ops.h"
#include "npu_stub/graph.h"

/* ---- Products -------------------------------------------------------------------------------- */

/* Strides between rows and between columns, in elements, of a matrix that may be transposed. */
typedef struct Matrix {
  const float* data;
  int64_t row, column;
} Matrix;

static Matrix MatrixAt(const float* data, const NpuTensor* tensor, int32_t transpose) {
  const int64_t width = tensor->dims[tensor->rank - 1];
  const Matrix plain = {data, width, 1}, transposed = {data, 1, width};
  return transpose != 0 ? transposed : plain;
}

static void Product(Matrix a, Matrix b, const float* bias, int64_t m, int64_t n, int64_t k,
                    float* out) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const float* from_a = a.data + i * a.row;
      const float* from_b = b.data + j * b.column;
      float sum = 0.0f;
      for (int64_t l = 0; l < k; ++l) sum += from_a[l * a.column] * from_b[l * b.row];
      *out++ = bias == NULL ? sum : sum + bias[j];
    }
  }
}

/* Sets `steps` to the strides of a tensor; the first two are those between matrices. */
static void BatchSteps(const NpuTensor* tensor, const int64_t out[NPU_MAX_RANK],
                       int64_t steps[NPU_MAX_RANK]) {
  int64_t extents[NPU_MAX_RANK];
  NpuExtents(tensor, extents);
  NpuSteps(extents, out, steps);
}

void NpuComputeMatMul(const NpuWork* work) {
  const NpuTensor *a = NpuIn(work, 0), *b = NpuIn(work, 1);
  const int32_t transpose_a = work->op->attributes[kNpuMatMulTransposeA];
  const int32_t transpose_b = work->op->attributes[kNpuMatMulTransposeB];
  int64_t out[NPU_MAX_RANK], steps_a[NPU_MAX_RANK], steps_b[NPU_MAX_RANK];
  NpuExtents(NpuOut(work), out);
  BatchSteps(a, out, steps_a);
  BatchSteps(b, out, steps_b);
  const int64_t k = a->dims[a->rank - (transpose_a != 0 ? 2 : 1)];
  const float* bias = work->op->input_count > 2 ? NpuInData(work, 2) : NULL;
  const float *first_a = NpuInData(work, 0), *first_b = NpuInData(work, 1);
  float* result = NpuOutData(work);
  for (int64_t i = 0; i < out[0]; ++i) {
    for (int64_t j = 0; j < out[1]; ++j, result += out[2] * out[3]) {
      const float* at_a = first_a + i * steps_a[0] + j * steps_a[1];
      const float* at_b = first_b + i * steps_b[0] + j * steps_b[1];
      Product(MatrixAt(at_a, a, transpose_a), MatrixAt(at_b, b, transpose_b), bias, out[2], out[3],
              k, result);
    }
  }
}

/* ---- Along one axis -------------------------------------------------------------------------- */

/* An axis: the product of the extents before it, its extent, and the product of those after it. */
typedef struct Axis {
  int64_t outer, length, inner;
} Axis;

static Axis AxisOf(const NpuTensor* tensor, int32_t axis) {
  Axis result = {1, tensor->dims[axis], 1};
  for (int32_t i = 0; i < axis; ++i) result.outer *= tensor->dims[i];
  for (int32_t i = axis + 1; i < tensor->rank; ++i) result.inner *= tensor->dims[i];
  return result;
}

static void SoftmaxRow(const float* in, float* out, int64_t length, int64_t step, float beta) {
  float max = in[0], sum = 0.0f;
  for (int64_t i = 1; i < length; ++i) {
    max = max < in[i * step] ? in[i * step] : max;
  }
  for (int64_t i = 0; i < length; ++i) {
    out[i * step] = expf((in[i * step] - max) * beta);
    sum += out[i * step];
  }
  for (int64_t i = 0; i < length; ++i) out[i * step] /= sum;
}

void NpuComputeSoftmax(const NpuWork* work) {
  const Axis axis = AxisOf(NpuIn(work, 0), work->op->attributes[kNpuAxis]);
  const float* in = NpuInData(work, 0);
  float* out = NpuOutData(work);
  for (int64_t i = 0; i < axis.outer; ++i) {
    for (int64_t j = 0; j < axis.inner; ++j) {
      const int64_t at = i * axis.length * axis.inner + j;
      SoftmaxRow(in + at, out + at, axis.length, axis.inner, work->op->number);
    }
  }
}

void NpuComputeArgMax(const NpuWork* work) {
  const Axis axis = AxisOf(NpuIn(work, 0), work->op->attributes[kNpuAxis]);
  const float* in = NpuInData(work, 0);
  int32_t* out = NpuOutData(work);
  for (int64_t i = 0; i < axis.outer; ++i) {
    for (int64_t j = 0; j < axis.inner; ++j) {
      const float* row = in + i * axis.length * axis.inner + j;
      int64_t best = 0;
      for (int64_t k = 1; k < axis.length; ++k) {
        if (row[k * axis.inner] > row[best * axis.inner]) best = k;
      }
      *out++ = (int32_t)best;
    }
  }
}

/* ---- Reduction ------------------------------------------------------------------------------- */

static float ReduceFloat(int32_t function, float sum, float value) {
  switch (function) {
    case kNpuReduceMax:
      return sum < value ? value : sum;
    case kNpuReduceMin:
      return value < sum ? value : sum;
    case kNpuReduceProd:
      return sum * value;
    default:
      return sum + value;
  }
}

/* Combines a partial result of a reduction with a value. Sums and products wrap on overflow. */
static int32_t ReduceInt(int32_t function, int32_t sum, int32_t value) {
  switch (function) {
    case kNpuReduceMax:
      return sum < value ? value : sum;
    case kNpuReduceMin:
      return value < sum ? value : sum;
    case kNpuReduceProd:
      return (int32_t)((uint32_t)sum * (uint32_t)value);
    default:
      return (int32_t)((uint32_t)sum + (uint32_t)value);
  }
}

/* Returns the initial value of a reduction. */
static float FirstFloat(int32_t function) {
  if (function == kNpuReduceMax) return -FLT_MAX;
  if (function == kNpuReduceMin) return FLT_MAX;
  return function == kNpuReduceProd ? 1.0f : 0.0f;
}

static int32_t FirstInt(int32_t function) {
  if (function == kNpuReduceMax) return INT32_MIN;
  if (function == kNpuReduceMin) return INT32_MAX;
  return function == kNpuReduceProd ? 1 : 0;
}

static void Accumulate(const NpuWork* work, int64_t from, int64_t to) {
  const int32_t function = work->op->function;
  if (NpuOut(work)->type == kNpuInt32) {
    int32_t* sum = (int32_t*)NpuOutData(work) + to;
    *sum = ReduceInt(function, *sum, ((const int32_t*)NpuInData(work, 0))[from]);
  } else {
    float* sum = (float*)NpuOutData(work) + to;
    *sum = ReduceFloat(function, *sum, ((const float*)NpuInData(work, 0))[from]);
  }
}

static void StartReduction(const NpuWork* work, int64_t count) {
  const int32_t function = work->op->function;
  for (int64_t i = 0; i < count; ++i) {
    if (NpuOut(work)->type == kNpuInt32) {
      ((int32_t*)NpuOutData(work))[i] = FirstInt(function);
    } else {
      ((float*)NpuOutData(work))[i] = FirstFloat(function);
    }
  }
}

/* Sets `steps` to the strides in the output along the input's four axes: 0 for reduced axes. */
static void OutputSteps(const NpuWork* work, const int64_t in[NPU_MAX_RANK],
                        int64_t steps[NPU_MAX_RANK]) {
  const int32_t mask = work->op->attributes[kNpuAxisMask] << (NPU_MAX_RANK - NpuIn(work, 0)->rank);
  int64_t step = 1;
  for (int32_t i = NPU_MAX_RANK - 1; i >= 0; --i) {
    const bool reduced = (mask >> i & 1) != 0;
    steps[i] = reduced ? 0 : step;
    if (!reduced) step *= in[i];
  }
}

void NpuComputeReduce(const NpuWork* work) {
  int64_t in[NPU_MAX_RANK], steps[NPU_MAX_RANK];
  NpuExtents(NpuIn(work, 0), in);
  OutputSteps(work, in, steps);
  const int64_t count = (int64_t)NpuElementCount(NpuOut(work));
  StartReduction(work, count);
  int64_t from = 0;
  for (int64_t i = 0; i < in[0]; ++i) {
    for (int64_t j = 0; j < in[1]; ++j) {
      for (int64_t k = 0; k < in[2]; ++k) {
        const int64_t to = i * steps[0] + j * steps[1] + k * steps[2];
        for (int64_t l = 0; l < in[3]; ++l) Accumulate(work, from++, to + l * steps[3]);
      }
    }
  }
  if (work->op->function != kNpuReduceMean) return;
  const int64_t length = (int64_t)NpuElementCount(NpuIn(work, 0)) / count;
  for (int64_t i = 0; i < count; ++i) ((float*)NpuOutData(work))[i] /= (float)length;
}
