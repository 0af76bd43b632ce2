// SPDX-License-Identifier: Apache-2.0
//
// Translation of a partition to a graph. The import also decides whether a node is supported: each
// operator has one function, which either adds operations or refuses the node.
#ifndef DEPUTY_COMPILER_IMPORT_H_
#define DEPUTY_COMPILER_IMPORT_H_

#include <optional>
#include <vector>

#include "compiler/graph.h"
#include "compiler/work.h"
#include "core/support/refusal.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/common.h"

namespace deputy::compiler {

// Returns the reason why a node of the graph cannot be compiled, or nullopt if it can. Reads
// tensors and parameters as they are now and keeps no state. On success `out_work`, which may be
// null, receives the node's work.
std::optional<Refusal> CheckNode(TfLiteContext* context, int node_index, const TfLiteNode& node,
                                 const TfLiteRegistration& registration, Work* out_work = nullptr);

// An operator that Import() supports, up to a version, if types, shapes and parameters of the node
// allow it.
struct ImportedOperator {
  const char* name;
  TfLiteBuiltinOperator code;
  int max_version;
};
std::vector<ImportedOperator> ImportedOperators();

// Arithmetic of products of quantised values with constant filters: of the reals that they
// represent, or, where possible, of the stored integers (graph.h).
enum class Products { kReals, kIntegers };

// Imports the nodes of a partition for the current shapes of its inputs. The shapes of all other
// values are inferred; those of the tensors are ignored. Constants point into the model's memory.
// The graph's inputs are the partition's except constants; its outputs are the partition's. Returns
// the reason why a node cannot be imported, with `*out_graph` unchanged, or nullopt.
std::optional<Refusal> Import(TfLiteContext* context, const TfLiteDelegateParams& params,
                              Graph* out_graph, Products products = Products::kReals);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_IMPORT_H_
