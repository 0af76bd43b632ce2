// SPDX-License-Identifier: Apache-2.0
//
// Chains of nodes that a delegate computes together, described as data: operators, their options,
// their constants.
//
// All functions are static inline and use only the context's function pointers, as those of
// delegate_helper.h. C99 or C++11. A delegate that is built with TensorFlow Lite's own headers
// includes its common.h and builtin_ops.h first and defines DEPUTY_DELEGATE_PATTERN_NO_INCLUDES.
//
//     static const DeputyPatternAttribute kStride1[] = {
//         DEPUTY_PATTERN_ATTRIBUTE(TfLiteConvParams, stride_width, 1, 1),
//         DEPUTY_PATTERN_ATTRIBUTE(TfLiteConvParams, stride_height, 1, 1)};
//     static const DeputyPatternNode kConvAddRelu[] = {
//         {.builtin_code = kTfLiteBuiltinConv2d, .constant_inputs = 1u << 1,
//          .attributes = kStride1, .attribute_count = 2},
//         {.builtin_code = kTfLiteBuiltinAdd, .input = kDeputyPatternAnyInput},
//         {.builtin_code = kTfLiteBuiltinRelu, .is_optional = true}};
//     static const DeputyPattern kPatterns[] = {{kConvAddRelu, 3}};
//
//     DeputyPatternSearch search;                  // in the delegate's Prepare
//     DeputyPatternSearchInit(&search, context);
//     if (DeputyPatternSearchRun(&search, kPatterns, 1) == kTfLiteOk) {
//       for (int i = 0; i < search.match_count; ++i) Use(&search.matches[i]);
//     }
//     DeputyPatternSearchFree(&search);
#ifndef DEPUTY_C_API_INCLUDE_DELEGATE_PATTERN_H_
#define DEPUTY_C_API_INCLUDE_DELEGATE_PATTERN_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef DEPUTY_DELEGATE_PATTERN_NO_INCLUDES
#include "builtin_op_data.h"
#include "builtin_ops.h"
#include "common.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum {
  // Maximum number of nodes of a pattern.
  kDeputyPatternMaxNodes = 16,
  // For DeputyPatternNode.builtin_code: every operator.
  kDeputyPatternAnyOperator = -1,
  // For DeputyPatternNode.input: every input.
  kDeputyPatternAnyInput = -1,
};

// A condition on an integer, bool or enum field of a node's builtin_data: low <= value <= high. A
// field of 8 bytes is compared as int64_t.
typedef struct DeputyPatternAttribute {
  // Offset and size of the field in bytes.
  size_t offset;
  size_t size;
  int64_t low;
  int64_t high;
} DeputyPatternAttribute;

#define DEPUTY_PATTERN_ATTRIBUTE(Struct, field, low, high) \
  { offsetof(Struct, field), sizeof(((Struct*)0)->field), (low), (high) }

// One node of a pattern. A zero or NULL in a field other than builtin_code and input is no
// condition.
typedef struct DeputyPatternNode {
  // A TfLiteBuiltinOperator, or kDeputyPatternAnyOperator.
  int32_t builtin_code;
  // Input that reads the output of the node before; ignored for the first node.
  int32_t input;
  // Bit i: input i must be a constant of the model. An absent input is none.
  uint32_t constant_inputs;
  // True if the chain may lack the node; ignored for the first one.
  bool is_optional;
  // Type of the output.
  TfLiteType output_type;
  // Name of a custom operator, for kTfLiteBuiltinCustom.
  const char* custom_name;
  // Conditions that all must hold. A node without builtin_data meets none.
  const DeputyPatternAttribute* attributes;
  size_t attribute_count;
  // A further condition.
  bool (*is_accepted)(TfLiteContext* context, const TfLiteNode* node);
} DeputyPatternNode;

// A chain of at least one node. Each node but the last has one output, which no other node reads
// and which is no output of the graph.
typedef struct DeputyPattern {
  const DeputyPatternNode* nodes;
  size_t node_count;
} DeputyPattern;

// A chain of the graph.
typedef struct DeputyPatternMatch {
  // Index of the pattern.
  int pattern;
  // Node indices, one for each node of the pattern; -1 for an optional node that is missing.
  int nodes[kDeputyPatternMaxNodes];
} DeputyPatternMatch;

// Result of a search. The fields are read-only for callers.
typedef struct DeputyPatternSearch {
  // Context of the delegate's Prepare.
  TfLiteContext* context;
  // Matches in the order of their first nodes in the plan. A node is in at most one match.
  DeputyPatternMatch* matches;
  int match_count;
  // The rest is internal to this header: a copy of the plan; by tensor, the position in the plan of
  // the only node that reads it, or one of the numbers below; by position, true for nodes in
  // matches.
  int* plan;
  int plan_size;
  int* readers;
  bool* is_used;
} DeputyPatternSearch;

// Internal to this header.
enum { kDeputyPatternNoReader = -1, kDeputyPatternSeveralReaders = -2 };

// Initialises an empty search. The caller releases it with DeputyPatternSearchFree.
static inline void DeputyPatternSearchInit(DeputyPatternSearch* search, TfLiteContext* context) {
  memset(search, 0, sizeof *search);
  search->context = context;
}

// Frees the results of the search, which may be used again.
static inline void DeputyPatternSearchFree(DeputyPatternSearch* search) {
  TfLiteContext* context = search->context;
  free(search->matches);
  free(search->plan);
  free(search->readers);
  free(search->is_used);
  DeputyPatternSearchInit(search, context);
}

// Internal to this header.
static inline TfLiteStatus DeputyPatternFail(const DeputyPatternSearch* search, const char* what) {
  search->context->ReportError(search->context, "Pattern search: %s", what);
  return kTfLiteError;
}

// Returns the node at a position of the plan; NULL if it is not available. Internal to this header.
static inline TfLiteNode* DeputyPatternNodeAt(const DeputyPatternSearch* search, int position,
                                              TfLiteRegistration** registration) {
  TfLiteNode* node = NULL;
  if (search->context->GetNodeAndRegistration(search->context, search->plan[position], &node,
                                              registration) != kTfLiteOk) {
    return NULL;
  }
  return node;
}

// Marks the outputs of the graph: those of the partition that contains all nodes. Internal to this
// header.
static inline TfLiteStatus DeputyPatternMarkOutputs(DeputyPatternSearch* search,
                                                    const TfLiteIntArray* plan) {
  TfLiteDelegateParams* partitions = NULL;
  int count = 0;
  if (plan->size == 0) return kTfLiteOk;
  if (search->context->PreviewDelegatePartitioning(search->context, plan, &partitions, &count) !=
      kTfLiteOk) {
    return DeputyPatternFail(search, "the runtime cannot preview the partitions");
  }
  for (int i = 0; i < count; ++i) {
    const TfLiteIntArray* outputs = partitions[i].output_tensors;
    for (int k = 0; k < outputs->size; ++k) {
      search->readers[outputs->data[k]] = kDeputyPatternSeveralReaders;
    }
  }
  return kTfLiteOk;
}

// Finds the readers of all tensors. Internal to this header.
static inline TfLiteStatus DeputyPatternFindReaders(DeputyPatternSearch* search) {
  for (int i = 0; i < search->plan_size; ++i) {
    TfLiteRegistration* registration = NULL;
    const TfLiteNode* node = DeputyPatternNodeAt(search, i, &registration);
    if (node == NULL) return DeputyPatternFail(search, "a node of the plan is not available");
    for (int k = 0; k < node->inputs->size; ++k) {
      const int tensor = node->inputs->data[k];
      if (tensor < 0) continue;
      int* reader = &search->readers[tensor];
      *reader = *reader == kDeputyPatternNoReader ? i : kDeputyPatternSeveralReaders;
    }
  }
  return kTfLiteOk;
}

// Prepares the tables of the search. Internal to this header.
static inline TfLiteStatus DeputyPatternBegin(DeputyPatternSearch* search) {
  TfLiteIntArray* plan = NULL;
  DeputyPatternSearchFree(search);
  if (search->context->GetExecutionPlan(search->context, &plan) != kTfLiteOk || plan == NULL) {
    return DeputyPatternFail(search, "the execution plan is not available");
  }
  const size_t nodes = (size_t)plan->size, tensors = search->context->tensors_size;
  search->plan_size = plan->size;
  search->plan = (int*)malloc((nodes + 1) * sizeof(int));
  search->readers = (int*)malloc((tensors + 1) * sizeof(int));
  search->is_used = (bool*)calloc(nodes + 1, sizeof(bool));
  search->matches = (DeputyPatternMatch*)malloc((nodes + 1) * sizeof(DeputyPatternMatch));
  if (search->plan == NULL || search->readers == NULL || search->is_used == NULL ||
      search->matches == NULL) {
    return DeputyPatternFail(search, "out of memory");
  }
  memcpy(search->plan, plan->data, nodes * sizeof(int));
  for (size_t i = 0; i < tensors; ++i) search->readers[i] = kDeputyPatternNoReader;
  if (DeputyPatternMarkOutputs(search, plan) != kTfLiteOk) return kTfLiteError;
  return DeputyPatternFindReaders(search);
}

// Internal to this header.
static inline bool DeputyPatternAttributeHolds(const DeputyPatternAttribute* attribute,
                                               const void* options) {
  const char* field = (const char*)options + attribute->offset;
  int8_t bytes1;
  int16_t bytes2;
  int32_t bytes4;
  int64_t value;
  switch (attribute->size) {
    case 1:
      memcpy(&bytes1, field, 1);
      value = bytes1;
      break;
    case 2:
      memcpy(&bytes2, field, 2);
      value = bytes2;
      break;
    case 4:
      memcpy(&bytes4, field, 4);
      value = bytes4;
      break;
    case 8:
      memcpy(&value, field, 8);
      break;
    default:
      return false;
  }
  return attribute->low <= value && value <= attribute->high;
}

// Internal to this header.
static inline bool DeputyPatternNodeFits(const DeputyPatternSearch* search,
                                         const DeputyPatternNode* pattern, const TfLiteNode* node,
                                         const TfLiteRegistration* registration) {
  const TfLiteTensor* tensors = search->context->tensors;
  if (pattern->builtin_code != kDeputyPatternAnyOperator &&
      pattern->builtin_code != registration->builtin_code) {
    return false;
  }
  if (pattern->custom_name != NULL &&
      (registration->custom_name == NULL ||
       strcmp(pattern->custom_name, registration->custom_name) != 0)) {
    return false;
  }
  if (pattern->output_type != kTfLiteNoType &&
      (node->outputs->size < 1 || tensors[node->outputs->data[0]].type != pattern->output_type)) {
    return false;
  }
  for (int i = 0; i < 32; ++i) {
    if ((pattern->constant_inputs >> i & 1u) == 0) continue;
    const int tensor = i < node->inputs->size ? node->inputs->data[i] : -1;
    if (tensor < 0 || tensors[tensor].allocation_type != kTfLiteMmapRo) return false;
  }
  for (size_t i = 0; i < pattern->attribute_count; ++i) {
    if (node->builtin_data == NULL ||
        !DeputyPatternAttributeHolds(&pattern->attributes[i], node->builtin_data)) {
      return false;
    }
  }
  return pattern->is_accepted == NULL || pattern->is_accepted(search->context, node);
}

// Returns the position of the node that alone reads the output of the node at `position` and fits
// the pattern; -1 if there is none. Internal to this header.
static inline int DeputyPatternNext(const DeputyPatternSearch* search,
                                    const DeputyPatternNode* pattern, int position) {
  TfLiteRegistration* registration = NULL;
  const TfLiteNode* before = DeputyPatternNodeAt(search, position, &registration);
  if (before == NULL || before->outputs->size != 1 || before->outputs->data[0] < 0) return -1;
  const int tensor = before->outputs->data[0];
  const int reader = search->readers[tensor];
  if (reader < 0 || search->is_used[reader]) return -1;
  const TfLiteNode* next = DeputyPatternNodeAt(search, reader, &registration);
  if (next == NULL || !DeputyPatternNodeFits(search, pattern, next, registration)) return -1;
  if (pattern->input == kDeputyPatternAnyInput) return reader;
  const bool is_input = pattern->input >= 0 && pattern->input < next->inputs->size &&
                        next->inputs->data[pattern->input] == tensor;
  return is_input ? reader : -1;
}

// Stores the positions of the matching nodes in `match`. Internal to this header.
static inline bool DeputyPatternMatches(const DeputyPatternSearch* search,
                                        const DeputyPattern* pattern, int first,
                                        DeputyPatternMatch* match) {
  TfLiteRegistration* registration = NULL;
  const TfLiteNode* node = DeputyPatternNodeAt(search, first, &registration);
  if (node == NULL || !DeputyPatternNodeFits(search, &pattern->nodes[0], node, registration)) {
    return false;
  }
  int last = first;
  for (size_t i = 0; i < kDeputyPatternMaxNodes; ++i) match->nodes[i] = -1;
  match->nodes[0] = first;
  for (size_t i = 1; i < pattern->node_count; ++i) {
    const int next = DeputyPatternNext(search, &pattern->nodes[i], last);
    if (next < 0 && !pattern->nodes[i].is_optional) return false;
    match->nodes[i] = next;
    if (next >= 0) last = next;
  }
  return true;
}

// Searches the plan, in its order, for the patterns; of several that match at a node the first
// counts. Call it inside a delegate's Prepare. Nodes of earlier delegates are
// kTfLiteBuiltinDelegate and match only if a pattern names them. On failure, which is reported,
// there are no matches.
static inline TfLiteStatus DeputyPatternSearchRun(DeputyPatternSearch* search,
                                                  const DeputyPattern* patterns, int count) {
  for (int i = 0; i < count; ++i) {
    if (patterns[i].node_count < 1 || patterns[i].node_count > kDeputyPatternMaxNodes) {
      DeputyPatternSearchFree(search);
      return DeputyPatternFail(search, "expected 1 to 16 nodes in each pattern");
    }
  }
  if (DeputyPatternBegin(search) != kTfLiteOk) {
    DeputyPatternSearchFree(search);
    return kTfLiteError;
  }
  for (int at = 0; at < search->plan_size; ++at) {
    DeputyPatternMatch* match = &search->matches[search->match_count];
    bool found = false;
    for (int i = 0; i < count && !found && !search->is_used[at]; ++i) {
      match->pattern = i;
      found = DeputyPatternMatches(search, &patterns[i], search->plan[at], match);
    }
    if (!found) continue;
    for (int k = 0; k < kDeputyPatternMaxNodes; ++k) {
      const int position = match->nodes[k];
      if (position < 0) continue;
      search->is_used[position] = true;
      match->nodes[k] = search->plan[position];
    }
    ++search->match_count;
  }
  return kTfLiteOk;
}

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_DELEGATE_PATTERN_H_
