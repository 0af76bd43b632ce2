// SPDX-License-Identifier: Apache-2.0
//
// Operators of a model that have no kernel here. A model is shown with them by giving each a
// stand-in, which prepares nothing, leaving its outputs the shapes in the file, and never runs.
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
  int nodes = 0;  // in all subgraphs
};

std::vector<MissingOperator> MissingOperators(const TfLiteModel* model);

// The list, whose names are borrowed, must outlive the interpreter.
void AddStandIns(const std::vector<MissingOperator>& missing, TfLiteInterpreterOptions* options);

// Whether the node is of an operator of the list, and no delegate has taken it.
bool IsMissing(const std::vector<MissingOperator>& missing, const TfLiteInterpreter* interpreter,
               int subgraph, int node);

// Those of the list that delegates have left, with the numbers of their nodes.
std::vector<MissingOperator> MissingLeft(std::vector<MissingOperator> missing,
                                         const TfLiteInterpreter* interpreter);

// "2 operators have no kernel here: FOO version 3 (2 nodes), BAR version 1 (1 node)".
std::string MissingText(const std::vector<MissingOperator>& missing);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_MISSING_H_
