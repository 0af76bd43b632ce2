// SPDX-License-Identifier: Apache-2.0
//
// Checks the tags of the dynamic segment. The loader uses a tag without checking that related tags
// exist, and aborts the process if a size is not the expected one. If the file has section headers,
// the tags must agree with them, because a slightly damaged address may still be inside the
// library.
#include "core/plugin/elf_dynamic.h"

#include <algorithm>

namespace deputy {
namespace {

// A table: the tags of its address, of its size in bytes and of its entry size (0: no such tag),
// and the expected entry size.
struct Table {
  int64_t address, size, entry;
  uint64_t entry_bytes;
  const char* name;
};
constexpr Table kTables[] = {
    {DT_STRTAB, DT_STRSZ, 0, 1, "string table"},
    {kTagRelocations, kTagRelocationsSize, kTagRelocationsEntry, sizeof(ElfRelocation),
     "table of relocations"},
    {DT_JMPREL, DT_PLTRELSZ, 0, sizeof(ElfRelocation), "table of function relocations"},
    {kTagRelr, kTagRelrSize, kTagRelrEntry, kElfWord, "table of relative relocations"},
    {DT_INIT_ARRAY, DT_INIT_ARRAYSZ, 0, kElfWord, "table of initialisers"},
    {DT_FINI_ARRAY, DT_FINI_ARRAYSZ, 0, kElfWord, "table of finalisers"},
};

// Tags that must both be present or both absent.
struct Partners {
  int64_t first, second;
  const char* name;
};
constexpr Partners kPartners[] = {
    {DT_STRTAB, DT_STRSZ, "string table"},
    {DT_SYMTAB, DT_SYMENT, "symbol table"},
    {kTagRelocations, kTagRelocationsSize, "table of relocations"},
    {kTagRelocations, kTagRelocationsEntry, "table of relocations"},
    {DT_JMPREL, DT_PLTRELSZ, "table of function relocations"},
    {DT_JMPREL, DT_PLTREL, "table of function relocations"},
    {kTagRelr, kTagRelrSize, "table of relative relocations"},
    {kTagRelr, kTagRelrEntry, "table of relative relocations"},
    {DT_INIT_ARRAY, DT_INIT_ARRAYSZ, "table of initialisers"},
    {DT_FINI_ARRAY, DT_FINI_ARRAYSZ, "table of finalisers"},
    {DT_VERNEED, DT_VERNEEDNUM, "table of needed versions"},
    {DT_VERDEF, DT_VERDEFNUM, "table of defined versions"},
};

// For a section type, the tags that must equal the section's address and size (0: no such tag).
struct SectionTags {
  uint32_t type;
  int64_t address, size;
  const char* name;
};
constexpr SectionTags kSectionTags[] = {
    {SHT_DYNSYM, DT_SYMTAB, 0, "symbol table"},
    {SHT_HASH, DT_HASH, 0, "hash table"},
    {SHT_GNU_HASH, DT_GNU_HASH, 0, "hash table"},
    {SHT_GNU_versym, DT_VERSYM, 0, "table of versions"},
    {SHT_GNU_verneed, DT_VERNEED, 0, "table of needed versions"},
    {SHT_GNU_verdef, DT_VERDEF, 0, "table of defined versions"},
    {SHT_INIT_ARRAY, DT_INIT_ARRAY, DT_INIT_ARRAYSZ, "table of initialisers"},
    {SHT_FINI_ARRAY, DT_FINI_ARRAY, DT_FINI_ARRAYSZ, "table of finalisers"},
};

bool IsName(int64_t tag) {
  return tag == DT_NEEDED || tag == DT_SONAME || tag == DT_RPATH || tag == DT_RUNPATH ||
         tag == DT_AUXILIARY || tag == DT_FILTER;
}

bool MayRepeat(int64_t tag) { return tag == DT_NEEDED || tag == DT_AUXILIARY || tag == DT_FILTER; }

std::string Misplaced(const char* table) {
  return ElfText("is damaged: the %s is outside of the loaded segments", table);
}

}  // namespace

std::string ElfDynamic::Read() {
  std::string problem = ReadTags();
  if (problem.empty()) problem = CheckPartners();
  if (problem.empty()) problem = CheckTables();
  if (problem.empty()) problem = CheckSections();
  if (problem.empty()) problem = ReadStrings();
  return problem;
}

uint64_t ElfDynamic::Value(int64_t tag) const {
  const auto found = values_.find(tag);
  return found == values_.end() ? 0 : found->second;
}

bool ElfDynamic::Needs(std::string_view library) const {
  return std::find(needed_.begin(), needed_.end(), library) != needed_.end();
}

bool ElfDynamic::IsLazy() const {
  return !Has(DT_BIND_NOW) && (Value(DT_FLAGS) & DF_BIND_NOW) == 0 &&
         (Value(DT_FLAGS_1) & DF_1_NOW) == 0;
}

std::string ElfDynamic::ReadTags() {
  const ElfW(Phdr)* segment = image_.FindSegment(PT_DYNAMIC);
  if (segment == nullptr) return "is damaged: it has no dynamic segment";
  for (uint64_t at = 0; at + sizeof(ElfW(Dyn)) <= segment->p_filesz; at += sizeof(ElfW(Dyn))) {
    const auto entry = image_.At<ElfW(Dyn)>(segment->p_offset + at);
    if (entry.d_tag == DT_NULL) return "";
    if (IsName(entry.d_tag)) names_.emplace_back(entry.d_tag, entry.d_un.d_val);
    const bool is_new = values_.emplace(entry.d_tag, entry.d_un.d_val).second;
    if (!is_new && !MayRepeat(entry.d_tag)) {
      return ElfText("is damaged: the dynamic segment has tag %lld twice",
                     static_cast<long long>(entry.d_tag));
    }
  }
  return "is damaged: the dynamic segment has no end";
}

std::string ElfDynamic::CheckPartners() const {
  for (const Partners& partners : kPartners) {
    if (Has(partners.first) != Has(partners.second)) {
      return ElfText("is damaged: the %s has an address or a size, but not both", partners.name);
    }
  }
  if (Has(DT_PLTREL) && Value(DT_PLTREL) != kTagRelocations) {
    return "is damaged: its function relocations are of another kind";
  }
  if (!Has(DT_STRTAB)) return "is damaged: it has no string table";
  if (!Has(DT_SYMTAB)) return "is damaged: it has no symbol table";
  if (Value(DT_SYMENT) != sizeof(ElfW(Sym))) {
    return ElfText("is damaged: expected symbols of %zu bytes, found %llu", sizeof(ElfW(Sym)),
                   static_cast<unsigned long long>(Value(DT_SYMENT)));
  }
  if (!Has(DT_HASH) && !Has(DT_GNU_HASH)) return "is damaged: it has no hash table";
  if ((Value(DT_FLAGS_1) & DF_1_PIE) != 0) {
    return ElfText(
        "is not a shared object: expected ELF type %d (shared object), found a "
        "position-independent executable",
        ET_DYN);
  }
  return "";
}

std::string ElfDynamic::CheckTables() const {
  uint64_t ignored = 0;
  for (const Table& table : kTables) {
    if (!Has(table.address)) continue;
    const uint64_t size = Value(table.size);
    if (size % table.entry_bytes != 0 || !image_.Locate(Value(table.address), size, &ignored)) {
      return Misplaced(table.name);
    }
    if (table.entry != 0 && Value(table.entry) != table.entry_bytes) {
      return ElfText("is damaged: expected entries of %llu bytes in the %s, found %llu",
                     static_cast<unsigned long long>(table.entry_bytes), table.name,
                     static_cast<unsigned long long>(Value(table.entry)));
    }
  }
  for (const int64_t tag : {DT_INIT, DT_FINI}) {
    if (Has(tag) && !image_.InMemory(Value(tag), 1, PF_X)) {
      return "is damaged: its initialiser or finaliser is not code";
    }
  }
  return "";
}

std::string ElfDynamic::CheckSections() const {
  for (const ElfW(Shdr) & section : image_.sections()) {
    if ((section.sh_flags & SHF_ALLOC) == 0) continue;
    std::string problem = CheckSection(section);
    if (!problem.empty()) return problem;
  }
  return "";
}

std::string ElfDynamic::CheckSection(const ElfW(Shdr) & section) const {
  for (const SectionTags& tags : kSectionTags) {
    if (section.sh_type != tags.type) continue;
    if (Value(tags.address) != section.sh_addr ||
        (tags.size != 0 && Value(tags.size) != section.sh_size)) {
      return ElfText("is damaged: the %s is at another address than its section", tags.name);
    }
  }
  if (section.sh_type == SHT_DYNSYM && section.sh_link < image_.sections().size()) {
    const ElfW(Shdr)& strings = image_.sections()[section.sh_link];
    if (Value(DT_STRTAB) != strings.sh_addr || Value(DT_STRSZ) != strings.sh_size) {
      return "is damaged: the string table is at another address than its section";
    }
  }
  if (section.sh_type == SHT_DYNAMIC) {
    const ElfW(Phdr)* segment = image_.FindSegment(PT_DYNAMIC);
    if (segment->p_vaddr != section.sh_addr) {
      return "is damaged: the dynamic segment is at another address than its section";
    }
  }
  return "";
}

std::string ElfDynamic::ReadStrings() {
  if (!image_.Locate(Value(DT_STRTAB), Value(DT_STRSZ), &strings_))
    return Misplaced("string table");
  for (const auto& [tag, index] : names_) {
    std::string_view name;
    if (!Name(index, &name)) {
      return "is damaged: the name of a library is outside of the string table";
    }
    if (tag == DT_NEEDED) needed_.push_back(name);
  }
  return "";
}

bool ElfDynamic::Name(uint64_t index, std::string_view* out_name) const {
  const uint64_t size = Value(DT_STRSZ);
  return index < size && image_.StringAt(strings_ + index, size - index, out_name);
}

}  // namespace deputy
