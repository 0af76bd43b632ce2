// SPDX-License-Identifier: Apache-2.0
//
// Checks relocations. The loader does not check them: it writes to their addresses, calls the
// resolver functions that they name, and aborts the process if one has a type that its position in
// the table does not permit.
#include "core/plugin/elf_relocations.h"

#include <algorithm>
#include <vector>

namespace deputy {
namespace {

#if defined(__aarch64__) && !defined(R_AARCH64_IRELATIVE)  // missing in musl's header
constexpr uint32_t R_AARCH64_IRELATIVE = 1032;
#elif defined(__riscv) && !defined(R_RISCV_IRELATIVE)  // missing in older headers
constexpr uint32_t R_RISCV_IRELATIVE = 58;
#endif

// Machine-independent classification of relocation types.
enum class Kind {
  kOther,     // a type that dlopen knows, or rejects with a message
  kNone,      // writes nothing
  kAddress,   // writes a symbol's address
  kFunction,  // writes a symbol's address, possibly at the first call
  kRelative,  // writes an address in the library
  kResolver,  // writes the result of a resolver function of the library
  kThread,    // writes an offset or module of thread-local memory
  kThreadDescriptor,
  kCopy,  // copies a symbol's bytes; valid in executables only
};

Kind KindOf(uint32_t type) {
#if defined(__x86_64__)
  switch (type) {
    case R_X86_64_NONE:
      return Kind::kNone;
    case R_X86_64_64:
    case R_X86_64_GLOB_DAT:
      return Kind::kAddress;
    case R_X86_64_JUMP_SLOT:
      return Kind::kFunction;
    case R_X86_64_RELATIVE:
      return Kind::kRelative;
    case R_X86_64_IRELATIVE:
      return Kind::kResolver;
    case R_X86_64_DTPMOD64:
    case R_X86_64_DTPOFF64:
    case R_X86_64_TPOFF64:
      return Kind::kThread;
    case R_X86_64_TLSDESC:
      return Kind::kThreadDescriptor;
    case R_X86_64_COPY:
      return Kind::kCopy;
    default:
      return Kind::kOther;
  }
#elif defined(__aarch64__)
  switch (type) {
    case R_AARCH64_NONE:
      return Kind::kNone;
    case R_AARCH64_ABS64:
    case R_AARCH64_GLOB_DAT:
      return Kind::kAddress;
    case R_AARCH64_JUMP_SLOT:
      return Kind::kFunction;
    case R_AARCH64_RELATIVE:
      return Kind::kRelative;
    case R_AARCH64_IRELATIVE:
      return Kind::kResolver;
    case R_AARCH64_TLS_DTPMOD:
    case R_AARCH64_TLS_DTPREL:
    case R_AARCH64_TLS_TPREL:
      return Kind::kThread;
    case R_AARCH64_TLSDESC:
      return Kind::kThreadDescriptor;
    case R_AARCH64_COPY:
      return Kind::kCopy;
    default:
      return Kind::kOther;
  }
#elif defined(__arm__)
  switch (type) {
    case R_ARM_NONE:
      return Kind::kNone;
    case R_ARM_ABS32:
    case R_ARM_GLOB_DAT:
      return Kind::kAddress;
    case R_ARM_JUMP_SLOT:
      return Kind::kFunction;
    case R_ARM_RELATIVE:
      return Kind::kRelative;
    case R_ARM_IRELATIVE:
      return Kind::kResolver;
    case R_ARM_TLS_DTPMOD32:
    case R_ARM_TLS_DTPOFF32:
    case R_ARM_TLS_TPOFF32:
      return Kind::kThread;
    case R_ARM_TLS_DESC:
      return Kind::kThreadDescriptor;
    case R_ARM_COPY:
      return Kind::kCopy;
    default:
      return Kind::kOther;
  }
#elif defined(__riscv)
  switch (type) {
    case R_RISCV_NONE:
      return Kind::kNone;
    case R_RISCV_64:
      return Kind::kAddress;
    case R_RISCV_JUMP_SLOT:
      return Kind::kFunction;
    case R_RISCV_RELATIVE:
      return Kind::kRelative;
    case R_RISCV_IRELATIVE:
      return Kind::kResolver;
    case R_RISCV_TLS_DTPMOD64:
    case R_RISCV_TLS_DTPREL64:
    case R_RISCV_TLS_TPREL64:
      return Kind::kThread;
    case R_RISCV_COPY:
      return Kind::kCopy;
    default:
      return Kind::kOther;
  }
#endif
}

// Number of bytes that a relocation writes; for kOther a lower bound.
uint32_t BytesOf(Kind kind) {
  return kind == Kind::kThreadDescriptor ? 2 * kElfWord : kind == Kind::kOther ? 1 : kElfWord;
}

uint32_t TypeOf(const ElfRelocation& relocation) {
  return kElfWord == 8 ? ELF64_R_TYPE(relocation.r_info) : ELF32_R_TYPE(relocation.r_info);
}
uint64_t SymbolOf(const ElfRelocation& relocation) {
  const uint64_t info = relocation.r_info;
  return kElfWord == 8 ? ELF64_R_SYM(info) : ELF32_R_SYM(info);
}

// The words of the table of functions that the loader fills. Those before them belong to the
// linker.
#if defined(__riscv)
constexpr uint64_t kLoaderWordsBegin = 1,
                   kLoaderWordsEnd = 2;  // the linker fills the first with -1
#else
constexpr uint64_t kLoaderWordsBegin = 1, kLoaderWordsEnd = 3;
#endif

class RelocationReader {
 public:
  RelocationReader(const ElfDynamic& dynamic, const ElfSymbols& symbols)
      : dynamic_(dynamic), image_(dynamic.image()), symbols_(symbols) {}

  std::string Read() {
    std::string problem =
        ReadTable(kTagRelocations, kTagRelocationsSize, &RelocationReader::CheckKind);
    if (problem.empty()) {
      problem = ReadTable(DT_JMPREL, DT_PLTRELSZ, &RelocationReader::CheckFunctionKind);
    }
    if (problem.empty()) problem = CheckRelativeCount();
    if (problem.empty()) problem = ReadRelative();
    if (problem.empty()) problem = SortPlaces();
    if (problem.empty()) problem = CheckFunctionTable();
    if (problem.empty()) problem = CheckCalls(DT_INIT_ARRAY, DT_INIT_ARRAYSZ);
    if (problem.empty()) problem = CheckCalls(DT_FINI_ARRAY, DT_FINI_ARRAYSZ);
    return problem;
  }

 private:
  using Check = bool (RelocationReader::*)(const ElfRelocation&, Kind) const;

  // A location that the loader writes, and whether it then holds the address of code.
  struct Place {
    uint64_t address = 0;
    uint32_t bytes = 0;
    bool is_code = false;
  };

  std::string ReadTable(int64_t address, int64_t size, Check check);
  bool IsSound(const ElfRelocation& relocation, Kind kind) const;
  bool WritesCode(const ElfRelocation& relocation, Kind kind) const;
  bool CheckKind(const ElfRelocation& relocation, Kind kind) const;
  bool CheckFunctionKind(const ElfRelocation& relocation, Kind kind) const;
  std::string CheckRelativeCount() const;
  std::string ReadRelative();
  bool AddRelative(uint64_t address);
  std::string SortPlaces();
  std::string CheckFunctionTable() const;
  std::string CheckCalls(int64_t address, int64_t size) const;

  // Reads an address at an offset in the file.
  uint64_t Word(uint64_t offset) const { return image_.At<ElfW(Addr)>(offset); }
  uint64_t Addend(const ElfRelocation& relocation) const;
  bool IsCode(uint64_t address) const { return image_.InMemory(address, 1, PF_X); }
  // Returns the permission that memory needs for relocations: libraries with a TEXTREL tag may have
  // relocations in read-only code.
  unsigned Writable() const {
    const bool code_too = dynamic_.Has(DT_TEXTREL) || (dynamic_.Value(DT_FLAGS) & DF_TEXTREL) != 0;
    return code_too ? 0 : PF_W;
  }

  const ElfDynamic& dynamic_;
  const ElfImage& image_;
  const ElfSymbols& symbols_;
  // Locations that relocations write; sorted and disjoint after SortPlaces.
  std::vector<Place> places_;
};

// ---- Relocations of the tables ------------------------------------------------------------------

std::string RelocationReader::ReadTable(int64_t address, int64_t size, Check check) {
  if (!dynamic_.Has(address)) return "";
  uint64_t offset = 0;
  uint64_t bytes = dynamic_.Value(size);
#if defined(__riscv)
  // The linker includes the relocations of functions (DT_JMPREL), which follow the table, in its
  // size. As in the loader, equal ends show this.
  const uint64_t functions = dynamic_.Value(DT_PLTRELSZ);
  if (address == kTagRelocations && dynamic_.Has(DT_JMPREL) && functions <= bytes &&
      dynamic_.Value(address) + bytes == dynamic_.Value(DT_JMPREL) + functions) {
    bytes -= functions;
  }
#endif
  if (!image_.Locate(dynamic_.Value(address), bytes, &offset)) return "is damaged";
  const uint64_t count = bytes / sizeof(ElfRelocation);
  for (uint64_t i = 0; i < count; ++i) {
    const auto relocation = image_.At<ElfRelocation>(offset + i * sizeof(ElfRelocation));
    const Kind kind = KindOf(TypeOf(relocation));
    if (!IsSound(relocation, kind) || !(this->*check)(relocation, kind)) {
      return ElfText("is damaged: relocation %llu of %llu has an invalid target",
                     static_cast<unsigned long long>(i), static_cast<unsigned long long>(count));
    }
    if (kind != Kind::kNone) {
      places_.push_back({relocation.r_offset, BytesOf(kind), WritesCode(relocation, kind)});
    }
  }
  return "";
}

uint64_t RelocationReader::Addend(const ElfRelocation& relocation) const {
#if defined(__arm__)
  uint64_t offset = 0;
  return image_.Locate(relocation.r_offset, kElfWord, &offset) ? Word(offset) : 0;
#else
  return static_cast<uint64_t>(relocation.r_addend);
#endif
}

bool RelocationReader::WritesCode(const ElfRelocation& relocation, Kind kind) const {
  if (kind != Kind::kAddress && kind != Kind::kFunction) {
    return IsCode(Addend(relocation));
  }
  const ElfW(Sym) symbol = symbols_.symbol(SymbolOf(relocation));
  return symbol.st_shndx == SHN_UNDEF || IsCode(symbol.st_value);
}

// Checks the relocation's target and its symbol.
bool RelocationReader::IsSound(const ElfRelocation& relocation, Kind kind) const {
  if (kind == Kind::kNone) return true;
  const uint64_t symbol = SymbolOf(relocation);
  if (!image_.InMemory(relocation.r_offset, BytesOf(kind), Writable()) ||
      symbol >= std::max<uint64_t>(symbols_.count(), 1)) {
    return false;
  }
  if (symbol == 0) return true;
  // A symbol that is local must be defined.
  const ElfW(Sym) named = symbols_.symbol(symbol);
  return named.st_shndx != SHN_UNDEF || ELF32_ST_BIND(named.st_info) != STB_LOCAL;
}

bool RelocationReader::CheckKind(const ElfRelocation& relocation, Kind kind) const {
  const uint64_t symbol = SymbolOf(relocation);
  const uint64_t addend = Addend(relocation);
  switch (kind) {
    case Kind::kCopy:
      return false;
    case Kind::kAddress:
    case Kind::kFunction:
      return symbol != 0;
    case Kind::kRelative:
      return symbol == 0 && image_.IsNear(addend);
    case Kind::kResolver:
      return symbol == 0 && IsCode(addend);
    case Kind::kThread:
    case Kind::kThreadDescriptor:
      return symbol != 0 ? ELF32_ST_TYPE(symbols_.symbol(symbol).st_info) == STT_TLS
                         : image_.FindSegment(PT_TLS) != nullptr;
    default:
      return true;
  }
}

// Checks a function relocation. It may be resolved at the first call; until then the location holds
// the address of the resolving code, which must be in the file.
bool RelocationReader::CheckFunctionKind(const ElfRelocation& relocation, Kind kind) const {
  const bool is_possible = kind == Kind::kFunction || kind == Kind::kResolver ||
                           kind == Kind::kThreadDescriptor || kind == Kind::kNone;
  if (!is_possible || !CheckKind(relocation, kind)) return false;
  uint64_t offset = 0;
  if (kind != Kind::kFunction || !dynamic_.IsLazy()) return true;
  return image_.Locate(relocation.r_offset, kElfWord, &offset) && IsCode(Word(offset));
}

// Checks the number of relative relocations that the library declares: the loader assumes that the
// first ones are relative, and aborts the process otherwise.
std::string RelocationReader::CheckRelativeCount() const {
  const uint64_t relative = dynamic_.Value(kTagRelativeCount);
  uint64_t offset = 0;
  if (relative == 0) return "";
  if (relative > dynamic_.Value(kTagRelocationsSize) / sizeof(ElfRelocation) ||
      !image_.Locate(dynamic_.Value(kTagRelocations), dynamic_.Value(kTagRelocationsSize),
                     &offset)) {
    return "is damaged: it has fewer relocations than it declares";
  }
  for (uint64_t i = 0; i < relative; ++i) {
    const auto relocation = image_.At<ElfRelocation>(offset + i * sizeof(ElfRelocation));
    if (KindOf(TypeOf(relocation)) != Kind::kRelative) {
      return "is damaged: it has fewer relative relocations than it declares";
    }
  }
  return "";
}

// ---- Relative relocations as a list of addresses and bit masks ----------------------------------

std::string RelocationReader::ReadRelative() {
  if (!dynamic_.Has(kTagRelr)) return "";
  constexpr uint64_t kMaskBits = 8 * kElfWord - 1;
  uint64_t offset = 0, next = 0;
  bool sound = image_.Locate(dynamic_.Value(kTagRelr), dynamic_.Value(kTagRelrSize), &offset);
  for (uint64_t i = 0; sound && i < dynamic_.Value(kTagRelrSize) / kElfWord; ++i) {
    const uint64_t entry = Word(offset + i * kElfWord);
    if ((entry & 1) == 0) {
      sound = AddRelative(entry);
      next = entry + kElfWord;
      continue;
    }
    sound = next != 0;  // an entry with a mask needs a preceding address
    for (uint64_t bit = 0; sound && bit < kMaskBits; ++bit) {
      if ((entry >> (bit + 1) & 1) != 0) sound = AddRelative(next + bit * kElfWord);
    }
    next += kMaskBits * kElfWord;
  }
  return sound ? "" : "is damaged: a relative relocation has an invalid target";
}

// Adds a relative relocation, whose addend is stored at the address to which the sum is written.
bool RelocationReader::AddRelative(uint64_t address) {
  uint64_t offset = 0;
  if (!image_.InMemory(address, kElfWord, Writable()) ||
      !image_.Locate(address, kElfWord, &offset)) {
    return false;
  }
  const uint64_t value = Word(offset);
  places_.push_back({address, kElfWord, IsCode(value)});
  return image_.IsNear(value);
}

// Sorts the locations and checks that none overlap, since each relocation must have its own target.
std::string RelocationReader::SortPlaces() {
  std::sort(places_.begin(), places_.end(),
            [](const Place& a, const Place& b) { return a.address < b.address; });
  const auto overlap = [](const Place& a, const Place& b) {
    return b.address - a.address < a.bytes;
  };
  const bool sound = std::adjacent_find(places_.begin(), places_.end(), overlap) == places_.end();
  return sound ? "" : "is damaged: two relocations write to one address";
}

// ---- Functions that the loader calls ------------------------------------------------------------

// Checks the table of functions. The library must leave the entries 0 that the loader fills.
std::string RelocationReader::CheckFunctionTable() const {
  if (!dynamic_.Has(DT_JMPREL) || !dynamic_.IsLazy()) return "";
  const uint64_t table = dynamic_.Value(DT_PLTGOT);
  uint64_t offset = 0;
  if (!dynamic_.Has(DT_PLTGOT) ||
      !image_.InMemory(table, kLoaderWordsEnd * kElfWord, PF_R | PF_W) ||
      !image_.Locate(table, kLoaderWordsEnd * kElfWord, &offset)) {
    return "is damaged: the table of functions is outside of the loaded segments";
  }
  bool is_free = true;
  for (uint64_t i = kLoaderWordsBegin; i < kLoaderWordsEnd; ++i) {
    is_free = is_free && Word(offset + i * kElfWord) == 0;
  }
  return is_free ? "" : "is damaged: the table of functions is in use";
}

std::string RelocationReader::CheckCalls(int64_t address, int64_t size) const {
  for (uint64_t at = 0; at < dynamic_.Value(size); at += kElfWord) {
    const uint64_t wanted = dynamic_.Value(address) + at;
    const auto found =
        std::lower_bound(places_.begin(), places_.end(), wanted,
                         [](const Place& place, uint64_t a) { return place.address < a; });
    if (found == places_.end() || found->address != wanted || !found->is_code) {
      return ElfText("is damaged: %s %llu is not code",
                     address == DT_INIT_ARRAY ? "initialiser" : "finaliser",
                     static_cast<unsigned long long>(at / kElfWord));
    }
  }
  return "";
}

}  // namespace

std::string CheckElfRelocations(const ElfDynamic& dynamic, const ElfSymbols& symbols) {
  return RelocationReader(dynamic, symbols).Read();
}

}  // namespace deputy
