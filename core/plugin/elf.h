// SPDX-License-Identifier: Apache-2.0
//
// Reads a shared object without loading it: checks that dlopen can map it into this process, and
// lists the symbols that it needs and defines. dlopen trusts its input, so a damaged file could
// crash the process; every number that dlopen relies on is checked first.
#ifndef DEPUTY_CORE_PLUGIN_ELF_H_
#define DEPUTY_CORE_PLUGIN_ELF_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace deputy {

// A non-local symbol of the dynamic table.
struct ElfSymbol {
  std::string_view name;
  bool defined = false;  // false: another library or the process must define the symbol
  bool weak = false;     // the symbol may remain undefined
  // Libraries on which the file depends; they may define the symbol if the file does not.
  std::span<const std::string_view> libraries = {};
};

// Calls `visit` with the symbols of a shared object for this machine. Returns "" if its tables are
// valid, otherwise the problem as the end of a sentence whose subject is the file: "is truncated:
// ...". Code and data are not checked, nor whether a valid table is the one that the linker wrote:
// an initialiser may point to other code of the library, a relocation may refer to another symbol.
std::string ReadSharedObject(std::span<const uint8_t> file,
                             const std::function<void(const ElfSymbol&)>& visit);

}  // namespace deputy

#endif  // DEPUTY_CORE_PLUGIN_ELF_H_
