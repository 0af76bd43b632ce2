// SPDX-License-Identifier: Apache-2.0
//
// A chain of element-wise float32 nodes, applied to each element while it is in a register.
// Converters emit GELU and similar functions as several such nodes. Each operation takes the result
// of the one before it and, except for TANH and LOGISTIC, a second operand: a scalar, or again the
// chain's first element.
#ifndef DEPUTY_CORE_KERNEL_API_ELEMENT_CHAIN_H_
#define DEPUTY_CORE_KERNEL_API_ELEMENT_CHAIN_H_

#include <cstdint>

namespace deputy {

enum class ElementOpKind : uint8_t {
  kAdd,         // element + other
  kSub,         // element - other
  kReverseSub,  // other - element
  kMul,         // element * other
  kTanh,        // tanh(element); no second operand, no bounds
  kLogistic,    // 1 / (1 + exp(-element)); no second operand, no bounds
};

struct ElementOp {
  ElementOpKind kind = ElementOpKind::kAdd;
  // True: the second operand is the chain's first element; false: it is a scalar.
  bool uses_first = false;
  float other = 0.0f;
  float low = 0.0f, high = 0.0f;  // bounds to which the result is clamped; NaN passes
};

// Maximum number of operations of one chain; longer chains are split.
inline constexpr int kMaxChainedOps = 16;

}  // namespace deputy

#endif  // DEPUTY_CORE_KERNEL_API_ELEMENT_CHAIN_H_
