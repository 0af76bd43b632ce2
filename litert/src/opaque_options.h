// SPDX-License-Identifier: Apache-2.0
//
// Opaque options: a linked list of data of clients and accelerators, found by an identifier.
#ifndef DEPUTY_LITERT_SRC_OPAQUE_OPTIONS_H_
#define DEPUTY_LITERT_SRC_OPAQUE_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "litert/c/litert_opaque_options.h"

class LiteRtOpaqueOptionsT {
 public:
  ~LiteRtOpaqueOptionsT() { destructor(data); }

  std::string identifier;
  void* data = nullptr;
  void (*destructor)(void* data) = nullptr;
  LiteRtOpaqueOptionsHashFunc hash = nullptr;
  LiteRtOpaqueOptionsT* next = nullptr;  // owned
};

namespace deputy::litert {

// Returns the hash of one object, without those after it; nothing if it has no hash function.
std::optional<uint64_t> HashOf(const LiteRtOpaqueOptionsT& options);

}  // namespace deputy::litert

#endif  // DEPUTY_LITERT_SRC_OPAQUE_OPTIONS_H_
