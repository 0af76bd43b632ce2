// SPDX-License-Identifier: Apache-2.0
//
// Reads a shared object without loading it: whether dlopen could map it into this process, and
// which symbols it needs and has. dlopen trusts the file it is given, so a damaged one may end the
// process; here every number that it relies on is checked first.
#ifndef DEPUTY_CORE_PLUGIN_ELF_H_
#define DEPUTY_CORE_PLUGIN_ELF_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace deputy {

// A symbol of the dynamic table, not a local one.
struct ElfSymbol {
  std::string_view name;
  bool defined = false;  // otherwise another library or the process has to bring it
  bool weak = false;     // the library can do without it
};

// Shows `visit` the symbols of a shared object for this machine. Returns "" for one whose tables
// are sound, otherwise what is wrong as the end of a sentence whose subject is the file: "is
// truncated: ...". Code and data are not looked at, nor whether a table that is sound is the one
// that the linker wrote: an initialiser may be other code of the library, a relocation may take
// another symbol.
std::string ReadSharedObject(std::span<const uint8_t> file,
                             const std::function<void(const ElfSymbol&)>& visit);

}  // namespace deputy

#endif  // DEPUTY_CORE_PLUGIN_ELF_H_
