/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations that move data, for all element types (NpuComputePad: only float32 and int32).
 */
#include <stdbool.h>
#include <string.h>

#include "npu_stub/device_ops.h"
#include "npu_stub/graph.h"

/* A block of elements to copy: its extents, and for source and destination the first element and
 * the strides. */
typedef struct Box {
  int64_t extents[NPU_MAX_RANK];
  int64_t from, from_steps[NPU_MAX_RANK];
  int64_t to, to_steps[NPU_MAX_RANK];
} Box;

static void CopyRow(const Box* box, const uint8_t* from, uint8_t* to, size_t size) {
  if (box->from_steps[3] == 1 && box->to_steps[3] == 1) {
    memcpy(to, from, (size_t)box->extents[3] * size);
    return;
  }
  const ptrdiff_t from_step = (ptrdiff_t)(box->from_steps[3] * (int64_t)size);
  const ptrdiff_t to_step = (ptrdiff_t)(box->to_steps[3] * (int64_t)size);
  for (int64_t i = 0; i < box->extents[3]; ++i) {
    memcpy(to + i * to_step, from + i * from_step, size);
  }
}

static void CopyBox(const Box* box, const void* from, void* to, size_t size) {
  for (int64_t i = 0; i < box->extents[0]; ++i) {
    for (int64_t j = 0; j < box->extents[1]; ++j) {
      for (int64_t k = 0; k < box->extents[2]; ++k) {
        const int64_t at_from =
            box->from + i * box->from_steps[0] + j * box->from_steps[1] + k * box->from_steps[2];
        const int64_t at_to =
            box->to + i * box->to_steps[0] + j * box->to_steps[1] + k * box->to_steps[2];
        CopyRow(box, (const uint8_t*)from + at_from * (int64_t)size,
                (uint8_t*)to + at_to * (int64_t)size, size);
      }
    }
  }
}

static size_t ElementBytes(const NpuWork* work) { return NpuTypeBytes(NpuOut(work)->type); }

/* Returns the attribute of a dimension; dimensions are right-aligned in four, as in NpuExtents. */
static int64_t Attribute(const NpuWork* work, int32_t first, int32_t extent,
                         int64_t default_value) {
  const int32_t dim = extent - (NPU_MAX_RANK - NpuOut(work)->rank);
  return dim < 0 ? default_value : work->op->attributes[first + dim];
}

void NpuComputeReshape(const NpuWork* work) {
  memcpy(NpuOutData(work), NpuInData(work, 0), NpuTensorBytes(NpuOut(work)));
}

void NpuComputeSlice(const NpuWork* work) {
  Box box = {.from = 0};
  int64_t in[NPU_MAX_RANK], steps[NPU_MAX_RANK];
  NpuExtents(NpuOut(work), box.extents);
  NpuExtents(NpuIn(work, 0), in);
  NpuSteps(in, NULL, steps);
  NpuSteps(box.extents, NULL, box.to_steps);
  for (int32_t i = 0; i < NPU_MAX_RANK; ++i) {
    box.from += Attribute(work, kNpuSliceBegin, i, 0) * steps[i];
    box.from_steps[i] = Attribute(work, kNpuSliceStride, i, 1) * steps[i];
  }
  CopyBox(&box, NpuInData(work, 0), NpuOutData(work), ElementBytes(work));
}

void NpuComputeTranspose(const NpuWork* work) {
  Box box = {.from = 0};
  int64_t in[NPU_MAX_RANK], steps[NPU_MAX_RANK];
  NpuExtents(NpuOut(work), box.extents);
  NpuExtents(NpuIn(work, 0), in);
  NpuSteps(in, NULL, steps);
  NpuSteps(box.extents, NULL, box.to_steps);
  const int32_t front = NPU_MAX_RANK - NpuOut(work)->rank;
  for (int32_t i = 0; i < NPU_MAX_RANK; ++i) {
    box.from_steps[i] =
        i < front ? 0 : steps[front + work->op->attributes[kNpuPermutation + i - front]];
  }
  CopyBox(&box, NpuInData(work, 0), NpuOutData(work), ElementBytes(work));
}

void NpuComputeBroadcast(const NpuWork* work) {
  Box box = {.from = 0};
  int64_t in[NPU_MAX_RANK];
  NpuExtents(NpuOut(work), box.extents);
  NpuExtents(NpuIn(work, 0), in);
  NpuSteps(in, box.extents, box.from_steps);
  NpuSteps(box.extents, NULL, box.to_steps);
  CopyBox(&box, NpuInData(work, 0), NpuOutData(work), ElementBytes(work));
}

/* Copies a whole input into the output, beginning at position `at`. */
static void CopyInput(const NpuWork* work, int32_t input, const int64_t at[NPU_MAX_RANK]) {
  Box box = {.from = 0};
  int64_t out[NPU_MAX_RANK];
  NpuExtents(NpuIn(work, input), box.extents);
  NpuExtents(NpuOut(work), out);
  NpuSteps(box.extents, NULL, box.from_steps);
  NpuSteps(out, NULL, box.to_steps);
  for (int32_t i = 0; i < NPU_MAX_RANK; ++i) box.to += at[i] * box.to_steps[i];
  CopyBox(&box, NpuInData(work, input), NpuOutData(work), ElementBytes(work));
}

void NpuComputeTile(const NpuWork* work) {
  int64_t in[NPU_MAX_RANK], out[NPU_MAX_RANK], at[NPU_MAX_RANK];
  NpuExtents(NpuIn(work, 0), in);
  NpuExtents(NpuOut(work), out);
  for (at[0] = 0; at[0] < out[0]; at[0] += in[0]) {
    for (at[1] = 0; at[1] < out[1]; at[1] += in[1]) {
      for (at[2] = 0; at[2] < out[2]; at[2] += in[2]) {
        for (at[3] = 0; at[3] < out[3]; at[3] += in[3]) CopyInput(work, 0, at);
      }
    }
  }
}

void NpuComputePad(const NpuWork* work) {
  const size_t count = NpuElementCount(NpuOut(work));
  const bool is_float = NpuOut(work)->type == kNpuFloat32;
  float* floats = NpuOutData(work);
  int32_t* ints = NpuOutData(work);
  for (size_t i = 0; i < count; ++i) {
    if (is_float) {
      floats[i] = work->op->number;
    } else {
      ints[i] = (int32_t)work->op->number;
    }
  }
  int64_t at[NPU_MAX_RANK];
  for (int32_t i = 0; i < NPU_MAX_RANK; ++i) at[i] = Attribute(work, kNpuPadBefore, i, 0);
  CopyInput(work, 0, at);
}

void NpuComputeConcat(const NpuWork* work) {
  const int32_t axis = NPU_MAX_RANK - NpuOut(work)->rank + work->op->attributes[kNpuAxis];
  int64_t at[NPU_MAX_RANK] = {0, 0, 0, 0};
  for (int32_t i = 0; i < work->op->input_count; ++i) {
    CopyInput(work, i, at);
    at[axis] += NpuIn(work, i)->dims[work->op->attributes[kNpuAxis]];
  }
}

NpuStatus NpuComputeGather(const NpuWork* work) {
  const NpuTensor* in = NpuIn(work, 0);
  const int32_t axis = work->op->attributes[kNpuAxis];
  size_t outer = 1, block = ElementBytes(work);
  for (int32_t i = 0; i < axis; ++i) outer *= (size_t)in->dims[i];
  for (int32_t i = axis + 1; i < in->rank; ++i) block *= (size_t)in->dims[i];
  const size_t length = (size_t)in->dims[axis];
  const size_t count = NpuElementCount(NpuIn(work, 1));
  const int32_t* indices = NpuInData(work, 1);
  const uint8_t* from = NpuInData(work, 0);
  uint8_t* to = NpuOutData(work);
  for (size_t i = 0; i < outer; ++i, from += length * block) {
    for (size_t j = 0; j < count; ++j, to += block) {
      if (indices[j] < 0 || (size_t)indices[j] >= length) {
        return NpuBadInput(work, "expected indices from 0 to %zu, found %d", length - 1,
                           indices[j]);
      }
      memcpy(to, from + (size_t)indices[j] * block, block);
    }
  }
  return kNpuOk;
}
