// SPDX-License-Identifier: Apache-2.0
//
// Size of a tensor (abi.md 1 and appendix A).
#ifndef DEPUTY_CORE_BASE_TYPE_SIZE_H_
#define DEPUTY_CORE_BASE_TYPE_SIZE_H_

#include <cstddef>
#include <span>

#include "c_api/include/c_api_types.h"
#include "core/support/type_size.h"

namespace deputy {

// Computes the size of a tensor's data: the product of dims and the element size, packed sub-byte
// types rounded up. Returns false for a type without a fixed size, a negative dimension, or on
// overflow.
bool TensorBytes(TfLiteType type, std::span<const int> dims, size_t* out_bytes);

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_TYPE_SIZE_H_
