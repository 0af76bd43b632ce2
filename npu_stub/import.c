/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions that the importers share.
 */
#include "npu_stub/import.h"

#include <stdarg.h>
#include <stdio.h>

#include "deputy/deputy_plugin.h"
#include "npu_stub/half.h"

bool NpuRefuse(NpuImport* import, int32_t reason, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  import->refusal->reason = reason;
  vsnprintf(import->refusal->text, sizeof import->refusal->text, format, arguments);
  va_end(arguments);
  return false;
}

/* ---- Tensors --------------------------------------------------------------------------------- */

static const TfLiteTensor* TensorAt(const NpuImport* import, const TfLiteIntArray* list, int i) {
  if (i < 0 || i >= list->size || list->data[i] < 0) return NULL;
  return &import->context->tensors[list->data[i]];
}

const TfLiteTensor* NpuInputTensor(const NpuImport* import, int i) {
  return TensorAt(import, import->node->inputs, i);
}

const TfLiteTensor* NpuOutputTensor(const NpuImport* import, int i) {
  return TensorAt(import, import->node->outputs, i);
}

int32_t NpuTypeOf(TfLiteType type) {
  if (type == kTfLiteFloat32 || type == kTfLiteFloat16) return kNpuFloat32;
  if (type == kTfLiteInt32) return kNpuInt32;
  return type == kTfLiteBool ? kNpuBool : 0;
}

/* Shapes that the runtime computes in its prepare are persistent constants of integers. Other
 * persistent constants have contents only after the first inference. Constants without elements are
 * left to the CPU. */
bool NpuIsConstant(const TfLiteTensor* tensor) {
  const bool is_shape = tensor->allocation_type == kTfLitePersistentRo &&
                        (tensor->type == kTfLiteInt32 || tensor->type == kTfLiteInt64);
  return (is_shape || tensor->allocation_type == kTfLiteMmapRo) && tensor->data.raw_const != NULL &&
         tensor->bytes > 0;
}

/* Returns the contents of a constant in the device's type, without a copy unless they are
 * converted. */
static const void* ContentsOf(NpuImport* import, const TfLiteTensor* tensor, const NpuTensor* as) {
  if (tensor->type != kTfLiteFloat16 || import->checking) return tensor->data.raw_const;
  const size_t count = NpuElementCount(as);
  float* widened = NpuBuilderOwn(import->builder, count * sizeof *widened);
  if (widened != NULL) NpuFromHalf((const uint16_t*)tensor->data.raw_const, widened, count);
  return widened;
}

int32_t NpuTensorOf(NpuImport* import, int model_tensor) {
  if (import->tensors[model_tensor] >= 0) return import->tensors[model_tensor];
  const TfLiteTensor* tensor = &import->context->tensors[model_tensor];
  const int32_t index = NpuAddTensor(import->builder, NpuTypeOf(tensor->type), tensor->dims->size,
                                     tensor->dims->data);
  NpuTensor* added = NpuTensorAt(import->builder, index);
  if (index >= 0 && NpuIsConstant(tensor)) {
    const void* data = ContentsOf(import, tensor, added);
    NpuTensorAt(import->builder, index)->data = data;
  }
  import->tensors[model_tensor] = index;
  return index;
}

int32_t NpuInput(NpuImport* import, int i) {
  return NpuTensorOf(import, import->node->inputs->data[i]);
}

int32_t NpuOutput(NpuImport* import, int i) {
  return NpuTensorOf(import, import->node->outputs->data[i]);
}

int32_t NpuNewConstant(NpuImport* import, int32_t rank, const int32_t* dims, float** out_data) {
  const int32_t index = NpuAddTensor(import->builder, kNpuFloat32, rank, dims);
  NpuTensor* tensor = NpuTensorAt(import->builder, index);
  *out_data = index < 0 ? NULL : NpuBuilderOwn(import->builder, NpuTensorBytes(tensor));
  tensor->data = *out_data;
  return index;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

bool NpuExpectInputs(NpuImport* import, int min, int max) {
  const int count = import->node->inputs->size;
  if (count < min || count > max) {
    return NpuRefuse(import, kDeputyReasonParameter, "expected %d to %d inputs, found %d", min, max,
                     count);
  }
  for (int i = 0; i < min; ++i) {
    if (NpuInputTensor(import, i) == NULL) {
      return NpuRefuse(import, kDeputyReasonParameter, "input %d is missing", i);
    }
  }
  return true;
}

bool NpuExpectConstant(NpuImport* import, int i, const char* what) {
  if (NpuIsConstant(NpuInputTensor(import, i))) return true;
  return NpuRefuse(import, kDeputyReasonNotConstant, "expected constant %s (input %d)", what, i);
}

bool NpuReadInts(NpuImport* import, int i, const char* what, int capacity, int32_t* out_values,
                 int* out_count) {
  const TfLiteTensor* tensor = NpuInputTensor(import, i);
  if (!NpuExpectConstant(import, i, what)) return false;
  const size_t size = tensor->type == kTfLiteInt64 ? sizeof(int64_t) : sizeof(int32_t);
  if (tensor->type != kTfLiteInt64 && tensor->type != kTfLiteInt32) {
    return NpuRefuse(import, kDeputyReasonType, "%s: expected INT32 or INT64", what);
  }
  const size_t count = tensor->bytes / size;
  if (count > (size_t)capacity) {
    return NpuRefuse(import, kDeputyReasonShape, "%s: expected at most %d numbers, found %zu", what,
                     capacity, count);
  }
  for (size_t n = 0; n < count; ++n) {
    const int64_t value = size == 8 ? tensor->data.i64[n] : tensor->data.i32[n];
    if (value > INT32_MAX || value < INT32_MIN) {
      return NpuRefuse(import, kDeputyReasonParameter, "%s: a value is out of the range of INT32",
                       what);
    }
    out_values[n] = (int32_t)value;
  }
  *out_count = (int)count;
  return true;
}

bool NpuReadAxis(NpuImport* import, int axis, int rank, int32_t* out_axis) {
  const int from_front = axis < 0 ? axis + rank : axis;
  if (from_front < 0 || from_front >= rank) {
    return NpuRefuse(import, kDeputyReasonParameter, "axis %d of %d", axis, rank);
  }
  *out_axis = from_front;
  return true;
}

/* ---- Operations ------------------------------------------------------------------------------ */

int32_t NpuAddNode(NpuImport* import, int32_t kind, int32_t function, const int32_t* inputs,
                   int32_t input_count, int32_t output) {
  const int32_t op = NpuAddOp(import->builder, kind, function, inputs, input_count, output);
  NpuOpAt(import->builder, op)->source = import->node_index;
  return op;
}

/* Returns the function of a fused activation; 0 for none, -1 if the device does not have it. */
static int32_t FunctionOf(TfLiteFusedActivation activation) {
  switch (activation) {
    case kTfLiteActNone:
      return 0;
    case kTfLiteActRelu:
      return kNpuRelu;
    case kTfLiteActReluN1To1:
      return kNpuReluN1To1;
    case kTfLiteActRelu6:
      return kNpuRelu6;
    default:
      return -1;
  }
}

int32_t NpuAddActivated(NpuImport* import, int32_t kind, int32_t function, const int32_t* inputs,
                        int32_t input_count, TfLiteFusedActivation activation) {
  const int32_t fused = FunctionOf(activation);
  if (fused < 0) {
    NpuRefuse(import, kDeputyReasonParameter, "fused activation %d", (int)activation);
    return -1;
  }
  const int32_t output = NpuOutput(import, 0);
  if (fused == 0) return NpuAddNode(import, kind, function, inputs, input_count, output);
  const int32_t before = NpuAddTensorLike(import->builder, output);
  const int32_t op = NpuAddNode(import, kind, function, inputs, input_count, before);
  NpuAddNode(import, kNpuUnary, fused, &before, 1, output);
  return op;
}
