// SPDX-License-Identifier: Apache-2.0
//
// What the functions of deputy.h share: structs that carry their size, and subgraphs by number.
#ifndef DEPUTY_C_API_SRC_DELIVER_H_
#define DEPUTY_C_API_SRC_DELIVER_H_

#include <algorithm>
#include <cstring>

#include "c_api/src/objects.h"
#include "c_api/src/struct_sizes.h"

namespace deputy {

// Reads a client's struct, whatever release of deputy.h it was compiled with: fields that it does
// not have become zero, those that we do not have are ignored. False, and nothing is read, for NULL
// and for a struct_size below the first release's.
template <typename T>
bool ReadStruct(const T* client, T* out) {
  static_assert(kFirstSize<T> > 0, "the struct is missing in struct_sizes.h");
  if (client == nullptr || client->struct_size < kFirstSize<T>) return false;
  *out = T{};
  memcpy(out, client, std::min(client->struct_size, sizeof(T)));
  return true;
}

// Fills a client's struct with the fields of `full` that both sides have; its struct_size, and what
// it has beyond our fields, stay as they are. kTfLiteError as above.
template <typename T>
TfLiteStatus Deliver(const T& full, T* client) {
  static_assert(kFirstSize<T> > 0, "the struct is missing in struct_sizes.h");
  if (client == nullptr || client->struct_size < kFirstSize<T>) return kTfLiteError;
  const size_t struct_size = client->struct_size;
  memcpy(client, &full, std::min(struct_size, sizeof(T)));
  client->struct_size = struct_size;
  return kTfLiteOk;
}

inline Subgraph* FindSubgraph(const TfLiteInterpreter* interpreter, int32_t index) {
  if (interpreter == nullptr || index < 0 || index >= interpreter->impl->subgraph_count()) {
    return nullptr;
  }
  return interpreter->impl->subgraph(index);
}

}  // namespace deputy

#endif  // DEPUTY_C_API_SRC_DELIVER_H_
