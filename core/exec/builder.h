// SPDX-License-Identifier: Apache-2.0
//
// Builds tensors and nodes from the model description: resolves operators and parses their options.
#ifndef DEPUTY_CORE_EXEC_BUILDER_H_
#define DEPUTY_CORE_EXEC_BUILDER_H_

#include "core/exec/subgraph.h"
#include "core/kernel_api/op_resolver.h"

namespace deputy {

// Kernel of an operator code.
struct ResolvedOperator {
  TfLiteRegistration registration{};
  bool is_own = false;  // true: the kernel is a builtin of this library
};

// Collects the kernels of a model's operator codes, in their order. Fails after a report if the
// schema version is not 3, if the model has no subgraph or an incomplete one, or (after two
// reports, as in upstream) if a builtin is unknown to the resolver or has no option parser. An
// unknown custom operator becomes a placeholder that fails in prepare.
TfLiteStatus ResolveOperators(const ModelDesc& model, OpResolver* resolver, ErrorReporter* reporter,
                              std::vector<ResolvedOperator>* out_operators);

// Creates the tensors and nodes of one subgraph; calls the kernels' init in node order.
TfLiteStatus BuildSubgraph(const ModelDesc& model, const SubgraphDesc& desc,
                           const std::vector<ResolvedOperator>& operators, OpResolver* resolver,
                           Subgraph* subgraph);

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_BUILDER_H_
