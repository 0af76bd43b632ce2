// SPDX-License-Identifier: Apache-2.0
//
// What the loader writes into a library before it runs, and the functions that it then calls.
#ifndef DEPUTY_CORE_PLUGIN_ELF_RELOCATIONS_H_
#define DEPUTY_CORE_PLUGIN_ELF_RELOCATIONS_H_

#include <string>

#include "core/plugin/elf_symbols.h"

namespace deputy {

// Whether each relocation is of a known kind, writes to memory of the library, and takes a symbol
// that there is; and whether each initialiser and finaliser is code then. "" or what is wrong.
std::string CheckElfRelocations(const ElfDynamic& dynamic, const ElfSymbols& symbols);

}  // namespace deputy

#endif  // DEPUTY_CORE_PLUGIN_ELF_RELOCATIONS_H_
