// SPDX-License-Identifier: Apache-2.0
#include "core/base/type_size.h"

#include "core/base/memory.h"

namespace deputy {

size_t TypeBits(TfLiteType type) {
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

bool HasFixedSize(TfLiteType type) { return TypeBits(type) != 0; }

size_t TypeBytes(TfLiteType type) { return (TypeBits(type) + 7) / 8; }

bool TensorBytes(TfLiteType type, std::span<const int> dims, size_t* out_bytes) {
  const size_t bits = TypeBits(type);
  if (bits == 0) return false;
  size_t elements = 1;
  bool empty = false;
  for (int dim : dims) {
    if (dim < 0) return false;
    // One 0 makes the tensor empty, but the other dimensions must still be valid.
    if (dim == 0) {
      empty = true;
      continue;
    }
    if (!MultiplySizes(elements, static_cast<size_t>(dim), &elements)) return false;
  }
  size_t total_bits;
  size_t rounded;
  if (!MultiplySizes(elements, bits, &total_bits) || !AddSizes(total_bits, 7, &rounded)) {
    return false;
  }
  *out_bytes = empty ? 0 : rounded / 8;
  return true;
}

}  // namespace deputy
