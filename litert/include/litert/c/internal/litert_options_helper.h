// SPDX-License-Identifier: Apache-2.0
//
// Payloads of option objects, for C++.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_OPTIONS_HELPER_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_OPTIONS_HELPER_H_

#include "litert/c/litert_common.h"

#ifdef __cplusplus

#include <cstring>
#include <string_view>

namespace litert {
namespace internal {

// Copies a text to a new NUL-terminated string and returns it with its deleter, as
// LiteRtCreateOpaqueOptions needs them.
inline void MakeCStringPayload(std::string_view toml_str, void** payload,
                               void (**payload_deleter)(void*)) {
  char* copy = new char[toml_str.size() + 1];
  if (!toml_str.empty()) std::memcpy(copy, toml_str.data(), toml_str.size());
  copy[toml_str.size()] = '\0';
  *payload = copy;
  *payload_deleter = [](void* text) { delete[] static_cast<char*>(text); };
}

}  // namespace internal
}  // namespace litert

#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_OPTIONS_HELPER_H_
