// SPDX-License-Identifier: Apache-2.0
//
// Checks the loader's writes to a library before it runs, and the functions that it then calls.
#ifndef DEPUTY_CORE_PLUGIN_ELF_RELOCATIONS_H_
#define DEPUTY_CORE_PLUGIN_ELF_RELOCATIONS_H_

#include <string>

#include "core/plugin/elf_symbols.h"

namespace deputy {

// Checks that each relocation has a known type, writes to memory of the library and refers to an
// existing symbol, and that each initialiser and finaliser is then code. Returns "" or the problem.
std::string CheckElfRelocations(const ElfDynamic& dynamic, const ElfSymbols& symbols);

}  // namespace deputy

#endif  // DEPUTY_CORE_PLUGIN_ELF_RELOCATIONS_H_
