// SPDX-License-Identifier: Apache-2.0
//
// The operator objects that a subgraph owns because of delegates, of two kinds.
//
// *Descriptions* are what a delegate is shown of a node whose registration has no operator: code,
// name and version, and no functions. Calls never go through them, so one serves all nodes of the
// same operator (abi.md 3.10).
//
// *Adopted* operators are those that opaque delegates replace nodes with, and carry the functions
// of their nodes. The first of a code, name and version serves all later nodes of the same delegate
// (abi.md 4.6), as long as there are any.
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
  // Says of what a node runs. The object is good as long as the node is in the table.
  TfLiteOperator* Describe(const TfLiteRegistration& registration, int node_index);

  // Owns `op` from here on and returns the one that the nodes to come shall carry: `op`, or an
  // earlier one. `node_count` is the size of the node table before they are added.
  TfLiteOperator* Adopt(const TfLiteDelegate* delegate, std::unique_ptr<TfLiteOperator> op,
                        int node_count);
  // Whether the delegate handed it in and it is still here.
  bool HasAdopted(const TfLiteDelegate* delegate, const TfLiteOperator* op) const;

  // The nodes from `node_count` on are gone, and with them every operator that only they needed.
  void ForgetNodesFrom(int node_count) noexcept;

 private:
  struct Adopted {
    std::unique_ptr<TfLiteOperator> op;
    int first_node = 0;  // nodes that carry it are not below this
  };
  // Names are told apart by their addresses, as upstream does.
  using DescriptionKey = std::tuple<int, const char*, int>;                     // code, version
  using AdoptedKey = std::tuple<const TfLiteDelegate*, int, const char*, int>;  // the same

  std::map<DescriptionKey, std::unique_ptr<TfLiteOperator>> descriptions_;
  std::map<AdoptedKey, Adopted> adopted_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_DELEGATE_OPERATORS_H_
