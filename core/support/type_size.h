// SPDX-License-Identifier: Apache-2.0
//
// Sizes of element types (abi.md 1 and appendix A).
#ifndef DEPUTY_CORE_SUPPORT_TYPE_SIZE_H_
#define DEPUTY_CORE_SUPPORT_TYPE_SIZE_H_

#include <cstddef>
#include <cstdint>

#include "c_api/include/c_api_types.h"

namespace deputy {

// Returns the bits of one element; 0 for types whose size does not follow from the shape: string,
// resource, variant, NoType and invalid types.
constexpr size_t TypeBits(TfLiteType type) {
  switch (type) {
    case kTfLiteInt2:
      return 2;
    case kTfLiteInt4:
    case kTfLiteUInt4:
      return 4;
    case kTfLiteUInt8:
    case kTfLiteInt8:
    case kTfLiteBool:
    case kTfLiteFloat8E4M3FN:
    case kTfLiteFloat8E5M2:
      return 8;
    case kTfLiteInt16:
    case kTfLiteUInt16:
    case kTfLiteFloat16:
    case kTfLiteBFloat16:
      return 16;
    case kTfLiteFloat32:
    case kTfLiteInt32:
    case kTfLiteUInt32:
      return 32;
    case kTfLiteInt64:
    case kTfLiteUInt64:
    case kTfLiteFloat64:
    case kTfLiteComplex64:
      return 64;
    case kTfLiteComplex128:
      return 128;
    default:
      return 0;
  }
}

// Returns true if the size of a tensor follows from its type and shape.
constexpr bool HasFixedSize(TfLiteType type) { return TypeBits(type) != 0; }

// Returns the bytes of one element, 1 for sub-byte types; 0 for types without a fixed size.
constexpr size_t TypeBytes(TfLiteType type) { return (TypeBits(type) + 7) / 8; }

// Returns TypeBytes for a type in the set `types`, which has a bit for each TfLiteType; else 0.
constexpr size_t TypeBytesIfIn(uint32_t types, TfLiteType type) {
  const auto number = static_cast<uint32_t>(type);
  return number < 32 && (types >> number & 1) != 0 ? TypeBytes(type) : 0;
}

}  // namespace deputy

#endif  // DEPUTY_CORE_SUPPORT_TYPE_SIZE_H_
