// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_CORE_DELEGATION_PLACED_NODE_H_
#define DEPUTY_CORE_DELEGATION_PLACED_NODE_H_

#include "c_api/include/common.h"

namespace deputy {

// The client's constraint on where one node may run; see placement.h.
struct PlacedNode {
  bool placed = false;
  // The delegate that may run the node; null: only the CPU may.
  const TfLiteDelegate* delegate = nullptr;

  bool Allows(const TfLiteDelegate* other) const { return !placed || delegate == other; }
};

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_PLACED_NODE_H_
