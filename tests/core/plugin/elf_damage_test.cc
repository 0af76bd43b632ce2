// SPDX-License-Identifier: Apache-2.0
//
// Tests damage that would crash the loader, in each of the tables it reads, and the expected
// message. The library is a valid one of tests/plugins that has every kind of table; the position
// of the damage is found with the ELF standard's own structs, not with the reader under test.
#include <elf.h>
#include <gmock/gmock.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "core/plugin/elf.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"

namespace deputy::elf_damage_test {
namespace {

using testing::HasSubstr;

constexpr int64_t kRelr = 36, kRelrEntry = 37;  // DT_RELR and DT_RELRENT, missing in older headers

// The bytes of a library to be damaged, with access to its ELF structs.
class DamagedLibrary {
 public:
  explicit DamagedLibrary(std::vector<uint8_t> bytes) : bytes_(std::move(bytes)) {}

  std::string Damage() const {
    return ReadSharedObject(bytes_, [](const ElfSymbol&) {});
  }

  template <typename T>
  T* In(uint64_t offset) {
    EXPECT_LE(offset + sizeof(T), bytes_.size());
    return reinterpret_cast<T*>(bytes_.data() + offset);
  }
  Elf64_Ehdr* header() { return In<Elf64_Ehdr>(0); }
  Elf64_Phdr* Segment(unsigned type) {
    for (unsigned i = 0; i < header()->e_phnum; ++i) {
      auto* segment = In<Elf64_Phdr>(header()->e_phoff + i * sizeof(Elf64_Phdr));
      if (segment->p_type == type) return segment;
    }
    ADD_FAILURE() << "no segment of type " << type;
    return In<Elf64_Phdr>(0);
  }
  Elf64_Dyn* EntryOrEnd(int64_t tag) {
    auto* entry = In<Elf64_Dyn>(Segment(PT_DYNAMIC)->p_offset);
    while (entry->d_tag != tag && entry->d_tag != DT_NULL) ++entry;
    return entry;
  }
  bool Has(int64_t tag) { return EntryOrEnd(tag)->d_tag == tag; }
  Elf64_Dyn* Entry(int64_t tag) {
    Elf64_Dyn* const entry = EntryOrEnd(tag);
    EXPECT_EQ(entry->d_tag, tag);
    return entry;
  }
  uint64_t& Value(int64_t tag) { return Entry(tag)->d_un.d_val; }
  // Returns a pointer to the object at a virtual address of the library.
  template <typename T>
  T* At(uint64_t address, uint64_t index = 0) {
    for (unsigned i = 0; i < header()->e_phnum; ++i) {
      auto* load = In<Elf64_Phdr>(header()->e_phoff + i * sizeof(Elf64_Phdr));
      const bool inside = load->p_type == PT_LOAD && address >= load->p_vaddr &&
                          address < load->p_vaddr + load->p_filesz;
      if (inside) return In<T>(load->p_offset + address - load->p_vaddr + index * sizeof(T));
    }
    ADD_FAILURE() << "nothing at address " << address;
    return In<T>(0);
  }
  template <typename T>
  T* Table(int64_t tag, uint64_t index = 0) {
    return At<T>(Value(tag), index);
  }
  // Returns the first relocation of a type in a table.
  Elf64_Rela* Relocation(int64_t table, unsigned type) {
    auto* relocation = Table<Elf64_Rela>(table);
    const uint64_t size = Value(table == DT_RELA ? DT_RELASZ : DT_PLTRELSZ);
    for (uint64_t i = 0; i < size / sizeof(Elf64_Rela); ++i, ++relocation) {
      if (ELF64_R_TYPE(relocation->r_info) == type) return relocation;
    }
    ADD_FAILURE() << "no relocation of type " << type;
    return Table<Elf64_Rela>(table);
  }
  // Removes the section headers, by which most damage can be detected, so that the loader's tables
  // alone are checked.
  void DropSections() { header()->e_shoff = header()->e_shnum = 0; }

 private:
  std::vector<uint8_t> bytes_;
};

struct Row {
  const char* name;
  std::function<void(DamagedLibrary*)> damage;
  const char* text;
};

void ExpectRefused(const std::vector<uint8_t>& good, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    DamagedLibrary victim(good);
    victim.DropSections();
    ASSERT_EQ(victim.Damage(), "");
    row.damage(&victim);
    EXPECT_THAT(victim.Damage(), HasSubstr(row.text)) << row.name;
  }
}

class ElfDamage : public QuietTest {
 protected:
  const std::vector<uint8_t> good_ = ReadBytes(Library("all_tables"));
};

TEST_F(ElfDamage, of_segments_is_refused) {
  ExpectRefused(
      good_,
      {{"two segments in a page",
        [](DamagedLibrary* v) { v->Segment(PT_LOAD)->p_memsz = v->Segment(PT_DYNAMIC)->p_vaddr; },
        "overlaps the one before"},
       {"dynamic segment that cannot be written",
        [](DamagedLibrary* v) {
          Elf64_Phdr* dynamic = v->Segment(PT_DYNAMIC);
          for (auto* s = v->Segment(PT_LOAD); s < dynamic; ++s) s->p_flags &= ~unsigned{PF_W};
        },
        "is outside of the loaded segments"},
       {"tables that cannot be read", [](DamagedLibrary* v) { v->Segment(PT_LOAD)->p_flags = 0; },
        "is outside of the loaded segments"},
       {"second dynamic segment",
        [](DamagedLibrary* v) { v->Segment(PT_GNU_STACK)->p_type = PT_DYNAMIC; },
        "is the second of its type"},
       {"endless note",
        [](DamagedLibrary* v) {
          v->At<Elf64_Nhdr>(v->Segment(PT_NOTE)->p_vaddr)->n_descsz = 0x7fffff00;
        },
        "a note is truncated"}});
  // This library is linked for large pages; the pages of the machine may be smaller.
  ExpectRefused(ReadBytes(Library("large_pages")),
                {{"data that would become read-only",
                  [](DamagedLibrary* v) { v->Segment(PT_GNU_RELRO)->p_memsz += 4096; },
                  "is outside of the loaded segments"}});
}

using Change = std::function<void(DamagedLibrary*)>;

// Returns a change that removes an entry of the dynamic segment; SetValue returns one that changes
// the entry's value.
Change RemoveEntry(int64_t tag) {
  return [tag](DamagedLibrary* v) { v->Entry(tag)->d_tag = 0x6ffff123; };
}
Change SetValue(int64_t tag, uint64_t value) {
  return [tag, value](DamagedLibrary* v) { v->Value(tag) = value; };
}

constexpr const char* kHalf = "has an address or a size, but not both";

TEST_F(ElfDamage, of_the_dynamic_segment_is_refused) {
  const char* const kOutside = "is outside of the loaded segments";
  ExpectRefused(
      good_,
      {{"DT_RELA alone", RemoveEntry(DT_RELASZ), kHalf},
       {"DT_RELASZ alone", RemoveEntry(DT_RELA), kHalf},
       {"DT_RELAENT missing", RemoveEntry(DT_RELAENT), kHalf},
       {"DT_JMPREL alone", RemoveEntry(DT_PLTRELSZ), kHalf},
       {"DT_PLTREL missing", RemoveEntry(DT_PLTREL), kHalf},
       {"DT_STRSZ missing", RemoveEntry(DT_STRSZ), kHalf},
       {"DT_SYMENT missing", RemoveEntry(DT_SYMENT), kHalf},
       {"DT_INIT_ARRAYSZ missing", RemoveEntry(DT_INIT_ARRAYSZ), kHalf},
       {"DT_FINI_ARRAY missing", RemoveEntry(DT_FINI_ARRAY), kHalf},
       {"DT_VERNEEDNUM missing", RemoveEntry(DT_VERNEEDNUM), kHalf},
       {"relocations of 23 bytes", SetValue(DT_RELAENT, 23), "expected entries of 24 bytes"},
       {"symbols of 25 bytes", SetValue(DT_SYMENT, 25), "expected symbols of 24 bytes, found 25"},
       {"the other kind of relocations", SetValue(DT_PLTREL, DT_REL), "are of another kind"},
       {"a tag twice", [](DamagedLibrary* v) { v->Entry(DT_INIT)->d_tag = DT_FINI; },
        "has tag 13 twice"},
       {"no strings",
        [](DamagedLibrary* v) {
          v->Entry(DT_STRTAB)->d_tag = 0x6ffff123;
          v->Entry(DT_STRSZ)->d_tag = 0x6ffff124;
        },
        "it has no string table"},
       {"strings elsewhere", SetValue(DT_STRTAB, uint64_t{1} << 40), kOutside},
       {"symbols elsewhere", SetValue(DT_SYMTAB, uint64_t{1} << 40), kOutside},
       {"half a relocation", [](DamagedLibrary* v) { v->Value(DT_RELASZ) -= 8; }, kOutside},
       {"relocations without end", SetValue(DT_RELASZ, uint64_t{24} << 40), kOutside},
       {"initialiser in the data",
        [](DamagedLibrary* v) { v->Value(DT_INIT) = v->Segment(PT_DYNAMIC)->p_vaddr; },
        "is not code"},
       {"name of a needed library", SetValue(DT_NEEDED, 1 << 30), "outside of the string table"},
       {"table of functions elsewhere", [](DamagedLibrary* v) { v->Value(DT_PLTGOT) += 1 << 20; },
        "the table of functions is outside of the loaded segments"},
       {"no end",
        [](DamagedLibrary* v) {
          Elf64_Phdr* dynamic = v->Segment(PT_DYNAMIC);
          dynamic->p_filesz = dynamic->p_memsz = 32;
        },
        "has no end"}});
}

TEST_F(ElfDamage, of_relative_relocations_is_refused) {
  if (!DamagedLibrary(good_).Has(kRelrEntry))
    GTEST_SKIP() << "this machine's linker makes no such table";
  ExpectRefused(good_, {{"DT_RELRENT missing", RemoveEntry(kRelrEntry), kHalf},
                        {"relative relocations of 9 bytes", SetValue(kRelrEntry, 9),
                         "expected entries of 8 bytes"}});
}

TEST_F(ElfDamage, of_hash_tables_is_refused) {
  const char* const kHash = "its hash table has no end or is outside of the loaded segments";
  const auto older = [](uint64_t word, uint32_t value) {
    return [=](DamagedLibrary* v) { *v->Table<uint32_t>(DT_HASH, word) = value; };
  };
  const auto newer = [](uint64_t word, uint32_t value) {
    return [=](DamagedLibrary* v) { *v->Table<uint32_t>(DT_GNU_HASH, word) = value; };
  };
  ExpectRefused(good_, {{"no bucket", older(0, 0), kHash},
                        {"bucket of no symbol", older(2, 1u << 20), kHash},
                        {"chain in a circle",
                         [](DamagedLibrary* v) {
                           auto* table = v->Table<uint32_t>(DT_HASH);
                           uint32_t* bucket = table + 2;
                           while (*bucket == 0) ++bucket;
                           table[2 + table[0] + *bucket] = *bucket;
                         },
                         kHash},
                        {"no bucket in the newer one", newer(0, 0), kHash},
                        {"buckets without end", newer(0, 1u << 30), kHash},
                        {"three words of a filter", newer(2, 3), kHash},
                        {"no filter", newer(2, 0), kHash},
                        {"first symbol after the last", newer(1, 1u << 20), kHash},
                        {"chain without end",
                         [](DamagedLibrary* v) {
                           auto* table = v->Table<uint32_t>(DT_GNU_HASH);
                           const uint32_t symbols = v->Table<uint32_t>(DT_HASH)[1];
                           uint32_t* chains = table + 4 + 2 * table[2] + table[0];
                           chains[symbols - 1 - table[1]] &= ~1u;
                         },
                         kHash}});
}

TEST_F(ElfDamage, of_symbols_and_versions_is_refused) {
  // The first undefined symbol is one that the library needs, the last symbol is one of its
  // functions.
  const auto needed = [](DamagedLibrary* v) {
    uint64_t index = 1;  // symbols of sections may come first
    while (v->Table<Elf64_Sym>(DT_SYMTAB, index)->st_shndx != SHN_UNDEF) ++index;
    return v->Table<Elf64_Sym>(DT_SYMTAB, index);
  };
  const auto last = [](DamagedLibrary* v) {
    return v->Table<Elf64_Sym>(DT_SYMTAB, v->Table<uint32_t>(DT_HASH)[1] - 1);
  };
  const char* const kVersions = "the symbols' versions are outside of the loaded segments";
  ExpectRefused(
      good_,
      {{"name outside",
        [](DamagedLibrary* v) { v->Table<Elf64_Sym>(DT_SYMTAB, 1)->st_name = 1u << 30; },
        "has a name that is outside of the string table"},
       {"value of a symbol that is elsewhere",
        [=](DamagedLibrary* v) { needed(v)->st_value = 4096; }, "is not defined, but has a value"},
       {"visibility of a symbol that is elsewhere",
        [=](DamagedLibrary* v) { needed(v)->st_other = STV_HIDDEN; },
        "is not defined, but has a value or belongs to the library"},
       {"function in the data",
        [=](DamagedLibrary* v) { last(v)->st_value = v->Segment(PT_DYNAMIC)->p_vaddr; },
        "is not code"},
       {"function nowhere", [=](DamagedLibrary* v) { last(v)->st_value = uint64_t{1} << 40; },
        "is outside of the loaded segments"},
       {"thread-local symbol in a library without such memory",
        [=](DamagedLibrary* v) { last(v)->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_TLS); },
        "is outside of the thread-local memory"},
       {"version that is nowhere",
        [](DamagedLibrary* v) { *v->Table<uint16_t>(DT_VERSYM, 1) = 99; }, "symbol 1 of "},
       {"versions elsewhere", [](DamagedLibrary* v) { v->Value(DT_VERSYM) = uint64_t{1} << 40; },
        kVersions},
       {"needed versions elsewhere",
        [](DamagedLibrary* v) { v->Value(DT_VERNEED) = uint64_t{1} << 40; }, kVersions},
       {"chain of libraries",
        [](DamagedLibrary* v) { v->Table<Elf64_Verneed>(DT_VERNEED)->vn_next = 1 << 30; },
        kVersions},
       {"chain of versions",
        [](DamagedLibrary* v) { v->Table<Elf64_Verneed>(DT_VERNEED)->vn_aux = 1 << 30; },
        kVersions},
       {"a library without versions",
        [](DamagedLibrary* v) { v->Table<Elf64_Verneed>(DT_VERNEED)->vn_cnt = 0; }, kVersions},
       {"versions of a library that is not needed",
        [](DamagedLibrary* v) { v->Table<Elf64_Verneed>(DT_VERNEED)->vn_file += 1; },
        "needs versions of a library that is not among its dependencies"},
       {"versions without a table of them",
        [](DamagedLibrary* v) {
          v->Entry(DT_VERNEED)->d_tag = 0x6ffff123;
          v->Entry(DT_VERNEEDNUM)->d_tag = 0x6ffff124;
        },
        "its symbols have versions, but no version is defined or needed"}});
}

#if defined(__x86_64__)
TEST_F(ElfDamage, of_relocations_is_refused) {
  const char* const kInvalidTarget = "has an invalid target";
  const auto address = [](DamagedLibrary* v) { return v->Relocation(DT_RELA, R_X86_64_GLOB_DAT); };
  const auto function = [](DamagedLibrary* v) {
    return v->Relocation(DT_JMPREL, R_X86_64_JUMP_SLOT);
  };
  const auto relative = [](DamagedLibrary* v) { return v->Table<uint64_t>(kRelr); };
  ExpectRefused(
      good_,
      {{"into nothing", [=](DamagedLibrary* v) { address(v)->r_offset = uint64_t{1} << 40; },
        kInvalidTarget},
       {"into code", [=](DamagedLibrary* v) { address(v)->r_offset = v->Value(DT_INIT); },
        kInvalidTarget},
       {"into another one's place",
        [=](DamagedLibrary* v) { address(v)->r_offset = function(v)->r_offset + 4; },
        "two relocations write to one address"},
       {"of a symbol that is not there",
        [=](DamagedLibrary* v) { address(v)->r_info |= uint64_t{1} << 50; }, kInvalidTarget},
       {"of no symbol",
        [=](DamagedLibrary* v) { address(v)->r_info = ELF64_R_INFO(0, R_X86_64_GLOB_DAT); },
        kInvalidTarget},
       {"a copy, as executables have",
        [=](DamagedLibrary* v) { address(v)->r_info = ELF64_R_INFO(1, R_X86_64_COPY); },
        kInvalidTarget},
       {"of memory per thread, without any",
        [=](DamagedLibrary* v) { address(v)->r_info = ELF64_R_INFO(0, R_X86_64_DTPMOD64); },
        kInvalidTarget},
       {"of a function that finds one, which is no code",
        [=](DamagedLibrary* v) {
          address(v)->r_info = ELF64_R_INFO(0, R_X86_64_IRELATIVE);
          address(v)->r_addend = 0;
        },
        kInvalidTarget},
       {"of data among those of functions",
        [=](DamagedLibrary* v) { function(v)->r_info = ELF64_R_INFO(1, R_X86_64_64); },
        kInvalidTarget},
       {"place of a function that is not bound yet",
        [=](DamagedLibrary* v) { *v->At<uint64_t>(function(v)->r_offset) = 0; }, kInvalidTarget},
       {"the loader's own place", [](DamagedLibrary* v) { *v->Table<uint64_t>(DT_PLTGOT, 1) = 7; },
        "the table of functions is in use"},
       {"relative ones into nothing",
        [=](DamagedLibrary* v) { relative(v)[0] = uint64_t{1} << 40; },
        "a relative relocation has an invalid target"},
       {"a mask before the first address", [=](DamagedLibrary* v) { relative(v)[0] = 3; },
        "a relative relocation has an invalid target"},
       {"initialiser that is no code",
        [](DamagedLibrary* v) {
          *v->Table<uint64_t>(DT_INIT_ARRAY) = v->Segment(PT_DYNAMIC)->p_vaddr;
        },
        "initialiser 0 is not code"},
       {"finaliser without a relocation",
        [](DamagedLibrary* v) { v->Value(DT_FINI_ARRAY) = v->Segment(PT_DYNAMIC)->p_vaddr; },
        "finaliser 0 is not code"}});
}
#endif

// A small change of an address or size still refers to bytes of the library; the section headers
// contain the original value.
TEST_F(ElfDamage, of_addresses_is_detected_by_the_sections) {
  ASSERT_EQ(DamagedLibrary(good_).Damage(), "");
  for (const int64_t tag :
       {int64_t{DT_SYMTAB}, int64_t{DT_STRTAB}, int64_t{DT_STRSZ}, int64_t{DT_HASH},
        int64_t{DT_GNU_HASH}, int64_t{DT_VERSYM}, int64_t{DT_VERNEED}, int64_t{DT_INIT_ARRAY},
        int64_t{DT_FINI_ARRAYSZ}}) {
    DamagedLibrary victim(good_);
    victim.Value(tag) += 8;
    EXPECT_THAT(victim.Damage(), HasSubstr("is at another address than its section")) << tag;
  }
  DamagedLibrary counted(ReadBytes(Library("elementwise")));
  counted.Value(DT_RELACOUNT) += 1;
  EXPECT_THAT(counted.Damage(), HasSubstr("it has fewer relative relocations than it declares"));
}

// Damages the table of versions that the library itself defines.
TEST_F(ElfDamage, of_defined_versions_is_refused) {
  const char* const kVersions = "the symbols' versions are outside of the loaded segments";
  ExpectRefused(
      ReadBytes(LibraryPath()),
      {{"chain", [](DamagedLibrary* v) { v->Table<Elf64_Verdef>(DT_VERDEF)->vd_next = 1 << 30; },
        kVersions},
       {"end too soon", [](DamagedLibrary* v) { v->Table<Elf64_Verdef>(DT_VERDEF)->vd_next = 0; },
        kVersions},
       {"name", [](DamagedLibrary* v) { v->Table<Elf64_Verdef>(DT_VERDEF)->vd_aux = 1 << 30; },
        kVersions},
       {"count", [](DamagedLibrary* v) { v->Value(DT_VERDEFNUM) = 0; }, kVersions}});
}

}  // namespace
}  // namespace deputy::elf_damage_test
