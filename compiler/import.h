// SPDX-License-Identifier: Apache-2.0
//
// From a partition to a graph. The plain answer to "can it be compiled?" is the import itself:
// there is one piece of code per operator, and it either adds operations or says why not.
#ifndef DEPUTY_COMPILER_IMPORT_H_
#define DEPUTY_COMPILER_IMPORT_H_

#include <optional>
#include <vector>

#include "compiler/graph.h"
#include "compiler/refusal.h"
#include "compiler/work.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/common.h"

namespace deputy::compiler {

// Why a node of the graph cannot be compiled; nothing if it can. It looks at tensors and
// parameters as they are now and keeps nothing. If it can be, `out_work`, which may be null, is
// what the node has to do.
std::optional<Refusal> CheckNode(TfLiteContext* context, int node_index, const TfLiteNode& node,
                                 const TfLiteRegistration& registration, Work* out_work = nullptr);

// An operator that Import() knows, up to a version; what its nodes are like decides the rest.
struct ImportedOperator {
  const char* name;
  TfLiteBuiltinOperator code;
  int max_version;
};
std::vector<ImportedOperator> ImportedOperators();

// The nodes of a partition, for the shapes that its inputs have now. The shapes of all other values
// are inferred, whatever the tensors say. Constants point into the model's memory. The graph's
// inputs are the partition's without its constants, its outputs the partition's.
std::optional<Refusal> Import(TfLiteContext* context, const TfLiteDelegateParams& params,
                              Graph* out_graph);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_IMPORT_H_
