// SPDX-License-Identifier: Apache-2.0
//
// A delegate in plain C as an author would write it with deputy/delegate_helper.h: it claims ADD
// and MUL nodes in float32, computes them element by element, and records its calls. Switches
// select variants: with float16 weights, with inner results in tensors that it adds to the graph,
// with outputs whose shape is known only at run time.
#ifndef DEPUTY_TESTS_SUPPORT_ELEMENT_DELEGATE_H_
#define DEPUTY_TESTS_SUPPORT_ELEMENT_DELEGATE_H_

#include <stdbool.h>

#include "c_api/include/common.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ElementDelegate {
  TfLiteDelegate base;

  // The following fields are the script; ElementDelegateInit makes it claim everything.
  const bool* refused_outputs;  // true for tensors whose nodes are refused; may be NULL
  int refused_output_count;
  int first_node, last_node;
  int max_partitions, min_nodes;
  bool half_weights;     // true: reads float16 constants and omits their DEQUANTIZE
  bool added_tensors;    // true: inner results are temporaries that Prepare adds
  bool dynamic_outputs;  // true: outputs are dynamic tensors that invoke resizes
  bool fails_invoke;

  // The following fields are the record of the delegate's calls.
  int prepares;
  int kernels_made, kernels_freed;
  int nodes_computed;   // number of ADD and MUL nodes computed
  int constants_read;   // number of operands that were float16
  int supported_nodes;  // number of nodes supported in the last Prepare
  int partitions;
  int taken_nodes;  // number of nodes passed to Replace
  int unsupported_nodes;
  int first_added, added_count;  // tensors added by the last Prepare that added any
  int next_added;
} ElementDelegate;

// Initialises a delegate. `flags` are TfLiteDelegateFlags.
void ElementDelegateInit(ElementDelegate* delegate, int64_t flags);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_TESTS_SUPPORT_ELEMENT_DELEGATE_H_
