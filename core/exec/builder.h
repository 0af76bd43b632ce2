// SPDX-License-Identifier: Apache-2.0
//
// Model description → nodes with kernels. Split from the interpreter because it is the only place
// that resolves operators and parses their options.
#ifndef DEPUTY_CORE_EXEC_BUILDER_H_
#define DEPUTY_CORE_EXEC_BUILDER_H_

#include "core/exec/subgraph.h"
#include "core/kernel_api/op_resolver.h"

namespace deputy {

// The registrations of a model's operator codes, in their order. Error after one report when the
// schema version is not 3, a builtin is unknown to the resolver, or has no option parser. An
// unknown custom operator becomes a placeholder that fails in prepare.
TfLiteStatus ResolveOperators(const ModelDesc& model, OpResolver* resolver, ErrorReporter* reporter,
                              std::vector<TfLiteRegistration>* out_registrations);

// Tensors and nodes of one subgraph; kernels' init runs here, in node order.
TfLiteStatus BuildSubgraph(const ModelDesc& model, const SubgraphDesc& desc,
                           const std::vector<TfLiteRegistration>& registrations,
                           OpResolver* resolver, Subgraph* subgraph);

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_BUILDER_H_
