/* SPDX-License-Identifier: Apache-2.0
 *
 * Element-wise operations.
 */
#include <math.h>
#include <string.h>

#include "npu_stub/device_ops.h"
#include "npu_stub/graph.h"

static float Clamp(float x, float min, float max) {
  const float raised = x < min ? min : x;
  return raised > max ? max : raised;
}

static float Gelu(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f)); }

static float GeluTanh(float x) {
  return 0.5f * x * (1.0f + tanhf(0.7978845608028654f * (x + 0.044715f * x * x * x)));
}

static float Activate(int32_t function, float x, float alpha) {
  switch (function) {
    case kNpuRelu:
      return x < 0.0f ? 0.0f : x;
    case kNpuRelu6:
      return Clamp(x, 0.0f, 6.0f);
    case kNpuReluN1To1:
      return Clamp(x, -1.0f, 1.0f);
    case kNpuRelu0To1:
      return Clamp(x, 0.0f, 1.0f);
    case kNpuSigmoid:
      return 1.0f / (1.0f + expf(-x));
    case kNpuTanh:
      return tanhf(x);
    case kNpuElu:
      return x < 0.0f ? expm1f(x) : x;
    case kNpuLeakyRelu:
      return x > 0.0f ? x : x * alpha;
    case kNpuHardSwish:
      return x * Clamp(x + 3.0f, 0.0f, 6.0f) / 6.0f;
    case kNpuGelu:
      return Gelu(x);
    default:
      return GeluTanh(x);
  }
}

static float Unary(int32_t function, float x, float alpha) {
  switch (function) {
    case kNpuAbs:
      return fabsf(x);
    case kNpuCeil:
      return ceilf(x);
    case kNpuCos:
      return cosf(x);
    case kNpuExp:
      return expf(x);
    case kNpuFloor:
      return floorf(x);
    case kNpuLog:
      return logf(x);
    case kNpuNeg:
      return -x;
    case kNpuRound:
      return rintf(x);
    case kNpuRsqrt:
      return 1.0f / sqrtf(x);
    case kNpuSin:
      return sinf(x);
    case kNpuSqrt:
      return sqrtf(x);
    case kNpuSquare:
      return x * x;
    default:
      return Activate(function, x, alpha);
  }
}

void NpuComputeUnary(const NpuWork* work) {
  const size_t count = NpuElementCount(NpuOut(work));
  if (work->op->function == kNpuLogicalNot) {
    const uint8_t* in = NpuInData(work, 0);
    uint8_t* out = NpuOutData(work);
    for (size_t i = 0; i < count; ++i) out[i] = in[i] == 0;
    return;
  }
  const float* in = NpuInData(work, 0);
  float* out = NpuOutData(work);
  for (size_t i = 0; i < count; ++i) out[i] = Unary(work->op->function, in[i], work->op->number);
}

static float FloorMod(float a, float b) {
  const float rest = fmodf(a, b);
  return rest != 0.0f && (rest < 0.0f) != (b < 0.0f) ? rest + b : rest;
}

static float Binary(int32_t function, float a, float b) {
  switch (function) {
    case kNpuAdd:
      return a + b;
    case kNpuSub:
      return a - b;
    case kNpuMul:
      return a * b;
    case kNpuDiv:
      return a / b;
    case kNpuFloorDiv:
      return (float)floor((double)a / (double)b);
    case kNpuFloorMod:
      return FloorMod(a, b);
    case kNpuMaximum:
      return a > b ? a : b;
    default:
      return a < b ? a : b;
  }
}

static uint8_t Compare(int32_t function, float a, float b) {
  switch (function) {
    case kNpuEqual:
      return a == b;
    case kNpuNotEqual:
      return a != b;
    case kNpuLess:
      return a < b;
    case kNpuLessEqual:
      return a <= b;
    case kNpuGreater:
      return a > b;
    default:
      return a >= b;
  }
}

static uint8_t Logical(int32_t function, uint8_t a, uint8_t b) {
  if (function == kNpuLogicalAnd) return a != 0 && b != 0;
  return a != 0 || b != 0;
}

/* Computes one element of the output. */
static void BinaryElement(int32_t function, const void* a, int64_t at_a, const void* b,
                          int64_t at_b, void* out, int64_t at) {
  if (function >= kNpuLogicalAnd) {
    const uint8_t x = ((const uint8_t*)a)[at_a], y = ((const uint8_t*)b)[at_b];
    ((uint8_t*)out)[at] = Logical(function, x, y);
    return;
  }
  const float x = ((const float*)a)[at_a], y = ((const float*)b)[at_b];
  if (function >= kNpuEqual) {
    ((uint8_t*)out)[at] = Compare(function, x, y);
  } else {
    ((float*)out)[at] = Binary(function, x, y);
  }
}

static NpuStatus CheckDivisors(const NpuWork* work) {
  const float* divisors = NpuInData(work, 1);
  const size_t count = NpuElementCount(NpuIn(work, 1));
  for (size_t i = 0; i < count; ++i) {
    if (divisors[i] == 0.0f) return NpuBadInput(work, "a division by 0");
  }
  return kNpuOk;
}

NpuStatus NpuComputeBinary(const NpuWork* work) {
  if (work->op->function == kNpuFloorDiv && CheckDivisors(work) != kNpuOk) return kNpuBadArgument;
  int64_t out[NPU_MAX_RANK], a[NPU_MAX_RANK], b[NPU_MAX_RANK];
  int64_t steps_a[NPU_MAX_RANK], steps_b[NPU_MAX_RANK];
  NpuExtents(NpuOut(work), out);
  NpuExtents(NpuIn(work, 0), a);
  NpuExtents(NpuIn(work, 1), b);
  NpuSteps(a, out, steps_a);
  NpuSteps(b, out, steps_b);
  int64_t at = 0;
  for (int64_t i = 0; i < out[0]; ++i) {
    for (int64_t j = 0; j < out[1]; ++j) {
      for (int64_t k = 0; k < out[2]; ++k) {
        int64_t at_a = i * steps_a[0] + j * steps_a[1] + k * steps_a[2];
        int64_t at_b = i * steps_b[0] + j * steps_b[1] + k * steps_b[2];
        for (int64_t l = 0; l < out[3]; ++l) {
          BinaryElement(work->op->function, NpuInData(work, 0), at_a, NpuInData(work, 1), at_b,
                        NpuOutData(work), at++);
          at_a += steps_a[3];
          at_b += steps_b[3];
        }
      }
    }
  }
  return kNpuOk;
}

/* ---- Cast ------------------------------------------------------------------------------------ */

static double Read(int32_t type, const void* data, size_t i) {
  if (type == kNpuFloat32) return (double)((const float*)data)[i];
  if (type == kNpuInt32) return (double)((const int32_t*)data)[i];
  return ((const uint8_t*)data)[i] != 0 ? 1.0 : 0.0;
}

/* Converts to int32: truncates towards zero; values out of range saturate, and a NaN becomes
 * INT32_MAX. */
static int32_t ToInt(double value) {
  if (isnan(value) || value >= 2147483647.0) return INT32_MAX;
  return value <= -2147483648.0 ? INT32_MIN : (int32_t)value;
}

void NpuComputeCast(const NpuWork* work) {
  const size_t count = NpuElementCount(NpuOut(work));
  const int32_t from = NpuIn(work, 0)->type, to = NpuOut(work)->type;
  const void* in = NpuInData(work, 0);
  void* out = NpuOutData(work);
  for (size_t i = 0; i < count; ++i) {
    const double value = Read(from, in, i);
    if (to == kNpuFloat32) {
      ((float*)out)[i] = (float)value;
    } else if (to == kNpuInt32) {
      ((int32_t*)out)[i] = ToInt(value);
    } else {
      ((uint8_t*)out)[i] = value != 0.0;
    }
  }
}
