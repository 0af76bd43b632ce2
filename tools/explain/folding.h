// SPDX-License-Identifier: Apache-2.0
//
// Nodes that compute from constants alone, for example a DEQUANTIZE of weights. Drawings fold them
// into the nodes that consume them, like the constants themselves.
#ifndef DEPUTY_TOOLS_EXPLAIN_FOLDING_H_
#define DEPUTY_TOOLS_EXPLAIN_FOLDING_H_

#include <map>
#include <string>
#include <vector>

#include "tools/json.h"

namespace deputy::tools {

class Folding {
 public:
  // Borrows a subgraph of an explanation.
  explicit Folding(const Json& subgraph);

  // Returns the first node that is drawn as a box and consumes the result of `node`, directly or
  // through other folded nodes; null for a node that is not folded.
  const Json* ConsumerOf(const Json& node) const;

  // Describes the constants of a node and of the nodes folded into it, "2 constants, 9.2 KiB" or
  // "9.2 KiB, 2 constants +1 node"; "" for a node without constants.
  std::string ConstantsText(const Json& node) const;
  // Lists the operators folded into a node, "2 DEQUANTIZE, TRANSPOSE"; "" if there are none.
  std::string FoldedText(const Json& node) const;

 private:
  bool IsConstant(int tensor) const;
  bool ComputesFromConstants(const Json& node) const;
  std::vector<const Json*> FoldedInto(const Json& node) const;

  const Json& subgraph_;
  std::map<int, const Json*> producers_;          // folded node that produces a tensor, by tensor
  std::map<int, bool> produced_;                  // tensors that some node produces
  std::map<const Json*, const Json*> consumers_;  // result of ConsumerOf, by folded node
};

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_EXPLAIN_FOLDING_H_
