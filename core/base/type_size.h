// SPDX-License-Identifier: Apache-2.0
//
// Sizes of element types and of tensors (abi.md 1 and appendix A).
#ifndef DEPUTY_CORE_BASE_TYPE_SIZE_H_
#define DEPUTY_CORE_BASE_TYPE_SIZE_H_

#include <cstddef>
#include <span>

#include "c_api/include/c_api_types.h"

namespace deputy {

// False for types whose payload no shape determines: string, resource, variant, NoType and numbers
// that are no type.
bool HasFixedSize(TfLiteType type);

// Bits of one element; 0 for types without a fixed size.
size_t TypeBits(TfLiteType type);

// Bytes of one element, sub-byte types counted as 1; 0 for types without a fixed size.
size_t TypeBytes(TfLiteType type);

// Payload of a tensor: product of dims times the element, packed sub-byte types rounded up. False
// for a type without a fixed size, a negative dimension, or a product that does not fit.
bool TensorBytes(TfLiteType type, std::span<const int> dims, size_t* out_bytes);

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_TYPE_SIZE_H_
