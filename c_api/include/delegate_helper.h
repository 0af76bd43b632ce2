// SPDX-License-Identifier: Apache-2.0
//
// Which nodes to take: what most delegates do first in their Prepare, for their authors.
//
// Everything here is static inline and works through the context's function pointers alone, so a
// delegate that uses it links neither libdeputy nor libtensorflowlite, and the same file loads into
// both. C99 or C++11. A delegate that is built with TensorFlow Lite's own headers includes its
// common.h and builtin_ops.h first and defines DEPUTY_DELEGATE_HELPER_NO_INCLUDES.
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
// All functions belong inside a delegate's Prepare, on its thread. Failures are reported through
// the context and come back as kTfLiteError or NULL; the graph is then unchanged.
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

// An array of `size` ints that are not set, in a malloc block as the runtime makes them, so that
// either side may free it. NULL if `size` is negative or memory is short.
static inline TfLiteIntArray* DeputyIntArrayCreate(int size) {
  if (size < 0) return NULL;
  TfLiteIntArray* array =
      (TfLiteIntArray*)malloc(sizeof(TfLiteIntArray) + (size_t)size * sizeof(int));
  if (array != NULL) array->size = size;
  return array;
}

// Frees what DeputyIntArrayCreate, DeputyIntArrayCopy or the runtime made. NULL is ignored.
static inline void DeputyIntArrayFree(TfLiteIntArray* array) { free(array); }

// A copy of `from`. NULL for NULL, or if memory is short.
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

// Whether the delegate takes a node. For a node it does not take it may write why into `reason`, a
// text of at most `reason_size` bytes with its NUL; it is empty before. `user_data` is what the
// caller gave to DeputyPartitionHelperPartition. Nodes of earlier delegates are asked about, too;
// their builtin_code is kTfLiteBuiltinDelegate and they must not be taken.
typedef bool (*DeputyNodePredicate)(TfLiteContext* context, TfLiteNode* node,
                                    const TfLiteRegistration* registration, void* user_data,
                                    char* reason, size_t reason_size);

// A node of the plan that the predicate did not take.
typedef struct DeputyUnsupportedNode {
  // Its index.
  int node;
  // Number of its operator.
  int builtin_code;
  // Name of its operator if that is a custom one, else NULL. The runtime owns it.
  const char* custom_name;
  // Why; never NULL. The helper owns it.
  char* reason;
} DeputyUnsupportedNode;

// What is known after partitioning. Read the fields, and leave writing them to the functions.
typedef struct DeputyPartitionHelper {
  // The context it was made for.
  TfLiteContext* context;
  // The plan at the time of partitioning, a copy; its size is the number of all nodes.
  TfLiteIntArray* plan;
  // The nodes that can be taken, in the order of the plan; its size is their number.
  TfLiteIntArray* supported;
  // The others that were asked about, in the order of the plan, with one reason each.
  DeputyUnsupportedNode* unsupported;
  int unsupported_count;
  // The partitions that taking all supported nodes would make, in the order of execution: nodes,
  // inputs and outputs of each. The runtime owns them; they hold until the next preview on this
  // context or the end of the delegate's Prepare.
  TfLiteDelegateParams* partitions;
  int partition_count;
} DeputyPartitionHelper;

// Starts an empty helper. DeputyPartitionHelperFree ends it.
static inline void DeputyPartitionHelperInit(DeputyPartitionHelper* helper,
                                             TfLiteContext* context) {
  memset(helper, 0, sizeof *helper);
  helper->context = context;
}

// Drops what the helper knows; it may be used again.
static inline void DeputyPartitionHelperFree(DeputyPartitionHelper* helper) {
  TfLiteContext* context = helper->context;
  for (int i = 0; i < helper->unsupported_count; ++i) free(helper->unsupported[i].reason);
  free(helper->unsupported);
  DeputyIntArrayFree(helper->supported);
  DeputyIntArrayFree(helper->plan);
  DeputyPartitionHelperInit(helper, context);
}

// Reports `what` and returns kTfLiteError. For the functions here.
static inline TfLiteStatus DeputyPartitionHelperFail(const DeputyPartitionHelper* helper,
                                                     const char* what, int node) {
  helper->context->ReportError(helper->context, "Partition helper: %s (node %d)", what, node);
  return kTfLiteError;
}

// Copies the plan and makes room for an answer about each of its nodes. For the functions here.
static inline TfLiteStatus DeputyPartitionHelperBegin(DeputyPartitionHelper* helper) {
  TfLiteIntArray* plan = NULL;
  DeputyPartitionHelperFree(helper);
  if (helper->context->GetExecutionPlan(helper->context, &plan) != kTfLiteOk) {
    return DeputyPartitionHelperFail(helper, "the execution plan is not available", -1);
  }
  helper->plan = DeputyIntArrayCopy(plan);
  helper->supported = plan == NULL ? NULL : DeputyIntArrayCreate(plan->size);
  if (helper->plan == NULL || helper->supported == NULL) {
    return DeputyPartitionHelperFail(helper, "no plan, or no memory for it", -1);
  }
  helper->supported->size = 0;
  return kTfLiteOk;
}

// Asks the runtime how the supported nodes fall into partitions. For the functions here.
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

// Writes down that a node is not taken. For the functions here.
static inline TfLiteStatus DeputyPartitionHelperRefuse(DeputyPartitionHelper* helper, int node,
                                                       const TfLiteRegistration* registration,
                                                       const char* reason) {
  const int count = helper->unsupported_count;
  if ((count & (count - 1)) == 0) {  // a power of two: the array is full
    const size_t room = count == 0 ? 1 : 2 * (size_t)count;
    DeputyUnsupportedNode* grown =
        (DeputyUnsupportedNode*)realloc(helper->unsupported, room * sizeof(DeputyUnsupportedNode));
    if (grown == NULL) return DeputyPartitionHelperFail(helper, "out of memory", node);
    helper->unsupported = grown;
  }
  if (reason[0] == '\0') reason = "the delegate does not take it";
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

// Asks `is_supported` about the nodes of the plan, in its order, and previews the partitions of
// those it takes. Only nodes with first_node <= index <= last_node are taken (indices of nodes, not
// positions in the plan); 0 and INT_MAX leave it to the predicate. Nodes after the first supported
// one beyond `last_node` are not asked about.
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

// The same for nodes that the caller has chosen already; no node is asked about. Indices outside
// the graph are an error.
static inline TfLiteStatus DeputyPartitionHelperPartitionNodes(DeputyPartitionHelper* helper,
                                                               const TfLiteIntArray* nodes) {
  if (DeputyPartitionHelperBegin(helper) != kTfLiteOk) return kTfLiteError;
  DeputyIntArrayFree(helper->supported);
  helper->supported = DeputyIntArrayCopy(nodes);
  if (helper->supported == NULL) {
    return DeputyPartitionHelperFail(helper, "no list of nodes, or no memory for it", -1);
  }
  return DeputyPartitionHelperPreview(helper);
}

// A partition in the order of DeputyPartitionHelperLargest. For the functions here.
typedef struct DeputyPartitionRank {
  int nodes, partition;
} DeputyPartitionRank;

// Larger partitions first; of equal ones the one that runs earlier. For qsort.
static inline int DeputyPartitionRankCompare(const void* a, const void* b) {
  const DeputyPartitionRank* first = (const DeputyPartitionRank*)a;
  const DeputyPartitionRank* second = (const DeputyPartitionRank*)b;
  if (first->nodes != second->nodes) return first->nodes > second->nodes ? -1 : 1;
  return first->partition < second->partition ? -1 : 1;
}

// The nodes of the `max_partitions` largest partitions that have at least `min_nodes` nodes each,
// partition after partition, for one call of ReplaceNodeSubsetsWithDelegateKernels; INT_MAX and 0
// mean all. Replace partitions the list anew and may join or split differently, since nodes of
// partitions that are left out stay on the CPU. The caller frees it with DeputyIntArrayFree. NULL
// if memory is short.
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
// Weights in float16
// ------------------------------------------------------------------------------------------------
//
// Models whose weights are stored in float16 widen each of them with a DEQUANTIZE. A delegate that
// reads float16 itself takes the constants and does without those nodes: its nodes' inputs are
// pointed at the constants. The runtime points them back when it undoes the delegate.

// A partition helper for such a delegate.
typedef struct DeputyHalfPartitionHelper {
  // What a DeputyPartitionHelper knows. The DEQUANTIZE nodes of float16 constants are among its
  // unsupported nodes.
  DeputyPartitionHelper base;
  // The constant behind each tensor that such a DEQUANTIZE makes, -1 for other tensors; as long as
  // the context has tensors.
  int* constant_of;
  int tensor_count;
  // Number of such DEQUANTIZE nodes.
  int dequantize_count;
  // The delegate's own predicate and its data.
  DeputyNodePredicate is_supported;
  void* user_data;
} DeputyHalfPartitionHelper;

// Starts an empty helper. DeputyHalfPartitionHelperFree ends it.
static inline void DeputyHalfPartitionHelperInit(DeputyHalfPartitionHelper* helper,
                                                 TfLiteContext* context) {
  memset(helper, 0, sizeof *helper);
  DeputyPartitionHelperInit(&helper->base, context);
}

// Drops what the helper knows; it may be used again.
static inline void DeputyHalfPartitionHelperFree(DeputyHalfPartitionHelper* helper) {
  TfLiteContext* context = helper->base.context;
  DeputyPartitionHelperFree(&helper->base);
  free(helper->constant_of);
  DeputyHalfPartitionHelperInit(helper, context);
}

// The float16 constant behind a tensor, or -1.
static inline int DeputyHalfConstantOf(const DeputyHalfPartitionHelper* helper, int tensor) {
  return tensor >= 0 && tensor < helper->tensor_count ? helper->constant_of[tensor] : -1;
}

// Whether the node widens a float16 constant; if so, it is remembered. For the functions here.
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

// Points the node's inputs at float16 constants where there are any. For the functions here.
static inline void DeputyHalfRemap(const DeputyHalfPartitionHelper* helper, TfLiteNode* node) {
  for (int i = 0; i < node->inputs->size; ++i) {
    const int constant = DeputyHalfConstantOf(helper, node->inputs->data[i]);
    if (constant >= 0) node->inputs->data[i] = constant;
  }
}

// A DeputyNodePredicate around the delegate's own, which sees the constants. For the functions
// here.
static inline bool DeputyHalfPredicate(TfLiteContext* context, TfLiteNode* node,
                                       const TfLiteRegistration* registration, void* user_data,
                                       char* reason, size_t reason_size) {
  static const char kWidens[] = "widens a float16 constant, which the delegate reads directly";
  DeputyHalfPartitionHelper* helper = (DeputyHalfPartitionHelper*)user_data;
  if (DeputyHalfRemember(helper, node, registration)) {
    if (reason_size >= sizeof kWidens) memcpy(reason, kWidens, sizeof kWidens);
    return false;
  }
  TfLiteIntArray* before = DeputyIntArrayCopy(node->inputs);
  if (before == NULL) return false;  // out of memory: the CPU keeps the node
  DeputyHalfRemap(helper, node);
  const bool supported =
      helper->is_supported(context, node, registration, helper->user_data, reason, reason_size);
  if (before->size > 0) {
    memcpy(node->inputs->data, before->data, (size_t)before->size * sizeof(int));
  }
  DeputyIntArrayFree(before);
  return supported;
}

// As DeputyPartitionHelperPartition; the predicate sees nodes whose inputs are the float16
// constants, and is not asked about the DEQUANTIZE nodes of those.
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

// The nodes to replace, whose inputs in the graph now are the float16 constants. If nothing but
// DEQUANTIZE nodes of such constants is left, all nodes of the plan, those included; else the nodes
// of the largest partitions as in DeputyPartitionHelperLargest, and the DEQUANTIZE nodes stay on
// the CPU. With all nodes a kernel has to widen the constants whose float32 is among its outputs,
// since the graph itself may read them. The caller gives the list to
// ReplaceNodeSubsetsWithDelegateKernels and frees it with DeputyIntArrayFree. NULL on failure; the
// delegate's Prepare must then fail, too, so that the runtime restores the graph.
static inline TfLiteIntArray* DeputyHalfPartitionHelperTake(DeputyHalfPartitionHelper* helper,
                                                            int max_partitions, int min_nodes) {
  const DeputyPartitionHelper* base = &helper->base;
  const bool all = base->supported->size + helper->dequantize_count == base->plan->size;
  TfLiteIntArray* nodes = all ? DeputyIntArrayCopy(base->plan)
                              : DeputyPartitionHelperLargest(base, max_partitions, min_nodes);
  for (int i = 0; nodes != NULL && i < nodes->size; ++i) {
    TfLiteNode* node = NULL;
    TfLiteRegistration* registration = NULL;
    if (base->context->GetNodeAndRegistration(base->context, nodes->data[i], &node,
                                              &registration) != kTfLiteOk) {
      (void)DeputyPartitionHelperFail(base, "a node to take is not available", nodes->data[i]);
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
