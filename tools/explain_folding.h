// SPDX-License-Identifier: Apache-2.0
//
// Nodes that compute from constants alone, as a DEQUANTIZE of weights. In pictures of a graph they
// are a part of the nodes that read them, as the constants themselves are.
#ifndef DEPUTY_TOOLS_EXPLAIN_FOLDING_H_
#define DEPUTY_TOOLS_EXPLAIN_FOLDING_H_

#include <map>
#include <string>
#include <vector>

#include "json.h"

namespace deputy::tools {

class Folding {
 public:
  // A subgraph of an explanation, which is borrowed.
  explicit Folding(const Json& subgraph);

  // The first node that has a box of its own and reads what this one computes, perhaps through
  // others; null for a node that is not folded.
  const Json* ReaderOf(const Json& node) const;

  // The constants of a node and of those folded into it, "2 constants, 9.2 KiB" or "9.2 KiB, 2
  // constants +1 node"; "" for a node that reads none.
  std::string ConstantsText(const Json& node) const;
  // "2 DEQUANTIZE, TRANSPOSE": those folded into it; "" if there are none.
  std::string FoldedText(const Json& node) const;

 private:
  bool IsConstant(int tensor) const;
  bool ComputesFromConstants(const Json& node) const;
  std::vector<const Json*> FoldedInto(const Json& node) const;

  const Json& subgraph_;
  std::map<int, const Json*> makers_;           // tensor -> the folded node that gives it out
  std::map<int, bool> given_out_;               // by any node
  std::map<const Json*, const Json*> readers_;  // folded node -> see ReaderOf
};

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_EXPLAIN_FOLDING_H_
