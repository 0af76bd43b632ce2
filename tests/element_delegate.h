// SPDX-License-Identifier: Apache-2.0
//
// A delegate in plain C as an author would write it with deputy/delegate_helper.h: it takes ADD and
// MUL nodes in float32, computes them element by element, and writes down what happened. Switches
// make it one of several kinds: with float16 weights, with its inner results in tensors it adds to
// the graph, with outputs whose shape is known only when it runs.
#ifndef DEPUTY_TESTS_ELEMENT_DELEGATE_H_
#define DEPUTY_TESTS_ELEMENT_DELEGATE_H_

#include <stdbool.h>

#include "c_api/include/common.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ElementDelegate {
  TfLiteDelegate base;

  // The script; ElementDelegateInit sets it to "take everything".
  const bool* refused_outputs;  // by tensor: nodes that make it are refused; NULL for none
  int refused_output_count;
  int first_node, last_node;
  int max_partitions, min_nodes;
  bool half_weights;     // reads float16 constants, leaves their DEQUANTIZE nodes out
  bool added_tensors;    // inner results live in tensors that Prepare adds, as temporaries
  bool dynamic_outputs;  // outputs are dynamic tensors, given their shape in invoke
  bool fails_invoke;

  // What happened.
  int prepares;
  int kernels_made, kernels_freed;
  int nodes_computed;   // ADD and MUL
  int constants_read;   // operands that were float16
  int supported_nodes;  // of the last Prepare
  int partitions;
  int taken_nodes;  // given to Replace
  int unsupported_nodes;
  int first_added, added_count;  // tensors of the last Prepare that had to add some
  int next_added;
} ElementDelegate;

// `flags` are TfLiteDelegateFlags.
void ElementDelegateInit(ElementDelegate* delegate, int64_t flags);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_TESTS_ELEMENT_DELEGATE_H_
