/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts nodes of a model to operations of the device. One function per operator both checks a
 * node and adds its operations, so that each claimed node can be built; support.c has the table.
 * Images stay NHWC, except filters; the passes in layout.h convert them.
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

/* Reason why a node stays on the CPU. */
typedef struct NpuRefusal {
  int32_t reason; /* a DeputyReason */
  char text[160];
} NpuRefusal;

/* A node that is being imported. */
typedef struct NpuImport {
  TfLiteContext* context;
  const TfLiteNode* node;
  const TfLiteRegistration* registration;
  int32_t node_index;
  NpuBuilder* builder;
  int32_t* tensors; /* index in the graph by tensor of the model, or -1 */
  /* True if the graph is used for checks only: contents of constants need not be converted. */
  bool checking;
  NpuRefusal* refusal;
} NpuImport;

/* Records the reason why the node stays on the CPU, and returns false. */
bool NpuRefuse(NpuImport* import, int32_t reason, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

/* Return the node's tensor by position; NULL for an absent optional input. */
const TfLiteTensor* NpuInputTensor(const NpuImport* import, int i);
const TfLiteTensor* NpuOutputTensor(const NpuImport* import, int i);

/* Returns the device's type for a type of the model (float32 for float16); 0 if there is none. */
int32_t NpuTypeOf(TfLiteType type);

/* Returns true if the tensor is a constant whose contents can be read during the import. */
bool NpuIsConstant(const TfLiteTensor* tensor);

/* Return the graph's tensor for a tensor of the model, or for an input or output of the node.
 * The first use adds it. */
int32_t NpuTensorOf(NpuImport* import, int model_tensor);
int32_t NpuInput(NpuImport* import, int i);
int32_t NpuOutput(NpuImport* import, int i);

/* Adds a constant whose contents the caller fills in; the contents are NULL if out of memory. */
int32_t NpuNewConstant(NpuImport* import, int32_t rank, const int32_t* dims, float** out_data);

/* Checks of the node, which record a refusal if they fail. */
bool NpuExpectInputs(NpuImport* import, int min, int max);
bool NpuExpectConstant(NpuImport* import, int i, const char* what);
/* Reads a constant of int32 or int64 with at most `capacity` elements. */
bool NpuReadInts(NpuImport* import, int i, const char* what, int capacity, int32_t* out_values,
                 int* out_count);
/* Converts an axis, which may be negative, to one counted from the front of `rank` dimensions. */
bool NpuReadAxis(NpuImport* import, int axis, int rank, int32_t* out_axis);

/* Adds an operation and returns its index; -1 if out of memory. */
int32_t NpuAddNode(NpuImport* import, int32_t kind, int32_t function, const int32_t* inputs,
                   int32_t input_count, int32_t output);
/* Adds an operation for output 0 of the node, followed by a fused activation. Returns -1 after a
 * refusal or if out of memory. */
int32_t NpuAddActivated(NpuImport* import, int32_t kind, int32_t function, const int32_t* inputs,
                        int32_t input_count, TfLiteFusedActivation activation);

/* Functions in the table of support.c, each of which imports the operators of one or more rows.
 * `argument` distinguishes the rows of a function: it is a function of the kind, or 0 or 1. */
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
