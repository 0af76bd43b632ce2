// SPDX-License-Identifier: Apache-2.0
//
// Transformations of graphs that compiler plug-ins register.
#ifndef DEPUTY_LITERT_SRC_TRANSFORMATION_H_
#define DEPUTY_LITERT_SRC_TRANSFORMATION_H_

#include "litert/src/compiler_plugin.h"
#include "litert/src/model.h"

namespace deputy::litert {

// Applies the plug-in's transformations to each subgraph until none matches, at most 100 times. A
// change that breaks the graph is discarded.
LiteRtStatus ApplyTransformations(const CompilerPlugin& plugin, LiteRtModelT* model);

}  // namespace deputy::litert

#endif  // DEPUTY_LITERT_SRC_TRANSFORMATION_H_
