/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products and operators along axes.
 */
#include "deputy/deputy_plugin.h"
#include "npu_stub/import.h"

/* Adds a reshape of the tensor to `dims`, which must have the same number of elements. */
static int32_t Reshaped(NpuImport* import, int32_t tensor, int32_t rank, const int32_t* dims) {
  const int32_t type = NpuTensorAt(import->builder, tensor)->type;
  const int32_t result = NpuAddTensor(import->builder, type, rank, dims);
  NpuAddNode(import, kNpuReshape, 0, &tensor, 1, result);
  return result;
}

static bool CheckWeights(NpuImport* import) {
  const TfLiteFullyConnectedParams* params = import->node->builtin_data;
  const TfLiteTensor* weights = NpuInputTensor(import, 1);
  const TfLiteTensor* bias = NpuInputTensor(import, 2);
  if (params->weights_format != kTfLiteFullyConnectedWeightsFormatDefault) {
    return NpuRefuse(import, kDeputyReasonParameter, "shuffled weights");
  }
  if (!NpuExpectConstant(import, 1, "weights")) return false;
  if (NpuTypeOf(weights->type) != kNpuFloat32) {
    return NpuRefuse(import, kDeputyReasonType, "weights: expected FLOAT32 or FLOAT16");
  }
  if (weights->dims->size != 2)
    return NpuRefuse(import, kDeputyReasonShape, "weights: expected rank 2");
  if (bias != NULL && (bias->dims->size != 1 || NpuTypeOf(bias->type) != kNpuFloat32)) {
    return NpuRefuse(import, kDeputyReasonShape, "bias: expected FLOAT32 of rank 1");
  }
  return bias == NULL || NpuExpectConstant(import, 2, "bias");
}

bool NpuImportFullyConnected(NpuImport* import, int32_t argument) {
  const TfLiteFullyConnectedParams* params = import->node->builtin_data;
  (void)argument;
  if (!NpuExpectInputs(import, 2, 3) || !CheckWeights(import)) return false;
  if (import->node->outputs->size != 1) {
    return NpuRefuse(import, kDeputyReasonParameter, "expected one output");
  }
  const int32_t* weights = NpuInputTensor(import, 1)->dims->data;
  const int32_t x = NpuInput(import, 0);
  const int64_t count = (int64_t)NpuElementCount(NpuTensorAt(import->builder, x));
  if (count % weights[1] != 0) {
    return NpuRefuse(import, kDeputyReasonShape, "%lld elements in rows of %d", (long long)count,
                     weights[1]);
  }
  const int32_t rows[] = {(int32_t)(count / weights[1]), weights[1]};
  const int32_t product_dims[] = {rows[0], weights[0]};
  const int32_t product = NpuAddTensor(import->builder, kNpuFloat32, 2, product_dims);
  int32_t inputs[3] = {Reshaped(import, x, 2, rows), NpuInput(import, 1), -1};
  const bool has_bias = NpuInputTensor(import, 2) != NULL;
  if (has_bias) inputs[2] = NpuInput(import, 2);
  const int32_t op = NpuAddNode(import, kNpuMatMul, 0, inputs, has_bias ? 3 : 2, product);
  NpuOpAt(import->builder, op)->attributes[kNpuMatMulTransposeB] = 1;
  return NpuAddActivated(import, kNpuReshape, 0, &product, 1, params->activation) >= 0 ||
         import->builder->failed;
}

bool NpuImportBatchMatMul(NpuImport* import, int32_t argument) {
  const TfLiteBatchMatMulParams* params = import->node->builtin_data;
  (void)argument;
  if (!NpuExpectInputs(import, 2, 2)) return false;
  if (NpuTypeOf(NpuInputTensor(import, 1)->type) != kNpuFloat32) {
    return NpuRefuse(import, kDeputyReasonType, "input 1: expected FLOAT32 or FLOAT16");
  }
  const int32_t inputs[] = {NpuInput(import, 0), NpuInput(import, 1)};
  const int32_t op = NpuAddNode(import, kNpuMatMul, 0, inputs, 2, NpuOutput(import, 0));
  NpuOpAt(import->builder, op)->attributes[kNpuMatMulTransposeA] = params->adj_x ? 1 : 0;
  NpuOpAt(import->builder, op)->attributes[kNpuMatMulTransposeB] = params->adj_y ? 1 : 0;
  return true;
}

bool NpuImportSoftmax(NpuImport* import, int32_t argument) {
  const TfLiteSoftmaxParams* params = import->node->builtin_data;
  (void)argument;
  if (!NpuExpectInputs(import, 1, 1)) return false;
  const int rank = NpuInputTensor(import, 0)->dims->size;
  int32_t axis;
  if (!NpuReadAxis(import, -1, rank, &axis)) return false;
  const int32_t input = NpuInput(import, 0);
  const int32_t op = NpuAddNode(import, kNpuSoftmax, 0, &input, 1, NpuOutput(import, 0));
  NpuOpAt(import->builder, op)->attributes[kNpuAxis] = axis;
  NpuOpAt(import->builder, op)->number = params->beta;
  return true;
}

bool NpuImportReduce(NpuImport* import, int32_t argument) {
  int32_t axes[8], mask = 0;
  int count = 0;
  if (!NpuExpectInputs(import, 2, 2) || !NpuReadInts(import, 1, "axes", 8, axes, &count)) {
    return false;
  }
  const TfLiteTensor* x = NpuInputTensor(import, 0);
  if (argument == kNpuReduceMean && x->type == kTfLiteInt32) {
    return NpuRefuse(import, kDeputyReasonType, "MEAN requires FLOAT32");
  }
  for (int i = 0; i < count; ++i) {
    int32_t axis;
    if (!NpuReadAxis(import, axes[i], x->dims->size, &axis)) return false;
    mask |= 1 << axis;
  }
  const int32_t input = NpuInput(import, 0);
  const int32_t op = NpuAddNode(import, kNpuReduce, argument, &input, 1, NpuOutput(import, 0));
  NpuOpAt(import->builder, op)->attributes[kNpuAxisMask] = mask;
  return true;
}

bool NpuImportArgMax(NpuImport* import, int32_t argument) {
  int32_t given[1], axis;
  int count = 0;
  (void)argument;
  if (!NpuExpectInputs(import, 2, 2) || !NpuReadInts(import, 1, "axis", 1, given, &count)) {
    return false;
  }
  const int rank = NpuInputTensor(import, 0)->dims->size;
  if (count != 1 || !NpuReadAxis(import, given[0], rank, &axis)) {
    return NpuRefuse(import, kDeputyReasonParameter, "expected one axis in range");
  }
  const int32_t input = NpuInput(import, 0);
  const int32_t op = NpuAddNode(import, kNpuArgMax, 0, &input, 1, NpuOutput(import, 0));
  NpuOpAt(import->builder, op)->attributes[kNpuAxis] = axis;
  return true;
}
