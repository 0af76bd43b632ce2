/* SPDX-License-Identifier: Apache-2.0 */
#include "npu_stub/support.h"

#include <string.h>

#include "deputy/deputy_plugin.h"
#include "npu_stub/device_check.h"
#include "npu_stub/layout.h"
#include "tensorflow/lite/builtin_ops.h"

/* Flags of a row of the table: supported types of the data input, and whether the importer reads
 * the operator's options. */
enum { kF = 1, kI = 2, kB = 4, kOptions = 8 };

typedef struct Row {
  int32_t code;
  const char* name;
  int max_version;
  int types;
  bool (*import)(NpuImport* import, int32_t argument);
  int32_t argument;
} Row;

static const Row kRows[] = {
    {kTfLiteBuiltinAbs, "ABS", 5, kF, NpuImportUnary, kNpuAbs},
    {kTfLiteBuiltinAdd, "ADD", 6, kF | kOptions, NpuImportBinary, kNpuAdd},
    {kTfLiteBuiltinArgMax, "ARG_MAX", 3, kF, NpuImportArgMax, 0},
    {kTfLiteBuiltinAveragePool2d, "AVERAGE_POOL_2D", 3, kF | kOptions, NpuImportPool,
     kNpuPoolAverage},
    {kTfLiteBuiltinBatchMatmul, "BATCH_MATMUL", 4, kF | kOptions, NpuImportBatchMatMul, 0},
    {kTfLiteBuiltinBroadcastTo, "BROADCAST_TO", 4, kF | kB, NpuImportBroadcast, 0},
    {kTfLiteBuiltinCast, "CAST", 9, kF | kI | kB, NpuImportCast, 0},
    {kTfLiteBuiltinCeil, "CEIL", 1, kF, NpuImportUnary, kNpuCeil},
    {kTfLiteBuiltinConcatenation, "CONCATENATION", 7, kF | kOptions, NpuImportConcat, 0},
    {kTfLiteBuiltinConv2d, "CONV_2D", 8, kF | kOptions, NpuImportConv, 0},
    {kTfLiteBuiltinCos, "COS", 2, kF, NpuImportUnary, kNpuCos},
    {kTfLiteBuiltinDepthwiseConv2d, "DEPTHWISE_CONV_2D", 7, kF | kOptions, NpuImportDepthwise, 0},
    {kTfLiteBuiltinDiv, "DIV", 2, kF | kOptions, NpuImportBinary, kNpuDiv},
    {kTfLiteBuiltinElu, "ELU", 1, kF, NpuImportUnary, kNpuElu},
    {kTfLiteBuiltinEqual, "EQUAL", 5, kF, NpuImportBinary, kNpuEqual},
    {kTfLiteBuiltinExp, "EXP", 2, kF, NpuImportUnary, kNpuExp},
    {kTfLiteBuiltinExpandDims, "EXPAND_DIMS", 1, kF | kI, NpuImportReshape, 0},
    {kTfLiteBuiltinFloor, "FLOOR", 1, kF, NpuImportUnary, kNpuFloor},
    {kTfLiteBuiltinFloorDiv, "FLOOR_DIV", 3, kF, NpuImportBinary, kNpuFloorDiv},
    {kTfLiteBuiltinFloorMod, "FLOOR_MOD", 2, kF, NpuImportBinary, kNpuFloorMod},
    {kTfLiteBuiltinFullyConnected, "FULLY_CONNECTED", 14, kF | kOptions, NpuImportFullyConnected,
     0},
    {kTfLiteBuiltinGather, "GATHER", 8, kF | kOptions, NpuImportGather, 0},
    {kTfLiteBuiltinGelu, "GELU", 3, kF | kOptions, NpuImportGelu, 0},
    {kTfLiteBuiltinGreater, "GREATER", 2, kF, NpuImportBinary, kNpuGreater},
    {kTfLiteBuiltinGreaterEqual, "GREATER_EQUAL", 3, kF, NpuImportBinary, kNpuGreaterEqual},
    {kTfLiteBuiltinHardSwish, "HARD_SWISH", 1, kF, NpuImportUnary, kNpuHardSwish},
    {kTfLiteBuiltinLeakyRelu, "LEAKY_RELU", 2, kF | kOptions, NpuImportLeakyRelu, kNpuLeakyRelu},
    {kTfLiteBuiltinLess, "LESS", 3, kF, NpuImportBinary, kNpuLess},
    {kTfLiteBuiltinLessEqual, "LESS_EQUAL", 2, kF, NpuImportBinary, kNpuLessEqual},
    {kTfLiteBuiltinLog, "LOG", 2, kF, NpuImportUnary, kNpuLog},
    {kTfLiteBuiltinLogicalAnd, "LOGICAL_AND", 1, kB, NpuImportBinary, kNpuLogicalAnd},
    {kTfLiteBuiltinLogicalNot, "LOGICAL_NOT", 1, kB, NpuImportUnary, kNpuLogicalNot},
    {kTfLiteBuiltinLogicalOr, "LOGICAL_OR", 1, kB, NpuImportBinary, kNpuLogicalOr},
    {kTfLiteBuiltinLogistic, "LOGISTIC", 3, kF, NpuImportUnary, kNpuSigmoid},
    {kTfLiteBuiltinMaxPool2d, "MAX_POOL_2D", 3, kF | kOptions, NpuImportPool, kNpuPoolMax},
    {kTfLiteBuiltinMaximum, "MAXIMUM", 4, kF, NpuImportBinary, kNpuMaximum},
    {kTfLiteBuiltinMean, "MEAN", 3, kF | kI, NpuImportReduce, kNpuReduceMean},
    {kTfLiteBuiltinMinimum, "MINIMUM", 4, kF, NpuImportBinary, kNpuMinimum},
    {kTfLiteBuiltinMul, "MUL", 8, kF | kOptions, NpuImportBinary, kNpuMul},
    {kTfLiteBuiltinNeg, "NEG", 1, kF, NpuImportUnary, kNpuNeg},
    {kTfLiteBuiltinNotEqual, "NOT_EQUAL", 4, kF, NpuImportBinary, kNpuNotEqual},
    {kTfLiteBuiltinPad, "PAD", 6, kF, NpuImportPad, 0},
    {kTfLiteBuiltinPadv2, "PADV2", 6, kF, NpuImportPad, 1},
    {kTfLiteBuiltinReduceMax, "REDUCE_MAX", 3, kF | kI, NpuImportReduce, kNpuReduceMax},
    {kTfLiteBuiltinReduceMin, "REDUCE_MIN", 3, kF | kI, NpuImportReduce, kNpuReduceMin},
    {kTfLiteBuiltinReduceProd, "REDUCE_PROD", 2, kF | kI, NpuImportReduce, kNpuReduceProd},
    {kTfLiteBuiltinRelu, "RELU", 3, kF, NpuImportUnary, kNpuRelu},
    {kTfLiteBuiltinRelu0To1, "RELU_0_TO_1", 1, kF, NpuImportUnary, kNpuRelu0To1},
    {kTfLiteBuiltinRelu6, "RELU6", 3, kF, NpuImportUnary, kNpuRelu6},
    {kTfLiteBuiltinReluN1To1, "RELU_N1_TO_1", 1, kF, NpuImportUnary, kNpuReluN1To1},
    {kTfLiteBuiltinReshape, "RESHAPE", 1, kF | kI, NpuImportReshape, 0},
    {kTfLiteBuiltinResizeBilinear, "RESIZE_BILINEAR", 4, kF | kOptions, NpuImportResize,
     kNpuResizeBilinear},
    {kTfLiteBuiltinResizeNearestNeighbor, "RESIZE_NEAREST_NEIGHBOR", 4, kF | kOptions,
     NpuImportResize, kNpuResizeNearest},
    {kTfLiteBuiltinRound, "ROUND", 1, kF, NpuImportUnary, kNpuRound},
    {kTfLiteBuiltinRsqrt, "RSQRT", 3, kF, NpuImportUnary, kNpuRsqrt},
    {kTfLiteBuiltinSin, "SIN", 2, kF, NpuImportUnary, kNpuSin},
    {kTfLiteBuiltinSlice, "SLICE", 8, kF, NpuImportSlice, 0},
    {kTfLiteBuiltinSoftmax, "SOFTMAX", 4, kF | kOptions, NpuImportSoftmax, 0},
    {kTfLiteBuiltinSplit, "SPLIT", 5, kF, NpuImportSplit, 0},
    {kTfLiteBuiltinSplitV, "SPLIT_V", 3, kF, NpuImportSplit, 1},
    {kTfLiteBuiltinSqrt, "SQRT", 2, kF, NpuImportUnary, kNpuSqrt},
    {kTfLiteBuiltinSquare, "SQUARE", 2, kF, NpuImportUnary, kNpuSquare},
    {kTfLiteBuiltinSqueeze, "SQUEEZE", 2, kF | kI, NpuImportReshape, 0},
    {kTfLiteBuiltinStridedSlice, "STRIDED_SLICE", 8, kF | kI | kOptions, NpuImportStridedSlice, 0},
    {kTfLiteBuiltinSub, "SUB", 5, kF | kOptions, NpuImportBinary, kNpuSub},
    {kTfLiteBuiltinSum, "SUM", 2, kF | kI, NpuImportReduce, kNpuReduceSum},
    {kTfLiteBuiltinTanh, "TANH", 3, kF, NpuImportUnary, kNpuTanh},
    {kTfLiteBuiltinTile, "TILE", 3, kF | kB, NpuImportTile, 0},
    {kTfLiteBuiltinTranspose, "TRANSPOSE", 9, kF, NpuImportTranspose, 0},
    {kTfLiteBuiltinTransposeConv, "TRANSPOSE_CONV", 5, kF | kOptions, NpuImportTransposeConv, 0},
    {kTfLiteBuiltinUnpack, "UNPACK", 6, kF | kOptions, NpuImportUnpack, 0},
};

enum { kRowCount = sizeof kRows / sizeof kRows[0] };

int32_t NpuSupportedOperator(size_t i, const char** out_name, int32_t* out_max_version) {
  if (i >= kRowCount) return -1;
  *out_name = kRows[i].name;
  *out_max_version = kRows[i].max_version;
  return kRows[i].code;
}

static const Row* FindRow(int32_t code) {
  for (size_t i = 0; i < kRowCount; ++i) {
    if (kRows[i].code == code) return &kRows[i];
  }
  return NULL;
}

/* ---- Checks common to all operators ---------------------------------------------------------- */

static bool IsQuantized(TfLiteType type) {
  return type == kTfLiteInt8 || type == kTfLiteUInt8 || type == kTfLiteInt16 || type == kTfLiteInt4;
}

/* Checks that a tensor has a fixed shape of rank 4 at most with elements, and is neither a variable
 * nor sparse. CheckType and CheckTensors check the types. */
static bool CheckTensor(NpuImport* import, const TfLiteTensor* tensor, const char* what, int i) {
  if (tensor->is_variable) {
    return NpuRefuse(import, kDeputyReasonOther, "%s %d is a variable", what, i);
  }
  if (tensor->allocation_type == kTfLiteDynamic || tensor->dims == NULL) {
    return NpuRefuse(import, kDeputyReasonDynamicShape, "%s %d has no fixed shape", what, i);
  }
  if (tensor->sparsity != NULL) {
    return NpuRefuse(import, kDeputyReasonOther, "%s %d is sparse", what, i);
  }
  if (tensor->dims->size > NPU_MAX_RANK) {
    return NpuRefuse(import, kDeputyReasonShape, "%s %d: expected rank 4 at most, found %d", what,
                     i, tensor->dims->size);
  }
  for (int d = 0; d < tensor->dims->size; ++d) {
    if (tensor->dims->data[d] < 1) {
      return NpuRefuse(import, kDeputyReasonShape, "%s %d: dimension %d is %d", what, i, d,
                       tensor->dims->data[d]);
    }
  }
  return true;
}

/* Returns the input to which the type rule applies: input 0, except for SPLIT and
 * TRANSPOSE_CONV. */
static int DataInput(const Row* row) {
  if (row->code == kTfLiteBuiltinSplit) return 1;
  return row->code == kTfLiteBuiltinTransposeConv ? 2 : 0;
}

static bool CheckType(NpuImport* import, const Row* row) {
  const TfLiteTensor* tensor = NpuInputTensor(import, DataInput(row));
  if (tensor == NULL) return NpuRefuse(import, kDeputyReasonParameter, "an input is missing");
  if (IsQuantized(tensor->type)) {
    return NpuRefuse(import, kDeputyReasonQuantization, "quantised: the NPU computes in FLOAT32");
  }
  const int32_t type = NpuTypeOf(tensor->type);
  const int allowed =
      (type == kNpuFloat32 ? kF : 0) | (type == kNpuInt32 ? kI : 0) | (type == kNpuBool ? kB : 0);
  if ((allowed & row->types) != 0) return true;
  return NpuRefuse(import, kDeputyReasonType, "%s: expected%s%s%s, found type %d", row->name,
                   (row->types & kF) != 0 ? " FLOAT32" : "", (row->types & kI) != 0 ? " INT32" : "",
                   (row->types & kB) != 0 ? " BOOL" : "", (int)tensor->type);
}

static bool CheckTensors(NpuImport* import) {
  for (int i = 0; i < import->node->inputs->size; ++i) {
    const TfLiteTensor* tensor = NpuInputTensor(import, i);
    if (tensor != NULL && !CheckTensor(import, tensor, "input", i)) return false;
  }
  for (int i = 0; i < import->node->outputs->size; ++i) {
    const TfLiteTensor* tensor = NpuOutputTensor(import, i);
    if (tensor == NULL) return NpuRefuse(import, kDeputyReasonParameter, "no output %d", i);
    if (!CheckTensor(import, tensor, "output", i)) return false;
    if (NpuTypeOf(tensor->type) == 0) {
      return NpuRefuse(import, kDeputyReasonType, "output %d: type %d", i, (int)tensor->type);
    }
  }
  return true;
}

static bool MakesOutputs(NpuImport* import) {
  if (import->builder->failed) return false;
  for (int i = 0; i < import->node->outputs->size; ++i) {
    if (import->tensors[import->node->outputs->data[i]] >= 0) continue;
    return NpuRefuse(import, kDeputyReasonParameter, "output %d is not supported by the NPU", i);
  }
  return true;
}

bool NpuImportNode(NpuImport* import) {
  const Row* row = FindRow(import->registration->builtin_code);
  if (row == NULL)
    return NpuRefuse(import, kDeputyReasonOperator, "the operator is not supported by the NPU");
  if (import->registration->version > row->max_version) {
    return NpuRefuse(import, kDeputyReasonVersion, "%s: expected version 1 to %d, found %d",
                     row->name, row->max_version, import->registration->version);
  }
  if ((row->types & kOptions) != 0 && import->node->builtin_data == NULL) {
    return NpuRefuse(import, kDeputyReasonParameter, "%s: expected options, found none", row->name);
  }
  if (!CheckType(import, row) || !CheckTensors(import)) return false;
  return row->import(import, row->argument) && MakesOutputs(import);
}

/* ---- Checks of a single node ----------------------------------------------------------------- */

static void ResetTensors(const TfLiteIntArray* list, int32_t* tensors) {
  for (int i = 0; i < list->size; ++i) {
    if (list->data[i] >= 0) tensors[list->data[i]] = -1;
  }
}

/* Completes a graph with a single node: its non-constant inputs become the graph's inputs. */
static bool CompleteGraph(NpuImport* import) {
  NpuBuilder* builder = import->builder;
  for (int i = 0; i < import->node->inputs->size; ++i) {
    const int model_tensor = import->node->inputs->data[i];
    const int32_t tensor = model_tensor < 0 ? -1 : import->tensors[model_tensor];
    if (tensor < 0 || builder->graph.tensors[tensor].data != NULL) continue;
    bool listed = false;
    for (int32_t j = 0; j < builder->graph.input_count; ++j) {
      listed = listed || builder->graph.inputs[j] == tensor;
    }
    if (!listed) NpuAddInput(builder, tensor);
  }
  for (int i = 0; i < import->node->outputs->size; ++i) {
    NpuAddOutput(builder, import->tensors[import->node->outputs->data[i]]);
  }
  NpuLayoutTransform(builder);
  return NpuSortOps(builder);
}

bool NpuCheckNode(TfLiteContext* context, const TfLiteNode* node,
                  const TfLiteRegistration* registration, int32_t* tensors, NpuRefusal* refusal) {
  NpuBuilder builder;
  NpuBuilderInit(&builder);
  NpuImport import = {context, node, registration, -1, &builder, tensors, true, refusal};
  char problem[96] = "out of memory";
  bool good = NpuImportNode(&import);
  if (good && !(CompleteGraph(&import) && NpuCheckGraph(&builder.graph, problem, sizeof problem))) {
    good = NpuRefuse(&import, builder.failed ? kDeputyReasonMemory : kDeputyReasonShape, "%s",
                     problem);
  } else if (builder.failed) {
    good = NpuRefuse(&import, kDeputyReasonMemory, "out of memory");
  }
  ResetTensors(node->inputs, tensors);
  ResetTensors(node->outputs, tensors);
  NpuBuilderFree(&builder);
  return good;
}
