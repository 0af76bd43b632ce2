/* SPDX-License-Identifier: Apache-2.0
 *
 * Element-wise operators.
 */
#include "deputy/deputy_plugin.h"
#include "npu_stub/import.h"
#include "tensorflow/lite/builtin_ops.h"

bool NpuImportUnary(NpuImport* import, int32_t argument) {
  if (!NpuExpectInputs(import, 1, 1)) return false;
  const int32_t input = NpuInput(import, 0);
  NpuAddNode(import, kNpuUnary, argument, &input, 1, NpuOutput(import, 0));
  return true;
}

bool NpuImportLeakyRelu(NpuImport* import, int32_t argument) {
  const TfLiteLeakyReluParams* params = import->node->builtin_data;
  if (!NpuExpectInputs(import, 1, 1)) return false;
  const int32_t input = NpuInput(import, 0);
  const int32_t op = NpuAddNode(import, kNpuUnary, argument, &input, 1, NpuOutput(import, 0));
  NpuOpAt(import->builder, op)->number = params->alpha;
  return true;
}

bool NpuImportGelu(NpuImport* import, int32_t argument) {
  const TfLiteGeluParams* params = import->node->builtin_data;
  (void)argument;
  return NpuImportUnary(import, params->approximate ? kNpuGeluTanh : kNpuGelu);
}

/* Returns the fused activation of ADD, SUB, MUL or DIV, each of which has its own parameter
 * struct. */
static TfLiteFusedActivation ActivationOf(const NpuImport* import) {
  const void* data = import->node->builtin_data;
  switch (import->registration->builtin_code) {
    case kTfLiteBuiltinAdd:
      return ((const TfLiteAddParams*)data)->activation;
    case kTfLiteBuiltinSub:
      return ((const TfLiteSubParams*)data)->activation;
    case kTfLiteBuiltinMul:
      return ((const TfLiteMulParams*)data)->activation;
    case kTfLiteBuiltinDiv:
      return ((const TfLiteDivParams*)data)->activation;
    default:
      return kTfLiteActNone;
  }
}

bool NpuImportBinary(NpuImport* import, int32_t argument) {
  if (!NpuExpectInputs(import, 2, 2)) return false;
  if (NpuInputTensor(import, 0)->type != NpuInputTensor(import, 1)->type) {
    return NpuRefuse(import, kDeputyReasonType, "the two inputs have different types");
  }
  const int32_t inputs[] = {NpuInput(import, 0), NpuInput(import, 1)};
  return NpuAddActivated(import, kNpuBinary, argument, inputs, 2, ActivationOf(import)) >= 0 ||
         import->builder->failed;
}

bool NpuImportCast(NpuImport* import, int32_t argument) {
  (void)argument;
  if (!NpuExpectInputs(import, 1, 1)) return false;
  if (NpuInputTensor(import, 0)->type == kTfLiteFloat16 ||
      NpuOutputTensor(import, 0)->type == kTfLiteFloat16) {
    return NpuRefuse(import, kDeputyReasonType,
                     "FLOAT16 is rounded at the boundary of a partition only");
  }
  const int32_t input = NpuInput(import, 0);
  NpuAddNode(import, kNpuCast, 0, &input, 1, NpuOutput(import, 0));
  return true;
}
