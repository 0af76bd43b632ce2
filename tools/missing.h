// SPDX-License-Identifier: Apache-2.0
//
// Operators of a model for which there is no kernel. To inspect such a model each gets a
// placeholder kernel, which prepares nothing, so that its outputs keep the shapes in the file, and
// which fails if it is invoked.
#ifndef DEPUTY_TOOLS_MISSING_H_
#define DEPUTY_TOOLS_MISSING_H_

#include <string>
#include <vector>

#include "deputy/c_api.h"
#include "deputy/deputy.h"

namespace deputy::tools {

struct MissingOperator {
  std::string name;
  int builtin_code = 0;
  int version = 0;
  int nodes = 0;  // number of nodes, in all subgraphs
};

std::vector<MissingOperator> MissingOperators(const TfLiteModel* model);

// Adds a placeholder kernel for each operator of the list. The names are borrowed, so that the list
// must outlive the interpreter.
void AddPlaceholders(const std::vector<MissingOperator>& missing,
                     TfLiteInterpreterOptions* options);

// Returns true if the node's operator is in the list and no delegate has claimed the node.
bool IsMissing(const std::vector<MissingOperator>& missing, const TfLiteInterpreter* interpreter,
               int subgraph, int node);

// Returns the operators of the list that no delegate has claimed completely, with the number of
// their remaining nodes.
std::vector<MissingOperator> MissingLeft(std::vector<MissingOperator> missing,
                                         const TfLiteInterpreter* interpreter);

// Returns "2 operators have no kernel: FOO version 3 (2 nodes), BAR version 1 (1 node)".
std::string MissingText(const std::vector<MissingOperator>& missing);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_MISSING_H_
