// SPDX-License-Identifier: Apache-2.0
//
// Checks everything in a shared object that the dynamic loader relies on. Each step relies on the
// previous ones; the first failure is returned.
#include "core/plugin/elf.h"

#include "core/plugin/elf_dynamic.h"
#include "core/plugin/elf_image.h"
#include "core/plugin/elf_relocations.h"
#include "core/plugin/elf_symbols.h"

namespace deputy {

std::string ReadSharedObject(std::span<const uint8_t> file,
                             const std::function<void(const ElfSymbol&)>& visit) {
  ElfImage image(file);
  std::string problem = image.Read();
  if (!problem.empty()) return problem;
  ElfDynamic dynamic(&image);
  problem = dynamic.Read();
  if (!problem.empty()) return problem;
  ElfSymbols symbols(&dynamic);
  problem = symbols.Read();
  if (problem.empty()) problem = CheckElfVersions(dynamic, symbols);
  if (problem.empty()) problem = CheckElfRelocations(dynamic, symbols);
  if (!problem.empty()) return problem;
  for (uint64_t i = 1; i < symbols.count(); ++i) {
    const ElfW(Sym) entry = symbols.symbol(i);
    const unsigned binding = ELF32_ST_BIND(entry.st_info);
    if (binding == STB_LOCAL) continue;
    visit({symbols.name(i), entry.st_shndx != SHN_UNDEF, binding == STB_WEAK, dynamic.needed()});
  }
  return "";
}

}  // namespace deputy
