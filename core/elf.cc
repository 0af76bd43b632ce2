// SPDX-License-Identifier: Apache-2.0
//
// What is checked is what the dynamic loader relies on: segments and tables lie in the file and in
// each other, names end inside the string table, relocations write to memory of the library. Where
// there are section headers, they are held against the segments, too: that finds a segment whose
// header was damaged.
#include "core/elf.h"

#include <elf.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <map>
#include <vector>

namespace deputy {
namespace {

#if defined(__x86_64__)
constexpr unsigned kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kMachine = EM_AARCH64;
#else
#error "the ELF number of this machine is missing"
#endif

// No machine has smaller pages, and the loader refuses segments that are not aligned to pages.
constexpr uint64_t kSmallestPage = 4096;
// More would be no library but an attack on the time that reading takes.
constexpr uint64_t kMaxSymbols = uint64_t{1} << 28;

std::string Text(const char* format, ...) __attribute__((format(printf, 1, 2)));
std::string Text(const char* format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  return text;
}

std::string MachineName(unsigned machine) {
  switch (machine) {
    case EM_386:
      return "x86";
    case EM_X86_64:
      return "x86-64";
    case EM_ARM:
      return "ARM";
    case EM_AARCH64:
      return "AArch64";
    case EM_MIPS:
      return "MIPS";
    case EM_PPC64:
      return "POWER";
    case EM_S390:
      return "S/390";
    case EM_RISCV:
      return "RISC-V";
    case 164:  // EM_HEXAGON, which older headers lack
      return "Hexagon";
    default:
      return Text("machine %u", machine);
  }
}

std::string PlatformName(unsigned machine, unsigned elf_class, unsigned data) {
  return Text("%s (%s, %s)", MachineName(machine).c_str(),
              elf_class == ELFCLASS64 ? "64-bit" : "32-bit",
              data == ELFDATA2LSB ? "little-endian" : "big-endian");
}

std::string TypeName(unsigned type) {
  switch (type) {
    case ET_REL:
      return "object file";
    case ET_EXEC:
      return "executable";
    case ET_CORE:
      return "core dump";
    default:
      return Text("ELF type %u", type);
  }
}

// One step after the other, each relying on those before; the first one that fails says why.
class Reader {
 public:
  explicit Reader(std::span<const uint8_t> file) : file_(file) {}

  std::string Read(const std::function<void(const ElfSymbol&)>& visit) {
    (void)(ReadHeader() && ReadSegments() && ReadSections() && ReadDynamic() && CheckTables() &&
           CheckStrings() && CheckRelocations() && VisitSymbols(visit));
    return problem_;
  }

 private:
  bool Problem(std::string text) {
    problem_ = std::move(text);
    return false;
  }

  // Whether the file holds `size` bytes at `offset`.
  bool Holds(uint64_t offset, uint64_t size) const {
    return offset <= file_.size() && size <= file_.size() - offset;
  }

  bool ExpectHeld(const char* what, uint64_t offset, uint64_t size) {
    if (Holds(offset, size)) return true;
    return Problem(Text("is truncated: %s needs %llu bytes from byte %llu on, the file has %zu",
                        what, static_cast<unsigned long long>(size),
                        static_cast<unsigned long long>(offset), file_.size()));
  }

  // Copies, since nothing in a file has to be aligned. The caller has checked the bounds.
  template <typename T>
  T At(uint64_t offset) const {
    T value;
    std::memcpy(&value, file_.data() + offset, sizeof(value));
    return value;
  }

  bool ReadHeader() {
    if (file_.empty()) return Problem("is empty");
    if (file_.size() < 4 || std::memcmp(file_.data(), ELFMAG, SELFMAG) != 0) {
      std::string found;
      for (size_t i = 0; i < std::min<size_t>(4, file_.size()); ++i) {
        found += Text(" %02x", file_[i]);
      }
      return Problem("is no ELF file: expected it to begin with 7f 45 4c 46, found" + found);
    }
    if (!ExpectHeld("the ELF header", 0, sizeof(header_)) || !CheckPlatform()) return false;
    header_ = At<Elf64_Ehdr>(0);
    if (header_.e_ident[EI_VERSION] != EV_CURRENT || header_.e_version != EV_CURRENT) {
      return Problem(Text("is damaged: expected ELF version 1, found %u", header_.e_version));
    }
    if (header_.e_type != ET_DYN) {
      return Problem(Text("is no shared object: expected ELF type %d (shared object), found %s",
                          ET_DYN, TypeName(header_.e_type).c_str()));
    }
    return true;
  }

  // The machine is at the same place in files of either class, written in the file's byte order.
  bool CheckPlatform() {
    const unsigned elf_class = file_[EI_CLASS], data = file_[EI_DATA];
    if (elf_class != ELFCLASS32 && elf_class != ELFCLASS64) {
      return Problem(Text("is damaged: expected ELF class 1 or 2, found %u", elf_class));
    }
    if (data != ELFDATA2LSB && data != ELFDATA2MSB) {
      return Problem(Text("is damaged: expected ELF data encoding 1 or 2, found %u", data));
    }
    const size_t at = offsetof(Elf64_Ehdr, e_machine);
    const unsigned low = file_[data == ELFDATA2LSB ? at : at + 1];
    const unsigned high = file_[data == ELFDATA2LSB ? at + 1 : at];
    const unsigned machine = low | high << 8;
    if (elf_class == ELFCLASS64 && data == ELFDATA2LSB && machine == kMachine) return true;
    return Problem(Text("is built for another machine: expected %s, found %s",
                        PlatformName(kMachine, ELFCLASS64, ELFDATA2LSB).c_str(),
                        PlatformName(machine, elf_class, data).c_str()));
  }

  bool ReadSegments() {
    if (header_.e_phentsize != sizeof(Elf64_Phdr)) {
      return Problem(Text("is damaged: expected segment headers of %zu bytes, found %u",
                          sizeof(Elf64_Phdr), header_.e_phentsize));
    }
    const uint64_t bytes = uint64_t{header_.e_phnum} * sizeof(Elf64_Phdr);
    if (!ExpectHeld("the table of segments", header_.e_phoff, bytes)) return false;
    for (unsigned i = 0; i < header_.e_phnum; ++i) {
      segments_.push_back(At<Elf64_Phdr>(header_.e_phoff + i * sizeof(Elf64_Phdr)));
    }
    uint64_t end = 0;  // of the last one that is loaded
    for (size_t i = 0; i < segments_.size(); ++i) {
      if (segments_[i].p_type == PT_LOAD && !CheckLoad(i, &end)) return false;
    }
    if (end == 0) return Problem("is damaged: it has no segment to load");
    for (size_t i = 0; i < segments_.size(); ++i) {
      if (!CheckOther(i)) return false;
    }
    return true;
  }

  bool CheckLoad(size_t index, uint64_t* end) {
    const Elf64_Phdr& load = segments_[index];
    if (!ExpectHeld(Text("segment %zu", index).c_str(), load.p_offset, load.p_filesz)) return false;
    const uint64_t align = load.p_align;
    if (align < kSmallestPage || (align & (align - 1)) != 0 ||
        ((load.p_vaddr - load.p_offset) & (align - 1)) != 0) {
      return Problem(Text("is damaged: segment %zu is not aligned to pages", index));
    }
    if (load.p_memsz < load.p_filesz || load.p_memsz > UINT64_MAX - load.p_vaddr) {
      return Problem(Text("is damaged: segment %zu has the wrong size in memory", index));
    }
    if (load.p_vaddr < *end) {
      return Problem(Text("is damaged: segment %zu overlaps the one before", index));
    }
    *end = load.p_vaddr + load.p_memsz;
    page_ = std::max(page_, align);
    return true;
  }

  // What the loader reads or protects has to lie in what it loads.
  bool CheckOther(size_t index) {
    const Elf64_Phdr& segment = segments_[index];
    switch (segment.p_type) {
      case PT_DYNAMIC:
      case PT_NOTE:
      case PT_GNU_PROPERTY:
        if (segment.p_memsz == segment.p_filesz && IsWhereItSays(segment)) return true;
        break;
      case PT_TLS:
        if (segment.p_memsz < segment.p_filesz) break;
        if (segment.p_filesz == 0 || IsWhereItSays(segment)) return true;
        break;
      case PT_GNU_RELRO:
        // Up to the end of a page and no further: what follows must stay writable.
        if (segment.p_memsz - segment.p_filesz < page_ && IsWhereItSays(segment) &&
            InMemory(segment.p_vaddr, segment.p_memsz, PF_W)) {
          return true;
        }
        break;
      default:
        return true;
    }
    return Problem(Text("is damaged: segment %zu lies outside of what is loaded", index));
  }

  // A segment has an address and a place in the file, which a loaded one must bring together.
  bool IsWhereItSays(const Elf64_Phdr& segment) const {
    uint64_t offset = 0;
    return Locate(segment.p_vaddr, segment.p_filesz, &offset) && offset == segment.p_offset;
  }

  // Where in the file the bytes of an address range are. False if they are not all in one segment.
  bool Locate(uint64_t address, uint64_t size, uint64_t* out_offset) const {
    for (const Elf64_Phdr& load : segments_) {
      if (load.p_type != PT_LOAD || address < load.p_vaddr) continue;
      const uint64_t into = address - load.p_vaddr;
      if (into > load.p_filesz || size > load.p_filesz - into) continue;
      *out_offset = load.p_offset + into;
      return true;
    }
    return false;
  }

  // Whether an address range is in one segment that has all of `flags`. Whatever fills up its last
  // page counts, since the loader maps whole pages and relocates there.
  bool InMemory(uint64_t address, uint64_t size, unsigned flags) const {
    for (const Elf64_Phdr& load : segments_) {
      if (load.p_type != PT_LOAD || address < load.p_vaddr) continue;
      const uint64_t into = address - load.p_vaddr;
      const uint64_t room = load.p_memsz + (-(load.p_vaddr + load.p_memsz) & (kSmallestPage - 1));
      if (into <= room && size <= room - into && (load.p_flags & flags) == flags) return true;
    }
    return false;
  }

  bool ReadSections() {
    if (header_.e_shoff == 0 || header_.e_shnum == 0) return true;  // stripped to the bone
    if (header_.e_shentsize != sizeof(Elf64_Shdr)) {
      return Problem(Text("is damaged: expected section headers of %zu bytes, found %u",
                          sizeof(Elf64_Shdr), header_.e_shentsize));
    }
    const uint64_t bytes = uint64_t{header_.e_shnum} * sizeof(Elf64_Shdr);
    if (!ExpectHeld("the table of sections", header_.e_shoff, bytes)) return false;
    for (unsigned i = 0; i < header_.e_shnum; ++i) {
      const auto section = At<Elf64_Shdr>(header_.e_shoff + i * sizeof(Elf64_Shdr));
      if ((section.sh_flags & SHF_ALLOC) != 0 && !SectionIsLoaded(section)) {
        return Problem(Text("is damaged: section %u lies outside of what is loaded", i));
      }
      if (section.sh_type == SHT_DYNSYM) symbol_count_ = section.sh_size / sizeof(Elf64_Sym);
    }
    return true;
  }

  bool SectionIsLoaded(const Elf64_Shdr& section) const {
    unsigned flags = PF_R;
    if ((section.sh_flags & SHF_WRITE) != 0) flags |= PF_W;
    if ((section.sh_flags & SHF_EXECINSTR) != 0) flags |= PF_X;
    if (section.sh_type == SHT_NOBITS) {
      // Thread-local zeros have addresses that other sections use, too.
      return (section.sh_flags & SHF_TLS) != 0 || InMemory(section.sh_addr, section.sh_size, flags);
    }
    uint64_t offset = 0;
    return Locate(section.sh_addr, section.sh_size, &offset) && offset == section.sh_offset &&
           InMemory(section.sh_addr, section.sh_size, flags);
  }

  bool ReadDynamic() {
    const auto is_dynamic = [](const Elf64_Phdr& segment) { return segment.p_type == PT_DYNAMIC; };
    const auto found = std::find_if(segments_.begin(), segments_.end(), is_dynamic);
    if (found == segments_.end()) return Problem("is damaged: it has no dynamic segment");
    uint64_t offset = 0;
    if (!Locate(found->p_vaddr, found->p_filesz, &offset)) {
      return Problem("is damaged: the dynamic segment is not loaded");
    }
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= found->p_filesz; at += sizeof(Elf64_Dyn)) {
      const auto entry = At<Elf64_Dyn>(offset + at);
      if (entry.d_tag == DT_NULL) return true;
      dynamic_[entry.d_tag] = entry.d_un.d_val;
      const bool is_name = entry.d_tag == DT_NEEDED || entry.d_tag == DT_SONAME ||
                           entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH;
      if (is_name) names_.push_back(entry.d_un.d_val);
    }
    return Problem("is damaged: the dynamic segment has no end");
  }

  bool Has(int64_t tag) const { return dynamic_.find(tag) != dynamic_.end(); }
  uint64_t Value(int64_t tag) const {
    const auto found = dynamic_.find(tag);
    return found == dynamic_.end() ? 0 : found->second;
  }

  // The tables that the dynamic segment names by address and size.
  bool CheckTables() {
    struct Table {
      int64_t address, size;
      uint64_t entry;  // its size has to be a multiple of this
      const char* name;
    };
    static constexpr Table kTables[] = {
        {DT_STRTAB, DT_STRSZ, 1, "the string table"},
        {DT_RELA, DT_RELASZ, sizeof(Elf64_Rela), "the table of relocations"},
        {DT_JMPREL, DT_PLTRELSZ, sizeof(Elf64_Rela), "the table of function relocations"},
        {DT_INIT_ARRAY, DT_INIT_ARRAYSZ, 8, "the table of initialisers"},
        {DT_FINI_ARRAY, DT_FINI_ARRAYSZ, 8, "the table of finalisers"},
        {36 /* DT_RELR */, 35 /* DT_RELRSZ */, 8, "the table of relative relocations"},
    };
    uint64_t ignored;
    for (const Table& table : kTables) {
      if (!Has(table.address)) continue;
      const uint64_t size = Value(table.size);
      if (size % table.entry != 0 || !Locate(Value(table.address), size, &ignored)) {
        return Problem(Text("is damaged: %s lies outside of what is loaded", table.name));
      }
    }
    for (int64_t tag : {DT_INIT, DT_FINI}) {
      if (Has(tag) && !InMemory(Value(tag), 1, PF_X)) {
        return Problem("is damaged: its initialiser or finaliser is no code");
      }
    }
    if ((Value(DT_FLAGS_1) & DF_1_PIE) != 0) {
      return Problem(
          Text("is no shared object: expected ELF type %d (shared object), found a "
               "position-independent executable",
               ET_DYN));
    }
    return CountSymbols();
  }

  // The number of symbols stands in a section header or in DT_HASH; with only a GNU hash table, the
  // symbol with the greatest hash chain is the last.
  bool CountSymbols() {
    uint64_t offset = 0;
    if (symbol_count_ == 0 && Has(DT_HASH)) {
      if (!Locate(Value(DT_HASH), 8, &offset)) return Problem("is damaged: no hash table");
      symbol_count_ = At<uint32_t>(offset + 4);
    }
    if (symbol_count_ == 0 && Has(DT_GNU_HASH) && !CountHashedSymbols()) {
      return Problem("is damaged: its hash table lies outside of what is loaded");
    }
    if (symbol_count_ > kMaxSymbols ||
        !Locate(Value(DT_SYMTAB), symbol_count_ * sizeof(Elf64_Sym), &symbols_)) {
      return Problem("is damaged: the symbol table lies outside of what is loaded");
    }
    if ((Has(DT_VERSYM) && !Locate(Value(DT_VERSYM), symbol_count_ * 2, &offset)) ||
        (Has(DT_VERNEED) && !Locate(Value(DT_VERNEED), sizeof(Elf64_Verneed), &offset)) ||
        (Has(DT_VERDEF) && !Locate(Value(DT_VERDEF), sizeof(Elf64_Verdef), &offset))) {
      return Problem("is damaged: the symbols' versions lie outside of what is loaded");
    }
    return true;
  }

  bool CountHashedSymbols() {
    struct {
      uint32_t buckets, first_symbol, bloom_words, shift;
    } head;
    uint64_t offset = 0, chain = 0;
    if (!Locate(Value(DT_GNU_HASH), sizeof(head), &offset)) return false;
    std::memcpy(&head, file_.data() + offset, sizeof(head));
    const uint64_t buckets = Value(DT_GNU_HASH) + sizeof(head) + uint64_t{head.bloom_words} * 8;
    if (!Locate(buckets, uint64_t{head.buckets} * 4, &offset)) return false;
    uint64_t last = 0;
    for (uint32_t i = 0; i < head.buckets; ++i) {
      last = std::max<uint64_t>(last, At<uint32_t>(offset + uint64_t{i} * 4));
    }
    symbol_count_ = std::max<uint64_t>(head.first_symbol, last + 1);
    if (last < head.first_symbol) return true;  // nothing is exported
    const uint64_t chains = buckets + uint64_t{head.buckets} * 4;
    for (;; ++last) {
      if (!Locate(chains + (last - head.first_symbol) * 4, 4, &chain)) return false;
      if ((At<uint32_t>(chain) & 1) != 0) break;
    }
    symbol_count_ = last + 1;
    return true;
  }

  // A name in the string table; false when it does not end there.
  bool Name(uint64_t index, std::string_view* out_name) const {
    const uint64_t size = Value(DT_STRSZ);
    if (index >= size) return false;
    const char* begin = reinterpret_cast<const char*>(file_.data()) + strings_ + index;
    const void* end = std::memchr(begin, 0, size - index);
    if (end == nullptr) return false;
    *out_name = std::string_view(begin, static_cast<size_t>(static_cast<const char*>(end) - begin));
    return true;
  }

  bool CheckStrings() {
    if (!Has(DT_STRTAB) || !Locate(Value(DT_STRTAB), Value(DT_STRSZ), &strings_)) {
      return Problem("is damaged: it has no string table");
    }
    std::string_view ignored;
    for (uint64_t name : names_) {
      if (!Name(name, &ignored)) {
        return Problem("is damaged: the name of a library lies outside of the string table");
      }
    }
    return true;
  }

  bool CheckRelocations() {
    for (const auto& [address, size] : {std::pair<int64_t, int64_t>{DT_RELA, DT_RELASZ},
                                        std::pair<int64_t, int64_t>{DT_JMPREL, DT_PLTRELSZ}}) {
      if (!Has(address)) continue;
      uint64_t offset = 0;
      if (!Locate(Value(address), Value(size), &offset)) return Problem("is damaged");
      const uint64_t count = Value(size) / sizeof(Elf64_Rela);
      for (uint64_t i = 0; i < count; ++i) {
        const auto relocation = At<Elf64_Rela>(offset + i * sizeof(Elf64_Rela));
        if (!InMemory(relocation.r_offset, 1, 0) ||
            ELF64_R_SYM(relocation.r_info) >= std::max<uint64_t>(symbol_count_, 1)) {
          return Problem(Text("is damaged: relocation %llu of %llu points nowhere",
                              static_cast<unsigned long long>(i),
                              static_cast<unsigned long long>(count)));
        }
      }
    }
    return true;
  }

  bool VisitSymbols(const std::function<void(const ElfSymbol&)>& visit) {
    for (uint64_t i = 1; i < symbol_count_; ++i) {
      const auto entry = At<Elf64_Sym>(symbols_ + i * sizeof(Elf64_Sym));
      const unsigned binding = ELF64_ST_BIND(entry.st_info);
      if (binding == STB_LOCAL) continue;
      ElfSymbol symbol;
      if (!Name(entry.st_name, &symbol.name)) {
        return Problem(Text("is damaged: the name of symbol %llu lies outside of the string table",
                            static_cast<unsigned long long>(i)));
      }
      symbol.defined = entry.st_shndx != SHN_UNDEF;
      symbol.weak = binding == STB_WEAK;
      visit(symbol);
    }
    return true;
  }

  std::span<const uint8_t> file_;
  std::string problem_;
  Elf64_Ehdr header_ = {};
  std::vector<Elf64_Phdr> segments_;
  std::map<int64_t, uint64_t> dynamic_;  // the last one of each tag, as for the loader
  std::vector<uint64_t> names_;
  uint64_t page_ = kSmallestPage;  // the largest that the file is made for
  uint64_t symbol_count_ = 0;
  uint64_t symbols_ = 0, strings_ = 0;  // offsets in the file
};

}  // namespace

std::string ReadSharedObject(std::span<const uint8_t> file,
                             const std::function<void(const ElfSymbol&)>& visit) {
  return Reader(file).Read(visit);
}

}  // namespace deputy
