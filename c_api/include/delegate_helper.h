// SPDX-License-Identifier: Apache-2.0
//
// Selection of the nodes that a delegate claims: the first part of most delegates' Prepare.
//
// All functions are static inline and use only the context's function pointers: a delegate that
// uses them links neither libdeputy nor libtensorflowlite, and the same file can be loaded by both.
// C99 or C++11. A delegate that is built with TensorFlow Lite's own headers includes its common.h
// and builtin_ops.h first and defines DEPUTY_DELEGATE_HELPER_NO_INCLUDES.
//
//     static bool IsSupported(TfLiteContext* context, TfLiteNode* node,
//                             const TfLiteRegistration* registration, void* user_data,
//                             char* reason, size_t reason_size) {
//       if (registration->builtin_code == kTfLiteBuiltinConv2d) return true;
//       snprintf(reason, reason_size, "only convolutions");
//       return false;
//     }
//     static TfLiteStatus Prepare(TfLiteContext* context, TfLiteDelegate* delegate) {
//       DeputyPartitionHelper helper;
//       DeputyPartitionHelperInit(&helper, context);
//       TfLiteStatus status =
//           DeputyPartitionHelperPartition(&helper, IsSupported, NULL, 0, INT_MAX);
//       if (status == kTfLiteOk) {
//         TfLiteIntArray* nodes = DeputyPartitionHelperLargest(&helper, 1, 2);
//         status = nodes == NULL ? kTfLiteError
//                                : context->ReplaceNodeSubsetsWithDelegateKernels(
//                                      context, registration, nodes, delegate);
//         DeputyIntArrayFree(nodes);
//       }
//       DeputyPartitionHelperFree(&helper);
//       return status;
//     }
//
// Call all functions inside a delegate's Prepare, on its thread. Failures of the partition helpers
// are reported through the context and returned as kTfLiteError or NULL; the graph is then
// unchanged, except after DeputyHalfPartitionHelperTake.
#ifndef DEPUTY_C_API_INCLUDE_DELEGATE_HELPER_H_
#define DEPUTY_C_API_INCLUDE_DELEGATE_HELPER_H_

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#ifndef DEPUTY_DELEGATE_HELPER_NO_INCLUDES
#include "builtin_ops.h"
#include "common.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

// ------------------------------------------------------------------------------------------------
// Arrays of ints
// ------------------------------------------------------------------------------------------------

// Creates an array of `size` uninitialised ints in a malloc block, like the runtime, so that either
// side may free it. NULL if `size` is negative or if out of memory.
static inline TfLiteIntArray* DeputyIntArrayCreate(int size) {
  if (size < 0) return NULL;
  TfLiteIntArray* array =
      (TfLiteIntArray*)malloc(sizeof(TfLiteIntArray) + (size_t)size * sizeof(int));
  if (array != NULL) array->size = size;
  return array;
}

// Frees an array of DeputyIntArrayCreate, DeputyIntArrayCopy or the runtime. NULL is ignored.
static inline void DeputyIntArrayFree(TfLiteIntArray* array) { free(array); }

// Returns a copy of `from`. NULL for NULL, and if out of memory.
static inline TfLiteIntArray* DeputyIntArrayCopy(const TfLiteIntArray* from) {
  TfLiteIntArray* copy = from == NULL ? NULL : DeputyIntArrayCreate(from->size);
  if (copy != NULL && from->size > 0) {
    memcpy(copy->data, from->data, (size_t)from->size * sizeof(int));
  }
  return copy;
}

// ------------------------------------------------------------------------------------------------
// The partition helper
// ------------------------------------------------------------------------------------------------

// Returns true if the delegate supports a node. Otherwise the predicate may write the reason to
// `reason`, which holds `reason_size` bytes including the NUL and is empty before. `user_data` is
// the argument of DeputyPartitionHelperPartition. The predicate is also called for nodes of earlier
// delegates; their builtin_code is kTfLiteBuiltinDelegate, and it must return false for them.
typedef bool (*DeputyNodePredicate)(TfLiteContext* context, TfLiteNode* node,
                                    const TfLiteRegistration* registration, void* user_data,
                                    char* reason, size_t reason_size);

// A node of the plan that the predicate rejected.
typedef struct DeputyUnsupportedNode {
  // Index of the node.
  int node;
  // Number of the node's operator.
  int builtin_code;
  // Name of the node's operator if that is a custom one, else NULL. The runtime owns it.
  const char* custom_name;
  // Reason why the delegate does not support the node; never NULL. The helper owns it.
  char* reason;
} DeputyUnsupportedNode;

// Result of partitioning. The fields are read-only for callers.
typedef struct DeputyPartitionHelper {
  // Context of the delegate's Prepare.
  TfLiteContext* context;
  // Copy of the execution plan at the time of partitioning, with all nodes.
  TfLiteIntArray* plan;
  // Nodes that the delegate can claim, in the order of the plan.
  TfLiteIntArray* supported;
  // Nodes that the predicate rejected, in the order of the plan, with one reason each.
  DeputyUnsupportedNode* unsupported;
  int unsupported_count;
  // Partitions that claiming all supported nodes would create, in execution order: nodes, inputs
  // and outputs of each. The runtime owns them; they are valid until the next preview on this
  // context or the end of the delegate's Prepare.
  TfLiteDelegateParams* partitions;
  int partition_count;
} DeputyPartitionHelper;

// Initialises an empty helper. The caller releases it with DeputyPartitionHelperFree.
static inline void DeputyPartitionHelperInit(DeputyPartitionHelper* helper,
                                             TfLiteContext* context) {
  memset(helper, 0, sizeof *helper);
  helper->context = context;
}

// Frees the results in the helper, which may be used again.
static inline void DeputyPartitionHelperFree(DeputyPartitionHelper* helper) {
  TfLiteContext* context = helper->context;
  for (int i = 0; i < helper->unsupported_count; ++i) free(helper->unsupported[i].reason);
  free(helper->unsupported);
  DeputyIntArrayFree(helper->supported);
  DeputyIntArrayFree(helper->plan);
  DeputyPartitionHelperInit(helper, context);
}

// Reports `what` and returns kTfLiteError. Internal to this header.
static inline TfLiteStatus DeputyPartitionHelperFail(const DeputyPartitionHelper* helper,
                                                     const char* what, int node) {
  helper->context->ReportError(helper->context, "Partition helper: %s (node %d)", what, node);
  return kTfLiteError;
}

// Copies the plan and allocates the list of supported nodes. Internal to this header.
static inline TfLiteStatus DeputyPartitionHelperBegin(DeputyPartitionHelper* helper) {
  TfLiteIntArray* plan = NULL;
  DeputyPartitionHelperFree(helper);
  if (helper->context->GetExecutionPlan(helper->context, &plan) != kTfLiteOk) {
    return DeputyPartitionHelperFail(helper, "the execution plan is not available", -1);
  }
  helper->plan = DeputyIntArrayCopy(plan);
  helper->supported = plan == NULL ? NULL : DeputyIntArrayCreate(plan->size);
  if (helper->plan == NULL || helper->supported == NULL) {
    return DeputyPartitionHelperFail(helper, "no execution plan, or out of memory", -1);
  }
  helper->supported->size = 0;
  return kTfLiteOk;
}

// Previews the partitions of the supported nodes. Internal to this header.
static inline TfLiteStatus DeputyPartitionHelperPreview(DeputyPartitionHelper* helper) {
  helper->partitions = NULL;
  helper->partition_count = 0;
  if (helper->context->PreviewDelegatePartitioning(helper->context, helper->supported,
                                                   &helper->partitions,
                                                   &helper->partition_count) != kTfLiteOk) {
    helper->partition_count = 0;
    return DeputyPartitionHelperFail(helper, "the runtime cannot preview the partitions", -1);
  }
  return kTfLiteOk;
}

// Records a node that the predicate rejected. Internal to this header.
static inline TfLiteStatus DeputyPartitionHelperRefuse(DeputyPartitionHelper* helper, int node,
                                                       const TfLiteRegistration* registration,
                                                       const char* reason) {
  const int count = helper->unsupported_count;
  if ((count & (count - 1)) == 0) {  // the array is full if the count is a power of two
    const size_t capacity = count == 0 ? 1 : 2 * (size_t)count;
    DeputyUnsupportedNode* grown = (DeputyUnsupportedNode*)realloc(
        helper->unsupported, capacity * sizeof(DeputyUnsupportedNode));
    if (grown == NULL) return DeputyPartitionHelperFail(helper, "out of memory", node);
    helper->unsupported = grown;
  }
  if (reason[0] == '\0') reason = "not supported by the delegate";
  DeputyUnsupportedNode* entry = &helper->unsupported[count];
  entry->node = node;
  entry->builtin_code = registration->builtin_code;
  entry->custom_name = registration->custom_name;
  entry->reason = (char*)malloc(strlen(reason) + 1);
  if (entry->reason == NULL) return DeputyPartitionHelperFail(helper, "out of memory", node);
  memcpy(entry->reason, reason, strlen(reason) + 1);
  ++helper->unsupported_count;
  return kTfLiteOk;
}

// Calls `is_supported` for the nodes of the plan, in its order, and previews the partitions of the
// supported ones. Only nodes with first_node <= index <= last_node are used (node indices, not
// positions in the plan); 0 and INT_MAX impose no limit. The predicate is not called for nodes that
// follow the first supported one beyond `last_node`.
static inline TfLiteStatus DeputyPartitionHelperPartition(DeputyPartitionHelper* helper,
                                                          DeputyNodePredicate is_supported,
                                                          void* user_data, int first_node,
                                                          int last_node) {
  if (DeputyPartitionHelperBegin(helper) != kTfLiteOk) return kTfLiteError;
  for (int i = 0; i < helper->plan->size; ++i) {
    const int index = helper->plan->data[i];
    char reason[256] = "";
    TfLiteNode* node = NULL;
    TfLiteRegistration* registration = NULL;
    if (helper->context->GetNodeAndRegistration(helper->context, index, &node, &registration) !=
        kTfLiteOk) {
      return DeputyPartitionHelperFail(helper, "a node of the plan is not available", index);
    }
    if (!is_supported(helper->context, node, registration, user_data, reason, sizeof reason)) {
      if (DeputyPartitionHelperRefuse(helper, index, registration, reason) != kTfLiteOk) {
        return kTfLiteError;
      }
      continue;
    }
    if (index < first_node) continue;
    if (index > last_node) break;
    helper->supported->data[helper->supported->size++] = index;
  }
  return DeputyPartitionHelperPreview(helper);
}

// Previews the partitions of nodes that the caller has selected, without a predicate. Indices
// outside the graph are an error.
static inline TfLiteStatus DeputyPartitionHelperPartitionNodes(DeputyPartitionHelper* helper,
                                                               const TfLiteIntArray* nodes) {
  if (DeputyPartitionHelperBegin(helper) != kTfLiteOk) return kTfLiteError;
  DeputyIntArrayFree(helper->supported);
  helper->supported = DeputyIntArrayCopy(nodes);
  if (helper->supported == NULL) {
    return DeputyPartitionHelperFail(helper, "no list of nodes, or out of memory", -1);
  }
  return DeputyPartitionHelperPreview(helper);
}

// Size and index of a partition, for sorting by size. Internal to this header.
typedef struct DeputyPartitionRank {
  int nodes, partition;
} DeputyPartitionRank;

// Comparison for qsort: by decreasing size; partitions of equal size by execution order.
static inline int DeputyPartitionRankCompare(const void* a, const void* b) {
  const DeputyPartitionRank* first = (const DeputyPartitionRank*)a;
  const DeputyPartitionRank* second = (const DeputyPartitionRank*)b;
  if (first->nodes != second->nodes) return first->nodes > second->nodes ? -1 : 1;
  return first->partition < second->partition ? -1 : 1;
}

// Returns the nodes of the `max_partitions` largest partitions that have at least `min_nodes` nodes
// each, partition after partition, for one call of ReplaceNodeSubsetsWithDelegateKernels. INT_MAX
// for `max_partitions` and 0 for `min_nodes` impose no limit. That call partitions the list again
// and may join or split partitions differently, since the nodes of the other partitions stay on the
// CPU. The caller frees the list with DeputyIntArrayFree. NULL if out of memory.
static inline TfLiteIntArray* DeputyPartitionHelperLargest(const DeputyPartitionHelper* helper,
                                                           int max_partitions, int min_nodes) {
  const int count = helper->partition_count;
  TfLiteIntArray* nodes = DeputyIntArrayCreate(helper->supported->size);
  DeputyPartitionRank* ranks =
      (DeputyPartitionRank*)malloc(((size_t)count + 1) * sizeof(DeputyPartitionRank));
  if (nodes == NULL || ranks == NULL) {
    (void)DeputyPartitionHelperFail(helper, "out of memory", -1);
    DeputyIntArrayFree(nodes);
    free(ranks);
    return NULL;
  }
  for (int i = 0; i < count; ++i) {
    ranks[i].nodes = helper->partitions[i].nodes_to_replace->size;
    ranks[i].partition = i;
  }
  qsort(ranks, (size_t)count, sizeof *ranks, DeputyPartitionRankCompare);
  nodes->size = 0;
  for (int i = 0; i < count && i < max_partitions && ranks[i].nodes >= min_nodes; ++i) {
    const TfLiteIntArray* part = helper->partitions[ranks[i].partition].nodes_to_replace;
    memcpy(nodes->data + nodes->size, part->data, (size_t)part->size * sizeof(int));
    nodes->size += part->size;
  }
  free(ranks);
  return nodes;
}

// ------------------------------------------------------------------------------------------------
// Float16 weights
// ------------------------------------------------------------------------------------------------
//
// Models with float16 weights convert each of them to float32 with a DEQUANTIZE. A delegate that
// reads float16 itself claims the consumers and replaces their inputs by the float16 constants, so
// that the DEQUANTIZE nodes are not needed. The runtime restores the inputs when it removes the
// delegate.

// Partition helper for delegates that read float16 constants.
typedef struct DeputyHalfPartitionHelper {
  // Results of the partitioning. The DEQUANTIZE nodes of float16 constants are among the
  // unsupported nodes.
  DeputyPartitionHelper base;
  // For each tensor of the context: the float16 constant from which a DEQUANTIZE computes it, or
  // -1.
  int* constant_of;
  int tensor_count;
  // Number of DEQUANTIZE nodes of float16 constants.
  int dequantize_count;
  // The delegate's predicate and its argument.
  DeputyNodePredicate is_supported;
  void* user_data;
} DeputyHalfPartitionHelper;

// Initialises an empty helper. The caller releases it with DeputyHalfPartitionHelperFree.
static inline void DeputyHalfPartitionHelperInit(DeputyHalfPartitionHelper* helper,
                                                 TfLiteContext* context) {
  memset(helper, 0, sizeof *helper);
  DeputyPartitionHelperInit(&helper->base, context);
}

// Frees the results in the helper, which may be used again.
static inline void DeputyHalfPartitionHelperFree(DeputyHalfPartitionHelper* helper) {
  TfLiteContext* context = helper->base.context;
  DeputyPartitionHelperFree(&helper->base);
  free(helper->constant_of);
  DeputyHalfPartitionHelperInit(helper, context);
}

// Returns the float16 constant from which a tensor is computed; -1 if there is none.
static inline int DeputyHalfConstantOf(const DeputyHalfPartitionHelper* helper, int tensor) {
  return tensor >= 0 && tensor < helper->tensor_count ? helper->constant_of[tensor] : -1;
}

// Returns true if the node converts a float16 constant, and records its output. Internal to this
// header.
static inline bool DeputyHalfRemember(DeputyHalfPartitionHelper* helper, const TfLiteNode* node,
                                      const TfLiteRegistration* registration) {
  if (registration->builtin_code != kTfLiteBuiltinDequantize) return false;
  if (node->inputs->size < 1 || node->outputs->size < 1) return false;
  const int constant = node->inputs->data[0];
  const int output = node->outputs->data[0];
  if (constant < 0 || constant >= helper->tensor_count) return false;
  if (output < 0 || output >= helper->tensor_count) return false;
  const TfLiteTensor* tensor = &helper->base.context->tensors[constant];
  if (tensor->type != kTfLiteFloat16 || tensor->allocation_type != kTfLiteMmapRo) return false;
  helper->constant_of[output] = constant;
  ++helper->dequantize_count;
  return true;
}

// Replaces inputs of the node that are computed from float16 constants by the constants. Internal
// to this header.
static inline void DeputyHalfRemap(const DeputyHalfPartitionHelper* helper, TfLiteNode* node) {
  for (int i = 0; i < node->inputs->size; ++i) {
    const int constant = DeputyHalfConstantOf(helper, node->inputs->data[i]);
    if (constant >= 0) node->inputs->data[i] = constant;
  }
}

// Calls the delegate's predicate with the float16 constants as inputs. Internal to this header.
static inline bool DeputyHalfPredicate(TfLiteContext* context, TfLiteNode* node,
                                       const TfLiteRegistration* registration, void* user_data,
                                       char* reason, size_t reason_size) {
  static const char kConverts[] = "converts a float16 constant, which the delegate reads directly";
  DeputyHalfPartitionHelper* helper = (DeputyHalfPartitionHelper*)user_data;
  if (DeputyHalfRemember(helper, node, registration)) {
    if (reason_size >= sizeof kConverts) memcpy(reason, kConverts, sizeof kConverts);
    return false;
  }
  TfLiteIntArray* before = DeputyIntArrayCopy(node->inputs);
  if (before == NULL) return false;  // out of memory: the node stays on the CPU
  DeputyHalfRemap(helper, node);
  const bool supported =
      helper->is_supported(context, node, registration, helper->user_data, reason, reason_size);
  if (before->size > 0) {
    memcpy(node->inputs->data, before->data, (size_t)before->size * sizeof(int));
  }
  DeputyIntArrayFree(before);
  return supported;
}

// Partitions like DeputyPartitionHelperPartition; the predicate receives nodes with float16
// constants as inputs, and is not called for the DEQUANTIZE nodes of these constants.
static inline TfLiteStatus DeputyHalfPartitionHelperPartition(DeputyHalfPartitionHelper* helper,
                                                              DeputyNodePredicate is_supported,
                                                              void* user_data, int first_node,
                                                              int last_node) {
  DeputyHalfPartitionHelperFree(helper);
  const size_t count = helper->base.context->tensors_size;
  helper->constant_of = (int*)malloc((count + 1) * sizeof(int));
  if (helper->constant_of == NULL) {
    return DeputyPartitionHelperFail(&helper->base, "out of memory", -1);
  }
  for (size_t i = 0; i < count; ++i) helper->constant_of[i] = -1;
  helper->tensor_count = (int)count;
  helper->is_supported = is_supported;
  helper->user_data = user_data;
  return DeputyPartitionHelperPartition(&helper->base, DeputyHalfPredicate, helper, first_node,
                                        last_node);
}

// Returns the nodes to replace, and replaces their inputs in the graph by the float16 constants. If
// every node of the plan is supported or is a DEQUANTIZE node of such a constant, it returns all
// nodes of the plan, unless they are fewer than `min_nodes`. Otherwise it returns the nodes of the
// largest partitions, as DeputyPartitionHelperLargest does, and the DEQUANTIZE nodes stay on the
// CPU. If it returns all nodes, the delegate's kernel has to convert the constants whose float32
// tensors are among its outputs, because such a tensor may be an output of the graph. The caller
// passes the list to ReplaceNodeSubsetsWithDelegateKernels and frees it with DeputyIntArrayFree.
// NULL on failure; the delegate's Prepare must then fail as well, so that the runtime restores the
// graph.
static inline TfLiteIntArray* DeputyHalfPartitionHelperTake(DeputyHalfPartitionHelper* helper,
                                                            int max_partitions, int min_nodes) {
  const DeputyPartitionHelper* base = &helper->base;
  const bool all = base->supported->size + helper->dequantize_count == base->plan->size &&
                   base->plan->size >= min_nodes && max_partitions > 0;
  TfLiteIntArray* nodes = all ? DeputyIntArrayCopy(base->plan)
                              : DeputyPartitionHelperLargest(base, max_partitions, min_nodes);
  for (int i = 0; nodes != NULL && i < nodes->size; ++i) {
    TfLiteNode* node = NULL;
    TfLiteRegistration* registration = NULL;
    if (base->context->GetNodeAndRegistration(base->context, nodes->data[i], &node,
                                              &registration) != kTfLiteOk) {
      (void)DeputyPartitionHelperFail(base, "a node to replace is not available", nodes->data[i]);
      DeputyIntArrayFree(nodes);
      return NULL;
    }
    DeputyHalfRemap(helper, node);
  }
  return nodes;
}

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_DELEGATE_HELPER_H_
