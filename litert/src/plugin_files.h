// SPDX-License-Identifier: Apache-2.0
//
// Files and data of plug-ins.
#ifndef DEPUTY_LITERT_SRC_PLUGIN_FILES_H_
#define DEPUTY_LITERT_SRC_PLUGIN_FILES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "litert/c/litert_common.h"

namespace deputy::litert {

// Version of the interfaces of plug-ins.
inline constexpr LiteRtApiVersion kPluginVersion = {
    LITERT_API_VERSION_MAJOR, LITERT_API_VERSION_MINOR, LITERT_API_VERSION_PATCH};

// Returns a version as text, for example "1.2.3".
std::string TextOf(const LiteRtApiVersion& version);

// Returns the files below a folder whose names begin with `prefix` and end with ".so", sorted.
std::vector<std::string> FindPlugins(const std::string& folder, std::string_view prefix);

// Copies memory of a plug-in, whose address and size are not trusted. Returns false if a part of it
// is not readable.
bool CopyReadable(const void* address, size_t size, std::vector<uint8_t>* out_bytes);

// Copies a text of a plug-in, whose address is not trusted. Returns false if it is not readable or
// has more than 4095 bytes.
bool CopyText(const char* text, std::string* out_text);

// Returns false if a part of the memory is not mapped. Memory of devices is mapped but may not be
// readable by CopyReadable.
bool IsMapped(const void* address, size_t size);

// Address ranges of the process that can be executed.
class CodeRanges {
 public:
  CodeRanges();
  // Also returns true if the ranges cannot be read.
  bool Contains(const void* address) const;
  template <typename Result, typename... Arguments>
  bool Contains(Result (*function)(Arguments...)) const {
    return Contains(reinterpret_cast<const void*>(function));
  }

 private:
  std::vector<std::pair<uintptr_t, uintptr_t>> ranges_;  // first address, end
};

}  // namespace deputy::litert

#endif  // DEPUTY_LITERT_SRC_PLUGIN_FILES_H_
