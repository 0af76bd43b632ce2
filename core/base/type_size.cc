// SPDX-License-Identifier: Apache-2.0
#include "core/base/type_size.h"

#include "core/base/memory.h"

namespace deputy {

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
