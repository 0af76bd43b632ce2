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
#endif
}

// Number of bytes that a relocation writes; for kOther a lower bound.
uint32_t BytesOf(Kind kind) {
  return kind == Kind::kThreadDescriptor ? 16 : kind == Kind::kOther ? 1 : 8;
}

class RelocationReader {
 public:
  RelocationReader(const ElfDynamic& dynamic, const ElfSymbols& symbols)
      : dynamic_(dynamic), image_(dynamic.image()), symbols_(symbols) {}

  std::string Read() {
    std::string problem = ReadTable(DT_RELA, DT_RELASZ, &RelocationReader::CheckKind);
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
  using Check = bool (RelocationReader::*)(const Elf64_Rela&, Kind) const;

  // A location that the loader writes, and whether it then holds the address of code.
  struct Place {
    uint64_t address = 0;
    uint32_t bytes = 0;
    bool is_code = false;
  };

  std::string ReadTable(int64_t address, int64_t size, Check check);
  bool IsSound(const Elf64_Rela& relocation, Kind kind) const;
  bool WritesCode(const Elf64_Rela& relocation, Kind kind) const;
  bool CheckKind(const Elf64_Rela& relocation, Kind kind) const;
  bool CheckFunctionKind(const Elf64_Rela& relocation, Kind kind) const;
  std::string CheckRelativeCount() const;
  std::string ReadRelative();
  bool AddRelative(uint64_t address);
  std::string SortPlaces();
  std::string CheckFunctionTable() const;
  std::string CheckCalls(int64_t address, int64_t size) const;

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

// ---- Relocations with an addend -----------------------------------------------------------------

std::string RelocationReader::ReadTable(int64_t address, int64_t size, Check check) {
  if (!dynamic_.Has(address)) return "";
  uint64_t offset = 0;
  const uint64_t bytes = dynamic_.Value(size);
  if (!image_.Locate(dynamic_.Value(address), bytes, &offset)) return "is damaged";
  const uint64_t count = bytes / sizeof(Elf64_Rela);
  for (uint64_t i = 0; i < count; ++i) {
    const auto relocation = image_.At<Elf64_Rela>(offset + i * sizeof(Elf64_Rela));
    const Kind kind = KindOf(ELF64_R_TYPE(relocation.r_info));
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

bool RelocationReader::WritesCode(const Elf64_Rela& relocation, Kind kind) const {
  if (kind != Kind::kAddress && kind != Kind::kFunction) {
    return IsCode(static_cast<uint64_t>(relocation.r_addend));
  }
  const Elf64_Sym symbol = symbols_.symbol(ELF64_R_SYM(relocation.r_info));
  return symbol.st_shndx == SHN_UNDEF || IsCode(symbol.st_value);
}

// Checks the relocation's target and its symbol.
bool RelocationReader::IsSound(const Elf64_Rela& relocation, Kind kind) const {
  if (kind == Kind::kNone) return true;
  const uint64_t symbol = ELF64_R_SYM(relocation.r_info);
  if (!image_.InMemory(relocation.r_offset, BytesOf(kind), Writable()) ||
      symbol >= std::max<uint64_t>(symbols_.count(), 1)) {
    return false;
  }
  if (symbol == 0) return true;
  // A symbol that is local must be defined.
  const Elf64_Sym named = symbols_.symbol(symbol);
  return named.st_shndx != SHN_UNDEF || ELF64_ST_BIND(named.st_info) != STB_LOCAL;
}

bool RelocationReader::CheckKind(const Elf64_Rela& relocation, Kind kind) const {
  const uint64_t symbol = ELF64_R_SYM(relocation.r_info);
  const auto addend = static_cast<uint64_t>(relocation.r_addend);
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
      return symbol != 0 ? ELF64_ST_TYPE(symbols_.symbol(symbol).st_info) == STT_TLS
                         : image_.FindSegment(PT_TLS) != nullptr;
    default:
      return true;
  }
}

// Checks a function relocation. It may be resolved at the first call; until then the location holds
// the address of the resolving code, which must be in the file.
bool RelocationReader::CheckFunctionKind(const Elf64_Rela& relocation, Kind kind) const {
  const bool is_possible = kind == Kind::kFunction || kind == Kind::kResolver ||
                           kind == Kind::kThreadDescriptor || kind == Kind::kNone;
  if (!is_possible || !CheckKind(relocation, kind)) return false;
  uint64_t offset = 0;
  if (kind != Kind::kFunction || !dynamic_.IsLazy()) return true;
  return image_.Locate(relocation.r_offset, 8, &offset) && IsCode(image_.At<uint64_t>(offset));
}

// Checks the number of relative relocations that the library declares: the loader assumes that the
// first ones are relative, and aborts the process otherwise.
std::string RelocationReader::CheckRelativeCount() const {
  const uint64_t relative = dynamic_.Value(DT_RELACOUNT);
  uint64_t offset = 0;
  if (relative == 0) return "";
  if (relative > dynamic_.Value(DT_RELASZ) / sizeof(Elf64_Rela) ||
      !image_.Locate(dynamic_.Value(DT_RELA), dynamic_.Value(DT_RELASZ), &offset)) {
    return "is damaged: it has fewer relocations than it declares";
  }
  for (uint64_t i = 0; i < relative; ++i) {
    const auto relocation = image_.At<Elf64_Rela>(offset + i * sizeof(Elf64_Rela));
    if (KindOf(ELF64_R_TYPE(relocation.r_info)) != Kind::kRelative) {
      return "is damaged: it has fewer relative relocations than it declares";
    }
  }
  return "";
}

// ---- Relative relocations as a list of addresses and bit masks ----------------------------------

std::string RelocationReader::ReadRelative() {
  if (!dynamic_.Has(kTagRelr)) return "";
  uint64_t offset = 0, next = 0;
  bool sound = image_.Locate(dynamic_.Value(kTagRelr), dynamic_.Value(kTagRelrSize), &offset);
  for (uint64_t i = 0; sound && i < dynamic_.Value(kTagRelrSize) / 8; ++i) {
    const auto entry = image_.At<uint64_t>(offset + i * 8);
    if ((entry & 1) == 0) {
      sound = AddRelative(entry);
      next = entry + 8;
      continue;
    }
    sound = next != 0;  // an entry with a mask needs a preceding address
    for (uint64_t bit = 0; sound && bit < 63; ++bit) {
      if ((entry >> (bit + 1) & 1) != 0) sound = AddRelative(next + bit * 8);
    }
    next += 63 * 8;
  }
  return sound ? "" : "is damaged: a relative relocation has an invalid target";
}

// Adds a relative relocation, whose addend is stored at the address to which the sum is written.
bool RelocationReader::AddRelative(uint64_t address) {
  uint64_t offset = 0;
  if (!image_.InMemory(address, 8, Writable()) || !image_.Locate(address, 8, &offset)) return false;
  const auto value = image_.At<uint64_t>(offset);
  places_.push_back({address, 8, IsCode(value)});
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

// Checks the table of functions. The loader fills the second and third entry; the library must
// leave them 0.
std::string RelocationReader::CheckFunctionTable() const {
  if (!dynamic_.Has(DT_JMPREL) || !dynamic_.IsLazy()) return "";
  const uint64_t table = dynamic_.Value(DT_PLTGOT);
  uint64_t offset = 0;
  if (!dynamic_.Has(DT_PLTGOT) || !image_.InMemory(table, 24, PF_R | PF_W) ||
      !image_.Locate(table, 24, &offset)) {
    return "is damaged: the table of functions is outside of the loaded segments";
  }
  const bool is_free =
      image_.At<uint64_t>(offset + 8) == 0 && image_.At<uint64_t>(offset + 16) == 0;
  return is_free ? "" : "is damaged: the table of functions is in use";
}

std::string RelocationReader::CheckCalls(int64_t address, int64_t size) const {
  for (uint64_t at = 0; at < dynamic_.Value(size); at += 8) {
    const uint64_t wanted = dynamic_.Value(address) + at;
    const auto found =
        std::lower_bound(places_.begin(), places_.end(), wanted,
                         [](const Place& place, uint64_t a) { return place.address < a; });
    if (found == places_.end() || found->address != wanted || !found->is_code) {
      return ElfText("is damaged: %s %llu is not code",
                     address == DT_INIT_ARRAY ? "initialiser" : "finaliser",
                     static_cast<unsigned long long>(at / 8));
    }
  }
  return "";
}

}  // namespace

std::string CheckElfRelocations(const ElfDynamic& dynamic, const ElfSymbols& symbols) {
  return RelocationReader(dynamic, symbols).Read();
}

}  // namespace deputy
