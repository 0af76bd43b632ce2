// SPDX-License-Identifier: Apache-2.0
//
// Nodes that the runtime adds for delegates with images in NCHW (deputy_plugin_layout.h).
#ifndef DEPUTY_C_API_INCLUDE_DEPUTY_LAYOUT_H_
#define DEPUTY_C_API_INCLUDE_DEPUTY_LAYOUT_H_

#include <stdint.h>

#include "c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

// Relation of a node to delegates with images in NCHW.
typedef enum DeputyNodeLayout {
  // A node of the model, or of a delegate that computes in the model's layout.
  kDeputyNodeOfModel = 0,
  // Transpositions in the execution plan.
  kDeputyNodeToNchw = 1,
  kDeputyNodeToNhwc = 2,
  // A delegate's node that computes in NCHW.
  kDeputyNodeInNchw = 3,
  // A node that the runtime has added and that is not in the execution plan: a converted copy for a
  // delegate, or a transposition that only the CPU needs if a delegate fails, or that is no longer
  // needed.
  kDeputyNodeAuxiliary = 4,
} DeputyNodeLayout;

// Returns a DeputyNodeLayout; -1 if `interpreter` is NULL or an index is out of range. The rules of
// deputy.h on threads apply.
TFL_CAPI_EXPORT int32_t DeputyInterpreterGetNodeLayout(const TfLiteInterpreter* interpreter,
                                                       int32_t subgraph_index, int32_t node_index);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_DEPUTY_LAYOUT_H_
