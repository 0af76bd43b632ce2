/* SPDX-License-Identifier: Apache-2.0
 *
 * Nodes of a model to operations of the device. One function per operator both checks a node and
 * adds what it becomes, so that what is claimed is what can be built; support.h has the table of
 * them. Images stay NHWC here, but for filters; layout.h turns them.
 */
#ifndef DEPUTY_NPU_STUB_IMPORT_H_
#define DEPUTY_NPU_STUB_IMPORT_H_

#include <stdbool.h>
#include <stdint.h>

#include "npu_stub/graph.h"
#include "tensorflow/lite/c/builtin_op_data.h"
#include "tensorflow/lite/c/common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Why a node stays on the CPU. */
typedef struct NpuRefusal {
  int32_t reason; /* DeputyReason */
  char text[160];
} NpuRefusal;

/* A node on its way into a graph. */
typedef struct NpuImport {
  TfLiteContext* context;
  const TfLiteNode* node;
  const TfLiteRegistration* registration;
  int32_t node_index;
  NpuBuilder* builder;
  int32_t* tensors; /* by the model's: that of the graph, or -1 */
  bool checking;    /* the graph is thrown away: constants need no right contents */
  NpuRefusal* refusal;
} NpuImport;

/* Writes the refusal; always false. */
bool NpuRefuse(NpuImport* import, int32_t reason, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

/* The node's tensors by place; NULL for an input that is left out. */
const TfLiteTensor* NpuInputTensor(const NpuImport* import, int i);
const TfLiteTensor* NpuOutputTensor(const NpuImport* import, int i);

/* The device's type for a model's, float32 for float16; 0: none. */
int32_t NpuTypeOf(TfLiteType type);

/* Whether contents are known now. */
bool NpuIsConstant(const TfLiteTensor* tensor);

/* The graph's tensors for those of the model; an index of the model's for the first. */
int32_t NpuTensorOf(NpuImport* import, int model_tensor);
int32_t NpuInput(NpuImport* import, int i);
int32_t NpuOutput(NpuImport* import, int i);

/* A constant of the graph with contents to be filled in; NULL contents if memory is short. */
int32_t NpuNewConstant(NpuImport* import, int32_t rank, const int32_t* dims, float** out_data);

/* Checks, each with a refusal if it fails. */
bool NpuExpectInputs(NpuImport* import, int least, int most);
bool NpuExpectConstant(NpuImport* import, int i, const char* what);
/* The numbers of a constant of int32 or int64, at most `room` of them. */
bool NpuReadInts(NpuImport* import, int i, const char* what, int room, int32_t* out_values,
                 int* out_count);
/* An axis counted from either end of `rank`; the result from the front. */
bool NpuReadAxis(NpuImport* import, int axis, int rank, int32_t* out_axis);

/* Adds an operation, -1 if memory is short. */
int32_t NpuAddNode(NpuImport* import, int32_t kind, int32_t function, const int32_t* inputs,
                   int32_t input_count, int32_t output);
/* The same, for output 0 of the node behind a fused activation; -1 after a refusal as well. */
int32_t NpuAddActivated(NpuImport* import, int32_t kind, int32_t function, const int32_t* inputs,
                        int32_t input_count, TfLiteFusedActivation activation);

/* The rows of the table. `argument` is a function of the kind, where one row serves many. */
bool NpuImportUnary(NpuImport* import, int32_t argument);
bool NpuImportLeakyRelu(NpuImport* import, int32_t argument);
bool NpuImportGelu(NpuImport* import, int32_t argument);
bool NpuImportBinary(NpuImport* import, int32_t argument);
bool NpuImportCast(NpuImport* import, int32_t argument);
bool NpuImportConv(NpuImport* import, int32_t argument);
bool NpuImportDepthwise(NpuImport* import, int32_t argument);
bool NpuImportTransposeConv(NpuImport* import, int32_t argument);
bool NpuImportPool(NpuImport* import, int32_t argument);
bool NpuImportResize(NpuImport* import, int32_t argument);
bool NpuImportFullyConnected(NpuImport* import, int32_t argument);
bool NpuImportBatchMatMul(NpuImport* import, int32_t argument);
bool NpuImportSoftmax(NpuImport* import, int32_t argument);
bool NpuImportReduce(NpuImport* import, int32_t argument);
bool NpuImportArgMax(NpuImport* import, int32_t argument);
bool NpuImportConcat(NpuImport* import, int32_t argument);
bool NpuImportGather(NpuImport* import, int32_t argument);
bool NpuImportPad(NpuImport* import, int32_t argument);
bool NpuImportReshape(NpuImport* import, int32_t argument);
bool NpuImportSlice(NpuImport* import, int32_t argument);
bool NpuImportStridedSlice(NpuImport* import, int32_t argument);
bool NpuImportSplit(NpuImport* import, int32_t argument);
bool NpuImportUnpack(NpuImport* import, int32_t argument);
bool NpuImportTile(NpuImport* import, int32_t argument);
bool NpuImportBroadcast(NpuImport* import, int32_t argument);
bool NpuImportTranspose(NpuImport* import, int32_t argument);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_IMPORT_H_ */
