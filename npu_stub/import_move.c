/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators that move data.
 */
#include "deputy/deputy_plugin.h"
#include "npu_stub/import.h"

static int RankOf(const TfLiteTensor* tensor) { return tensor->dims->size; }

bool NpuImportReshape(NpuImport* import, int32_t argument) {
  (void)argument;
  if (!NpuExpectInputs(import, 1, 2)) return false;
  const int32_t input = NpuInput(import, 0);
  NpuAddNode(import, kNpuReshape, 0, &input, 1, NpuOutput(import, 0));
  return true;
}

bool NpuImportConcat(NpuImport* import, int32_t argument) {
  const TfLiteConcatenationParams* params = import->node->builtin_data;
  const int count = import->node->inputs->size;
  int32_t axis;
  (void)argument;
  if (!NpuExpectInputs(import, 1, INT32_MAX)) return false;
  for (int i = 0; i < count; ++i) {
    if (NpuInputTensor(import, i) == NULL) {
      return NpuRefuse(import, kDeputyReasonParameter, "input %d is missing", i);
    }
  }
  if (!NpuReadAxis(import, params->axis, RankOf(NpuInputTensor(import, 0)), &axis)) return false;
  int32_t* inputs = NpuBuilderOwn(import->builder, (size_t)count * sizeof *inputs);
  if (inputs == NULL) return true;
  for (int i = 0; i < count; ++i) inputs[i] = NpuInput(import, i);
  const int32_t op = NpuAddActivated(import, kNpuConcat, 0, inputs, count, params->activation);
  NpuOpAt(import->builder, op)->attributes[kNpuAxis] = axis;
  return op >= 0 || import->builder->failed;
}

bool NpuImportGather(NpuImport* import, int32_t argument) {
  const TfLiteGatherParams* params = import->node->builtin_data;
  int32_t axis;
  (void)argument;
  if (!NpuExpectInputs(import, 2, 2)) return false;
  if (params->batch_dims != 0) {
    return NpuRefuse(import, kDeputyReasonParameter, "batch_dims %d", params->batch_dims);
  }
  if (NpuInputTensor(import, 1)->type != kTfLiteInt32) {
    return NpuRefuse(import, kDeputyReasonType, "indices: expected INT32");
  }
  if (!NpuReadAxis(import, params->axis, RankOf(NpuInputTensor(import, 0)), &axis)) return false;
  const int32_t inputs[] = {NpuInput(import, 0), NpuInput(import, 1)};
  const int32_t op = NpuAddNode(import, kNpuGather, 0, inputs, 2, NpuOutput(import, 0));
  NpuOpAt(import->builder, op)->attributes[kNpuAxis] = axis;
  return true;
}

/* Imports PAD, or PADV2 with `argument` 1, whose input 2 is the padding value. */
bool NpuImportPad(NpuImport* import, int32_t argument) {
  int32_t paddings[2 * NPU_MAX_RANK];
  int count = 0;
  if (!NpuExpectInputs(import, 2 + argument, 2 + argument) ||
      !NpuReadInts(import, 1, "paddings", 2 * NPU_MAX_RANK, paddings, &count)) {
    return false;
  }
  const int rank = RankOf(NpuInputTensor(import, 0));
  if (count != 2 * rank) return NpuRefuse(import, kDeputyReasonShape, "%d paddings", count);
  float value = 0.0f;
  if (argument != 0) {
    if (!NpuExpectConstant(import, 2, "value")) return false;
    const NpuTensor* fill = NpuTensorAt(import->builder, NpuInput(import, 2));
    if (fill->type != kNpuFloat32 || (fill->data != NULL && NpuElementCount(fill) != 1)) {
      return NpuRefuse(import, kDeputyReasonType, "value: expected one FLOAT32");
    }
    if (fill->data != NULL && !import->checking) value = *(const float*)fill->data;
  }
  const int32_t input = NpuInput(import, 0);
  const int32_t index = NpuAddNode(import, kNpuPad, 0, &input, 1, NpuOutput(import, 0));
  NpuOp* op = NpuOpAt(import->builder, index);
  for (int i = 0; i < rank; ++i) op->attributes[kNpuPadBefore + i] = paddings[2 * i];
  op->number = value;
  return true;
}

bool NpuImportTile(NpuImport* import, int32_t argument) {
  (void)argument;
  if (!NpuExpectInputs(import, 2, 2) || !NpuExpectConstant(import, 1, "multiples")) return false;
  const int32_t input = NpuInput(import, 0);
  NpuAddNode(import, kNpuTile, 0, &input, 1, NpuOutput(import, 0));
  return true;
}

bool NpuImportBroadcast(NpuImport* import, int32_t argument) {
  (void)argument;
  if (!NpuExpectInputs(import, 2, 2) || !NpuExpectConstant(import, 1, "shape")) return false;
  const int32_t input = NpuInput(import, 0);
  NpuAddNode(import, kNpuBroadcast, 0, &input, 1, NpuOutput(import, 0));
  return true;
}

bool NpuImportTranspose(NpuImport* import, int32_t argument) {
  int32_t permutation[NPU_MAX_RANK];
  int count = 0;
  (void)argument;
  if (!NpuExpectInputs(import, 2, 2) ||
      !NpuReadInts(import, 1, "permutation", NPU_MAX_RANK, permutation, &count)) {
    return false;
  }
  const int rank = RankOf(NpuInputTensor(import, 0));
  if (count != rank) return NpuRefuse(import, kDeputyReasonShape, "%d axes of %d", count, rank);
  const int32_t input = NpuInput(import, 0);
  const int32_t op = NpuAddNode(import, kNpuTranspose, 0, &input, 1, NpuOutput(import, 0));
  for (int i = 0; i < rank; ++i) {
    int32_t axis;
    if (!NpuReadAxis(import, permutation[i], rank, &axis)) return false;
    NpuOpAt(import->builder, op)->attributes[kNpuPermutation + i] = axis;
  }
  return true;
}

/* ---- Slices ---------------------------------------------------------------------------------- */

/* A slice of a tensor, which is initialised to the whole tensor. */
typedef struct Slice {
  int32_t begin[NPU_MAX_RANK], stride[NPU_MAX_RANK], extent[NPU_MAX_RANK];
  int32_t rank;
} Slice;

static Slice WholeOf(const TfLiteTensor* tensor) {
  Slice slice = {{0, 0, 0, 0}, {1, 1, 1, 1}, {1, 1, 1, 1}, RankOf(tensor)};
  for (int i = 0; i < slice.rank; ++i) slice.extent[i] = tensor->dims->data[i];
  return slice;
}

static void SetSlice(NpuOp* op, const Slice* slice) {
  for (int i = 0; i < slice->rank; ++i) {
    op->attributes[kNpuSliceBegin + i] = slice->begin[i];
    op->attributes[kNpuSliceStride + i] = slice->stride[i];
  }
}

/* Adds a slice of `tensor`, and a reshape if the output has other dims than the slice. */
static void AddSlice(NpuImport* import, const Slice* slice, int32_t tensor, int32_t output) {
  const NpuTensor to = *NpuTensorAt(import->builder, output);
  const int32_t part = NpuAddTensor(import->builder, to.type, slice->rank, slice->extent);
  const bool same = NpuSameDims(NpuTensorAt(import->builder, part), &to);
  const int32_t op = NpuAddNode(import, kNpuSlice, 0, &tensor, 1, same ? output : part);
  SetSlice(NpuOpAt(import->builder, op), slice);
  if (!same) NpuAddNode(import, kNpuReshape, 0, &part, 1, output);
}

bool NpuImportSlice(NpuImport* import, int32_t argument) {
  int32_t begin[NPU_MAX_RANK], size[NPU_MAX_RANK];
  int begins = 0, sizes = 0;
  (void)argument;
  if (!NpuExpectInputs(import, 3, 3) ||
      !NpuReadInts(import, 1, "begin", NPU_MAX_RANK, begin, &begins) ||
      !NpuReadInts(import, 2, "size", NPU_MAX_RANK, size, &sizes)) {
    return false;
  }
  Slice slice = WholeOf(NpuInputTensor(import, 0));
  if (begins != slice.rank || sizes != slice.rank) {
    return NpuRefuse(import, kDeputyReasonShape, "begin and size have another rank");
  }
  for (int i = 0; i < slice.rank; ++i) {
    if (begin[i] < 0 || begin[i] >= slice.extent[i]) {
      return NpuRefuse(import, kDeputyReasonParameter, "begin %d of %d", begin[i], slice.extent[i]);
    }
    slice.begin[i] = begin[i];
    slice.extent[i] = size[i] == -1 ? slice.extent[i] - begin[i] : size[i];
  }
  AddSlice(import, &slice, NpuInput(import, 0), NpuOutput(import, 0));
  return true;
}

/* Imports SPLIT with inputs axis and value (`argument` 0), or SPLIT_V with inputs value, sizes
 * and axis (1). The lengths of the parts are taken from the shapes of the outputs. */
bool NpuImportSplit(NpuImport* import, int32_t argument) {
  int32_t given[1], axis;
  int count = 0;
  const int value = argument == 0 ? 1 : 0, axis_input = argument == 0 ? 0 : 2;
  if (!NpuExpectInputs(import, 2 + argument, 2 + argument) ||
      !NpuReadInts(import, axis_input, "axis", 1, given, &count) ||
      (argument != 0 && !NpuExpectConstant(import, 1, "sizes"))) {
    return false;
  }
  Slice slice = WholeOf(NpuInputTensor(import, value));
  if (count != 1 || !NpuReadAxis(import, given[0], slice.rank, &axis)) {
    return NpuRefuse(import, kDeputyReasonParameter, "expected one axis in range");
  }
  for (int i = 0; i < import->node->outputs->size; ++i) {
    const TfLiteTensor* out = NpuOutputTensor(import, i);
    if (out == NULL || RankOf(out) != slice.rank) {
      return NpuRefuse(import, kDeputyReasonShape, "the output has another rank");
    }
    slice.extent[axis] = out->dims->data[axis];
    AddSlice(import, &slice, NpuInput(import, value), NpuOutput(import, i));
    slice.begin[axis] += slice.extent[axis];
  }
  return true;
}

bool NpuImportUnpack(NpuImport* import, int32_t argument) {
  const TfLiteUnpackParams* params = import->node->builtin_data;
  int32_t axis;
  (void)argument;
  if (!NpuExpectInputs(import, 1, 1)) return false;
  Slice slice = WholeOf(NpuInputTensor(import, 0));
  if (!NpuReadAxis(import, params->axis, slice.rank, &axis)) return false;
  slice.extent[axis] = 1;
  for (int i = 0; i < import->node->outputs->size; ++i) {
    if (NpuOutputTensor(import, i) == NULL) {
      return NpuRefuse(import, kDeputyReasonParameter, "output %d is missing", i);
    }
    slice.begin[axis] = i;
    AddSlice(import, &slice, NpuInput(import, 0), NpuOutput(import, i));
  }
  return true;
}

/* ---- STRIDED_SLICE --------------------------------------------------------------------------- */

typedef struct Entries {
  int32_t begin[NPU_MAX_RANK + 1], end[NPU_MAX_RANK + 1], stride[NPU_MAX_RANK + 1];
  int count;
} Entries;

static bool ReadEntries(NpuImport* import, Entries* entries) {
  const int capacity = NPU_MAX_RANK + 1;
  int ends = 0, strides = 0;
  if (!NpuReadInts(import, 1, "begin", capacity, entries->begin, &entries->count) ||
      !NpuReadInts(import, 2, "end", capacity, entries->end, &ends) ||
      !NpuReadInts(import, 3, "strides", capacity, entries->stride, &strides)) {
    return false;
  }
  if (ends == entries->count && strides == entries->count) return true;
  return NpuRefuse(import, kDeputyReasonShape, "begin, end and strides have different lengths");
}

static int64_t Clamp(int64_t value, int64_t min, int64_t max) {
  if (value < min) return min;
  return value > max ? max : value;
}

static bool Bit(int mask, int i) { return (mask >> i & 1) != 0; }

/* Applies entry `i` of STRIDED_SLICE to one dimension. */
static bool ReadDimension(NpuImport* import, const TfLiteStridedSliceParams* params,
                          const Entries* entries, int i, int32_t dimension, Slice* slice) {
  const int64_t length = slice->extent[dimension], stride = entries->stride[i];
  if (stride == 0) return NpuRefuse(import, kDeputyReasonParameter, "a stride of 0");
  const int64_t min = stride > 0 ? 0 : -1, max = stride > 0 ? length : length - 1;
  int64_t begin = stride > 0 ? min : max, end = stride > 0 ? max : min;
  if (!Bit(params->begin_mask, i)) {
    begin = Clamp(entries->begin[i] < 0 ? entries->begin[i] + length : entries->begin[i], min, max);
  }
  if (Bit(params->shrink_axis_mask, i)) {
    if (begin >= length) {
      return NpuRefuse(import, kDeputyReasonParameter, "index %d of %lld", entries->begin[i],
                       (long long)length);
    }
    slice->begin[dimension] = (int32_t)(begin < 0 ? 0 : begin);
    slice->extent[dimension] = 1;
    return true;
  }
  if (!Bit(params->end_mask, i)) {
    end = Clamp(entries->end[i] < 0 ? entries->end[i] + length : entries->end[i], min, max);
  }
  const int64_t distance = stride > 0 ? end - begin : begin - end;
  const int64_t step = stride > 0 ? stride : -stride;
  if (distance <= 0) return NpuRefuse(import, kDeputyReasonShape, "the slice is empty");
  slice->begin[dimension] = (int32_t)begin;
  slice->stride[dimension] = (int32_t)stride;
  slice->extent[dimension] = (int32_t)((distance + step - 1) / step);
  return true;
}

bool NpuImportStridedSlice(NpuImport* import, int32_t argument) {
  const TfLiteStridedSliceParams* params = import->node->builtin_data;
  Entries entries;
  (void)argument;
  if (!NpuExpectInputs(import, 4, 4) || !ReadEntries(import, &entries)) return false;
  /* STRIDED_SLICE has the member `offset` only since version 8. */
  if (params->ellipsis_mask != 0 || (import->registration->version >= 8 && params->offset)) {
    return NpuRefuse(import, kDeputyReasonParameter, "ellipses and offsets are not supported");
  }
  Slice slice = WholeOf(NpuInputTensor(import, 0));
  int32_t dimension = 0;
  for (int i = 0; i < entries.count; ++i) {
    if (Bit(params->new_axis_mask, i)) continue;
    if (dimension >= slice.rank) return NpuRefuse(import, kDeputyReasonShape, "too many entries");
    if (!ReadDimension(import, params, &entries, i, dimension, &slice)) return false;
    ++dimension;
  }
  AddSlice(import, &slice, NpuInput(import, 0), NpuOutput(import, 0));
  return true;
}
