// SPDX-License-Identifier: Apache-2.0
//
// Shared helpers of the functions of deputy.h: structs with a struct_size, and subgraphs by index.
#ifndef DEPUTY_C_API_SRC_STRUCT_IO_H_
#define DEPUTY_C_API_SRC_STRUCT_IO_H_

#include <algorithm>
#include <cstring>

#include "c_api/src/objects.h"
#include "c_api/src/struct_sizes.h"

namespace deputy {

// Reads a client's struct of any release of deputy.h: fields beyond the client's size become zero,
// fields beyond sizeof(T) are ignored. Returns false, with nothing read, for NULL and for a
// struct_size smaller than that of the first release.
template <typename T>
bool ReadStruct(const T* client, T* out) {
  static_assert(kFirstSize<T> > 0, "the struct is missing in struct_sizes.h");
  if (client == nullptr || client->struct_size < kFirstSize<T>) return false;
  *out = T{};
  memcpy(out, client, std::min(client->struct_size, sizeof(T)));
  return true;
}

// Copies the fields of `full` that fit in the client's size to a client's struct; its struct_size
// and its fields beyond sizeof(T) are unchanged. kTfLiteError for NULL and for a struct_size
// smaller than that of the first release.
template <typename T>
TfLiteStatus WriteStruct(const T& full, T* client) {
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

// Likewise, for functions that describe how inferences run: the subgraph of the plan that runs.
inline Subgraph* FindRunning(const TfLiteInterpreter* interpreter, int32_t index) {
  if (FindSubgraph(interpreter, index) == nullptr) return nullptr;
  return interpreter->impl->running()->subgraph(index);
}

}  // namespace deputy

#endif  // DEPUTY_C_API_SRC_STRUCT_IO_H_
