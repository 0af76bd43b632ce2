/* SPDX-License-Identifier: Apache-2.0
 *
 * Builder for a device graph, with growing arrays; it owns these and the memory that NpuBuilderOwn
 * returns. If an allocation fails, `failed` is set, which callers check once at the end. Until then
 * functions return the index -1, and NpuTensorAt and NpuOpAt return a dummy for it.
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

/* Returns zeroed memory that is freed with the graph; NULL if out of memory. */
void* NpuBuilderOwn(NpuBuilder* builder, size_t bytes);

/* Adds a tensor, and returns its index, or -1 if out of memory. NpuAddTensorLike and NpuAddOp
 * return the index of a new tensor and a new operation in the same way. */
int32_t NpuAddTensor(NpuBuilder* builder, int32_t type, int32_t rank, const int32_t* dims);
/* Adds a tensor with the type and dims of `like`, without its contents. */
int32_t NpuAddTensorLike(NpuBuilder* builder, int32_t like);
int32_t NpuAddOp(NpuBuilder* builder, int32_t kind, int32_t function, const int32_t* inputs,
                 int32_t input_count, int32_t output);
void NpuAddInput(NpuBuilder* builder, int32_t tensor);
void NpuAddOutput(NpuBuilder* builder, int32_t tensor);

NpuTensor* NpuTensorAt(NpuBuilder* builder, int32_t index);
NpuOp* NpuOpAt(NpuBuilder* builder, int32_t index);

/* Sorts the operations topologically, otherwise keeping their order, and removes those of kind
 * 0. Returns false if the graph has a cycle or if out of memory. */
bool NpuSortOps(NpuBuilder* builder);

/* Return the number of elements of a tensor, and its sizes in bytes. Dims must have been
 * validated. */
size_t NpuElementCount(const NpuTensor* tensor);
size_t NpuTypeBytes(int32_t type); /* 0: unknown type */
size_t NpuTensorBytes(const NpuTensor* tensor);
bool NpuSameDims(const NpuTensor* a, const NpuTensor* b);

/* Describes the graph with one line per input, operation and output. The caller frees the text;
 * NULL if out of memory. */
char* NpuGraphText(const NpuGraph* graph);

/* Returns a name such as "CONV", "?" for an unknown kind. */
const char* NpuKindName(int32_t kind);
/* Returns a name such as "RELU" for kNpuUnary and kNpuRelu; "" for kinds without functions, "?"
 * for an unknown function. */
const char* NpuFunctionName(int32_t kind, int32_t function);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_GRAPH_H_ */
