// SPDX-License-Identifier: Apache-2.0
//
// The dynamic segment of a shared object: tags that give the loader the addresses of its tables.
#ifndef DEPUTY_CORE_PLUGIN_ELF_DYNAMIC_H_
#define DEPUTY_CORE_PLUGIN_ELF_DYNAMIC_H_

#include <elf.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/plugin/elf_image.h"

namespace deputy {

// The tags of the table of relocations: DT_REL… without addends, else DT_RELA….
#if defined(__arm__)
inline constexpr int64_t kTagRelocations = DT_REL, kTagRelocationsSize = DT_RELSZ,
                         kTagRelocationsEntry = DT_RELENT, kTagRelativeCount = DT_RELCOUNT;
#else
inline constexpr int64_t kTagRelocations = DT_RELA, kTagRelocationsSize = DT_RELASZ,
                         kTagRelocationsEntry = DT_RELAENT, kTagRelativeCount = DT_RELACOUNT;
#endif
// Tags that older headers do not define.
inline constexpr int64_t kTagRelrSize = 35, kTagRelr = 36, kTagRelrEntry = 37;

class ElfDynamic {
 public:
  // Borrows the image, whose Read must have succeeded.
  explicit ElfDynamic(const ElfImage* image) : image_(*image) {}

  // Reads and checks the tags. Returns "" or the problem. Must be called first, and once.
  std::string Read();

  const ElfImage& image() const { return image_; }
  bool Has(int64_t tag) const { return values_.find(tag) != values_.end(); }
  // Returns the value of a tag; 0 if the tag is absent.
  uint64_t Value(int64_t tag) const;
  // Reads a name of the string table; false if it is not terminated there.
  bool Name(uint64_t index, std::string_view* out_name) const;
  // Returns true if the library declares a dependency on `library`.
  bool Needs(std::string_view library) const;
  // Names of the libraries on which the library depends.
  const std::vector<std::string_view>& needed() const { return needed_; }
  // Returns true if functions may be bound at their first call.
  bool IsLazy() const;

 private:
  std::string ReadTags();
  std::string CheckPartners() const;
  std::string CheckTables() const;
  std::string CheckSections() const;
  std::string CheckSection(const ElfW(Shdr) & section) const;
  std::string ReadStrings();

  const ElfImage& image_;
  std::map<int64_t, uint64_t> values_;
  // Tags whose values are names in the string table.
  std::vector<std::pair<int64_t, uint64_t>> names_;
  std::vector<std::string_view> needed_;
  uint64_t strings_ = 0;  // offset of the string table in the file
};

}  // namespace deputy

#endif  // DEPUTY_CORE_PLUGIN_ELF_DYNAMIC_H_
