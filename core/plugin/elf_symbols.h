// SPDX-License-Identifier: Apache-2.0
//
// The symbols of a shared object, and the tables with which the loader finds them: hash tables and
// versions.
#ifndef DEPUTY_CORE_PLUGIN_ELF_SYMBOLS_H_
#define DEPUTY_CORE_PLUGIN_ELF_SYMBOLS_H_

#include <string>
#include <string_view>

#include "core/plugin/elf_dynamic.h"

namespace deputy {

class ElfSymbols {
 public:
  // Borrows the dynamic segment, whose Read must have succeeded.
  explicit ElfSymbols(const ElfDynamic* dynamic) : dynamic_(*dynamic), image_(dynamic->image()) {}

  // Reads and checks the tables. Returns "" or the problem. Must be called first, and once.
  std::string Read();

  uint64_t count() const { return count_; }
  // symbol() and name() return a symbol and its name; the index must be below count().
  ElfW(Sym) symbol(uint64_t index) const {
    return image_.At<ElfW(Sym)>(symbols_ + index * sizeof(ElfW(Sym)));
  }
  std::string_view name(uint64_t index) const;

 private:
  // Numbers from the header of the DT_GNU_HASH table, and the locations of its parts.
  struct GnuHash {
    uint64_t buckets = 0, first_symbol = 0;
    uint64_t bucket_table = 0;  // offset of the buckets in the file
    uint64_t chains = 0;        // address of the chains
  };

  std::string Count();
  bool CountByGnuHash();
  bool ReadGnuHash(GnuHash* hash) const;
  std::string CheckHash() const;
  std::string CheckGnuHash() const;
  std::string CheckSymbols() const;
  std::string CheckDefined(uint64_t index, const ElfW(Sym) & entry) const;
  std::string Problem(uint64_t index, const char* what) const;

  const ElfDynamic& dynamic_;
  const ElfImage& image_;
  uint64_t count_ = 0;
  uint64_t symbols_ = 0;  // offset of the symbol table in the file
};

// Checks that the loader can follow the tables of versions, and that they contain each symbol's
// version. Returns "" or the problem.
std::string CheckElfVersions(const ElfDynamic& dynamic, const ElfSymbols& symbols);

}  // namespace deputy

#endif  // DEPUTY_CORE_PLUGIN_ELF_SYMBOLS_H_
