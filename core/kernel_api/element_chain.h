// SPDX-License-Identifier: Apache-2.0
//
// Nodes of float32 that compute elements, run one behind the other on each element while it is in a
// register: GELU and others come as a dozen of them out of a converter. Each takes the element that
// the one before it made, and a number of its own, or once more the chain's first element.
#ifndef DEPUTY_CORE_KERNEL_API_ELEMENT_CHAIN_H_
#define DEPUTY_CORE_KERNEL_API_ELEMENT_CHAIN_H_

#include <cstdint>

namespace deputy {

enum class ElementOpKind : uint8_t {
  kPlus,      // element + other
  kMinus,     // element - other
  kFrom,      // other - element
  kTimes,     // element * other
  kTanh,      // of the element; no other, no bounds
  kLogistic,  // likewise
};

struct ElementOp {
  ElementOpKind kind = ElementOpKind::kPlus;
  bool takes_first = false;  // the other is the chain's first element, else a number
  float other = 0.0f;
  float low = 0.0f, high = 0.0f;  // of the result; NaN passes
};

// Longer ones are cut.
inline constexpr int kMaxChainedOps = 16;

}  // namespace deputy

#endif  // DEPUTY_CORE_KERNEL_API_ELEMENT_CHAIN_H_
