// SPDX-License-Identifier: Apache-2.0
//
// The dynamic segment of a shared object: tags that tell the loader where its tables are.
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

// Tags that older headers lack.
inline constexpr int64_t kTagRelrSize = 35, kTagRelr = 36, kTagRelrEntry = 37;

class ElfDynamic {
 public:
  // The image is borrowed, and has been read.
  explicit ElfDynamic(const ElfImage* image) : image_(*image) {}

  // "" or what is wrong. To be called first, and once.
  std::string Read();

  const ElfImage& image() const { return image_; }
  bool Has(int64_t tag) const { return values_.find(tag) != values_.end(); }
  // 0 where the tag is absent.
  uint64_t Value(int64_t tag) const;
  // A name in the string table; false when it does not end there.
  bool Name(uint64_t index, std::string_view* out_name) const;
  // Whether the library says that it needs another one of that name.
  bool Needs(std::string_view library) const;
  // Whether functions may be bound when they are first called.
  bool IsLazy() const;

 private:
  std::string ReadTags();
  std::string CheckPartners() const;
  std::string CheckTables() const;
  std::string CheckSections() const;
  std::string CheckSection(const Elf64_Shdr& section) const;
  std::string ReadStrings();

  const ElfImage& image_;
  std::map<int64_t, uint64_t> values_;
  std::vector<std::pair<int64_t, uint64_t>> names_;  // tags that are names in the string table
  std::vector<std::string_view> needed_;
  uint64_t strings_ = 0;  // where the string table is in the file
};

}  // namespace deputy

#endif  // DEPUTY_CORE_PLUGIN_ELF_DYNAMIC_H_
