// SPDX-License-Identifier: Apache-2.0
//
// The operator objects that a subgraph owns because of delegates. There are two kinds.
//
// *Descriptions* represent a node whose registration has no operator: code, name and version,
// without functions. Calls never use them, so one serves all nodes of the same operator (abi.md
// 3.10).
//
// *Adopted* operators are those with which opaque delegates replace nodes; they have the functions
// of these nodes. The first one of a code, name and version serves all later nodes of the same
// delegate (abi.md 4.6), as long as there are any.
#ifndef DEPUTY_CORE_DELEGATION_DELEGATE_OPERATORS_H_
#define DEPUTY_CORE_DELEGATION_DELEGATE_OPERATORS_H_

#include <map>
#include <memory>
#include <tuple>

#include "c_api/include/common.h"
#include "core/base/operator_object.h"

namespace deputy {

class DelegateOperators {
 public:
  // Returns the description of a node's operator, valid as long as the node is in the table.
  TfLiteOperator* Describe(const TfLiteRegistration& registration, int node_index);

  // Takes ownership of `op` and returns the operator for the nodes that will be added: `op` or an
  // earlier one. `node_count` is the size of the node table before they are added.
  TfLiteOperator* Adopt(const TfLiteDelegate* delegate, std::unique_ptr<TfLiteOperator> op,
                        int node_count);
  // Returns true if this operator of the delegate was adopted and still exists.
  bool HasAdopted(const TfLiteDelegate* delegate, const TfLiteOperator* op) const;

  // Called when the nodes from `node_count` on were removed: deletes operators that only they used.
  void ForgetNodesFrom(int node_count) noexcept;

 private:
  struct Adopted {
    std::unique_ptr<TfLiteOperator> op;
    int first_node = 0;  // lowest index of a node that may use the operator
  };
  // Keys are code, name and version, for adopted operators with the delegate. Names are compared by
  // address, as upstream does.
  using DescriptionKey = std::tuple<int, const char*, int>;
  using AdoptedKey = std::tuple<const TfLiteDelegate*, int, const char*, int>;

  std::map<DescriptionKey, std::unique_ptr<TfLiteOperator>> descriptions_;
  std::map<AdoptedKey, Adopted> adopted_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_DELEGATE_OPERATORS_H_
