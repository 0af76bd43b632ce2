// SPDX-License-Identifier: Apache-2.0
//
// Sizes of tensors by element type and layout.
#ifndef DEPUTY_LITERT_SRC_LAYOUT_H_
#define DEPUTY_LITERT_SRC_LAYOUT_H_

#include <cstddef>
#include <cstring>
#include <optional>

#include "litert/c/litert_common.h"
#include "litert/c/litert_layout.h"
#include "litert/c/litert_model_types.h"

namespace deputy::litert {

// Returns the number of an enumerator that a client may have set to any number. Reading such a
// value as an enumerator is undefined.
template <typename Enum>
int NumberOf(const Enum& value) {
  static_assert(sizeof(value) == sizeof(int));
  int number = 0;
  std::memcpy(&number, &value, sizeof(number));
  return number;
}

// Returns the number of elements; empty if a dimension is negative or the product overflows.
std::optional<size_t> ElementCount(const LiteRtLayout& layout);

// Returns the size of a dense tensor in bytes; empty if it is not known before run time (negative
// dimensions, strings) or overflows.
std::optional<size_t> PackedBytes(const LiteRtRankedTensorType& type);

}  // namespace deputy::litert

#endif  // DEPUTY_LITERT_SRC_LAYOUT_H_
