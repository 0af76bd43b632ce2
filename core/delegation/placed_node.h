// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_CORE_DELEGATION_PLACED_NODE_H_
#define DEPUTY_CORE_DELEGATION_PLACED_NODE_H_

#include "c_api/include/common.h"

namespace deputy {

// What the client said about who may run one node; see placement.h.
struct PlacedNode {
  bool placed = false;
  const TfLiteDelegate* delegate = nullptr;  // null: the CPU's

  bool Allows(const TfLiteDelegate* other) const { return !placed || delegate == other; }
};

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_PLACED_NODE_H_
