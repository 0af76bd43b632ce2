// SPDX-License-Identifier: Apache-2.0
//
// Checks where the loader would write to a library before it runs, and which functions it would
// then call.
#ifndef DEPUTY_CORE_PLUGIN_ELF_RELOCATIONS_H_
#define DEPUTY_CORE_PLUGIN_ELF_RELOCATIONS_H_

#include <string>

#include "core/plugin/elf_symbols.h"

namespace deputy {

// Checks that each relocation writes to memory of the library, refers to an existing symbol and has
// a type with which the loader does not abort the process, and that each initialiser and finaliser
// is then code. Returns "" or the problem.
std::string CheckElfRelocations(const ElfDynamic& dynamic, const ElfSymbols& symbols);

}  // namespace deputy

#endif  // DEPUTY_CORE_PLUGIN_ELF_RELOCATIONS_H_
