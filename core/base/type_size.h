// SPDX-License-Identifier: Apache-2.0
//
// Sizes of element types and of tensors (abi.md 1 and appendix A).
#ifndef DEPUTY_CORE_BASE_TYPE_SIZE_H_
#define DEPUTY_CORE_BASE_TYPE_SIZE_H_

#include <cstddef>
#include <span>

#include "c_api/include/c_api_types.h"

namespace deputy {

// Returns false for types whose size does not follow from the shape: string, resource, variant,
// NoType and invalid types.
bool HasFixedSize(TfLiteType type);

// Returns the bits of one element; 0 for types without a fixed size.
size_t TypeBits(TfLiteType type);

// Returns the bytes of one element, 1 for sub-byte types; 0 for types without a fixed size.
size_t TypeBytes(TfLiteType type);

// Computes the size of a tensor's data: the product of dims and the element size, packed sub-byte
// types rounded up. Returns false for a type without a fixed size, a negative dimension, or on
// overflow.
bool TensorBytes(TfLiteType type, std::span<const int> dims, size_t* out_bytes);

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_TYPE_SIZE_H_
