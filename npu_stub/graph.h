/* SPDX-License-Identifier: Apache-2.0
 *
 * A device graph while it is made: arrays that grow, and memory that goes with it. What cannot be
 * allocated sets `failed`, which is looked at once, in the end; until then indices of -1 name a
 * tensor and an operation that count for nothing.
 */
#ifndef DEPUTY_NPU_STUB_GRAPH_H_
#define DEPUTY_NPU_STUB_GRAPH_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "npu_stub/npu_device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct NpuBuilder {
  NpuGraph graph;
  void** owned;
  int32_t owned_count;
  bool failed;
  NpuTensor no_tensor;
  NpuOp no_op;
} NpuBuilder;

void NpuBuilderInit(NpuBuilder* builder);
void NpuBuilderFree(NpuBuilder* builder);

/* Memory that is freed with the graph, zeroed; NULL if there is none. */
void* NpuBuilderOwn(NpuBuilder* builder, size_t bytes);

/* Each returns the index of what it added, or -1. */
int32_t NpuAddTensor(NpuBuilder* builder, int32_t type, int32_t rank, const int32_t* dims);
/* With type and dims of `like`, which is no constant afterwards. */
int32_t NpuAddTensorLike(NpuBuilder* builder, int32_t like);
int32_t NpuAddOp(NpuBuilder* builder, int32_t kind, int32_t function, const int32_t* inputs,
                 int32_t input_count, int32_t output);
void NpuAddInput(NpuBuilder* builder, int32_t tensor);
void NpuAddOutput(NpuBuilder* builder, int32_t tensor);

NpuTensor* NpuTensorAt(NpuBuilder* builder, int32_t index);
NpuOp* NpuOpAt(NpuBuilder* builder, int32_t index);

/* The operations in an order in which each comes behind those that make its inputs, else as they
 * were; those of kind 0 are removed. False if there is no such order. */
bool NpuSortOps(NpuBuilder* builder);

/* Elements of a tensor, and its bytes. Dims must have been checked. */
size_t NpuElementCount(const NpuTensor* tensor);
size_t NpuTypeBytes(int32_t type); /* 0: there is no such type */
size_t NpuTensorBytes(const NpuTensor* tensor);
bool NpuSameDims(const NpuTensor* a, const NpuTensor* b);

/* One line per operation, for people. The caller frees it; NULL if memory is short. */
char* NpuGraphText(const NpuGraph* graph);

/* "CONV", and "?" for what is none. */
const char* NpuKindName(int32_t kind);
/* "RELU" for kNpuUnary and kNpuRelu; "" for kinds without functions, "?" for a function that is
 * none. */
const char* NpuFunctionName(int32_t kind, int32_t function);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_GRAPH_H_ */
