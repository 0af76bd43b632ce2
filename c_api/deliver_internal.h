// SPDX-License-Identifier: Apache-2.0
//
// What the functions of deputy.h share: structs that carry their size, and subgraphs by number.
#ifndef DEPUTY_C_API_DELIVER_INTERNAL_H_
#define DEPUTY_C_API_DELIVER_INTERNAL_H_

#include <algorithm>
#include <cstring>

#include "c_api/objects_internal.h"

namespace deputy {

// Copies `full` into the caller's struct as far as that one reaches. `first_release` is the size
// the struct had when it was first published: a smaller one cannot be ours.
template <typename T>
TfLiteStatus Deliver(const T& full, size_t first_release, T* out) {
  if (out == nullptr || out->struct_size < first_release) return kTfLiteError;
  const size_t size = std::min(out->struct_size, sizeof(T));
  memcpy(reinterpret_cast<char*>(out) + sizeof(size_t),
         reinterpret_cast<const char*>(&full) + sizeof(size_t), size - sizeof(size_t));
  return kTfLiteOk;
}

inline Subgraph* FindSubgraph(const TfLiteInterpreter* interpreter, int32_t index) {
  if (interpreter == nullptr || index < 0 || index >= interpreter->impl->subgraph_count()) {
    return nullptr;
  }
  return interpreter->impl->subgraph(index);
}

}  // namespace deputy

#endif  // DEPUTY_C_API_DELIVER_INTERNAL_H_
