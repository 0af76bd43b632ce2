// SPDX-License-Identifier: Apache-2.0
//
// The symbols of a shared object, and the tables by which the loader finds them: hash tables and
// versions.
#ifndef DEPUTY_CORE_PLUGIN_ELF_SYMBOLS_H_
#define DEPUTY_CORE_PLUGIN_ELF_SYMBOLS_H_

#include <string>
#include <string_view>

#include "core/plugin/elf_dynamic.h"

namespace deputy {

class ElfSymbols {
 public:
  // The dynamic segment is borrowed, and has been read.
  explicit ElfSymbols(const ElfDynamic* dynamic) : dynamic_(*dynamic), image_(dynamic->image()) {}

  // "" or what is wrong. To be called first, and once.
  std::string Read();

  uint64_t count() const { return count_; }
  // By their numbers below count().
  Elf64_Sym symbol(uint64_t index) const {
    return image_.At<Elf64_Sym>(symbols_ + index * sizeof(Elf64_Sym));
  }
  std::string_view name(uint64_t index) const;

 private:
  // The table of DT_GNU_HASH behind its head.
  struct GnuHash {
    uint64_t buckets = 0, first_symbol = 0;
    uint64_t bucket_table = 0;  // where it is in the file
    uint64_t chains = 0;        // their address
  };

  std::string Count();
  bool CountByGnuHash();
  bool ReadGnuHash(GnuHash* hash) const;
  std::string CheckHash() const;
  std::string CheckGnuHash() const;
  std::string CheckSymbols() const;
  std::string CheckDefined(uint64_t index, const Elf64_Sym& entry) const;
  std::string Problem(uint64_t index, const char* what) const;

  const ElfDynamic& dynamic_;
  const ElfImage& image_;
  uint64_t count_ = 0;
  uint64_t symbols_ = 0;  // where the table is in the file
};

// Whether the loader can walk the tables of versions, and each symbol's version is in them. "" or
// what is wrong.
std::string CheckElfVersions(const ElfDynamic& dynamic, const ElfSymbols& symbols);

}  // namespace deputy

#endif  // DEPUTY_CORE_PLUGIN_ELF_SYMBOLS_H_
